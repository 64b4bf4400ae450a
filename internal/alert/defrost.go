package alert

import "github.com/rimewatch/rimewatch"

const (
	slot        = 30 * minute // of the day, UTC, by which defrosts are learnt
	slots       = 48
	learntTwice = 2 // days on which a slot and its neighbours showed a hump
	humpLimit   = 6 * hour
	learntHumps = 8 // defrosts before a recovery is called slow
)

// meltState recognises defrosts: a device may declare them; otherwise a hump of
// the zone's temperature that comes at the same time of day is one.
type meltState struct {
	habit    [slots / 4]uint8 // 2 bits a slot: on how many of the last days it had a hump
	mean     float32          // °C, slow mean of the zone outside humps
	usual    float32          // min, learnt length of the hump of a defrost
	since    stamp            // start of the present hump
	ended    stamp            // end of the newest declared defrost
	learnt   uint8            // defrosts in usual
	hump     bool
	known    bool // the present hump is a recognised defrost
	hit      bool // a hump began in the present slot
	declared bool // the device says that it defrosts
	graced   bool // the warning of the present excursion waits for the defrost
}

func (m *meltState) days(k rimewatch.Time) uint8 { return m.habit[k/4] >> (2 * (k % 4)) & 3 }

func (m *meltState) setDays(k rimewatch.Time, n uint8) {
	shift := 2 * (k % 4)
	m.habit[k/4] = m.habit[k/4]&^(3<<shift) | n<<shift
}

// usualAt tells whether a defrost at e is habit, for a unit that defrosts
// perDay times. Humps all day long are doors, not defrosts.
func (m *meltState) usualAt(e rimewatch.Time, perDay int) bool {
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
func (s *State) followDefrost(x *pass, r *rimewatch.Reading, valid rimewatch.Fields, gap rimewatch.Time) {
	m := &s.melt
	was := m.declared
	if on, sent := r.Flags.Bool(rimewatch.DefrostActive); sent {
		m.declared = on
		if was && !on {
			m.ended = stampOf(x.e)
		}
	}
	if !valid.Has(rimewatch.ProductZoneTemp) || x.c.Equipment == nil {
		return
	}
	s.rollSlots(x.e, gap)
	s.followHump(x, float32(r.Values[rimewatch.ProductZoneTemp]), gap)
}

// rollSlots counts the slot that has ended as a day with or without a hump.
func (s *State) rollSlots(e, gap rimewatch.Time) {
	m := &s.melt
	k := s.at / slot
	if s.at == 0 || e/slot == k {
		return
	}
	if gap <= slot {
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

func (s *State) followHump(x *pass, v float32, gap rimewatch.Time) {
	m := &s.melt
	if s.zoneAt == 0 {
		m.mean = v
		return
	}
	rise := max(1.5, 0.35*float32(x.c.Equipment.Defrost.ExcursionK))
	switch {
	case !m.hump && v > m.mean+rise && x.c.Equipment.Defrost.Kind != rimewatch.DefrostNone:
		m.hump, m.known = true, m.declared || m.usualAt(x.e, x.c.Equipment.Defrost.PerDay)
		m.since = stampOf(x.e)
		if !m.hit {
			m.hit = true
		}
	case m.hump && v < m.mean+rise/2:
		m.hump = false
		s.learnHump(x)
	case m.hump && x.e-m.since.time() > humpLimit:
		// Not a hump but another level.
		m.hump, m.mean = false, v
	}
	if !m.hump {
		m.mean += min(1, float32(gap)/float32(6*hour)) * (v - m.mean)
	}
}

// learnHump takes the length of a defrost that has just ended.
func (s *State) learnHump(x *pass) {
	m := &s.melt
	if !m.known {
		return
	}
	length := float32(x.e-m.since.time()) / float32(minute)
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

// graceWarning decides, when the zone leaves its range, whether a defrost is
// the reason; then the warning, never the critical alert, waits until defrost
// and recovery must be over. It reports a change.
func (s *State) graceWarning(x *pass, z zone) bool {
	m := &s.melt
	was := m.graced
	switch e := x.c.Equipment; {
	case z != zoneBeyond || e == nil || x.c.Rules&RuleDefrost == 0 || e.Defrost.Kind == rimewatch.DefrostNone:
		m.graced = false
	case m.declared:
		m.graced = true
	case !s.beyond(ruleHigh): // it has just left
		recovering := m.ended != (stamp{}) && x.e-m.ended.time() <= minutes(e.Defrost.RecoverMin)
		m.graced = recovering || m.usualAt(x.e, e.Defrost.PerDay)
	}
	return m.graced != was
}

// melting tells whether a recognised defrost or what it left behind warms the
// zone, or may: a unit that never stops hardly shows its defrosts.
func (s *State) melting(x *pass) bool {
	m, e := &s.melt, x.c.Equipment
	if x.c.Rules&RuleDefrost == 0 || e == nil || e.Defrost.Kind == rimewatch.DefrostNone {
		return false
	}
	return m.declared || (m.hump && m.known) || m.usualAt(x.e, e.Defrost.PerDay)
}

// beyond tells whether the condition of rule i holds at present.
func (s *State) beyond(i rule) bool {
	t := s.pool.track(i)
	return t != nil && t.zone() == zoneBeyond
}

// judgeRecovery opens slow_recovery while the compressor needs a multiple of
// what it usually does to pull the zone down after a recognised defrost. Beyond
// its limit the zone has an alert of its own.
func (s *State) judgeRecovery(x *pass) {
	m := &s.melt
	if x.c.Rules&RuleRecovery == 0 || m.learnt < learntHumps {
		return
	}
	v := 0.0
	if m.hump && m.known && s.run.known && s.run.on && !s.beyond(ruleHigh) && !s.isActive(ruleHigh) {
		v = float64(x.e-m.since.time()) / float64(minute)
	}
	if v > 0 || s.pool.track(ruleRecovery) != nil {
		s.level(x, ruleRecovery, v)
	}
}
