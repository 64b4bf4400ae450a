package storetest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Resources checks every Resource of a store. What only one of them promises stands
// in Control and Inlets.
func Resources(t *testing.T, e Engine) { run(t, e, resources()) }

// keptResources has one store keep things of every resource.
func keptResources(f *fixture) {
	var checks []func(where string)
	for _, k := range kinds() {
		checks = append(checks, k.kept(f))
	}
	f.everywhere(func(where string) {
		for _, check := range checks {
			check(where)
		}
	})
}

// resources has a case for each resource of a store.
func resources() (cases []namedCase) {
	for _, k := range kinds() {
		cases = append(cases, namedCase{k.name(), k.run})
	}
	return cases
}

// kind is a resource of any things.
type kind interface {
	name() string
	run(*fixture)
	kept(*fixture) (check func(where string))
}

// kinds are the resources of a store.
func kinds() []kind {
	return []kind{
		resource[rimewatch.Site]{
			word: "site", of: store.Store.Sites,
			make: func(_ *fixture, w, _ int64, n int) rimewatch.Site {
				return rimewatch.Site{WorkspaceID: w, Name: "Shop", TimeZone: "Asia/Tokyo", Address: fmt.Sprint(n, " Ü Street"), CreatedAt: t0, UpdatedAt: t0}
			},
			key: func(x *rimewatch.Site) key {
				return key{&x.ID, &x.WorkspaceID, &x.Revision, &x.CreatedAt, nil}
			},
			edit: func(x *rimewatch.Site) { x.Name, x.UpdatedAt = x.Name+"!", x.UpdatedAt+1 },
		},
		resource[rimewatch.Contact]{
			word: "contact", of: store.Store.Contacts, most: rimewatch.MaxContacts,
			make: func(_ *fixture, w, site int64, n int) rimewatch.Contact {
				return rimewatch.Contact{WorkspaceID: w, SiteID: site, Name: fmt.Sprint("Polar ", n), Role: "service", Phone: "+1 555 0142", Note: "contract 4711", Company: "Polar Ltd", Email: "polar@example.com", CreatedAt: t0, UpdatedAt: t0}
			},
			key: func(x *rimewatch.Contact) key {
				return key{&x.ID, &x.WorkspaceID, &x.Revision, &x.CreatedAt, &x.SiteID}
			},
			edit: func(x *rimewatch.Contact) { x.Phone, x.UpdatedAt = x.Phone+"1", x.UpdatedAt+1 },
		},
		resource[rimewatch.Rota]{
			word: "rota", of: func(s store.Store) store.Resource[rimewatch.Rota] { return s.Routing().Rotas() }, most: rimewatch.MaxRotas,
			make: func(f *fixture, w, site int64, n int) rimewatch.Rota {
				user := f.member(w)
				return rimewatch.Rota{
					WorkspaceID: w, SiteID: site, Name: fmt.Sprint("Nights ", n), Shifts: []rimewatch.Shift{{Days: 65, From: 1020, To: 480, UserID: user}},
					Overrides: []rimewatch.Override{{StartsAt: t0, EndsAt: t0 + 1, InsteadOf: user, Note: "holiday"}}, TellHandOver: rimewatch.TellAlways, CalendarAt: t0 + 7, CreatedAt: t0, UpdatedAt: t0,
				}
			},
			key: func(x *rimewatch.Rota) key {
				return key{&x.ID, &x.WorkspaceID, &x.Revision, &x.CreatedAt, nil}
			},
			edit: func(x *rimewatch.Rota) { x.Shifts, x.UpdatedAt = nil, x.UpdatedAt+1 },
		},
		resource[rimewatch.WorkOrder]{
			word: "work_order", of: func(s store.Store) store.Resource[rimewatch.WorkOrder] { return s.Records().WorkOrders() }, most: rimewatch.MaxOrders, newest: true,
			make: func(_ *fixture, w, site int64, n int) rimewatch.WorkOrder {
				firm := &rimewatch.Doer{Kind: rimewatch.DoerExternal, Name: "Kim", Firm: "Polar"}
				x := rimewatch.WorkOrder{
					WorkspaceID: w, SiteID: site, DeviceID: 7, Unit: "Walk-in", AlertID: 4, CaseID: 3, Status: rimewatch.OrderAssigned, Problem: fmt.Sprint("Ices up ", n), Access: "ring twice",
					Urgency: rimewatch.UrgencySoon, Assignee: firm, ContactID: 5, LinkUntil: t0 + 9, OnWayAt: t0 + 1, CreatedBy: "Ada", CreatedAt: t0, UpdatedAt: t0,
				}
				if n == 1 {
					x.Status, x.OnSiteAt, x.DoneAt, x.ActionID, x.Verified, x.VerifiedAt = rimewatch.OrderVerified, t0+2, t0+3, 8, firm, t0+4
					x.Result = &rimewatch.OrderResult{Performed: *firm, Outcome: rimewatch.OutcomeRepaired, Cause: "Fan", Work: "Replaced", Parts: "Fan", Cost: "180 €", Remarks: "worn"}
				}
				return x
			},
			key: func(x *rimewatch.WorkOrder) key {
				return key{&x.ID, &x.WorkspaceID, &x.Revision, &x.CreatedAt, &x.SiteID}
			},
			edit:  func(x *rimewatch.WorkOrder) { x.Access, x.LinkUntil, x.UpdatedAt = x.Access+"!", 0, x.UpdatedAt+1 },
			frees: func(x *rimewatch.WorkOrder) { x.Status = rimewatch.OrderCancelled },
		},
		resource[rimewatch.CheckTemplate]{
			word: "check_template", of: func(s store.Store) store.Resource[rimewatch.CheckTemplate] { return s.Records().CheckTemplates() }, most: rimewatch.MaxCheckTemplates, elsewhere: []string{"DeviceIDs"}, // checks has them
			make: func(_ *fixture, w, site int64, n int) rimewatch.CheckTemplate {
				return rimewatch.CheckTemplate{
					WorkspaceID: w, SiteID: site, Name: fmt.Sprint("Morning ", n), Pack: "haccp-ampm", Categories: []rimewatch.Category{rimewatch.CategoryFreezer},
					Windows: []rimewatch.CheckWindow{{Days: 65, From: 360, To: 600}}, Ask: rimewatch.CheckAsk{Range: true}, Tell: rimewatch.TellMissed, Enabled: true, Through: t0 + 3, CreatedAt: t0, UpdatedAt: t0,
				}
			},
			key: func(x *rimewatch.CheckTemplate) key {
				return key{&x.ID, &x.WorkspaceID, &x.Revision, &x.CreatedAt, &x.SiteID}
			},
			edit: func(x *rimewatch.CheckTemplate) {
				x.Enabled, x.Ask.Typed, x.UpdatedAt = !x.Enabled, true, x.UpdatedAt+1
			},
		},
		resource[rimewatch.Act]{
			word: "act", of: store.Store.Acts, most: rimewatch.MaxActs, ends: true, elsewhere: []string{"SettledAt", "SettledBy", "Failure"},
			make: func(_ *fixture, w, _ int64, n int) rimewatch.Act {
				return rimewatch.Act{
					WorkspaceID: w, UserID: 5, By: "Ada <ada@example.com>", Does: "delete-site", About: fmt.Sprint("Shop ", n), Method: "DELETE", Target: "/api/v1/sites/4",
					IfMatch: `"3"`, Body: `{"note":"x"}`, EffectiveAt: endOf(n), State: rimewatch.ActPending, CreatedAt: t0,
				}
			},
			key: func(x *rimewatch.Act) key {
				return key{&x.ID, &x.WorkspaceID, &x.Revision, &x.CreatedAt, nil}
			},
			edit: func(x *rimewatch.Act) {
				x.State, x.SettledAt, x.SettledBy, x.Failure = rimewatch.ActFailed, t0+1, "Bob", x.Failure+"gone"
			},
		},
		resource[rimewatch.Channel]{
			word: "channel", of: func(s store.Store) store.Resource[rimewatch.Channel] { return s.Routing().Channels() }, most: rimewatch.MaxChannels, elsewhere: []string{"ChannelHealth"},
			make: func(f *fixture, w, _ int64, n int) rimewatch.Channel {
				if n%2 == 0 {
					return anEmail(w, fmt.Sprint("mail ", n))
				}
				x := aWebhook(w, fmt.Sprint("hook ", n))
				x.FallbackID = f.mail(w)
				if n%3 == 0 {
					x.Kind, x.URL, x.Secret, x.OwnerID, x.AfterS, x.Quiet = rimewatch.ChannelCall, "twilio://sid:token@call?from=1&to=2", "", f.member(w), 60, &rimewatch.QuietHours{From: 1320, To: 360}
				}
				return x
			},
			key: func(x *rimewatch.Channel) key {
				return key{&x.ID, &x.WorkspaceID, &x.Revision, &x.CreatedAt, nil}
			},
			edit: func(x *rimewatch.Channel) { x.Name, x.Enabled, x.UpdatedAt = x.Name+"!", !x.Enabled, x.UpdatedAt+1 },
		},
		resource[rimewatch.Route]{
			word: "route", of: func(s store.Store) store.Resource[rimewatch.Route] { return s.Routing().Routes() }, most: rimewatch.MaxRoutes,
			make: func(f *fixture, w, _ int64, n int) rimewatch.Route {
				digest := 450
				return rimewatch.Route{
					WorkspaceID: w, Name: fmt.Sprint("Night ", n), Enabled: true,
					Match: rimewatch.Matchers{
						Severities: []rimewatch.Severity{rimewatch.Critical}, Types: []rimewatch.AlertType{rimewatch.HighTemperature}, SiteIDs: []int64{4},
						EquipmentTypes: []string{"walkin_freezer"}, DeviceIDs: []int64{5, 6},
					},
					Steps:   []rimewatch.RouteStep{{ChannelIDs: []int64{f.mail(w)}}, {AfterS: 600, ChannelIDs: []int64{f.mail(w)}, Targets: []rimewatch.Target{{Kind: rimewatch.TargetMember, ID: f.member(w)}}}},
					RepeatS: 3600, Recovery: true, Quiet: &rimewatch.QuietHours{From: 1320, To: 360}, DigestAt: &digest, CreatedAt: t0, UpdatedAt: t0,
				}
			},
			key: func(x *rimewatch.Route) key {
				return key{&x.ID, &x.WorkspaceID, &x.Revision, &x.CreatedAt, nil}
			},
			edit: func(x *rimewatch.Route) { x.Name, x.Steps, x.UpdatedAt = x.Name+"!", x.Steps[:1], x.UpdatedAt+1 },
		},
		resource[rimewatch.Silence]{
			word: "silence", of: func(s store.Store) store.Resource[rimewatch.Silence] { return s.Routing().Silences() }, most: rimewatch.MaxSilences, ends: true,
			make: func(_ *fixture, w, _ int64, n int) rimewatch.Silence {
				return rimewatch.Silence{
					WorkspaceID: w, Match: rimewatch.Matchers{DeviceIDs: []int64{5}}, StartsAt: t0, EndsAt: endOf(n), Comment: "ice", CreatedBy: "Ada", CreatedAt: t0,
				}
			},
			key: func(x *rimewatch.Silence) key {
				return key{&x.ID, &x.WorkspaceID, &x.Revision, &x.CreatedAt, nil}
			},
			edit: func(x *rimewatch.Silence) { x.Comment += "!" },
		},
		resource[rimewatch.MaintenanceWindow]{
			word: "maintenance", of: func(s store.Store) store.Resource[rimewatch.MaintenanceWindow] {
				return s.Routing().MaintenanceWindows()
			}, most: rimewatch.MaxMaintenanceWindows, ends: true, elsewhere: []string{"PlanID"}, // plans has it
			make: func(_ *fixture, w, _ int64, n int) rimewatch.MaintenanceWindow {
				return rimewatch.MaintenanceWindow{
					WorkspaceID: w, SiteIDs: []int64{3}, DeviceIDs: []int64{5, 6}, StartsAt: t0, EndsAt: endOf(n), Reason: "drain", CreatedBy: "Ada", CreatedAt: t0,
				}
			},
			key: func(x *rimewatch.MaintenanceWindow) key {
				return key{&x.ID, &x.WorkspaceID, &x.Revision, &x.CreatedAt, nil}
			},
			edit: func(x *rimewatch.MaintenanceWindow) { x.Reason += "!" },
		},
		resource[rimewatch.MaintenancePlan]{
			word: "maintenance_plan", of: func(s store.Store) store.Resource[rimewatch.MaintenancePlan] { return s.Routing().MaintenancePlans() }, most: rimewatch.MaxMaintenancePlans,
			make: func(_ *fixture, w, site int64, _ int) rimewatch.MaintenancePlan {
				return rimewatch.MaintenancePlan{
					WorkspaceID: w, SiteIDs: []int64{site}, DeviceIDs: []int64{5, 6}, Window: rimewatch.CheckWindow{Days: 62, From: 330, To: 420}, Reason: "Cleaning", Enabled: true,
					CreatedBy: "Ada", CreatedAt: t0, UpdatedAt: t0,
				}
			},
			key: func(x *rimewatch.MaintenancePlan) key {
				return key{&x.ID, &x.WorkspaceID, &x.Revision, &x.CreatedAt, nil}
			},
			edit: func(x *rimewatch.MaintenancePlan) {
				x.Enabled, x.Window.To, x.UpdatedAt = !x.Enabled, x.Window.To+1, x.UpdatedAt+1
			},
		},
		resource[rimewatch.ReportSchedule]{
			word: "report_schedule", of: func(s store.Store) store.Resource[rimewatch.ReportSchedule] { return s.Routing().ReportSchedules() }, most: rimewatch.MaxReportSchedules,
			make: func(f *fixture, w, site int64, _ int) rimewatch.ReportSchedule {
				return rimewatch.ReportSchedule{
					WorkspaceID: w, SiteID: site, Period: rimewatch.ReportWeekly, ChannelIDs: []int64{f.mail(w)}, Enabled: true, Through: t0 - 5, CreatedAt: t0, UpdatedAt: t0,
				}
			},
			key: func(x *rimewatch.ReportSchedule) key {
				return key{&x.ID, &x.WorkspaceID, &x.Revision, &x.CreatedAt, &x.SiteID}
			},
			edit: func(x *rimewatch.ReportSchedule) { x.Enabled, x.UpdatedAt = !x.Enabled, x.UpdatedAt+1 },
		},
		resource[rimewatch.Source]{
			word: "source", of: func(s store.Store) store.Resource[rimewatch.Source] { return s.Inlets().Sources() }, most: rimewatch.MaxSources,
			make: func(_ *fixture, w, site int64, n int) rimewatch.Source {
				x := aSource(w, fmt.Sprint("gateway ", n))
				if n%2 == 0 {
					x.Kind, x.SiteID, x.TimeZone = rimewatch.SourceMQTT, site, "UTC"
					x.Template, x.Document = rimewatch.TemplateOwn, `{"version":1}`
					x.Broker = rimewatch.Broker{URL: "mqtts://broker:8883", Username: "u", Password: "p", Topics: []string{"zigbee2mqtt/#"}}
				}
				return x
			},
			key: func(x *rimewatch.Source) key {
				return key{&x.ID, &x.WorkspaceID, &x.Revision, &x.CreatedAt, nil}
			},
			edit: func(x *rimewatch.Source) { x.Name, x.Enabled, x.UpdatedAt = x.Name+"!", !x.Enabled, x.UpdatedAt+1 },
		},
		resource[rimewatch.Webhook]{
			word: "webhook", of: func(s store.Store) store.Resource[rimewatch.Webhook] { return s.Outbox().Webhooks() }, most: rimewatch.MaxWebhooks, elsewhere: []string{"ChannelHealth", "Run", "FailingSince"},
			make: func(_ *fixture, w, site int64, n int) rimewatch.Webhook {
				x := aHook(w, n)
				x.SiteIDs = rimewatch.Sites{site}
				return x
			},
			key: func(x *rimewatch.Webhook) key {
				return key{&x.ID, &x.WorkspaceID, &x.Revision, &x.CreatedAt, nil}
			},
			edit: func(x *rimewatch.Webhook) {
				x.Description, x.Enabled, x.UpdatedAt = x.Description+"!", !x.Enabled, x.UpdatedAt+1
			},
		},
		resource[rimewatch.SourceKey]{
			word: "source_key", of: func(s store.Store) store.Resource[rimewatch.SourceKey] { return s.Inlets().SourceKeys() }, most: rimewatch.MaxSourceKeys,
			make: func(f *fixture, w, _ int64, n int) rimewatch.SourceKey {
				k := aSourceKey(w, f.push(w), fmt.Sprint("board ", n))
				k.Hash = sha256.Sum256([]byte(rand.Text()))
				return k
			},
			key: func(x *rimewatch.SourceKey) key {
				return key{&x.ID, &x.WorkspaceID, &x.Revision, &x.CreatedAt, nil}
			},
			edit: func(x *rimewatch.SourceKey) { x.Name, x.UpdatedAt = x.Name+"!", x.UpdatedAt+1 },
		},
	}
}

