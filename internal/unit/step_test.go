package unit

import (
	"testing"

	"github.com/rimewatch/rimewatch/internal/state"
)

// far is a unit that has departed by something for long: its load, or ice.
func far() *baseline {
	s := quietUnit()
	s.windows(Amps, -9, 1, false)
	d := &s.drifts[Amps]
	d.last[1], d.slow = d.last[0], d.last[0]
	return s
}

// TestPipeThatStepsBesideWhatDeparts: a pipe that departs at once and stays there is set
// aside although something else has departed for long; not so when the other moves with it,
// when the machine is suspected already, or when the pipe departs bit by bit.
func TestPipeThatStepsBesideWhatDeparts(t *testing.T) {
	for _, tc := range []struct {
		why       string
		by        []float32
		amps      float32
		suspected bool
		want      bool
	}{
		{"at once", []float32{2, 5, 5, 5, 5, 5, 5}, 0, false, true},
		{"at once, and the current with it", []float32{2, 5, 5, 5, 5, 5, 5}, -6, false, false},
		{"at once, in a machine that is suspected", []float32{2, 5, 5, 5, 5, 5, 5}, 0, true, false},
		{"bit by bit", []float32{.4, .8, 1.2, 1.6, 2, 2.4, 2.8, 3.2, 3.6, 4, 4.4}, 0, false, false},
		{"too little", []float32{1, 2, 2, 2, 2, 2, 2}, 0, false, false},
	} {
		s := far()
		for i, by := range tc.by {
			for ch, v := range map[Channel]float32{Suction: by, Amps: -9 + tc.amps*min(1, float32(i)/2)} {
				d := &s.drifts[ch]
				d.last[1], d.last[0] = d.last[0], v
				d.slow += slowRate * (v - d.slow)
			}
			s.reviewSensors(0, 0, true, false, true, tc.suspected)
		}
		if got := s.Aside().Has(Suction); got != tc.want {
			t.Errorf("%s: set aside %v", tc.why, got)
		}
	}
}

// TestLoneThatGoesOn: a window in which a channel that departs alone does so by a little
// less than it takes to begin does not end it, and a pipe that was seen to jump alone
// needs less to begin.
func TestLoneThatGoesOn(t *testing.T) {
	for _, tc := range []struct {
		by   []float32
		kept uint8
		want bool
	}{
		{[]float32{-4.2, -4.2, -3.6, -4.2, -4.2}, 0, true},
		{[]float32{-3.6, -3.6}, 0, false},
		{[]float32{3.2, 3.2}, keptFor, true},
		{[]float32{3.2, 3.2}, 0, false},
	} {
		s := quietUnit()
		s.doubts.kept = tc.kept
		for _, by := range tc.by {
			s.windows(Discharge, by, 1, false)
		}
		if got := s.Aside().Has(Discharge); got != tc.want {
			t.Errorf("%v, jumped %v: set aside %v", tc.by, tc.kept > 0, got)
		}
	}
}

// TestJumpAnywhereInTheRange: a zone that jumps by 3.5 K where the thermostat switches 2 K
// apart has not come back while it is as cold as the thermostat makes it there; it has when
// it is where it was. Half as much again as it ever did is a jump.
func TestJumpAnywhereInTheRange(t *testing.T) {
	for _, tc := range []struct {
		ordinary uint8
		coldest  state.Fixed
		kept     bool
	}{{4, 5_5000, true}, {4, 4_5000, false}, {5, 5_5000, false}} {
		var s State
		s.running.known, s.phases.phase = true, Off
		p := &s.doubts.probes
		p.ordinary = [...]uint8{tc.ordinary, 6, 4}
		s.last[0] = 4_0000 // as warm as the thermostat lets it become
		d := [numProbes]state.Fixed{3_5000}
		p.jumps(&s, &Observation{Gap: minute}, 0, &d, false)
		o := Observation{At: testAt, plain: 1}
		o.fixed[0] = tc.coldest
		p.follow(&s, &o, false)
		if got := p.zone.n > 0; got != tc.kept {
			t.Errorf("ordinary %d, then %.1f °C: followed %v", tc.ordinary, tc.coldest.Float(), got)
		}
	}
}

// TestPipeThatJumpsAgainAndAgain: a probe slips once; a pipe that jumps a second time within
// a day does so by itself, and is not doubted from then on.
func TestPipeThatJumpsAgainAndAgain(t *testing.T) {
	var s State
	p := &s.doubts.probes
	play := func() {
		p.pipe = jump{was: 60_0000, by: 4_0000, n: 1, field: 1}
		for range 2 * pipeReads {
			o := Observation{At: testAt, plain: 1 << 1}
			o.fixed[1] = 64_0000
			if p.pipe.n > 0 {
				p.follow(&s, &o, true)
			}
		}
	}
	if play(); p.kept != keptFor {
		t.Fatal("the first is not doubted")
	}
	p.kept = 2
	if play(); p.kept != 2 || p.ordinary[1] != inOrdinary(4_0000) {
		t.Errorf("after the second: doubted for %d, ordinary %d", p.kept, p.ordinary[1])
	}
}

// TestPipesOfAYoungRun: in the first ten minutes of a run its pipes still warm up, so that
// what they do then says nothing of a probe that slips.
func TestPipesOfAYoungRun(t *testing.T) {
	for ran, want := range map[int]bool{6: false, 12: true} {
		var s State
		s.running.known, s.phases.phase, s.running.since = true, Running, state.StampOf(testAt-minutes(ran))
		if got := steadies(&s, &Observation{At: testAt, Gap: minute}); got != want {
			t.Errorf("after %d min: steady %v", ran, got)
		}
	}
}
