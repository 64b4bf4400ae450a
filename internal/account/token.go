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
// token itself: it is given out here and never again. Needs ScopeTokens, and whatever it
// shall hold; a token makes only such as may less and end no later than itself, for the person
// who made it. CodeValidationFailed with the fields name, scopes, expires_at.
func (s *tokens) CreateToken(ctx context.Context, p Principal, r TokenRequest, now rimewatch.Time) (t rimewatch.Token, plain string, err error) {
	if err := p.Require(rimewatch.ScopeTokens); err != nil {
		return t, "", err
	}
	if r.Scopes == 0 {
		r.Scopes = rimewatch.ScopesFull
	}
	if r.ExpiresAt != 0 && (r.ExpiresAt <= now || r.ExpiresAt > rimewatch.MaxTime) {
		return t, "", rimewatch.Invalid("expires_at", "must be in the future")
	}
	if err := s.mayGive(ctx, p, r.Scopes, r.ExpiresAt); err != nil {
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
		Scopes: r.Scopes, Sites: sites, CreatedBy: p.person(), CreatedAt: now, ExpiresAt: r.ExpiresAt,
	}
	if err := s.store.People().CreateToken(ctx, &t); err != nil {
		return rimewatch.Token{}, "", err
	}
	return t, plain, nil
}

// mayGive checks that p may hand out a token of these scopes and this end: whatever it holds itself;
// a token only less than itself, and no later than its own end.
func (s *tokens) mayGive(ctx context.Context, p Principal, scopes rimewatch.Scopes, ends rimewatch.Time) error {
	if err := p.Require(scopes & (rimewatch.ScopesFull | rimewatch.ScopesManage)); err != nil || p.TokenID == 0 {
		return err
	}
	if scopes.Has(rimewatch.ScopeTokens) {
		return rimewatch.Invalid("scopes", "a token cannot give tokens: a person does")
	}
	own, err := s.Token(ctx, p)
	if err == nil && own.ExpiresAt != 0 && (ends == 0 || ends > own.ExpiresAt) {
		err = rimewatch.Invalid("expires_at", "must not be after the end of the token that makes it")
	}
	return err
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
// are as new as this process knows. Needs ScopeTokens.
func (s *tokens) Tokens(ctx context.Context, p Principal) ([]store.TokenView, error) {
	if err := p.Require(rimewatch.ScopeTokens); err != nil {
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
// process, within a second in others. Needs ScopeTokens; a token ends none that may more than
// itself. CodeNotFound. Revoking twice is no error.
func (s *tokens) RevokeToken(ctx context.Context, p Principal, id int64, now rimewatch.Time) error {
	if err := p.Require(rimewatch.ScopeTokens); err != nil {
		return err
	}
	if err := s.within(ctx, p, id); err != nil && rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
		return err
	}
	if err := s.store.People().RevokeToken(ctx, p.WorkspaceID, id, now); err != nil {
		return err
	}
	s.dropToken(id)
	return nil
}

// Token is the one that the principal is: CodeNotFound for a person.
func (s *tokens) Token(ctx context.Context, p Principal) (store.TokenView, error) {
	if p.TokenID == 0 {
		return store.TokenView{}, rimewatch.Errorf(rimewatch.CodeNotFound, "This is about the API token that asks; you are signed in instead.")
	}
	return s.token(ctx, p.WorkspaceID, p.TokenID)
}

// token finds a token that was not revoked: CodeNotFound.
func (s *tokens) token(ctx context.Context, workspaceID, id int64) (store.TokenView, error) {
	list, err := s.store.People().Tokens(ctx, workspaceID)
	if err != nil {
		return store.TokenView{}, err
	}
	i := slices.IndexFunc(list, func(t store.TokenView) bool { return t.ID == id && t.RevokedAt == 0 })
	if i < 0 {
		return store.TokenView{}, rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such token.")
	}
	return list[i], nil
}

// within checks that a token may nothing which the principal may not.
func (s *tokens) within(ctx context.Context, p Principal, id int64) error {
	t, err := s.token(ctx, p.WorkspaceID, id)
	if err == nil && p.TokenID != 0 {
		err = p.Require(t.Scopes &^ rimewatch.ScopeStatusRead)
	}
	return err
}

// MaxTokenGrace bounds for how long a token goes on that another one replaces, in milliseconds.
const MaxTokenGrace = 7 * rimewatch.Day

// RotateToken makes another token of the same name, scopes, sites and end, and has the old one
// end after grace. Needs ScopeTokens; a token rotates itself, and what it might make.
// CodeNotFound where it has ended; CodeValidationFailed on grace_s.
func (s *tokens) RotateToken(ctx context.Context, p Principal, id int64, grace, now rimewatch.Time) (t rimewatch.Token, plain string, err error) {
	if err := p.Require(rimewatch.ScopeTokens); err != nil {
		return t, "", err
	}
	if grace < 0 || grace > MaxTokenGrace {
		return t, "", rimewatch.Invalid("grace_s", "must be from 0 to %d", MaxTokenGrace/rimewatch.Second)
	}
	old, err := s.token(ctx, p.WorkspaceID, id)
	if err == nil && id != p.TokenID {
		err = s.mayGive(ctx, p, old.Scopes, old.ExpiresAt)
	}
	if err == nil && old.ExpiresAt != 0 && old.ExpiresAt <= now {
		err = rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such token.")
	}
	if err != nil {
		return t, "", err
	}
	if plain, err = s.newToken(); err != nil {
		return t, "", err
	}
	t = old.Token
	t.ID, t.Prefix, t.Hash, t.CreatedAt, t.LastUsedAt = 0, plain[:tokenPrefixLen], rimewatch.HashToken(plain), now, 0
	if err := s.store.People().RotateToken(ctx, id, &t, now+grace); err != nil {
		return rimewatch.Token{}, "", err
	}
	return t, plain, nil
}

// dropToken forgets a token that was revoked and says so to those who use it.
func (s *tokens) dropToken(id int64) {
	if e := s.cache.byTokenID(id); e != nil {
		s.cache.remove(e)
	}
	s.onRevoke(id)
}