// endOf is when the nth span ends, which none does while others still count.
func endOf(n int) rimewatch.Time { return t0 + 10*rimewatch.Time(n%5+1) }

// resource is what the suite has to know of one.
type resource[T any] struct {
	word string // of its actions in the audit trail
	of   func(store.Store) store.Resource[T]
	// make returns the nth of a workspace, of a site of it, that can be stored. Each field
	// is filled in at least one of five, but for those that are set elsewhere.
	make      func(f *fixture, workspaceID, siteID int64, n int) T
	elsewhere []string
	key       func(*T) key
	edit      func(*T) // a change of what people set
	most      int      // of a workspace, 0 = no limit
	ends      bool     // is a span, which is not deleted
	frees     func(*T) // a change after which it does not count any more; such things are not deleted either
	newest    bool     // Select has the newest first
}

// key is where a thing keeps what each has.
type key struct {
	id, workspaceID, revision *int64
	createdAt                 *rimewatch.Time
	siteID                    *int64 // nil = it belongs to no site
}

func (r resource[T]) name() string { return r.word }

func (r resource[T]) kept(f *fixture) (check func(where string)) {
	w := f.workspace
	for n := range 2 {
		x := r.make(f, w, f.site(w), n)
		f.must(r.of(f.s).Create(f.ctx, &x))
		if n == 0 {
			_, err := r.of(f.s).Update(f.ctx, w, *r.key(&x).id, func(x *T) error { r.edit(x); return nil })
			f.must(err)
		}
	}
	var want []T
	return func(where string) {
		if want == nil {
			want = r.list(f, w)
		}
		f.equal(where+": "+r.word, r.list(f, w), want)
	}
}

