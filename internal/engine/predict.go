package engine

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/predict"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// resolved records that a person has resolved the alert of a type, or of a part of it.
func (s *State) resolved(c *Config, t rimewatch.AlertType, part string, now rimewatch.Time) {
	if p, ok := s.Predict.Standing(&s.Unit); ok && p.Type == t {
		s.Predict.Dismiss(now)
		return
	}
	if t == rimewatch.BatteryLow {
		s.battery.resolved()
		return
	}
	s.Alert.Resolved(&c.Alert, &s.Unit, t, part, now)
	if t == rimewatch.SlowWarming {
		unit.KeepWarm(&s.Unit)
	}
}

// Knows reports whether an alert of the type, or of a part of it, is active as far as the state knows.
func (s *State) Knows(t rimewatch.AlertType, part string) bool {
	if alert.Knows(&s.Alert, t, part) || t == rimewatch.BatteryLow && s.battery.lowest != 0 {
		return true
	}
	p, ok := s.Predict.Standing(&s.Unit)
	return ok && p.Type == t
}

// appendPredictions appends the predictor's transitions of its one alert.
func appendPredictions(out []alert.Transition, list []predict.Transition, now rimewatch.Time) []alert.Transition {
	for i := range list {
		t := &list[i]
		out = append(out, alert.Transition{
			Kind: t.Kind, Type: t.Type, Severity: t.Severity, At: now, ConditionStartedAt: min(t.ConditionStartedAt, now),
			Metric: t.Metric, Unit: t.Unit, Value: t.Value, Peak: t.Value, Threshold: t.Threshold,
			HasValue: t.Metric != "", HasThreshold: t.Metric != "", Occurrences: 1, Prediction: t.Prediction, Resolution: t.Resolution, Ending: t.Ending,
		})
	}
	return out
}

// addPrediction adds the predictor's alert to the circumstances of the score.
func (s *State) addPrediction(c *health.Circumstances) {
	p, ok := s.Predict.Standing(&s.Unit)
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
