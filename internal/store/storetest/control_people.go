package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func (c *control) users() {
	u := c.user("Ada@Example.com")
	v := c.user("b@example.com")
	want := u
	want.Email = "ada@example.com"
	c.same(u, want)
	got, err := c.s.People().User(c.ctx, u.ID)
	c.ok(err)
	c.same(got, want)
	for _, email := range []string{"ada@example.com", "ADA@EXAMPLE.COM"} {
		got, err = c.s.People().UserByEmail(c.ctx, email)
		c.ok(err)
		c.same(got, want)
		again := aUser(email)
		c.code(c.s.People().CreateUser(c.ctx, &again), rimewatch.CodeConflict)
		_, err = c.s.People().UpdateUser(c.ctx, v.ID, func(v *rimewatch.User) error { v.Email = email; return nil })
		c.code(err, rimewatch.CodeConflict)
	}
	changed, err := c.s.People().UpdateUser(c.ctx, u.ID, func(u *rimewatch.User) error {
		c.same(*u, want)
		*u = rimewatch.User{ID: 99, Email: "New@Example.com", Name: "", PasswordHash: "", Locale: rimewatch.Locale{Units: "c", Language: "de"}, Theme: "light", CreatedAt: 5, UpdatedAt: t0 + 1}
		return nil
	})
	c.ok(err)
	want = rimewatch.User{ID: u.ID, Email: "new@example.com", Locale: rimewatch.Locale{Units: "c", Language: "de"}, Theme: "light", CreatedAt: t0, UpdatedAt: t0 + 1}
	c.same(changed, want)
	_, err = c.s.People().UpdateUser(c.ctx, u.ID, func(u *rimewatch.User) error { u.Name = "gone"; return errChange })
	if !errors.Is(err, errChange) {
		c.Fatalf("the error of change is lost: %v", err)
	}
	got, err = c.s.People().User(c.ctx, u.ID)
	c.ok(err)
	c.same(got, want)
	n, err := c.s.People().UserCount(c.ctx)
	c.ok(err)
	c.same(n, 2)

	_, err = c.s.People().User(c.ctx, v.ID+1)
	c.code(err, rimewatch.CodeNotFound)
	_, err = c.s.People().UpdateUser(c.ctx, v.ID+1, func(*rimewatch.User) error { return nil })
	c.code(err, rimewatch.CodeNotFound)
	for _, email := range []string{"", "ada@example.com", "%@example.com", "a\x00@example.com", "\xff@example.com"} {
		_, err = c.s.People().UserByEmail(c.ctx, email)
		c.code(err, rimewatch.CodeNotFound)
	}
	for _, email := range []string{"ada", "@example.com", "ada@", "a da@example.com", "<ada@example.com>"} {
		bad := aUser(email)
		c.field(c.s.People().CreateUser(c.ctx, &bad), "email")
	}
}

func (c *control) firstOwner() {
	made := c.workspace("Bakery")
	w, u := aWorkspace("BAKERY"), aUser("Ada@Example.com")
	w.TimeZone = "UTC"
	c.ok(c.s.People().CreateFirstOwner(c.ctx, &w, &u))
	c.same(w, made) // taken over as it is
	list, err := c.s.People().Members(c.ctx, w.ID)
	c.ok(err)
	c.same(list, []store.MemberView{{
		Member: rimewatch.Member{WorkspaceID: w.ID, UserID: u.ID, Role: rimewatch.RoleOwner, CreatedAt: t0},
		Email:  "ada@example.com", Name: "Ada Ömer",
	}})
	w2, u2 := aWorkspace("other"), aUser("b@example.com")
	c.code(c.s.People().CreateFirstOwner(c.ctx, &w2, &u2), rimewatch.CodeConflict)
	_, err = c.s.WorkspaceByName(c.ctx, "other")
	c.code(err, rimewatch.CodeNotFound)
	n, err := c.s.People().UserCount(c.ctx)
	c.ok(err)
	c.same(n, 1)
}

