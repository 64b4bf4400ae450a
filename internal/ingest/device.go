package ingest

import (
	"cmp"
	"context"
	"errors"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
)

// CreateDevice registers a device: CodeSerialTaken. ID and times are set here.
func (s *Service) CreateDevice(ctx context.Context, d *rimewatch.Device) (rimewatch.DeviceView, error) {
	created := *d
	created.ID = s.store.NewDeviceID()
	return s.changeDevice(ctx, &deviceOp{DeviceOp: store.DeviceOp{WorkspaceID: d.WorkspaceID, Serial: d.Serial, Create: &created}})
}

// UpdateDevice changes a device: CodeDeviceNotFound, or what change returns. Change
// runs again where another change came first. It must not touch ID, workspace and
// serial, nor write into what the device refers to, such as its labels.
func (s *Service) UpdateDevice(ctx context.Context, workspaceID int64, serial string, change func(*rimewatch.Device) error) (rimewatch.DeviceView, error) {
	return s.updateDevice(ctx, store.DeviceOp{WorkspaceID: workspaceID, Serial: serial}, change)
}

// updateDevice carries out what change makes of a device, with what else op brings.
func (s *Service) updateDevice(ctx context.Context, op store.DeviceOp, change func(*rimewatch.Device) error) (rimewatch.DeviceView, error) {
	for {
		v, err := s.store.Device(ctx, op.WorkspaceID, op.Serial)
		if err != nil {
			return v, err
		}
		one := &deviceOp{DeviceOp: op}
		if err := one.changes(&v.Device, change); err != nil {
			return rimewatch.DeviceView{}, err
		}
		if v, err = s.changeDevice(ctx, one); !errors.Is(err, store.ErrOutdated) {
			return v, err
		}
	}
}

// DeleteDevice retires a device: CodeDeviceNotFound. Its history and alerts are
// kept, its active alerts resolve as superseded, its serial is free again.
func (s *Service) DeleteDevice(ctx context.Context, workspaceID int64, serial string) (rimewatch.DeviceView, error) {
	return s.changeDevice(ctx, &deviceOp{DeviceOp: store.DeviceOp{WorkspaceID: workspaceID, Serial: serial, Delete: true}})
}

// deviceOp is a change of a device on its way.
type deviceOp struct {
	store.DeviceOp
	who string // for the audit trail; "" = the device itself, which leaves no entry
}

// changes makes op the change of a device as it was read a moment ago.
func (op *deviceOp) changes(was *rimewatch.Device, change func(*rimewatch.Device) error) error {
	was.WorkspaceLimits = nil // of its workspace, not of its row
	next := *was
	op.Was, op.Change = was, &next
	return change(op.Change)
}

// encode makes what the log keeps of the device. The writer goroutine calls it.
func (op *deviceOp) encode(s *Service) {
	if d := cmp.Or(op.Create, op.Change); d != nil {
		op.Payload = s.encodeConfig(d)
	}
}

func (s *Service) changeDevice(ctx context.Context, op *deviceOp) (rimewatch.DeviceView, error) {
	op.who = store.ActorOf(ctx)
	if err := s.send(ctx, &request{device: op, done: make(chan error, 1)}); err != nil {
		return rimewatch.DeviceView{}, err
	}
	if op.Err != nil {
		return rimewatch.DeviceView{}, op.Err
	}
	if op.Delete {
		return rimewatch.DeviceView{Device: op.Device, Live: rimewatch.Live{Presence: rimewatch.Presence{Status: rimewatch.Offline}}}, nil
	}
	return s.store.Device(ctx, op.WorkspaceID, op.Serial)
}

