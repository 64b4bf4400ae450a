package unit

import (
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestReportedDoor: what a contact says in a message of its own holds until it says
// otherwise; a flag that comes with the measurements, while it is sent.
func TestReportedDoor(t *testing.T) {
	zone := func(r *rimewatch.Reading) { r.Set(rimewatch.ProductZoneTemp, 3) }
	says := func(open bool) func(*rimewatch.Reading) {
		return func(r *rimewatch.Reading) { r.Flags = r.Flags.WithBool(rimewatch.DoorOpen, open) }
	}
	for _, c := range []struct {
		name    string
		minutes map[int][]func(*rimewatch.Reading) // what comes beside a temperature every five minutes
		at      int
		want    float64
	}{
		{"alone, and nothing more", map[int][]func(*rimewatch.Reading){2: {says(true)}}, 92, 90},
		{"alone, and closed", map[int][]func(*rimewatch.Reading){2: {says(true)}, 32: {says(false)}}, 92, 0},
		{"with measurements, and no more", map[int][]func(*rimewatch.Reading){5: {zone, says(true)}}, 60, 0},
		{"with each", map[int][]func(*rimewatch.Reading){5: {zone, says(true)}, 10: {zone, says(true)}, 15: {zone, says(true)}, 20: {zone, says(true)}}, 20, 15},
	} {
		var s State
		var o Observation
		for m := range c.at + 1 {
			list, special := c.minutes[m]
			if !special && m%5 == 0 {
				list, special = []func(*rimewatch.Reading){zone}, true
			}
			if !special && m != c.at {
				continue
			}
			r := rimewatch.Reading{At: rimewatch.Time(1_790_000_000_000) + rimewatch.Time(m)*rimewatch.Minute}
			for _, f := range list {
				f(&r)
			}
			if !special {
				zone(&r)
			}
			s.Observe(&Config{}, &r, r.At, 0, &o)
		}
		if got := s.DoorMinutes(); got != c.want || s.DoorReported() != (c.want > 0) {
			t.Errorf("%s: open for %v min, want %v; reported %t", c.name, got, c.want, s.DoorReported())
		}
	}
}
