package notify_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
)

// flood opens an alert of each of n new devices in one commit.
func (r *rig) flood(n int) (list []*rimewatch.Alert) {
	r.Helper()
	var e store.Effects
	g := store.Group{Now: r.now()}
	for range n {
		value, id := 8.2, r.store.NewDeviceID()
		serial := fmt.Sprint("N-", id)
		g.Devices = append(g.Devices, &store.DeviceOp{WorkspaceID: r.workspace, Serial: serial,
			Create: &rimewatch.Device{ID: id, WorkspaceID: r.workspace, Serial: serial, EquipmentType: "walkin_cooler", CreatedAt: r.now(), UpdatedAt: r.now()}})
		a := &rimewatch.Alert{ID: r.store.NewAlertID(), WorkspaceID: r.workspace, DeviceID: id, Status: rimewatch.AlertActive, Severity: rimewatch.Warning,
			Type: rimewatch.HighTemperature, Metric: "product_zone_temp", Value: &value, Unit: "°C", ConditionStartedAt: r.now(), TriggeredAt: r.now(), LastEvaluatedAt: r.now(), Occurrences: 1}
		list = append(list, a)
		e.Alerts = append(e.Alerts, a)
		e.Transitions = append(e.Transitions, rimewatch.AlertTransition{WorkspaceID: r.workspace, AlertID: a.ID, Kind: rimewatch.TransitionOpened, At: r.now(), Severity: a.Severity})
	}
	r.must(storetest.Commit(r.Context(), r.store, &g, &e))
	r.service.Wake()
	return list
}

// counts returns how many deliveries have which status and number of attempts.
func (r *rig) counts() string {
	r.Helper()
	n := make(map[string]int)
	all, _, err := r.store.Outbox().Deliveries(r.Context(), r.workspace, 0, store.Page{Limit: 1000})
	r.must(err)
	for _, d := range all {
		n[fmt.Sprintf("%s after %d", d.Status, d.Attempts)]++
	}
	return fmt.Sprint(n)
}

func TestBundles(t *testing.T) {
	bubble(t, func(r *rig) {
		r.channel("mail", nil)
		r.posts.bundle = true
		r.flood(3)
		r.pass(time.Second)
		r.expect("three come one by one", "0s mail alert.opened|0s mail alert.opened|0s mail alert.opened")
		r.flood(40)
		r.pass(time.Second)
		r.expect("forty at once", "1s mail alert.bundle of 40")
		if got := r.counts(); got != "map[sent after 1:43]" {
			t.Error(got)
		}
	})
}

func TestProgramsGetEachAlert(t *testing.T) {
	bubble(t, func(r *rig) {
		r.channel("hook", nil)
		r.flood(40)
		r.pass(time.Second)
		if got := r.posts.count["hook"]; got != 40 {
			t.Errorf("%d calls", got)
		}
	})
}

// TestBundleAfterAnOutage: what waited goes in one message, without what is over.
func TestBundleAfterAnOutage(t *testing.T) {
	bubble(t, func(r *rig) {
		r.channel("mail", nil)
		r.posts.bundle = true
		r.posts.answer = func(_ context.Context, _ string, n int) error {
			if n == 1 {
				return rimewatch.Errorf(rimewatch.CodeUnavailable, "not now")
			}
			return nil
		}
		list := r.flood(20)
		r.pass(time.Second)
		r.expect("refused", "0s mail alert.bundle of 20")
		for _, a := range list[:5] {
			r.resolve(a)
		}
		r.pass(time.Minute)
		if got := r.counts(); got != "map[dropped after 1:5 sent after 2:15]" {
			t.Error(got)
		}
	})
}

// TestRefusedBundle: a receiver that takes no bundle gets its alerts one by one.
func TestRefusedBundle(t *testing.T) {
	bubble(t, func(r *rig) {
		r.channel("mail", nil)
		r.posts.bundle = true
		r.posts.answer = func(_ context.Context, _ string, n int) error {
			if n == 1 {
				return rimewatch.Errorf(rimewatch.CodeConflict, "too long")
			}
			return nil
		}
		r.flood(10)
		r.pass(time.Minute)
		if got := r.counts(); got != "map[sent after 2:10]" {
			t.Error(got)
		}
		said := r.posts.calls
		if len(said) != 11 || said[0] != "0s mail alert.bundle of 10" || slices.Contains(said[1:], said[0]) {
			t.Error(said)
		}
	})
}

// TestBundleSurvivesARestart: nothing of a bundle that was not sent is forgotten.
func TestBundleSurvivesARestart(t *testing.T) {
	bubble(t, func(r *rig) {
		r.channel("mail", nil)
		r.posts.bundle = true
		r.posts.answer = func(ctx context.Context, _ string, _ int) error {
			<-ctx.Done()
			return rimewatch.Errorf(rimewatch.CodeUnavailable, "slow")
		}
		r.flood(250) // three messages
		r.pass(time.Second)
		r.posts.answer = nil
		r.restart()
		r.pass(time.Minute)
		if got := r.counts(); got != "map[sent after 2:250]" { // the attempt that was broken off may have been received
			t.Error(got)
		}
	})
}

// TestWhatWaitsIsInTheReadersWords: whoever hears of a channel that fails reads what
// waits there in their own language, as all else, and in the order in which it opened.
func TestWhatWaitsIsInTheReadersWords(t *testing.T) {
	bubble(t, func(r *rig) {
		r.posts.answer = func(_ context.Context, channel string, _ int) error {
			if channel == "a" {
				return rimewatch.Errorf(rimewatch.CodeUnavailable, "No route.")
			}
			return nil
		}
		spare := r.channel("b", func(c *rimewatch.Channel) { c.Language = "es" })
		failing := r.channel("a", func(c *rimewatch.Channel) { c.FallbackID = spare.ID })
		route := rimewatch.Route{WorkspaceID: r.workspace, Name: "r", Enabled: true, Steps: []rimewatch.RouteStep{{ChannelIDs: []int64{failing.ID}}}}
		r.must(r.store.Routing().Routes().Create(r.Context(), &route))
		r.alert(rimewatch.HighTemperature, rimewatch.Critical)
		r.alert(rimewatch.LowVoltage, rimewatch.Warning)
		r.pass(time.Hour)
		list, _, err := r.store.Outbox().Deliveries(r.Context(), r.workspace, spare.ID, store.Page{Limit: 10})
		r.must(err)
		if len(list) != 1 {
			t.Fatalf("%d messages", len(list))
		}
		d, err := r.store.Outbox().Delivery(r.Context(), r.workspace, list[0].ID)
		r.must(err)
		m, err := message.Decode(d.Body)
		r.must(err)
		if len(m.Data.Alerts) != 2 || !strings.HasPrefix(m.Data.Alerts[0].Text, "[crítica] ") || !strings.HasPrefix(m.Data.Alerts[1].Text, "[advertencia] ") || strings.Contains(m.Data.Alerts[0].Text, "too warm") {
			t.Errorf("%+v", m.Data.Alerts)
		}
	})
}