// world is what a case works on.
type world struct {
	mine, theirs int64    // workspaces
	here         [2]int64 // sites of mine
	there        int64    // a site of theirs
}

// mail returns an e-mail channel of a workspace.
func (f *fixture) mail(workspaceID int64) int64 {
	f.Helper()
	list, err := f.s.Routing().Channels().List(f.ctx, workspaceID)
	f.must(err)
	for i := range list {
		if list[i].Name == "mail" {
			return list[i].ID
		}
	}
	x := anEmail(workspaceID, "mail")
	f.must(f.s.Routing().Channels().Create(f.ctx, &x))
	return x.ID
}

// member returns somebody who is a member of a workspace.
func (f *fixture) member(workspaceID int64) int64 {
	f.Helper()
	list, err := f.s.People().Members(f.ctx, workspaceID)
	f.must(err)
	if len(list) > 0 {
		return list[0].UserID
	}
	u := aUser(fmt.Sprintf("on-duty-%d@example.com", workspaceID))
	f.must(f.s.People().CreateUser(f.ctx, &u))
	f.must(f.s.People().PutMember(f.ctx, &rimewatch.Member{WorkspaceID: workspaceID, UserID: u.ID, Role: rimewatch.RoleTechnician, CreatedAt: t0}))
	return u.ID
}

