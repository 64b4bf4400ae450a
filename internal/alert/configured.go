package alert

import "github.com/rimewatch/rimewatch"

// Configured goes before the Tick of another configuration. Where other limits or another
// type of unit judge, what has added up beyond the old limits is void, and an alert that
// they do not carry ends with that Tick as superseded: nothing has recovered.
func (s *State) Configured(was, is *Config) {
	if was.Equipment == is.Equipment && was.Limits.Same(&is.Limits) {
		return
	}
	s.exposures = [2]exposure{}
	for _, i := range [...]rule{ruleHigh, ruleLow} {
		if was.zoneBounds(i == ruleLow, false) != is.zoneBounds(i == ruleLow, false) {
			s.edited |= 1 << i
		}
	}
	if was.Equipment != is.Equipment {
		s.edited |= 1<<ruleHumid | 1<<ruleDry
	}
}

// supersede ends the alerts that the limits in force do not carry, if those are others
// than a moment ago. What was within the old ones already ends as it would have.
func (s *State) supersede(x *pass) {
	for set := s.edited & s.active; set != 0; set &= set - 1 {
		i := lowest(set)
		t, b := s.pool.track(i), s.bounds(x, i)
		if !b.judged() {
			continue // ends for that reason
		}
		was := t.zone()
		if was == zoneReturning {
			was = zoneBand
		}
		_, v, known := s.measure(x.u, i, t)
		if z, _ := b.zones(v); !known || z == zoneBeyond || z >= was {
			continue
		}
		if !s.keeps(i) {
			over := s.transition(x, i, &b, rimewatch.TransitionResolved)
			over.Resolution, over.Superseded = rimewatch.ResolvedSuperseded, rimewatch.SupersededLimits
			*x.out = append(*x.out, over)
		}
		s.end(i)
		s.pool.release(i)
	}
	s.edited = 0
}
