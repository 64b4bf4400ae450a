package unit

import (
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestStills: a measurement is stuck when it has stood still for eight hours, and three
// times as long as it ever did by itself; what always stands still, and what has every
// reason to, never is.
func TestStills(t *testing.T) {
	const f = rimewatch.Fields(1 << rimewatch.Voltage)
	for _, tc := range []struct {
		name     string
		moves    func(hour int) bool
		telling  rimewatch.Fields
		from, to int // hours in which it is stuck, [from, to)
	}{
		{"it moves in every hour", func(int) bool { return true }, f, 0, 0},
		{"it stops moving", func(h int) bool { return h < 60 }, f, 67, 200},
		{"it moves again", func(h int) bool { return h < 60 || h >= 100 }, f, 67, 100},
		{"it stands still for four hours now and then", func(h int) bool { return h%5 == 0 && h < 60 }, f, 67, 200},
		{"it stands still for seven", func(h int) bool { return h%8 == 0 && h < 60 }, f, 77, 200},
		{"it stands still for ten", func(h int) bool { return h%11 == 0 && h < 60 }, f, 0, 0},
		{"it never moved", func(int) bool { return false }, f, 0, 0},
		{"nothing is supplied", func(h int) bool { return h < 60 }, 0, 0, 0},
	} {
		var d stills
		for h := range 200 {
			if tc.moves(h) {
				d.take(&Observation{Moved: f})
			}
			known := rimewatch.Fields(0)
			if h >= 48 {
				known = f
			}
			d.endHour(f, known, tc.telling)
			if got, want := d.fields() == f, h >= tc.from && h < tc.to; got != want {
				t.Errorf("%s: hour %d: stuck %v", tc.name, h, got)
				break
			}
		}
	}
	var d stills // one that stands still for nine hours by itself after all is told once
	told := 0
	for h := range 400 {
		if h < 60 || h%10 == 0 {
			d.take(&Observation{Moved: f})
		}
		was := d.stuck
		d.endHour(f, f, f)
		if was == 0 && d.stuck != 0 {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}
