package ingest

import (
	"slices"

	"github.com/rimewatch/rimewatch"
)

// Rules that judge a unit by its own baseline and the predictor look at the same
// drift. Whoever was told of the prediction needs no second message: while it is
// open, it explains warnings about measures that stand in its evidence. What is
// critical speaks for itself, and so does what goes past a fixed limit.

// foreseen marks a device's warnings that its predictions explain, and lets go
// of those whose prediction is over. A prediction that opened in this very group
// has no id yet: its turn comes with the device's next input.
func (s *Service) foreseen(st *staged, now rimewatch.Time) {
	if len(st.alerts) == 0 {
		return
	}
	for i := 0; i < len(st.alerts); i++ {
		row := st.alerts[i]
		if !byBaseline(row) {
			continue
		}
		by := int64(0)
		if row.Severity == rimewatch.Warning {
			by = explaining(st.alerts, row)
		}
		if by == row.SuppressedBy {
			continue
		}
		kind := rimewatch.TransitionSuppressed
		if by == 0 {
			kind = rimewatch.TransitionReleased
		}
		copied := *row
		copied.SuppressedBy = by
		s.putAlert(st.unit.alerts, &st.alerts, i, &copied)
		s.tell(kind, &copied, now, "", "")
		s.group.events.Alerts = append(s.group.events.Alerts, AlertEvent{AlertUpdated, &copied})
	}
}

// byBaseline tells whether an active alert is about a departure from what the
// unit itself usually shows: its unit is then a difference or a share, not that
// of the measurement.
func byBaseline(a *rimewatch.Alert) bool {
	f, ok := rimewatch.FieldByName(a.Metric)
	return ok && a.Prediction == nil && a.Status == rimewatch.AlertActive && a.Unit != f.Info().Unit
}

// explaining is the id of the prediction that has an alert's measure in its
// evidence, 0 = none.
func explaining(alerts []*rimewatch.Alert, a *rimewatch.Alert) int64 {
	for _, p := range alerts {
		if p.Prediction == nil || p.ID == 0 {
			continue
		}
		if slices.ContainsFunc(p.Prediction.Evidence, func(e rimewatch.Evidence) bool { return e.Metric == a.Metric }) {
			return p.ID
		}
	}
	return 0
}
