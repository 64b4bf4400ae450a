package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
)

// load reads the rows that every query needs; Recover adds readings and states.
func (s *Core) load(ctx context.Context) error {
	last, err := s.disk.Last(ctx)
	if err != nil {
		return err
	}
	s.fleet = newFleet()
	if s.ranges, err = s.DeviceRanges(ctx, rangeDevices, last.DeviceID); err != nil {
		return fmt.Errorf("devices: %w", err)
	}
	parts := make([][]*device, len(s.ranges))
	err = inRanges(s.ranges, runtime.GOMAXPROCS(0), func(_, i int, from, to int64) error {
		return s.EachDeviceRow(ctx, from, to, func(row *rimewatch.Device) { parts[i] = append(parts[i], newDevice(row)) })
	})
	if err != nil {
		return fmt.Errorf("devices: %w", err)
	}
	s.fleet.loadDevices(parts)
	s.heads.fit(s.cfg.HeadBytes, s.fleet.byID.Len()) // what was written within it before a kill must not hold up the first who writes now
	if s.cfg.Join != nil {                           // all of that may change before the disk is ours
		return nil
	}
	return s.loadRest(ctx, last)
}

// loadRest reads the rows that may have changed since a process began to follow another.
func (s *Core) loadRest(ctx context.Context, last Last) error {
	if err := s.refreshSites(ctx); err != nil {
		return fmt.Errorf("sites: %w", err)
	}
	if err := s.loadAlerts(ctx); err != nil {
		return fmt.Errorf("alerts: %w", err)
	}
	aside, err := s.disk.Aside(ctx)
	if err != nil {
		return fmt.Errorf("damaged chunks: %w", err)
	}
	s.aside = aside
	s.moreIDs = last.More
	s.deviceID.set(last.DeviceID, last.DeviceEnd)
	s.alertID.set(last.AlertID, last.AlertEnd)
	s.lastAlert = last.AlertID
	// The log is emptied as it is sealed; Lived remembers how far it got.
	alive, seq, err := s.Lived(ctx)
	s.lastNow, s.seq = max(s.lastNow, alive), int64(max(last.Seq, seq))
	return err
}

