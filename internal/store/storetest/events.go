package storetest

import (
	"context"
	"fmt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func (f *fixture) event(workspaceID int64, what rimewatch.EventType, subject string) rimewatch.Event {
	return rimewatch.Event{WorkspaceID: workspaceID, At: f.now, Type: what, Subject: subject, Data: []byte(`{"n":1}`)}
}

// happened commits events and returns them as they are read.
func (f *fixture) happened(list ...rimewatch.Event) {
	f.Helper()
	f.group(&store.Group{Now: f.now}, store.Effects{Events: list})
}

func (f *fixture) eventsOf(workspaceID, after int64, limit int) (ids []string) {
	f.Helper()
	list, err := f.s.Outbox().Events(f.ctx, workspaceID, after, limit)
	f.must(err)
	for i := range list {
		ids = append(ids, fmt.Sprintf("%s %s %s", list[i].ID(), list[i].Type, list[i].Subject))
	}
	return ids
}

// events: what a commit means is numbered within its workspace, in order, and read as it
// was written; a commit that fails leaves none.
func (f *fixture) events() {
	d := f.addDevice("T1")
	other := f.newWorkspace("Other")
	first, newest, err := f.s.Outbox().EventRange(f.ctx, f.workspace)
	f.must(err)
	f.equal("no events", [2]int64{first, newest}, [2]int64{1, 0})

	a := f.alert(d, rimewatch.HighTemperature, rimewatch.Warning, t0)
	opened := rimewatch.AlertTransition{WorkspaceID: f.workspace, AlertID: a.ID, Kind: rimewatch.TransitionOpened, At: f.now, Severity: a.Severity, Actor: "Ada", Note: "n", Facts: a}
	ofAlert := rimewatch.Event{WorkspaceID: f.workspace, At: f.now, Type: rimewatch.EventAlertOpened, Subject: "alert/7", SiteID: 4, Alert: &opened}
	f.happened(f.event(f.workspace, rimewatch.EventDeviceCreated, "device/1"), f.event(other, rimewatch.EventDeviceCreated, "device/9"), ofAlert)
	f.now += 1000
	f.happened(f.event(f.workspace, rimewatch.EventDeviceOffline, "device/1"), f.event(f.workspace, rimewatch.EventDeviceOffline, "device/2"), f.event(f.workspace, rimewatch.EventDeviceOnline, "device/1"))

	staged, err := f.s.Stage(f.ctx, &store.Group{Now: f.now})
	f.must(err)
	doubled := f.alert(d, rimewatch.HighTemperature, rimewatch.Warning, t0) // one of its type is active: the commit fails
	f.code(staged.Commit(f.ctx, &store.Effects{Events: []rimewatch.Event{f.event(f.workspace, rimewatch.EventDeviceOnline, "device/3")}, Alerts: []*rimewatch.Alert{a, doubled}}), rimewatch.CodeInternal)

	w := fmt.Sprint(f.workspace)
	all := []string{
		"evt_" + w + "_1 device.created device/1", "evt_" + w + "_2 alert.opened alert/7",
		"evt_" + w + "_3 device.offline device/1", "evt_" + w + "_4 device.offline device/2", "evt_" + w + "_5 device.online device/1",
	}
	f.everywhere(func(where string) {
		f.equal(where+": all", f.eventsOf(f.workspace, 0, 10), all)
		f.equal(where+": from the middle of a commit", f.eventsOf(f.workspace, 3, 10), all[3:])
		f.equal(where+": one commit", f.eventsOf(f.workspace, 1, 1), all[1:2])
		f.equal(where+": after the last", f.eventsOf(f.workspace, 5, 10), []string(nil))
		f.equal(where+": of another workspace", f.eventsOf(other, 0, 10), []string{fmt.Sprintf("evt_%d_1 device.created device/9", other)})
		first, newest, err := f.s.Outbox().EventRange(f.ctx, f.workspace)
		f.must(err)
		f.equal(where+": range", [2]int64{first, newest}, [2]int64{1, 5})
		list, err := f.s.Outbox().Events(f.ctx, f.workspace, 1, 1)
		f.must(err)
		want := ofAlert
		want.Number = 2
		f.equal(where+": the facts of an alert", list[0], want)
		for at, after := range map[rimewatch.Time]int64{0: 0, f.now - 1000: 0, f.now - 999: 2, f.now: 2, f.now + 1: 5} {
			got, err := f.s.Outbox().EventsSince(f.ctx, f.workspace, at)
			f.must(err)
			f.equal(fmt.Sprint(where, ": since ", at), got, after)
		}
		rows, err := f.s.Everywhere().AllEventsAfter(f.ctx, 0, 10)
		f.must(err)
		f.equal(where+": rows", len(rows), 3)
		last, err := f.s.Everywhere().LastEventRow(f.ctx)
		f.must(err)
		f.equal(where+": last row", [4]int64{last, rows[2].WorkspaceID, rows[2].First, rows[2].Last}, [4]int64{rows[2].ID, f.workspace, 3, 5})
	})
}