// push returns a source of a workspace that senders connect to.
func (f *fixture) push(workspaceID int64) int64 {
	f.Helper()
	list, err := f.s.Inlets().Sources().List(f.ctx, workspaceID)
	f.must(err)
	for i := range list {
		if list[i].Name == "push" {
			return list[i].ID
		}
	}
	x := aSource(workspaceID, "push")
	f.must(f.s.Inlets().Sources().Create(f.ctx, &x))
	return x.ID
}

func (f *fixture) site(workspaceID int64) int64 {
	f.Helper()
	x := rimewatch.Site{WorkspaceID: workspaceID, Name: "Site", TimeZone: "UTC", CreatedAt: t0, UpdatedAt: t0}
	f.must(f.s.Sites().Create(f.ctx, &x))
	return x.ID
}

func (r resource[T]) run(f *fixture) {
	f.ctx = store.WithActor(f.ctx, "Olga")
	w := world{mine: f.workspace, theirs: f.newWorkspace("Other")}
	w.here, w.there = [2]int64{f.site(w.mine), f.site(w.mine)}, f.site(w.theirs)
	r.make(f, w.mine, w.here[0], 1) // what it needs is not to be counted
	r.make(f, w.theirs, w.there, 1)
	before, foreigners := r.list(f, w.mine), r.list(f, w.theirs)
	made := r.created(f, &w)
	foreign := r.make(f, w.theirs, w.there, 0)
	f.must(r.of(f.s).Create(f.ctx, &foreign))
	r.filled(f, made)

	list := slices.Concat(before, made)
	r.pages(f, &w, list)
	r.unknown(f, &w, *r.key(&foreign).id)
	i := len(list) - 1
	list[i] = r.changed(f, &w, list[i])
	list[i] = r.atOnce(f, list[i])
	if r.ends || r.frees != nil {
		f.code(r.of(f.s).Delete(f.ctx, w.mine, *r.key(&list[i]).id), rimewatch.CodeConflict)
	} else {
		list = r.deleted(f, &w, list, len(before)+1)
	}
	f.everywhere(func(where string) {
		f.equal(where+": list", r.list(f, w.mine), list)
		f.equal(where+": list of another workspace", r.list(f, w.theirs), append(slices.Clone(foreigners), foreign))
	})
	r.bounded(f)
	r.erased(f, &w, append(foreigners, foreign))
}

