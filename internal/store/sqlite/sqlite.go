package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/core"
	"github.com/rimewatch/rimewatch/internal/store/tables"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// FileName is the name of the store's file in the data directory.
const FileName = "rimewatch.db"

// Config of a store. The zero value of everything but Path is good.
type Config struct {
	Path string // the file; its directory must exist
	// HeadBytes is the memory that unsealed readings may take before they are
	// sealed early. Default 48 MiB. Twice as much makes writers wait.
	HeadBytes int64
	// SealAfter is the age at which unsealed readings are sealed, whatever
	// their number. Default 1 h.
	SealAfter time.Duration
	// SealReadings is the number of unsealed readings of one device that is
	// worth a chunk of its own. Default 720.
	SealReadings int
	Readers      int // connections for reading; default 2 × cores, 4 at least
	Logger       *slog.Logger
	Now          func() time.Time // for the age of unsealed readings and retention
	Sure         func() bool      // whether Now is certain enough to delete data by; nil = always
	// LogAside sets damaged rows of the log aside instead of refusing to open.
	LogAside bool
	Quotas   store.Quotas // of a workspace
	// ControlOnly opens the store for accounts and settings alone: nothing is
	// loaded and nothing runs in the background. For commands while a server runs.
	ControlOnly bool

	// fault is called before every step that makes something durable and may
	// fail it. For tests.
	fault func(step string) error
	// history is that of the schema. Tests have others than tables.Current.
	history *tables.History
	// quiet leaves the background work to Rest. For tests.
	quiet bool
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
	if c.fault == nil {
		c.fault = func(string) error { return nil }
	}
}

// Store is the embedded store: one SQLite file. See the package comment.
type Store struct {
	*core.Core
	disk *disk
}

var _ store.Store = (*Store)(nil)

// Open opens or creates the store, brings one of an older version up to date and loads the devices
// and the unsealed readings.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg.defaults()
	if cfg.Path == "" {
		return nil, errors.New("open store: no path")
	}
	if err := os.MkdirAll(filepath.Dir(cfg.Path), 0o750); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	d := &disk{cfg: cfg}
	d.tables = tables.New(d, func() rimewatch.Time { return rimewatch.TimeOf(cfg.Now()) }, store.Shard{}, cfg.Quotas)
	s := &Store{disk: d, Core: core.New(core.Config{
		HeadBytes: cfg.HeadBytes, SealAfter: cfg.SealAfter, SealReadings: cfg.SealReadings, Logger: cfg.Logger, Now: cfg.Now, Sure: cfg.Sure, Quiet: cfg.quiet, LogAside: cfg.LogAside, MaxDevices: cfg.Quotas.Devices,
	}, d, d.tables)}
	err := d.open()
	if err == nil && !cfg.ControlOnly {
		err = s.Load(ctx)
	}
	if err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("open store %s: %w", cfg.Path, err)
	}
	return s, nil
}

// Close stops the background work and closes the file. Nothing is lost: what
// is not sealed is in the log.
func (s *Store) Close() error {
	s.Stop()
	return s.disk.close()
}

// Rest seals, trims and merges everything that can be and gives free pages back
// to the file system: the file is then as small as it gets. Commits go on beside
// it.
func (s *Store) Rest(ctx context.Context) error {
	if err := s.Core.Rest(ctx); err != nil {
		return err
	}
	return s.disk.shrink(ctx)
}

// Check looks for damage in the file: for doctor.
func (s *Store) Check(ctx context.Context) error { return s.disk.read(ctx, &s.disk.pool, quickCheck) }

func quickCheck(conn *sqlite.Conn) error { return checkPages(conn, "PRAGMA quick_check") }

// fullCheck also holds every index against its table, which finds most of what
// changed in the tables that have no checksums.
func fullCheck(conn *sqlite.Conn) error { return checkPages(conn, "PRAGMA integrity_check") }

func checkPages(conn *sqlite.Conn, pragma string) error {
	return sqlitex.ExecuteTransient(conn, pragma, &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
		if text := stmt.ColumnText(0); text != "ok" {
			return fmt.Errorf("the file is damaged: %s", text)
		}
		return nil
	}})
}
