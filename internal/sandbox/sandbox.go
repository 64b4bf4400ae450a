// Package sandbox keeps the simulated devices of sandboxes: workspaces in which an integrator tries
// things. Their readings go the way of all others, and the service's clock is the usual one: that an
// alert opens within seconds comes from short delays of the devices, from a past that they are given,
// and from faults that take their course faster than real ones would.
//
// What simulates a device is handed in: the service knows no simulator. A device that was broken is
// whole again when the service starts anew.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

// Unit is a simulated device.
type Unit interface {
	// After lets d pass and returns what the unit measures then.
	After(d time.Duration) rimewatch.Reading
	// Break gives it a fault in place of the one that it has; "" = it is repaired.
	Break(fault string) error
}

// Units makes a unit of a type that begins at a moment; equal seeds make equal units.
type Units func(equipmentType string, seed uint64, start rimewatch.Time) (Unit, error)

// Faults that a device of a sandbox may have. Offline is of the connection: the unit sends nothing.
const (
	None    = "none"
	Offline = "offline"
)

// Store knows workspaces and their devices.
type Store interface {
	Workspaces(ctx context.Context) ([]rimewatch.Workspace, error)
	Device(ctx context.Context, workspaceID int64, serial string) (rimewatch.DeviceView, error)
}

// Writer creates devices and stores readings.
type Writer interface {
	CreateDevice(ctx context.Context, d *rimewatch.Device) (rimewatch.DeviceView, error)
	Submit(ctx context.Context, inputs []store.Input, vitals []store.Vitals) error
}

// Config of a Service.
type Config struct {
	Store  Store
	Writer Writer
	Units  Units
	Holds  func(workspaceID int64) bool // of a shard; nil = all
	Now    func() rimewatch.Time
	Log    *slog.Logger
}

// The pace of the simulated devices.
const (
	stepEvery = time.Second
	rest      = 5               // steps between readings of a device at its usual speed
	hurry     = 600             // steps after which one that was sped up is slow again
	lookEvery = 10              // steps between looks for new sandboxes
	past      = 24 * time.Hour  // that a device is given
	pastEvery = 5 * time.Minute // between readings of it
)

// Service keeps the devices of all sandboxes.
type Service struct {
	cfg   Config
	mu    sync.Mutex
	boxes map[int64][]*device // by workspace
	steps int
}

// device is a simulated device of a sandbox.
type device struct {
	id      int64
	serial  string
	unit    Unit
	speed   int // seconds that pass in one
	until   int // step at which it is slow again
	offline bool
}

// New returns a service that does nothing until Run.
func New(cfg Config) *Service {
	return &Service{cfg: cfg, boxes: make(map[int64][]*device)}
}

// Look makes the devices of sandboxes that are new, which Step does every ten seconds: those of another
// node are found so.
func (s *Service) Look(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.look(ctx)
}

// Run lets the devices live until ctx ends.
func (s *Service) Run(ctx context.Context) {
	for range ticker.Every(ctx.Done(), stepEvery, nil) {
		if err := s.Step(ctx); err != nil && ctx.Err() == nil {
			s.cfg.Log.Warn("the devices of a sandbox could not report", "error", err)
		}
	}
}

// Step lets a second pass.
func (s *Service) Step(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	if s.steps%lookEvery == 0 {
		errs = append(errs, s.look(ctx))
	}
	s.steps++
	for workspaceID, list := range s.boxes {
		if inputs := s.due(list); len(inputs) > 0 {
			if err := s.cfg.Writer.Submit(ctx, inputs, nil); err != nil {
				errs = append(errs, fmt.Errorf("sandbox %d: %w", workspaceID, err))
			}
		}
	}
	return errors.Join(errs...)
}

// due has the devices measure whose time has come.
func (s *Service) due(list []*device) (inputs []store.Input) {
	now := s.cfg.Now()
	for _, d := range list {
		pace := rest
		if d.speed > 1 {
			pace = 1
		}
		if s.steps >= d.until {
			d.speed = 1
		}
		if s.steps%pace != 0 {
			continue
		}
		r := d.unit.After(time.Duration(pace*d.speed) * time.Second)
		if d.offline {
			continue
		}
		r.At, r.ReceivedAt = now, now
		inputs = append(inputs, store.Input{Kind: store.InputReading, DeviceID: d.id, Reading: r})
	}
	return inputs
}

