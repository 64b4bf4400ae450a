package storetest

import (
	"context"
	"fmt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// tell commits alerts with their transitions.
func (f *fixture) tell(alerts []*rimewatch.Alert, transitions []rimewatch.AlertTransition) {
	f.Helper()
	f.group(&store.Group{Now: f.now}, store.Effects{Alerts: alerts, Transitions: transitions})
}

// explained: of two alerts that open in one commit the one explains the other.
func (f *fixture) explained() {
	d := f.addDevice("T2")
	cause, symptom := f.alert(d, rimewatch.CondenserFoulingSuspected, rimewatch.Warning, t0), f.alert(d, rimewatch.HighDischargeTemperature, rimewatch.Warning, t0)
	symptom.SuppressedBy = cause.ID
	f.tell([]*rimewatch.Alert{symptom, cause}, nil)
	f.recover()
	for id, want := range map[int64]int64{symptom.ID: cause.ID, cause.ID: 0} {
		v, err := f.s.Alert(f.ctx, f.workspace, id)
		f.must(err)
		if v.SuppressedBy != want {
			f.Errorf("alert %d is explained by %d, want %d", id, v.SuppressedBy, want)
		}
	}
}

func (f *fixture) transitions() {
	d := f.addDevice("T1")
	opened := func(a *rimewatch.Alert) rimewatch.AlertTransition {
		return rimewatch.AlertTransition{WorkspaceID: f.workspace, AlertID: a.ID, Kind: rimewatch.TransitionOpened, At: a.TriggeredAt, Severity: a.Severity, Facts: a}
	}
	a, b := f.alert(d, rimewatch.HighTemperature, rimewatch.Warning, t0), f.alert(d, rimewatch.DeviceOffline, rimewatch.Warning, t0+1)
	first := []rimewatch.AlertTransition{opened(a), opened(b)}
	f.tell([]*rimewatch.Alert{a, b}, first)
	if first[0].ID <= 0 || first[1].ID <= first[0].ID {
		f.Fatalf("transitions %+v of the alerts %d and %d", first, a.ID, b.ID)
	}
	up := *a
	up.Severity = rimewatch.Critical
	second := []rimewatch.AlertTransition{
		{WorkspaceID: f.workspace, AlertID: a.ID, Kind: rimewatch.TransitionEscalated, At: t0 + 5, Severity: rimewatch.Critical, Facts: &up},
		{WorkspaceID: f.workspace, AlertID: a.ID, Kind: rimewatch.TransitionNoted, At: t0 + 6, Severity: rimewatch.Critical, Actor: "Ada <ada@example.com>", Note: "n \u202e"},
	}
	f.tell([]*rimewatch.Alert{&up}, second)
	lost := f.alert(d, rimewatch.LowHumidity, rimewatch.Warning, t0)
	ctx, cancel := context.WithCancel(f.ctx)
	staged, err := f.s.Stage(ctx, &store.Group{Now: f.now})
	f.must(err)
	cancel()
	f.code(staged.Commit(ctx, &store.Effects{Alerts: []*rimewatch.Alert{lost}, Transitions: []rimewatch.AlertTransition{opened(lost)}}), rimewatch.CodeUnavailable)
	other := f.newWorkspace("Other")
	f.everywhere(func(where string) {
		list, err := f.s.Outbox().AlertTransitions(f.ctx, f.workspace, a.ID)
		f.must(err)
		f.equal(where, list, []rimewatch.AlertTransition{first[0], second[0], second[1]})
		list, err = f.s.Outbox().AlertTransitions(f.ctx, other, a.ID)
		f.must(err)
		f.equal(where+": of another workspace", list, []rimewatch.AlertTransition(nil))
		list, err = f.s.Everywhere().AllTransitionsAfter(f.ctx, 0, 3)
		f.must(err)
		f.equal(where+": first three", list, []rimewatch.AlertTransition{first[0], first[1], second[0]})
		list, err = f.s.Everywhere().AllTransitionsAfter(f.ctx, second[0].ID, 3)
		f.must(err)
		f.equal(where+": rest", list, []rimewatch.AlertTransition{second[1]})
	})
}

// siteAlerts are of no device: each site has its own.
func (f *fixture) siteAlerts() {
	var list []*rimewatch.Alert
	for _, name := range []string{"North", "South"} {
		x := rimewatch.Site{WorkspaceID: f.workspace, Name: name, TimeZone: "UTC", CreatedAt: t0, UpdatedAt: t0}
		f.must(f.s.Sites().Create(f.ctx, &x))
		a := f.alert(0, rimewatch.SiteOffline, rimewatch.Critical, t0)
		a.SiteID = x.ID
		list = append(list, a)
	}
	f.tell(list, nil)
	f.everywhere(func(where string) {
		for i, name := range []string{"North", "South"} {
			v, err := f.s.Alert(f.ctx, f.workspace, list[i].ID)
			f.must(err)
			f.equal(where, v.Alert, *list[i])
			if v.Site == nil || v.Site.Name != name || v.DeviceSerial != "" {
				f.Fatalf("%s: alert %+v", where, v)
			}
		}
	})
	again := *list[0]
	again.ID = f.s.NewAlertID()
	if err := Commit(f.ctx, f.s, &store.Group{Now: f.now}, &store.Effects{Alerts: []*rimewatch.Alert{&again}}); err == nil {
		f.Fatal("a site has two active alerts of a type")
	}
}

func (f *fixture) channel(workspace int64, name string) rimewatch.Channel {
	f.Helper()
	c := anEmail(workspace, name)
	f.must(f.s.Routing().Channels().Create(f.ctx, &c))
	return c
}

func (f *fixture) delivery(c rimewatch.Channel, key string, alert int64, at rimewatch.Time) *rimewatch.Delivery {
	return &rimewatch.Delivery{
		WorkspaceID: c.WorkspaceID, Key: key, AlertID: alert, ChannelID: c.ID, RouteID: 3, Level: 1, Kind: rimewatch.DeliveryOpened,
		Status: rimewatch.DeliveryPending, NextAttemptAt: at, CreatedAt: t0, Body: []byte(`{"a":"ö"}`),
	}
}

func (f *fixture) deliveries() {
	other := f.newWorkspace("Other")
	c, d, foreign := f.channel(f.workspace, "c"), f.channel(f.workspace, "d"), f.channel(other, "c")
	x, y, z := f.delivery(c, "x", 7, t0+9), f.delivery(d, "y", 7, t0+3), f.delivery(foreign, "x", 8, t0+5)
	f.must(f.s.Outbox().PutDeliveries(f.ctx, []*rimewatch.Delivery{x, y, z}, 12))
	if x.ID <= 0 || y.ID <= x.ID || z.ID <= y.ID {
		f.Fatalf("ids %d %d %d", x.ID, y.ID, z.ID)
	}
	again := f.delivery(d, "x", 9, t0)
	f.must(f.s.Outbox().PutDeliveries(f.ctx, []*rimewatch.Delivery{again}, 0))
	f.equal("id of a known key", again.ID, x.ID)
	f.must(f.s.Outbox().PutDeliveries(f.ctx, nil, 5)) // an older mark does not take it back
	f.everywhere(func(where string) {
		through, err := f.s.Outbox().PlannedThrough(f.ctx)
		f.must(err)
		f.equal(where+": planned", through, int64(12))
		f.equal(where+": pending", allPending(f), []rimewatch.Delivery{*y, *z, *x})
		list, err := f.s.Outbox().AlertDeliveries(f.ctx, f.workspace, 7)
		f.must(err)
		f.equal(where+": of an alert", list, []rimewatch.Delivery{*x, *y})
		list, err = f.s.Outbox().AlertDeliveries(f.ctx, other, 7)
		f.must(err)
		f.equal(where+": of another's alert", len(list), 0)
	})
	f.attempts(x, y, z)
	f.deliveryPages(c, x, y, z)
}

// allPending returns what is to be sent, in its order.
func allPending(f *fixture) (list []rimewatch.Delivery) {
	f.Helper()
	f.must(f.s.Everywhere().AllPendingDeliveries(f.ctx, func(d *rimewatch.Delivery) error {
		list = append(list, *d)
		return nil
	}))
	return list
}

// pending returns what is to be sent to a channel first.
func pending(f *fixture, c rimewatch.Channel, limit int) []rimewatch.Delivery {
	f.Helper()
	list, err := f.s.Outbox().PendingDeliveries(f.ctx, c.WorkspaceID, c.ID, false, limit)
	f.must(err)
	return list
}

// attempts records what became of deliveries.
func (f *fixture) attempts(x, y, z *rimewatch.Delivery) {
	f.Helper()
	y.Status, y.Attempts, y.SentAt, y.NextAttemptAt = rimewatch.DeliverySent, 1, t0+4, 0
	f.must(f.s.Outbox().UpdateDeliveries(f.ctx, []*rimewatch.Delivery{y}, &rimewatch.ChannelHealth{LastSuccessAt: t0 + 4}))
	z.Attempts, z.NextAttemptAt, z.LastError, z.InDoubt = 1, t0+60, "refused", true
	health := rimewatch.ChannelHealth{LastFailureAt: t0 + 5, LastError: "refused", Failures: 1}
	f.must(f.s.Outbox().UpdateDeliveries(f.ctx, []*rimewatch.Delivery{z}, &health))
	f.equal("pending", allPending(f), []rimewatch.Delivery{*x, *z})
	c, err := f.s.Routing().Channels().Get(f.ctx, z.WorkspaceID, z.ChannelID)
	f.must(err)
	f.equal("health", c.ChannelHealth, health)
	stolen := *z
	stolen.WorkspaceID = x.WorkspaceID
	f.code(f.s.Outbox().UpdateDeliveries(f.ctx, []*rimewatch.Delivery{&stolen}, nil), rimewatch.CodeNotFound)
	f.code(f.s.Outbox().UpdateDeliveries(f.ctx, []*rimewatch.Delivery{f.delivery(c, "none", 0, 0)}, nil), rimewatch.CodeNotFound)
	touched := *z
	touched.Attempts = 7
	f.code(f.s.Outbox().UpdateDeliveries(f.ctx, []*rimewatch.Delivery{&touched, &stolen}, nil), rimewatch.CodeNotFound) // all or none
	_, err = f.s.Outbox().Delivery(f.ctx, x.WorkspaceID, z.ID)
	f.code(err, rimewatch.CodeNotFound)
	got, err := f.s.Outbox().Delivery(f.ctx, z.WorkspaceID, z.ID)
	f.must(err)
	f.equal("delivery", got, *z)
}

// deliveryPages lists and counts, and drops what waits for a channel that goes.
func (f *fixture) deliveryPages(c rimewatch.Channel, x, y, z *rimewatch.Delivery) {
	f.Helper()
	var mine []rimewatch.Delivery
	for i := range 5 {
		t := f.delivery(c, fmt.Sprint("test/", i), 0, t0+100)
		t.Kind = rimewatch.DeliveryTest
		f.must(f.s.Outbox().PutDeliveries(f.ctx, []*rimewatch.Delivery{t}, 0))
		mine = append([]rimewatch.Delivery{*t}, mine...)
	}
	mine = append(mine, *x)
	for _, q := range []struct {
		name    string
		channel int64
		p       store.Page
		want    []rimewatch.Delivery
		total   int
	}{
		{"channel", c.ID, store.Page{Limit: 2}, mine[:2], 6},
		{"offset", c.ID, store.Page{Limit: 3, Offset: 4}, mine[4:], 6},
		{"keyset", c.ID, store.Page{Limit: 3, After: mine[3].ID}, mine[4:], 6},
		{"workspace", 0, store.Page{Limit: 3, After: mine[4].ID}, []rimewatch.Delivery{*y, *x}, 7},
		{"another's channel", z.ChannelID, store.Page{Limit: 3}, nil, 0},
	} {
		list, total, err := f.s.Outbox().Deliveries(f.ctx, f.workspace, q.channel, q.p)
		f.must(err)
		f.equal(q.name, list, q.want)
		f.equal(q.name+": total", total, q.total)
	}
	f.equal("pending of a channel", pending(f, c, 3), []rimewatch.Delivery{*x, mine[4], mine[3]})
	urgent := f.delivery(c, "urgent", 7, t0+200)
	urgent.Urgent = true
	f.must(f.s.Outbox().PutDeliveries(f.ctx, []*rimewatch.Delivery{urgent}, 0))
	f.equal("pending of a channel, not urgent", pending(f, c, 3), []rimewatch.Delivery{*x, mine[4], mine[3]})
	list, err := f.s.Outbox().PendingDeliveries(f.ctx, c.WorkspaceID, c.ID, true, 3)
	f.must(err)
	f.equal("pending of a channel, urgent", list, []rimewatch.Delivery{*urgent})
	f.equal("pending of a channel elsewhere", len(pending(f, rimewatch.Channel{ID: c.ID, WorkspaceID: z.WorkspaceID}, 3)), 0)
	f.must(f.s.Routing().Channels().Delete(f.ctx, f.workspace, c.ID))
	f.equal("pending of a channel that is gone", len(pending(f, c, 3)), 0)
	list, _, err = f.s.Outbox().Deliveries(f.ctx, f.workspace, c.ID, store.Page{Limit: 10})
	f.must(err)
	for _, d := range list {
		f.equal("status", d.Status, rimewatch.DeliveryDropped)
	}
	late, retry := f.delivery(c, "late", 7, t0), *x
	f.must(f.s.Outbox().PutDeliveries(f.ctx, []*rimewatch.Delivery{late}, 0))
	f.must(f.s.Outbox().UpdateDeliveries(f.ctx, []*rimewatch.Delivery{&retry}, &rimewatch.ChannelHealth{}))
	f.equal("status of a late one", late.Status, rimewatch.DeliveryDropped)
	f.equal("status of a retry", retry.Status, rimewatch.DeliveryDropped)
	f.everywhere(func(where string) {
		f.equal(where+": pending", allPending(f), []rimewatch.Delivery{*z})
		names, err := f.s.Outbox().DeliveryNames(f.ctx, f.workspace)
		f.must(err)
		f.equal(where+": names", names.Channels, map[int64]store.ChannelName{
			x.ChannelID: {Name: "c", Kind: rimewatch.ChannelEmail}, y.ChannelID: {Name: "d", Kind: rimewatch.ChannelEmail},
		})
	})
}
