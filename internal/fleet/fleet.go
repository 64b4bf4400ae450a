package fleet

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/deadline"
	"github.com/rimewatch/rimewatch/internal/dense"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Store has the methods that a fleet calls of store.Log.
type Store interface {
	Recover(ctx context.Context, workers int, checkpoint func(worker int, c store.Checkpoint) error, entry func(worker int, e *store.Entry) error) error
	Join(ctx context.Context, workers int, ahead func() error, entry func(worker int, e *store.Entry) error) error
	Logged(ctx context.Context, workers int, entry func(worker int, e *store.Entry) error) error
	Checkpoints(ctx context.Context, devices []int64, yield func(store.Checkpoint) error) error
	SaveCheckpoints(ctx context.Context, states []store.Checkpoint, floor store.Seq) error
}

// Config of a Fleet. All of it is needed.
type Config struct {
	Store  Store
	Logger *slog.Logger
	// StateMemory is how many bytes the states in memory may take.
	StateMemory int64
}

// Position is how far the log is.
type Position struct {
	Seq store.Seq
	Now rimewatch.Time
}

// Fleet has every device with its state. Own is its user's own data of a device. Its lock also
// protects everything else that has to agree with the devices.
type Fleet[Own any] struct {
	sync.RWMutex

	Configs Configs

	store     Store
	log       *slog.Logger
	devices   dense.Index[Device[Own]]
	memory    memory[Own]
	downtimes []presence.Downtime // of the service, oldest first
	backs     []setBack           // that the log may hold
	dirty     dirtyDevices[Own]
	lost      []*Device[Own] // whose states may be ahead of the durable log
	behind    behind[Own]
	news      News[Own]

	fetched    atomic.Int64 // states that came back from the disk
	unreadable atomic.Int64 // checkpoints
}

// New makes an empty fleet.
func New[Own any](cfg Config) *Fleet[Own] {
	f := &Fleet[Own]{store: cfg.Store, log: cfg.Logger}
	f.memory.most = int(max(cfg.StateMemory/StateBytes, 1))
	f.Configs.init()
	return f
}

// Device is one device as the write path knows it. Members that only the writing goroutine
// touches are ahead of the durable log by the groups under way, and are put back when one of
// these is lost.
type Device[Own any] struct {
	deadline.Entry // when time alone next changes it, for its user's queue
	Facts
	Seen

	Own Own

	ID          int64
	WorkspaceID int64
	CreatedAt   rimewatch.Time
	savedSeq    store.Seq // of the checkpoint that it was rebuilt from
	dirtySeq    store.Seq // of the oldest commit behind its checkpoint, 0 = none
	missed      chain     // logged inputs that its state lacks while it is behind
	slot        int32     // of its state in memory, counted from 1; 0 = it is on the disk alone
	Added       bool      // made by a group that is under way: not yet in the fleet
	Deleted     bool      // no longer in the fleet
	recent      bool      // its state was in use since memory.coldest last passed
	needed      bool      // its state must stay in memory for the moment
	saving      bool      // its checkpoint is being written, and nothing newer is on the disk
	lost        bool      // its state may be ahead of the durable log
	behind      bool      // its state lacks inputs of the log: it was not needed since the start
}

// Facts are the data of a device, besides its state, that a group may change.
type Facts struct {
	Config *engine.Config     // shared, never changed
	Alerts []*rimewatch.Alert // active ones; rows and the slice are replaced, never changed
	Vitals Vitals
}

// Seen is the part of a device's state that is always in memory.
type Seen struct {
	ChangedAt rimewatch.Time // when it came online or went offline
	Announced bool           // its shutdown was
	Online    bool
	Outside   bool // an excursion lasts, or the short times of this day are one
}

// See copies it from a state.
func (s *Seen) See(state *engine.State) {
	p := &state.Presence
	s.Online, s.ChangedAt, s.Announced = p.Online, p.ChangedAt, p.Announced
	_, lasts := state.Health.Excursion()
	_, day := state.Health.Day()
	s.Outside = lasts || day
}

// Vitals are a device's reports of itself in heartbeats.
type Vitals struct {
	Battery, RSSI *float64
	Uptime        *int64
	Low           bool // its battery, by its own word
}

func (v *Vitals) take(hb *heartbeat) {
	if hb.BatteryPct != nil {
		v.Battery = hb.BatteryPct
	}
	if hb.Low != nil {
		v.Low = *hb.Low
	}
	if hb.RSSI != nil {
		v.RSSI = hb.RSSI
	}
	if hb.UptimeS != nil {
		v.Uptime = hb.UptimeS
	}
}

// News are devices that came to be known since News was last asked for.
type News[Own any] struct {
	CaughtUp []*Device[Own] // their states have all inputs of the log now
	Anew     []*Device[Own] // their states, or parts of them, could not be read
}

// None reports whether there are none.
func (n *News[Own]) None() bool { return len(n.CaughtUp) == 0 && len(n.Anew) == 0 }

// News returns the news since the last call. Under the lock.
func (f *Fleet[Own]) News() News[Own] {
	n := f.news
	f.news = News[Own]{}
	return n
}

// HasNews reports whether News would return any.
func (f *Fleet[Own]) HasNews() bool { return !f.news.None() }

// Get returns a device, nil when there is none.
func (f *Fleet[Own]) Get(id int64) *Device[Own] { return f.devices.Get(id) }

// All returns the devices, by id.
func (f *Fleet[Own]) All() iter.Seq[*Device[Own]] { return f.devices.All() }