func (r resource[T]) list(f *fixture, workspaceID int64) []T {
	f.Helper()
	list, err := r.of(f.s).List(f.ctx, workspaceID)
	f.must(err)
	return list
}

// created makes five things; the store gives each its id and its first revision.
func (r resource[T]) created(f *fixture, w *world) (made []T) {
	last := int64(0)
	for n := range 5 {
		x := r.make(f, w.mine, w.here[n%2], n)
		k := r.key(&x)
		*k.id, *k.revision = 987, 654
		f.must(r.of(f.s).Create(f.ctx, &x))
		if *k.id <= last || *k.revision != 1 {
			f.Fatalf("the id %d does not follow %d, or the revision is %d", *k.id, last, *k.revision)
		}
		last = *k.id
		got, err := r.of(f.s).Get(f.ctx, w.mine, *k.id)
		f.must(err)
		f.equal("found", got, x)
		made = append(made, x)
	}
	r.entries(f, w.mine, "created", len(r.list(f, w.mine)))
	orphan := r.make(f, w.mine, w.here[0], 9)
	*r.key(&orphan).workspaceID = w.theirs + 1
	if err := r.of(f.s).Create(f.ctx, &orphan); err == nil {
		f.Fatal("a thing of no workspace is stored")
	}
	cancelled, cancel := context.WithCancel(f.ctx)
	cancel()
	late := r.make(f, w.mine, w.here[0], 9)
	f.code(r.of(f.s).Create(cancelled, &late), rimewatch.CodeUnavailable)
	return made
}

