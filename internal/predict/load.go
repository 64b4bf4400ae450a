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
	_, _, amps := u.Departure(unit.Amps)
	if less := eased(f.of[unit.Discharge], amps, u.Scatter(unit.Amps)); less < 0 {
		f.of[unit.Amps] = less
		f.blind &^= noAmps
	}
	if u.Scored(unit.Suction) {
		_, _, slow := u.Departure(unit.Suction)
		f.of[unit.Suction] = colder(f.of[unit.Suction], slow, u.Scatter(unit.Suction))
	}
	f.of[unit.Vibration] = shaken(f, u.LoadSlope(unit.Vibration))
}

// eased is by how much less current, %, a compressor draws than one whose condenser is as
// hot as its discharge line says; 0 where that may be its load.
func eased(warmer, amps, scatter float64) float64 {
	if warmer < weakShare*unit.Discharge.Floor() {
		return 0
	}
	return min(0, amps+scatter-headAmps*warmer)
}

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