func (c *control) firstOwnerRace() {
	var wg sync.WaitGroup
	var won atomic.Int32
	for i := range 8 {
		wg.Go(func() {
			w, u := aWorkspace(fmt.Sprint("w", i)), aUser(fmt.Sprintf("u%d@example.com", i))
			switch err := c.s.People().CreateFirstOwner(c.ctx, &w, &u); rimewatch.CodeOf(err) {
			case "":
				won.Add(1)
			case rimewatch.CodeConflict:
			default:
				c.Error(err)
			}
		})
	}
	wg.Wait()
	c.same(won.Load(), int32(1))
	list, err := c.s.Workspaces(c.ctx)
	c.ok(err)
	c.same(len(list), 1)
}

func (c *control) passwords() {
	w, u, v := c.workspace("a"), c.user("a@example.com"), c.user("b@example.com")
	mine, other := c.session(w, u, "mine"), c.session(w, v, "other")
	c.ok(c.s.People().CreatePasswordLink(c.ctx, &store.PasswordLink{Hash: hashOf("link"), UserID: u.ID, CreatedAt: t0, ExpiresAt: t0 + 10}))
	c.ok(c.s.People().SetPassword(c.ctx, u.ID, "$new", t0+1))
	got, err := c.s.People().User(c.ctx, u.ID)
	c.ok(err)
	want := u
	want.PasswordHash, want.UpdatedAt = "$new", t0+1
	c.same(got, want)
	_, err = c.s.People().Session(c.ctx, mine.Hash, t0)
	c.code(err, rimewatch.CodeNotFound)
	_, err = c.s.People().PasswordLink(c.ctx, hashOf("link"), t0)
	c.code(err, rimewatch.CodeNotFound)
	_, err = c.s.People().Session(c.ctx, other.Hash, t0)
	c.ok(err)
	c.code(c.s.People().SetPassword(c.ctx, v.ID+1, "$new", t0), rimewatch.CodeNotFound)
}

func (c *control) passwordLinks() {
	w, u, v := c.workspace("a"), c.user("a@example.com"), c.user("b@example.com")
	first := store.PasswordLink{Hash: hashOf("1"), UserID: u.ID, CreatedAt: t0, ExpiresAt: t0 + 10}
	second := store.PasswordLink{Hash: hashOf("2"), UserID: u.ID, CreatedAt: t0 + 1, ExpiresAt: t0 + 20}
	other := store.PasswordLink{Hash: hashOf("3"), UserID: v.ID, CreatedAt: t0, ExpiresAt: t0 + 10}
	for _, l := range []store.PasswordLink{first, other} {
		c.ok(c.s.People().CreatePasswordLink(c.ctx, &l))
		got, err := c.s.People().PasswordLink(c.ctx, l.Hash, t0+9)
		c.ok(err)
		c.same(got, l)
	}
	_, err := c.s.People().PasswordLink(c.ctx, first.Hash, t0+10)
	c.code(err, rimewatch.CodeNotFound)

	c.ok(c.s.People().CreatePasswordLink(c.ctx, &second)) // replaces the first
	_, err = c.s.People().PasswordLink(c.ctx, first.Hash, t0)
	c.code(err, rimewatch.CodeNotFound)
	c.code(c.s.People().UsePasswordLink(c.ctx, first.Hash, "$new", t0), rimewatch.CodeNotFound)
	c.code(c.s.People().UsePasswordLink(c.ctx, second.Hash, "$new", t0+20), rimewatch.CodeNotFound)

	mine := c.session(w, u, "mine")
	c.ok(c.s.People().UsePasswordLink(c.ctx, second.Hash, "$new", t0+19))
	got, err := c.s.People().User(c.ctx, u.ID)
	c.ok(err)
	c.same(got.PasswordHash, "$new")
	_, err = c.s.People().Session(c.ctx, mine.Hash, t0)
	c.code(err, rimewatch.CodeNotFound)
	c.code(c.s.People().UsePasswordLink(c.ctx, second.Hash, "$newer", t0+19), rimewatch.CodeNotFound)

	taken := store.PasswordLink{Hash: other.Hash, UserID: u.ID, CreatedAt: t0, ExpiresAt: t0 + 10}
	c.code(c.s.People().CreatePasswordLink(c.ctx, &taken), rimewatch.CodeConflict)
	orphan := store.PasswordLink{Hash: hashOf("4"), UserID: v.ID + 1, CreatedAt: t0, ExpiresAt: t0 + 10}
	c.code(c.s.People().CreatePasswordLink(c.ctx, &orphan), rimewatch.CodeNotFound)
	c.ok(c.s.People().DeleteExpired(c.ctx, t0+9))
	_, err = c.s.People().PasswordLink(c.ctx, other.Hash, t0)
	c.ok(err)
	c.ok(c.s.People().DeleteExpired(c.ctx, t0+10))
	_, err = c.s.People().PasswordLink(c.ctx, other.Hash, t0)
	c.code(err, rimewatch.CodeNotFound)
}

