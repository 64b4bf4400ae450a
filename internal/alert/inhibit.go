package alert

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// departing are the rules that also judge a channel by the unit's own baseline.
var departing = [...]struct {
	rule    rule
	channel unit.Channel
}{
	{ruleDischarge, unit.Discharge}, {ruleSuction, unit.Suction}, {ruleLowSuction, unit.Suction},
	{ruleAmps, unit.Amps}, {ruleRunTime, unit.Duty},
}

const departingRules = 1<<ruleDischarge | 1<<ruleSuction | 1<<ruleLowSuction | 1<<ruleAmps | 1<<ruleRunTime

// Inhibits reports whether an alert is active that another one may inhibit.
func (s *State) Inhibits() bool {
	return s.active&departingRules != 0 || s.isActive(ruleHigh) && (s.isActive(ruleCooling) || s.inhibited&(1<<ruleHigh) != 0)
}

// Inhibit lets a prediction inhibit the warnings about departures of the channels
// in its evidence, and releases all others. One that has once gone past its fixed
// limit speaks for itself to its end: a value that hovers about the limit is no news
// each time. renewed says that another prediction has taken the place of the one before, warm
// that the warning of a zone that is too warm was opened just now: it joins the alert of a unit that
// does not cool, which people were told of before, until it is critical.
func (s *State) Inhibit(c *Config, p Presence, u *unit.State, evidence unit.Channels, renewed, warm bool, now rimewatch.Time, out []Transition) []Transition {
	x := newPass(c, &p, u, now, &out)
	if s.isActive(ruleHigh) {
		was := s.inhibited&(1<<ruleHigh) != 0
		if is := s.isActive(ruleCooling) && (was || warm) && !s.pool.track(ruleHigh).is(bitCritical); is != was {
			out = append(out, s.inhibit(&x, ruleHigh, is))
		}
	}
	for _, d := range departing {
		if !s.isActive(d.rule) {
			continue
		}
		t := s.pool.track(d.rule)
		if !t.is(bitSecond) {
			s.spoke |= 1 << d.rule
		}
		is, was := evidence.Has(d.channel) && s.spoke&(1<<d.rule) == 0 && !t.is(bitCritical), s.inhibited&(1<<d.rule) != 0
		if is == was && !(is && renewed) {
			continue
		}
		out = append(out, s.inhibit(&x, d.rule, is))
	}
	return out
}

// inhibit notes whether the alert of rule i is inhibited.
func (s *State) inhibit(x *pass, i rule, is bool) Transition {
	kind := rimewatch.TransitionReleased
	s.inhibited &^= 1 << i
	if is {
		kind = rimewatch.TransitionSuppressed
		s.inhibited |= 1 << i
	}
	b := s.bounds(x, i)
	return s.transition(x, i, &b, kind)
}
