package predict

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// keepName lets an open alert keep its fault: another takes its place when it fits
// clearly better by what lasts, and what the old one was named by is gone. By single
// windows one fault looks like another at noon and like itself at night.
func (s *State) keepName(u *unit.State, at rimewatch.Time, d *diagnosis, f *findings) {
	a := &s.alarm
	if d.first == a.fault {
		a.other = 0
		return
	}
	slow := s.lasting(u)
	own := fit(a.fault, &slow)
	a.other = count(a.other, fit(d.first, &slow)-own >= needMargin && own < needFit && !alike(a.fault, d.first, &slow) && !s.iceOf(d.first, at, &slow))
	if a.other >= needPending {
		a.other = 0
		return
	}
	*d = diagnosis{first: a.fault, second: d.first, score: max(own, fit(a.fault, f)), next: d.score}
}

// alike reports whether nothing that is measured tells two faults apart that are not of
// one family: valves that leak without a rattle, and a lack of refrigerant that has gone
// so far that the suction line is no warmer any more.
func alike(a, b uint8, f *findings) bool {
	charge := func(i uint8) bool { return faults[i].family == familyCharge }
	return f.of[unit.Vibration] < rattle && (charge(a) && b == fiValves || a == fiValves && charge(b))
}

// iceOf reports whether ice is what the fault that is reported has come to: a lack of
// refrigerant and valves that leak let a unit run on until its coil ices up. What was reported
// for longer than ice takes to end a unit's work was no ice, and is there for as long as
// the discharge line is too hot.
func (s *State) iceOf(fault uint8, at rimewatch.Time, f *findings) bool {
	a := &s.alarm
	heats := faults[a.fault].family == familyCharge || a.fault == fiValves
	return heats && faults[fault].family == familyFrost && f.of[unit.Discharge] >= unit.Discharge.Floor() &&
		float64(at-a.opened.Time()) >= faults[fault].within*float64(rimewatch.Hour)
}

// unaided returns what a current, in %, is evidence of where no suction line shows more of
// the evaporator: nothing finer than half a step of its meter, and of a compressor whose
// load varies no lower one along with a discharge line as usual, which is a lower load.
func unaided(u *unit.State, amps float64) float64 {
	if usual := u.UsualAmps(); usual > 0 {
		amps = math.Copysign(max(0, math.Abs(amps)-50*u.Grain()/usual), amps)
	}
	if warmer, _, _ := u.Departure(unit.Discharge); u.Modulated() && math.Abs(warmer) < unit.Discharge.Floor() {
		return max(0, amps)
	}
	return amps
}

// unborne returns by how much a discharge line that has become warmer stands alone, 0–1: for
// each kelvin leaking valves take some 0.4 % off the current, or rattle. A probe does neither.
func unborne(u *unit.State, blind unit.Channels) float64 {
	_, _, warmer := u.Departure(unit.Discharge)
	_, _, amps := u.Departure(unit.Amps)
	_, _, vib := u.Departure(unit.Vibration)
	if warmer <= 0 || blind.Has(unit.Amps) {
		return 0
	}
	return ramp(warmer, 1, 2) * (1 - ramp(-amps/warmer, .1, .25)) * (1 - ramp(vib, 1.5, 3.5))
}
