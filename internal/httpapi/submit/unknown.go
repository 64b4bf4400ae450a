package submit

import (
	"context"
	"net/http"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Waiting keeps the readings of unregistered devices.
type Waiting interface {
	// Bound returns the device that a serial is bound to, and whether there is one.
	Bound(ctx context.Context, workspaceID int64, serial string) (who *store.Identity, bound bool, err error)
	// Register makes the device of a serial, for the actor, and stores its waiting readings:
	// CodeRateLimited when the workspace has had too many within an hour.
	Register(ctx context.Context, workspaceID int64, serial, actor string) (*store.Identity, error)
	// HoldReadings keeps readings as they came and returns when they are on stable
	// storage. Those for which there was no room have the ID 0.
	HoldReadings(ctx context.Context, workspaceID int64, list []*rimewatch.Held) error
}

// unknown finds the device of a serial that is not registered: the one that it is
// bound to, or one that is made for it. Where the reading has to wait for one, there
// is none.
func (g *Readings) unknown(ctx context.Context, p *account.Principal, w *rimewatch.Workspace, serial string) (who *store.Identity, wait bool, err error) {
	who, bound, err := g.Waiting.Bound(ctx, p.WorkspaceID, serial)
	switch {
	case err != nil || bound:
		return who, false, err
	case w.OnUnknown == rimewatch.HoldUnknown:
		return nil, true, nil
	case w.OnUnknown == rimewatch.RefuseUnknown:
		return nil, false, errUnknownDevice()
	}
	who, err = g.register(ctx, p, serial)
	if waits(err) {
		return nil, true, nil
	}
	return who, false, err
}

// register makes the device of an unknown serial. The reading is the answer, not the device.
func (g *Readings) register(ctx context.Context, p *account.Principal, serial string) (*store.Identity, error) {
	return g.Waiting.Register(store.WithAnswer(ctx, nil), p.WorkspaceID, serial, httpapi.TokenActor(p))
}

// waits reports whether a device was not registered because there are too many, or
// were too many within the hour: what it sends waits.
func waits(err error) bool {
	code := rimewatch.CodeOf(err)
	return code == rimewatch.CodeRateLimited || code == rimewatch.CodeQuotaExceeded
}

// heldReading is the form in which a reading waits.
func heldReading(serial string, now rimewatch.Time, body []byte) *rimewatch.Held {
	return &rimewatch.Held{ExternalID: serial, ReceivedAt: now, Topic: rimewatch.HeldReadingTopic, Body: body, Reason: "no device has this serial"}
}

// hold keeps the reading in s until somebody accepts its device.
func (g *Readings) hold(ctx context.Context, p *account.Principal, onUnknown rimewatch.OnUnknown, now rimewatch.Time, body []byte, s *Scratch) (status int, err *rimewatch.Error) {
	held := heldReading(string(s.sent.Serial), now, body)
	if failed := g.Waiting.HoldReadings(ctx, p.WorkspaceID, []*rimewatch.Held{held}); failed != nil {
		return 0, httpapi.AsError(failed)
	}
	if held.ID == 0 {
		return 0, rimewatch.ErrHeldFull()
	}
	s.Out = append(s.Out[:0], `{"success":true,"data":{"held":true,"device_serial":`...)
	s.Out = wire.AppendString(s.Out, held.ExternalID)
	s.Out = appendWaiting(append(s.Out, ','), onUnknown, now)
	s.Out = append(appendIgnored(s.Out, s.sent.Ignored), "}}\n"...)
	return http.StatusAccepted, nil
}

// How readings that wait are accepted.
const (
	acceptPage = "/settings/sources"
	acceptPath = httpapi.Prefix + "/v1/sources/" + rimewatch.SourceAPI + "/bind"
)

// appendWaiting appends the answer's facts about readings that wait.
func appendWaiting(b []byte, onUnknown rimewatch.OnUnknown, now rimewatch.Time) []byte {
	reason := "No device has this serial, and the workspace keeps what unknown devices send until somebody accepts them."
	if onUnknown == rimewatch.RegisterUnknown {
		reason = "No device has this serial, and none was registered: there were too many within an hour, or the workspace has as many as it may have."
	}
	b = append(b, `"waiting":{"reason":`...)
	b = wire.AppendString(b, reason)
	b = append(b, `,"kept_until":`...)
	b = wire.AppendTime(b, now+rimewatch.HeldFor)
	return append(b, `,"accept":{"page":"`+acceptPage+`","method":"`+http.MethodPost+`","path":"`+acceptPath+`","scope":"devices:write"}}`...)
}

// stranger decides about the i-th input of a batch, whose serial is not registered: it
// returns the device or the refusal, or has noted what becomes of the reading later.
func (b *Batch) stranger(bc *batchContext, i int) (who *store.Identity, later bool, err error) {
	from, place := &b.senders[i], b.index[i]
	serial := string(b.serials[from.run])
	if bc.settings.OnUnknown == rimewatch.RegisterUnknown {
		who, bound, err := bc.Waiting.Bound(bc.ctx, bc.workspaceID, serial)
		if err == nil && !bound {
			item := pendingItem{input: b.inputs[i], index: place, serial: serial, raw: from.raw}
			if from.extras > 0 {
				item.vitals = &b.extras[from.extras-1]
			}
			b.pending = append(b.pending, item)
			return nil, true, nil
		}
		return who, false, err
	}
	who, later, err = bc.unknown(bc.ctx, bc.principal, &bc.settings, serial)
	if later {
		b.wait(bc, place, serial, from.raw)
	}
	return who, later, err
}

// wait notes an item that has to wait for its device.
func (b *Batch) wait(bc *batchContext, place int32, serial string, raw []byte) {
	b.held = append(b.held, heldReading(serial, bc.now, raw))
	b.heldAt = append(b.heldAt, place)
}

// keep stores the waiting readings durably.
func (b *Batch) keep(bc *batchContext) error {
	if len(b.held) == 0 {
		return nil
	}
	if err := bc.Waiting.HoldReadings(bc.ctx, bc.workspaceID, b.held); err != nil {
		return err
	}
	for i, h := range b.held {
		if h.ID == 0 {
			e := rimewatch.ErrHeldFull()
			b.rejected = append(b.rejected, rejection{b.heldAt[i], e.Code, e.Fields})
		} else {
			b.waiting++
		}
	}
	return nil
}
