package ingest

import (
	"context"
	"errors"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/store"
)

// CreateDevice registers a device: CodeSerialTaken. ID and times are set here.
func (s *Service) CreateDevice(ctx context.Context, d *rimewatch.Device) (rimewatch.DeviceView, error) {
	created := *d
	created.ID = s.store.NewDeviceID()
	op := &deviceOp{DeviceOp: store.DeviceOp{WorkspaceID: d.WorkspaceID, Serial: d.Serial, Create: &created}}
	return op.send(ctx, s)
}

// UpdateDevice changes a device: CodeDeviceNotFound, or the error of change, which runs again
// where another change came first. It must not touch ID, workspace and serial, nor write into
// maps and slices of the device, such as its labels.
func (s *Service) UpdateDevice(ctx context.Context, workspaceID int64, serial string, change func(*rimewatch.Device) error) (rimewatch.DeviceView, error) {
	return s.updateDevice(ctx, store.DeviceOp{WorkspaceID: workspaceID, Serial: serial}, change)
}

// updateDevice applies change to a device, together with the rest of op.
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

// Heartbeat takes a sign of life: CodeDeviceNotFound. Its declarations (firmware, interval)
// become part of the device's row.
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

// saidEvery is the age at which a device's reports of itself are taken again though unchanged.
const saidEvery = 10 * rimewatch.Minute

// addReports adds to a request the devices' reports of themselves that came with their readings,
// where they are new or the last ones are old. They are no measurements: a change of a row that
// another one overtakes is left to the next reading.
func (r *request) addReports(s *Service, vitals []store.Vitals) {
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
