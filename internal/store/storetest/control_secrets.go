package storetest

import (
	"errors"
	"sync"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func (c *control) session(w rimewatch.Workspace, u rimewatch.User, secret string) store.Session {
	c.Helper()
	x := store.Session{
		Hash: hashOf(secret), UserID: u.ID, WorkspaceID: w.ID, UserAgent: "Firefox", Address: "2001:db8::1", Strong: secret == "x",
		CreatedAt: t0, LastUsedAt: t0, ExpiresAt: t0 + 100,
	}
	c.ok(c.s.People().CreateSession(c.ctx, &x))
	return x
}

func (c *control) sessions() {
	w, u, v := c.workspace("a"), c.user("u@example.com"), c.user("v@example.com")
	x, y, z, other := c.session(w, u, "x"), c.session(w, u, "y"), c.session(w, u, "z"), c.session(w, v, "other")
	got, err := c.s.People().Session(c.ctx, x.Hash, t0)
	c.ok(err)
	c.same(got, x)
	list, err := c.s.People().Sessions(c.ctx, u.ID, t0)
	c.ok(err)
	c.same(list, []store.Session{x, y, z})
	_, err = c.s.People().Session(c.ctx, hashOf("none"), t0)
	c.code(err, rimewatch.CodeNotFound)
	same := store.Session{Hash: x.Hash, UserID: v.ID, WorkspaceID: w.ID, CreatedAt: t0, LastUsedAt: t0, ExpiresAt: t0 + 1}
	c.code(c.s.People().CreateSession(c.ctx, &same), rimewatch.CodeConflict)
	orphan := store.Session{Hash: hashOf("orphan"), UserID: v.ID + 1, WorkspaceID: w.ID, ExpiresAt: t0 + 1}
	c.code(c.s.People().CreateSession(c.ctx, &orphan), rimewatch.CodeNotFound)

	c.code(c.s.People().DeleteSession(c.ctx, u.ID, other.ID), rimewatch.CodeNotFound) // not one's own
	c.ok(c.s.People().DeleteSession(c.ctx, u.ID, x.ID))
	c.code(c.s.People().DeleteSession(c.ctx, u.ID, x.ID), rimewatch.CodeNotFound)
	c.ok(c.s.People().DeleteSessions(c.ctx, u.ID, z.ID))
	list, err = c.s.People().Sessions(c.ctx, u.ID, t0)
	c.ok(err)
	c.same(list, []store.Session{z})
	c.ok(c.s.People().DeleteSessions(c.ctx, u.ID, 0))
	list, err = c.s.People().Sessions(c.ctx, u.ID, t0)
	c.ok(err)
	c.same(len(list), 0)
	_, err = c.s.People().Session(c.ctx, other.Hash, t0)
	c.ok(err)
}

func (c *control) sessionExpiry() {
	w, u := c.workspace("a"), c.user("u@example.com")
	x := c.session(w, u, "x")
	_, err := c.s.People().Session(c.ctx, x.Hash, x.ExpiresAt-1)
	c.ok(err)
	_, err = c.s.People().Session(c.ctx, x.Hash, x.ExpiresAt)
	c.code(err, rimewatch.CodeNotFound)
	list, err := c.s.People().Sessions(c.ctx, u.ID, x.ExpiresAt)
	c.ok(err)
	c.same(len(list), 0)

	c.ok(c.s.People().TouchSession(c.ctx, x.ID, t0+50, t0+150))
	c.ok(c.s.People().TouchSession(c.ctx, x.ID, t0+40, t0+140)) // came late
	got, err := c.s.People().Session(c.ctx, x.Hash, t0+149)
	c.ok(err)
	x.LastUsedAt, x.ExpiresAt = t0+50, t0+150
	c.same(got, x)
	c.code(c.s.People().TouchSession(c.ctx, x.ID+1, t0, t0), rimewatch.CodeNotFound)

	y := c.session(w, u, "y")
	c.ok(c.s.People().DeleteExpired(c.ctx, y.ExpiresAt))
	list, err = c.s.People().Sessions(c.ctx, u.ID, t0)
	c.ok(err)
	c.same(list, []store.Session{x})
}

func (c *control) sessionWorkspace() {
	a, b, d := c.workspace("a"), c.workspace("b"), c.workspace("d")
	u, v := c.user("u@example.com"), c.user("v@example.com")
	c.member(a, u, rimewatch.RoleViewer)
	c.member(b, u, rimewatch.RoleViewer)
	c.member(d, v, rimewatch.RoleOwner)
	x, other := c.session(a, u, "x"), c.session(d, v, "other")
	c.ok(c.s.People().SetSessionWorkspace(c.ctx, u.ID, x.ID, b.ID))
	got, err := c.s.People().Session(c.ctx, x.Hash, t0)
	c.ok(err)
	c.same(got.WorkspaceID, b.ID)
	c.code(c.s.People().SetSessionWorkspace(c.ctx, u.ID, x.ID, d.ID), rimewatch.CodeNotFound)     // no member
	c.code(c.s.People().SetSessionWorkspace(c.ctx, u.ID, x.ID, d.ID+1), rimewatch.CodeNotFound)   // no workspace
	c.code(c.s.People().SetSessionWorkspace(c.ctx, u.ID, other.ID, a.ID), rimewatch.CodeNotFound) // not one's own session
	got, err = c.s.People().Session(c.ctx, x.Hash, t0)
	c.ok(err)
	c.same(got.WorkspaceID, b.ID)
}

func (c *control) token(w rimewatch.Workspace, by int64, secret string) rimewatch.Token {
	c.Helper()
	t := rimewatch.Token{
		WorkspaceID: w.ID, Name: "sensor gateway", Prefix: "rw_abcdef", Hash: hashOf(secret), Scopes: rimewatch.ScopesIngest,
		CreatedBy: by, CreatedAt: t0, ExpiresAt: t0 + 100,
	}
	c.ok(c.s.People().CreateToken(c.ctx, &t))
	return t
}

func (c *control) tokens() {
	a, b, u := c.workspace("a"), c.workspace("b"), c.user("u@example.com")
	nameless := aUser("v@example.com")
	nameless.Name = ""
	c.ok(c.s.People().CreateUser(c.ctx, &nameless))
	x, y, z, w := c.token(a, u.ID, "x"), c.token(b, 0, "y"), c.token(a, 0, "z"), c.token(a, nameless.ID, "w")
	for _, want := range []rimewatch.Token{x, y, z} {
		got, err := c.s.People().TokenByHash(c.ctx, want.Hash)
		c.ok(err)
		c.same(got, want)
	}
	_, err := c.s.People().TokenByHash(c.ctx, hashOf("none"))
	c.code(err, rimewatch.CodeNotFound)
	_, err = c.s.People().TokenByHash(c.ctx, [32]byte{})
	c.code(err, rimewatch.CodeNotFound)
	list, err := c.s.People().Tokens(c.ctx, a.ID)
	c.ok(err)
	c.same(list, []store.TokenView{{Token: x, CreatedByName: "Ada Ömer"}, {Token: z}, {Token: w, CreatedByName: "v@example.com"}})

	same := x
	c.code(c.s.People().CreateToken(c.ctx, &same), rimewatch.CodeConflict)
	orphan := rimewatch.Token{WorkspaceID: b.ID + 1, Name: "x", Hash: hashOf("orphan"), Scopes: rimewatch.ScopesFull}
	c.code(c.s.People().CreateToken(c.ctx, &orphan), rimewatch.CodeNotFound)
	for _, scopes := range []rimewatch.Scopes{0, 1 << 30} {
		c.field(c.s.People().CreateToken(c.ctx, &rimewatch.Token{WorkspaceID: a.ID, Name: "x", Hash: hashOf("bad"), Scopes: scopes}), "scopes")
	}
}

func (c *control) tokenRotation() {
	a, b := c.workspace("a"), c.workspace("b")
	x := c.token(a, 0, "x")
	next := x
	next.Hash, next.Prefix = hashOf("next"), "rw_next00"
	elsewhere := next
	elsewhere.WorkspaceID = b.ID
	c.code(c.s.People().RotateToken(c.ctx, x.ID, &elsewhere, t0+5), rimewatch.CodeNotFound)
	got, err := c.s.People().TokenByHash(c.ctx, x.Hash)
	c.ok(err)
	c.same(got, x)
	c.ok(c.s.People().RotateToken(c.ctx, x.ID, &next, t0+5))
	got, err = c.s.People().TokenByHash(c.ctx, next.Hash)
	c.ok(err)
	c.same(got, next)
	x.ExpiresAt = t0 + 5
	got, err = c.s.People().TokenByHash(c.ctx, x.Hash)
	c.ok(err)
	c.same(got, x)
	third := next // and never longer than it would have lasted
	third.Hash = hashOf("third")
	c.ok(c.s.People().RotateToken(c.ctx, x.ID, &third, t0+50))
	got, err = c.s.People().TokenByHash(c.ctx, x.Hash)
	c.ok(err)
	c.same(got, x)
	c.ok(c.s.People().RevokeToken(c.ctx, a.ID, x.ID, t0+2))
	c.code(c.s.People().RotateToken(c.ctx, x.ID, &third, t0+50), rimewatch.CodeNotFound)
}

func (c *control) tokenRevocation() {
	a, b := c.workspace("a"), c.workspace("b")
	x := c.token(a, 0, "x")
	c.code(c.s.People().RevokeToken(c.ctx, b.ID, x.ID, t0+1), rimewatch.CodeNotFound)
	c.code(c.s.People().RevokeToken(c.ctx, a.ID, x.ID+1, t0+1), rimewatch.CodeNotFound)
	got, err := c.s.People().TokenByHash(c.ctx, x.Hash)
	c.ok(err)
	c.same(got, x)
	c.ok(c.s.People().RevokeToken(c.ctx, a.ID, x.ID, t0+2))
	c.ok(c.s.People().RevokeToken(c.ctx, a.ID, x.ID, t0+3))
	got, err = c.s.People().TokenByHash(c.ctx, x.Hash)
	c.ok(err)
	x.RevokedAt = t0 + 2
	c.same(got, x)
}

func (c *control) tokenUse() {
	w := c.workspace("a")
	x, y, z := c.token(w, 0, "x"), c.token(w, 0, "y"), c.token(w, 0, "z")
	c.ok(c.s.People().TouchTokens(c.ctx, nil))
	c.ok(c.s.People().TouchTokens(c.ctx, map[int64]rimewatch.Time{x.ID: t0 + 10, y.ID: t0 + 20, z.ID + 1: t0}))
	c.ok(c.s.People().TouchTokens(c.ctx, map[int64]rimewatch.Time{x.ID: t0 + 5, y.ID: t0 + 25}))
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			errs[i] = c.s.People().TouchTokens(c.ctx, map[int64]rimewatch.Time{z.ID: t0 + rimewatch.Time(i)})
		})
	}
	wg.Wait()
	c.ok(errors.Join(errs...))
	for hash, want := range map[[32]byte]rimewatch.Time{x.Hash: t0 + 10, y.Hash: t0 + 25, z.Hash: t0 + 7} {
		got, err := c.s.People().TokenByHash(c.ctx, hash)
		c.ok(err)
		if got.LastUsedAt != want {
			c.Fatalf("last use is %d, want %d", got.LastUsedAt, want)
		}
	}
}

