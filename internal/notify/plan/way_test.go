package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/plan"
)

// TestOwnWays: a member is told by all ways of their own, in the order and with the pauses that they have said, until somebody
// takes the alert on; warnings wait for the end of their quiet hours, what is critical does not.
func TestOwnWays(t *testing.T) {
	night := &rimewatch.QuietHours{From: 11 * 60, To: 18 * 60} // t0 is at noon
	for _, c := range []struct {
		name     string
		severity rimewatch.Severity
		change   func(*world)
		taken    rimewatch.Time // after t0, 0 = never
		until    rimewatch.Time
		want     string
	}{
		{"phone, text, call", rimewatch.Warning, nil, 0, hour, "0:00 opened L0 → 1|0:02 opened L0 → 2|0:05 opened L0 → 3"},
		{"the phone is off: the text is the first", rimewatch.Warning, func(w *world) { w.rules.Channels[0].Enabled = false }, 0, hour, "0:00 opened L0 → 2|0:03 opened L0 → 3"},
		{"taken on after three minutes", rimewatch.Warning, nil, 3 * minute, hour, "0:00 opened L0 → 1|0:02 opened L0 → 2"},
		{"a warning in quiet hours of the call", rimewatch.Warning, func(w *world) { w.rules.Channels[2].Quiet = night }, 0, 7 * hour, "0:00 opened L0 → 1|0:02 opened L0 → 2|6:00 opened L0 → 3"},
		{"what is critical does not wait", rimewatch.Critical, func(w *world) { w.rules.Channels[2].Quiet = night }, 0, hour, "0:00 opened L0 → 1|0:02 opened L0 → 2|0:05 opened L0 → 3"},
		{"somebody who was removed is told nothing", rimewatch.Warning, func(w *world) { w.rules.Members = w.rules.Members[1:] }, 0, hour, ""},
		{"at a site that the member may not see", rimewatch.Warning, func(w *world) { w.rules.Members[0].Sites = rimewatch.Sites{9} }, 0, hour, ""},
	} {
		w := newWorldBefore(c.severity, rimewatch.HighTemperature, route(1, people(0, to(rimewatch.TargetMember, ben))))
		w.rules.Members = []plan.Member{{UserID: ben, Name: "Ben", Email: "ben@example.com"}, {UserID: mara, Name: "Mara", Email: "mara@example.com"}}
		w.rules.Channels[0].Kind, w.rules.Channels[0].To = rimewatch.ChannelPush, []string{"ben@example.com"}
		w.rules.Channels[1].OwnerID, w.rules.Channels[1].AfterS = ben, 120
		w.rules.Channels[2].OwnerID, w.rules.Channels[2].AfterS = ben, 300
		if c.change != nil {
			c.change(w)
		}
		w.happen(t0, rimewatch.TransitionOpened)
		if c.taken != 0 {
			w.happen(t0+c.taken, rimewatch.TransitionAcknowledged)
		}
		w.runUntil(t0 + c.until)
		if diff := cmp.Diff(c.want, strings.Join(w.told, "|")); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}
