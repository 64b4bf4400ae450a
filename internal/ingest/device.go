package ingest

import (
	"cmp"
	"context"
	"errors"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
)

// CreateDevice registers a device: CodeSerialTaken. ID and times are set here.
func (s *Service) CreateDevice(ctx context.Context, d *rimewatch.Device) (rimewatch.DeviceView, error) {
	created := *d
	created.ID = s.store.NewDeviceID()
	op := &deviceOp{DeviceOp: store.DeviceOp{WorkspaceID: d.WorkspaceID, Serial: d.Serial, Create: &created}}
	return op.send(ctx, s)
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
		if v, err = one.send(ctx, s); !errors.Is(err, store.ErrOutdated) {
			return v, err
		}
	}
}

// DeleteDevice retires a device: CodeDeviceNotFound. Its history and alerts are
// kept, its active alerts resolve as superseded, its serial is free again.
func (s *Service) DeleteDevice(ctx context.Context, workspaceID int64, serial string) (rimewatch.DeviceView, error) {
	op := &deviceOp{DeviceOp: store.DeviceOp{WorkspaceID: workspaceID, Serial: serial, Delete: true}}
	return op.send(ctx, s)
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
func (op *deviceOp) encode(e *evaluator) {
	if d := cmp.Or(op.Create, op.Change); d != nil {
		op.Payload = e.encodeConfig(d)
	}
}

// send has the change of a device committed, and returns the device after it.
func (op *deviceOp) send(ctx context.Context, s *Service) (rimewatch.DeviceView, error) {
	op.who = store.ActorOf(ctx)
	if err := s.inbox.send(ctx, &request{devices: []*deviceOp{op}, done: make(chan error, 1)}); err != nil {
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
func (e *evaluator) applyDevice(op *deviceOp, now rimewatch.Time) {
	d := &op.Device
	if op.who != "" {
		e.group.auditDevice(op, now)
	}
	event := publish.Device{Kind: publish.DeviceUpdated, WorkspaceID: d.WorkspaceID, DeviceID: d.ID, At: now}
	u := e.fleet.Get(d.ID)
	switch {
	case op.Create != nil:
		event.Kind = publish.DeviceCreated
		u = e.added(d)
	case u == nil:
		u = e.added(d) // created in this very group
	}
	st := e.stage(u)
	if op.Delete {
		event.Kind, event.Device = publish.DeviceDeleted, d
		e.group.excursions(st, st.State.Health.Finish(&st.Config.Health, now))
		st.gone = true
		for len(st.Alerts) > 0 {
			e.supersede(st, 0, now)
		}
	} else {
		left := st.siteID
		if op.Change != nil && (left != d.SiteID || op.Was.EquipmentType != d.EquipmentType) {
			e.group.moved(st.Alerts, rimewatch.Place{SiteID: left, EquipmentType: op.Was.EquipmentType}, now)
		}
		if left != d.SiteID {
			if op.Create == nil {
				event.Left = &left
			}
			st.siteID = d.SiteID
			e.releasePredictions(st, now)
			e.inhibitOffline(st, nil, now)
		}
		was := st.Config
		st.Config = e.fleet.Configs.Get(e.encodeConfig(d))
		st.State.Configured(was, st.Config)
		e.group.formerLimits(st, was, now)
		st.followed = false
		out, _ := st.State.Step(st.Config, e.fleet.Downtimes(), &engine.Input{Kind: engine.Tick}, now, e.group.scratch[:0])
		e.transitions(st, out, now)
	}
	e.group.events.Devices = append(e.group.events.Devices, event)
}

// added makes the unit of a device that the group creates, or finds it.
func (e *evaluator) added(d *rimewatch.Device) *unit {
	for i := range e.group.staged {
		if e.group.staged[i].Device.ID == d.ID {
			return e.group.staged[i].Device
		}
	}
	u := &unit{ID: d.ID, WorkspaceID: d.WorkspaceID, CreatedAt: d.CreatedAt, Added: true}
	u.Config = e.fleet.Configs.Get(e.encodeConfig(d))
	return u
}

// supersede ends the i-th alert of a device that is no more, or that is known
// no more.
func (e *evaluator) supersede(st *staged, i int, now rimewatch.Time) {
	row := *st.Alerts[i]
	row.Status, row.Resolution, row.ResolvedAt = rimewatch.AlertResolved, rimewatch.ResolvedSuperseded, now
	row.Ending = rimewatch.EndedRemoved
	e.putAlert(st.Device.Alerts, &st.Alerts, i, &row)
	e.group.tell(rimewatch.TransitionResolved, &row, now, "", "")
	e.group.events.Alerts = append(e.group.events.Alerts, publish.Alert{Kind: publish.AlertResolved, Alert: &row})
}

// Heartbeat takes a sign of life: CodeDeviceNotFound. What a heartbeat declares
// of the device (firmware, interval) becomes part of its row.
func (s *Service) Heartbeat(ctx context.Context, workspaceID int64, serial string, hb rimewatch.Heartbeat) (rimewatch.DeviceView, error) {
	for logged := false; ; logged = true {
		v, err := s.store.Device(ctx, workspaceID, serial)
		if err != nil {
			return v, err
		}
		r := &request{done: make(chan error, 1)}
		if !logged {
			r.inputs = []store.Input{{Kind: store.InputHeartbeat, DeviceID: v.ID, Payload: fleet.EncodeHeartbeat(&hb)}}
		}
		if declares(&hb, &v.Device) {
			r.devices = declare(r.devices, &hb, &v.Device)
		}
		if err := s.inbox.send(ctx, r); err != nil {
			return v, err
		}
		switch {
		case len(r.devices) == 0 || r.devices[0].Err == nil:
			return s.store.Device(ctx, workspaceID, serial)
		case !errors.Is(r.devices[0].Err, store.ErrOutdated):
			return v, r.devices[0].Err
		}
	}
}

// declares reports whether a heartbeat says something else of a device than its row.
func declares(hb *rimewatch.Heartbeat, d *rimewatch.Device) bool {
	return (hb.FirmwareVersion != "" && hb.FirmwareVersion != d.FirmwareVersion) ||
		(hb.HeartbeatIntervalS != 0 && hb.HeartbeatIntervalS != d.HeartbeatIntervalS) || (hb.Habit != "" && hb.Habit != d.Habit)
}

// declare adds the change of a device's row that a heartbeat asks for.
func declare(ops []*deviceOp, hb *rimewatch.Heartbeat, d *rimewatch.Device) []*deviceOp {
	op := &deviceOp{DeviceOp: store.DeviceOp{WorkspaceID: d.WorkspaceID, Serial: d.Serial}}
	_ = op.changes(d, func(d *rimewatch.Device) error {
		d.FirmwareVersion = cmp.Or(hb.FirmwareVersion, d.FirmwareVersion)
		d.HeartbeatIntervalS = cmp.Or(hb.HeartbeatIntervalS, d.HeartbeatIntervalS)
		d.Habit = cmp.Or(hb.Habit, d.Habit)
		return nil
	})
	return append(ops, op)
}

// saidEvery is how old what is known of a device may become.
const saidEvery = 10 * rimewatch.Minute

// hear adds to a request what devices say of themselves beside their readings, where it
// is news or nothing was heard for a while. It is no measurement: a change of a row that
// another one overtakes is left to the next reading.
func (r *request) hear(s *Service, vitals []store.Vitals) {
	for i := range vitals {
		x := &vitals[i]
		v, ok := s.store.DeviceByID(x.DeviceID)
		if !ok {
			continue
		}
		declares := declares(&x.Heartbeat, &v.Device)
		b := x.Heartbeat.BatteryPct
		charge := b != nil && (v.BatteryPct == nil || *b != *v.BatteryPct) || x.Heartbeat.BatteryLow != nil && *x.Heartbeat.BatteryLow != v.BatteryLow
		if age := s.clock() - v.LastHeartbeatAt; !declares && !charge && age >= 0 && age < saidEvery {
			continue
		}
		if declares {
			r.devices = declare(r.devices, &x.Heartbeat, &v.Device)
		}
		r.beats = append(r.beats, store.Input{Kind: store.InputHeartbeat, DeviceID: v.ID, Payload: fleet.EncodeHeartbeat(&x.Heartbeat)})
	}
}
