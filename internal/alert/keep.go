package alert

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// heldLongest is how long beyond its limit a zone may be at most before an alert
// is raised although a defrost explains it.
const heldLongest = 2 * hour

// heldUnturned is for how long an alert is kept back at most in a hump that has not turned
// although its predecessors had.
const heldUnturned = 15 * minute

// keeps reports whether the alert of rule i is active, but kept back.
func (s *State) keeps(i rule) bool { return i == ruleHigh && s.kept }

// Kept is until when high_temperature is kept back, since the zone warms up as it
// does in this unit's defrosts; ok is false when it is not. Then it is raised,
// whatever happens, unless the zone is cold again.
func (s *State) Kept() (until rimewatch.Time, ok bool) { return s.stated.Time(), s.kept }

// keepBack does with a change of high_temperature that is not reported: an alert begins
// as it would, but is not announced while the hump is like this unit's defrosts.
// The first moment that is stated holds: what comes later may only shorten it.
func (s *State) keepBack(x *pass, t *track, b *bounds, kind rimewatch.TransitionKind) bool {
	switch kind {
	case rimewatch.TransitionOpened:
		until, ok := s.holds(x, t, b)
		if !ok {
			return false
		}
		s.kept, s.stated = true, state.StampOf(until)
		return true
	case rimewatch.TransitionEscalated:
		if !s.kept {
			return false
		}
		if _, ok := s.holds(x, t, b); !ok {
			s.tell(x)
		}
		return true
	case rimewatch.TransitionResolved:
		if !s.kept {
			return false
		}
		s.end(ruleHigh)
		t.close(0)
		return true
	default:
		return s.kept
	}
}

// holds is until when a defrost explains an active alert: defrosts like this one
// reach that limit, and have not lasted too long.
func (s *State) holds(x *pass, t *track, b *bounds) (until rimewatch.Time, ok bool) {
	if x.c.Rules&RuleDefrost == 0 || t.is(bitCritical) && t.is(bitByTime) {
		return 0, false
	}
	limit, delay := b.warn, b.warnDelay
	if t.is(bitCritical) {
		limit, delay = b.crit, b.critDelay
	}
	if s.kept && t.zone() != zoneBeyond {
		return s.stated.Time(), s.stated.Time() > x.e // it is back, and only its clear time runs
	}
	until, ok = x.u.Reaches(limit, t.is(bitCritical), x.e >= t.start.Time()+delay+heldUnturned)
	until = min(until, t.start.Time()+heldLongest)
	if s.kept {
		until = min(until, s.stated.Time())
	}
	return until, ok && until > x.e
}

// review opens the alert that is kept back as soon as no defrost explains it any more, or the
// device falls silent.
func (s *State) review(x *pass) {
	if !s.kept || !x.mayOpen {
		return
	}
	t := s.pool.track(ruleHigh)
	b := s.zoneBounds(x.c, false)
	until, ok := s.holds(x, t, &b)
	if ok && x.p.Online {
		s.stated = state.StampOf(until)
		return
	}
	s.tell(x)
}

// tell opens the alerts that were kept back.
func (s *State) tell(x *pass) {
	s.kept, s.stated = false, state.Stamp{}
	b := s.zoneBounds(x.c, false)
	*x.out = append(*x.out, s.transition(x, ruleHigh, &b, rimewatch.TransitionOpened))
}