func (c *control) deleteMember(w rimewatch.Workspace, u rimewatch.User) error {
	_, err := c.s.People().DeleteMember(c.ctx, w.ID, u.ID, t0)
	return err
}

func (c *control) members() {
	a, b := c.workspace("a"), c.workspace("B")
	u, v := c.user("u@example.com"), c.user("v@example.com")
	p := c.user("p@example.com")
	mu, mv := c.member(a, u, rimewatch.RoleOwner), c.member(a, v, rimewatch.RoleViewer)
	mp, mb := c.member(a, p, rimewatch.RoleAdmin), c.member(b, u, rimewatch.RoleTechnician)
	list, err := c.s.People().Members(c.ctx, a.ID)
	c.ok(err)
	c.same(list, []store.MemberView{
		{Member: mu, Email: "u@example.com", Name: "Ada Ömer"},
		{Member: mv, Email: "v@example.com", Name: "Ada Ömer"},
		{Member: mp, Email: "p@example.com", Name: "Ada Ömer"},
	})
	views, err := c.s.People().Memberships(c.ctx, u.ID)
	c.ok(err)
	c.same(views, []store.MembershipView{{Member: mu, WorkspaceName: "a", WorkspaceSlug: a.Slug}, {Member: mb, WorkspaceName: "B", WorkspaceSlug: b.Slug}})

	again := rimewatch.Member{WorkspaceID: a.ID, UserID: v.ID, Role: rimewatch.RoleTechnician, CreatedAt: t0 + 5}
	c.ok(c.s.People().PutMember(c.ctx, &again))
	mv.Role = rimewatch.RoleTechnician
	c.same(again, mv) // the time of joining is kept
	views, err = c.s.People().Memberships(c.ctx, v.ID)
	c.ok(err)
	c.same(views, []store.MembershipView{{Member: mv, WorkspaceName: "a", WorkspaceSlug: a.Slug}})

	c.code(c.deleteMember(b, v), rimewatch.CodeNotFound)
	c.ok(c.deleteMember(a, v))
	c.code(c.deleteMember(a, v), rimewatch.CodeNotFound)
	views, err = c.s.People().Memberships(c.ctx, v.ID)
	c.ok(err)
	c.same(len(views), 0)
	for _, m := range []rimewatch.Member{
		{WorkspaceID: b.ID + 1, UserID: u.ID, Role: rimewatch.RoleViewer},
		{WorkspaceID: a.ID, UserID: p.ID + 1, Role: rimewatch.RoleViewer},
	} {
		c.code(c.s.People().PutMember(c.ctx, &m), rimewatch.CodeNotFound)
	}
	for _, role := range []rimewatch.Role{"", "Owner", "root"} {
		c.field(c.s.People().PutMember(c.ctx, &rimewatch.Member{WorkspaceID: a.ID, UserID: u.ID, Role: role}), "role")
	}
}

func (c *control) lastOwner() {
	a, b := c.workspace("a"), c.workspace("b")
	u, v := c.user("u@example.com"), c.user("v@example.com")
	c.member(a, u, rimewatch.RoleOwner)
	c.member(b, v, rimewatch.RoleOwner) // another workspace's owner does not count
	c.member(a, v, rimewatch.RoleAdmin)
	c.code(c.deleteMember(a, u), rimewatch.CodeConflict)
	demoted := rimewatch.Member{WorkspaceID: a.ID, UserID: u.ID, Role: rimewatch.RoleAdmin}
	c.code(c.s.People().PutMember(c.ctx, &demoted), rimewatch.CodeConflict)
	c.member(a, u, rimewatch.RoleOwner) // no change
	c.member(a, v, rimewatch.RoleOwner)
	c.ok(c.s.People().PutMember(c.ctx, &demoted))
	c.code(c.deleteMember(a, v), rimewatch.CodeConflict)
	c.ok(c.deleteMember(a, u))
}

