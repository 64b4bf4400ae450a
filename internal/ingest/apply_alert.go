package ingest

import (
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/publish"
)

// alertsOf returns the active alerts of an alert's device or site.
func (e *evaluator) alertsOf(a *rimewatch.Alert) []*rimewatch.Alert {
	if x := e.sites.byID[a.SiteID]; a.SiteID != 0 && x != nil {
		return x.alerts
	}
	if u := e.fleet.Get(a.DeviceID); a.SiteID == 0 && u != nil {
		return u.Alerts
	}
	return nil
}

// stageAlerts returns them on their way through the group, nil when there is no
// such device or site any more. It holds until the next one is staged.
func (e *evaluator) stageAlerts(a *rimewatch.Alert) *[]*rimewatch.Alert {
	if x := e.sites.byID[a.SiteID]; a.SiteID != 0 && x != nil {
		return &e.group.stageSite(x).alerts
	}
	if u := e.fleet.Get(a.DeviceID); a.SiteID == 0 && u != nil {
		return &e.stage(u).Alerts
	}
	return nil
}

// prepareAlertOp checks whether the alert is still active, so that nothing is logged in vain.
// Only the writer goroutine changes that.
func (e *evaluator) prepareAlertOp(r *request) {
	op := r.alert
	needed := !op.anyTime() || op.does == rimewatch.TransitionFeedback && op.found.Status == rimewatch.AlertActive
	if needed && alertAt(e.alertsOf(&op.found.Alert), op.id) < 0 {
		op.err = errNotActive()
		r.inputs = nil
	}
}

// finishAlertOp writes a person's change after the group's inputs: if these ended the alert, the
// person came too late.
func (e *evaluator) finishAlertOp(op *alertOp, now rimewatch.Time) {
	found := &op.found.Alert
	if alerts := e.stageAlerts(found); alerts != nil {
		if i := alertAt(*alerts, op.id); i >= 0 {
			row := *(*alerts)[i]
			was := row.Feedback
			what := op.apply(&row, now)
			e.putAlert(e.alertsOf(found), alerts, i, &row)
			e.group.addTransition(op.does, &row, now, op.by, op.note)
			e.group.auditAlert(op, &row, now)
			if op.does == rimewatch.TransitionFeedback {
				e.group.noteVerdict(op, was)
				if what == rimewatch.TransitionResolved {
					e.group.addTransition(rimewatch.TransitionResolved, &row, now, op.by, op.note)
				}
			}
			e.group.events.Alerts = append(e.group.events.Alerts, publish.AlertOf(what, &row))
			return
		}
	}
	switch {
	case op.does == rimewatch.TransitionFeedback:
		e.judgedLate(op, now)
		return
	case !op.anyTime():
		op.err = errNotActive()
		return
	}
	e.group.addTransition(op.does, found, now, op.by, op.note)
	e.group.auditAlert(op, found, now)
}

// endAcks ends the acknowledgements of the group's units whose time has passed.
func (e *evaluator) endAcks(now rimewatch.Time) {
	for i := range e.group.staged {
		st := &e.group.staged[i]
		for k := ackEnded(st.Alerts, now); k >= 0; k = ackEnded(st.Alerts, now) {
			e.endAck(st.Device.Alerts, &st.Alerts, k, now)
		}
	}
}

// judgedLate writes feedback on an alert that is over.
func (e *evaluator) judgedLate(op *alertOp, now rimewatch.Time) {
	row := op.found.Alert
	alerts := &e.group.result.Alerts
	i := slices.IndexFunc(*alerts, func(a *rimewatch.Alert) bool { return a.ID == op.id })
	if i >= 0 { // it has ended in this very group
		row = *(*alerts)[i]
	}
	was := row.Feedback
	if row.Status == rimewatch.AlertActive {
		op.err = errNotActive() // its device was deleted meanwhile
		return
	}
	op.judge(&row, now)
	if i >= 0 {
		e.group.events.Replace((*alerts)[i], &row)
		(*alerts)[i] = &row
	} else {
		*alerts = append(*alerts, &row)
	}
	e.group.addTransition(op.does, &row, now, op.by, op.note)
	e.group.auditAlert(op, &row, now)
	e.group.noteVerdict(op, was)
	e.group.events.Alerts = append(e.group.events.Alerts, publish.AlertOf(op.does, &row))
}
