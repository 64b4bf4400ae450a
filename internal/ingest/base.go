package ingest

import (
	"context"
	"log/slog"
	"math"
	"runtime"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/clock"
	"github.com/rimewatch/rimewatch/internal/limit"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/rejudge"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Store has the methods of a store that the write path calls.
type Store interface {
	store.Log
	Workspaces(ctx context.Context) ([]rimewatch.Workspace, error)
	Device(ctx context.Context, workspaceID int64, serial string) (rimewatch.DeviceView, error)
	DeviceByID(id int64) (rimewatch.DeviceView, bool)
	Identity(deviceID int64) *store.Identity
	Alert(ctx context.Context, workspaceID, id int64) (rimewatch.AlertView, error)
	Alerts(ctx context.Context, workspaceID int64, f store.AlertFilter, p store.AlertPage) (list []rimewatch.AlertView, total int, err error)
	Sites() store.Resource[rimewatch.Site]
	rejudge.Store
	Everywhere() store.Everywhere
}

// Publisher receives every commit, in order, after it is durable. It must return at once and keep
// nothing of its argument.
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
	// QueueInputs bounds the inputs that wait; beyond it callers are asked to come back.
	// Default 200,000.
	QueueInputs int
	// GroupInputs bounds one commit. Default 20,000.
	GroupInputs int
	// CallerDevices is how many devices' readings of one caller are committed together, if
	// it sends many more: each may bring an alert, and others wait behind these. Where few
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
	// CheckpointInputs is how many inputs may lie behind the oldest checkpoint, for a recovery to
	// replay; where many units change, thirty for each of them may.
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

// base has the configuration, the store and the log, for every type of the write path.
type base struct {
	cfg     Config
	store   Store
	log     *slog.Logger
	trouble limit.Gate // of the lines of troubled
}

func (b *base) clock() rimewatch.Time { return rimewatch.TimeOf(b.cfg.Now()) }

// troubled logs a failure of the store, at most once a minute: a full disk
// fails every commit, and the log often lies on the same disk.
func (b *base) troubled(what string, err error) {
	if more, ok := b.trouble.Pass(b.clock(), time.Minute); ok {
		b.log.Error(what+" failed", "err", err, "more_since_last", more)
	}
}

// Clock is the source of the service's time. A step of the machine's clock is
// adopted by the write path, since deadlines move with it.
type Clock interface {
	// Start begins at the machine's time, but not before the newest moment that
	// the store knows.
	Start(newest rimewatch.Time)
	Look() clock.Event
	// Adopt moves the service's time.
	Adopt(by rimewatch.Time)
}
