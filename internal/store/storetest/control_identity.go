package storetest

import (
	"errors"
	"strings"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func (c *control) identified(subject, email string, grants map[int64]rimewatch.Role) (rimewatch.User, error) {
	out, err := c.admitted(subject, email, 0, grants)
	return out.User, err
}

func (c *control) admitted(subject, email string, proven int64, grants map[int64]rimewatch.Role) (store.Admitted, error) {
	return c.s.People().AdmitIdentity(c.ctx, store.Admission{
		Identification: store.Identification{Issuer: "https://id.example", Subject: subject},
		Person:         rimewatch.User{Email: email, Name: "N", Locale: rimewatch.Locale{Units: "c"}, Theme: "system", CreatedAt: t0, UpdatedAt: t0},
		Grants:         grants, Proven: proven, At: t0,
	})
}

func (c *control) identities() {
	v, w := c.workspace("v"), c.workspace("w")
	local := c.user("local@example.com")
	c.member(v, local, rimewatch.RoleOwner)
	viewer, admin := map[int64]rimewatch.Role{w.ID: rimewatch.RoleViewer}, map[int64]rimewatch.Role{w.ID: rimewatch.RoleAdmin, v.ID: rimewatch.RoleViewer}

	_, err := c.identified("", "a@example.com", viewer)
	c.field(err, "subject")
	_, err = c.identified(strings.Repeat("s", 256), "a@example.com", viewer)
	c.field(err, "subject")
	_, err = c.identified("1", "no address", viewer)
	c.field(err, "email")
	_, err = c.identified("1", "a@example.com", nil)
	c.code(err, rimewatch.CodeForbidden)
	_, err = c.s.People().UserByEmail(c.ctx, "a@example.com") // nothing of it is left
	c.code(err, rimewatch.CodeNotFound)
	_, err = c.identified("1", "a@example.com", map[int64]rimewatch.Role{99: rimewatch.RoleViewer})
	c.code(err, rimewatch.CodeNotFound)

	u, err := c.identified("1", "A@example.com", viewer)
	c.ok(err)
	c.same(u.PasswordHash, "")
	again, err := c.identified("1", "other@example.com", admin) // the subject counts, not the address
	c.ok(err)
	c.same(again, u)
	roles := func(userID int64) map[int64]rimewatch.Role {
		all, err := c.s.People().Memberships(c.ctx, userID)
		c.ok(err)
		out := make(map[int64]rimewatch.Role)
		for _, m := range all {
			out[m.WorkspaceID] = m.Role
			c.same(m.Provided, userID == u.ID)
		}
		return out
	}
	c.same(roles(u.ID), admin)
	_, err = c.identified("2", "a@example.com", viewer)
	c.code(err, rimewatch.CodeForbidden)      // the address is subject 1's
	for _, proven := range []int64{0, u.ID} { // nobody takes over an account with a password
		_, err = c.admitted("3", "local@example.com", proven, viewer)
		c.same(errors.Is(err, store.ErrUnproven), true)
	}
	c.same(roles(local.ID), map[int64]rimewatch.Role{v.ID: rimewatch.RoleOwner})
	session := c.session(v, local, "local")
	c.protected(local)
	found, err := c.admitted("3", "local@example.com", local.ID, nil)
	c.ok(err)
	c.same(found.User.ID, local.ID)
	_, err = c.s.People().Session(c.ctx, session.Hash, t0) // of the password, which is none any more
	c.code(err, rimewatch.CodeNotFound)
	_, err = c.s.People().SecondFactor(c.ctx, local.ID)
	c.code(err, rimewatch.CodeNotFound)
	stored, err := c.s.People().User(c.ctx, local.ID)
	c.ok(err)
	c.same(stored.PasswordHash+found.User.PasswordHash, "")
	_, err = c.identified("3", "local@example.com", map[int64]rimewatch.Role{v.ID: rimewatch.RoleViewer})
	c.ok(err)
	c.same(roles(local.ID), map[int64]rimewatch.Role{v.ID: rimewatch.RoleOwner}) // given by a person
	_, err = c.identified("1", "a@example.com", viewer)
	c.ok(err)
	c.same(roles(u.ID), viewer)
	_, err = c.s.People().EraseUser(c.ctx, u.ID, t0)
	c.ok(err)
	fresh, err := c.identified("1", "a@example.com", viewer)
	c.ok(err)
	if fresh.ID == u.ID {
		c.Error("an erased person is back")
	}
}

// protected sets up a second factor for a person.
func (c *control) protected(u rimewatch.User) {
	c.Helper()
	c.ok(c.s.People().BeginSecondFactor(c.ctx, u.ID, []byte("secret")))
	c.ok(c.s.People().ConfirmSecondFactor(c.ctx, u.ID, 1, [][32]byte{hashOf("code")}, t0))
}

// breakGlass: one person keeps password and second factor beside a provider, and a
// password that is shown counts more than what the provider said before.
func (c *control) breakGlass() {
	w := c.workspace("w")
	a, b := c.user("a@example.com"), c.user("b@example.com")
	for _, u := range []rimewatch.User{a, b} {
		c.member(w, u, rimewatch.RoleOwner)
		c.ok(c.s.People().SetBreakGlass(c.ctx, u.ID))
	}
	c.code(c.s.People().SetBreakGlass(c.ctx, 99), rimewatch.CodeNotFound)
	for _, u := range []rimewatch.User{a, b} {
		got, err := c.s.People().User(c.ctx, u.ID)
		c.ok(err)
		c.same(got.BreakGlass, u.ID == b.ID)
	}
	c.protected(b)
	_, err := c.admitted("thief", "b@example.com", 0, nil)
	c.same(errors.Is(err, store.ErrUnproven), true)
	for _, proven := range []int64{b.ID, 0} { // once
		out, err := c.admitted("b", "b@example.com", proven, nil)
		c.ok(err)
		c.same(out.User.PasswordHash, b.PasswordHash)
	}
	_, err = c.s.People().SecondFactor(c.ctx, b.ID)
	c.ok(err)
	_, err = c.admitted("b2", "b@example.com", 0, nil)
	c.same(errors.Is(err, store.ErrUnproven), true)
	_, err = c.admitted("b2", "b@example.com", b.ID, nil)
	c.ok(err)
	_, err = c.admitted("b", "b@example.com", 0, nil) // a stranger now
	c.same(errors.Is(err, store.ErrUnproven), true)
}

// scoped makes a token with scopes.
func (c *control) scoped(w rimewatch.Workspace, by int64, name string, s rimewatch.Scopes) rimewatch.Token {
	c.Helper()
	t := rimewatch.Token{WorkspaceID: w.ID, Name: name, Prefix: "rw_abcdef", Hash: hashOf(w.Name + name), Scopes: s, CreatedBy: by, CreatedAt: t0}
	c.ok(c.s.People().CreateToken(c.ctx, &t))
	return t
}

// providerLeft: leaving the groups is committed though the sign-in is refused, and
// takes everything but sending readings, from the last owner, too.
func (c *control) providerLeft() {
	v, w := c.workspace("v"), c.workspace("w")
	u, err := c.identified("1", "a@example.com", map[int64]rimewatch.Role{v.ID: rimewatch.RoleViewer, w.ID: rimewatch.RoleOwner})
	c.ok(err)
	list, err := c.s.People().Ownerless(c.ctx)
	c.ok(err)
	c.same(len(list), 1) // v
	session := c.session(v, u, "session")
	ingest, full, read := c.scoped(w, u.ID, "ingest", rimewatch.ScopesIngest), c.scoped(w, u.ID, "full", rimewatch.ScopesFull), c.scoped(w, u.ID, "read", rimewatch.ScopesRead)
	elsewhere, others := c.scoped(v, u.ID, "read", rimewatch.ScopesRead), c.scoped(w, 0, "others", rimewatch.ScopesFull)

	out, err := c.admitted("1", "a@example.com", 0, map[int64]rimewatch.Role{v.ID: rimewatch.RoleViewer})
	c.ok(err)
	c.same(out.Left, []store.Withdrawal{{WorkspaceID: w.ID, Ended: []rimewatch.Token{read}, Kept: []rimewatch.Token{ingest, full}}})
	after := func(t rimewatch.Token) rimewatch.Token {
		c.Helper()
		got, err := c.s.People().TokenByHash(c.ctx, t.Hash)
		c.ok(err)
		return got
	}
	for _, t := range []rimewatch.Token{ingest, full} {
		t.Scopes, t.CreatedBy = rimewatch.ScopesIngest, 0
		c.same(after(t), t)
	}
	read.RevokedAt = t0
	c.same(after(read), read)
	c.same(after(elsewhere), elsewhere)
	c.same(after(others), others)
	list, err = c.s.People().Ownerless(c.ctx)
	c.ok(err)
	c.same(len(list), 2)
	_, err = c.s.People().Session(c.ctx, session.Hash, t0) // there is still v
	c.ok(err)

	out, err = c.admitted("1", "a@example.com", 0, nil)
	c.code(err, rimewatch.CodeForbidden)
	c.same(out.Left, []store.Withdrawal{{WorkspaceID: v.ID, Ended: []rimewatch.Token{elsewhere}}})
	all, err := c.s.People().Memberships(c.ctx, u.ID)
	c.ok(err)
	c.same(len(all), 0)
	_, err = c.s.People().Session(c.ctx, session.Hash, t0)
	c.code(err, rimewatch.CodeNotFound)
}

// lapses: tokens of people whom only a provider vouches for.
func (c *control) lapses() {
	w := c.workspace("w")
	local := c.user("local@example.com")
	c.member(w, local, rimewatch.RoleOwner)
	u, err := c.identified("1", "a@example.com", map[int64]rimewatch.Role{w.ID: rimewatch.RoleAdmin})
	c.ok(err)
	c.scoped(w, local.ID, "local", rimewatch.ScopesFull)
	ingest := c.scoped(w, u.ID, "ingest", rimewatch.ScopesIngest)
	lapsing := func() []store.Lapse {
		c.Helper()
		list, err := c.s.People().Lapsing(c.ctx)
		c.ok(err)
		return list
	}
	c.same(len(lapsing()), 0)
	full, read := c.scoped(w, u.ID, "full", rimewatch.ScopesFull), c.scoped(w, u.ID, "read", rimewatch.ScopesRead)
	was := store.Lapse{UserID: u.ID, Since: t0}
	c.same(lapsing(), []store.Lapse{was})
	told := store.Lapse{UserID: u.ID, Since: t0 + 5, Told: 1}
	for _, want := range []bool{true, false} { // one of many
		done, err := c.s.People().PutLapse(c.ctx, was, told, store.Fields{"days": 7})
		c.ok(err)
		c.same(done, want)
	}
	c.same(lapsing(), []store.Lapse{told})
	all, err := c.s.People().EndLapsed(c.ctx, was, t0+9) // signed in meanwhile, say
	c.ok(err)
	c.same(len(all), 0)
	all, err = c.s.People().EndLapsed(c.ctx, told, t0+9)
	c.ok(err)
	c.same(all, []store.Withdrawal{{WorkspaceID: w.ID, Ended: []rimewatch.Token{read}, Kept: []rimewatch.Token{ingest, full}}})
	got, err := c.s.People().TokenByHash(c.ctx, full.Hash)
	c.ok(err)
	full.Scopes = rimewatch.ScopesIngest
	c.same(got, full)
	c.same(len(lapsing()), 0)
	_, err = c.identified("1", "a@example.com", map[int64]rimewatch.Role{w.ID: rimewatch.RoleAdmin})
	c.ok(err)
	c.scoped(w, u.ID, "again", rimewatch.ScopesRead)
	c.same(lapsing(), []store.Lapse{{UserID: u.ID, Since: t0}})

	c.ok(c.s.People().LeaveProvider(c.ctx, u.ID))
	c.code(c.s.People().LeaveProvider(c.ctx, 99), rimewatch.CodeNotFound)
	members, err := c.s.People().Memberships(c.ctx, u.ID)
	c.ok(err)
	c.same(members[0].Provided, false)
	_, err = c.admitted("2", "a@example.com", 0, nil) // no subject is known any more
	c.ok(err)
}

// identityRace: of many first sign-ins at once one makes the person.
func (c *control) identityRace() {
	w := c.workspace("w")
	var all sync.WaitGroup
	ids := make([]int64, 8)
	for i := range ids {
		all.Go(func() {
			u, err := c.identified("1", "a@example.com", map[int64]rimewatch.Role{w.ID: rimewatch.RoleViewer})
			if err != nil {
				c.Error(err)
			}
			ids[i] = u.ID
		})
	}
	all.Wait()
	for _, id := range ids {
		c.same(id, ids[0])
	}
}
