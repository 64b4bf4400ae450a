package message_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
)

func TestBundle(t *testing.T) {
	c := context(t, at+2*rimewatch.Hour)
	c.Alert = []byte(`{"id":12}`)
	opened := message.Reason{Kind: rimewatch.DeliveryOpened}
	warning := c.Of(view(nil), opened)
	critical := c.Of(view(func(v *rimewatch.AlertView) { v.Severity, v.DeviceName = rimewatch.Critical, "Ice cream" }), opened)
	elsewhere := c.Of(view(func(v *rimewatch.AlertView) {
		v.DeviceName, v.Site = "Fish", &rimewatch.Site{ID: 2, Name: "Harbour", TimeZone: "Europe/Berlin"}
	}), opened)
	over := c.Of(view(func(v *rimewatch.AlertView) {
		v.Status, v.Resolution, v.ResolvedAt = rimewatch.AlertResolved, rimewatch.ResolvedAuto, at+3*rimewatch.Hour
	}), message.Reason{Kind: rimewatch.DeliveryRecovery})
	const link = "\nhttps://watch.example.org/alerts\n"
	for _, x := range []struct {
		name   string
		list   []*message.Message
		want   string
		urgent bool
	}{
		{"one site", []*message.Message{over, warning, critical}, "[critical] Main Street: 1 critical alert, 1 warning, 1 resolved\n" +
			"3 alerts in Corner shop at the same time, in one message.\n\n- Critical: Ice cream: −8.3 °C, too warm for 2 h\n- Back walk-in: −8.3 °C, too warm for 2 h\n" +
			"- Resolved: Back walk-in: temperature back in range after 3 h\n" + link, true},
		{"two sites", []*message.Message{elsewhere, warning}, "[warning] Corner shop, 2 sites: 2 warnings\n" +
			"2 alerts in Corner shop at the same time, in one message.\n\n- Fish: −8.3 °C, too warm for 2 h – Harbour\n- Back walk-in: −8.3 °C, too warm for 2 h – Main Street\n" + link, false},
		{"all over", []*message.Message{over, over}, "[resolved] Main Street: 2 resolved\n" +
			"2 alerts in Corner shop at the same time, in one message.\n\n- Resolved: Back walk-in: temperature back in range after 3 h\n- Resolved: Back walk-in: temperature back in range after 3 h\n" + link, false},
	} {
		m := message.Bundle(x.list)
		if diff := cmp.Diff(x.want, typed(m.Data.Subject+"\n"+m.Plain(0))); diff != "" || m.Data.Urgent != x.urgent || m.Data.Alerts[0].ID != 12 {
			t.Errorf("%s: urgent %v, alert %d (-want +got)\n%s", x.name, m.Data.Urgent, m.Data.Alerts[0].ID, diff)
		}
	}
}

// TestPlainWithin: a text for a service with little room keeps its link and says
// how much it leaves out.
func TestPlainWithin(t *testing.T) {
	c := context(t, at+2*rimewatch.Hour)
	var list []*message.Message
	for range 100 {
		list = append(list, c.Of(view(nil), message.Reason{Kind: rimewatch.DeliveryOpened}))
	}
	m := message.Bundle(list)
	for _, limit := range []int{300, 1000, 1900} {
		got := m.Plain(limit)
		lines := strings.Count(got, "\n- ")
		if len(got) > limit || !strings.HasSuffix(got, "/alerts\n") || lines < 2 || !strings.Contains(got, " more\n") {
			t.Errorf("%d bytes of %d:\n%s", len(got), limit, got)
		}
	}
	if got := m.Plain(0); strings.Count(got, "\n- ") != 100 {
		t.Error(got)
	}
}

// TestWhomToCallAboutSeveral: a bundle, a digest and a hand-over say once whom to call about what is active.
func TestWhomToCallAboutSeveral(t *testing.T) {
	c := context(t, at+2*rimewatch.Hour)
	opened := message.Reason{Kind: rimewatch.DeliveryOpened}
	c.Contacts = []rimewatch.Contact{{Name: "Polar Service", Phone: "555-0142", Note: "contract 4711"}}
	for name, m := range map[string]*message.Message{
		"a bundle":    message.Bundle([]*message.Message{c.Of(view(nil), opened), c.Of(view(nil), opened)}),
		"a digest":    c.Digest([]rimewatch.AlertView{*view(nil)}),
		"a hand-over": c.HandOver(&message.HandOver{Rota: "Nights", Comes: true, Alerts: []rimewatch.AlertView{*view(nil)}}),
	} {
		if text := m.Plain(0); strings.Count(text, "Call: Polar Service: 555-0142 (contract 4711)\n") != 1 {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}