// expirer is what retention asks of every engine.
type expirer interface {
	ExpireEvents(ctx context.Context, workspaceID int64, before rimewatch.Time, most int64) error
	ExpireWebhookLog(ctx context.Context, workspaceID int64, before rimewatch.Time) error
}

// eventsExpire: what is too old goes, and what is too many; never the newest commit's, so
// that numbers go on.
func (f *fixture) eventsExpire() {
	for range 6 {
		f.happened(f.event(f.workspace, rimewatch.EventDeviceOffline, "device/1"), f.event(f.workspace, rimewatch.EventDeviceOnline, "device/1"))
		f.now += 1000
	}
	e := f.s.(expirer)
	ranged := func(want ...int64) {
		f.Helper()
		first, newest, err := f.s.Outbox().EventRange(f.ctx, f.workspace)
		f.must(err)
		f.equal("range", []int64{first, newest}, want)
	}
	f.must(e.ExpireEvents(f.ctx, f.workspace, f.now-5000, 100))
	ranged(3, 12)
	f.must(e.ExpireEvents(f.ctx, f.workspace, 0, 5))
	ranged(7, 12) // whole commits: six events are left rather than four
	f.must(e.ExpireEvents(f.ctx, f.workspace, f.now+rimewatch.Day, 5))
	ranged(11, 12)
	f.happened(f.event(f.workspace, rimewatch.EventDeviceOffline, "device/1"))
	ranged(11, 13)
}

// controlEvents: making and revoking a token, and a sender that waits, are events.
func (f *fixture) controlEvents() {
	c := &control{T: f.T, ctx: f.ctx, s: f.s}
	w, err := f.s.Workspace(f.ctx, f.workspace)
	f.must(err)
	t := c.token(w, 0, "secret")
	f.must(f.s.People().RevokeToken(f.ctx, w.ID, t.ID, t0+1))
	f.must(f.s.People().RevokeToken(f.ctx, w.ID, t.ID, t0+2)) // is nothing new
	src := aSource(w.ID, "gateway")
	f.must(f.s.Inlets().Sources().Create(f.ctx, &src))
	held := func() *rimewatch.Held {
		return &rimewatch.Held{SourceID: src.ID, ExternalID: "a4c1", ReceivedAt: t0, Body: []byte("{}"), Reason: "unknown", Label: "Probe"}
	}
	f.must(f.s.Inlets().Hold(f.ctx, w.ID, []*rimewatch.Held{held(), held()}))
	id := fmt.Sprint(w.ID)
	f.everywhere(func(where string) {
		f.equal(where, f.eventsOf(w.ID, 0, 10), []string{
			"evt_" + id + "_1 token.created token/" + fmt.Sprint(t.ID), "evt_" + id + "_2 token.revoked token/" + fmt.Sprint(t.ID),
			"evt_" + id + "_3 source.sender_waiting source/" + fmt.Sprint(src.ID),
		})
	})
}

func aHook(w int64, n int) rimewatch.Webhook {
	return rimewatch.Webhook{
		WorkspaceID: w, Description: fmt.Sprint("ERP ", n), URL: "https://erp.example.com/in", Types: []rimewatch.EventType{rimewatch.EventAlertOpened},
		Headers: map[string]string{"Authorization": "Bearer x"}, Secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", OldSecret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx", OldSecretUntil: t0 + 5,
		Enabled: true, OffReason: "gone", Through: 3, CreatedAt: t0, UpdatedAt: t0,
	}
}

