package ingest

import (
	"cmp"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/outage"
)

// transition turns what the rules say into rows and events. replacement is the id of the prediction that
// replaces another one in this step, 0 = none does.
func (e *evaluator) transition(st *staged, t *alert.Transition, replacement int64, now rimewatch.Time) {
	i := -1
	for k, row := range st.Alerts {
		if row.Type == t.Type && row.Part == t.Part {
			i = k
			break
		}
	}
	if t.Kind == alert.Inhibited || t.Kind == alert.Released {
		e.inhibitWarning(st, i, t.Kind, now)
		return
	}
	row := &rimewatch.Alert{WorkspaceID: st.Device.WorkspaceID, DeviceID: st.Device.ID, Type: t.Type, Part: t.Part, Status: rimewatch.AlertActive, TriggeredAt: now}
	switch {
	case i >= 0:
		copied := *st.Alerts[i]
		row = &copied
	case t.Kind != alert.Opened:
		return // its row was resolved by a person in this very group
	case t.Prediction != nil:
		row.ID = replacement
	}
	row.Severity, row.ConditionStartedAt, row.LastEvaluatedAt = t.Severity, t.ConditionStartedAt, now
	row.Metric, row.Unit, row.Flapping, row.Occurrences = t.Metric, t.Unit, t.Flapping, t.Occurrences
	if t.HasValue {
		value, peak := t.Value, t.Peak
		row.Value, row.PeakValue = &value, &peak
	}
	if t.HasThreshold {
		threshold := t.Threshold
		row.Threshold = &threshold
	}
	row.Usual, row.Unmet = nil, t.Unmet
	if t.HasUsual {
		usual := t.Usual
		row.Usual = &usual
	}
	if t.HasHold {
		hold := t.HoldHours
		row.HoldH = &hold
	}
	if t.Kind == alert.Resolved {
		row.Status, row.Resolution, row.ResolvedAt = rimewatch.AlertResolved, cmp.Or(t.Resolution, rimewatch.ResolvedAuto), now
		row.Relearning, row.Superseded, row.Ending = t.Relearning, t.Superseded, t.Ending
		if t.Ending == rimewatch.EndedOtherFault {
			row.ReplacedBy = replacement
		}
	} else {
		row.Prediction = t.Prediction
		if i >= 0 {
			outage.Keep(st.Alerts[i], row)
		}
	}
	e.putAlert(st.Device.Alerts, &st.Alerts, i, row)
	e.group.tell(timelineKinds[t.Kind], row, now, "", "")
	e.group.events.Alerts = append(e.group.events.Alerts, alertEvent(t.Kind, row))
}

// inhibitWarning notes that the device's prediction inhibits its i-th alert, or
// does no longer.
func (e *evaluator) inhibitWarning(st *staged, i int, kind alert.Kind, now rimewatch.Time) {
	var by *rimewatch.Alert
	for _, row := range st.Alerts {
		if row.Prediction != nil && kind == alert.Inhibited {
			by = row
		}
	}
	if i >= 0 && !inhibitedBy(st.Alerts[i], by) {
		e.inhibit(st, i, by, now)
	}
}

// putAlert places a changed row among the staged alerts of a unit or site, whose
// i-th it is (-1 = a new one), and among the effects. committed are those from
// before the group.
func (e *evaluator) putAlert(committed []*rimewatch.Alert, alerts *[]*rimewatch.Alert, i int, row *rimewatch.Alert) {
	// The slice may still be the committed one: it is copied before it changes.
	list := append(make([]*rimewatch.Alert, 0, len(*alerts)+1), *alerts...)
	var old *rimewatch.Alert
	switch {
	case i < 0:
		if row.ID == 0 {
			row.ID = e.store.NewAlertID()
		}
		list = append(list, row)
	case row.Status != rimewatch.AlertActive:
		old = list[i]
		list = append(list[:i], list[i+1:]...)
	default:
		old = list[i]
		list[i] = row
	}
	*alerts = list
	effects := &e.group.result
	if old == nil || slices.Contains(committed, old) {
		effects.Alerts = append(effects.Alerts, row)
		return
	}
	// The row changes for the second time in this group.
	effects.Alerts[slices.Index(effects.Alerts, old)] = row
	e.group.events.Replace(old, row)
}
