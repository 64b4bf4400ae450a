package notify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
)

// TestChecksAreTold: that a check is due and that it was missed is told to those who are called first, once, also when the
// service is restarted, not in the quiet hours of their route, and only as the round wants it.
func TestChecksAreTold(t *testing.T) {
	bubble(t, func(r *rig) { // it is 01:00 in Berlin
		first := r.channel("first", func(*rimewatch.Channel) {})
		second := r.channel("second", func(*rimewatch.Channel) {})
		r.must(r.store.Routing().Routes().Create(r.Context(), &rimewatch.Route{WorkspaceID: r.workspace, Name: "All", Enabled: true, CreatedAt: r.now(), UpdatedAt: r.now(),
			Steps: []rimewatch.RouteStep{{ChannelIDs: []int64{first.ID}}, {AfterS: 600, ChannelIDs: []int64{second.ID}}}, Quiet: &rimewatch.QuietHours{From: 130, To: 180}}))
		var said []string
		r.posts.heard = func(c *rimewatch.Channel, _ string, m *message.Message) {
			if m.Data.Kind == rimewatch.DeliveryCheck {
				said = append(said, fmt.Sprintf("%s %s: %s (%s)", c.Name, m.Data.Subject, m.Data.Text, m.Data.Link))
			}
		}
		open := func(tell rimewatch.CheckTell) *rimewatch.Check {
			round := rimewatch.CheckTemplate{WorkspaceID: r.workspace, Name: "Round " + string(tell), Tell: tell, Enabled: true, Windows: []rimewatch.CheckWindow{{Days: 127, From: 60, To: 120}}, CreatedAt: r.now(), UpdatedAt: r.now()}
			r.must(r.store.Records().CheckTemplates().Create(r.Context(), &round))
			c := &rimewatch.Check{WorkspaceID: r.workspace, TemplateID: round.ID, Name: round.Name, CheckSpan: rimewatch.CheckSpan{Day: "2000-01-01", Minute: 60, From: r.now(), To: r.now() + rimewatch.Hour}, Status: rimewatch.CheckDue, OpenedAt: r.now(), Items: make([]rimewatch.CheckItem, 12)}
			r.must(r.store.Records().OpenChecks(r.Context(), &round, r.now(), []*rimewatch.Check{c}))
			return c
		}
		both, missed, never := open(rimewatch.TellBoth), open(rimewatch.TellMissed), open(rimewatch.TellNoChecks)
		due := func(want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, said); diff != "" {
				t.Error(diff)
			}
			said = nil
		}
		r.pass(31 * time.Second)
		for i := range said {
			said[i], _, _ = strings.Cut(said[i], " (")
		}
		due("first [check] Check due: Round both: 12 units. To be done until Sat 1 Jan 2000, 02:00")
		r.restart()
		r.pass(time.Hour + 10*time.Minute) // until the quiet hours
		due()
		for _, c := range []*rimewatch.Check{both, missed, never} {
			_, err := r.store.Records().ChangeCheck(r.Context(), r.workspace, c.ID, func(c *rimewatch.Check) (rimewatch.CheckNote, bool, error) {
				c.Status, c.Reason = rimewatch.CheckMissed, rimewatch.CheckNotDone
				return rimewatch.CheckNote{}, false, nil
			})
			r.must(err)
		}
		r.pass(40 * time.Minute)
		due()
		r.pass(11 * time.Minute)
		for i := range said {
			said[i], _, _ = strings.Cut(said[i], " It was due")
		}
		slices.Sort(said) // two lanes send them
		due("first [check] Check missed: Round both: 12 units.", "first [check] Check missed: Round missed: 12 units.")
	})
}
