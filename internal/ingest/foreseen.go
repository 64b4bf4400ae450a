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
// of those whose prediction is over.
func (s *Service) foreseen(st *staged, now rimewatch.Time) {
	for i, row := range st.alerts {
		if !byBaseline(row) {
			continue
		}
		var by *rimewatch.Alert
		if row.Severity == rimewatch.Warning {
			by = explaining(st.alerts, row)
		}
		if !explainedBy(row, by) {
			s.suppress(st, i, by, now)
		}
	}
}

// byBaseline tells whether an active alert is about a departure from what the
// unit itself usually shows.
func byBaseline(a *rimewatch.Alert) bool {
	_, departs := rimewatch.CutDeviation(a.Metric)
	return departs && a.Prediction == nil && a.Status == rimewatch.AlertActive
}

// explaining is the prediction that has an alert's measure in its evidence, nil =
// none.
func explaining(alerts []*rimewatch.Alert, a *rimewatch.Alert) *rimewatch.Alert {
	measure, _ := rimewatch.CutDeviation(a.Metric)
	for _, p := range alerts {
		if p.Prediction == nil {
			continue
		}
		if slices.ContainsFunc(p.Prediction.Evidence, func(e rimewatch.Evidence) bool { return e.Metric == measure }) {
			return p
		}
	}
	return nil
}
