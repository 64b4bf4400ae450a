package engine

import (
	"math"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
)

// Verdicts counts people's verdicts on a device's predictions, in the order of
// rimewatch.Verdicts.
type Verdicts [len(rimewatch.Verdicts)]uint16

// judged records a person's verdict on the prediction of a type, or that the cause of an alert
// of another type is normal now; was is the verdict that it replaces, "" = none. A verdict that
// ends an open prediction has the device learnt anew; the prediction itself is the person's to
// end. A false alarm ends no alert about measured values: while one compares with the unit's
// usual values, only the predictor begins anew.
func (s *State) judged(c *Config, t rimewatch.AlertType, verdict, was rimewatch.Verdict, now rimewatch.Time, out []alert.Transition) []alert.Transition {
	if t != "" && !t.Predictive() {
		if verdict == rimewatch.NormalNow && alert.Knows(&s.Alert, t, "") {
			return s.relearn(c, rimewatch.RelearnNormal, now, out)
		}
		return out
	}
	s.Verdicts.count(was, -1)
	s.Verdicts.count(verdict, 1)
	p, ok := s.Predict.Standing(&s.Unit)
	if !ok || p.Type != t || !Ends(verdict) {
		return out
	}
	s.Predict.Relearn(&s.Unit, now, nil)
	switch verdict {
	case rimewatch.Fixed:
		return s.relearn(c, rimewatch.RelearnFixed, now, out)
	case rimewatch.NormalNow:
		return s.relearn(c, rimewatch.RelearnNormal, now, out)
	default:
	}
	if s.Alert.RestsOnUsual(&c.Alert, s.view(c), &s.Unit, now) {
		return out
	}
	return s.relearn(c, rimewatch.RelearnFalseAlarm, now, out)
}

// Ends reports whether a verdict ends its prediction.
func Ends(v rimewatch.Verdict) bool { return v != rimewatch.Useful }

func (f *Verdicts) count(v rimewatch.Verdict, by int) {
	if i := slices.Index(rimewatch.Verdicts[:], v); i >= 0 {
		f[i] = uint16(max(0, min(math.MaxUint16, int(f[i])+by)))
	}
}
