// Package core implements the engine-independent part of a store: a commit log and compressed
// chunks. An engine brings a Disk, which keeps log, checkpoints
// and chunks, and a database for package tables.
//
// # Readings are a log and chunks
//
// A commit is one row of the log: the packed inputs of everybody who waited, one
// sync for all of them. The readings of a commit also go, as the same bytes, into
// the in-memory head of each device, which answers queries for the newest readings and settles
// duplicates. In the background the sealer turns heads into chunks (package
// chunk), in slices of a few devices: it encodes outside every lock, has the disk
// write the chunks and each device's seal mark in one short transaction, and then
// takes the rows out of the head. Small chunks are merged to one a day. Log rows
// go when everything in them is sealed and no device needs them to rebuild its
// streaming state (SaveCheckpoints).
//
// # Recovery
//
// The disk is the only thing that has to be crash-safe. At the start the log is
// replayed into the heads; a row whose device has a seal mark at or after its
// commit is in a chunk already. Whatever the moment of a crash, a reading is
// therefore in exactly one of the two places. Several workers replay it at once,
// each for its own devices; a step of the clock waits for all of them.
//
// # Locks
//
// In this order: maintMu (background work), exclusive (a group that changes
// devices, a change of sites), commitMu (one commit at a time), mu (what is in
// memory). Readers take mu for slices of a millisecond, and ask the disk without
// it. The head is copied before the chunks are read: what is sealed in between is
// seen twice and merged, never missed.
package core

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// Config of a Core.
type Config struct {
	// HeadBytes is the memory that unsealed readings may take before they are
	// sealed early; a large fleet gets more. Twice as much makes writers wait.
	// Default 48 MiB.
	HeadBytes    int64
	SealAfter    time.Duration // the age at which unsealed readings are sealed; default 1 h
	SealReadings int           // unsealed readings of one device that are worth a chunk; default 720
	// LogReadings is how many readings the log may hold from the oldest unsealed one on;
	// where many devices have unsealed ones, thirty for each of them may. Whoever opens the
	// disk next reads them all. Default: as many as come within SealAfter.
	LogReadings int64
	Logger      *slog.Logger
	Now         func() time.Time // for the age of unsealed readings and retention
	Sure        func() bool      // whether Now is certain enough to delete data by; nil = always
	Quiet       bool             // the background work is left to Rest
	// Join waits until the process that writes to the disk lets go of it, and makes the
	// disk this one's: the data that Recover reads may be behind until then. Nil = it is ours.
	Join func(ctx context.Context) error
	// LogAside sets damaged rows of the log aside instead of refusing to start.
	LogAside   bool
	MaxDevices int // of a workspace, 0 = no limit
}

func (c *Config) defaults() {
	if c.HeadBytes == 0 {
		c.HeadBytes = 48 << 20
	}
	if c.SealAfter == 0 {
		c.SealAfter = time.Hour
	}
	if c.LogReadings == 0 {
		c.LogReadings = math.MaxInt64
	}
	if c.SealReadings == 0 {
		c.SealReadings = 720
	}
}

// Core is a store upon a Disk and Tables.
type Core struct {
	eraser
	follower
	*tables.Tables
	*damage
	onDisk
	cfg Config
	log *slog.Logger

	// exclusive is held for a group that changes devices, from Stage until it
	// ends, and for changes of sites.
	exclusive sync.Mutex
	commitMu  sync.Mutex // one commit at a time
	// mu guards the fleet and everything in it. Readers hold it for slices of a
	// millisecond, the writer to stage and to publish a commit.
	mu     sync.RWMutex
	fleet  fleet
	loaded bool // Load was called: there is a fleet

	seq       int64          // of the last commit
	lastNow   rimewatch.Time // of the last commit
	staged    []*commit      // by seq, not committed yet
	spare     []*commit      // to be used again
	heads     heads
	deviceID  ids
	alertID   ids
	moreIDs   func(ctx context.Context, alerts bool) (after, end int64, err error) // nil = they never end
	lastAlert int64                                                                // the greatest id of a stored alert
	ranges    []int64                                                              // of ids in which there were devices when the store was loaded
	counts    alertCounts                                                          // by workspace
	active    map[int64]*activeAlert
	chunks    chunkTimes // timestamps of chunks

	ckptFloor atomic.Int64 // no input before it is needed for streaming state
	followed  store.Seq    // where the log ended that Recover has read

	ctx       context.Context // of the background work, ends with Close
	cancel    context.CancelFunc
	closed    atomic.Bool
	workers   sync.WaitGroup
	seal      sealer
	maintMu   sync.Mutex     // one piece of background work at a time
	trimmed   store.Seq      // no log row before it; under maintMu
	retained  rimewatch.Time // when expired data were last looked for; under maintMu
	retaining sync.Mutex     // one Retain at a time
}