// entries checks how many entries of the audit trail say that something was done.
func (r resource[T]) entries(f *fixture, workspaceID int64, done string, want int) {
	f.Helper()
	list, total, err := f.s.Audit().AuditEntries(f.ctx, workspaceID, r.word+"."+done, "", store.Page{Limit: 1})
	f.must(err)
	if total != want || total > 0 && list[0].Actor != "Olga" {
		f.Fatalf("%d entries %s.%s, want %d: %+v", total, r.word, done, want, list)
	}
}

// filled checks that five things leave no field empty that a thing has.
func (r resource[T]) filled(f *fixture, made []T) {
	t := reflect.TypeFor[T]()
	for i := range t.NumField() {
		if slices.Contains(r.elsewhere, t.Field(i).Name) {
			continue
		}
		if !slices.ContainsFunc(made, func(x T) bool { return !reflect.ValueOf(x).Field(i).IsZero() }) {
			f.Errorf("%s is empty in all: nobody sees whether it is stored", t.Field(i).Name)
		}
	}
}

// pages asks for parts of a list.
func (r resource[T]) pages(f *fixture, w *world, list []T) {
	n := len(list)
	if r.newest {
		list = slices.Clone(list)
		slices.Reverse(list)
	}
	second := *r.key(&list[1]).id
	check := func(what string, s store.Selection, want []T, of int) {
		f.Helper()
		got, total, err := r.of(f.s).Select(f.ctx, w.mine, s)
		f.must(err)
		f.equal(what, got, want)
		f.equal(what+": total", total, of)
	}
	check("all", store.Selection{}, list, n)
	check("first page", store.Selection{Page: store.Page{Limit: 2}}, list[:2], n)
	check("second page", store.Selection{Page: store.Page{Limit: 2, Offset: 2}}, list[2:4], n)
	check("behind one", store.Selection{Page: store.Page{Limit: 2, After: second}}, list[2:4], n)
	check("by what it is not asked by", store.Selection{Only: map[string][]any{"revision": {1}}}, nil, 0)
	check("past the end", store.Selection{Page: store.Page{Limit: 2, Offset: 50}}, nil, n)
	if r.ends {
		check("what ends later", store.Selection{EndAfter: endOf(1)}, list[2:], n-2)
		check("one of what ends later", store.Selection{EndAfter: endOf(1), Page: store.Page{Limit: 1}}, list[2:3], n-2)
	} else {
		check("what does not end", store.Selection{EndAfter: endOf(1)}, list, n)
	}
	if r.key(&list[0]).siteID == nil {
		check("of a site", store.Selection{SiteID: w.here[1]}, nil, 0)
		return
	}
	var here []T
	for i := range list {
		if *r.key(&list[i]).siteID == w.here[1] {
			here = append(here, list[i])
		}
	}
	check("of a site", store.Selection{SiteID: w.here[1]}, here, len(here))
	if r.newest {
		slices.Reverse(here)
	}
	r.within(f, w, list, here)
}

