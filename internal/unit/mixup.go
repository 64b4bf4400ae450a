package unit

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// Mixup is a fault of several temperatures at once, none of whose probes is
// broken.
type Mixup uint8

// What can be mixed up.
const (
	Fahrenheit   Mixup = 1 << iota // all come in °F
	AirSwapped                     // product zone and ambient stand for each other
	PipesSwapped                   // discharge and suction line do
)

const (
	crossLeast   = state.Fixed(8_0000) // K between two temperatures that can be recognised as swapped
	crossNear    = state.Fixed(3_0000) // K within which one shows what the other did
	crossAir     = 5.0                 // K within which the zone shows the usual ambient
	hotGas       = 10.0                // K above the discharge line and the air, which no suction line of a running compressor is
	startNear    = 8.0                 // K from the usual setpoint of the type that a zone keeps
	startFar     = 12.0                // K from it that one that comes in °F is
	startHot     = 45.0                // °C: no ambient of a unit that has just been set up
	startApart   = 20.0                // K between ambient and zone by then
	startCrossed = 15.0                // K by which no zone is warmer than the air around it
	startHotGas  = 121.0               // °C: what stops a compressor
	startFrost   = 32.0                // °F: air that is colder is rarer around a compressor than gas that is too hot
)

// Mixup are the temperatures that are mixed up at present.
func (b *doubts) Mixup() (m Mixup) {
	m = b.probes.swapped
	if b.probes.fahrenheit {
		m |= Fahrenheit
	}
	return m
}

// begins judges the temperatures of a unit that is not known yet, by what its type is
// for: a zone that is where it belongs in °F and far off in °C, next to air or gas that
// is far too hot in °C; or one that is far warmer than an ambient as cold as it should be.
func (p *probes) begins(c *Config, r *rimewatch.Reading) {
	const need = rimewatch.Fields(1<<rimewatch.ProductZoneTemp | 1<<rimewatch.AmbientTemp)
	e, v, sent := c.Equipment, &r.Values, r.Present&^r.Faults
	if e == nil || e.Setpoint == nil || sent&need != need {
		return
	}
	zone, air := v[rimewatch.ProductZoneTemp], v[rimewatch.AmbientTemp]
	gas, inC, inF := 0.0, math.Abs(zone-*e.Setpoint), math.Abs((zone-32)/1.8-*e.Setpoint)
	if sent.Has(rimewatch.CompressorDischargeTemp) {
		gas = v[rimewatch.CompressorDischargeTemp]
	}
	switch hot := air >= startHot && air-zone >= startApart || air > zone && air >= startFrost && gas >= startHotGas; {
	case hot && inF <= startNear && inC >= startFar:
		p.fahrenheit = true
	case zone-air >= startCrossed && math.Abs(air-*e.Setpoint) <= startNear:
		p.swapped |= AirSwapped
	case !hot && air < startHot && inC <= startNear && air >= zone:
		p.fahrenheit, p.swapped = false, p.swapped&^AirSwapped
	}
}

// crosses sees zone and ambient change places from one reading to the next: each shows
// what the other did, or usually does.
func (p *probes) crosses(s *State, o *Observation) bool {
	zone, air := o.fixed[rimewatch.ProductZoneTemp], o.fixed[rimewatch.AmbientTemp]
	wasZone, wasAir := s.last[rimewatch.ProductZoneTemp], s.last[rimewatch.AmbientTemp]
	if p.swapped&AirSwapped != 0 { // of the ambient nothing was remembered since
		return near(air, wasZone, crossNear) && !near(zone, wasZone, crossLeast)
	}
	if near(wasZone, wasAir, crossLeast) {
		return false
	}
	if near(air, wasZone, crossNear) && near(zone, wasAir, crossNear) {
		return true
	}
	usual, spread, known := s.UsualAmbient()
	in, out := state.FixedOf(float64(s.phases.cutIn)), state.FixedOf(float64(s.phases.cutOut))
	mid := (in + out) / 2
	return known && s.phases.runs >= 20 && !near(mid, state.FixedOf(usual), crossLeast) &&
		near(air, mid, (in-out)/2+crossNear) && near(zone, state.FixedOf(usual), state.FixedOf(max(crossAir, 4*spread)))
}

func near(a, b, by state.Fixed) bool { return a-b <= by && b-a <= by }

// pipesCross reports whether suction and discharge line of a compressor that has warmed
// up stand for each other: the gas before it is far hotter than the gas behind it, and
// than the air.
func pipesCross(o *Observation) bool {
	v := &o.Reading.Values
	hot := v[rimewatch.CompressorSuctionTemp]
	return hot > v[rimewatch.CompressorDischargeTemp]+hotGas && o.Sane.Has(rimewatch.AmbientTemp) && hot > v[rimewatch.AmbientTemp]+hotGas
}
