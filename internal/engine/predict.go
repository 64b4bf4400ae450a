package engine

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/predict"
)

// foresee lets the predictor see a reading. What it says of its one alert comes
// among the transitions of the rules.
func (s *State) foresee(c *Config, r *rimewatch.Reading, now rimewatch.Time, out []alert.Transition) []alert.Transition {
	return said(s.Predict.Observe(&c.Predict, r, now, nil), now, out)
}

// Rebaseline makes the predictor learn the device anew, after maintenance or a
// prediction that was wrong. It resolves a prediction that is open.
func (s *State) Rebaseline(c *Config, now rimewatch.Time, out []alert.Transition) []alert.Transition {
	return said(s.Predict.Rebaseline(&c.Predict, now, nil), now, out)
}

// resolved takes note that a person has resolved the alert of a type.
func (s *State) resolved(t rimewatch.AlertType, now rimewatch.Time) {
	if p, ok := s.Predict.Standing(); ok && p.Type == t {
		s.Predict.Dismiss(now)
		return
	}
	s.Alert.Resolved(t, now)
}

// Knows reports whether an alert of the type is active as far as the state knows.
func (s *State) Knows(t rimewatch.AlertType) bool {
	for a := range s.Alert.Active {
		if a.Type == t {
			return true
		}
	}
	p, ok := s.Predict.Standing()
	return ok && p.Type == t
}

// kinds are the predictor's words for what happens to an alert in those of the
// rules.
var kinds = [...]alert.Kind{
	predict.Opened: alert.Opened, predict.Updated: alert.Updated, predict.Escalated: alert.Escalated, predict.Resolved: alert.Resolved,
}

// said appends the predictor's transitions.
func said(list []predict.Transition, now rimewatch.Time, out []alert.Transition) []alert.Transition {
	for i := range list {
		t := &list[i]
		out = append(out, alert.Transition{
			Kind: kinds[t.Kind], Type: t.Type, Severity: t.Severity, At: now, ConditionStartedAt: min(t.ConditionStartedAt, now),
			Metric: t.Metric, Unit: t.Unit, Value: t.Value, Peak: t.Value, Threshold: t.Threshold,
			HasValue: t.Metric != "", HasThreshold: t.Metric != "", Occurrences: 1, Prediction: t.Prediction, Resolution: t.Resolution,
		})
	}
	return out
}

// foretell adds the predictor's alert to the circumstances of the score.
func (s *State) foretell(c *health.Circumstances) {
	p, ok := s.Predict.Standing()
	if !ok {
		return
	}
	severity := 0.5
	if p.Severity == rimewatch.Critical {
		severity, c.OpenCritical = 1, true
	} else {
		c.OpenWarning = true
	}
	c.Severity[health.PredictedFault] = severity * p.Confidence
}