// within asks as somebody who is limited to a site.
func (r resource[T]) within(f *fixture, w *world, list, here []T) {
	all := f.ctx
	defer func() { f.ctx = all }()
	f.ctx = store.WithSites(all, rimewatch.Sites{w.here[1]})
	f.equal("within a site", r.list(f, w.mine), here)
	for i := range list {
		k := r.key(&list[i])
		if *k.siteID == w.here[1] {
			continue
		}
		_, err := r.of(f.s).Get(f.ctx, w.mine, *k.id)
		f.code(err, rimewatch.CodeNotFound)
		_, err = r.of(f.s).Update(f.ctx, w.mine, *k.id, func(*T) error { return nil })
		f.code(err, rimewatch.CodeNotFound)
		f.code(r.of(f.s).Delete(f.ctx, w.mine, *k.id), rimewatch.CodeNotFound)
	}
	x := r.make(f, w.mine, w.here[0], 8)
	f.code(r.of(f.s).Create(f.ctx, &x), rimewatch.CodeValidationFailed)
	_, err := r.of(f.s).Update(f.ctx, w.mine, *r.key(&here[0]).id, func(x *T) error { *r.key(x).siteID = w.here[0]; return nil })
	f.code(err, rimewatch.CodeValidationFailed)
	f.ctx = store.WithSites(all, rimewatch.Sites{})
	f.equal("within no site", r.list(f, w.mine), []T(nil))
}

// unknown asks for what there is not, or is another workspace's.
func (r resource[T]) unknown(f *fixture, w *world, foreign int64) {
	for _, id := range []int64{foreign, foreign + 1, 0, -1} {
		_, err := r.of(f.s).Get(f.ctx, w.mine, id)
		f.code(err, rimewatch.CodeNotFound)
		_, err = r.of(f.s).Update(f.ctx, w.mine, id, func(*T) error { return nil })
		f.code(err, rimewatch.CodeNotFound)
		f.code(r.of(f.s).Delete(f.ctx, w.mine, id), rimewatch.CodeNotFound)
	}
}

