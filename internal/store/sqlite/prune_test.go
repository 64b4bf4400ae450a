package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
)

// TestPrune: timelines and deliveries of alerts that are over go with the
// rollups, in slices; what is pending, younger or of active alerts stays.
func TestPrune(t *testing.T) {
	now := rimewatch.TimeOf(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC))
	s := ready(t, openAt(t, Config{Path: filepath.Join(t.TempDir(), FileName), quiet: true, Now: func() time.Time { return now.Std() }}))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w := &rimewatch.Workspace{Name: "W", TimeZone: "UTC", RawDays: 10, RollupDays: 30, CreatedAt: 1, UpdatedAt: 1}
	must(s.CreateWorkspace(t.Context(), w))
	c := &rimewatch.Channel{WorkspaceID: w.ID, Name: "c", Kind: rimewatch.ChannelEmail, To: []string{"a@example.com"}}
	must(s.Routing().Channels().Create(t.Context(), c))
	old, young := now-31*rimewatch.Day, now-29*rimewatch.Day
	put := func(status rimewatch.AlertStatus, at rimewatch.Time, times int) *rimewatch.Alert {
		t.Helper()
		a := &rimewatch.Alert{ID: s.NewAlertID(), WorkspaceID: w.ID, DeviceID: 1, Status: status, Severity: rimewatch.Warning, Type: rimewatch.AlertType(fmt.Sprint(status, at)), TriggeredAt: at}
		transitions := make([]rimewatch.AlertTransition, times)
		deliveries := make([]*rimewatch.Delivery, times)
		for i := range transitions {
			transitions[i] = rimewatch.AlertTransition{WorkspaceID: w.ID, AlertID: a.ID, Kind: rimewatch.TransitionNoted, At: at}
		}
		must(storetest.Commit(t.Context(), s, &store.Group{Now: now}, &store.Effects{Alerts: []*rimewatch.Alert{a}, Transitions: transitions}))
		for i := range deliveries {
			deliveries[i] = &rimewatch.Delivery{WorkspaceID: w.ID, Key: fmt.Sprint(a.ID, i), AlertID: a.ID, ChannelID: c.ID, Status: rimewatch.DeliverySent, CreatedAt: at}
		}
		deliveries[0].Status = rimewatch.DeliveryPending
		must(s.Outbox().PutDeliveries(t.Context(), deliveries, 0))
		return a
	}
	over := put(rimewatch.AlertResolved, old, 500+50)
	kept := map[*rimewatch.Alert]int{put(rimewatch.AlertActive, old, 3): 3, put(rimewatch.AlertResolved, young, 4): 4}
	for ended, at := range map[string]rimewatch.Time{"old": old, "young": young} {
		must(s.Routing().Silences().Create(t.Context(), &rimewatch.Silence{WorkspaceID: w.ID, StartsAt: at - 5, EndsAt: at, Comment: ended}))
	}
	count := func(a *rimewatch.Alert) (transitions, deliveries int) {
		t.Helper()
		ts, err := s.Outbox().AlertTransitions(t.Context(), w.ID, a.ID)
		must(err)
		ds, err := s.Outbox().AlertDeliveries(t.Context(), w.ID, a.ID)
		must(err)
		return len(ts), len(ds)
	}
	must(s.Retain(t.Context(), now))
	if ts, ds := count(over); ts != 0 || ds != 1 {
		t.Errorf("%d transitions and %d deliveries are left, want none and the pending one", ts, ds)
	}
	for a, n := range kept {
		if ts, ds := count(a); ts != n || ds != n {
			t.Errorf("%d transitions and %d deliveries of %s, want %d", ts, ds, a.Type, n)
		}
	}
	_, total, err := s.Outbox().Deliveries(t.Context(), w.ID, c.ID, store.Page{Limit: 1})
	must(err)
	if total != 8 {
		t.Errorf("a total of %d deliveries, want 8", total)
	}
	list, _, err := s.Routing().Silences().Select(t.Context(), w.ID, store.Selection{EndAfter: 0})
	must(err)
	if len(list) != 1 || list[0].Comment != "young" {
		t.Errorf("silences %+v", list)
	}
}
