package storetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// t0 is the present of the suite.
const t0 rimewatch.Time = 1_800_000_000_000

// Control checks the part of a store that keeps workspaces, sites, people,
// sessions and tokens. open returns a fresh, empty store and closes it when the
// test ends.
func Control(t *testing.T, open func(t *testing.T) store.Store) {
	for _, c := range []struct {
		name string
		run  func(*control)
	}{
		{"workspaces", (*control).workspaces},
		{"workspace names", (*control).workspaceNames},
		{"sites", (*control).sites},
		{"deleted site", (*control).deletedSite},
		{"contacts", (*control).contacts},
		{"users", (*control).users},
		{"first owner", (*control).firstOwner},
		{"first owner race", (*control).firstOwnerRace},
		{"passwords", (*control).passwords},
		{"password links", (*control).passwordLinks},
		{"invitations", (*control).invitations},
		{"accepted invitations", (*control).acceptedInvitations},
		{"invitations end", (*control).invitationsEnd},
		{"invitation accepted many times at once", (*control).invitationRace},
		{"second factor", (*control).secondFactor},
		{"codes used at once", (*control).codesAtOnce},
		{"identities", (*control).identities},
		{"identified many times at once", (*control).identityRace},
		{"break-glass", (*control).breakGlass},
		{"provider left", (*control).providerLeft},
		{"lapses", (*control).lapses},
		{"members", (*control).members},
		{"what a member leaves behind", (*control).memberTokens},
		{"erased user", (*control).erasedUser},
		{"last owner", (*control).lastOwner},
		{"last owner race", (*control).lastOwnerRace},
		{"sessions", (*control).sessions},
		{"session expiry", (*control).sessionExpiry},
		{"session workspace", (*control).sessionWorkspace},
		{"tokens", (*control).tokens},
		{"token revocation", (*control).tokenRevocation},
		{"token rotation", (*control).tokenRotation},
		{"token use", (*control).tokenUse},
		{"token requests", (*control).tokenCalls},
		{"audit trail", (*control).auditTrail},
		{"audit pages", (*control).auditPages},
		{"channels", (*control).channels},
		{"channel rules", (*control).channelRules},
		{"routes", (*control).routes},
		{"route rules", (*control).routeRules},
		{"report schedules", (*control).reportSchedules},
		{"silences", (*control).silences},
		{"maintenance", (*control).maintenance},
		{"maintenance plans", (*control).plans},
		{"trail of notifications", (*control).notificationTrail},
		{"address", (*control).address},
		{"slugs", (*control).slugs},
		{"logo", (*control).logo},
		{"text", (*control).text},
		{"concurrent use", (*control).concurrentUse},
		{"cancelled", (*control).givenUp},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.run(&control{T: t, ctx: t.Context(), s: open(t)})
		})
	}
}

// control is one case of the suite with its own store.
type control struct {
	*testing.T
	ctx context.Context
	s   store.Store
}

