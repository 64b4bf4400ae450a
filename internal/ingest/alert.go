package ingest

import (
	"context"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
)

// alertOp is what a person does to an alert.
type alertOp struct {
	workspaceID, id int64
	does            rimewatch.TransitionKind
	by, who, note   string               // by is shown with the alert, who in the audit trail
	expires         time.Duration        // of an acknowledgement, 0 = by severity
	verdict         rimewatch.Verdict    // of feedback
	found           *rimewatch.AlertView // as stored when the request came
	err             error
}

// Acknowledge acknowledges an alert, until expires has
// passed (0: 4 h for a warning, 1 h for a critical one): CodeAlertNotFound,
// CodeAlertNotActive.
func (s *Service) Acknowledge(ctx context.Context, workspaceID, id int64, by, note string, expires time.Duration) (rimewatch.AlertView, error) {
	return s.alertOp(ctx, &alertOp{workspaceID: workspaceID, id: id, does: rimewatch.TransitionAcknowledged, by: by, note: note, expires: expires})
}

// ResolveAlert ends an alert by hand: CodeAlertNotFound, CodeAlertNotActive. If
// the condition still holds, a new alert opens after 30 min (5 min if critical).
func (s *Service) ResolveAlert(ctx context.Context, workspaceID, id int64, by, note string) (rimewatch.AlertView, error) {
	return s.alertOp(ctx, &alertOp{workspaceID: workspaceID, id: id, does: rimewatch.TransitionResolved, by: by, note: note})
}

// NoteAlert writes a note into the timeline of an alert, be it active or over:
// CodeAlertNotFound. While it is active, its newest note is shown with it.
func (s *Service) NoteAlert(ctx context.Context, workspaceID, id int64, by, note string) (rimewatch.AlertView, error) {
	return s.alertOp(ctx, &alertOp{workspaceID: workspaceID, id: id, does: rimewatch.TransitionNoted, by: by, note: note})
}

func (s *Service) alertOp(ctx context.Context, op *alertOp) (rimewatch.AlertView, error) {
	v, err := s.store.Alert(ctx, op.workspaceID, op.id)
	if err != nil {
		return v, err
	}
	op.found, op.who = &v, store.ActorOf(ctx)
	r := &request{alert: op, done: make(chan error, 1)}
	switch {
	case op.does == rimewatch.TransitionFeedback:
		if r.inputs, err = op.judges(); err != nil {
			return v, err
		}
	case op.does == rimewatch.TransitionResolved && v.SiteID == 0:
		r.inputs = []store.Input{{Kind: store.InputResolve, DeviceID: v.DeviceID, Payload: fleet.EncodeResolve(&v.Alert)}}
	}
	if err := s.inbox.send(ctx, r); err != nil {
		return v, err
	}
	if op.err != nil {
		return v, op.err
	}
	return s.store.Alert(ctx, op.workspaceID, op.id)
}

func errNotActive() error {
	return rimewatch.Errorf(rimewatch.CodeAlertNotActive, "The alert is no longer active.")
}

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

func alertAt(alerts []*rimewatch.Alert, id int64) int {
	return slices.IndexFunc(alerts, func(row *rimewatch.Alert) bool { return row.ID == id })
}

// prepareAlertOp settles whether the alert is still active, so that nothing is
// logged in vain. The writer goroutine alone changes that.
func (e *evaluator) prepareAlertOp(r *request) {
	op := r.alert
	needed := !op.anyTime() || op.does == rimewatch.TransitionFeedback && op.found.Status == rimewatch.AlertActive
	if needed && alertAt(e.alertsOf(&op.found.Alert), op.id) < 0 {
		op.err = errNotActive()
		r.inputs = nil
	}
}

// finishAlertOp writes what a person did, after the group's inputs: if they
// ended the alert by themselves, the person came too late.
func (e *evaluator) finishAlertOp(op *alertOp, now rimewatch.Time) {
	found := &op.found.Alert
	if alerts := e.stageAlerts(found); alerts != nil {
		if i := alertAt(*alerts, op.id); i >= 0 {
			row := *(*alerts)[i]
			was := row.Feedback
			kind := op.apply(&row, now)
			e.putAlert(e.alertsOf(found), alerts, i, &row)
			e.group.tell(op.does, &row, now, op.by, op.note)
			e.group.auditAlert(op, &row, now)
			if op.does == rimewatch.TransitionFeedback {
				e.group.noteVerdict(op, was)
				if kind == publish.AlertResolved {
					e.group.tell(rimewatch.TransitionResolved, &row, now, op.by, op.note)
				}
			}
			e.group.events.Alerts = append(e.group.events.Alerts, publish.Alert{Kind: kind, Alert: &row})
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
	e.group.tell(op.does, found, now, op.by, op.note)
	e.group.auditAlert(op, found, now)
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

// endAcks ends the acknowledgements of the group's units whose time has passed:
// the alert is nobody's again.
func (e *evaluator) endAcks(now rimewatch.Time) {
	for i := range e.group.staged {
		st := &e.group.staged[i]
		for k := ackEnded(st.Alerts, now); k >= 0; k = ackEnded(st.Alerts, now) {
			e.endAck(st.Device.Alerts, &st.Alerts, k, now)
		}
	}
}

// endAck ends the acknowledgement of the i-th of the alerts, of which shared are
// the stored ones.
func (e *evaluator) endAck(shared []*rimewatch.Alert, alerts *[]*rimewatch.Alert, i int, now rimewatch.Time) {
	row := *(*alerts)[i]
	row.AcknowledgedAt, row.AcknowledgedBy, row.AckExpiresAt = 0, "", 0
	e.putAlert(shared, alerts, i, &row)
	e.group.tell(rimewatch.TransitionAckExpired, &row, now, "", "")
	e.group.events.Alerts = append(e.group.events.Alerts, publish.Alert{Kind: publish.AlertUpdated, Alert: &row})
}

func (op *alertOp) apply(a *rimewatch.Alert, now rimewatch.Time) publish.Kind {
	if op.note != "" {
		a.Note = op.note
	}
	switch op.does {
	case rimewatch.TransitionFeedback:
		return op.judge(a, now)
	case rimewatch.TransitionResolved:
		a.Status, a.Resolution, a.ResolvedAt, a.ResolvedBy = rimewatch.AlertResolved, rimewatch.ResolvedManual, now, op.by
		return publish.AlertResolved
	case rimewatch.TransitionAcknowledged:
		span := rimewatch.Time(op.expires.Milliseconds())
		if span == 0 {
			span = alert.AcknowledgedFor(a.Severity)
		}
		a.AcknowledgedAt, a.AcknowledgedBy, a.AckExpiresAt = now, op.by, now+span
		return publish.AlertAcknowledged
	default:
		return publish.AlertUpdated
	}
}
