package unit

import (
	"math"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// quietUnit is one that is learnt and departs by nothing.
func quietUnit() *baseline {
	var s baseline
	s.model.hours = LearnHours
	for ch := range NumChannels {
		s.drifts[ch].n, s.drifts[ch].spread, s.drifts[ch].filled = 20, 0.01, 2
	}
	return &s
}

// windows concludes so many six hours in which a channel departed by as much.
func (b *baseline) windows(ch Channel, by float32, n int, modulated bool) {
	for range n {
		d := &b.drifts[ch]
		d.last[1], d.last[0] = d.last[0], by
		d.slow += slowRate * (by - d.slow)
		b.reviewSensors(0, 0, true, modulated, true, false)
	}
}

// TestPipeThatJumpedIsSetAsideSooner: a pipe that was seen to jump alone from one reading
// to the next needs two windows, not five.
func TestPipeThatJumpedIsSetAsideSooner(t *testing.T) {
	for kept, want := range map[uint8]bool{0: false, keptFor: true} {
		s := quietUnit()
		s.doubts.kept = kept
		s.windows(Discharge, -6, 2, false)
		if got := s.Aside().Has(Discharge); got != want {
			t.Errorf("jumped %v: set aside %v", kept > 0, got)
		}
	}
}

// TestOtherUnitOfVibration: inches for millimetres are seen whatever the load does, and
// speak of no start either; a bearing does not come as far within a day.
func TestOtherUnitOfVibration(t *testing.T) {
	s := quietUnit()
	s.drifts[Amps].last[0], s.drifts[Discharge].last[0] = 20, 5 // the load varies
	s.windows(Vibration, float32(100*math.Log(25.4)), 2, true)
	if !s.Aside().Has(Vibration) || s.Scored(Burst) || !s.Scored(Amps) {
		t.Errorf("aside %b, scored: starts %v, current %v", s.Aside(), s.Scored(Burst), s.Scored(Amps))
	}
	s = quietUnit()
	s.drifts[Amps].last[0], s.drifts[Discharge].last[0] = 20, 5
	for by := range 6 {
		s.windows(Vibration, float32(60*by), 1, true)
	}
	if s.Aside() != 0 {
		t.Errorf("what wears is set aside: %b", s.Aside())
	}
}

// TestCurrentOfAUnitThatRunsLonger: a current that departs alone is that of another meter,
// unless the unit runs for longer, which no meter lets it do.
func TestCurrentOfAUnitThatRunsLonger(t *testing.T) {
	for longer, want := range map[float32]bool{0: true, 3: true, 10: false} {
		s := quietUnit()
		s.drifts[Duty].slow = longer
		s.windows(Amps, -9, loneWindows, false)
		if got := s.Aside().Has(Amps); got != want {
			t.Errorf("runs longer by %v points: set aside %v", longer, got)
		}
	}
}

// TestHotterBesideALoadThatHidesIt: a discharge line that becomes hotter bit by bit is not
// set aside where the current scatters too much to show what makes it so.
func TestHotterBesideALoadThatHidesIt(t *testing.T) {
	for spread, want := range map[float32]bool{.01: true, 100: false} {
		s := quietUnit()
		s.drifts[Amps].spread = spread
		for by := range 16 {
			s.windows(Discharge, float32(by), 1, false)
		}
		if got := s.Aside().Has(Discharge); got != want {
			t.Errorf("current that scatters by %v %%: set aside %v", math.Sqrt(float64(spread)), got)
		}
	}
}

// TestStepBesideAVaryingLoad: a probe that steps by more than the load ever moved it is set
// aside beside a compressor whose speed varies, too; what comes bit by bit is not.
func TestStepBesideAVaryingLoad(t *testing.T) {
	s := quietUnit()
	s.windows(Vibration, 22, loneWindows, true)
	if !s.Aside().Has(Vibration) {
		t.Error("a vibration a quarter higher within a window is not set aside")
	}
	s = quietUnit()
	for by := range 16 {
		s.windows(Vibration, float32(3*by), 1, true)
	}
	if s.Aside() != 0 {
		t.Errorf("what wears is set aside: %b", s.Aside())
	}
}

// TestStuckBesideACompressorThatNeverStops: where no start tells, a zone that shows one
// number for a day, and ten times as long as ever before, is stuck.
func TestStuckBesideACompressorThatNeverStops(t *testing.T) {
	var s State
	s.gap, s.running.known, s.running.on, s.zoneAt = 60, true, true, 1
	play := func(from, to rimewatch.Time, zone func(at rimewatch.Time) float64) {
		for at := from; at < to; at += minute {
			r := rimewatch.Reading{At: at}
			r.Set(rimewatch.ProductZoneTemp, zone(at))
			o := Observation{Reading: &r, At: at, Gap: minute}
			s.followStuck(&Config{}, &o)
			s.last[rimewatch.ProductZoneTemp] = state.FixedOf(zone(at))
		}
	}
	const day = rimewatch.Day
	play(minute, day, func(at rimewatch.Time) float64 { return -18 + 0.5*float64(at/(40*minute)%2) })
	play(day, 2*day-hour, func(rimewatch.Time) float64 { return -17.4 })
	if s.stuck.stuck {
		t.Error("stuck after 23 hours already")
	}
	play(2*day-hour, 2*day+hour, func(rimewatch.Time) float64 { return -17.4 })
	if !s.stuck.stuck {
		t.Error("not stuck after 25 hours")
	}
}

// TestSeldomReadings: an hour of a device that measures every five minutes rests on what
// it has; one that measures each minute needs two readings.
func TestSeldomReadings(t *testing.T) {
	for gap, want := range map[float32]bool{60: false, 300: true} {
		h, ref := hourly{}, float32(0)
		h.discharge.add(70)
		if _, _, have := h.sample(Conditions{}, &ref, leastReadings(&State{timing: timing{gap: gap}})); have.Has(Discharge) != want {
			t.Errorf("a reading in an hour, every %v s: counts %v", gap, !want)
		}
	}
}

// TestJumps: a zone that jumps is followed although it looks as in a defrost that has
// begun, or while the pipes cool down as they do; a smaller jump in a defrost is its own.
func TestJumps(t *testing.T) {
	for _, tc := range []struct {
		why            string
		phase          Phase
		gap            rimewatch.Time
		zone, pipe     state.Fixed
		steady, counts bool
	}{
		{"8 K within a minute", Defrosting, minute, 8_0000, 0, false, true},
		{"3.5 K within a minute of a defrost", Defrosting, minute, 3_5000, 0, false, false},
		{"8 K within five minutes of a defrost", Defrosting, 5 * minute, 8_0000, 0, false, false},
		{"3.5 K while the pipes cool down as ever", Off, 5 * minute, 3_5000, -1_4000, true, true},
		{"3.5 K while the pipes move as they never do", Off, 5 * minute, 3_5000, -4_0000, true, false},
	} {
		var s State
		s.running.known, s.phases.phase = true, tc.phase
		p := &s.doubts.probes
		p.ordinary = [...]uint8{2, 6, 4}
		d := [numProbes]state.Fixed{tc.zone, tc.pipe}
		p.jumps(&s, &Observation{Gap: tc.gap}, rimewatch.ProductZoneTemp, &d, tc.steady)
		if got := p.zone.n > 0; got != tc.counts {
			t.Errorf("%s: followed %v", tc.why, got)
		}
	}
}

// TestJumpBesideADoor: a door that stood open when a zone jumped may have done it, and so
// may one that only seems open; one that is opened later has not.
func TestJumpBesideADoor(t *testing.T) {
	for _, tc := range []struct {
		readings uint8 // since the jump
		told     bool
		kept     bool
	}{{1, true, false}, {4, true, true}, {4, false, false}} {
		var s State
		p := &s.doubts.probes
		p.zone = jump{was: 2_0000, by: 5_0000, n: tc.readings}
		s.door = door{since: state.StampOf(testAt), told: tc.told}
		o := Observation{At: testAt, plain: 1 << rimewatch.ProductZoneTemp}
		o.fixed[rimewatch.ProductZoneTemp] = 7_0000
		p.follow(&s, &o, false)
		if got := p.zone.n > 0; got != tc.kept {
			t.Errorf("a door open %d readings after the jump, told %v: followed %v", tc.readings, tc.told, got)
		}
	}
}

const testAt = 1_700_000_000_000 * rimewatch.Millisecond

// TestAmbientThatJumps: three times what it ever does between two readings, and 2.2 K at
// least, is worth looking at what the unit does then.
func TestAmbientThatJumps(t *testing.T) {
	for step, want := range map[state.Fixed]bool{2_9000: true, 2_3000: false, -2_5000: true} {
		b := doubts{airStep: 8}
		b.followAir(30_0000+step, 30_0000, minute)
		if got := b.airN > 0; got != want {
			t.Errorf("%.1f K: %v", step.Float(), got)
		}
	}
}
