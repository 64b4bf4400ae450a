package storetest

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// trail returns a workspace's whole audit trail, oldest first, as "actor action
// subject detail", and checks that its chain holds.
func (c *control) trail(workspaceID int64) (lines []string) {
	c.Helper()
	list, total, err := c.s.Audit().AuditEntries(c.ctx, workspaceID, "", "", store.Page{Limit: 1000})
	c.ok(err)
	if total != len(list) {
		c.Fatalf("%d entries, but a total of %d", len(list), total)
	}
	var prev [32]byte
	for i := len(list) - 1; i >= 0; i-- {
		e := &list[i]
		if e.WorkspaceID != workspaceID || e.At == 0 || e.Hash != store.AuditHash(prev, e) {
			c.Fatalf("entry %+v does not follow the one before", e)
		}
		prev = e.Hash
		lines = append(lines, strings.TrimSuffix(fmt.Sprint(e.Actor, " ", e.Action, " ", e.Subject, " ", e.Detail), " {}"))
	}
	broken, err := c.s.Audit().VerifyAudit(c.ctx, workspaceID)
	c.ok(err)
	if broken != 0 {
		c.Fatalf("the chain breaks at %d", broken)
	}
	return lines
}

// audited checks what was added to a trail since the last call.
func (c *control) audited(w rimewatch.Workspace, seen *int, want ...string) {
	c.Helper()
	lines := c.trail(w.ID)
	if d := cmp.Diff(want, lines[*seen:], cmpopts.EquateEmpty()); d != "" {
		c.Fatalf("added to the trail (-want +got):\n%s", d)
	}
	*seen = len(lines)
}

// auditTrail makes every kind of change and looks for its entry.
func (c *control) auditTrail() {
	c.ctx = store.WithActor(c.ctx, "Olga <olga@example.com>")
	by := "Olga <olga@example.com> "
	w, other := c.workspace("A"), c.workspace("B")
	seen, seenOther := 0, 0
	created := `workspace.created workspace %d {"limits":{},"name":%q,"on_unknown":"hold","raw_days":396,"require_action":"none","require_second_factor":false,"rollup_days":1096,"timezone":"Europe/Berlin"}`
	c.audited(w, &seen, by+fmt.Sprintf(created, w.ID, "A"))
	c.audited(other, &seenOther, by+fmt.Sprintf(created, other.ID, "B"))

	rename := func(name string) func(*rimewatch.Workspace) error {
		return func(w *rimewatch.Workspace) error { w.Name = name; return nil }
	}
	_, err := c.s.UpdateWorkspace(c.ctx, w.ID, rename("A2"))
	c.ok(err)
	_, err = c.s.UpdateWorkspace(c.ctx, w.ID, rename("A2"))
	c.ok(err)
	_, err = c.s.UpdateWorkspace(c.ctx, w.ID, rename("B"))
	c.code(err, rimewatch.CodeConflict)
	c.audited(w, &seen, by+fmt.Sprintf(`workspace.updated workspace %d {"name":{"from":"A","to":"A2"}}`, w.ID))

	x := c.site(w, "Harbour")
	_, err = c.s.Sites().Update(c.ctx, w.ID, x.ID, func(x *rimewatch.Site) error { x.Name = "Pier"; return nil })
	c.ok(err)
	c.code(c.s.Sites().Delete(c.ctx, other.ID, x.ID), rimewatch.CodeNotFound)
	c.ok(c.s.Sites().Delete(c.ctx, w.ID, x.ID))
	site := func(name string) string {
		return fmt.Sprintf(`{"address":%q,"name":%q,"timezone":%q}`, x.Address, name, x.TimeZone)
	}
	c.audited(w, &seen,
		by+fmt.Sprintf("site.created site %d %s", x.ID, site("Harbour")),
		by+fmt.Sprintf(`site.updated site %d {"name":{"from":"Harbour","to":"Pier"}}`, x.ID),
		by+fmt.Sprintf("site.deleted site %d %s", x.ID, site("Pier")))

	u, t := c.auditPeople(w, other, by, &seen, &seenOther)
	c.ok(c.s.People().RevokeToken(c.ctx, w.ID, t.ID, t0))
	c.ok(c.s.People().RevokeToken(c.ctx, w.ID, t.ID, t0+1))
	c.ok(c.deleteMember(w, u))
	c.audited(w, &seen, by+fmt.Sprintf(`token.revoked token %d {"name":%q}`, t.ID, t.Name),
		by+fmt.Sprintf(`member.removed user %d {"email":"ada@example.com","role":"admin"}`, u.ID))
	c.audited(other, &seenOther)
}

