package source

import (
	"context"
	"strconv"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/inlet"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Bound returns the device to which a serial of the API is bound, and whether
// there is one.
func (s *Service) Bound(ctx context.Context, workspaceID int64, serial string) (who *store.Identity, bound bool, err error) {
	l, err := s.ofWorkspace(ctx, workspaceID)
	if err != nil {
		return nil, false, err
	}
	for _, b := range l.bound(serial, "") {
		if who := s.cfg.Store.Identify(workspaceID, []byte(b.Serial)); who != nil {
			return who, true, nil
		}
	}
	return nil, false, nil
}

// HoldReadings keeps readings of the API of unregistered devices, and
// returns when they are on stable storage. Those for which there was no room have
// the ID 0.
func (s *Service) HoldReadings(ctx context.Context, workspaceID int64, list []*rimewatch.Held) error {
	l, err := s.ofWorkspace(ctx, workspaceID)
	if err != nil {
		return err
	}
	s.spread(workspaceID, list)
	for _, h := range list {
		h.SourceID = l.source.ID
	}
	if err := s.holding.hold(ctx, workspaceID, list); err != nil {
		return err
	}
	full := false
	for _, h := range list {
		full = full || h.ID == 0
		// The device may have been accepted since the reading was looked at. Whoever
		// accepted it has not seen this one.
		if s.cfg.Store.Identify(workspaceID, []byte(h.ExternalID)) != nil {
			s.registered(ctx, workspaceID, h.ExternalID)
		}
	}
	s.count(&l.source, &Outcome{Held: len(list), full: full}, nil)
	return nil
}

// spread makes the times at which readings of one serial came distinct: where
// they have no time of their own, it tells them apart.
func (s *Service) spread(workspaceID int64, list []*rimewatch.Held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range list {
		key := heldKey{workspaceID, rimewatch.SerialKey(h.ExternalID)}
		h.ReceivedAt = max(h.ReceivedAt, s.heldAt[key]+1)
		if len(s.heldAt) >= rimewatch.MaxHeldSenders {
			clear(s.heldAt)
		}
		s.heldAt[key] = h.ReceivedAt
	}
}

// distinct returns a time of arrival that no other payload of a source that waits has:
// where it has no time of its own, that tells it apart.
func (s *Service) distinct(src *rimewatch.Source, at rimewatch.Time) rimewatch.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := heldKey{src.WorkspaceID, "\x00" + strconv.FormatInt(src.ID, 10)} // no serial begins so
	at = max(at, s.heldAt[key]+1)
	if len(s.heldAt) >= rimewatch.MaxHeldSenders {
		clear(s.heldAt)
	}
	s.heldAt[key] = at
	return at
}

// heldKey is a serial whose readings wait.
type heldKey struct {
	workspace int64
	serial    string
}

// Register makes the device of a serial of the API, and stores its waiting readings. Where
// another reading of the device was quicker, it is that one's.
func (s *Service) Register(ctx context.Context, workspaceID int64, serial, actor string) (*store.Identity, error) {
	d := rimewatch.Device{WorkspaceID: workspaceID, Serial: serial, Name: serial, EquipmentType: rimewatch.OtherEquipment}
	view, err := s.newDevice(store.WithActor(ctx, actor), &d)
	if rimewatch.CodeOf(err) == rimewatch.CodeSerialTaken {
		if who := s.cfg.Store.Identify(workspaceID, []byte(serial)); who != nil {
			return who, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return store.IdentityOf(&view.Device), nil
}

// CreateDevice creates a device, and stores its readings that the API has kept.
func (s *Service) CreateDevice(ctx context.Context, d *rimewatch.Device) (rimewatch.DeviceView, error) {
	v, err := s.cfg.Writer.CreateDevice(ctx, d)
	if err == nil {
		s.registered(ctx, d.WorkspaceID, d.Serial)
	}
	return v, err
}

// registered stores the kept readings of a device that was created. Where that fails
// it waits on.
func (s *Service) registered(ctx context.Context, workspaceID int64, serial string) {
	n, _, err := s.cfg.Store.Inlets().HeldTotal(ctx, workspaceID)
	if err == nil && n == 0 {
		return
	}
	l, err := s.ofWorkspace(ctx, workspaceID)
	if err == nil {
		_, err = s.Replay(ctx, workspaceID, l.source.ID, serial)
	}
	if err != nil {
		s.cfg.Log.Warn("store what waited of a device", "workspace", workspaceID, "serial", serial, "err", err)
	}
}

// readHeld reads a reading of the API that waits: as the API would have, had its
// device been there. What it says of its time counts from when it came.
func (l *Live) readHeld(h *rimewatch.Held) (x inlet.Item, problem string) {
	var sent wire.SentReading
	if e := wire.DecodeReading(h.Body, &sent); e != nil {
		return x, e.Sentence().Stored()
	}
	sent.Arrived(h.ReceivedAt)
	x = inlet.Item{ID: string(sent.Serial), At: sent.At, Device: inlet.Device{BatteryPct: sent.BatteryPct, BatteryLow: sent.BatteryLow, RSSI: sent.RSSI, Firmware: sent.Firmware}}
	for _, b := range l.bound(x.ID, "") {
		x.Readings = append(x.Readings, inlet.Reading{Serial: b.Serial, Reading: sent.Reading})
	}
	if len(x.Readings) == 0 {
		x.Readings = []inlet.Reading{{Reading: sent.Reading}}
	}
	return x, ""
}

// onUnknown returns what becomes of readings of unknown senders: for the API, what
// its workspace has set, which find returns.
func onUnknown(ctx context.Context, src *rimewatch.Source, find func(ctx context.Context, id int64) (rimewatch.Workspace, error)) (rimewatch.OnUnknown, error) {
	if src.Kind != rimewatch.SourceAPI {
		return src.OnUnknown, nil
	}
	w, err := find(ctx, src.WorkspaceID)
	return w.OnUnknown, err
}
