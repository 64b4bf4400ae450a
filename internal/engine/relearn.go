package engine

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
)

// endMaintenance applies the end of a maintenance window: work on a unit leaves another
// one behind.
func (s *State) endMaintenance(c *Config, now rimewatch.Time, out []alert.Transition) []alert.Transition {
	for _, w := range c.Health.Excluded {
		if w.To > s.Maintained && w.To <= now {
			s.Maintained = w.To
			if s.Presence.LastSeen != 0 {
				out = s.relearn(c, rimewatch.RelearnMaintenance, now, out)
			}
		}
	}
	return out
}

// maintenanceEnd is when the next window ends, 0 = there is none.
func (s *State) maintenanceEnd(c *Config) rimewatch.Time {
	for _, w := range c.Health.Excluded {
		if w.To > s.Maintained {
			return w.To
		}
	}
	return 0
}

// relearn makes the unit, the rules and the predictor learn the device anew.
// Alerts that rest on what was usual before end as superseded, and say so.
func (s *State) relearn(c *Config, why rimewatch.Relearning, now rimewatch.Time, out []alert.Transition) []alert.Transition {
	from := len(out)
	out = s.Alert.Relearn(&c.Alert, s.view(c), &s.Unit, now, out)
	out = appendPredictions(out, s.Predict.Relearn(&s.Unit, now, nil), now)
	s.Unit.Relearn(why, now)
	for i := range out[from:] {
		out[from+i].Relearning = why
	}
	return out
}
