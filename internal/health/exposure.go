package health

import "github.com/rimewatch/rimewatch"

// Exposure is how long the product zone was out of limits in the last 24 h, in ms of covered
// time, however short each time was. Maintenance is left out, as in compliance.
type Exposure struct {
	Warm int64 // above the upper limit
	Cold int64 // below the lower one
}

// Exposure adds up the 24 h that end at now. Of the half hour in which they begin it takes
// the share that lies in them. It does not change s.
func (s *State) Exposure(c *Config, now rimewatch.Time) (e Exposure) {
	if !c.judges() || s.at == 0 {
		return e
	}
	at := *s // time passes on a copy
	now = max(now, at.at)
	at.pass(c, now)
	at.slide(slotOf(now))
	for n := at.slot - min(at.slot, numSlots); n < at.slot; n++ {
		if n < at.sided {
			continue
		}
		out, cold := int64(at.past[n%numSlots].out()), int64(at.cold[n%numSlots])*coldUnits
		within := min(rimewatch.Time(n+1)*span-(now-rimewatch.Day), span)
		e.Warm += (out - cold) * int64(unit) * int64(within) / int64(span)
		e.Cold += cold * int64(unit) * int64(within) / int64(span)
	}
	if at.slot >= at.sided {
		e.Warm += int64(at.now.out) - int64(at.now.cold)
		e.Cold += int64(at.now.cold)
	}
	e.Warm = max(e.Warm, 0) // the rest of a unit of cold time may be less than that of time out of limits
	return e
}
