package outage

import (
	"cmp"
	"slices"

	"github.com/rimewatch/rimewatch"
)

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

// Cause is the verdict on one prediction of a site.
type Cause struct {
	Alert            *rimewatch.Alert
	InhibitedBy      int64 // id of the alert that inhibits it from now on, 0 = none; with Members 0 only
	Members, Devices int   // what the inhibiting alert is to say, 0 = nothing
}

// causes returns the common causes of the predictions of a site's devices.
func (s *Site) causes() []Cause {
	heard := 0
	var alerts []*rimewatch.Alert
	for i := range s.Devices {
		d := &s.Devices[i]
		if d.Online {
			heard++
		}
		for _, a := range d.Alerts {
			if Drifts(a) {
				alerts = append(alerts, a)
			}
		}
	}
	return causes(heard, alerts)
}

// causes decides what predictions, Drifts is true of all, have to do with
// each other. heard is how many devices of the site are heard.
func causes(heard int, rows []*rimewatch.Alert) (todo []Cause) {
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
		if inhibits := saysCommonMode(first); !inhibits && !common(first, len(members), heard) {
			members = members[:1]
		} else if !inhibits || first.Alike > 0 && len(members) > first.Alike {
			todo = append(todo, Cause{Alert: first, Members: len(members), Devices: heard})
		}
		for k, r := range members {
			done[r.ID] = true
			if k > 0 && r.SuppressedBy != first.ID {
				todo = append(todo, Cause{Alert: r, InhibitedBy: first.ID})
			} else if k == 0 && r.SuppressedBy != 0 {
				todo = append(todo, Cause{Alert: r}) // what inhibited it is over
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

// saysCommonMode reports whether an alert says that others share its cause.
func saysCommonMode(a *rimewatch.Alert) bool {
	return a.Alike > 0 || a.Prediction != nil && slices.ContainsFunc(a.Prediction.Evidence, func(e rimewatch.Evidence) bool { return e.Metric == rimewatch.EvidenceCommonMode })
}

// Row returns what a cause makes of the prediction as it is now, and what happened to it; false =
// nothing does, any more.
func (c *Cause) Row(was *rimewatch.Alert) (row rimewatch.Alert, kind rimewatch.TransitionKind, ok bool) {
	if !Drifts(was) {
		return row, "", false
	}
	row, kind = *was, rimewatch.TransitionUpdated
	switch {
	case row.Type == rimewatch.SlowWarming && c.Members > row.Alike:
		row.Alike = c.Members
	case c.Members > 0 && !saysCommonMode(&row):
		addEvidence(&row, rimewatch.Evidence{
			Metric: rimewatch.EvidenceCommonMode, Observed: float64(c.Members), Expected: 1, OutOf: c.Devices, Since: row.ConditionStartedAt,
		})
	case c.Members == 0 && c.InhibitedBy != row.SuppressedBy:
		if kind = rimewatch.TransitionSuppressed; c.InhibitedBy == 0 {
			kind = rimewatch.TransitionReleased
		}
		row.SuppressedBy = c.InhibitedBy
	default:
		return row, "", false
	}
	return row, kind, true
}

// addEvidence adds to the evidence of a row's prediction, which others share.
func addEvidence(row *rimewatch.Alert, e rimewatch.Evidence) {
	p := *row.Prediction
	p.Evidence = append(slices.Clone(p.Evidence), e)
	row.Prediction = &p
}

// Keep carries what an alert says of the other devices over to its next form.
func Keep(was, row *rimewatch.Alert) {
	if was.Prediction == nil || row.Prediction == nil || row.Prediction == was.Prediction || saysCommonMode(row) {
		return
	}
	for _, e := range was.Prediction.Evidence {
		if e.Metric == rimewatch.EvidenceCommonMode {
			addEvidence(row, e)
			return
		}
	}
}

// Sum changes with the predictions among a device's alerts, and with the notices of slow warming: its
// site is to be judged again then.
func Sum(alerts []*rimewatch.Alert) (sum int64) {
	for _, a := range alerts {
		if a.Prediction != nil || a.Type == rimewatch.SlowWarming {
			sum += a.ID<<8 + a.SuppressedBy
		}
	}
	return sum
}
