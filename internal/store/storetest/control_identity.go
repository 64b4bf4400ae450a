package storetest

import (
	"strings"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func (c *control) identified(subject, email string, grants map[int64]rimewatch.Role) (rimewatch.User, error) {
	return c.s.AdmitIdentity(c.ctx, store.Identification{Issuer: "https://id.example", Subject: subject},
		rimewatch.User{Email: email, Name: "N", Locale: rimewatch.Locale{Units: "c"}, Theme: "system", CreatedAt: t0, UpdatedAt: t0}, grants)
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
	_, err = c.s.UserByEmail(c.ctx, "a@example.com") // nothing of it is left
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
		all, err := c.s.Memberships(c.ctx, userID)
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
	c.code(err, rimewatch.CodeForbidden) // the address is subject 1's
	found, err := c.identified("3", "local@example.com", nil)
	c.ok(err)
	c.same(found.ID, local.ID)
	_, err = c.identified("3", "local@example.com", map[int64]rimewatch.Role{v.ID: rimewatch.RoleViewer})
	c.ok(err)
	c.same(roles(local.ID), map[int64]rimewatch.Role{v.ID: rimewatch.RoleOwner}) // given by a person
	_, err = c.identified("1", "a@example.com", viewer)
	c.ok(err)
	c.same(roles(u.ID), viewer)
	_, err = c.s.EraseUser(c.ctx, u.ID, t0)
	c.ok(err)
	fresh, err := c.identified("1", "a@example.com", viewer)
	c.ok(err)
	if fresh.ID == u.ID {
		c.Error("an erased person is back")
	}
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
