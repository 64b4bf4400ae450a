package health

import "github.com/rimewatch/rimewatch"

// observeLate takes a reading that is not newer than the newest.
func (s *State) observeLate(c *Config, at rimewatch.Time, v float64) {
	if slotOf(at)+numSlots < s.slot || c.excludes(at) {
		s.lateAt, s.lateStart = 0, 0
		return
	}
	side, _ := beyond(&c.Limits, v)
	_, interrupted := c.firstExcluded(s.lateAt, at)
	if s.lateAt == 0 || at <= s.lateAt || interrupted {
		s.lateStart, s.lateRest, s.lateSide = 0, 0, 0
	} else {
		end := min(at, s.lateAt+s.hold(c))
		s.lateLasts(c, end)
		s.accountLate(s.lateAt, end)
	}
	if side != s.lateSide {
		s.lateStart, s.lateFirst, s.lateBad = at, 0, false
	}
	s.lateAt, s.lateSide = at, side
	s.lateLasts(c, at)
}

// lateLasts ends the forgiveness of the late readings when they have been out
// of limits for the delay at a moment.
func (s *State) lateLasts(c *Config, at rimewatch.Time) {
	if s.lateSide != 0 && !s.lateBad && at-s.lateStart >= delay(&c.Limits, s.lateSide) {
		s.lateBad = true
		s.condemnLate()
	}
}

// condemnLate is condemn for the late run, up to the slot that it has reached.
func (s *State) condemnLate() {
	reached := max(slotOf(s.lateAt), slotOf(s.lateStart))
	for n := max(slotOf(s.lateStart), s.slot-min(s.slot, numSlots)); n <= reached; n++ {
		units := full
		if n == slotOf(s.lateStart) {
			units = uint32(s.lateFirst)
		}
		if n == s.slot {
			s.now.bad = min(s.now.bad+units*uint32(unit), s.now.out)
			return
		}
		p := &s.past[n%numSlots]
		*p = newSlot(p.covered(), p.out(), min(p.bad()+units, p.out()))
	}
}

// accountLate adds the time [from, to), in which the last late reading held, as
// far as the slots have uncovered time.
func (s *State) accountLate(from, to rimewatch.Time) {
	for from < to {
		n := slotOf(from)
		end := min(to, rimewatch.Time(n+1)*span)
		d := uint32(end-from) + uint32(s.lateRest)
		from = end
		if n+numSlots < s.slot {
			continue
		}
		units := d / uint32(unit)
		s.lateRest = uint16(d % uint32(unit))
		out, bad := s.lateSide != 0, s.lateSide != 0 && s.lateBad
		if n == s.slot {
			units = min(units, s.room()/uint32(unit))
			s.now.add(units*uint32(unit), out, bad)
		} else {
			p := &s.past[n%numSlots]
			units = min(units, full-p.covered())
			*p = p.add(units, out, bad)
		}
		if out && n == slotOf(s.lateStart) {
			s.lateFirst = uint16(min(uint32(s.lateFirst)+units, full))
		}
	}
}

// room is the uncovered time of the running slot up to the newest reading, ms.
func (s *State) room() uint32 {
	elapsed := uint32(s.at - rimewatch.Time(s.slot)*span)
	return elapsed - min(s.now.covered, elapsed)
}

// add covers ms of time.
func (t *tally) add(ms uint32, out, bad bool) {
	t.covered += ms
	if out {
		t.out += ms
	}
	if bad {
		t.bad += ms
	}
}

// add covers units of time.
func (s slot) add(units uint32, out, bad bool) slot {
	o, b := s.out(), s.bad()
	if out {
		o += units
	}
	if bad {
		b += units
	}
	return newSlot(s.covered()+units, o, b)
}
