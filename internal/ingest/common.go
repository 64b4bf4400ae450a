package ingest

import (
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/publish"
)

// Common mode: when at least siteLeast devices of a site, and at least half of
// those that are heard, depart from their own baselines in the same measure and
// the same direction within commonWindow, they share a cause such as the
// weather, the air of the machine room or the mains. The oldest of their
// predictions says so and explains the others, until it is over. What each
// device knows and learns is not touched, so that replay gives the same.
const (
	commonWindow = 12 * rimewatch.Hour // two windows of the predictor
)

// shared is what is to be done about one prediction of a site.
type shared struct {
	unit             *unit
	id               int64 // of its alert
	by               int64 // the alert that explains it, 0 = none
	members, devices int   // what the explaining alert says, 0 = nothing
}

// drifts tells whether an alert is an active prediction of a measure that has
// departed.
func drifts(a *rimewatch.Alert) bool {
	return a.Prediction != nil && a.Status == rimewatch.AlertActive && a.ID != 0 && a.Metric != "" && a.Value != nil
}

// together tells whether two predictions depart alike and at about one time.
func together(a, b *rimewatch.Alert) bool {
	return a.Metric == b.Metric && (*a.Value < 0) == (*b.Value < 0) && max(a.TriggeredAt-b.TriggeredAt, b.TriggeredAt-a.TriggeredAt) <= commonWindow
}

// shares says what the predictions of a site's devices have to do with each
// other.
func (x *site) shares() (todo []shared) {
	type row struct {
		unit *unit
		*rimewatch.Alert
	}
	var rows []row
	heard := 0
	for _, u := range x.units {
		if u.online {
			heard++
		}
		for _, a := range u.alerts {
			if drifts(a) {
				rows = append(rows, row{u, a})
			}
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return int(a.ID - b.ID) })
	done := make(map[int64]bool)
	for i, first := range rows {
		if done[first.ID] {
			continue
		}
		var members []row
		for _, r := range rows[i:] {
			if !done[r.ID] && (r.SuppressedBy == first.ID || together(first.Alert, r.Alert)) {
				members = append(members, r)
			}
		}
		if explains := rooted(first.Alert); !explains && (len(members) < siteLeast || 2*len(members) < heard) {
			members = members[:1]
		} else if !explains {
			todo = append(todo, shared{unit: first.unit, id: first.ID, members: len(members), devices: heard})
		}
		for k, r := range members {
			done[r.ID] = true
			if by := first.ID; k > 0 && r.SuppressedBy != by {
				todo = append(todo, shared{unit: r.unit, id: r.ID, by: by})
			} else if k == 0 && r.SuppressedBy != 0 {
				todo = append(todo, shared{unit: r.unit, id: r.ID}) // what explained it is over
			}
		}
	}
	return todo
}

// rooted tells whether a prediction already says that others share its cause.
func rooted(a *rimewatch.Alert) bool {
	return slices.ContainsFunc(a.Prediction.Evidence, func(e rimewatch.Evidence) bool { return e.Metric == rimewatch.EvidenceCommonMode })
}

// applyShared writes it into the alert, if that is still there.
func (s *Service) applyShared(w *shared, now rimewatch.Time) int {
	if w.unit.deleted {
		return 0
	}
	st := s.stage(w.unit)
	i := slices.IndexFunc(st.alerts, func(a *rimewatch.Alert) bool { return a.ID == w.id })
	if i < 0 || !drifts(st.alerts[i]) {
		return 0
	}
	row := *st.alerts[i]
	kind := rimewatch.TransitionUpdated
	switch {
	case w.members > 0 && !rooted(&row):
		p := *row.Prediction
		p.Evidence = append(slices.Clone(p.Evidence), sharedEvidence(&row, w))
		row.Prediction = &p
	case w.members == 0 && w.by != row.SuppressedBy:
		if kind = rimewatch.TransitionSuppressed; w.by == 0 {
			kind = rimewatch.TransitionReleased
		}
		row.SuppressedBy = w.by
	default:
		return 0
	}
	s.putAlert(w.unit.alerts, &st.alerts, i, &row)
	s.tell(kind, &row, now, "", "")
	s.group.events.Alerts = append(s.group.events.Alerts, publish.Alert{Kind: publish.AlertUpdated, Alert: &row})
	return 1
}

// unshare lets the predictions of a device that leaves its site stand for
// themselves.
func (s *Service) unshare(st *staged, now rimewatch.Time) {
	for i := range st.alerts {
		if a := st.alerts[i]; drifts(a) && a.SuppressedBy != 0 {
			s.applyShared(&shared{unit: st.unit, id: a.ID}, now)
		}
	}
}

func sharedEvidence(row *rimewatch.Alert, w *shared) rimewatch.Evidence {
	return rimewatch.Evidence{Metric: rimewatch.EvidenceCommonMode, Observed: float64(w.members), Expected: 1, OutOf: w.devices, Since: row.ConditionStartedAt}
}

// keepShared carries what an alert says of the other devices over to its next
// form.
func keepShared(was, row *rimewatch.Alert) {
	if was == nil || was.Prediction == nil || row.Prediction == nil || row.Prediction == was.Prediction || rooted(row) {
		return
	}
	i := slices.IndexFunc(was.Prediction.Evidence, func(e rimewatch.Evidence) bool { return e.Metric == rimewatch.EvidenceCommonMode })
	if i < 0 {
		return
	}
	p := *row.Prediction
	p.Evidence = append(slices.Clone(p.Evidence), was.Prediction.Evidence[i])
	row.Prediction = &p
}

// predictive tells whether any of a device's alerts is a prediction, and gives a
// sum that changes with them.
func predictive(alerts []*rimewatch.Alert) (sum int64) {
	for _, a := range alerts {
		if a.Prediction != nil {
			sum += a.ID<<8 + a.SuppressedBy
		}
	}
	return sum
}
