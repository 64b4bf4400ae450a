package engine

import (
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// inhibit lets an open prediction inhibit the warnings that say the same: the
// rules that judge a unit by its own baseline and the predictor look at one
// drift, and people who were notified of the prediction need no second message about a
// measure that stands in its evidence. Critical alerts, and those of a fixed limit, are
// not inhibited. In the same way a warning that the zone is too warm joins the
// alert of a unit that does not cool. out holds what the step has brought so far,
// from the given place on.
func (s *State) inhibit(c *Config, now rimewatch.Time, out []alert.Transition, from int) []alert.Transition {
	if !s.Alert.Inhibits() {
		return out
	}
	evidence := unit.Channels(0)
	if p, ok := s.Predict.Standing(&s.Unit); ok {
		evidence = p.Departed
	}
	opened := func(is func(*alert.Transition) bool) bool {
		return slices.ContainsFunc(out[from:], func(t alert.Transition) bool { return t.Kind == rimewatch.TransitionOpened && is(&t) })
	}
	renewed := opened(func(t *alert.Transition) bool { return t.Prediction != nil })
	warm := opened(func(t *alert.Transition) bool { return t.Type == rimewatch.HighTemperature })
	return s.Alert.Inhibit(&c.Alert, s.view(c), &s.Unit, evidence, renewed, warm, now, out)
}