// Len returns their number.
func (f *Fleet[Own]) Len() int { return f.devices.Len() }

// Put adds a device that a group has made, now that it is durable.
func (f *Fleet[Own]) Put(d *Device[Own]) {
	d.Added = false
	f.devices.Put(d.ID, d)
}

// Remove takes out a device that is deleted.
func (f *Fleet[Own]) Remove(d *Device[Own]) {
	f.devices.Put(d.ID, nil)
	f.memory.remove(d)
	d.Deleted = true
}

// State returns a device's state, nil when it is on the disk alone.
func (f *Fleet[Own]) State(d *Device[Own]) *engine.State { return f.memory.state(d) }

// Current returns a device's state if it is in memory and up to date with the log, otherwise nil.
func (f *Fleet[Own]) Current(d *Device[Own]) *engine.State {
	if d.behind || d.lost {
		return nil
	}
	return f.memory.state(d)
}

// Downtimes returns the times in which the service heard no device, oldest first. The list is never changed.
func (f *Fleet[Own]) Downtimes() []presence.Downtime { return f.downtimes }

// SetDowntimes replaces all of them.
func (f *Fleet[Own]) SetDowntimes(list []presence.Downtime) { f.downtimes = list }

// AddDowntime adds the newest one. Every deadline moves by it.
func (f *Fleet[Own]) AddDowntime(d presence.Downtime) {
	f.downtimes = append(f.downtimes, d)
}

// Staged is a device on its way through a group. Its state is stepped in place; Facts are
// as the group has them, and after Commit those from before, to be put back.
type Staged[Own any] struct {
	Facts
	Device    *Device[Own]
	State     *engine.State
	committed bool
}

// Stage begins with a device in a group, and brings its state into memory. After an error
// the group must not be committed. Under the lock, unless the state is in memory.
func (f *Fleet[Own]) Stage(d *Device[Own], st *Staged[Own]) (err error) {
	state := f.memory.state(d)
	if state == nil || d.behind {
		state, err = f.loadState(d)
	}
	d.recent = true
	st.Facts, st.Device, st.State = d.Facts, d, state
	return err
}

// loadState makes room for the state of a new device, or reads one that a group needs beyond
// its inputs.
func (f *Fleet[Own]) loadState(d *Device[Own]) (_ *engine.State, err error) {
	if !d.Added {
		err = f.load([]*Device[Own]{d})
	}
	if d.slot == 0 {
		f.memory.add(d)
	}
	return f.memory.state(d), err
}

// Commit makes a group's changes of a device the device's own. The group is commit seq at
// now. Under the lock.
func (f *Fleet[Own]) Commit(st *Staged[Own], seq store.Seq, now rimewatch.Time) {
	d := st.Device
	d.Facts, st.Facts, st.committed = st.Facts, d.Facts, true
	f.dirty.add(d, seq, now)
}

// Took counts the devices of a group, to bound the replay of a recovery.
func (f *Fleet[Own]) Took(devices int) { f.dirty.inputs += int64(devices) }

// Inputs returns how many were taken so far, by device and group.
func (f *Fleet[Own]) Inputs() int64 { return f.dirty.inputs }

// Rollback undoes a group's changes of a device. Groups are rolled back from the
// newest to the oldest, and the devices of a group in the reverse order of staging. The state is lost until
// Rebuild; a device that the group has made is gone. Under the lock.
func (f *Fleet[Own]) Rollback(st *Staged[Own]) {
	d := st.Device
	if st.committed {
		d.Facts = st.Facts
	}
	switch {
	case d.Added:
		f.memory.remove(d)
		d.Deleted = true
	case !d.lost:
		d.lost = true
		f.lost = append(f.lost, d)
	}
}

// Lost reports whether states are lost.
func (f *Fleet[Own]) Lost() bool { return len(f.lost) > 0 }

// Look calls look with a device and its state, under the lock; not at all when there is no
// such device. An error says that the state, or a part of it, could not be read.
func (f *Fleet[Own]) Look(id int64, look func(d *Device[Own], state *engine.State)) error {
	f.RLock()
	d := f.devices.Get(id)
	if d == nil || d.slot != 0 {
		defer f.RUnlock()
		if d != nil {
			look(d, f.memory.state(d))
		}
		return nil
	}
	f.RUnlock()
	var state engine.State
	err := f.store.Checkpoints(context.Background(), []int64{id}, func(c store.Checkpoint) error {
		return f.readCheckpoint(c.State, &Facts{}, &state)
	})
	f.RLock()
	defer f.RUnlock()
	if d.slot != 0 { // it came back meanwhile, and may have changed
		look(d, f.memory.state(d))
	} else {
		look(d, &state)
	}
	if errors.Is(err, engine.ErrAnew) {
		err = nil
	}
	return err
}

// Read calls look with devices whose states are on the disk alone, under the lock. Those
// that cannot be read are left out: that is reported when they are needed. The writing goroutine
// calls it.
func (f *Fleet[Own]) Read(ids []int64, look func(d *Device[Own], state *engine.State)) error {
	return f.store.Checkpoints(context.Background(), ids, func(c store.Checkpoint) error {
		var state engine.State
		d := f.devices.Get(c.DeviceID)
		if err := f.readCheckpoint(c.State, &Facts{}, &state); err != nil {
			return nil //nolint:nilerr // as said
		}
		f.Lock()
		defer f.Unlock()
		look(d, &state)
		return nil
	})
}
