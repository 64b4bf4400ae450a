package unit

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// nominalVoltages are those of the supplies of the world.
var nominalVoltages = [...]float64{100, 110, 115, 120, 200, 208, 220, 230, 240, 277, 380, 400, 415, 440, 460, 480}

const (
	voltageSamples = 60     // readings from which the nominal voltage is learnt
	noSupply       = 30     // V: below it nothing is supplied
	voltageRate    = 0.0005 // a reading, with which the usual voltage settles afterwards
)

// supply is what the mains usually give.
type supply struct {
	mean float32 // V, the usual one here
	n    uint8   // readings behind it; beyond voltageSamples, by so much, the number of what it is meant to be among nominalVoltages
}

func (u *supply) learn(v float64, learning bool) {
	if v < noSupply || (u.n > 0 && v < 0.5*float64(u.mean)) {
		return
	}
	if u.n >= voltageSamples {
		if learning {
			u.mean += voltageRate * (float32(v) - u.mean)
		}
		return
	}
	u.n++
	u.mean += (float32(v) - u.mean) / float32(u.n)
	if u.n < voltageSamples {
		return
	}
	best := 0
	for i, c := range nominalVoltages {
		if math.Abs(c-float64(u.mean)) < math.Abs(nominalVoltages[best]-float64(u.mean)) {
			best = i
		}
	}
	u.n += uint8(best + 1)
}

// NominalVoltage is that of the configuration or the one learnt, V; 0 = unknown.
func (s *State) NominalVoltage(c *Config) float64 {
	if c.NominalVoltage > 0 {
		return c.NominalVoltage
	}
	if n := s.supply.n; n > voltageSamples {
		return nominalVoltages[n-voltageSamples-1]
	}
	return 0
}

// off returns how far a voltage is from the usual one here, %; ok is false before
// the first.
func (u *supply) off(v float64) (percent float64, ok bool) {
	if u.mean == 0 {
		return 0, false
	}
	return max(-20, min(20, 100*(v/float64(u.mean)-1))), true
}

// Sags reports whether the supply of a reading is so far below the usual that it
// explains why runs end early.
func (s *State) Sags(o *Observation) bool {
	v, ok := o.Value(rimewatch.Voltage)
	return ok && v < 0.93*float64(s.supply.mean)
}

// place is what the air of a place usually is: that outdoors is damp every night,
// that of a machine room is not.
type place struct {
	mean, spread float32 // in the measure's unit; spread is the mean absolute deviation
	hours        float32 // behind it, up to placeMemory
}

const (
	placeMemory = 14 * 24 // h that the usual rests on
	placeKnown  = 48      // h before it counts
)

// learn takes v with its weight.
func (u *place) learn(v, weight float32) {
	d := v - u.mean
	u.mean += weight * d
	d = v - u.mean
	u.spread += weight * (max(d, -d) - u.spread)
}

// usual is mean and spread (the mean absolute deviation) of about two weeks; ok is
// false before two days.
func (u *place) usual() (mean, spread float64, ok bool) {
	return float64(u.mean), float64(u.spread), u.hours >= placeKnown
}

// places are what the air around a unit usually is.
type places struct {
	humid place // %RH
	air   place // °C, ambient
}

// learn takes what held since the reading before; a gap counts as an hour at most.
func (p *places) learn(o *Observation) {
	h := min(float32(o.Gap)/float32(hour), 1)
	behind, weight := float32(0), float32(0) // mostly both come with every reading: one division
	for _, x := range [...]struct {
		at *place
		of rimewatch.Field
	}{{&p.humid, rimewatch.Humidity}, {&p.air, rimewatch.AmbientTemp}} {
		u := x.at
		if !o.Valid.Has(x.of) {
			continue
		}
		v := float32(o.Reading.Values[x.of])
		if u.hours == 0 {
			u.mean = v
		}
		if u.hours = min(u.hours+h, placeMemory); u.hours <= 0 {
			continue
		}
		if u.hours != behind {
			behind, weight = u.hours, h/u.hours
		}
		u.learn(v, weight)
	}
}

// UsualHumidity is mean and spread of the humidity of about two weeks, %RH; ok is
// false before two days.
func (p *places) UsualHumidity() (mean, spread float64, ok bool) { return p.humid.usual() }

// UsualAmbient is mean and spread of the ambient temperature of about two weeks, °C;
// ok is false before two days. It is learnt whatever the unit does: the weather is
// no fault of it.
func (p *places) UsualAmbient() (mean, spread float64, ok bool) { return p.air.usual() }
