package alert

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/capability"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// Relearn ends, as superseded, the alerts that rest on the baseline of the unit
// u, which is about to be learnt anew. It comes before the unit forgets.
func (s *State) Relearn(c *Config, p Presence, u *unit.State, now rimewatch.Time, out []Transition) []Transition {
	x := newPass(c, &p, u, now, &out)
	s.relearn(&x, "")
	return out
}

// RestsOnUsual reports whether an alert is active that rests on the baseline of the unit u:
// Relearn would end it.
func (s *State) RestsOnUsual(c *Config, p Presence, u *unit.State, now rimewatch.Time) bool {
	x := newPass(c, &p, u, now, nil)
	for set := s.pool.rules; set != 0; set &= set - 1 {
		if i := lowest(set); s.ownBaseline(&x, i) && s.isActive(i) {
			return true
		}
	}
	return false
}

func (s *State) relearn(x *pass, why rimewatch.Relearning) {
	for set := s.pool.rules; set != 0; set &= set - 1 {
		i := lowest(set)
		if !s.ownBaseline(x, i) {
			continue
		}
		if s.isActive(i) {
			b := s.bounds(x, i)
			t := s.transition(x, i, &b, rimewatch.TransitionResolved)
			t.Resolution, t.Relearning = rimewatch.ResolvedSuperseded, why
			*x.out = append(*x.out, t)
			s.end(i)
		}
		s.pool.release(i)
	}
	s.cool.Relearn()
	s.why, s.elsewhere = capability.Met, false
}

// ownBaseline reports whether the condition of rule i is judged by the unit's own
// baseline at present.
func (s *State) ownBaseline(x *pass, i rule) bool {
	_, departs := rimewatch.CutDeviation(ruleSpecs[i].second)
	switch i {
	case ruleAmps, ruleLowAmps, ruleRecovery, ruleCycling, ruleWarming, ruleCooling:
		return true
	case ruleVibration:
		return x.u.UsualVibration()*vibrationWarn > ruleSpecs[ruleVibration].limit.Warn
	default:
		return departs && s.pool.track(i).is(bitSecond)
	}
}
