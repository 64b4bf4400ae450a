package engine

import (
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// inhibit lets an open prediction inhibit the warnings that say the same: the
// rules that judge a unit by its own baseline and the predictor look at one
// drift, and whoever was notified of the prediction needs no second message about a
// measure that stands in its evidence. What is critical speaks for itself, and so
// does what goes past a fixed limit. out holds what the step has brought so far,
// from the given place on.
func (s *State) inhibit(c *Config, now rimewatch.Time, out []alert.Transition, from int) []alert.Transition {
	if !s.Alert.Departs() {
		return out
	}
	evidence := unit.Channels(0)
	if p, ok := s.Predict.Standing(&s.Unit); ok {
		evidence = p.Departed
	}
	renewed := slices.ContainsFunc(out[from:], func(t alert.Transition) bool { return t.Prediction != nil && t.Kind == rimewatch.TransitionOpened })
	return s.Alert.Inhibit(&c.Alert, s.view(c), &s.Unit, evidence, renewed, now, out)
}
