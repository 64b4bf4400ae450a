package account

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// tokenPrefixLen is how much of a plain token is kept to recognise it by: "rw_"
// and 6 characters, which leaves 154 unknown bits.
const tokenPrefixLen = 9

// tokens is the part of a Service that keeps API tokens.
type tokens struct {
	store    Store
	rand     io.Reader
	onRevoke func(int64)
	cache    tokenCache
}

// TokenRequest describes a token to be made.
type TokenRequest struct {
	Name      string
	Scopes    rimewatch.Scopes // 0 = full access
	ExpiresAt rimewatch.Time   // 0 = never
	Sites     rimewatch.Sites  // that it is limited to, nil = all
}

// CreateToken makes an API token for the principal's workspace. plain is the
// token itself: it is given out here and never again. Needs the role admin.
// CodeValidationFailed with the fields name, scopes, expires_at.
func (s *tokens) CreateToken(ctx context.Context, p Principal, r TokenRequest, now rimewatch.Time) (t rimewatch.Token, plain string, err error) {
	if err := p.RequireRole(rimewatch.RoleAdmin); err != nil {
		return t, "", err
	}
	if r.Scopes == 0 {
		r.Scopes = rimewatch.ScopesFull
	}
	if r.ExpiresAt != 0 && (r.ExpiresAt <= now || r.ExpiresAt > rimewatch.MaxTime) {
		return t, "", rimewatch.Invalid("expires_at", "must be in the future")
	}
	if err := p.Require(r.Scopes & rimewatch.ScopesFull); err != nil {
		return t, "", err
	}
	sites, err := (&settings{s.store}).knownSites(ctx, p, r.Sites)
	if err != nil {
		return t, "", err
	}
	if plain, err = s.newToken(); err != nil {
		return t, "", err
	}
	t = rimewatch.Token{
		WorkspaceID: p.WorkspaceID, Name: normalText(r.Name), Prefix: plain[:tokenPrefixLen], Hash: rimewatch.HashToken(plain),
		Scopes: r.Scopes, Sites: sites, CreatedBy: p.UserID, CreatedAt: now, ExpiresAt: r.ExpiresAt,
	}
	if err := s.store.People().CreateToken(ctx, &t); err != nil {
		return rimewatch.Token{}, "", err
	}
	return t, plain, nil
}

func (s *tokens) newToken() (string, error) {
	var buf [64]byte
	var failed error
	next := len(buf)
	plain := rimewatch.NewToken(func() byte {
		if next == len(buf) {
			next = 0
			if _, err := io.ReadFull(s.rand, buf[:]); err != nil {
				failed = fmt.Errorf("random bytes: %w", err)
			}
		}
		next++
		return buf[next-1]
	})
	return plain, failed
}

// Tokens lists the workspace's tokens that were not revoked, by id; last uses
// are as new as this process knows. Needs the role admin.
func (s *tokens) Tokens(ctx context.Context, p Principal) ([]store.TokenView, error) {
	if err := p.RequireRole(rimewatch.RoleAdmin); err != nil {
		return nil, err
	}
	list, err := s.store.People().Tokens(ctx, p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(t store.TokenView) bool { return t.RevokedAt != 0 })
	for i := range list {
		list[i].LastUsedAt = max(list[i].LastUsedAt, s.cache.usedAt(list[i].ID))
	}
	return list, nil
}

// RevokeToken ends a token of the principal's workspace: at once in this
// process, within a second in others. Needs the role admin; CodeNotFound.
// Revoking twice is no error.
func (s *tokens) RevokeToken(ctx context.Context, p Principal, id int64, now rimewatch.Time) error {
	if err := p.RequireRole(rimewatch.RoleAdmin); err != nil {
		return err
	}
	if err := s.store.People().RevokeToken(ctx, p.WorkspaceID, id, now); err != nil {
		return err
	}
	s.dropToken(id)
	return nil
}

// dropToken forgets a token that was revoked and says so to those who use it.
func (s *tokens) dropToken(id int64) {
	if e := s.cache.byTokenID(id); e != nil {
		s.cache.remove(e)
	}
	s.onRevoke(id)
}
