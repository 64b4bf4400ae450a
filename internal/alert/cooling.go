package alert

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/capability"
	"github.com/rimewatch/rimewatch/internal/state"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// soonCritical is how long before the zone passes its critical limit, as it warms up now,
// demand without cooling is critical.
const soonCritical = 30 * minute

// heldForLongest is for how long an open alert keeps a unit from being learnt. What has
// lasted longer than that is a person's to say.
const heldForLongest = 14 * rimewatch.Day

// unmets are the causes for people and programs.
var unmets = [...]rimewatch.Unmet{
	capability.NoCurrent: rimewatch.UnmetNoCurrent, capability.LockedRotor: rimewatch.UnmetLockedRotor, capability.NoRun: rimewatch.UnmetNoRun,
	capability.NoEffect: rimewatch.UnmetNoEffect, capability.NotFalling: rimewatch.UnmetNotFalling, capability.Begun: rimewatch.UnmetBegun,
}

// judgeCooling follows whether the unit gets colder when it ought to. Its clocks are those
// of package capability, which ends what it has begun, too.
func judgeCooling(s *State, x *pass) {
	if x.c.Rules&RuleCooling == 0 || !coolsSteadily(x.c) {
		return
	}
	most := math.Inf(1)
	if limit := x.c.Limits.TempMax; limit != nil {
		most = *limit
	}
	over := s.cool.Observe(x.u, x.o, s.unwell(), s.tooWarm() && !stands(s, ruleHigh), most)
	cause := s.cool.Cause()
	t := s.pool.track(ruleCooling)
	switch {
	case cause == capability.Met && t == nil:
		return
	case cause == capability.Met:
		if s.isActive(ruleCooling) && over != capability.Lasts {
			s.elsewhere = over == capability.Elsewhere
		}
		b := s.coolingBounds(x)
		s.judge(x, ruleCooling, &b, sample{v: s.cool.Zone(), z: zoneClear})
		if !s.isActive(ruleCooling) {
			s.why = capability.Met
		}
		return
	}
	told := s.isActive(ruleCooling) && s.why != cause
	s.why = cause
	b := s.coolingBounds(x)
	m := sample{v: s.cool.Zone(), z: zoneBeyond}
	if b.hasCrit && criticalSoon(s, x, b.crit) {
		m.cz = zoneBeyond
	}
	if t == nil { // the condition began when the start was missed
		if t = s.pool.claim(ruleCooling, s.active); t == nil {
			return
		}
		t.peak = state.FixedOf(m.v)
		t.enter(zoneBeyond, zoneClear, s.cool.Since(), false)
	}
	n := len(*x.out)
	s.judge(x, ruleCooling, &b, m)
	if told && len(*x.out) == n && x.recent {
		*x.out = append(*x.out, s.transition(x, ruleCooling, &b, rimewatch.TransitionUpdated))
	}
}

// coolsSteadily reports whether a unit of the type keeps its zone at one temperature: what
// chills batches is loaded hot, and an ice machine has no zone to keep.
func coolsSteadily(c *Config) bool {
	e := c.Equipment
	return e == nil || e.Category != rimewatch.CategoryIce && e.Category != rimewatch.CategoryCompressor && !e.ChillsBatches()
}

// coolingBounds are the zone beyond which the unit ought to have cooled, and its critical limit.
func (s *State) coolingBounds(x *pass) bounds {
	if x.c.Rules&RuleCooling == 0 || !coolsSteadily(x.c) {
		return bounds{}
	}
	b := bounds{hasWarn: true, warn: s.cool.Limit(), ease: heldForLongest} // as long as it stands its severity only rises: it ends by proof that it cools
	if limit := x.c.Limits.CriticalMax; limit != nil {
		b.hasCrit, b.crit = true, *limit
	}
	return b
}

// criticalSoon reports whether the zone is past its critical limit, or will be within half an
// hour if it warms up as it has since it was beyond its usual start.
func criticalSoon(s *State, x *pass, crit float64) bool {
	v := s.cool.Zone()
	slope, ok := s.cool.Warming(x.e)
	return v > crit || ok && v+slope*float64(soonCritical)/float64(hour) > crit
}

// unwell reports whether an alert about the zone or the machine says that what is seen is
// not what is usual. After two weeks a person has to say so.
func (s *State) unwell() bool {
	const says = 1<<ruleHigh | 1<<ruleCooling | 1<<ruleStarts
	for set := s.active & says; set != 0; set &= set - 1 {
		i := lowest(set)
		if s.keeps(i) || stands(s, i) {
			continue
		}
		if t := s.pool.track(i); s.seenAt-t.start.Time() < heldForLongest {
			return true
		}
	}
	return false
}

// Unmet reports whether the unit is seen not to do what it is for: its zone is beyond the
// upper limit or beyond where it usually begins to cool, or it has not shown that it cools since.
func (s *State) Unmet() bool {
	return s.isActive(ruleCooling) || s.cool.Unmet() || (s.isActive(ruleHigh) || s.tooWarm()) && !stands(s, ruleHigh)
}

// ofMachine are the rules about the machine: that nothing shows of it what its alert is
// about is no end of it while the machine does not cool.
const ofMachine = 1<<ruleDischarge | 1<<ruleAmps | 1<<ruleVibration | 1<<ruleCycling | 1<<ruleStarts | 1<<ruleRunTime | 1<<ruleRecovery |
	1<<ruleSuction | 1<<ruleLowSuction | 1<<ruleLowDischarge | 1<<ruleLowAmps | 1<<ruleDoor | 1<<ruleWarming

// held reports whether the alert of rule i does not end for now, whatever its measure
// shows: the unit does not do what it is for. Starts that no longer fail are none.
func (s *State) held(u *unit.State, i rule) bool {
	return ofMachine&(1<<i) != 0 && s.Unmet() || i == ruleStarts && !u.Started()
}

// ending is why the alert of rule i ends by itself.
func (s *State) ending(i rule, t *track) rimewatch.Ending {
	switch i.kind() {
	case ruleCooling:
		if s.elsewhere {
			return rimewatch.EndedElsewhere
		}
		return rimewatch.EndedCools
	case ruleStarts:
		return rimewatch.EndedRuns
	case ruleOffline, ruleStale:
		return rimewatch.EndedReports
	case ruleFault:
		return rimewatch.EndedSensorWorks
	case ruleRecovery, ruleWarming, ruleDoor:
		return rimewatch.EndedAsUsual
	default:
		if t.is(bitSecond) && i != ruleCycling {
			return rimewatch.EndedAsUsual
		}
		return rimewatch.EndedInRange
	}
}
