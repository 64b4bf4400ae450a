package wire

import (
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
)

func TestStatusOfAUnit(t *testing.T) {
	now := 10 * rimewatch.Day
	limit := 5.0
	v := &rimewatch.DeviceView{}
	v.Serial, v.Limits, v.Status, v.LastSeenAt, v.CurrentTempAt, v.CurrentTemp = "A-1", &rimewatch.LimitOverrides{TempMax: &limit}, rimewatch.Online, now, now, 4
	early, late := now-2*rimewatch.Hour, now-rimewatch.Hour
	warm := &rimewatch.Alert{Type: rimewatch.HighTemperature, Severity: rimewatch.Critical, ConditionStartedAt: late, TriggeredAt: now}
	damp := &rimewatch.Alert{Severity: rimewatch.Warning, TriggeredAt: early}
	caused := &rimewatch.Alert{Severity: rimewatch.Critical, TriggeredAt: early, SuppressedBy: 7}
	for _, c := range []struct {
		says   string
		change func(v *rimewatch.DeviceView)
		alerts []*rimewatch.Alert
		want   string
		since  rimewatch.Time
		reason string
	}{
		{says: "fine", want: "ok"},
		{says: "since its worst alert began", alerts: []*rimewatch.Alert{damp, warm, caused}, want: "critical", since: late, reason: "Too warm"},
		{says: "what another explains is not counted", alerts: []*rimewatch.Alert{caused}, want: "ok"},
		{says: "offline since it was last heard", change: func(v *rimewatch.DeviceView) { v.Status, v.LastSeenAt = rimewatch.Offline, early }, want: "offline", since: early},
		{says: "no limit", change: func(v *rimewatch.DeviceView) { v.Limits = nil }, want: "unjudged"},
	} {
		u := *v
		if c.change != nil {
			c.change(&u)
		}
		s, _ := newStatusDevice(&u, c.alerts, phrase.In(rimewatch.Locale{}), now)
		if s.Condition != c.want || s.Since != c.since || s.Reason != c.reason || s.Name != "A-1" || s.Temp == nil || *s.Temp != 4 {
			t.Errorf("%s: %+v", c.says, s)
		}
	}
}

func TestStatusIsWorstFirst(t *testing.T) {
	now := 10 * rimewatch.Day
	limit := 5.0
	var units []rimewatch.DeviceView
	for i, name := range []string{"b", "A", "c"} {
		v := rimewatch.DeviceView{}
		v.ID, v.Name, v.Limits, v.Status, v.LastSeenAt, v.CurrentTempAt = int64(i+1), name, &rimewatch.LimitOverrides{TempMax: &limit}, rimewatch.Online, now, now
		if name != "A" {
			v.Site = &rimewatch.Site{ID: 7, Name: "Shop", TimeZone: "Europe/Berlin"}
		}
		units = append(units, v)
	}
	for range statusDevices {
		units = append(units, units[0])
	}
	s := NewStatus("Alpha", "UTC", units, map[int64][]*rimewatch.Alert{3: {{Severity: rimewatch.Critical, TriggeredAt: now}}}, phrase.In(rimewatch.Locale{}), now)
	if len(s.Sites) != 2 || s.Sites[0].Name != "Shop" || s.Sites[0].TimeZone != "Europe/Berlin" || s.Sites[1].Name != "" || s.Sites[1].TimeZone != "UTC" {
		t.Fatalf("%+v", s.Sites)
	}
	shop := s.Sites[0]
	if shop.Counts != (StatusCounts{Critical: 1, OK: statusDevices + 1}) || len(shop.Devices) != statusDevices || shop.Devices[0].Name != "c" || shop.Devices[1].Name != "b" {
		t.Errorf("%+v, %d devices", shop.Counts, len(shop.Devices))
	}
}
