package ingest

import (
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/publish"
)

// commonCauses is what the predictions of a site's devices have to do with each
// other.
func (x *site) commonCauses() []engine.CommonCause {
	heard := 0
	var alerts []*rimewatch.Alert
	for _, u := range x.units {
		if u.Online {
			heard++
		}
		for _, a := range u.Alerts {
			if engine.Drifts(a) {
				alerts = append(alerts, a)
			}
		}
	}
	return engine.CommonCauses(heard, alerts)
}

// applyCause writes a common cause into the alert, if that is still there, and
// returns how many alerts that changes.
func (w *writer) applyCause(c *engine.CommonCause, now rimewatch.Time) int {
	u := w.fleet.Get(c.Alert.DeviceID)
	if u == nil || u.Deleted {
		return 0
	}
	st := w.stage(u)
	i := slices.IndexFunc(st.Alerts, func(a *rimewatch.Alert) bool { return a.ID == c.Alert.ID })
	if i < 0 || !engine.Drifts(st.Alerts[i]) {
		return 0
	}
	row := *st.Alerts[i]
	kind := rimewatch.TransitionUpdated
	switch {
	case row.Type == rimewatch.SlowWarming && c.Members > row.Alike:
		row.Alike = c.Members
	case c.Members > 0 && !engine.SaysCommonMode(&row):
		addEvidence(&row, rimewatch.Evidence{
			Metric: rimewatch.EvidenceCommonMode, Observed: float64(c.Members), Expected: 1, OutOf: c.Devices, Since: row.ConditionStartedAt,
		})
	case c.Members == 0 && c.InhibitedBy != row.SuppressedBy:
		if kind = rimewatch.TransitionSuppressed; c.InhibitedBy == 0 {
			kind = rimewatch.TransitionReleased
		}
		row.SuppressedBy = c.InhibitedBy
	default:
		return 0
	}
	w.putAlert(u.Alerts, &st.Alerts, i, &row)
	w.group.tell(kind, &row, now, "", "")
	w.group.events.Alerts = append(w.group.events.Alerts, publish.Alert{Kind: publish.AlertUpdated, Alert: &row})
	return 1
}

// releasePredictions lets the predictions of a device that leaves its site stand
// for themselves.
func (w *writer) releasePredictions(st *staged, now rimewatch.Time) {
	for _, a := range st.Alerts {
		if engine.Drifts(a) && a.SuppressedBy != 0 {
			w.applyCause(&engine.CommonCause{Alert: a}, now)
		}
	}
}

// addEvidence adds to the evidence of a row's prediction, which others share.
func addEvidence(row *rimewatch.Alert, e rimewatch.Evidence) {
	p := *row.Prediction
	p.Evidence = append(slices.Clone(p.Evidence), e)
	row.Prediction = &p
}

// keepCommonMode carries what an alert says of the other devices over to its next
// form.
func keepCommonMode(was, row *rimewatch.Alert) {
	if was.Prediction == nil || row.Prediction == nil || row.Prediction == was.Prediction || engine.SaysCommonMode(row) {
		return
	}
	for _, e := range was.Prediction.Evidence {
		if e.Metric == rimewatch.EvidenceCommonMode {
			addEvidence(row, e)
			return
		}
	}
}

// predictive is a sum that changes with the predictions among a device's alerts, and
// with the notices of slow warming.
func predictive(alerts []*rimewatch.Alert) (sum int64) {
	for _, a := range alerts {
		if a.Prediction != nil || a.Type == rimewatch.SlowWarming {
			sum += a.ID<<8 + a.SuppressedBy
		}
	}
	return sum
}
