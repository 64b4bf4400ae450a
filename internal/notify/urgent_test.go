package notify_test

import (
	"context"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// TestCriticalFirst: a critical alert waits behind no warning: not of its channel, in
// memory or in the store, and not in the planner's backlog.
func TestCriticalFirst(t *testing.T) {
	for _, c := range []struct {
		name    string
		perLane int
		stopped bool // the alerts open while nobody plans
	}{{"lane", 1000, false}, {"overflow", 20, false}, {"planner", 1000, true}} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.perLane = c.perLane
				r.restart()
				r.posts.answer = func(context.Context, string, int) error {
					time.Sleep(500 * time.Millisecond)
					return nil
				}
				r.channel("a", nil)
				if c.stopped {
					r.service.Stop()
				}
				r.flood(600)
				if !c.stopped {
					r.pass(2 * time.Second)
				}
				a := r.alert(rimewatch.HighTemperature, rimewatch.Critical)
				if c.stopped {
					r.restart()
				}
				at := r.now()
				r.pass(time.Second)
				list, err := r.store.Outbox().AlertDeliveries(r.Context(), r.workspace, a.ID)
				r.must(err)
				if len(list) != 1 || list[0].Status != rimewatch.DeliverySent || list[0].SentAt > at+600 {
					r.Errorf("behind 600 warnings, %s: %+v", r.now()-at, list)
				}
				r.service.Stop()
			})
		})
	}
}

// TestRisen: an alert that becomes critical while its warning waits is told of as
// critical, first, and not as a warning afterwards.
func TestRisen(t *testing.T) {
	bubble(t, func(r *rig) {
		r.posts.answer = func(context.Context, string, int) error {
			time.Sleep(500 * time.Millisecond)
			return nil
		}
		r.channel("a", nil)
		list := r.flood(100)
		r.pass(time.Second)
		a := *list[99]
		a.Severity = rimewatch.Critical
		r.change(&a, rimewatch.TransitionEscalated)
		r.pass(700 * time.Millisecond)
		of := func() (kinds []string) {
			made, err := r.store.Outbox().AlertDeliveries(r.Context(), r.workspace, a.ID)
			r.must(err)
			for _, d := range made {
				kinds = append(kinds, string(d.Kind)+" "+string(d.Status))
			}
			return kinds
		}
		if got := of(); len(got) != 2 || got[0] != "opened dropped" || got[1] != "escalated sent" {
			r.Errorf("risen: %q", got)
		}
		r.pass(time.Minute)
		r.resolve(&a)
		r.pass(time.Second)
		if got := of(); len(got) != 3 || got[2] != "recovery sent" {
			r.Errorf("over: %q", got)
		}
	})
}

// TestUnrouted: a critical alert whose route's channel refuses it, or for which there is no
// channel yet, reaches those that work, and the figures say so.
func TestUnrouted(t *testing.T) {
	bubble(t, func(r *rig) {
		r.posts.answer = func(_ context.Context, channel string, _ int) error {
			if channel == "gone" {
				return rimewatch.Errorf(rimewatch.CodeNotFound, "The receiver answered 410 Gone.")
			}
			return nil
		}
		gone := r.channel("gone", nil)
		spare := r.channel("spare", nil)
		r.must(r.store.Routing().Routes().Create(r.Context(), &rimewatch.Route{WorkspaceID: r.workspace, Name: "r", Enabled: true, Recovery: true, Steps: []rimewatch.RouteStep{{ChannelIDs: []int64{gone.ID}}}}))
		a := r.alert(rimewatch.HighTemperature, rimewatch.Critical)
		r.pass(time.Second)
		if got := r.deliveries(); len(got) < 1 || got[0] != "opened gone failed 1" {
			r.Errorf("refused: %q", got)
		}
		r.pass(time.Minute)
		if _, err := r.service.Test(r.Context(), r.workspace, spare.ID); err != nil {
			r.Fatal(err)
		}
		r.pass(time.Second)
		made, err := r.store.Outbox().AlertDeliveries(r.Context(), r.workspace, a.ID)
		r.must(err)
		if len(made) != 2 || made[1].Kind != rimewatch.DeliveryUnrouted || made[1].Status != rimewatch.DeliverySent || made[1].ChannelID != spare.ID || !made[1].Urgent {
			r.Errorf("deliveries %+v", made)
		}
		b := r.alert(rimewatch.LowVoltage, rimewatch.Critical)
		_, err = r.store.Routing().Channels().Update(r.Context(), r.workspace, gone.ID, func(c *rimewatch.Channel) error { c.Enabled = false; return nil })
		r.must(err)
		r.service.Changed(r.workspace)
		r.pass(time.Second)
		if unrouted, untold := r.service.Missed(r.workspace); unrouted != 2 || untold != 0 {
			r.Errorf("%d unrouted, %d untold", unrouted, untold)
		}
		r.resolve(b)
		r.resolve(a)
		r.pass(time.Second)
		if f := r.service.Figures(); f.Unrouted != 0 || f.Untold != 0 {
			r.Errorf("%+v", f)
		}
	})
}
