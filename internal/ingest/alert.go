package ingest

import (
	"context"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/store"
)

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
