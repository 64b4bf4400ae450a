package ingest

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
)

// CreateDevice registers a device: CodeSerialTaken. ID and times are set here.
func (s *Service) CreateDevice(ctx context.Context, d *rimewatch.Device) (rimewatch.DeviceView, error) {
	created := *d
	created.ID = s.store.NewDeviceID()
	return s.changeDevice(ctx, store.DeviceOp{WorkspaceID: d.WorkspaceID, Serial: d.Serial, Create: &created})
}

// UpdateDevice changes a device: CodeDeviceNotFound, or what change returns.
// Change may run more than once and must not touch ID, workspace and serial.
func (s *Service) UpdateDevice(ctx context.Context, workspaceID int64, serial string, change func(*rimewatch.Device) error) (rimewatch.DeviceView, error) {
	return s.changeDevice(ctx, store.DeviceOp{WorkspaceID: workspaceID, Serial: serial, Change: change})
}

// DeleteDevice retires a device: CodeDeviceNotFound. Its history and alerts are
// kept, its active alerts resolve as superseded, its serial is free again.
func (s *Service) DeleteDevice(ctx context.Context, workspaceID int64, serial string) (rimewatch.DeviceView, error) {
	return s.changeDevice(ctx, store.DeviceOp{WorkspaceID: workspaceID, Serial: serial, Delete: true})
}

// deviceOp is a change of a device on its way.
type deviceOp struct {
	store.DeviceOp
	who    string       // for the audit trail; "" = the device itself, which leaves no entry
	before store.Fields // what it was, of a change
}

func (s *Service) changeDevice(ctx context.Context, change store.DeviceOp) (rimewatch.DeviceView, error) {
	op := &deviceOp{DeviceOp: change, who: store.ActorOf(ctx)}
	op.Payload = s.encodeConfig
	if change.Change != nil {
		op.Change = func(d *rimewatch.Device) error {
			op.before = detailOf(d)
			return change.Change(d)
		}
	}
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
	v, err := s.store.Device(ctx, workspaceID, serial)
	if err != nil {
		return v, err
	}
	r := &request{
		inputs: []store.Input{{Kind: store.InputHeartbeat, DeviceID: v.ID, Payload: encodeHeartbeat(&hb)}},
		done:   make(chan error, 1),
	}
	declares := func(d *rimewatch.Device) bool {
		return (hb.FirmwareVersion != "" && hb.FirmwareVersion != d.FirmwareVersion) ||
			(hb.HeartbeatIntervalS != 0 && hb.HeartbeatIntervalS != d.HeartbeatIntervalS)
	}
	if declares(&v.Device) {
		r.device = &deviceOp{DeviceOp: store.DeviceOp{WorkspaceID: workspaceID, Serial: serial, Payload: s.encodeConfig, Change: func(d *rimewatch.Device) error {
			if hb.FirmwareVersion != "" {
				d.FirmwareVersion = hb.FirmwareVersion
			}
			if hb.HeartbeatIntervalS != 0 {
				d.HeartbeatIntervalS = hb.HeartbeatIntervalS
			}
			return nil
		}}}
	}
	if err := s.send(ctx, r); err != nil {
		return v, err
	}
	if r.device != nil && r.device.Err != nil {
		return v, r.device.Err
	}
	return s.store.Device(ctx, workspaceID, serial)
}
