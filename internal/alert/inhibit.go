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

// Departs reports whether an alert is active that may be about a departure from
// the unit's own baseline.
func (s *State) Departs() bool { return s.active&departingRules != 0 }

// Inhibit lets a prediction inhibit the warnings about departures of the channels
// in its evidence, and releases all others. One that has once gone past its fixed
// limit speaks for itself to its end: a value that hovers about the limit is no news
// each time. renewed says that another prediction has taken the place of the one before.
func (s *State) Inhibit(c *Config, p Presence, u *unit.State, evidence unit.Channels, renewed bool, now rimewatch.Time, out []Transition) []Transition {
	x := newPass(c, &p, u, now, &out)
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
		kind := rimewatch.TransitionReleased
		s.inhibited &^= 1 << d.rule
		if is {
			kind = rimewatch.TransitionSuppressed
			s.inhibited |= 1 << d.rule
		}
		b := s.bounds(&x, d.rule)
		out = append(out, s.transition(&x, d.rule, &b, kind))
	}
	return out
}
