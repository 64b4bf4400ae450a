package alert

import (
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestReportedDoorIsNoSuspicion: an open door that the device reports is told as what it
// is, also where nothing but a contact is there.
func TestReportedDoorIsNoSuspicion(t *testing.T) {
	for name, zone := range map[string]bool{"with a temperature": true, "a contact alone": false} {
		var m machine
		c := &Config{Rules: RuleDoor}
		var out []Transition
		for minute := range 40 {
			r := rimewatch.Reading{At: epoch + rimewatch.Time(minute)*rimewatch.Minute}
			r.Flags = r.Flags.WithBool(rimewatch.DoorOpen, minute >= 5 && minute < 35)
			if zone {
				r.Set(rimewatch.ProductZoneTemp, 3)
			}
			out = m.Observe(c, Presence{OfflineAfter: 1e12}, &r, r.At, out)
		}
		if len(out) != 1 || out[0].Type != rimewatch.DoorOpenSuspected || out[0].Metric != rimewatch.DoorReportedTime || out[0].Value != 16 {
			t.Errorf("%s: %+v", name, out)
			continue
		}
		a := rimewatch.Alert{Type: out[0].Type, Severity: out[0].Severity, Metric: out[0].Metric}
		if a.Condition() != rimewatch.ConditionWarning {
			t.Errorf("%s: condition %v", name, a.Condition())
		}
	}
}
