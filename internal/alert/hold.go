package alert

import "github.com/rimewatch/rimewatch"

// holdSure is how long the compressor must have stood still before people are
// told how long the cold will last.
const holdSure = 20 * minute

// tellHold updates power_loss as soon as it is known how long the cold will
// last.
func tellHold(s *State, x *pass) {
	if !s.isActive(rulePower) || !x.recent || !x.u.RunningKnown() || x.u.Running() {
		return
	}
	if stood := x.e - x.u.RunningSince(); stood < holdSure || stood-x.o.Gap >= holdSure {
		return
	}
	if _, ok := x.holdHours(); ok {
		b := s.bounds(x, rulePower)
		*x.out = append(*x.out, s.transition(x, rulePower, &b, rimewatch.TransitionUpdated))
	}
}

// holdHours draws the warming since the compressor stopped on to the upper
// limit: the time that is left to keep the goods. Heat flows slower the warmer
// the zone is, so the straight line errs on the safe side.
func (x *pass) holdHours() (float64, bool) {
	slope, ok := x.u.Warming()
	if !ok || x.c.Limits.TempMax == nil {
		return 0, false
	}
	room := *x.c.Limits.TempMax - x.u.Last(rimewatch.ProductZoneTemp)
	switch {
	case room <= 0:
		return 0, true
	case slope < 0.1: // K/h: no end in sight
		return 0, false
	default:
		return room / slope, true
	}
}

// AcknowledgedFor is how long an acknowledgement holds unless a person says
// otherwise: four hours for a warning, one for a critical alert.
func AcknowledgedFor(severity rimewatch.Severity) rimewatch.Time {
	if severity == rimewatch.Critical {
		return hour
	}
	return 4 * hour
}
