package message_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
			Metric: "product_zone_temp", Value: &value, PeakValue: &peak, Threshold: &limit, Unit: "°C",
			ConditionStartedAt: at, TriggeredAt: at + rimewatch.Hour, LastEvaluatedAt: at + 2*rimewatch.Hour},
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
		v.Status, v.Resolution, v.ResolvedAt = rimewatch.AlertResolved, rimewatch.ResolvedAuto, at+3*rimewatch.Hour
	}
	const warm = "The product zone is at −8.3 °C (limit −15 °C) and has been too warm for 2 h. "
	const check = "Check that the door is shut, the evaporator fan is turning and the compressor is running."
	for _, c := range []struct {
		name          string
		change        func(*rimewatch.AlertView)
		reason        message.Reason
		kind          string
		subject, text string
	}{
		{"opened", nil, opened, "alert.opened", "[warning] Back walk-in: −8.3 °C, too warm for 2 h 4 min", warm + check},
		{"a later level", nil, message.Reason{Kind: rimewatch.DeliveryOpened, Level: 1}, "alert.opened", "[warning] Not acknowledged yet: Back walk-in: −8.3 °C, too warm for 2 h 4 min", warm + check},
		{"escalated", func(v *rimewatch.AlertView) { v.Severity = rimewatch.Critical }, message.Reason{Kind: rimewatch.DeliveryEscalated}, "alert.escalated",
			"[critical] Now critical: Back walk-in: −8.3 °C, too warm for 2 h 4 min", warm + "Check food before it is used or sold; quarantine medicine and ask its manufacturer. " + check},
		{"repeat", nil, message.Reason{Kind: rimewatch.DeliveryRepeat}, "alert.repeated", "[warning] Still active: Back walk-in: −8.3 °C, too warm for 2 h 4 min", warm + check},
		{"after an acknowledgement", nil, message.Reason{Kind: rimewatch.DeliveryRepeat, After: "acknowledgement"}, "alert.repeated", "[warning] Still active: Back walk-in: −8.3 °C, too warm for 2 h 4 min",
			"The acknowledgement has expired and the problem is still there. " + warm + check},
		{"no value", func(v *rimewatch.AlertView) { v.Type, v.Metric, v.Value = rimewatch.SensorStale, "", nil }, opened, "alert.opened", "[warning] Back walk-in: no measurements for 2 h 4 min",
			"It is online but has sent no measurements for –. Check the probe's plug and cable, then the logger."},
		{"a span is no value", func(v *rimewatch.AlertView) { v.Type, v.Unit = rimewatch.DeviceOffline, "s" }, opened, "alert.opened", "[warning] Back walk-in: offline for 2 h 4 min",
			"It has stopped reporting, so nobody can see its temperature. Check its power, its gateway and the network."},
		{"no volts", func(v *rimewatch.AlertView) {
			v.Type, v.Metric, v.Unit, *v.Value = rimewatch.PowerLoss, "voltage", "V", 0
		}, opened, "alert.opened", "[warning] Back walk-in: no power for 2 h 4 min", "The supply voltage is down to 0 V. Keep the doors shut. Check the breaker, then the supply."},
		{"a site", func(v *rimewatch.AlertView) {
			v.DeviceID, v.DeviceName, v.DeviceSerial, v.Type, v.Metric, v.Unit, v.OutOf, *v.Value = 0, "", "", rimewatch.SiteOffline, "silent_devices", "", 5, 4
		}, opened, "alert.opened", "[warning] Main Street: site offline for 2 h 4 min",
			"4 of its 5 devices stopped reporting at the same time, so nobody can see their temperatures. Check the site's power first, then its gateway and its internet connection."},
		{"a prediction", func(v *rimewatch.AlertView) {
			v.Value, v.Prediction = nil, &rimewatch.Prediction{Fault: "refrigerant_undercharge", Risk: 0.62, HorizonH: 72}
		}, opened, "alert.opened", "[warning] Back walk-in: probably losing refrigerant",
			"Most likely a low refrigerant charge. 62 % risk of failure within 3 days. Search for a leak and look at the sight glass. Do not simply add refrigerant."},
		{"over", over, recovery, "alert.resolved", "[resolved] Back walk-in: temperature back in range after 3 h", "The product zone is back in range at −8.3 °C. It was too warm for 3 h; the highest was −7.9 °C."},
		{"power again", func(v *rimewatch.AlertView) {
			over(v)
			v.Type, v.Metric, v.Unit, *v.Value = rimewatch.PowerLoss, "voltage", "V", 229.6
		}, recovery, "alert.resolved", "[resolved] Back walk-in: power is back after 3 h", "The supply is back at 229.6 V after 3 h without power."},
		{"resolved by hand", func(v *rimewatch.AlertView) {
			over(v)
			v.Resolution, v.ResolvedBy, v.Note = rimewatch.ResolvedManual, "Ada <ada@example.org>", "Door shut."
		}, recovery, "alert.resolved", "[resolved] Back walk-in: resolved by Ada <ada@example.org> after 3 h", "Ada <ada@example.org> resolved the alert “Too warm”. Note: Door shut."},
		{"removed", func(v *rimewatch.AlertView) { over(v); v.Resolution = rimewatch.ResolvedSuperseded }, recovery, "alert.resolved", "[resolved] Back walk-in: removed",
			"Back walk-in was removed or replaced, so the alert “Too warm” is resolved."},
		{"by other limits", func(v *rimewatch.AlertView) {
			over(v)
			v.Resolution, v.Superseded = rimewatch.ResolvedSuperseded, rimewatch.SupersededLimits
		}, recovery, "alert.resolved", "[resolved] Back walk-in: judged by other limits now after 3 h", "The limits were changed, and −8.3 °C is within the new ones. Nothing has recovered."},
		{"not judged", func(v *rimewatch.AlertView) {
			over(v)
			v.Resolution, v.Superseded = rimewatch.ResolvedSuperseded, rimewatch.SupersededUnjudged
		}, recovery, "alert.resolved", "[resolved] Back walk-in: not judged any more after 3 h", "The limits or the type were changed, and nothing judges this any more. Nothing has recovered."},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := context(t, at+2*rimewatch.Hour+4*rimewatch.Minute).Of(view(c.change), c.reason)
			got := []string{m.Type, typed(m.Data.Subject), typed(m.Data.Text), string(m.Data.Kind), m.Data.Link}
			if diff := cmp.Diff([]string{c.kind, c.subject, c.text, string(c.reason.Kind), "https://watch.example.org/alerts/12"}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTitleKeepsBrackets: what a shop writes into names is not taken for a tag.
func TestTitleKeepsBrackets(t *testing.T) {
	named := func(v *rimewatch.AlertView) { v.DeviceName = "[A] Cooler [test] 3" }
	c := context(t, at+2*rimewatch.Hour+4*rimewatch.Minute)
	opened := c.Of(view(named), message.Reason{Kind: rimewatch.DeliveryOpened})
	const title = "[A] Cooler [test] 3: −8.3 °C, too warm for 2 h 4 min"
	b, err := opened.Encode()
	if err != nil {
		t.Fatal(err)
	}
	kept, err := message.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	for what, m := range map[string]*message.Message{"opened": opened, "kept with a delivery": kept} {
		if d := &m.Data; typed(d.Title()) != title || typed(d.Subject) != "[warning] "+title {
			t.Errorf("%s: %q of %q", what, d.Title(), d.Subject)
		}
	}
	if line := message.Bundle([]*message.Message{opened, opened}).Data.Alerts[0]; typed(line.Text) != title {
		t.Errorf("a line of several: %q", line.Text)
	}
	report := message.Data{Subject: "[A] Temperature log"}
	if report.Title() != report.Subject {
		t.Errorf("without a tag: %q", report.Title())
	}
}

// typed is a text with the spaces that a keyboard has.
func typed(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }

// TestFactsAreOnTheClockOfThePlace: the alert began before the clocks were set and
// is told after.
func TestFactsAreOnTheClockOfThePlace(t *testing.T) {
	m := context(t, at+2*rimewatch.Hour).Of(view(nil), message.Reason{Kind: rimewatch.DeliveryOpened})
	want := []message.Fact{
		{Label: "Unit", Value: "Back walk-in – Walk-in freezer (WF-02)"}, {Label: "Site", Value: "Main Street"}, {Label: "Measured", Value: "−8.3 °C"}, {Label: "Limit", Value: "−15 °C"},
		{Label: "Worst", Value: "−7.9 °C"}, {Label: "Since", Value: "Sun 29 Mar 2026, 01:30 (CET), 2 h ago"}, {Label: "Workspace", Value: "Corner shop"},
		{Label: "To do", Value: "Acknowledge it using the link, so that nobody else is woken."},
	}
	facts := slices.Clone(m.Data.Facts)
	for i := range facts {
		facts[i].Value = typed(facts[i].Value)
	}
	if diff := cmp.Diff(want, facts); diff != "" {
		t.Error(diff)
	}
	if got := m.Data.Headline(); got != m.Data.Subject+" – Main Street" {
		t.Errorf("headline %q", got)
	}
	over := view(func(v *rimewatch.AlertView) {
		v.Status, v.Resolution, v.ResolvedAt = rimewatch.AlertResolved, rimewatch.ResolvedAuto, at+2*rimewatch.Hour
	})
	facts = context(t, at+3*rimewatch.Hour).Of(over, message.Reason{Kind: rimewatch.DeliveryRecovery}).Data.Facts
	if last := facts[len(facts)-2]; typed(last.Value) != "Sun 29 Mar 2026, 04:30 (CEST), after 2 h" {
		t.Errorf("over %q", last.Value)
	}
}

func TestOthers(t *testing.T) {
	c := context(t, at+2*rimewatch.Hour)
	ended := view(func(v *rimewatch.AlertView) {
		v.ID, v.Status, v.ResolvedAt = 13, rimewatch.AlertResolved, at+rimewatch.Hour
	})
	site := func(v *rimewatch.AlertView) {
		v.DeviceID, v.DeviceName, v.DeviceSerial, v.Type, v.Unit = 0, "", "", rimewatch.SiteOffline, ""
	}
	outage := &message.Outage{Channel: "Slack", Since: at, Error: rimewatch.Sentencef("The receiver answered 503."), Waiting: []message.Line{c.Line(view(nil))}, More: 3}
	for _, x := range []struct {
		m    *message.Message
		want string
	}{
		{c.Digest([]rimewatch.AlertView{*view(nil), *ended, *view(site)}), `[digest] Corner shop: 2 active warnings, 1 resolved
Warnings in Corner shop as of Sun 29 Mar 2026, 04:30 (CEST).

- Back walk-in: −8.3 °C, too warm for 2 h – Main Street
- Resolved: Back walk-in: too warm for 1 h, until Sun 29 Mar 2026, 03:30 (CEST) – Main Street
- Main Street: site offline for 2 h

https://watch.example.org/alerts
`},
		{c.Test("Slack"), `[test] Rimewatch can reach you through “Slack”
This is a test of the channel “Slack” in Corner shop. Nothing is wrong: alerts will arrive here in the same way.

Sent: Sun 29 Mar 2026, 04:30 (CEST)

https://watch.example.org/
`},
		{c.Failing(outage), `[trouble] The channel “Slack” is failing
Rimewatch cannot deliver messages through “Slack”, so this one comes through another channel. Alerts may be waiting there unseen.

Since: Sun 29 Mar 2026, 01:30 (CET)
Error: The receiver answered 503.
Workspace: Corner shop

- [warning] Back walk-in: −8.3 °C, too warm for 2 h – Main Street
- and 3 more

https://watch.example.org/settings/notifications
`},
		{c.Recovered(outage), `[ok] The channel “Slack” works again
Rimewatch can deliver messages through “Slack” again. Those that were waiting are being sent.

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
		if diff := cmp.Diff(x.want, typed(back.Data.Subject+"\n"+back.Plain(0))); diff != "" {
			t.Error(diff)
		}
	}
}

// TestDigestOfLongNames: a digest is as long as the store takes, whatever the
// names, and says how much is left out.
func TestDigestOfLongNames(t *testing.T) {
	list := make([]rimewatch.AlertView, 90)
	for i := range list {
		list[i] = *view(func(v *rimewatch.AlertView) { v.DeviceName = strings.Repeat("<", 200) })
	}
	d := context(t, at+rimewatch.Hour).Digest(list).Data
	if n := len(d.Alerts); n < 20 || n > 90 || d.Alerts[n-1].Text != fmt.Sprintf("and %d more", 91-n) || !strings.Contains(d.Subject, "90 active warnings") {
		t.Errorf("%s: %d lines, the last %q", d.Subject, n, d.Alerts[n-1].Text)
	}
	if b, err := json.Marshal(d.Alerts); err != nil || len(b) > 50<<10 {
		t.Errorf("%d bytes: %v", len(b), err)
	}
}

// TestReportLeadsToItsDays: by the calendar of the place, whose clocks were set that week.
func TestReportLeadsToItsDays(t *testing.T) {
	day := func(month time.Month, day int) rimewatch.Time {
		return rimewatch.TimeOf(time.Date(2026, month, day, 0, 0, 0, 0, berlin(t)))
	}
	for want, r := range map[string]*message.Report{
		"site=3&from=2026-03-23&to=2026-03-29": {SiteID: 3, Site: "Main Street", Period: rimewatch.ReportWeekly, From: day(3, 23), To: day(3, 30)},
		"site=all&month=2026-03":               {Period: rimewatch.ReportMonthly, From: day(3, 1), To: day(4, 1)},
	} {
		r.TimeZone = "Europe/Berlin"
		if got := context(t, at).Report(r).Data.Link; got != "https://watch.example.org/reports?"+want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestNoAddress: a service that does not know its address sends no links.
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

// TestLinksNameTheWorkspace: whoever is in several is led to the one that the message is about.
func TestLinksNameTheWorkspace(t *testing.T) {
	c := message.Context{Workspace: message.Ref{ID: 1, Name: "Corner shop", Slug: "corner-shop"}, PublicURL: "https://watch.example.org", Zone: time.UTC}
	if got := c.Test("Phone").Data.Link; got != "https://watch.example.org/w/corner-shop/" {
		t.Error(got)
	}
}

// TestWhereItIsAcknowledged: a message has the link of its alert, a list those of each that is open; a text
// that is short has none of the latter.
func TestWhereItIsAcknowledged(t *testing.T) {
	c := context(t, at+3*rimewatch.Hour)
	c.Alert = json.RawMessage(`{"id":12}`)
	link := func(alertID, siteID int64) string { return fmt.Sprintf("https://x.example/a/%d-%d", alertID, siteID) }
	one := c.Of(view(nil), message.Reason{Kind: rimewatch.DeliveryOpened})
	one.LetAcknowledge(link)
	if text := one.Plain(0); !strings.Contains(text, "\nAcknowledge without signing in:\nhttps://x.example/a/12-1\n") {
		t.Errorf("%s", text)
	}
	over := *view(func(v *rimewatch.AlertView) {
		v.ID, v.Status, v.Resolution, v.ResolvedAt = 13, rimewatch.AlertResolved, rimewatch.ResolvedAuto, at+2*rimewatch.Hour
	})
	list := c.Digest([]rimewatch.AlertView{*view(nil), over})
	list.LetAcknowledge(link)
	if text := list.Plain(0); strings.Count(text, "Acknowledge: https://x.example/a/12-1\n") != 1 || strings.Contains(text, "13-1") {
		t.Errorf("%s", text)
	}
	if text := list.Plain(1000); strings.Contains(text, "/a/") {
		t.Errorf("%s", text)
	}
}