// changed changes a thing, and fails to.
func (r resource[T]) changed(f *fixture, w *world, was T) T {
	id := *r.key(&was).id
	_, err := r.of(f.s).Update(f.ctx, w.mine, id, func(x *T) error { r.edit(x); return errChange })
	if !errors.Is(err, errChange) {
		f.Fatalf("the error of the change is lost: %v", err)
	}
	_, err = r.of(f.s).Update(store.IfRevision(f.ctx, 2), w.mine, id, func(x *T) error { r.edit(x); return nil })
	f.code(err, rimewatch.CodePreconditionFailed)
	f.code(r.of(f.s).Delete(store.IfRevision(f.ctx, 2), w.mine, id), rimewatch.CodePreconditionFailed)
	got, err := r.of(f.s).Get(f.ctx, w.mine, id)
	f.must(err)
	f.equal("after changes that failed", got, was)
	r.entries(f, w.mine, "updated", 0)

	is, err := r.of(f.s).Update(store.IfRevision(f.ctx, 1), w.mine, id, func(x *T) error {
		f.equal("as it is to be changed", *x, was)
		r.edit(x)
		k := r.key(x)
		*k.id, *k.workspaceID, *k.revision, *k.createdAt = 99, w.theirs, 70, 5
		return nil
	})
	f.must(err)
	r.edit(&was)
	*r.key(&was).revision = 2
	f.equal("changed", is, was)
	r.entries(f, w.mine, "updated", 1)
	return is
}

// atOnce changes a thing from many sides: no change is lost.
func (r resource[T]) atOnce(f *fixture, x T) T {
	const sides = 8
	var wg sync.WaitGroup
	errs := make([]error, sides)
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = r.of(f.s).Update(f.ctx, *r.key(&x).workspaceID, *r.key(&x).id, func(*T) error { return nil })
		})
	}
	wg.Wait()
	f.must(errors.Join(errs...))
	*r.key(&x).revision += sides
	return x
}

// deleted deletes one of a list.
func (r resource[T]) deleted(f *fixture, w *world, list []T, i int) []T {
	id := *r.key(&list[i]).id
	f.must(r.of(f.s).Delete(store.Rehearse(f.ctx), w.mine, id))
	r.entries(f, w.mine, "deleted", 0)
	f.must(r.of(f.s).Delete(store.IfRevision(f.ctx, 1), w.mine, id))
	f.code(r.of(f.s).Delete(f.ctx, w.mine, id), rimewatch.CodeNotFound)
	_, err := r.of(f.s).Get(f.ctx, w.mine, id)
	f.code(err, rimewatch.CodeNotFound)
	r.entries(f, w.mine, "deleted", 1)
	again := r.make(f, w.mine, w.here[1], 1) // the name, if it has one, is free again
	f.must(r.of(f.s).Create(f.ctx, &again))
	if *r.key(&again).id <= *r.key(&list[len(list)-1]).id {
		f.Fatalf("the id %d was given out before", *r.key(&again).id)
	}
	return append(slices.Delete(list, i, i+1), again)
}

// bounded makes as many as a workspace may have.
func (r resource[T]) bounded(f *fixture) {
	if r.most == 0 {
		return
	}
	full := f.newWorkspace("Full")
	site := f.site(full)
	r.make(f, full, site, 1)
	var last T
	for n := len(r.list(f, full)); n < r.most; n++ {
		last = r.make(f, full, site, n+10)
		f.must(r.of(f.s).Create(f.ctx, &last))
	}
	more := r.make(f, full, site, r.most+10)
	f.code(r.of(f.s).Create(f.ctx, &more), rimewatch.CodeQuotaExceeded)
	switch {
	case r.ends: // those that ended long ago do not count
		*r.key(&more).createdAt += rimewatch.SpansKept + rimewatch.Minute
	case r.frees != nil:
		_, err := r.of(f.s).Update(f.ctx, full, *r.key(&last).id, func(x *T) error { r.frees(x); return nil })
		f.must(err)
	default:
		f.must(r.of(f.s).Delete(f.ctx, full, *r.key(&last).id))
	}
	f.must(r.of(f.s).Create(f.ctx, &more))
}

// erased takes the workspace away.
func (r resource[T]) erased(f *fixture, w *world, theirs []T) {
	_, err := f.s.UpdateWorkspace(f.ctx, w.mine, func(x *rimewatch.Workspace) error { x.DeleteAt = 1; return nil })
	f.must(err)
	_, err = f.s.CloseWorkspace(f.ctx, w.mine)
	f.must(err)
	f.must(f.s.EraseWorkspace(f.ctx, w.mine))
	f.equal("of an erased workspace", r.list(f, w.mine), []T(nil))
	f.equal("of another workspace", r.list(f, w.theirs), theirs)
}
