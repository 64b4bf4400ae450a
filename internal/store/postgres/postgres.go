package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/core"
	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// Config of a store. The zero value of everything but URL is good.
type Config struct {
	// URL is a connection string as libpq knows it. Several hosts and
	// target_session_attrs=read-write find the primary after a fail-over.
	URL string
	// HeadBytes, SealAfter and SealReadings are those of the embedded store.
	HeadBytes    int64         // default 48 MiB
	SealAfter    time.Duration // default 1 h
	SealReadings int           // default 720
	LogReadings  int64         // see core.Config
	Readers      int           // connections for reading; default 2 × cores, 4 at least
	// Primary is a file that remembers the newest primary, so that one which it replaced
	// is refused after a restart, too; "" = nothing remembers it.
	Primary  string
	Logger   *slog.Logger
	Now      func() time.Time // for the age of unsealed readings and retention
	Sure     func() bool      // whether Now is certain enough to delete data by; nil = always
	LogAside bool             // damaged rows of the log are set aside instead of refusing to open
	Quotas   store.Quotas     // of a workspace
	// ControlOnly opens the store for accounts and settings alone: nothing is
	// loaded, nothing runs in the background, no stream is opened. For commands
	// beside a server.
	ControlOnly bool
	// Shards is how many shards a fresh database is divided into; default 1.
	Shards int64

	// history is that of the schema. Tests have others than tables.Current.
	history *tables.History

	quiet    bool          // leaves the background work to Rest. For tests.
	takeOver bool          // from a server that is still there. For tests.
	writers  int           // connections that write; default writers
	patience time.Duration // with an answer of the database; default 15 s
	gone     time.Duration // how long a server is silent that has lost its store; default store.GoneAfter
}

func (c *Config) defaults() {
	if c.Readers == 0 {
		c.Readers = max(4, 2*runtime.NumCPU())
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.history == nil {
		c.history = &tables.Current
	}
	if c.patience == 0 {
		c.patience = 15 * time.Second
	}
	if c.gone == 0 {
		c.gone = store.GoneAfter
	}
}

// Store is a store in PostgreSQL. See the package comment.
type Store struct {
	*core.Core
	disk *disk
}

var _ store.Store = (*Store)(nil)

// Open opens or creates the store, becomes its only writer and loads the devices.
// A server that already serves it keeps it: that is an error.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg.defaults()
	d := newDisk(cfg)
	d.tables = tables.New(d, func() rimewatch.Time { return rimewatch.TimeOf(cfg.Now()) }, store.Shard{}, cfg.Quotas)
	s := newStore(d)
	err := d.open(ctx)
	if err == nil && !cfg.ControlOnly {
		err = s.Load(ctx)
	}
	if err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("open store: %w", err)
	}
	return s, nil
}

func newStore(d *disk) *Store {
	cfg := &d.cfg
	readings := core.Config{
		HeadBytes: cfg.HeadBytes, SealAfter: cfg.SealAfter, SealReadings: cfg.SealReadings, LogReadings: cfg.LogReadings, Logger: cfg.Logger, Now: cfg.Now, Sure: cfg.Sure, Quiet: cfg.quiet, LogAside: cfg.LogAside, MaxDevices: cfg.Quotas.Devices,
	}
	if d.follows != nil {
		readings.Join = d.join
	}
	return &Store{disk: d, Core: core.New(readings, d, d.tables)}
}

// Close stops the background work and gives the stream back, so that another
// server need not wait for it. Nothing is lost: what is not sealed is in the log.
func (s *Store) Close() error {
	s.disk.giveUp()
	s.Stop()
	s.disk.moved = s.Moved()
	return s.disk.close()
}

// GiveUp ends the wait for a database that does not answer: writes whose outcome
// is not known fail from now on.
func (s *Store) GiveUp() { s.disk.giveUp() }

// Lost is closed when the store cannot be written to by this process any more:
// Err returns why.
func (s *Store) Lost() <-chan struct{} { return s.disk.lostC }

// Err is why the store is lost.
func (s *Store) Err() error { return s.disk.lostErr() }

// errFenced is the end of a server whose stream was closed.
var errFenced = errors.New("another server has taken the store over")
