package unit

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// Where a covariate is not measured, something has to stand in for it: what it would
// explain is otherwise taken for a fault of the machine.

// noteRest takes how warm the pipes are at the end of a stop for how warm it is around
// the condenser, where nothing measures that. The discharge line cools down towards the
// air and the suction line warms up towards it, so that the mean of both says little of
// how long the compressor stood, and follows the air by about a kelvin a kelvin. Its
// level is another one, which the baseline learns.
func noteRest(s *State, o *Observation) {
	const pipes = 1<<rimewatch.CompressorDischargeTemp | 1<<rimewatch.CompressorSuctionTemp
	if o.Valid&pipes != pipes {
		return
	}
	if s.AirMeasured() {
		if o.Valid.Has(rimewatch.AmbientTemp) {
			s.stands.noteStop(&s.last)
		}
		return
	}
	mean := (s.last[rimewatch.CompressorDischargeTemp]+s.last[rimewatch.CompressorSuctionTemp]).Float()/2 - RefAmbient
	s.hour.ambient.add(mean)
	if s.model.rest == 0 {
		s.model.rest = float32(mean)
	}
	s.model.rest += restRate * (float32(mean) - s.model.rest)
}

const restRate = 0.5 // a stop

// AirMeasured reports whether the ambient temperature was ever measured.
func (p *places) AirMeasured() bool { return p.air.hours > 0 }

// standIn are the covariates of a moment at which none is measured: the pipes for an
// ambient (air) that never was, otherwise what was usual lately.
func (m *model) standIn(air bool) (x Conditions) {
	x[covAmbient], x[covVolts] = float64(m.ambient), float64(m.volts)
	if !air {
		x[covAmbient] = float64(m.rest)
	}
	x[covZone] = m.steady.at(1+covZone, 0)
	return x
}

// RestAir is what the pipes at the end of a stop say of the air around the condenser, °C,
// for a unit whose ambient temperature is not measured.
func (b *baseline) RestAir() float64 { return float64(b.model.rest) + RefAmbient }

// unseenZone is how far a zone that is not measured may be from the usual, K: its
// thermostat was set anew, or warm goods came in.
const unseenZone = 3.0

// unseen returns how far a zone that is not measured may be from the usual, K: by
// as much as suction line and current both depart alike. What that explains of them is
// no evidence of anything else. What lacks refrigerant, leaks through its valves or has a
// hot condenser does not warm or cool the suction line as it loads the motor; what is
// iced up does, by more than a thermostat is turned.
func (m *model) unseen(y *[NumChannels]float64, have Channels) (zone float64) {
	if !have.Has(Suction) || !have.Has(Amps) {
		return 0
	}
	bySuction := y[Suction] / max(zoneLeast, float64(m.coef[Suction][1+covZone]))
	byAmps := y[Amps] / max(zoneLeast, float64(m.coef[Amps][1+covZone]))
	if bySuction*byAmps <= 0 {
		return 0
	}
	less, more := min(math.Abs(bySuction), math.Abs(byAmps)), max(math.Abs(bySuction), math.Abs(byAmps))
	if more > zoneAlike*less {
		return 0 // one of them has another cause
	}
	return math.Copysign(min(less, unseenZone), bySuction)
}

// withoutZone takes off what a channel departs by what an unseen zone explains. By how
// much the discharge line follows differs from unit to unit, even in sign.
func (m *model) withoutZone(c Channel, y, zone float64) float64 {
	switch c {
	case Suction, Amps:
		return y - zone*float64(m.coef[c][1+covZone])
	case Discharge:
		return shrink(y, zoneDoubt[c]*math.Abs(zone))
	default:
		return y
	}
}

const (
	zoneLeast = 0.2 // K or % a kelvin of zone, of a slope that is divided by
	zoneAlike = 6   // times that one of them says more than the other: slopes that no unit has shown
)
