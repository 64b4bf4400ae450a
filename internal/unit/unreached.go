package unit

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// unreached are temperatures of the zone that the unit cannot have reached since the reading
// before: a default of the electronics, a bad contact, a probe that dies. They are put
// aside until three show the same, or until nothing else has come for a while (Confirm); then the
// zone is what they show. One that others do not confirm is forgotten. What the zone was before such a change is kept in the same way: of two probes
// that alternate both count.
type unreached struct {
	value state.Fixed // of the newest of them
	at    state.Stamp
	n     uint8 // readings that showed it, up to leastShown; 0 = none
}

const (
	leastShown = 3           // the first and the next two
	shownFor   = 10 * minute // for which the first is remembered
	shownGaps  = 4           // intervals for which it is where fewer readings come

	// strange is for how long a device is not known: every value counts, as of one that a person tries out by hand.
	strange = hour

	noiseK    = 4.0        // K by which readings differ anyhow: draughts, a probe that is touched
	ownStep   = 6.0        // K, the most that the greatest step which the unit usually makes adds to that
	warmIn    = 8 * minute // in which the air comes 63 % closer to what warms it
	coldIn    = 6 * minute // and to what cools it
	warmest   = 30.0       // °C around a unit that is open, or of a heater that has just begun
	hotLoad   = 90.0       // °C of goods put into a blast chiller
	evaporate = 18.0       // K below the usual setpoint, at the evaporator
	eitherWay = 15.0       // K by which it may change at least in the end, whatever the type

	defaultK  = 5.0         // K by which a default of electronics differs from what the zone was
	defaultIn = 30 * minute // and within what time
)

// defaults are what electronics sends that has no probe or has just got power: −17.78 °C is
// 0 °F, 85 °C the reset value of a DS18B20.
var defaults = [...]state.Fixed{0, -1_0000, -17_7800, -17_8000, 85_0000, -100_0000}

// reaches reports whether a zone may have come from one temperature to another within a
// time, steps being the greatest that it usually makes from reading to reading, K.
func reaches(e *rimewatch.Equipment, from, to state.Fixed, in rimewatch.Time, steps float32) bool {
	was, now := from.Float(), to.Float()
	slack := noiseK + min(float64(steps), ownStep)
	if math.Abs(now-was) <= slack {
		return true
	}
	if in <= defaultIn && math.Abs(now-was) > max(defaultK, slack) {
		for _, v := range defaults {
			if to == v {
				return false
			}
		}
	}
	end, tau := max(warmest, was+eitherWay), warmIn
	switch {
	case now > was && e != nil && e.ChillsBatches():
		end = hotLoad
	case now < was:
		end, tau = was-eitherWay, coldIn
		if e != nil && e.Setpoint != nil {
			end = min(end, *e.Setpoint-evaporate)
		}
	}
	most := math.Abs(end - was)
	return math.Abs(now-was) <= min(most, most*(1-math.Exp(-float64(in)/float64(tau)))+slack)
}

// take takes a temperature of the zone, which counted as was at wasAt the last time, and
// reports whether it is put aside. interval is the usual time between readings.
func (d *unreached) take(e *rimewatch.Equipment, v, was state.Fixed, at, wasAt, interval rimewatch.Time, steps float32) (aside bool) {
	if d.n > 0 && at-d.at.Time() > max(shownFor, shownGaps*interval) {
		*d = unreached{}
	}
	switch {
	case reaches(e, was, v, at-wasAt, steps):
		return false
	case d.n > 0 && reaches(e, d.value, v, at-d.at.Time(), steps):
		d.n = min(d.n+1, leastShown)
	default:
		d.n = 1
	}
	if d.n < leastShown {
		d.value, d.at = v, state.StampOf(at)
		return true
	}
	d.value, d.at = was, state.StampOf(wasAt) // where it may come back to
	return false
}

// Unreached reports whether the newest temperature of the zone was put aside and waits for others
// that confirm it.
func Unreached(s *State) bool { return s.unreached.waits(s.zoneAt) }

func (d *unreached) waits(zoneAt rimewatch.Time) bool {
	return d.n > 0 && d.n < leastShown && d.at.Time() > zoneAt
}

// Confirm has the temperature that waits count as of the moment at which it was measured, because
// nothing else came for long enough; ok is false where none waits.
func Confirm(s *State) (v float64, at rimewatch.Time, ok bool) {
	d, last := &s.unreached, &s.last[rimewatch.ProductZoneTemp]
	if !d.waits(s.zoneAt) {
		return 0, 0, false
	}
	was, wasAt := *last, s.zoneAt
	*last, s.zoneAt = d.value, d.at.Time()
	d.value, d.at, d.n = was, state.StampOf(wasAt), leastShown // where it may come back to
	return last.Float(), s.zoneAt, true
}

// explained has a temperature count that was put aside: it is known how the zone came to show it.
func (d *unreached) explained(o *Observation) {
	if o.unreached {
		o.unreached = false
		o.plain |= 1 << rimewatch.ProductZoneTemp
		o.Valid |= 1 << rimewatch.ProductZoneTemp
		*d = unreached{}
	}
}