// applyDevice lets a settled device op happen to its unit.
func (w *writer) applyDevice(op *deviceOp, now rimewatch.Time) {
	d := &op.Device
	if op.who != "" {
		w.group.auditDevice(op, now)
	}
	event := publish.Device{Kind: publish.DeviceUpdated, WorkspaceID: d.WorkspaceID, DeviceID: d.ID, At: now}
	u := w.units.Get(d.ID)
	switch {
	case op.Create != nil:
		event.Kind = publish.DeviceCreated
		u = w.added(d)
	case u == nil:
		u = w.added(d) // created in this very group
	}
	st := w.stage(u)
	if op.Delete {
		event.Kind, event.Device = publish.DeviceDeleted, d
		if over, lasted := st.state.Health.Finish(now); lasted {
			w.group.excursion(st, &over)
		}
		st.gone = true
		for len(st.alerts) > 0 {
			w.supersede(st, 0, now)
		}
	} else {
		if left := st.siteID; left != d.SiteID {
			if op.Create == nil {
				event.Left = &left
			}
			st.siteID = d.SiteID
			w.releasePredictions(st, now)
			w.inhibitOffline(st, nil, now)
		}
		st.cfg = w.configs.get(w.encodeConfig(d))
		st.followed = false
		out, _ := st.state.Step(st.cfg, w.downtimes, &engine.Input{Kind: engine.Tick}, now, w.group.scratch[:0])
		w.transitions(st, out, now)
	}
	w.group.events.Devices = append(w.group.events.Devices, event)
}

// added makes the unit of a device that the group creates, or finds it.
func (w *writer) added(d *rimewatch.Device) *unit {
	for i := range w.group.staged {
		if w.group.staged[i].unit.id == d.ID {
			return w.group.staged[i].unit
		}
	}
	u := &unit{id: d.ID, workspaceID: d.WorkspaceID, createdAt: d.CreatedAt, added: true}
	u.cfg = w.configs.get(w.encodeConfig(d))
	return u
}

// supersede ends the i-th alert of a device that is no more, or that is known
// no more.
func (w *writer) supersede(st *staged, i int, now rimewatch.Time) {
	row := *st.alerts[i]
	row.Status, row.Resolution, row.ResolvedAt = rimewatch.AlertResolved, rimewatch.ResolvedSuperseded, now
	w.putAlert(st.unit.alerts, &st.alerts, i, &row)
	w.group.tell(rimewatch.TransitionResolved, &row, now, "", "")
	w.group.events.Alerts = append(w.group.events.Alerts, publish.Alert{Kind: publish.AlertResolved, Alert: &row})
}

// Heartbeat takes a sign of life: CodeDeviceNotFound. What a heartbeat declares
// of the device (firmware, interval) becomes part of its row.
func (s *Service) Heartbeat(ctx context.Context, workspaceID int64, serial string, hb rimewatch.Heartbeat) (rimewatch.DeviceView, error) {
	for said := false; ; said = true {
		v, err := s.store.Device(ctx, workspaceID, serial)
		if err != nil {
			return v, err
		}
		r := &request{done: make(chan error, 1)}
		if !said {
			r.inputs = []store.Input{{Kind: store.InputHeartbeat, DeviceID: v.ID, Payload: encodeHeartbeat(&hb)}}
		}
		if declares(&hb, &v.Device) {
			r.device = &deviceOp{DeviceOp: store.DeviceOp{WorkspaceID: workspaceID, Serial: serial}}
			_ = r.device.changes(&v.Device, func(d *rimewatch.Device) error { declare(&hb, d); return nil })
		}
		if err := s.send(ctx, r); err != nil {
			return v, err
		}
		switch {
		case r.device == nil || r.device.Err == nil:
			return s.store.Device(ctx, workspaceID, serial)
		case !errors.Is(r.device.Err, store.ErrOutdated):
			return v, r.device.Err
		}
	}
}

// declares reports whether a heartbeat says something else of a device than its row.
func declares(hb *rimewatch.Heartbeat, d *rimewatch.Device) bool {
	return (hb.FirmwareVersion != "" && hb.FirmwareVersion != d.FirmwareVersion) ||
		(hb.HeartbeatIntervalS != 0 && hb.HeartbeatIntervalS != d.HeartbeatIntervalS)
}

func declare(hb *rimewatch.Heartbeat, d *rimewatch.Device) {
	d.FirmwareVersion = cmp.Or(hb.FirmwareVersion, d.FirmwareVersion)
	d.HeartbeatIntervalS = cmp.Or(hb.HeartbeatIntervalS, d.HeartbeatIntervalS)
}
