package storetest

import (
	"fmt"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func (c *control) invitation(w rimewatch.Workspace, by int64, email string, role rimewatch.Role, secret string) store.Invitation {
	c.Helper()
	v := store.Invitation{WorkspaceID: w.ID, Email: email, Role: role, Hash: hashOf(secret), InvitedBy: by, CreatedAt: t0, ExpiresAt: t0 + 100}
	c.ok(c.s.People().CreateInvitation(c.ctx, &v))
	return v
}

// newcomer is a person who has no account yet.
func newcomer(email string) rimewatch.User {
	u := aUser(email)
	u.PasswordHash = "$new"
	return u
}

func (c *control) invitations() {
	a, b, u := c.workspace("a"), c.workspace("b"), c.user("u@example.com")
	c.member(a, u, rimewatch.RoleOwner)
	x := c.invitation(a, u.ID, "Eve@Example.com", rimewatch.RoleViewer, "x")
	y := c.invitation(b, 0, "eve@example.com", rimewatch.RoleOwner, "y") // another workspace's is another one
	c.same(x.Email, "eve@example.com")
	want := store.InvitationView{Invitation: x, WorkspaceName: "a", InvitedByName: "Ada Ömer"}
	list, err := c.s.People().Invitations(c.ctx, a.ID)
	c.ok(err)
	c.same(list, []store.InvitationView{want})
	got, err := c.s.People().Invitation(c.ctx, x.Hash, t0+99)
	c.ok(err)
	c.same(got, want)
	got, err = c.s.People().Invitation(c.ctx, y.Hash, t0)
	c.ok(err)
	c.same(got, store.InvitationView{Invitation: y, WorkspaceName: "b"})
	_, err = c.s.People().Invitation(c.ctx, x.Hash, t0+100)
	c.code(err, rimewatch.CodeNotFound)
	_, err = c.s.People().Invitation(c.ctx, hashOf("none"), t0)
	c.code(err, rimewatch.CodeNotFound)

	for _, taken := range []string{"EVE@example.com", "u@example.com"} { // invited, a member
		v := store.Invitation{WorkspaceID: a.ID, Email: taken, Role: rimewatch.RoleViewer, Hash: hashOf(taken), ExpiresAt: t0 + 100}
		c.code(c.s.People().CreateInvitation(c.ctx, &v), rimewatch.CodeConflict)
	}
	orphan := store.Invitation{WorkspaceID: b.ID + 1, Email: "z@example.com", Role: rimewatch.RoleViewer, Hash: hashOf("z"), ExpiresAt: t0 + 100}
	c.code(c.s.People().CreateInvitation(c.ctx, &orphan), rimewatch.CodeNotFound)
	for field, v := range map[string]store.Invitation{
		"email": {WorkspaceID: a.ID, Email: "nobody", Role: rimewatch.RoleViewer},
		"role":  {WorkspaceID: a.ID, Email: "z@example.com", Role: "root"},
	} {
		c.field(c.s.People().CreateInvitation(c.ctx, &v), field)
	}

	c.code(c.s.People().DeleteInvitation(c.ctx, b.ID, x.ID), rimewatch.CodeNotFound)
	_, err = c.s.People().RenewInvitation(c.ctx, b.ID, x.ID, hashOf("stolen"), t0+200)
	c.code(err, rimewatch.CodeNotFound)
	renewed, err := c.s.People().RenewInvitation(c.ctx, a.ID, x.ID, hashOf("x2"), t0+200)
	c.ok(err)
	x.Hash, x.ExpiresAt = hashOf("x2"), t0+200
	c.same(renewed, x)
	_, err = c.s.People().Invitation(c.ctx, hashOf("x"), t0)
	c.code(err, rimewatch.CodeNotFound)
	_, err = c.s.People().Invitation(c.ctx, x.Hash, t0+199)
	c.ok(err)
	c.ok(c.s.People().DeleteInvitation(c.ctx, a.ID, x.ID))
	c.code(c.s.People().DeleteInvitation(c.ctx, a.ID, x.ID), rimewatch.CodeNotFound)
	_, err = c.s.People().Invitation(c.ctx, x.Hash, t0)
	c.code(err, rimewatch.CodeNotFound)

	c.ok(c.s.People().DeleteExpired(c.ctx, y.ExpiresAt+store.InvitationGrace-1))
	list, err = c.s.People().Invitations(c.ctx, b.ID)
	c.ok(err)
	c.same(len(list), 1)
	c.ok(c.s.People().DeleteExpired(c.ctx, y.ExpiresAt+store.InvitationGrace))
	list, err = c.s.People().Invitations(c.ctx, b.ID)
	c.ok(err)
	c.same(len(list), 0)
}

func (c *control) acceptedInvitations() {
	a, b := c.workspace("a"), c.workspace("b")
	c.invitation(a, 0, "eve@example.com", rimewatch.RoleViewer, "a")
	c.invitation(b, 0, "eve@example.com", rimewatch.RoleOwner, "b")
	other := c.user("other@example.com")
	_, err := c.s.People().AcceptInvitation(c.ctx, hashOf("a"), &other, t0)
	c.code(err, rimewatch.CodeForbidden)
	eve := newcomer("Eve@example.com")
	_, err = c.s.People().AcceptInvitation(c.ctx, hashOf("a"), &eve, t0+100)
	c.code(err, rimewatch.CodeNotFound)
	c.same(eve.ID, int64(0))
	m, err := c.s.People().AcceptInvitation(c.ctx, hashOf("a"), &eve, t0+1)
	c.ok(err)
	c.same(m, rimewatch.Member{WorkspaceID: a.ID, UserID: eve.ID, Role: rimewatch.RoleViewer, CreatedAt: t0 + 1})
	views, err := c.s.People().Memberships(c.ctx, eve.ID)
	c.ok(err)
	c.same(views, []store.MembershipView{{Member: m, WorkspaceName: "a", WorkspaceSlug: a.Slug}}) // and nothing of b
	_, err = c.s.People().AcceptInvitation(c.ctx, hashOf("a"), &eve, t0+1)
	c.code(err, rimewatch.CodeNotFound)

	again := newcomer("eve@example.com")
	_, err = c.s.People().AcceptInvitation(c.ctx, hashOf("b"), &again, t0+2)
	c.code(err, rimewatch.CodeConflict) // the address has an account
	got, err := c.s.People().User(c.ctx, eve.ID)
	c.ok(err)
	c.same(got, eve)
	m, err = c.s.People().AcceptInvitation(c.ctx, hashOf("b"), &eve, t0+2)
	c.ok(err)
	c.same(m.Role, rimewatch.RoleOwner)

	// Who became a member meanwhile keeps that role.
	d := c.workspace("d")
	c.invitation(d, 0, "eve@example.com", rimewatch.RoleOwner, "d")
	was := c.member(d, eve, rimewatch.RoleViewer)
	m, err = c.s.People().AcceptInvitation(c.ctx, hashOf("d"), &eve, t0+3)
	c.ok(err)
	c.same(m, was)
	list, err := c.s.People().Invitations(c.ctx, d.ID)
	c.ok(err)
	c.same(len(list), 0)
}

// invitationsEnd checks that what a member offered ends with his place or his
// rank: he may hold the link.
func (c *control) invitationsEnd() {
	a, b, u := c.workspace("a"), c.workspace("b"), c.user("u@example.com")
	c.member(a, c.user("keeper@example.com"), rimewatch.RoleOwner)
	for _, end := range []struct {
		name string
		role rimewatch.Role
		left int
	}{{"raised", rimewatch.RoleOwner, 1}, {"lowered", rimewatch.RoleAdmin, 0}, {"removed", "", 0}} {
		c.member(a, u, rimewatch.RoleAdmin)
		if end.role == rimewatch.RoleAdmin {
			c.member(a, u, rimewatch.RoleOwner)
		}
		c.invitation(a, u.ID, "eve@example.com", rimewatch.RoleAdmin, end.name)
		if end.role == "" {
			c.ok(c.deleteMember(a, u))
		} else {
			c.member(a, u, end.role)
		}
		list, err := c.s.People().Invitations(c.ctx, a.ID)
		c.ok(err)
		if len(list) != end.left {
			c.Fatalf("%d invitations are left of a member who was %s, want %d", len(list), end.name, end.left)
		}
		for _, v := range list {
			c.ok(c.s.People().DeleteInvitation(c.ctx, a.ID, v.ID))
		}
	}
	c.member(a, u, rimewatch.RoleOwner)
	c.invitation(b, u.ID, "eve@example.com", rimewatch.RoleViewer, "b")
	c.ok(c.deleteMember(a, u))
	list, err := c.s.People().Invitations(c.ctx, b.ID)
	c.ok(err)
	c.same(len(list), 1) // another workspace's stay
}

func (c *control) invitationRace() {
	w := c.workspace("a")
	c.invitation(w, 0, "eve@example.com", rimewatch.RoleViewer, "x")
	var wg sync.WaitGroup
	codes := make([]rimewatch.Code, 8)
	for i := range codes {
		wg.Go(func() {
			u := newcomer("eve@example.com")
			u.Name = fmt.Sprint("Eve ", i)
			_, err := c.s.People().AcceptInvitation(c.ctx, hashOf("x"), &u, t0)
			codes[i] = rimewatch.CodeOf(err)
		})
	}
	wg.Wait()
	won := 0
	for _, code := range codes {
		switch code {
		case "":
			won++
		case rimewatch.CodeNotFound:
		default:
			c.Errorf("a link that is used many times at once answers %q", code)
		}
	}
	c.same(won, 1)
}

func (c *control) memberTokens() {
	a, b := c.workspace("a"), c.workspace("b")
	u, v := c.user("u@example.com"), c.user("v@example.com")
	for _, w := range []rimewatch.Workspace{a, b} {
		c.member(w, u, rimewatch.RoleAdmin)
		c.member(w, v, rimewatch.RoleOwner)
	}
	mine, old, other, elsewhere, line := c.token(a, u.ID, "mine"), c.token(a, u.ID, "old"), c.token(a, v.ID, "other"), c.token(b, u.ID, "elsewhere"), c.token(a, 0, "line")
	c.ok(c.s.People().RevokeToken(c.ctx, a.ID, old.ID, t0+1))
	ended, err := c.s.People().DeleteMember(c.ctx, a.ID, u.ID, t0+5)
	c.ok(err)
	c.same(ended, []int64{mine.ID})
	for _, t := range []struct {
		token rimewatch.Token
		want  rimewatch.Time
	}{{mine, t0 + 5}, {old, t0 + 1}, {other, 0}, {elsewhere, 0}, {line, 0}} {
		got, err := c.s.People().TokenByHash(c.ctx, t.token.Hash)
		c.ok(err)
		if got.RevokedAt != t.want {
			c.Fatalf("token %d is revoked at %d, want %d", t.token.ID, got.RevokedAt, t.want)
		}
	}
}
