package plan_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/plan"
)

// TestCalledIsWhatThePlannerDoes: whoever is said to be called is told at that moment when the alert
// is played, and nobody else is.
func TestCalledIsWhatThePlannerDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := drawRules(t)
		u := plan.Unit{DeviceID: -1, SiteID: rapid.Int64Range(0, 2).Draw(t, "site"), EquipmentType: "cooler"}
		got := make(map[int64]rimewatch.Time)
		for _, c := range rules.Called(u, time.UTC, t0) {
			for _, channel := range c.Channels {
				got[channel] = c.At
			}
		}
		w := newWorldBefore(rimewatch.Critical, rimewatch.HighTemperature)
		w.rules = *rules
		w.view.DeviceID, w.view.EquipmentType, w.view.Site = u.DeviceID, u.EquipmentType, nil
		if u.SiteID != 0 {
			w.view.Site = &rimewatch.Site{ID: u.SiteID}
		}
		w.happen(t0, rimewatch.TransitionOpened)
		w.runUntil(t0 + 7*rimewatch.Day)
		want := make(map[int64]rimewatch.Time)
		for _, d := range w.in.Made {
			if _, told := want[d.ChannelID]; !told {
				want[d.ChannelID] = d.CreatedAt
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-played +said)\n%s", diff)
		}
	})
}
