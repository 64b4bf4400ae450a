package account

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// How long a cached token is believed: tokenFresh without question,
// tokenStale while one request is already asking the store.
const (
	tokenFresh = 500 * rimewatch.Millisecond
	tokenStale = 750 * rimewatch.Millisecond
	// tokenForget is how long an unused token stays in memory.
	tokenForget = 10 * rimewatch.Minute
)

// tokenEntry is a token that was valid when the store was last asked.
type tokenEntry struct {
	hash      [32]byte
	principal Principal      // never changes
	expiresAt rimewatch.Time // never changes
	checkedAt atomic.Int64   // when the store last said that it is valid
	usedAt    atomic.Int64   // last use, to the minute
	written   atomic.Int64   // usedAt as stored
	checking  sync.Mutex     // held by the one who asks the store
}

// fresh reports whether the entry was checked less than span ago. A clock that
// went back a little is forgiven, one that went back a lot is not.
func (e *tokenEntry) fresh(now, span rimewatch.Time) bool {
	age := now - rimewatch.Time(e.checkedAt.Load())
	return age < span && age > -span
}

func (e *tokenEntry) expired(now rimewatch.Time) bool { return e.expiresAt != 0 && now >= e.expiresAt }

// use notes a use to the minute.
func (e *tokenEntry) use(now rimewatch.Time) {
	minute := int64(now - now%rimewatch.Minute)
	if e.usedAt.Load() < minute {
		e.usedAt.Store(minute)
	}
}

// tokenCache holds the tokens in use.
type tokenCache struct {
	mu     sync.RWMutex
	byHash map[[32]byte]*tokenEntry
	byID   map[int64]*tokenEntry
	uses   map[int64]rimewatch.Time // of entries that were removed before their use was written
}

func (c *tokenCache) init() {
	c.byHash = make(map[[32]byte]*tokenEntry)
	c.byID = make(map[int64]*tokenEntry)
	c.uses = make(map[int64]rimewatch.Time)
}

func (c *tokenCache) find(hash *[32]byte) *tokenEntry {
	c.mu.RLock()
	e := c.byHash[*hash]
	c.mu.RUnlock()
	return e
}

func (c *tokenCache) byTokenID(id int64) *tokenEntry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.byID[id]
}

func (c *tokenCache) usedAt(id int64) rimewatch.Time {
	if e := c.byTokenID(id); e != nil {
		return rimewatch.Time(e.usedAt.Load())
	}
	return 0
}

// add enters e unless the token is there already, and returns the entry.
func (c *tokenCache) add(e *tokenEntry) *tokenEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.byHash[e.hash]; old != nil {
		return old
	}
	c.byHash[e.hash] = e
	c.byID[e.principal.TokenID] = e
	return e
}

// remove forgets e and reports whether it was still there. A use that is not
// written yet is kept for Flush.
func (c *tokenCache) remove(e *tokenEntry) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byHash[e.hash] != e {
		return false
	}
	delete(c.byHash, e.hash)
	delete(c.byID, e.principal.TokenID)
	if used := e.usedAt.Load(); used > e.written.Load() {
		c.uses[e.principal.TokenID] = rimewatch.Time(used)
	}
	return true
}

// Authenticate finds who an API token stands for. CodeUnauthenticated when it
// is malformed, unknown, expired or revoked; whatever the store fails with when
// it cannot be asked. Of one that has ended WorkspaceID and TokenID come with the
// error, for who is to hear of it. See the package comment for what is remembered and for
// how long. A token that was seen before costs no allocation.
func (s *tokens) Authenticate(ctx context.Context, plain string, now rimewatch.Time) (Principal, error) {
	if len(plain) != rimewatch.TokenLen {
		return Principal{}, errUnauthenticated()
	}
	var b [rimewatch.TokenLen]byte // []byte(plain) would be allocated
	copy(b[:], plain)
	hash := sha256.Sum256(b[:]) // as rimewatch.HashToken
	e := s.cache.find(&hash)
	if e == nil {
		if !rimewatch.ValidToken(plain) {
			return Principal{}, errUnauthenticated()
		}
		var err error
		var ended Principal
		if e, ended, err = s.admit(ctx, hash, now); err != nil {
			return ended, err
		}
	} else if !e.fresh(now, tokenFresh) {
		switch err := s.recheck(ctx, e, now); {
		case errors.Is(err, errChanged):
			var ended Principal
			if e, ended, err = s.admit(ctx, hash, now); err != nil {
				return ended, err
			}
		case err != nil:
			return e.principal.ended(), err
		}
	}
	if e.expired(now) {
		return e.principal.ended(), errUnauthenticated()
	}
	e.use(now)
	return e.principal, nil
}

// admit looks a token up that is not in the cache.
func (s *tokens) admit(ctx context.Context, hash [32]byte, now rimewatch.Time) (_ *tokenEntry, ended Principal, _ error) {
	t, err := s.store.People().TokenByHash(ctx, hash)
	if err != nil {
		return nil, ended, notFoundIs(err, errUnauthenticated)
	}
	if t.RevokedAt != 0 || t.ExpiresAt != 0 && now >= t.ExpiresAt {
		return nil, Principal{WorkspaceID: t.WorkspaceID, TokenID: t.ID, TokenName: t.Name}, errUnauthenticated()
	}
	scopes, err := s.scopes(ctx, &t)
	if err != nil {
		return nil, ended, err
	}
	e := &tokenEntry{
		hash:      hash,
		principal: Principal{WorkspaceID: t.WorkspaceID, TokenID: t.ID, TokenName: t.Name, MadeBy: t.CreatedBy, Scopes: scopes, Limit: limitOf(t.Sites)},
		expiresAt: t.ExpiresAt,
	}
	e.checkedAt.Store(int64(now))
	e.usedAt.Store(int64(t.LastUsedAt))
	e.written.Store(int64(t.LastUsedAt))
	return s.cache.add(e), ended, nil
}

