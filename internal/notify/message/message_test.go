package message_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
)

var at = rimewatch.TimeOf(time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC)) // an hour and a half before the clocks are set

func berlin(t *testing.T) *time.Location {
	z, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func context(t *testing.T, now rimewatch.Time) *message.Context {
	return &message.Context{Key: "alert/12/0/opened/1/0/0/3", Workspace: message.Ref{ID: 1, Name: "Corner shop"}, Zone: berlin(t), PublicURL: "https://watch.example.org", Now: now}
}

func view(change func(*rimewatch.AlertView)) *rimewatch.AlertView {
	value, peak, limit := -8.25, -7.9, -15.0
	v := &rimewatch.AlertView{
		Alert: rimewatch.Alert{ID: 12, DeviceID: 5, Status: rimewatch.AlertActive, Severity: rimewatch.Warning, Type: rimewatch.HighTemperature,
			Title: "Back walk-in (walk-in freezer) is too warm", Message: "Look at the door.", Metric: "product_zone_temp", Value: &value, PeakValue: &peak, Threshold: &limit, Unit: "°C",
			ConditionStartedAt: at, TriggeredAt: at + rimewatch.Hour},
		DeviceSerial: "WF-02", DeviceName: "Back walk-in", EquipmentType: "walkin_freezer", Site: &rimewatch.Site{ID: 1, Name: "Main Street", TimeZone: "Europe/Berlin"},
	}
	if change != nil {
		change(v)
	}
	return v
}

func TestSubjectsAndTexts(t *testing.T) {
	opened := message.Reason{Kind: rimewatch.DeliveryOpened}
	recovery := message.Reason{Kind: rimewatch.DeliveryRecovery}
	over := func(v *rimewatch.AlertView) {
		v.Status, v.Resolution, v.ResolvedAt, v.Message = rimewatch.AlertResolved, rimewatch.ResolvedAuto, at+3*rimewatch.Hour, "Back in its range."
	}
	for _, c := range []struct {
		name          string
		change        func(*rimewatch.AlertView)
		reason        message.Reason
		kind          string
		subject, text string
	}{
		{"opened", nil, opened, "alert.opened", "[warning] Back walk-in −8.3 °C, too warm for 2 h 4 min", "Look at the door."},
		{"a later level", nil, message.Reason{Kind: rimewatch.DeliveryOpened, Level: 1}, "alert.opened", "[warning] Nobody has taken care of it: Back walk-in −8.3 °C, too warm for 2 h 4 min", "Look at the door."},
		{"escalated", func(v *rimewatch.AlertView) { v.Severity = rimewatch.Critical }, message.Reason{Kind: rimewatch.DeliveryEscalated}, "alert.escalated", "[critical] Now critical: Back walk-in −8.3 °C, too warm for 2 h 4 min", "Look at the door."},
		{"repeat", nil, message.Reason{Kind: rimewatch.DeliveryRepeat}, "alert.repeated", "[warning] Still open: Back walk-in −8.3 °C, too warm for 2 h 4 min", "Look at the door."},
		{"after an acknowledgement", nil, message.Reason{Kind: rimewatch.DeliveryRepeat, After: "acknowledgement"}, "alert.repeated", "[warning] Still open: Back walk-in −8.3 °C, too warm for 2 h 4 min",
			"Somebody took care of this, but that time is over and the problem is still there. Look at the door."},
		{"no value", func(v *rimewatch.AlertView) { v.Title, v.Value = "Back walk-in (walk-in freezer) has no power", nil }, opened, "alert.opened", "[warning] Back walk-in: has no power for 2 h 4 min", "Look at the door."},
		{"a span is no value", func(v *rimewatch.AlertView) { v.Title, v.Unit = "Back walk-in (walk-in freezer) is offline", "s" }, opened, "alert.opened", "[warning] Back walk-in: offline for 2 h 4 min", "Look at the door."},
		{"a title of its own", func(v *rimewatch.AlertView) { v.Title = "Something is odd" }, opened, "alert.opened", "[warning] Something is odd for 2 h 4 min", "Look at the door."},
		{"a site", func(v *rimewatch.AlertView) {
			v.DeviceID, v.DeviceName, v.DeviceSerial, v.Value, v.Title = 0, "", "", nil, "Main Street is offline"
		}, opened, "alert.opened", "[warning] Main Street: offline for 2 h 4 min", "Look at the door."},
		{"a prediction", func(v *rimewatch.AlertView) {
			v.Title, v.Value, v.Prediction = "Back walk-in (walk-in freezer) loses refrigerant", nil, &rimewatch.Prediction{Risk: 0.62, HorizonH: 72, RecommendedAction: "Call the technician this week."}
		}, opened, "alert.opened", "[warning] Back walk-in: loses refrigerant", "Look at the door. Call the technician this week."},
		{"over", over, recovery, "alert.resolved", "[resolved] Back walk-in: no longer too warm, after 3 h", "Back in its range."},
		{"power again", func(v *rimewatch.AlertView) {
			over(v)
			v.Type, v.Title = rimewatch.PowerLoss, "Back walk-in (walk-in freezer) has no power"
		}, recovery, "alert.resolved", "[resolved] Back walk-in: has power again, after 3 h", "Back in its range."},
		{"closed by hand", func(v *rimewatch.AlertView) {
			over(v)
			v.Resolution, v.ResolvedBy, v.Note = rimewatch.ResolvedManual, "Ada <ada@example.org>", "Door shut."
		}, recovery, "alert.resolved", "[resolved] Back walk-in: closed by Ada <ada@example.org> after 3 h", "Ada <ada@example.org> has closed the alert “Back walk-in (walk-in freezer) is too warm”. Note: Door shut."},
		{"removed", func(v *rimewatch.AlertView) { over(v); v.Resolution = rimewatch.ResolvedSuperseded }, recovery, "alert.resolved", "[resolved] Back walk-in: removed",
			"Back walk-in was removed or replaced, so the alert “Back walk-in (walk-in freezer) is too warm” is closed."},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := context(t, at+2*rimewatch.Hour+4*rimewatch.Minute).Of(view(c.change), c.reason)
			got := []string{m.Type, m.Data.Subject, m.Data.Text, string(m.Data.Kind), m.Data.Link}
			if diff := cmp.Diff([]string{c.kind, c.subject, c.text, string(c.reason.Kind), "https://watch.example.org/alerts/12"}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFactsAreOnTheClockOfThePlace: the alert began before the clocks were set and
// is told after.
func TestFactsAreOnTheClockOfThePlace(t *testing.T) {
	m := context(t, at+2*rimewatch.Hour).Of(view(nil), message.Reason{Kind: rimewatch.DeliveryOpened})
	want := []message.Fact{
		{Label: "Unit", Value: "Back walk-in – Walk-in freezer (WF-02)"}, {Label: "Where", Value: "Main Street"}, {Label: "Measured", Value: "−8.3 °C"}, {Label: "Limit", Value: "−15 °C"},
		{Label: "Worst", Value: "−7.9 °C"}, {Label: "Workspace", Value: "Corner shop"}, {Label: "Since", Value: "Sun 29 Mar 2026, 01:30 (CET), 2 h ago"},
		{Label: "To do", Value: "Acknowledge it under the link, so that the others need not be woken."},
	}
	if diff := cmp.Diff(want, m.Data.Facts); diff != "" {
		t.Error(diff)
	}
	over := view(func(v *rimewatch.AlertView) {
		v.Status, v.Resolution, v.ResolvedAt = rimewatch.AlertResolved, rimewatch.ResolvedAuto, at+2*rimewatch.Hour
	})
	facts := context(t, at+3*rimewatch.Hour).Of(over, message.Reason{Kind: rimewatch.DeliveryRecovery}).Data.Facts
	if last := facts[len(facts)-1]; last.Value != "Sun 29 Mar 2026, 04:30 (CEST), after 2 h" {
		t.Errorf("over %q", last.Value)
	}
}

func TestOthers(t *testing.T) {
	c := context(t, at+2*rimewatch.Hour)
	ended := view(func(v *rimewatch.AlertView) {
		v.ID, v.Status, v.ResolvedAt = 13, rimewatch.AlertResolved, at+rimewatch.Hour
	})
	outage := &message.Outage{Channel: "Slack", Since: at, Error: "The receiver answered 503.", Waiting: []message.Line{{ID: 12, Text: "[critical] x"}}, More: 3}
	for _, x := range []struct {
		m    *message.Message
		want string
	}{
		{c.Digest([]rimewatch.AlertView{*view(nil), *ended}), `[digest] Corner shop: 1 warning open, 1 over
Warnings of Corner shop up to Sun 29 Mar 2026, 04:30 (CEST).

- Back walk-in −8.3 °C, too warm for 2 h – Main Street
- Over: Back walk-in (walk-in freezer) is too warm (1 h, until Sun 29 Mar 2026, 03:30 (CEST))

https://watch.example.org/alerts
`},
		{c.Test("Slack"), `[test] Rimewatch reaches you through “Slack”
This is a test of the channel “Slack” of Corner shop. Nothing is wrong: alerts will arrive here in the same way.

Sent: Sun 29 Mar 2026, 04:30 (CEST)

https://watch.example.org/
`},
		{c.Failing(outage), `[trouble] The channel “Slack” takes no messages
Rimewatch cannot reach people through “Slack”, so this comes through another channel. Alerts may wait there unseen.

Since: Sun 29 Mar 2026, 01:30 (CET)
Error: The receiver answered 503.
Workspace: Corner shop

- [critical] x
- and 3 more

https://watch.example.org/settings/notifications
`},
		{c.Recovered(outage), `[ok] The channel “Slack” takes messages again
Rimewatch reaches people through “Slack” again. What waited is being sent.

Since: Sun 29 Mar 2026, 04:30 (CEST)
Workspace: Corner shop

https://watch.example.org/settings/notifications
`},
	} {
		b, err := x.m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(b) {
			t.Errorf("%s", b)
		}
		back, err := message.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(x.want, back.Data.Subject+"\n"+back.Plain()); diff != "" {
			t.Error(diff)
		}
	}
}

// TestNoAddress: a service that does not know its address gives no links.
func TestNoAddress(t *testing.T) {
	c := context(t, at)
	c.PublicURL = ""
	if m := c.Of(view(nil), message.Reason{Kind: rimewatch.DeliveryOpened}); m.Data.Link != "" || len(m.Data.Facts) != 7 {
		t.Errorf("link %q, facts %v", m.Data.Link, m.Data.Facts)
	}
	if _, err := message.Decode([]byte(`{"type":`)); err == nil {
		t.Error("half a message is read")
	}
}