// ok stops the case at an error that should not be.
func (c *control) ok(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// code checks the code of an error.
func (c *control) code(err error, want rimewatch.Code) {
	c.Helper()
	if got := rimewatch.CodeOf(err); got != want {
		c.Fatalf("error %v has code %q, want %q", err, got, want)
	}
}

// field checks that an error is about a field.
func (c *control) field(err error, want string) {
	c.Helper()
	c.code(err, rimewatch.CodeValidationFailed)
	var e *rimewatch.Error
	if !errors.As(err, &e) || len(e.Fields[want]) == 0 {
		c.Fatalf("error %v with fields %v is not about %s", err, e.Fields, want)
	}
}

func (c *control) same(got, want any) {
	c.Helper()
	if d := cmp.Diff(want, got); d != "" {
		c.Fatalf("not what was stored (-want +got):\n%s", d)
	}
}

func aWorkspace(name string) rimewatch.Workspace {
	return rimewatch.Workspace{Name: name, TimeZone: "Europe/Berlin", RawDays: 396, RollupDays: 1096, ExposureSince: t0 - 1, CreatedAt: t0, UpdatedAt: t0}
}

func aUser(email string) rimewatch.User {
	return rimewatch.User{Email: email, Name: "Ada Ömer", PasswordHash: "$x", Locale: rimewatch.Locale{Language: "es", Units: "f", Clock: "12h", Dates: "mdy"}, Theme: "dark", CreatedAt: t0, UpdatedAt: t0}
}

func hashOf(s string) [32]byte { return sha256.Sum256([]byte(s)) }

func (c *control) workspace(name string) rimewatch.Workspace {
	c.Helper()
	w := aWorkspace(name)
	c.ok(c.s.CreateWorkspace(c.ctx, &w))
	return w
}

func (c *control) user(email string) rimewatch.User {
	c.Helper()
	u := aUser(email)
	c.ok(c.s.People().CreateUser(c.ctx, &u))
	return u
}

func (c *control) member(w rimewatch.Workspace, u rimewatch.User, role rimewatch.Role) rimewatch.Member {
	c.Helper()
	m := rimewatch.Member{WorkspaceID: w.ID, UserID: u.ID, Role: role, CreatedAt: t0}
	c.ok(c.s.People().PutMember(c.ctx, &m))
	return m
}

var errChange = errors.New("change refused")

func (c *control) workspaces() {
	list, err := c.s.Workspaces(c.ctx)
	c.ok(err)
	c.same(len(list), 0)
	a, b := c.workspace("Bäckerei Öz"), c.workspace("b")
	if a.ID <= 0 || b.ID <= a.ID {
		c.Fatalf("ids %d and %d do not grow", a.ID, b.ID)
	}
	got, err := c.s.Workspace(c.ctx, a.ID)
	c.ok(err)
	c.same(got, a)
	warm, wait := 4.5, 600
	limits := map[string]rimewatch.LimitOverrides{"walkin_cooler": {TempMax: &warm, DelayS: &wait}}
	changed, err := c.s.UpdateWorkspace(c.ctx, a.ID, func(w *rimewatch.Workspace) error {
		c.same(*w, a)
		*w = rimewatch.Workspace{ID: 99, Name: "A", OnUnknown: rimewatch.RegisterUnknown, TimeZone: "UTC", RawDays: 1, RollupDays: 2, CreatedAt: 5, UpdatedAt: t0 + 1, Limits: limits, ExposureSince: 7}
		return nil
	})
	c.ok(err)
	want := rimewatch.Workspace{ID: a.ID, Name: "A", OnUnknown: rimewatch.RegisterUnknown, TimeZone: "UTC", RawDays: 1, RollupDays: 2, CreatedAt: t0, UpdatedAt: t0 + 1, Limits: limits, ExposureSince: t0 - 1}
	want.Revision = 2
	c.same(changed, want)
	list, err = c.s.Workspaces(c.ctx)
	c.ok(err)
	c.same(list, []rimewatch.Workspace{want, b})

	_, err = c.s.UpdateWorkspace(c.ctx, a.ID, func(w *rimewatch.Workspace) error { w.Name = "gone"; return errChange })
	if !errors.Is(err, errChange) {
		c.Fatalf("the error of change is lost: %v", err)
	}
	_, err = c.s.UpdateWorkspace(c.ctx, a.ID, func(w *rimewatch.Workspace) error { w.RollupDays = 0; return nil })
	c.field(err, "rollup_days")
	got, err = c.s.Workspace(c.ctx, a.ID)
	c.ok(err)
	c.same(got, want)

	_, err = c.s.Workspace(c.ctx, b.ID+1)
	c.code(err, rimewatch.CodeNotFound)
	_, err = c.s.UpdateWorkspace(c.ctx, b.ID+1, func(*rimewatch.Workspace) error { return nil })
	c.code(err, rimewatch.CodeNotFound)
}

func (c *control) workspaceNames() {
	a, b := c.workspace("Straße ÄÖÜ"), c.workspace("other")
	for _, name := range []string{"Straße ÄÖÜ", "STRAßE äöü", "straße äöÜ"} {
		got, err := c.s.WorkspaceByName(c.ctx, name)
		c.ok(err)
		c.same(got, a)
		w := aWorkspace(name)
		c.code(c.s.CreateWorkspace(c.ctx, &w), rimewatch.CodeConflict)
		_, err = c.s.UpdateWorkspace(c.ctx, b.ID, func(w *rimewatch.Workspace) error { w.Name = name; return nil })
		c.code(err, rimewatch.CodeConflict)
	}
	_, err := c.s.UpdateWorkspace(c.ctx, a.ID, func(w *rimewatch.Workspace) error { w.Name = "STRAßE ÄÖÜ"; return nil })
	c.ok(err)
	for _, name := range []string{"", "none", "Straße%", "Straße ÄÖ_", "a\x00b", "\xff", strings.Repeat("x", 100_000), "' OR 1=1 --"} {
		_, err := c.s.WorkspaceByName(c.ctx, name)
		c.code(err, rimewatch.CodeNotFound)
	}
}

func (c *control) site(w rimewatch.Workspace, name string) rimewatch.Site {
	c.Helper()
	x := rimewatch.Site{WorkspaceID: w.ID, Name: name, TimeZone: "Asia/Tokyo", Address: "1 Ü Street", CreatedAt: t0, UpdatedAt: t0}
	c.ok(c.s.Sites().Create(c.ctx, &x))
	return x
}

func (c *control) sites() {
	a := c.workspace("a")
	x, y := c.site(a, "north"), c.site(a, "north") // names need not differ
	_, err := c.s.Sites().Update(c.ctx, a.ID, x.ID, func(s *rimewatch.Site) error { s.TimeZone = ""; return nil })
	c.field(err, "timezone")
	everywhere, err := c.s.Everywhere().AllSites(c.ctx)
	c.ok(err)
	c.same(everywhere, []rimewatch.Site{x, y})
	orphan := rimewatch.Site{WorkspaceID: a.ID + 1, Name: "x", TimeZone: "UTC", CreatedAt: t0, UpdatedAt: t0}
	c.code(c.s.Sites().Create(c.ctx, &orphan), rimewatch.CodeNotFound)
}

// deletedSite checks that devices follow what becomes of their site.
func (c *control) deletedSite() {
	w := c.workspace("a")
	x, y := c.site(w, "north"), c.site(w, "south")
	c.ok(c.s.Recover(c.ctx, 1, func(_ int, _ store.Checkpoint) error { return nil }, func(_ int, _ *store.Entry) error { return nil }))
	for serial, site := range map[string]int64{"D-1": x.ID, "D-2": y.ID} {
		d := rimewatch.Device{ID: c.s.NewDeviceID(), WorkspaceID: w.ID, Serial: serial, Name: serial, EquipmentType: "other", SiteID: site}
		op := &store.DeviceOp{WorkspaceID: w.ID, Serial: serial, Create: &d}
		c.ok(Commit(c.ctx, c.s, &store.Group{Now: t0, Devices: []*store.DeviceOp{op}}, &store.Effects{}))
		c.ok(op.Err)
	}
	_, err := c.s.Sites().Update(c.ctx, w.ID, x.ID, func(s *rimewatch.Site) error { s.Name = "east"; return nil })
	c.ok(err)
	d, err := c.s.Device(c.ctx, w.ID, "d-1")
	c.ok(err)
	if d.Site == nil || d.Site.Name != "east" {
		c.Fatalf("the device's site is %+v, want the changed one", d.Site)
	}
	c.ok(c.s.Sites().Delete(c.ctx, w.ID, x.ID))
	if d, err = c.s.Device(c.ctx, w.ID, "D-1"); err != nil || d.Site != nil || d.SiteID != 0 {
		c.Fatalf("the device of a deleted site: %v, site %d %+v", err, d.SiteID, d.Site)
	}
	if d, err = c.s.Device(c.ctx, w.ID, "D-2"); err != nil || d.Site == nil || d.Site.ID != y.ID {
		c.Fatalf("the device of another site: %v, %+v", err, d.Site)
	}
}

// contacts checks what cannot be a contact, and that one goes with its site.
func (c *control) contacts() {
	w, other := c.workspace("a"), c.workspace("b")
	site, foreign := c.site(w, "north"), c.site(other, "north")
	contact := func(change func(*rimewatch.Contact)) (rimewatch.Contact, error) {
		x := rimewatch.Contact{WorkspaceID: w.ID, SiteID: site.ID, Name: "Polar", Phone: "+1 (555) 01.42-7/8", CreatedAt: t0, UpdatedAt: t0}
		change(&x)
		err := c.s.Contacts().Create(c.ctx, &x)
		return x, err
	}
	for _, bad := range []struct {
		field  string
		change func(*rimewatch.Contact)
	}{
		{"name", func(x *rimewatch.Contact) { x.Name = " " }},
		{"role", func(x *rimewatch.Contact) { x.Role = "a\nb" }},
		{"phone", func(x *rimewatch.Contact) { x.Phone = "" }},
		{"phone", func(x *rimewatch.Contact) { x.Phone = "call me" }},
		{"phone", func(x *rimewatch.Contact) { x.Phone = strings.Repeat("1", 31) }},
		{"note", func(x *rimewatch.Contact) { x.Note = strings.Repeat("x", rimewatch.MaxNoteLen+1) }},
		{"site_id", func(x *rimewatch.Contact) { x.SiteID = 0 }},
		{"site_id", func(x *rimewatch.Contact) { x.SiteID = foreign.ID }},
	} {
		_, err := contact(bad.change)
		c.field(err, bad.field)
	}
	x, err := contact(func(*rimewatch.Contact) {})
	c.ok(err)
	c.ok(c.s.Sites().Delete(c.ctx, w.ID, site.ID))
	_, err = c.s.Contacts().Get(c.ctx, w.ID, x.ID)
	c.code(err, rimewatch.CodeNotFound)
}

// text checks that every text is kept to the byte or refused.
func (c *control) text() {
	w, u := c.workspace("a"), c.user("a@example.com")
	put := map[string]func(s string) error{
		"name": func(s string) error { x := aWorkspace(s); return c.s.CreateWorkspace(c.ctx, &x) },
		"timezone": func(s string) error {
			x := aWorkspace("tz")
			x.TimeZone = s
			return c.s.CreateWorkspace(c.ctx, &x)
		},
		"address": func(s string) error {
			return c.s.Sites().Create(c.ctx, &rimewatch.Site{WorkspaceID: w.ID, Name: "x", TimeZone: "UTC", Address: s})
		},
		"email": func(s string) error { x := aUser("x@" + s); return c.s.People().CreateUser(c.ctx, &x) },
		"password": func(s string) error {
			x := aUser("b@example.com")
			x.PasswordHash = s
			return c.s.People().CreateUser(c.ctx, &x)
		},
		"units": func(s string) error {
			x := aUser("c@example.com")
			x.Units = s
			return c.s.People().CreateUser(c.ctx, &x)
		},
		"theme": func(s string) error {
			x := aUser("c@example.com")
			x.Theme = s
			return c.s.People().CreateUser(c.ctx, &x)
		},
		"role": func(s string) error {
			return c.s.People().PutMember(c.ctx, &rimewatch.Member{WorkspaceID: w.ID, UserID: u.ID, Role: rimewatch.Role(s)})
		},
		"user_agent": func(s string) error {
			return c.s.People().CreateSession(c.ctx, &store.Session{Hash: hashOf("x"), UserID: u.ID, WorkspaceID: w.ID, UserAgent: s})
		},
		"prefix": func(s string) error {
			return c.s.People().CreateToken(c.ctx, &rimewatch.Token{WorkspaceID: w.ID, Name: "x", Prefix: s, Scopes: rimewatch.ScopesRead})
		},
	}
	for field, store := range put {
		for _, bad := range []string{"a\x00b", "a\xffb", "\xed\xa0\x80", strings.Repeat("x", 100_000)} {
			c.field(store(bad), field)
		}
	}
	for _, field := range []string{"name", "timezone", "email", "units", "theme", "role"} {
		c.field(put[field](""), field)
	}
	for _, lines := range []string{"a\nb", "a\r\nBcc: b", "a\u2028b", "a\u0085b", "a\x1bb"} {
		x := aWebhook(w.ID, lines)
		c.field(c.s.Routing().Channels().Create(c.ctx, &x), "name")
		_, err := c.s.People().UpdateUser(c.ctx, u.ID, func(u *rimewatch.User) error { u.Name = lines; return nil })
		c.field(err, "name")
	}
	_, err := c.s.People().UpdateUser(c.ctx, u.ID, func(u *rimewatch.User) error { u.Name = "a\x00b"; return nil })
	c.field(err, "name")
	c.field(c.s.People().SetPassword(c.ctx, u.ID, "a\x00b", t0), "password")
	c.field(c.s.People().UsePasswordLink(c.ctx, hashOf("x"), "a\xff", t0), "password")
	for i, good := range []string{"'; DROP TABLE user; --", "日本語 \U0001F9CA e\u0301", " spaces ", "%_\\\"", "\u202e\ufeff\uffff"} {
		x := rimewatch.Site{WorkspaceID: w.ID, Name: good, TimeZone: "UTC", Address: good + "\t\r\n", CreatedAt: t0, UpdatedAt: t0}
		c.ok(c.s.Sites().Create(c.ctx, &x))
		got, err := c.s.Sites().Get(c.ctx, w.ID, x.ID)
		c.ok(err)
		c.same(got, x)
		named := c.workspace(fmt.Sprintf("%d%s", i, good))
		found, err := c.s.WorkspaceByName(c.ctx, named.Name)
		c.ok(err)
		c.same(found, named)
	}
}

func (c *control) concurrentUse() {
	w := c.workspace("a")
	const workers, each = 8, 10
	var wg sync.WaitGroup
	errs := make(chan error, workers*each*4)
	for i := range workers {
		wg.Go(func() {
			for k := range each {
				_, err := c.s.UpdateWorkspace(c.ctx, w.ID, func(w *rimewatch.Workspace) error { w.RollupDays++; return nil })
				errs <- err
				u := aUser(fmt.Sprintf("u%d-%d@example.com", i, k))
				errs <- c.s.People().CreateUser(c.ctx, &u)
				got, err := c.s.People().User(c.ctx, u.ID)
				errs <- err
				if got != u {
					errs <- fmt.Errorf("user %d is %+v, want %+v", u.ID, got, u)
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		c.ok(err)
	}
	n, err := c.s.People().UserCount(c.ctx)
	c.ok(err)
	c.same(n, workers*each)
	got, err := c.s.Workspace(c.ctx, w.ID)
	c.ok(err)
	c.same(got.RollupDays, w.RollupDays+workers*each) // no update is lost
}

// givenUp checks that a request that was given up changes nothing.
func (c *control) givenUp() {
	ctx, cancel := context.WithCancel(c.ctx)
	cancel()
	w := aWorkspace("a")
	c.code(c.s.CreateWorkspace(ctx, &w), rimewatch.CodeUnavailable)
	_, err := c.s.Workspaces(ctx)
	c.code(err, rimewatch.CodeUnavailable)
	_, err = c.s.WorkspaceByName(c.ctx, "a")
	c.code(err, rimewatch.CodeNotFound)
}
