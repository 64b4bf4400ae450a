package notify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
)

// TestOrderIsTold: the member who has a work order hears of it over each own way, in quiet hours of an
// emergency alone, and nobody else does.
func TestOrderIsTold(t *testing.T) {
	bubble(t, func(r *rig) { // it is 01:00 in Berlin
		ben := r.member("ben@example.com", rimewatch.RoleTechnician, nil)
		r.member("mara@example.com", rimewatch.RoleTechnician, nil)
		for _, name := range []string{"ben", "mara"} {
			r.channel(name, func(c *rimewatch.Channel) {
				c.Kind, c.To, c.URL, c.Secret = rimewatch.ChannelEmail, []string{name + "@example.com"}, "", ""
			})
		}
		r.channel("quiet", func(c *rimewatch.Channel) {
			c.Kind, c.To, c.URL, c.Secret, c.OwnerID, c.Quiet = rimewatch.ChannelEmail, []string{"ben@example.com"}, "", "", ben, &rimewatch.QuietHours{From: 0, To: 360}
		})
		var said []string
		r.posts.heard = func(c *rimewatch.Channel, _ string, m *message.Message) {
			d := &m.Data
			said = append(said, fmt.Sprintf("%s %s: %s %s", c.Name, d.Subject, d.Text, d.Link[strings.LastIndex(d.Link, "/work/"):]))
		}
		order := rimewatch.WorkOrder{ID: 7, Revision: 1, WorkspaceID: r.workspace, Unit: "Walk-in", Problem: "Ices up", Urgency: rimewatch.UrgencySoon, Assignee: &rimewatch.Doer{Kind: rimewatch.DoerPerson, ID: ben, Name: "Ben"}}
		told := func(pass time.Duration, want ...string) {
			t.Helper()
			r.pass(pass)
			slices.Sort(said)
			if !slices.Equal(said, want) {
				t.Errorf("%q, want %q", said, want)
			}
			said = nil
		}
		r.must(r.service.TellOrder(r.Context(), &order))
		told(time.Minute, "ben [work] Work for you: Walk-in: Ices up /work/7")
		told(6*time.Hour, "quiet [work] Work for you: Walk-in: Ices up /work/7")
		r.pass(18 * time.Hour)
		order.Revision, order.Urgency = 2, rimewatch.UrgencyEmergency
		r.must(r.service.TellOrder(r.Context(), &order))
		told(time.Minute, "ben [work] Emergency work for you: Walk-in: Ices up /work/7", "quiet [work] Emergency work for you: Walk-in: Ices up /work/7")
	})
}
