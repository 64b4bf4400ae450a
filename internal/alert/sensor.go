package alert

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// judgeSensors opens sensor_fault and ends sensor_stale.
func (s *State) judgeSensors(x *pass) {
	if x.c.Rules&RuleSensors == 0 {
		return
	}
	z := zoneClear
	broken := x.u.Broken()
	if broken != 0 {
		z = zoneBeyond
	}
	t := s.pool.track(ruleFault)
	switch {
	case z == zoneBeyond && t != nil && s.lasts(x, ruleFault, t):
		s.note(x, ruleFault)
	case z == zoneBeyond || t != nil:
		b := s.bounds(x, ruleFault)
		s.judge(x, ruleFault, &b, sample{z: z})
		t = s.pool.track(ruleFault)
	}
	if t != nil && z == zoneBeyond {
		t.peak = unit.Fixed(broken) // remembered until it is resolved
	}
	if t := s.pool.track(ruleStale); t != nil && x.u.Fresh() == x.e {
		b := s.bounds(x, ruleStale)
		s.judge(x, ruleStale, &b, sample{})
	}
}

// staleAfter is the age at which readings are missed while the device is
// online: slow loggers are given five of their intervals.
func (x *pass) staleAfter() rimewatch.Time {
	offline := rimewatch.Time(x.p.OfflineAfter.Milliseconds())
	return max(staleAfter, 5*x.u.Interval(), offline)
}

// staleDue is when sensor_stale opens if nothing more is measured.
func (s *State) staleDue(x *pass) rimewatch.Time {
	if x.c.Rules&RuleSensors == 0 || x.u.At() == 0 || s.isActive(ruleStale) || x.u.Interval() == 0 {
		return never
	}
	due := x.u.Fresh() + x.p.Lag + x.staleAfter()
	if t := s.pool.track(ruleStale); t != nil {
		if t.is(bitMuted) {
			due = max(due, t.start.Time()+reopenWarning)
		}
	} else if _, ok := s.pool.victim(ruleStale, s.active); !ok && !s.pool.room(ruleStale) {
		return never
	}
	return max(due, s.holdUntil)
}

func (s *State) openStale(x *pass) {
	t := s.pool.track(ruleStale)
	if t == nil {
		if t = s.pool.claim(ruleStale, s.active); t == nil {
			return
		}
	}
	t.enter(zoneBeyond, zoneClear, x.u.Fresh(), false)
	s.live |= 1 << ruleStale
	b := s.bounds(x, ruleStale)
	s.apply(x, ruleStale, &b, x.now, true)
}