// New makes a core. Without Load it serves control data alone.
func New(cfg Config, disk Disk, t *tables.Tables) *Core {
	cfg.defaults()
	s := &Core{Tables: t, cfg: cfg, log: cfg.Logger, onDisk: onDisk{disk}, fleet: newFleet(), active: make(map[int64]*activeAlert)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.eraser, s.follower = eraser{s}, follower{s, new(atomic.Int64)}
	s.heads.budget.Store(cfg.HeadBytes)
	s.seal.init()
	s.damage = &damage{aid: disk, log: cfg.Logger, wake: s.seal.wake}
	return s
}

// Load reads the devices and alerts. Recover must follow.
func (s *Core) Load(ctx context.Context) error {
	s.loaded = true
	return s.load(ctx)
}

// Stop ends the background work. Nothing is lost: unsealed readings are in the
// log. The disk may be closed afterwards.
func (s *Core) Stop() {
	s.closed.Store(true)
	s.cancel()
	s.workers.Wait()
}

// ErrClosed is the error of every call after Stop.
func ErrClosed() error {
	return &rimewatch.Error{Code: rimewatch.CodeUnavailable, Message: "The store is closing.", RetryAfter: 5 * time.Second}
}

// PutLive implements store.Log.
func (s *Core) PutLive(live []store.LiveWrite, touched []store.AlertTouch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range live {
		if d := s.fleet.byID.Get(live[i].DeviceID); d != nil {
			d.show(&live[i].Presence)
		}
	}
	s.touchAlerts(touched)
}

// PutLimits implements store.Log.
func (s *Core) PutLimits(limits map[int64]map[string]rimewatch.LimitOverrides) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fleet.limits = limits
}

// NewDeviceID implements store.Log.
func (s *Core) NewDeviceID() int64 { return s.deviceID.next(s, false) }

// NewAlertID implements store.Log.
func (s *Core) NewAlertID() int64 { return s.alertID.next(s, true) }

// ids are counted.
type ids struct {
	mu        sync.Mutex
	last, end int64 // the last one given out, and the last one that may be
}

func (x *ids) set(last, end int64) {
	x.mu.Lock()
	x.last, x.end = last, end
	x.mu.Unlock()
}

// next waits for the disk where ids are used up: nothing can be committed without it
// either.
func (x *ids) next(s *Core, alerts bool) int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	for s.moreIDs != nil && x.last == x.end {
		after, end, err := s.moreIDs(s.ctx, alerts)
		if err == nil {
			x.last, x.end = after, end
			break
		}
		s.log.Warn("there are no more ids", "err", err)
		select {
		case <-s.ctx.Done():
			return 0 // nothing is committed any more
		case <-time.After(time.Second):
		}
	}
	x.last++
	return x.last
}

// Stats implements store.Store. It counts every chunk: not for a hot path.
func (s *Core) Stats(ctx context.Context) (store.Stats, error) {
	st, err := s.disk.Sizes(ctx)
	st.HeadReadings, st.HeadBytes = s.heads.readings.Load(), s.heads.bytes.Load()
	st.LastSealed = rimewatch.Time(s.seal.lastAt.Load())
	st.StoredReadings += st.HeadReadings
	return st, err
}

// HeadBytes is the memory of readings that are not sealed yet.
func (s *Core) HeadBytes() int64 { return s.heads.bytes.Load() }