// lastOwnerRace lets two owners remove each other at once.
func (c *control) lastOwnerRace() {
	w := c.workspace("a")
	u, v := c.user("u@example.com"), c.user("v@example.com")
	for range 10 {
		c.member(w, u, rimewatch.RoleOwner)
		c.member(w, v, rimewatch.RoleOwner)
		var wg sync.WaitGroup
		errs := make([]error, 2)
		wg.Go(func() { errs[0] = c.deleteMember(w, u) })
		wg.Go(func() {
			errs[1] = c.s.People().PutMember(c.ctx, &rimewatch.Member{WorkspaceID: w.ID, UserID: v.ID, Role: rimewatch.RoleViewer})
		})
		wg.Wait()
		if a, b := rimewatch.CodeOf(errs[0]), rimewatch.CodeOf(errs[1]); a+b != rimewatch.CodeConflict {
			c.Fatalf("the removals of two owners gave %q and %q, want one conflict", a, b)
		}
	}
}

func (c *control) erasedUser() {
	a, b := c.workspace("a"), c.workspace("b")
	u, v := c.user("u@example.com"), c.user("v@example.com")
	c.member(a, u, rimewatch.RoleAdmin)
	c.member(a, v, rimewatch.RoleOwner)
	c.member(b, u, rimewatch.RoleOwner)
	mine, kept := c.token(a, u.ID, "mine"), c.token(a, v.ID, "kept")
	x, other := c.session(a, u, "x"), c.session(a, v, "other")
	c.ok(c.s.People().BeginSecondFactor(c.ctx, u.ID, []byte("x")))
	c.ok(c.s.People().ConfirmSecondFactor(c.ctx, u.ID, 1, [][32]byte{hashOf("1")}, t0))
	c.ok(c.s.People().CreatePasswordLink(c.ctx, &store.PasswordLink{Hash: hashOf("link"), UserID: u.ID, CreatedAt: t0, ExpiresAt: t0 + 10}))
	_, err := c.s.People().EraseUser(c.ctx, u.ID, t0+1) // the only owner of b
	c.code(err, rimewatch.CodeConflict)
	got, err := c.s.People().Session(c.ctx, x.Hash, t0) // and nothing has happened
	c.ok(err)
	c.same(got, x)
	c.member(b, v, rimewatch.RoleOwner)
	ended, err := c.s.People().EraseUser(c.ctx, u.ID, t0+1)
	c.ok(err)
	c.same(ended, []int64{mine.ID})
	_, err = c.s.People().EraseUser(c.ctx, u.ID, t0+1)
	c.code(err, rimewatch.CodeNotFound)
	for _, gone := range []error{
		func() error { _, err := c.s.People().User(c.ctx, u.ID); return err }(),
		func() error { _, err := c.s.People().UserByEmail(c.ctx, u.Email); return err }(),
		func() error { _, err := c.s.People().Session(c.ctx, x.Hash, t0); return err }(),
		func() error { _, err := c.s.People().SecondFactor(c.ctx, u.ID); return err }(),
		func() error { _, err := c.s.People().PasswordLink(c.ctx, hashOf("link"), t0); return err }(),
	} {
		c.code(gone, rimewatch.CodeNotFound)
	}
	t, err := c.s.People().TokenByHash(c.ctx, mine.Hash)
	c.ok(err)
	c.same(t.RevokedAt, t0+1)
	t, err = c.s.People().TokenByHash(c.ctx, kept.Hash)
	c.ok(err)
	c.same(t, kept)
	_, err = c.s.People().Session(c.ctx, other.Hash, t0)
	c.ok(err)
	list, err := c.s.People().Members(c.ctx, a.ID)
	c.ok(err)
	c.same(len(list), 1)
	again := aUser("u@example.com") // the address is free
	c.ok(c.s.People().CreateUser(c.ctx, &again))
	broken, err := c.s.Audit().VerifyAudit(c.ctx, a.ID)
	c.ok(err)
	c.same(broken, int64(0))
}
