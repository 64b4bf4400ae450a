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
	if t.Kind == rimewatch.TransitionSuppressed || t.Kind == rimewatch.TransitionReleased {
		e.inhibitWarning(st, i, t, now)
		return
	}
	row := &rimewatch.Alert{WorkspaceID: st.Device.WorkspaceID, DeviceID: st.Device.ID, Type: t.Type, Part: t.Part, Status: rimewatch.AlertActive, TriggeredAt: now}
	switch {
	case i >= 0:
		copied := *st.Alerts[i]
		row = &copied
	case t.Kind != rimewatch.TransitionOpened:
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
	if t.Kind == rimewatch.TransitionResolved {
		row.Status, row.Resolution, row.ResolvedAt = rimewatch.AlertResolved, cmp.Or(t.Resolution, rimewatch.ResolvedAuto), now
		row.Relearning, row.Superseded, row.Ending, row.BackSince = t.Relearning, t.Superseded, t.Ending, t.BackSince
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
	e.group.addEvent(t.Kind, row, now)
}

// inhibitWarning notes that the device's prediction inhibits its i-th alert, or that of a unit that does not
// cool a zone that is too warm, or does no longer.
func (e *evaluator) inhibitWarning(st *staged, i int, t *alert.Transition, now rimewatch.Time) {
	var by *rimewatch.Alert
	for _, row := range st.Alerts {
		says := row.Prediction != nil
		if t.Type == rimewatch.HighTemperature {
			says = row.Type == rimewatch.NotCooling
		}
		if says && t.Kind == rimewatch.TransitionSuppressed {
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

// inhibit sets what inhibits the i-th alert of a device, nil = nothing any more.
func (e *evaluator) inhibit(st *staged, i int, by *rimewatch.Alert, now rimewatch.Time) {
	row := *st.Alerts[i]
	row.SuppressedBy = 0
	kind := rimewatch.TransitionReleased
	if by != nil {
		row.SuppressedBy = by.ID
		kind = rimewatch.TransitionSuppressed
	}
	e.putAlert(st.Device.Alerts, &st.Alerts, i, &row)
	e.group.addEvent(kind, &row, now)
}

// inhibitedBy reports whether an alert says already what inhibits it, nil =
// nothing.
func inhibitedBy(row, by *rimewatch.Alert) bool {
	if by == nil {
		return row.SuppressedBy == 0
	}
	return row.SuppressedBy == by.ID
}

// inhibitOffline sets what inhibits a device's silence, nil = nothing; it returns
// how many alerts that changes.
func (e *evaluator) inhibitOffline(st *staged, by *rimewatch.Alert, now rimewatch.Time) int {
	for i, row := range st.Alerts {
		if row.Type == rimewatch.DeviceOffline && !inhibitedBy(row, by) {
			e.inhibit(st, i, by, now)
			return 1
		}
	}
	return 0
}

// endAck ends the acknowledgement of the i-th of the alerts, of which shared are
// the stored ones.
func (e *evaluator) endAck(shared []*rimewatch.Alert, alerts *[]*rimewatch.Alert, i int, now rimewatch.Time) {
	row := *(*alerts)[i]
	row.AcknowledgedAt, row.AcknowledgedBy, row.AckExpiresAt = 0, "", 0
	e.putAlert(shared, alerts, i, &row)
	e.group.addEvent(rimewatch.TransitionAckExpired, &row, now)
}

// ackEnds returns when the first acknowledgement of active alerts ends, 0 = none
// does.
func ackEnds(alerts []*rimewatch.Alert) (at rimewatch.Time) {
	for _, a := range alerts {
		at = earliest(at, a.AckExpiresAt)
	}
	return at
}

// ackEnded returns the place of an alert whose acknowledgement has ended by now,
// −1 = there is none.
func ackEnded(alerts []*rimewatch.Alert, now rimewatch.Time) int {
	return slices.IndexFunc(alerts, func(a *rimewatch.Alert) bool { return a.AckExpiresAt != 0 && a.AckExpiresAt <= now })
}

// supersede ends the i-th alert of a device that is no more, or that is known
// no more.
func (e *evaluator) supersede(st *staged, i int, now rimewatch.Time) {
	row := *st.Alerts[i]
	row.Status, row.Resolution, row.ResolvedAt = rimewatch.AlertResolved, rimewatch.ResolvedSuperseded, now
	row.Ending = rimewatch.EndedRemoved
	e.putAlert(st.Device.Alerts, &st.Alerts, i, &row)
	e.group.addEvent(rimewatch.TransitionResolved, &row, now)
}

func alertAt(alerts []*rimewatch.Alert, id int64) int {
	return slices.IndexFunc(alerts, func(row *rimewatch.Alert) bool { return row.ID == id })
}

func (e *evaluator) transitions(st *staged, out []alert.Transition, now rimewatch.Time) {
	replacement := int64(0)
	for i := range out {
		t := &out[i]
		if t.Ending == rimewatch.EndedOtherFault && slices.ContainsFunc(out[i+1:], opensPrediction) {
			replacement = e.store.NewAlertID()
		}
		e.transition(st, t, replacement, now)
	}
}

func opensPrediction(t alert.Transition) bool {
	return t.Kind == rimewatch.TransitionOpened && t.Prediction != nil
}