// auditPeople is auditTrail for people, who are recorded in all their workspaces.
func (c *control) auditPeople(w, other rimewatch.Workspace, by string, seen, seenOther *int) (rimewatch.User, rimewatch.Token) {
	c.Helper()
	u := c.user("ada@example.com")
	c.audited(w, seen)
	c.member(w, u, rimewatch.RoleViewer)
	c.member(w, u, rimewatch.RoleViewer)
	c.member(w, u, rimewatch.RoleAdmin)
	c.member(other, u, rimewatch.RoleViewer)
	member := func(action, role string) string {
		return by + fmt.Sprintf(`member.%s user %d {"email":"ada@example.com","role":%s}`, action, u.ID, role)
	}
	c.audited(w, seen, member("added", `"viewer"`), member("updated", `{"from":"viewer","to":"admin"}`))
	c.audited(other, seenOther, member("added", `"viewer"`))

	_, err := c.s.People().UpdateUser(c.ctx, u.ID, func(u *rimewatch.User) error { u.Name, u.PasswordHash = "Ada", "$other"; return nil })
	c.ok(err)
	c.ok(c.s.People().SetPassword(c.ctx, u.ID, "$y", t0))
	l := store.PasswordLink{Hash: hashOf("link"), UserID: u.ID, CreatedAt: t0, ExpiresAt: t0 + 1000}
	c.ok(c.s.People().CreatePasswordLink(c.ctx, &l))
	c.ok(c.s.People().UsePasswordLink(store.WithActor(c.ctx, ""), l.Hash, "$z", t0))
	both := []string{
		by + fmt.Sprintf(`user.updated user %d {"name":{"from":"Ada Ömer","to":"Ada"}}`, u.ID),
		by + fmt.Sprintf("user.password_set user %d", u.ID),
		by + fmt.Sprintf(`user.reset_requested user %d {"expires_at":"%s"}`, u.ID, l.ExpiresAt),
		fmt.Sprintf("Ada <ada@example.com> user.password_set user %d", u.ID),
	}
	c.audited(w, seen, both...)
	c.audited(other, seenOther, both...)

	t := c.token(w, u.ID, "secret")
	c.audited(w, seen, by+fmt.Sprintf(`token.created token %d {"expires_at":%s,"name":%q,"scopes":["%s"]}`,
		t.ID, jsonTime(t.ExpiresAt), t.Name, strings.Join(t.Scopes.Names(), `","`)))
	return u, t
}

func jsonTime(t rimewatch.Time) string {
	b, err := t.MarshalJSON()
	if err != nil {
		panic(err)
	}
	return string(b)
}

// auditPages narrows and pages the trail.
func (c *control) auditPages() {
	w, other := c.workspace("A"), c.workspace("B")
	for i := range 5 {
		c.site(w, fmt.Sprint("S", i))
		c.site(other, fmt.Sprint("T", i))
	}
	get := func(action, subject string, p store.Page) (got []string, total int) {
		list, total, err := c.s.Audit().AuditEntries(c.ctx, w.ID, action, subject, p)
		c.ok(err)
		for _, e := range list {
			got = append(got, e.Action+" "+e.Subject)
		}
		return got, total
	}
	for _, q := range []struct {
		name, action, subject string
		p                     store.Page
		want                  string
		total                 int
	}{
		{"all", "", "", store.Page{Limit: 10}, "site.created site 9,site.created site 7,site.created site 5,site.created site 3,site.created site 1,workspace.created workspace 1", 6},
		{"action", "site.", "", store.Page{Limit: 2}, "site.created site 9,site.created site 7", 5},
		{"action is a prefix", "created", "", store.Page{Limit: 2}, "", 0},
		{"wildcards are letters", "site%", "", store.Page{Limit: 2}, "", 0},
		{"subject", "", "site 3", store.Page{Limit: 2}, "site.created site 3", 1},
		{"offset", "", "", store.Page{Limit: 2, Offset: 4}, "site.created site 1,workspace.created workspace 1", 6},
		{"past the end", "", "", store.Page{Limit: 2, Offset: 40}, "", 6},
	} {
		got, total := get(q.action, q.subject, q.p)
		if strings.Join(got, ",") != q.want || total != q.total {
			c.Errorf("%s: %q of %d, want %q of %d", q.name, got, total, q.want, q.total)
		}
	}
	list, _, err := c.s.Audit().AuditEntries(c.ctx, w.ID, "", "", store.Page{Limit: 2})
	c.ok(err)
	next, _, err := c.s.Audit().AuditEntries(c.ctx, w.ID, "", "", store.Page{Limit: 2, After: list[1].ID})
	c.ok(err)
	if len(next) != 2 || next[0].Subject != "site 5" {
		c.Errorf("after %v come %v", list, next)
	}
}

// audit writes entries with a commit, and none with one that fails.
func (f *fixture) audit() {
	entry := func(action string) *rimewatch.AuditEntry {
		return &rimewatch.AuditEntry{WorkspaceID: f.workspace, At: 7, Actor: "x", Action: action, Subject: "device 1", Detail: `{"a":1}`}
	}
	commit := func(fail bool, entries ...*rimewatch.AuditEntry) {
		ctx, cancel := context.WithCancel(f.ctx)
		defer cancel()
		staged, err := f.s.Stage(ctx, &store.Group{Now: f.now})
		f.must(err)
		if fail {
			cancel()
			f.code(staged.Commit(ctx, &store.Effects{Audit: entries}), rimewatch.CodeUnavailable)
		} else {
			f.must(staged.Commit(ctx, &store.Effects{Audit: entries}))
		}
	}
	first, second := entry("device.created"), entry("device.updated")
	commit(false, first, second)
	commit(true, entry("device.deleted"))
	f.everywhere(func(where string) {
		list, total, err := f.s.Audit().AuditEntries(f.ctx, f.workspace, "device.", "", store.Page{Limit: 10})
		f.must(err)
		f.equal(where+": total", total, 2)
		f.equal(where+": entries", list, []rimewatch.AuditEntry{*second, *first})
		broken, err := f.s.Audit().VerifyAudit(f.ctx, f.workspace)
		f.must(err)
		f.equal(where+": chain", broken, int64(0))
	})
}