// refreshSites reads the sites' names and zones again.
func (s *Core) refreshSites(ctx context.Context) error {
	list, err := s.Everywhere().AllSites(ctx)
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
func (s *Core) Recover(ctx context.Context, workers int, checkpoint func(int, store.Checkpoint) error, entry func(int, *store.Entry) error) error {
	if s.closed.Load() {
		return ErrClosed()
	}
	lost, err := s.replayCheckpoints(ctx, workers, checkpoint)
	if err != nil {
		return err
	}
	sealed, err := s.disk.SealMarks(ctx)
	if err != nil {
		return err
	}
	if err := s.replayLog(ctx, sealed, workers, entry); err != nil {
		return err
	}
	if s.cfg.Join != nil && len(lost) > 0 { // what they had last may be changing
		return store.ErrMoved
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
	if s.cfg.Join == nil {
		s.startSealer()
	}
	return nil
}

// rangeDevices is how many ids of devices a worker takes at a time.
const rangeDevices = 4096

// replayCheckpoints hands out all checkpoints and returns the devices whose newest
// reading is damaged there.
func (s *Core) replayCheckpoints(ctx context.Context, workers int, checkpoint func(int, store.Checkpoint) error) (lost []*device, err error) {
	var mu sync.Mutex
	err = inRanges(s.ranges, workers, func(worker, _ int, from, to int64) error {
		return s.disk.CheckpointRange(ctx, from, to, false, func(c *Checkpoint) error {
			d := s.fleet.byID.Get(c.DeviceID)
			if d == nil {
				return nil
			}
			if restoreLatest(c, d) != nil {
				mu.Lock()
				lost = append(lost, d)
				mu.Unlock()
			}
			return checkpoint(worker, store.Checkpoint{DeviceID: c.DeviceID, Seq: c.Seq})
		})
	})
	return lost, err
}

// inRanges has workers call f for ranges of ids, the i-th of them [from, to).
func inRanges(ranges []int64, workers int, f func(worker, i int, from, to int64) error) error {
	var (
		wg   sync.WaitGroup
		next atomic.Int64
		errs = make([]error, workers)
	)
	for worker := range workers {
		wg.Go(func() {
			for errs[worker] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(ranges) {
					return
				}
				from := ranges[i] * rangeDevices
				errs[worker] = f(worker, i, from, from+rangeDevices)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
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
		var r rimewatch.Reading
		if _, err := chunk.DecodeReading(latest[1:], &r, 0); err != nil {
			return err
		}
		d.setLatest(&r)
	}
	d.live.temp, d.live.tempAt = c.CurrentTemp, c.CurrentTempAt
	return nil
}

// logShare are a worker's rows of the log.
type logShare struct {
	sealQueue
	bytes, readings int64
	now             rimewatch.Time
	// gone are devices that were deleted since, but whose history is kept.
	gone map[int64]*device
}

// replayLog fills the heads with the rows that were logged since the last call. Readings
// that a seal has already moved into a chunk while their commit's other devices were
// still waiting are told apart by the device's seal mark.
func (s *Core) replayLog(ctx context.Context, sealed map[int64]store.Seq, workers int, entry func(int, *store.Entry) error) (err error) {
	alive := s.lastNow // as recorded since the clock was last set back
	shares := make([]logShare, workers)
	for i := range shares {
		shares[i].gone = make(map[int64]*device)
	}
	damaged := func(at store.Seq, data []byte, err error) error { return s.row(ctx, s.cfg.LogAside, at, data, err) }
	s.followed, err = eachLogged(ctx, s.disk, s.followed, workers, damaged, func(worker int, e *store.Entry, encoded []byte) error {
		if e.Input.Kind == store.InputClock {
			s.lastNow = max(alive, e.Now)
			for i := range shares {
				shares[i].now = 0
			}
			s.fleet.setBack(e.Now)
			return entry(worker, e)
		}
		d := shares[worker].replay(s, e, encoded, e.Seq > sealed[e.Input.DeviceID])
		if d == nil || d.row.deleted != 0 {
			return nil
		}
		return entry(worker, e)
	})
	logged := int64(0)
	for i := range shares {
		x := &shares[i]
		s.lastNow = max(s.lastNow, x.now)
		s.heads.add(x.bytes, x.readings)
		for j := range x.queue { // the others have had about as many by then
			x.queue[j].logged = s.seal.logged + x.queue[j].logged*int64(workers)
		}
		logged += x.logged
		s.seal.queue = append(s.seal.queue, x.queue...)
		s.seal.full = append(s.seal.full, x.full...)
		for id, d := range x.gone {
			s.fleet.byID.Put(id, d)
		}
	}
	s.seal.logged += logged
	slices.SortStableFunc(s.seal.queue, func(a, b sealItem) int { return cmp.Compare(a.seq, b.seq) })
	return err
}

// replay lets the store's part of a logged input happen again: its reading is in
// no chunk when it is unsealed. It returns the device, nil = it is gone.
func (x *logShare) replay(s *Core, e *store.Entry, encoded []byte, unsealed bool) *device {
	x.now = max(x.now, e.Now)
	d := s.fleet.byID.Get(e.Input.DeviceID)
	if d == nil {
		d = x.gone[e.Input.DeviceID]
	}
	if encoded == nil {
		return d
	}
	if d == nil {
		d = &device{row: row{Identity: &store.Identity{ID: e.Input.DeviceID}, deleted: e.Now}}
		x.gone[e.Input.DeviceID] = d
	}
	if unsealed {
		size := d.head.stage(&s.heads, encoded, e.Input.Reading.At)
		x.publish(d, int32(size), 1, int32(s.cfg.SealReadings), int64(e.Seq), e.Now, e.Input.Reading.At)
		d.head.dayBytes, d.head.dayN = 0, 0 // it may have begun in the middle of this commit
		x.bytes += int64(size)
		x.readings++
	} else {
		x.logged++
	}
	if d.row.deleted == 0 {
		d.newest(&e.Input.Reading, e.Now)
	}
	return d
}

// onDisk reads the durable state, regardless of memory.
type onDisk struct{ disk Disk }

// Checkpoints implements store.Log.
func (s onDisk) Checkpoints(ctx context.Context, devices []int64, yield func(store.Checkpoint) error) error {
	n := len(devices)
	if n == 0 {
		return nil
	}
	one := func(c *Checkpoint) error {
		if state, whole := cutSum(c.State, c.place()...); whole {
			return yield(store.Checkpoint{DeviceID: c.DeviceID, Seq: c.Seq, State: state})
		}
		return yield(store.Checkpoint{DeviceID: c.DeviceID, Seq: c.Seq})
	}
	first, last := devices[0], devices[n-1]
	if n == 1 || last-first >= 4*int64(n) || !slices.IsSorted(devices) {
		return s.disk.Checkpoints(ctx, devices, one)
	}
	// They lie side by side, and a look-up costs as much as some that are not wanted.
	return s.disk.CheckpointRange(ctx, first, last+1, true, func(c *Checkpoint) error {
		if _, wanted := slices.BinarySearch(devices, c.DeviceID); !wanted {
			return nil
		}
		return one(c)
	})
}

// Logged implements store.Log.
func (s onDisk) Logged(ctx context.Context, workers int, entry func(int, *store.Entry) error) error {
	damaged := func(_ store.Seq, _ []byte, err error) error { return err }
	_, err := eachLogged(ctx, s.disk, 0, workers, damaged, func(worker int, e *store.Entry, _ []byte) error { return entry(worker, e) })
	return err
}

// SaveCheckpoints implements store.Log.
func (s *Core) SaveCheckpoints(ctx context.Context, states []store.Checkpoint, floor store.Seq) error {
	list := make([]Checkpoint, len(states))
	s.mu.RLock()
	for i := range states {
		c := &list[i]
		c.Checkpoint = states[i]
		if d := s.fleet.byID.Get(c.DeviceID); d != nil {
			c.CurrentTemp, c.CurrentTempAt = d.live.temp, d.live.tempAt
			if d.live.at != 0 {
				latest := d.latest()
				c.Latest = chunk.AppendReading([]byte{logVersion}, &latest, 0)
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
