package predict

import (
	"math"

	"github.com/rimewatch/rimewatch/internal/unit"
)

// byLoad weighs what a compressor whose load varies shows beside its load. Its current is
// that load, and no evidence but for one thing: a hot condenser makes the motor draw more.
// One that does not, by more than loads scatter, has another reason for a hot discharge
// line.
func byLoad(u *unit.State, f *findings) {
	f.byLoad = true
	_, _, amps := u.Departure(unit.Amps)
	if less := eased(f.of[unit.Discharge], f.of[unit.Suction], amps, u.Scatter(unit.Amps)); less < 0 {
		f.of[unit.Amps] = less
		f.blind &^= noAmps
	}
	if u.Scored(unit.Suction) {
		_, _, slow := u.Departure(unit.Suction)
		f.of[unit.Suction] = colder(f.of[unit.Suction], slow, u.Scatter(unit.Suction))
	}
	f.of[unit.Vibration] = shaken(f, u.LoadSlope(unit.Vibration))
}

// meterMoved reports whether discharge line and vibration came to where they are within a
// day, both the same way, and stayed: beside a load that is measured another way than it
// was, everything that follows the load looks like that. What wears does not come at once,
// and what fails at once does not shake.
func (s *State) meterMoved() bool {
	warmer, shaken := s.hist.back(unit.Discharge, 0), s.hist.back(unit.Vibration, 0)
	return warmer*shaken > 0 && math.Abs(shaken) >= movedShakes && s.hist.once(unit.Discharge) >= movedOnce && s.hist.once(unit.Vibration) >= movedOnce
}

const (
	movedShakes = 4.0  // %
	movedOnce   = 0.75 // of both, that came within a day
)

// eased is by how much less current, %, a compressor draws than one whose condenser is as
// hot as its discharge line says, or, beside a suction line that is too cold, than loads
// scatter; 0 where that may be its load.
func eased(warmer, line, amps, scatter float64) float64 {
	switch {
	case warmer >= weakShare*unit.Discharge.Floor():
		return min(0, amps+scatter-headAmps*warmer)
	case line <= -unit.Suction.Floor():
		return min(0, amps+2*scatter)
	default:
		return 0
	}
}

// lasts is what a departure and its average of a day and a half agree on.
func lasts(now, slow float64) float64 {
	if now*slow <= 0 {
		return 0
	}
	return math.Copysign(min(math.Abs(now), math.Abs(slow)), now)
}

// varies reports whether the load of a compressor varies, though it may keep still at
// present.
func varies(u *unit.State) bool { return u.Modulated() || u.ByLoad() }

// colder is by how much the suction line departs, K: what closes the coil makes it colder
// for good, however little.
func colder(now, slow, scatter float64) float64 {
	if slow <= -1.5*scatter {
		return min(now, slow)
	}
	return now
}

// shaken is by how much the unit shakes more or less than its load says, %. What eases the
// motor at the same speed, lost gas or ice, lets the vibration look stronger beside the
// current, by the more the more it follows it.
func shaken(f *findings, slope float64) float64 {
	ease := easeAmps * max(0, f.of[unit.Discharge], -2*f.of[unit.Suction])
	v := f.of[unit.Vibration]
	return math.Copysign(max(0, math.Abs(v)-ease*math.Abs(slope)), v)
}

const (
	easeAmps = 1.0 // % of current by which lost gas or ice eases the motor, at most, for each K of discharge line or half a K of suction line
	headAmps = 0.5 // % of current for each K of discharge line behind a hot condenser, at least
)
