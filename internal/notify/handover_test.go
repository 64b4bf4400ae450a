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

// TestHandOverIsTold: at a change of shift while an alert is open whoever comes and whoever goes get one message each,
// also when the service is restarted right after it; the one who comes can acknowledge by it. A quiet one is told to nobody.
func TestHandOverIsTold(t *testing.T) {
	bubble(t, func(r *rig) { // it is 01:00 in Berlin
		ben, mara := r.member("ben@example.com", rimewatch.RoleTechnician, nil), r.member("mara@example.com", rimewatch.RoleTechnician, nil)
		for _, name := range []string{"ben", "mara"} {
			r.channel(name, func(c *rimewatch.Channel) {
				c.Kind, c.To, c.URL, c.Secret = rimewatch.ChannelEmail, []string{name + "@example.com"}, "", ""
			})
		}
		rota := rimewatch.Rota{WorkspaceID: r.workspace, Name: "Nights", TellHandOver: rimewatch.TellOpen, CreatedAt: r.now(), UpdatedAt: r.now(), Shifts: []rimewatch.Shift{
			{Days: 127, From: 0, To: 120, UserID: ben}, {Days: 127, From: 120, To: 180, UserID: mara}, {Days: 127, From: 180, To: 0, UserID: ben},
		}}
		r.must(r.store.Routing().Rotas().Create(r.Context(), &rota))
		r.must(r.store.Routing().Routes().Create(r.Context(), &rimewatch.Route{WorkspaceID: r.workspace, Name: "All", Enabled: true, CreatedAt: r.now(), UpdatedAt: r.now(),
			Steps: []rimewatch.RouteStep{{Targets: []rimewatch.Target{{Kind: rimewatch.TargetRota, ID: rota.ID}}}}}))
		var said []string
		r.posts.heard = func(c *rimewatch.Channel, _ string, m *message.Message) {
			if m.Data.Kind == rimewatch.DeliveryHandOver {
				d := &m.Data
				said = append(said, fmt.Sprintf("%s %s: %s – %s %v", c.Name, d.Subject, d.Text, d.Alerts[0].Text, d.Alerts[0].Acknowledge != ""))
			}
		}
		a := r.alert(rimewatch.HighTemperature, rimewatch.Warning)
		r.pass(time.Hour + 31*time.Second)
		slices.Sort(said)
		want := "ben [duty] Your duty has ended: Nights: Your duty for Nights has ended. Now on duty: mara. 1 alert is open: – Back walk-in: 8.2 °C, too warm for 1 h false|" +
			"mara [duty] You are on duty: Nights: You are on duty for Nights until Sat 1 Jan 2000, 03:00 (CET). Before you: ben. 1 alert is open: – Back walk-in: 8.2 °C, too warm for 1 h true"
		if diff := cmp.Diff(want, strings.ReplaceAll(strings.Join(said, "|"), "\u00a0", " ")); diff != "" {
			t.Error(diff)
		}
		said = nil
		r.restart()
		r.pass(10 * time.Minute)
		r.resolve(a)
		r.pass(2 * time.Hour)
		if said != nil {
			t.Errorf("told again, or of a quiet one: %q", said)
		}
	})
}
