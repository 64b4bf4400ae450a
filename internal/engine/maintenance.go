package engine

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
)

// endMaintenance does what the end of a maintenance window brings: whoever
// worked on the unit has left another one, so that the predictor learns it anew.
func (s *State) endMaintenance(c *Config, now rimewatch.Time, out []alert.Transition) []alert.Transition {
	for _, w := range c.Health.Excluded {
		if w.To > s.Maintained && w.To <= now {
			s.Maintained = w.To
			if s.Presence.LastSeen != 0 {
				out = s.Rebaseline(c, now, out)
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
