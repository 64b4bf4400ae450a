package ingest

import (
	"context"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// alertOp is what a person does to an active alert.
type alertOp struct {
	workspaceID, id int64
	by, note        string
	expires         time.Duration // of an acknowledgement, 0 = by severity
	resolve         bool
	kind            rimewatch.AlertType // of the alert; known once it is found
	device          int64
	err             error
}

// How long an acknowledgement lasts when nothing is said.
const (
	ackWarning  = 4 * time.Hour
	ackCritical = time.Hour
)

// Acknowledge notes that somebody takes care of an alert, until expires has
// passed (0: 4 h for a warning, 1 h for a critical one): CodeAlertNotFound,
// CodeAlertNotActive.
func (s *Service) Acknowledge(ctx context.Context, workspaceID, id int64, by, note string, expires time.Duration) (rimewatch.AlertView, error) {
	return s.alertOp(ctx, &alertOp{workspaceID: workspaceID, id: id, by: by, note: note, expires: expires})
}

// ResolveAlert ends an alert by hand: CodeAlertNotFound, CodeAlertNotActive. If
// the condition still holds, a new alert opens after 30 min (5 min if critical).
func (s *Service) ResolveAlert(ctx context.Context, workspaceID, id int64, by, note string) (rimewatch.AlertView, error) {
	return s.alertOp(ctx, &alertOp{workspaceID: workspaceID, id: id, by: by, note: note, resolve: true})
}

func (s *Service) alertOp(ctx context.Context, op *alertOp) (rimewatch.AlertView, error) {
	v, err := s.store.Alert(ctx, op.workspaceID, op.id)
	if err != nil {
		return v, err
	}
	op.device, op.kind = v.DeviceID, v.Type
	r := &request{alert: op, done: make(chan error, 1)}
	if op.resolve {
		r.inputs = []store.Input{{Kind: store.InputResolve, DeviceID: op.device, Payload: []byte(op.kind)}}
	}
	if err := s.send(ctx, r); err != nil {
		return v, err
	}
	if op.err != nil {
		return v, op.err
	}
	return s.store.Alert(ctx, op.workspaceID, op.id)
}

func errNotActive() error {
	return rimewatch.Errorf(rimewatch.CodeAlertNotActive, "The alert is not active any more.")
}

// prepareAlertOp settles whether the alert is still active, so that nothing is
// logged in vain. The writer goroutine alone changes that.
func (s *Service) prepareAlertOp(r *request) {
	op := r.alert
	op.err = errNotActive()
	if u := s.units[op.device]; u != nil {
		for _, row := range u.alerts {
			if row.ID == op.id {
				op.err = nil
			}
		}
	}
	if op.err != nil {
		r.inputs = nil
	}
}

// finishAlertOp writes what a person did, after the group's inputs: if they
// ended the alert by themselves, the person came too late.
func (s *Service) finishAlertOp(op *alertOp, now rimewatch.Time) {
	u := s.units[op.device]
	if u == nil {
		op.err = errNotActive()
		return
	}
	st := s.stage(u)
	for i, row := range st.alerts {
		if row.ID != op.id {
			continue
		}
		copied := *row
		kind := op.apply(&copied, now)
		s.putAlert(st, i, &copied)
		s.group.events.Alerts = append(s.group.events.Alerts, AlertEvent{kind, &copied})
		return
	}
	op.err = errNotActive()
}

// ack is an acknowledgement that ends by itself.
type ack struct {
	unit *unit
	at   rimewatch.Time
}

// noteAck remembers when an alert's acknowledgement ends.
func (s *Service) noteAck(u *unit, a *rimewatch.Alert) {
	if a.Status == rimewatch.AlertActive && a.AcknowledgedAt != 0 && a.AckExpiresAt != 0 {
		s.acks[a.ID] = ack{u, a.AckExpiresAt}
	} else {
		delete(s.acks, a.ID)
	}
}

// acksDue tells whether an acknowledgement ends by now.
func (s *Service) acksDue(now rimewatch.Time) bool {
	for _, a := range s.acks {
		if a.at <= now {
			return true
		}
	}
	return false
}

// endAcks ends, inside a group, the acknowledgements whose time has passed: the
// alert is nobody's again. It gives how many there were.
func (s *Service) endAcks(now rimewatch.Time) (ended int) {
	for id, a := range s.acks {
		if a.at > now || a.unit.deleted {
			continue
		}
		st := s.stage(a.unit)
		i := slices.IndexFunc(st.alerts, func(row *rimewatch.Alert) bool { return row.ID == id })
		if i < 0 || st.alerts[i].AcknowledgedAt == 0 {
			delete(s.acks, id) // it ended in another way
			continue
		}
		if row := st.alerts[i]; row.AckExpiresAt <= now {
			copied := *row
			copied.AcknowledgedAt, copied.AcknowledgedBy, copied.AckExpiresAt = 0, "", 0
			s.putAlert(st, i, &copied)
			s.group.events.Alerts = append(s.group.events.Alerts, AlertEvent{AlertUpdated, &copied})
			ended++
		}
	}
	return ended
}

func (op *alertOp) apply(a *rimewatch.Alert, now rimewatch.Time) EventKind {
	if op.note != "" {
		a.Note = op.note
	}
	if op.resolve {
		a.Status, a.Resolution, a.ResolvedAt, a.ResolvedBy = rimewatch.AlertResolved, rimewatch.ResolvedManual, now, op.by
		return AlertResolved
	}
	span := op.expires
	if span == 0 {
		span = ackWarning
		if a.Severity == rimewatch.Critical {
			span = ackCritical
		}
	}
	a.AcknowledgedAt, a.AcknowledgedBy, a.AckExpiresAt = now, op.by, now.Add(span)
	return AlertAcknowledged
}
