package unit

import (
	"testing"

	"github.com/rimewatch/rimewatch/internal/state"
)

// TestHotterByNoFault: a discharge line that becomes hotter bit by bit is its probe's before
// it is as hot as wear makes it, where current and suction line keep stiller than any fault
// that heats the gas lets them; by as little as one of those moves them it may be the fault.
func TestHotterByNoFault(t *testing.T) {
	for _, tc := range []struct {
		why           string
		amps, suction float32 // a K of discharge line
		scatter       float32 // % of the current
		want          bool
	}{
		{"nothing else moves", 0, 0, 0.1, true},
		{"valves that leak", -0.4, 0, 0.1, false},
		{"a condenser that fouls", 0.8, 0, 0.1, false},
		{"refrigerant that is lost", -0.3, 0.25, 0.1, false},
		{"a suction line that becomes cooler, which refrigerant that is lost does not", 0, -0.1, 0.1, true},
		{"a current of which the mean of a day and a half keeps still", 0, 0, 0.8, true},
		{"a current too restless to tell", 0, 0, 2.4, false},
	} {
		s := quietUnit()
		s.drifts[Amps].spread = tc.scatter * tc.scatter
		for k := range 20 { // a quarter of a kelvin a window, up to 4.75 K: less than wear shows by
			hotter := float32(k) / 4
			for ch, by := range map[Channel]float32{Amps: tc.amps * hotter, Suction: tc.suction * hotter} {
				d := &s.drifts[ch]
				d.last[1], d.last[0] = d.last[0], by
				d.slow += slowRate * (by - d.slow)
			}
			s.windows(Discharge, hotter, 1, false)
		}
		if got := s.Aside().Has(Discharge); got != tc.want {
			t.Errorf("%s: set aside %v", tc.why, got)
		}
	}
}

// TestAmbientThatJumpedStaysOpen: what the discharge line shows of an ambient that jumped is
// waited for, for longer than its first windows; and not for ever.
func TestAmbientThatJumpedStaysOpen(t *testing.T) {
	jumped := func() *baseline {
		s := quietUnit()
		s.model.coef[Discharge][1+covAmbient] = 1.6
		s.doubts.airN, s.doubts.airJump, s.doubts.airWas = jumpLasts, state.FixedOf(-6), state.FixedOf(20)
		return s
	}
	s := jumped()
	s.windows(Discharge, 2, jumpWindows+1, false)
	if s.airOff || !s.Doubtful() {
		t.Fatalf("set aside %v, doubtful %v while the pipe hardly shows it", s.airOff, s.Doubtful())
	}
	s.windows(Discharge, 7, 1, false)
	if !s.airOff {
		t.Error("not set aside although the pipe did not follow")
	}
	s = jumped()
	s.windows(Discharge, 0, jumpOpen, false)
	if s.airOff || s.Doubtful() {
		t.Errorf("set aside %v, doubtful %v although the pipe followed", s.airOff, s.Doubtful())
	}
}