// webhooks: deliveries of events are planned once for each run of a webhook. What waits is
// planned anew after a rewind, and after the webhook was switched off.
func (f *fixture) webhooks() {
	x := aHook(f.workspace, 1)
	x.Through = 0
	f.must(f.s.Outbox().Webhooks().Create(f.ctx, &x))
	for range 4 {
		f.happened(f.event(f.workspace, rimewatch.EventDeviceOnline, "device/1"))
	}
	plan := func(w rimewatch.Webhook, numbers ...int64) ([]*rimewatch.Delivery, error) {
		var list []*rimewatch.Delivery
		for _, n := range numbers {
			list = append(list, &rimewatch.Delivery{
				WorkspaceID: w.WorkspaceID, ChannelID: -w.ID, Key: rimewatch.EventKey(&w, n), Kind: rimewatch.DeliveryEvent, Subject: "device/1",
				Status: rimewatch.DeliveryPending, NextAttemptAt: f.now, CreatedAt: f.now,
			})
		}
		return list, f.s.Outbox().PutEventDeliveries(f.ctx, &w, list, numbers[len(numbers)-1])
	}
	get := func() rimewatch.Webhook {
		w, err := f.s.Outbox().Webhooks().Get(f.ctx, f.workspace, x.ID)
		f.must(err)
		return w
	}
	list, err := plan(x, 1, 2)
	f.must(err)
	if list[0].ID <= 0 || list[1].ID <= list[0].ID {
		f.Fatalf("ids %d %d", list[0].ID, list[1].ID)
	}
	f.equal("through", get().Through, int64(2))
	_, err = plan(x, 1, 2) // by somebody who does not know
	f.code(err, rimewatch.CodeConflict)
	f.everywhere(func(where string) { f.equal(where, allPending(f), []rimewatch.Delivery{*list[0], *list[1]}) })

	list[0].Status, list[0].Attempts, list[0].SentAt = rimewatch.DeliverySent, 1, f.now
	f.must(f.s.Outbox().UpdateDeliveries(f.ctx, list[:1], &rimewatch.ChannelHealth{LastFailureAt: f.now, Failures: 1, LastError: "no"}))
	f.must(f.s.Outbox().UpdateDeliveries(f.ctx, list[1:], &rimewatch.ChannelHealth{LastFailureAt: f.now + 9, Failures: 2, LastError: "no"}))
	f.equal("failing since", get().FailingSince, f.now)
	f.must(f.s.Outbox().UpdateDeliveries(f.ctx, list[1:], &rimewatch.ChannelHealth{LastSuccessAt: f.now + 10}))
	f.equal("failing no more", get().FailingSince, rimewatch.Time(0))
	log, total, err := f.s.Outbox().Deliveries(f.ctx, f.workspace, -x.ID, store.Page{Limit: 10})
	f.must(err)
	f.equal("log", []int{len(log), total}, []int{2, 2})
	_, total, err = f.s.Outbox().Deliveries(f.ctx, f.workspace, 0, store.Page{Limit: 10})
	f.must(err)
	f.equal("among those of channels", total, 0)

	f.must(f.s.Outbox().NoteWebhook(f.ctx, f.workspace, x.ID, &rimewatch.ChannelHealth{LastFailureAt: t0 + 3, LastError: "500", Failures: 2}))
	if got, err := f.s.Outbox().Webhooks().Get(f.ctx, f.workspace, x.ID); err != nil || got.Failures != 2 || got.FailingSince != t0+3 {
		f.Errorf("%+v, %v", got, err)
	}
	f.must(f.s.Outbox().NoteWebhook(f.ctx, f.workspace, x.ID, &rimewatch.ChannelHealth{LastSuccessAt: t0 + 4, LastFailureAt: t0 + 3}))
	f.must(f.s.Outbox().StopWebhook(f.ctx, f.workspace, x.ID, "It is gone."))
	w := get()
	f.equal("stopped", []any{w.Enabled, w.OffReason, w.Through, w.Run}, []any{false, "It is gone.", int64(1), int64(1)})
	f.equal("pending", len(allPending(f)), 0)
	_, err = plan(w, 2)
	f.code(err, rimewatch.CodeConflict) // it is off
	hooks, err := f.s.Everywhere().AllWebhooks(f.ctx)
	f.must(err)
	f.equal("those that are on", len(hooks), 0)
	w, err = f.s.Outbox().Webhooks().Update(f.ctx, f.workspace, x.ID, func(w *rimewatch.Webhook) error { w.Enabled, w.OffReason = true, ""; return nil })
	f.must(err)
	_, err = plan(w, 2, 3) // 2 was planned in the run before
	f.must(err)
	w, err = f.s.Outbox().RewindWebhook(f.ctx, f.workspace, x.ID, 0)
	f.must(err)
	f.equal("rewound", []int64{w.Through, w.Run}, []int64{0, 2})
	_, err = f.s.Outbox().RewindWebhook(f.ctx, f.newWorkspace("Other"), x.ID, 0)
	f.code(err, rimewatch.CodeNotFound)
	_, err = plan(w, 1, 2, 3, 4)
	f.must(err)
	f.must(f.s.(expirer).ExpireWebhookLog(f.ctx, f.workspace, f.now+1)) // what waits stays
	_, total, err = f.s.Outbox().Deliveries(f.ctx, f.workspace, -x.ID, store.Page{Limit: 10})
	f.must(err)
	f.equal("kept", total, 4)
	f.must(f.s.Outbox().Webhooks().Delete(f.ctx, f.workspace, x.ID))
	f.equal("pending of none", len(allPending(f)), 0)
}
