package engine

import (
	"cmp"
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
	renewed := slices.ContainsFunc(out[from:], func(t alert.Transition) bool { return t.Prediction != nil && t.Kind == alert.Opened })
	return s.Alert.Inhibit(&c.Alert, s.view(c), &s.Unit, evidence, renewed, now, out)
}

// Several units of a site that warm up slowly within a week of each other are one
// statement, too: at least half of those that are heard, or at least commonLeast.
const (
	warmingLeast  = 2
	warmingWindow = 7 * rimewatch.Day
)

// Common mode: when at least commonLeast devices of a site, and at least half of
// those that are heard, depart from their own baselines in the same measure and
// the same direction within commonWindow, they share a cause such as the
// weather, the air of the machine room or the mains. The oldest of their
// predictions says so and inhibits the others, until it is over. What each
// device knows and learns is not touched, so that replay gives the same.
const (
	commonLeast  = 3
	commonWindow = 12 * rimewatch.Hour // two windows of the predictor
)

// CommonCause is what is to become of one prediction of a site.
type CommonCause struct {
	Alert            *rimewatch.Alert
	InhibitedBy      int64 // id of the alert that inhibits it from now on, 0 = none; with Members 0 only
	Members, Devices int   // what the inhibiting alert is to say, 0 = nothing
}

// CommonCauses decides what the predictions of a site's devices have to do with
// each other. heard is how many of its devices are heard, alerts are those that
// are active on any of them.
func CommonCauses(heard int, alerts []*rimewatch.Alert) (todo []CommonCause) {
	rows := slices.DeleteFunc(slices.Clone(alerts), func(a *rimewatch.Alert) bool { return !Drifts(a) })
	slices.SortFunc(rows, func(a, b *rimewatch.Alert) int { return cmp.Compare(a.ID, b.ID) })
	done := make(map[int64]bool)
	for i, first := range rows {
		if done[first.ID] || first.Type == rimewatch.SlowWarming && first.SuppressedBy != 0 {
			continue // a warming that was raised with another is not raised again when that is over
		}
		var members []*rimewatch.Alert
		for _, r := range rows[i:] {
			if !done[r.ID] && (r.SuppressedBy == first.ID || together(first, r)) {
				members = append(members, r)
			}
		}
		if inhibits := SaysCommonMode(first); !inhibits && !common(first, len(members), heard) {
			members = members[:1]
		} else if !inhibits || first.Alike > 0 && len(members) > first.Alike {
			todo = append(todo, CommonCause{Alert: first, Members: len(members), Devices: heard})
		}
		for k, r := range members {
			done[r.ID] = true
			if k > 0 && r.SuppressedBy != first.ID {
				todo = append(todo, CommonCause{Alert: r, InhibitedBy: first.ID})
			} else if k == 0 && r.SuppressedBy != 0 {
				todo = append(todo, CommonCause{Alert: r}) // what inhibited it is over
			}
		}
	}
	return todo
}

// common reports whether so many alike are more than chance.
func common(first *rimewatch.Alert, members, heard int) bool {
	if first.Type == rimewatch.SlowWarming {
		return members >= commonLeast || members >= warmingLeast && 2*members >= heard
	}
	return members >= commonLeast && 2*members >= heard
}

// Drifts reports whether an alert is an active prediction of a measure that has
// departed, or that a unit warms up slowly.
func Drifts(a *rimewatch.Alert) bool {
	return (a.Prediction != nil || a.Type == rimewatch.SlowWarming) && a.Status == rimewatch.AlertActive && a.ID != 0 && a.Metric != "" && a.Value != nil
}

// together reports whether two predictions depart alike and at about one time, or two
// units warm up.
func together(a, b *rimewatch.Alert) bool {
	if a.Type == rimewatch.SlowWarming || b.Type == rimewatch.SlowWarming {
		return a.Type == b.Type && max(a.ConditionStartedAt-b.ConditionStartedAt, b.ConditionStartedAt-a.ConditionStartedAt) <= warmingWindow
	}
	return a.Metric == b.Metric && (*a.Value < 0) == (*b.Value < 0) && max(a.TriggeredAt-b.TriggeredAt, b.TriggeredAt-a.TriggeredAt) <= commonWindow
}

// SaysCommonMode reports whether an alert says that others share its cause.
func SaysCommonMode(a *rimewatch.Alert) bool {
	return a.Alike > 0 || a.Prediction != nil && slices.ContainsFunc(a.Prediction.Evidence, func(e rimewatch.Evidence) bool { return e.Metric == rimewatch.EvidenceCommonMode })
}