// look finds sandboxes that are new, and drops those that are over.
func (s *Service) look(ctx context.Context) error {
	all, err := s.cfg.Store.Workspaces(ctx)
	if err != nil {
		return err
	}
	live := make(map[int64][]*device)
	var errs []error
	for i := range all {
		w := &all[i]
		if w.TestOf == 0 || w.DeleteAt <= s.cfg.Now() || s.cfg.Holds != nil && !s.cfg.Holds(w.ID) {
			continue
		}
		live[w.ID] = s.boxes[w.ID]
		if live[w.ID] == nil {
			if live[w.ID], err = s.furnish(ctx, w); err != nil {
				errs = append(errs, fmt.Errorf("sandbox %d: %w", w.ID, err))
				delete(live, w.ID)
			}
		}
	}
	s.boxes = live
	return errors.Join(errs...)
}

// kinds are the types of the devices, in this order again and again.
var kinds = [...]struct{ slug, name string }{
	{"walkin_freezer", "Walk-in freezer"}, {"display_case_open", "Display case"}, {"vaccine_refrigerator", "Vaccine refrigerator"},
}

// Serial is that of the nth device of a sandbox, from 1.
func (*Service) Serial(n int) string { return fmt.Sprintf("SANDBOX-%d", n) }

// furnish makes the devices of a sandbox, or takes up those that it has.
func (s *Service) furnish(ctx context.Context, w *rimewatch.Workspace) ([]*device, error) {
	list := make([]*device, 0, w.TestDevices)
	for n := 1; n <= w.TestDevices; n++ {
		kind := kinds[(n-1)%len(kinds)]
		d := &device{serial: s.Serial(n), speed: 1}
		known, err := s.cfg.Store.Device(ctx, w.ID, d.serial)
		if err == nil {
			d.id = known.ID
			d.unit, err = s.cfg.Units(kind.slug, uint64(n), s.cfg.Now())
		} else if rimewatch.CodeOf(err) == rimewatch.CodeDeviceNotFound {
			err = s.create(ctx, w, d, n)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

// create registers a device with short delays, and gives it a past.
func (s *Service) create(ctx context.Context, w *rimewatch.Workspace, d *device, n int) (err error) {
	kind := kinds[(n-1)%len(kinds)]
	start := s.cfg.Now().Add(-past)
	if d.unit, err = s.cfg.Units(kind.slug, uint64(n), start); err != nil {
		return err
	}
	view, err := s.cfg.Writer.CreateDevice(ctx, &rimewatch.Device{
		WorkspaceID: w.ID, Serial: d.serial, Name: fmt.Sprintf("%s %d", kind.name, n), EquipmentType: kind.slug, Labels: map[string]string{"source": "sandbox"},
		HeartbeatIntervalS: rest, OfflineAfterS: 3 * rest,
		Limits: &rimewatch.LimitOverrides{DelayS: new(5), LowDelayS: new(5), CriticalDelayS: new(30), ClearS: new(5)},
	})
	if err != nil {
		return err
	}
	d.id = view.ID
	var inputs []store.Input
	now := s.cfg.Now()
	for at := start; at < now; at = at.Add(pastEvery) {
		r := d.unit.After(pastEvery)
		r.At, r.ReceivedAt = at, now
		inputs = append(inputs, store.Input{Kind: store.InputReading, DeviceID: d.id, Reading: r})
	}
	return s.cfg.Writer.Submit(ctx, inputs, nil)
}

// Fault begins a fault of a device of a sandbox, which takes its course speed times as fast as a real
// one: CodeDeviceNotFound where the workspace is no sandbox or has no such simulated device.
func (s *Service) Fault(workspaceID int64, serial, fault string, speed int) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.boxes[workspaceID] {
		if rimewatch.SerialKey(d.serial) != rimewatch.SerialKey(serial) {
			continue
		}
		d.offline = fault == Offline
		if fault == None || fault == Offline {
			fault = ""
		}
		d.speed, d.until = speed, s.steps+hurry
		return d.serial, d.unit.Break(fault)
	}
	return "", rimewatch.Errorf(rimewatch.CodeDeviceNotFound, "This sandbox has no simulated device of this serial.")
}