// tokenCalls: of each token the newest requests are kept, refused ones apart from others, and none for longer than it should.
func (c *control) tokenCalls() {
	w, other := c.workspace("a"), c.workspace("b")
	x, y := c.token(w, 0, "x"), c.token(w, 0, "y")
	call := func(id int64, at rimewatch.Time, code rimewatch.Code) rimewatch.TokenCall {
		return rimewatch.TokenCall{WorkspaceID: w.ID, TokenID: id, At: at, Method: "POST", Path: "/v1/readings", Status: 422, Code: code,
			Fields: map[string]string{"humidity": "must be a number"}, Bytes: 40, MS: 2, RequestID: "r", Times: 3}
	}
	c.ok(c.s.People().AddTokenCalls(c.ctx, nil))
	c.ok(c.s.People().AddTokenCalls(c.ctx, []rimewatch.TokenCall{call(x.ID, t0, ""), call(x.ID, t0+1, "validation_failed"), call(y.ID, t0+2, "forbidden")}))
	list := func(workspaceID, id int64, since rimewatch.Time, want ...rimewatch.TokenCall) {
		c.Helper()
		got, err := c.s.People().TokenCalls(c.ctx, workspaceID, id, since)
		c.ok(err)
		if d := cmp.Diff(want, got); d != "" {
			c.Errorf("requests (-want +got):\n%s", d)
		}
	}
	list(w.ID, x.ID, 0, call(x.ID, t0+1, "validation_failed"), call(x.ID, t0, ""))
	list(w.ID, x.ID, t0+1, call(x.ID, t0+1, "validation_failed"))
	list(w.ID, y.ID, 0, call(y.ID, t0+2, "forbidden"))
	list(other.ID, x.ID, 0)
	many := make([]rimewatch.TokenCall, rimewatch.MaxTokenCalls+1)
	for i := range many {
		many[i] = call(x.ID, t0+10+rimewatch.Time(i), "validation_failed")
	}
	c.ok(c.s.People().AddTokenCalls(c.ctx, many))
	got, err := c.s.People().TokenCalls(c.ctx, w.ID, x.ID, 0)
	c.ok(err)
	if n := len(got); n != rimewatch.MaxTokenCalls+1 || got[0].At != many[len(many)-1].At || got[n-2].At != many[1].At || got[n-1].Refused() {
		c.Errorf("%d requests are kept, the oldest of %d", n, got[n-1].At)
	}
	list(w.ID, y.ID, 0, call(y.ID, t0+2, "forbidden"))
	c.ok(c.s.People().DeleteExpired(c.ctx, t0+2+rimewatch.TokenCallLife))
	list(w.ID, y.ID, 0, call(y.ID, t0+2, "forbidden"))
	c.ok(c.s.People().DeleteExpired(c.ctx, t0+3+rimewatch.TokenCallLife))
	list(w.ID, y.ID, 0)
}
