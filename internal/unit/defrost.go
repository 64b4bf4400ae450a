package unit

import (
	"github.com/rimewatch/rimewatch"
)

const (
	slot        = 30 * minute // of the day, UTC, by which defrosts are learnt
	slots       = 48
	learntTwice = 2 // days on which a slot and its neighbours showed a hump
	humpLimit   = 6 * hour
	learntHumps = 8 // defrosts before the usual recovery is known
)

// defrost recognises defrosts: a device may declare them; otherwise a hump of
// the zone's temperature that comes at the same time of day is one.
type defrost struct {
	habit    [slots / 4]uint8 // 2 bits a slot: on how many of the last days it had a hump
	mean     float32          // °C, slow mean of the zone outside humps
	usual    float32          // min, learnt length of the hump of a defrost
	since    Stamp            // start of the present hump
	ended    Stamp            // end of the newest declared defrost
	learnt   uint8            // defrosts in usual
	hump     bool
	known    bool // the present hump is a recognised defrost
	hit      bool // a hump began in the present slot
	declared bool // the device says that it defrosts
	told     bool // the device says when it defrosts
}

func (m *defrost) days(k rimewatch.Time) uint8 { return m.habit[k/4] >> (2 * (k % 4)) & 3 }

func (m *defrost) setDays(k rimewatch.Time, n uint8) {
	shift := 2 * (k % 4)
	m.habit[k/4] = m.habit[k/4]&^(3<<shift) | n<<shift
}

// usualAt reports whether a defrost at e is habit, for a unit that defrosts
// perDay times. Humps all day long are doors, not defrosts.
func (m *defrost) usualAt(e rimewatch.Time, perDay int) bool {
	learnt := 0
	for k := range rimewatch.Time(slots) {
		if m.days(k) >= learntTwice {
			learnt++
		}
	}
	if learnt > 2*perDay {
		return false
	}
	k := e / slot % slots
	return m.days(k)+m.days((k+1)%slots)+m.days((k+slots-1)%slots) >= learntTwice
}

// followDefrost takes note of declared defrosts and learns the habit of others.
func (s *State) followDefrost(c *Config, o *Observation) {
	m := &s.defrost
	was := m.declared
	if on, sent := o.Reading.Flags.Bool(rimewatch.DefrostActive); sent {
		m.declared, m.told = on, true
		if was && !on {
			m.ended = StampOf(o.At)
		}
	}
	if !o.Valid.Has(rimewatch.ProductZoneTemp) {
		return
	}
	s.rollSlots(o)
	s.followHump(c, o)
}

// rollSlots counts the slot that has ended as a day with or without a hump.
func (s *State) rollSlots(o *Observation) {
	m := &s.defrost
	k := s.at / slot
	if s.at == 0 || o.At/slot == k {
		return
	}
	if o.Gap <= slot {
		n := m.days(k % slots)
		switch {
		case m.hit:
			n = min(3, n+1)
		case n > 0:
			n--
		}
		m.setDays(k%slots, n)
	}
	m.hit = false
}

func (s *State) followHump(c *Config, o *Observation) {
	m := &s.defrost
	v := float32(o.Reading.Values[rimewatch.ProductZoneTemp])
	if s.zoneAt == 0 {
		m.mean = v
		return
	}
	habit := c.habit()
	rise := max(1.5, 0.35*float32(habit.ExcursionK))
	switch {
	case !m.hump && v > m.mean+rise && habit.Kind != rimewatch.DefrostNone:
		m.hump, m.known, m.hit = true, m.declared || m.usualAt(o.At, habit.PerDay), true
		m.since = StampOf(o.At)
	case m.hump && v < m.mean+rise/2:
		m.hump = false
		m.learnHump(o.At)
	case m.hump && o.At-m.since.Time() > humpLimit:
		// Not a hump but another level.
		m.hump, m.mean = false, v
	}
	if !m.hump {
		m.mean += min(1, float32(o.Gap)/float32(6*hour)) * (v - m.mean)
	}
}

// learnHump takes the length of a defrost that has just ended.
func (m *defrost) learnHump(at rimewatch.Time) {
	if !m.known {
		return
	}
	length := float32(at-m.since.Time()) / float32(minute)
	// Doors make shorter humps in the same half hours: the upper ones count.
	switch {
	case m.learnt == 0:
		m.usual = length
	case length > m.usual:
		m.usual += 0.3 * (min(length, 2*m.usual) - m.usual)
	default:
		m.usual += 0.02 * (length - m.usual)
	}
	m.learnt = min(m.learnt, 254) + 1
}

// Declared reports whether the device says that it defrosts.
func (m *defrost) Declared() bool { return m.declared }

// DefrostExpected reports whether a defrost, or the recovery from one, may warm
// the zone at e: it is declared, or at its hour.
func (m *defrost) DefrostExpected(c *Config, e rimewatch.Time) bool {
	habit := c.habit()
	return m.declared || m.ended.Set() && e-m.ended.Time() <= minutes(habit.RecoverMin) || m.usualAt(e, habit.PerDay)
}

// Defrosting reports whether a defrost warms the zone at present: the device
// declares it, or the unit stands still although it should cool, or the zone is
// warm at an hour at which it usually is. Recovering from it counts.
func (s *State) Defrosting() bool {
	m, p := &s.defrost, &s.phases
	return m.declared || (m.hump && m.known) || p.phase == Defrosting || (p.phase == Recovering && p.from == Defrosting)
}

// MaySeemDefrosting is Defrosting for a unit that hardly shows its defrosts,
// such as one that never stops: at an hour at which it usually defrosts, too.
func (m *defrost) MaySeemDefrosting(c *Config, e rimewatch.Time) bool {
	habit := c.habit()
	return habit.Kind != rimewatch.DefrostNone && (m.declared || (m.hump && m.known) || m.usualAt(e, habit.PerDay))
}

// UsualRecovery is how long the zone usually takes to be cold again after a
// defrost began, min; ok is false before eight of them.
func (m *defrost) UsualRecovery() (minutes float64, ok bool) {
	return float64(m.usual), m.learnt >= learntHumps
}

// Recovery is for how long the present defrost has warmed the zone, min; ok is
// false when none does.
func (s *State) Recovery() (minutes float64, ok bool) {
	m := &s.defrost
	if !m.hump || !m.known {
		return 0, false
	}
	return float64(s.at-m.since.Time()) / float64(minute), true
}

// Hump is for how long the zone has been warmer than usual, min, 0 when it is not.
func (s *State) Hump() float64 {
	if !s.defrost.hump {
		return 0
	}
	return float64(s.at-s.defrost.since.Time()) / float64(minute)
}

// UsualZone is the slow mean of the zone's temperature outside humps, °C; ok is
// false before the first.
func (s *State) UsualZone() (v float64, ok bool) { return float64(s.defrost.mean), s.zoneAt != 0 }
