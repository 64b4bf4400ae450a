package unit

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

const learntHumps = 8 // defrosts before the usual recovery is known

// defrost is what the device itself says of its defrosts.
type defrost struct {
	ended    state.Stamp // end of the newest declared defrost
	declared bool        // the device says that it defrosts
	told     bool        // the device says when it defrosts
}

// followDefrost takes note of declared defrosts and follows the humps of the zone.
func (s *State) followDefrost(o *Observation) {
	m := &s.defrost
	was := m.declared
	if on, sent := o.Reading.Flags.Bool(rimewatch.DefrostActive); sent {
		m.declared, m.told = on, true
		if was && !on {
			m.ended = state.StampOf(o.At)
		}
	}
	if o.Valid.Has(rimewatch.ProductZoneTemp) {
		s.humps.followHumps(s, o)
	}
}

// Declared reports whether the device says that it defrosts.
func (m *defrost) Declared() bool { return m.declared }

// DeclaredAt reports whether a declared defrost, or the recovery from one, may warm
// the zone at e.
func (m *defrost) DeclaredAt(c *Config, e rimewatch.Time) bool {
	return m.declared || m.ended.Set() && e-m.ended.Time() <= minutes(c.habit().RecoverMin)
}

// Defrosting reports whether a defrost warms the zone at present: the device
// declares it, or the unit stands still although it should cool, or the zone is
// warm as it was in its defrosts before. Recovering from it counts.
func (s *State) Defrosting() bool {
	p := &s.phases
	if s.defrost.declared || p.phase == Defrosting || (p.phase == Recovering && p.from == Defrosting) {
		return true
	}
	k, _ := s.humps.recognised(s.gap)
	return k != nil
}

// MaySeemDefrosting is Defrosting for a unit that hardly shows its defrosts,
// such as one that never stops: at a moment at which one is due, too.
func (s *State) MaySeemDefrosting(e rimewatch.Time) bool {
	if s.Defrosting() {
		return true
	}
	h := &s.humps
	for i := range h.kinds {
		k := &h.kinds[i]
		if k.n < 2 {
			continue
		}
		length := rimewatch.Time(1000 * k.mean.of(mLength))
		if h.running && h.expected && e-h.begin.Time() < length*3/2 {
			return true
		}
		for at := e - length; !h.running && at <= e; at += max(minute, length/2) {
			if h.due(k, at, s.gap) {
				return true
			}
		}
	}
	return false
}

// UsualRecovery is how long the zone usually takes to be cold again after a
// defrost began, min; ok is false before eight of them.
func (s *State) UsualRecovery() (minutes float64, ok bool) {
	k := s.humps.usualKind()
	if k == nil || k.n < learntHumps {
		return 0, false
	}
	return float64(k.mean.of(mLength)) / 60, true
}

// usualKind is the kind that was seen most, nil before the first.
func (h *humps) usualKind() (most *humpKind) {
	for i := range h.kinds {
		if k := &h.kinds[i]; k.n > 0 && (most == nil || k.n > most.n) {
			most = k
		}
	}
	return most
}

// Recovery is for how long the present defrost has warmed the zone, min; ok is
// false when none does.
func (s *State) Recovery() (minutes float64, ok bool) {
	h := &s.humps
	if !h.running || !h.known {
		return 0, false
	}
	if k := h.usualKind(); k == nil || h.prev-h.base < k.mean.of(mHeight)/3 {
		return 0, false // as good as cold
	}
	return s.Hump(), true
}

// Hump is for how long the zone has been warmer than usual, min, 0 when it is not.
func (s *State) Hump() float64 {
	if !s.humps.running {
		return 0
	}
	return float64(s.at-s.humps.begin.Time()) / float64(minute)
}

// InBand reports whether a zone temperature is within what the unit has been showing
// lately: it runs there, and is in no warm spell.
func InBand(s *State, v float64) bool {
	h := &s.humps
	return s.zoneAt != 0 && !h.running && math.Abs(v-float64(h.mid)) <= float64(max(1, 2*h.dev))
}

// UsualZone is the running median of the zone's temperature, °C; ok is false
// before the first.
func (s *State) UsualZone() (v float64, ok bool) { return float64(s.humps.mid), s.zoneAt != 0 }
