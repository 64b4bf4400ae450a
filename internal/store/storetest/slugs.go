package storetest

import (
	"strings"

	"github.com/rimewatch/rimewatch"
)

// slugs: each workspace has one of its own, and what it was called before still leads to it.
func (c *control) slugs() {
	for _, x := range []struct{ name, want string }{
		{"Müller’s Fish & Ice!", "mullers-fish-ice"}, {"MULLERS fish ice", "mullers-fish-ice-2"}, {"Кухня", "workspace"}, {"厨房", "workspace-2"}, {"x", "workspace-3"},
		{strings.Repeat("long ", 12), "long-long-long-long-long-long-long-long"}, {"-- 7 --", "workspace-4"}, {"Bar 7", "bar-7"},
	} {
		w := c.workspace(x.name)
		c.same(w.Slug, x.want)
		got, err := c.s.WorkspaceBySlug(c.ctx, x.want)
		c.ok(err)
		c.same(got.ID, w.ID)
	}
	a, b := c.workspace("Alpha"), c.workspace("Beta")
	to := func(w rimewatch.Workspace, slug string) error {
		_, err := c.s.UpdateWorkspace(c.ctx, w.ID, func(w *rimewatch.Workspace) error {
			w.Slug = slug
			return nil
		})
		return err
	}
	c.ok(to(a, "ice"))
	c.code(to(b, "ice"), rimewatch.CodeConflict)
	c.code(to(b, "alpha"), rimewatch.CodeConflict) // it was another's
	c.field(to(b, "Ice"), "slug")
	c.field(to(b, "кухня"), "slug")
	c.field(to(b, "a"), "slug")
	for _, slug := range []string{"alpha", "ice"} {
		got, err := c.s.WorkspaceBySlug(c.ctx, slug)
		c.ok(err)
		c.same(got.ID, a.ID)
		c.same(got.Slug, "ice")
	}
	got, err := c.s.WorkspaceBySlug(c.ctx, "beta")
	c.ok(err)
	c.same(got.Slug, "beta") // nothing of what was refused is stored
	c.ok(to(a, "alpha"))     // one may go back
	_, err = c.s.WorkspaceBySlug(c.ctx, "nobody")
	c.code(err, rimewatch.CodeNotFound)
}
