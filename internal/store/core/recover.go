package core

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
)

// load reads what every query needs; Recover adds readings and states.
func (s *Core) load(ctx context.Context) error {
	s.fleet = newFleet()
	var err error
	if err := s.EachDeviceRow(ctx, s.fleet.put); err != nil {
		return fmt.Errorf("devices: %w", err)
	}
	if err := s.refreshSites(ctx); err != nil {
		return fmt.Errorf("sites: %w", err)
	}
	if err := s.loadAlerts(ctx); err != nil {
		return fmt.Errorf("alerts: %w", err)
	}
	if s.aside, err = s.disk.Aside(ctx); err != nil {
		return fmt.Errorf("damaged chunks: %w", err)
	}
	last, err := s.disk.Last(ctx)
	if err != nil {
		return err
	}
	s.deviceID.Store(last.DeviceID)
	s.alertID.Store(last.AlertID)
	s.lastAlert = last.AlertID
	// The log is emptied as it is sealed; Lived remembers how far it got.
	alive, seq, err := s.Lived(ctx)
	s.lastNow, s.seq = alive, int64(max(last.Seq, seq))
	return err
}

// refreshSites reads the sites' names and zones again.
func (s *Core) refreshSites(ctx context.Context) error {
	list, err := s.AllSites(ctx)
	if err != nil {
		return err
	}
	sites := make(map[int64]*rimewatch.Site, len(list))
	for i := range list {
		sites[list[i].ID] = &list[i]
	}
	s.mu.Lock()
	s.fleet.sites = sites
	s.mu.Unlock()
	return nil
}

// Recover implements store.Log.
func (s *Core) Recover(ctx context.Context, checkpoint func(store.Checkpoint) error, entry func(*store.Entry) error) error {
	if s.closed.Load() {
		return ErrClosed()
	}
	var lost []*device
	err := s.disk.Checkpoints(ctx, nil, func(c *Checkpoint) error {
		d := s.fleet.byID.Get(c.DeviceID)
		if d == nil {
			return nil
		}
		state, whole := cutSum(c.State, c.place()...)
		if !whole || restoreLatest(c, d) != nil {
			// It is derived: the log may hold enough to build it again, and the rest
			// is learnt anew. No device may keep the others down.
			state, lost = nil, append(lost, d)
		}
		return checkpoint(store.Checkpoint{DeviceID: c.DeviceID, Seq: c.Seq, State: bytes.Clone(state)})
	})
	if err != nil {
		return err
	}
	if err := s.replayLog(ctx, entry); err != nil {
		return err
	}
	for _, d := range lost {
		err := s.Readings(ctx, store.HistoryQuery{DeviceID: d.row.ID, To: rimewatch.MaxTime + 1, Descending: true, Limit: 1}, func(r *rimewatch.Reading) error {
			d.newest(r, s.lastNow)
			return nil
		})
		if err != nil {
			return err
		}
	}
	s.startSealer()
	return nil
}

func restoreLatest(c *Checkpoint, d *device) error {
	latest, ok := cutSum(c.Latest, c.place()...)
	if !ok {
		return errors.New("checksum")
	}
	if len(latest) > 0 {
		if v := latest[0]; v != logVersion {
			return fmt.Errorf("its newest reading has version %d, this program knows %d", v, logVersion)
		}
		if _, err := chunk.DecodeReading(latest[1:], &d.live.Latest, 0); err != nil {
			return err
		}
	}
	d.live.CurrentTemp, d.live.CurrentTempAt = c.CurrentTemp, c.CurrentTempAt
	return nil
}

// replayLog fills the heads. Readings that a seal has already moved into a
// chunk while their commit's other devices were still waiting are told apart by
// the device's seal mark.
func (s *Core) replayLog(ctx context.Context, entry func(*store.Entry) error) error {
	sealed, err := s.disk.SealMarks(ctx)
	if err != nil {
		return err
	}
	alive := s.lastNow // as recorded since the clock was last set back
	return s.disk.Log(ctx, func(at store.Seq, data []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		seq := int64(at)
		if err := VerifyLog(at, data); errors.Is(err, ErrDamaged) {
			return s.row(ctx, s.cfg.LogAside, at, data, err)
		}
		return decodeLog(seq, data, func(e *store.Entry, encoded []byte) error {
			if e.Input.Kind == store.InputClock {
				s.lastNow = max(alive, e.Now)
				s.fleet.setBack(e.Now)
				return entry(e)
			}
			s.lastNow = max(s.lastNow, e.Now)
			d := s.fleet.byID.Get(e.Input.DeviceID)
			if d == nil {
				if encoded == nil {
					return nil // deleted since
				}
				// Deleted since, too, but its history is kept.
				d = &device{row: row{Identity: &store.Identity{ID: e.Input.DeviceID}, deleted: e.Now}}
				s.fleet.byID.Put(e.Input.DeviceID, d)
			}
			if encoded != nil && at > sealed[e.Input.DeviceID] {
				d.head.stage(encoded, e.Input.Reading.At)
				s.publishHead(d, int32(len(encoded)), 1, seq, e.Now)
				s.head.add(int64(len(encoded)), 1)
			}
			if d.row.deleted != 0 {
				return nil
			}
			if encoded != nil {
				d.newest(&e.Input.Reading, e.Now)
			}
			return entry(e)
		})
	})
}

// onDisk reads what is durable, whatever is in memory.
type onDisk struct{ disk Disk }

// Checkpoints implements store.Log.
func (s onDisk) Checkpoints(ctx context.Context, devices []int64, yield func(store.Checkpoint) error) error {
	if len(devices) == 0 {
		return nil
	}
	return s.disk.Checkpoints(ctx, devices, func(c *Checkpoint) error {
		if state, whole := cutSum(c.State, c.place()...); whole {
			return yield(store.Checkpoint{DeviceID: c.DeviceID, Seq: c.Seq, State: state})
		}
		return yield(store.Checkpoint{DeviceID: c.DeviceID, Seq: c.Seq})
	})
}

// Logged implements store.Log.
func (s onDisk) Logged(ctx context.Context, entry func(*store.Entry) error) error {
	return s.disk.Log(ctx, func(at store.Seq, data []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return decodeLog(int64(at), data, func(e *store.Entry, _ []byte) error { return entry(e) })
	})
}

// SaveCheckpoints implements store.Log.
func (s *Core) SaveCheckpoints(ctx context.Context, states []store.Checkpoint, floor store.Seq) error {
	list := make([]Checkpoint, len(states))
	s.mu.RLock()
	for i := range states {
		c := &list[i]
		c.Checkpoint = states[i]
		if d := s.fleet.byID.Get(c.DeviceID); d != nil {
			c.CurrentTemp, c.CurrentTempAt = d.live.CurrentTemp, d.live.CurrentTempAt
			if d.live.Latest.At != 0 {
				c.Latest = chunk.AppendReading([]byte{logVersion}, &d.live.Latest, 0)
			}
		}
		c.Latest, c.State = withSum(c.Latest, c.place()...), withSum(c.State, c.place()...)
	}
	s.mu.RUnlock()
	if err := s.disk.SaveCheckpoints(ctx, list); err != nil {
		return err
	}
	if floor > 0 {
		s.ckptFloor.Store(int64(floor))
	}
	return nil
}

// AliveAt implements store.Log.
func (s *Core) AliveAt(context.Context) (rimewatch.Time, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.lastNow, nil
}
