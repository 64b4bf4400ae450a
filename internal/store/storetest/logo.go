package storetest

import "github.com/rimewatch/rimewatch"

// logo: a workspace has one or none, and which workspace it is of is never mixed up.
func (c *control) logo() {
	a, b := c.workspace("Alpha"), c.workspace("Beta")
	want := rimewatch.Logo{Type: "image/png", Width: 2, Height: 1, Data: []byte{0, 1, 0xff}}
	w, err := c.s.SetLogo(c.ctx, a.ID, want)
	c.ok(err)
	if w.LogoAt == 0 || w.Revision != a.Revision+1 {
		c.Fatalf("logo of %v, revision %d", w.LogoAt, w.Revision)
	}
	got, err := c.s.Logo(c.ctx, a.ID)
	c.ok(err)
	c.same(got, want)
	got, err = c.s.Logo(c.ctx, b.ID)
	c.ok(err)
	c.same(got, rimewatch.Logo{})
	want.Data, want.Type = []byte("another"), "image/jpeg"
	_, err = c.s.SetLogo(c.ctx, a.ID, want)
	c.ok(err)
	got, err = c.s.Logo(c.ctx, a.ID)
	c.ok(err)
	c.same(got, want)
	w, err = c.s.SetLogo(c.ctx, a.ID, rimewatch.Logo{})
	c.ok(err)
	c.same(w.LogoAt, rimewatch.Time(0))
	got, err = c.s.Logo(c.ctx, a.ID)
	c.ok(err)
	c.same(got, rimewatch.Logo{})
	_, err = c.s.SetLogo(c.ctx, 1<<40, want)
	c.code(err, rimewatch.CodeNotFound)
}
