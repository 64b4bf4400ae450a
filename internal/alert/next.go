package alert

import "github.com/rimewatch/rimewatch"

// ObserveNext is ObserveAll for a caller whose readings of one device arrive
// one by one among those of others: last marks the device's last one of those
// that arrived together. The write path is that caller.
func (s *State) ObserveNext(c *Config, p Presence, r *rimewatch.Reading, now rimewatch.Time, last bool, out []Transition) []Transition {
	return s.observe(c, &p, r, now, last, out)
}
