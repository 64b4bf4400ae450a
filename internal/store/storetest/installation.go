package storetest

import (
	"strings"

	"github.com/rimewatch/rimewatch/internal/store"
)

// address: it is the whole installation's, and every workspace's trail says who has changed it.
func (c *control) address() {
	a, b := c.workspace("a"), c.workspace("b")
	got, err := c.s.Address(c.ctx)
	c.ok(err)
	c.same(got, "")
	ctx := store.WithActor(c.ctx, "user 7")
	c.ok(c.s.SetAddress(ctx, "https://cold.example.com"))
	c.ok(c.s.SetAddress(ctx, "https://cold.example.com")) // nothing changes
	c.ok(c.s.SetAddress(ctx, "http://192.168.1.20:8080"))
	got, err = c.s.Address(c.ctx)
	c.ok(err)
	c.same(got, "http://192.168.1.20:8080")
	for _, w := range []int64{a.ID, b.ID} {
		list, total, err := c.s.Audit().AuditEntries(c.ctx, w, "address.", "", store.Page{Limit: 10})
		c.ok(err)
		c.same(total, 2)
		c.same(list[0].Actor, "user 7")
		if !strings.Contains(list[0].Detail, `"from":"https://cold.example.com"`) {
			c.Error(list[0].Detail)
		}
	}
}
