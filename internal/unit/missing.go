package unit

import "github.com/rimewatch/rimewatch"

// coming is which measurements a device sends as a habit, hour by hour: one that is sent
// now and then is never missed.
type coming struct {
	hours [rimewatch.NumCore]uint8 // in which each came, up to habitHours; beyond them, for how many it has not
	now   uint8                    // set of those that came in this hour
	gone  uint8                    // of those that are missed
}

const (
	habitHours  = 2 * 24 // in which a measurement came before it is missed
	missedHours = 2      // in a row that it must be missing at least
	missedGaps  = 5      // and so many of the device's intervals
	goneHours   = 7 * 24 // after which it was taken out on purpose
	rareHours   = 4      // that an hour without it takes back before it is a habit
)

// take notes what a reading brings: a broken sensor does send.
func (m *coming) take(r *rimewatch.Reading) {
	sent := uint8((r.Present | r.Faults) & rimewatch.CoreFields)
	m.now |= sent
	m.gone &^= sent
}

// endHour concludes an hour in which readings came at that interval. The product zone is
// missed sooner, and for as long as it stays away.
func (m *coming) endHour(interval rimewatch.Time) {
	need := uint8(max(missedHours, min(goneHours, missedGaps*interval/hour)))
	for f := range m.hours {
		switch n := &m.hours[f]; {
		case m.now&(1<<f) != 0:
			*n = min(*n+1, habitHours)
		case *n < habitHours:
			*n -= min(*n, rareHours)
		case *n < habitHours+goneHours:
			if *n++; *n-habitHours >= need && f != int(rimewatch.ProductZoneTemp) {
				m.gone |= 1 << f
			}
		default:
			*n = 0
			m.gone &^= 1 << f
		}
	}
	m.now = 0
}

// Missing are the measurements that the device used to send and does not any more,
// although others go on. One that stays away for a week was taken out on purpose.
func (m *coming) Missing() rimewatch.Fields { return rimewatch.Fields(m.gone) }

// habits are the measurements that have come in every hour for long.
func (m *coming) habits() (set rimewatch.Fields) {
	for f, n := range m.hours {
		if n == habitHours {
			set |= 1 << f
		}
	}
	return set
}

// comes reports whether a measurement still comes.
func (m *coming) comes(f rimewatch.Field) bool {
	return m.now&(1<<f) != 0 || m.hours[f] > 0 && m.hours[f] <= habitHours
}

// Seldom reports whether the device is known to measure so seldom that a defrost may be
// over before the next reading.
func Seldom(s *State) bool {
	return s.Interval() >= seldom && s.coming.hours[rimewatch.ProductZoneTemp] >= seldomHours
}

const (
	seldom      = 30 * minute
	seldomHours = 24
)

// MissingSince is the hour in which one of them did not come any more.
func MissingSince(s *State, f rimewatch.Field) rimewatch.Time {
	return max(s.born, s.hourEnd-hour*rimewatch.Time(max(habitHours, s.coming.hours[f])-habitHours+1))
}
