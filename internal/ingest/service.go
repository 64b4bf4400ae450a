package ingest

import (
	"context"
	"log/slog"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/limit"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/rejudge"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Store is what the write path asks of a store.
type Store interface {
	store.Log
	Workspaces(ctx context.Context) ([]rimewatch.Workspace, error)
	Device(ctx context.Context, workspaceID int64, serial string) (rimewatch.DeviceView, error)
	DeviceByID(id int64) (rimewatch.DeviceView, bool)
	Alert(ctx context.Context, workspaceID, id int64) (rimewatch.AlertView, error)
	Alerts(ctx context.Context, workspaceID int64, f store.AlertFilter, p store.AlertPage) (list []rimewatch.AlertView, total int, err error)
	Sites() store.Resource[rimewatch.Site]
	rejudge.Store
	store.Maintenance
	store.Everywhere
}

// Publisher hears of every commit, in order, after it is durable. It must
// return at once and keep nothing of what it is given.
type Publisher interface {
	Publish(*publish.Commit)
}

// Config of a Service. The zero value of everything but Store is good.
type Config struct {
	Store     Store
	Publisher Publisher
	Now       func() time.Time
	// ByHand means that Now is moved by hand, as by tests: however far it leaps, the
	// process did not stand still.
	ByHand bool
	// Clock is what Now comes from, where the machine's clock may step; nil = Now
	// is right.
	Clock  Clock
	Logger *slog.Logger
	// QueueInputs bounds what may wait; beyond it callers are asked to come back.
	// Default 200,000.
	QueueInputs int
	// GroupInputs bounds one commit. Default 20,000.
	GroupInputs int
	// CallerDevices is how many devices' readings of one caller are committed together, if
	// he brings many more: each may bring an alert, and others wait behind these. Where few
	// do, it is up to four times as many. Default 250.
	CallerDevices int
	// SharedInputs is how many inputs of one caller are worth being evaluated by
	// several goroutines. Default 256.
	SharedInputs int
	// Steppers is how many goroutines help the writer to evaluate. Default: one
	// fewer than processors.
	Steppers int
	// CheckpointAfter is how long a changed unit may wait for its checkpoint, up to
	// twice as long where a thousand and more become old within a second. Default 2 min.
	CheckpointAfter time.Duration
	// CheckpointInputs is how many inputs may lie behind the oldest checkpoint, which is
	// what a recovery replays; where many units change, thirty for each of them may.
	// Default 1,000,000.
	CheckpointInputs int64
	// StateMemory is how many bytes the states of devices may take. Beyond it the
	// coldest are read from the disk when they are needed. Default: no bound.
	StateMemory int64
	// ReadFirst is the size of a fleet beyond which readings are taken after a start
	// before the states of all devices have been read; ten logged inputs that no
	// checkpoint holds count as a device. Default 20,000; Loading reports whether it is so.
	ReadFirst int
	// AliveEvery is how well the beginning of a downtime is known. Default 2 s.
	AliveEvery time.Duration
}

func (c *Config) defaults() {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.QueueInputs == 0 {
		c.QueueInputs = 200_000
	}
	if c.GroupInputs == 0 {
		c.GroupInputs = 20_000
	}
	if c.CallerDevices == 0 {
		c.CallerDevices = 250
	}
	if c.SharedInputs == 0 {
		c.SharedInputs = 256
	}
	if c.Steppers == 0 {
		c.Steppers = runtime.GOMAXPROCS(0) - 1
	}
	if c.CheckpointAfter == 0 {
		c.CheckpointAfter = 2 * time.Minute
	}
	if c.CheckpointInputs == 0 {
		c.CheckpointInputs = 1_000_000
	}
	if c.AliveEvery == 0 {
		c.AliveEvery = 2 * time.Second
	}
	if c.ReadFirst == 0 {
		c.ReadFirst = 20_000
	}
	if c.StateMemory == 0 {
		c.StateMemory = math.MaxInt64
	}
	if c.Publisher == nil {
		c.Publisher = nobody{}
	}
}

type nobody struct{}

func (nobody) Publish(*publish.Commit) {}

const (
	tickEvery    = 500 * time.Millisecond
	tickSlice    = 2_000 // deadlines in one commit: a mass outage comes in slices
	downtimeKept = 30 * rimewatch.Day
)

// Service is the write path: it queues what is to be written and answers what is
// known of the devices now. Start it before use, stop it after the last use.
type Service struct {
	*base
	inbox *inbox
	known *known
	fleet *fleet.Fleet[about]

	refreshing    sync.Mutex // held to read settings and hand them over, so that older ones never come last
	checkpointing sync.Mutex
	copies        fleet.Copies[about] // kept for the next checkpoint; under checkpointing

	stopOnce sync.Once
	workers  sync.WaitGroup
}

// base is what every part of the write path is given.
type base struct {
	cfg     Config
	store   Store
	log     *slog.Logger
	trouble limit.Gate // of what is logged
}

func (b *base) clock() rimewatch.Time { return rimewatch.TimeOf(b.cfg.Now()) }

// troubled logs a failure of the store, at most once a minute: a full disk
// fails every commit, and the log often lies on the same disk.
func (b *base) troubled(what string, err error) {
	if more, ok := b.trouble.Pass(b.clock(), time.Minute); ok {
		b.log.Error(what+" failed", "err", err, "more_since_last", more)
	}
}

// known is what readers see of the fleet beside its devices. The writer goroutine changes
// what follows from states, and the committer what follows from a group that is durable;
// both hold the fleet's lock only to do so.
type known struct {
	durable  fleet.Position // of the last commit
	totals   map[int64]*totals
	verdicts [len(rimewatch.Verdicts)]int // see Verdicts
	settings settings                     // of the writer goroutine; it holds the lock to replace them
	lagging  atomic.Bool                  // units may still be judged by older settings
	worst    atomic.Int64                 // ns, the longest commit
	loaded   chan struct{}                // closed when no unit is behind any more
}

// New makes a service; Start brings it to life.
func New(cfg Config) *Service {
	cfg.defaults()
	return &Service{
		base:  &base{cfg: cfg, store: cfg.Store, log: cfg.Logger},
		inbox: newInbox(&cfg),
		known: &known{totals: make(map[int64]*totals), loaded: make(chan struct{})},
		fleet: fleet.New[about](fleet.Config{Store: cfg.Store, Logger: cfg.Logger, StateMemory: cfg.StateMemory}),
	}
}

// Start rebuilds the units from the store and begins to take requests. Those of a
// large fleet are rebuilt when they are needed, and all the others meanwhile.
func (s *Service) Start(ctx context.Context) error {
	w := newWriter(s.base, s.inbox, s.known, s.fleet)
	if err := (&recovery{w}).recover(ctx); err != nil {
		return err
	}
	s.workers.Go(w.write)
	s.workers.Go(rejudger{s}.run)
	if s.Loading() {
		s.workers.Go(func() {
			if s.loadRest() {
				s.applySettings(context.Background())
				s.checkpoints()
			}
		})
		return nil
	}
	s.workers.Go(s.checkpoints)
	s.applySettings(ctx)
	return nil
}

// applySettings applies the settings in force to all units: a crash may have come
// between a change and its reaching them.
func (s *Service) applySettings(ctx context.Context) {
	s.known.lagging.Store(true)
	if err := s.RefreshSettings(ctx); err != nil {
		s.troubled("apply the settings of workspaces", err)
	}
}

// Stop refuses new requests, commits those that wait and returns when nothing runs any
// more. It writes no checkpoints: the next start reads what is missing from the log.
func (s *Service) Stop() {
	s.stopOnce.Do(s.inbox.stop)
	s.workers.Wait()
}

// WorstCommit is the longest that a group took since the last call, from its staging to
// its commit: for metrics.
func (s *Service) WorstCommit() time.Duration { return time.Duration(s.known.worst.Swap(0)) }

// QueueDepth is the number of inputs that wait, for metrics and readiness.
func (s *Service) QueueDepth() int64 { return s.inbox.waiting.Load() }