// scopes returns the present scopes of a token: of managing, no more than those of the person who made it.
// Devices go on whatever becomes of him.
func (s *tokens) scopes(ctx context.Context, t *rimewatch.Token) (rimewatch.Scopes, error) {
	if t.Scopes&rimewatch.ScopesManage == 0 || t.CreatedBy == 0 {
		return t.Scopes, nil
	}
	all, err := s.store.People().Memberships(ctx, t.CreatedBy)
	if err != nil {
		return 0, err
	}
	var maker rimewatch.Scopes
	for _, m := range all {
		if m.WorkspaceID == t.WorkspaceID {
			maker = m.Role.Scopes()
		}
	}
	return t.Scopes &^ (rimewatch.ScopesManage &^ maker), nil
}

// ended returns the principal of a token that has ended, without rights.
func (p *Principal) ended() Principal {
	return Principal{WorkspaceID: p.WorkspaceID, TokenID: p.TokenID, TokenName: p.TokenName}
}

// recheck asks the store whether a cached token is still valid. One request
// asks; while the entry is not older than tokenStale the others do not wait.
func (s *tokens) recheck(ctx context.Context, e *tokenEntry, now rimewatch.Time) error {
	if !e.checking.TryLock() {
		if e.fresh(now, tokenStale) {
			return nil
		}
		e.checking.Lock()
	}
	defer e.checking.Unlock()
	if e.fresh(now, tokenFresh) {
		return nil // the one before us has asked
	}
	t, err := s.store.People().TokenByHash(ctx, e.hash)
	if err != nil && rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
		return err
	}
	if err != nil || t.RevokedAt != 0 {
		if s.cache.remove(e) {
			s.onRevoke(e.principal.TokenID)
		}
		return errUnauthenticated()
	}
	scopes, err := s.scopes(ctx, &t)
	if err != nil {
		return err
	}
	if scopes != e.principal.Scopes || t.ExpiresAt != e.expiresAt {
		if s.cache.remove(e) {
			s.onRevoke(e.principal.TokenID)
		}
		return errChanged
	}
	e.checkedAt.Store(int64(now))
	return nil
}

// errChanged means that a token is valid and may do other things than before. It
// is a CodeUnauthenticated to what was begun with it.
var errChanged = errUnauthenticated()

// Valid reports, without counting as a use, whether a principal that was
// authenticated before still stands: CodeUnauthenticated when its token or
// session has ended, CodeForbidden when its person left the workspace or has
// another role there. A long connection asks every half
// second, which costs the store one look-up per token in that time.
func (s *Service) Valid(ctx context.Context, p Principal, now rimewatch.Time) error {
	switch {
	case p.TokenID != 0:
		e := s.tokens.cache.byTokenID(p.TokenID)
		if e == nil || e.expired(now) {
			return errUnauthenticated()
		}
		if e.fresh(now, tokenFresh) {
			return nil
		}
		return s.recheck(ctx, e, now)
	case p.SessionID != 0:
		return s.validSession(ctx, p, now)
	}
	return nil // the operator
}

func (s *Service) validSession(ctx context.Context, p Principal, now rimewatch.Time) error {
	sessions, err := s.store.People().Sessions(ctx, p.UserID, now)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(sessions, func(x store.Session) bool { return x.ID == p.SessionID })
	if i < 0 {
		return errUnauthenticated()
	}
	all, err := s.store.People().Memberships(ctx, p.UserID)
	if err != nil {
		return err
	}
	stands := func(m store.MembershipView) bool {
		return m.WorkspaceID == p.WorkspaceID && m.Role == p.Role && slices.Equal(m.Sites, p.Sites()) && counts(&m, p.provided != 0) && (p.strong || !m.RequireSecondFactor)
	}
	if !slices.ContainsFunc(all, stands) {
		return rimewatch.Errorf(rimewatch.CodeForbidden, "Your role in the workspace has changed.")
	}
	return nil
}

// flushTokens writes last uses and forgets tokens that are not used any more.
func (s *tokens) flushTokens(ctx context.Context, now rimewatch.Time) error {
	c := &s.cache
	c.mu.Lock()
	uses := c.uses
	c.uses = make(map[int64]rimewatch.Time)
	var dirty []*tokenEntry
	for _, e := range c.byHash {
		if used := e.usedAt.Load(); used > e.written.Load() {
			uses[e.principal.TokenID] = rimewatch.Time(used)
			dirty = append(dirty, e)
		} else if !e.fresh(now, tokenForget) {
			delete(c.byHash, e.hash)
			delete(c.byID, e.principal.TokenID)
		}
	}
	c.mu.Unlock()
	if len(uses) == 0 {
		return nil
	}
	err := s.store.People().TouchTokens(ctx, uses)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		for id, at := range uses {
			if c.byID[id] == nil {
				c.uses[id] = max(c.uses[id], at)
			}
		}
		return err
	}
	for _, e := range dirty {
		e.written.Store(int64(uses[e.principal.TokenID]))
	}
	return nil
}
