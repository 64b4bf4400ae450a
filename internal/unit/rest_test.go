package unit

import (
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestPipesAtRestTellOfTheAmbient: an ambient that is measured wrong is wrong beside both
// pipes when they have stood; what ails a machine shows otherwise, or more while it runs.
func TestPipesAtRestTellOfTheAmbient(t *testing.T) {
	var s State
	for ch, slope := range [...]float32{1.6, 0.45, 0.8} {
		s.model.coef[ch][1+covAmbient] = slope
		s.drifts[ch].n, s.drifts[ch].spread = 20, 0.01
	}
	s.stands = stands{usual: [2]float32{25, -10}, known: 1000}
	for _, tc := range []struct {
		why                      string
		restDischarge, rest      float32
		discharge, suction, amps float64
		want                     bool
	}{
		{"measured 4 K too high", -4, -4, -5, -0.5, -2, true},
		{"measured 3 K too low, partly learnt", 3.5, 2.5, 0.8, 0, 0, true},
		{"nothing shows while it runs", 3.5, 2.5, 0, 0, 0, false},
		{"a kelvin and a half", 1.5, 1.5, 2.4, 0.7, 1, false},
		{"a season", 4, -3, 0, 0, 0, false},
		{"a fouled condenser", 4.5, 0.3, 10, 0, 8, false},
		{"a lack of refrigerant", 6, 3, 12, 5, -6, false},
		{"liquid", -8, -5, -28, -10, 0, false},
		{"an iced coil", 3, -3, 8, -6, -15, false},
	} {
		s.stands.now = [2]float32{25 + tc.restDischarge, -10 + tc.rest}
		if got := s.restError([Amps + 1]float64{Discharge: tc.discharge, Suction: tc.suction, Amps: tc.amps}) != 0; got != tc.want {
			t.Errorf("%s: %v", tc.why, got)
		}
	}
	s.stands.known = 20
	s.stands.now = [2]float32{21, -14}
	if s.restError([Amps + 1]float64{Discharge: -5, Suction: -0.5, Amps: -2}) != 0 {
		t.Error("a unit that is hardly known")
	}
}

// TestWhatIsMissingStaysUsual: a covariate that is not measured any more is what it was
// lately, not the reference.
func TestWhatIsMissingStaysUsual(t *testing.T) {
	var s State
	s.air.hours = 300
	s.model.ambient, s.model.volts, s.model.rest = -9, 2, 7
	s.model.steady.add(&[numCoef]float64{1, -8, 1.5, 2}, 100)
	r := rimewatch.Reading{}
	if x := s.Conditions(&Observation{Reading: &r}); x != (Conditions{-9, 1.5, 2}) {
		t.Errorf("%v, want what was measured lately", x)
	}
	s.air.hours = 0
	if x := s.Conditions(&Observation{Reading: &r}); x[covAmbient] != 7 {
		t.Errorf("%v, want the pipes for an ambient that was never measured", x)
	}
}

// TestZoneThatWandersIsNotTheLine: where the zone is shown too cold the suction line looks
// too warm; that is no fault of its own.
func TestZoneThatWandersIsNotTheLine(t *testing.T) {
	var s State
	s.model.hours = LearnHours
	for ch := range NumChannels {
		s.drifts[ch] = drift{n: 20, spread: 0.01, filled: 2}
	}
	line := &s.drifts[Suction]
	line.last, line.slow = [2]float32{3, 3}, 3
	if ch, how := s.loneChannel(); ch != Suction || how != isLone {
		t.Fatalf("a suction line that departs alone: %v, %v", ch, how)
	}
	zone := &s.drifts[Zone]
	zone.last, zone.slow = [2]float32{-2, -2}, -2
	if _, how := s.loneChannel(); how != notLone {
		t.Errorf("beside a zone that wanders the other way: %v", how)
	}
}
