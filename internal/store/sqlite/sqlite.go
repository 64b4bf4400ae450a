package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rimewatch/rimewatch"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitemigration"
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
	// ControlOnly opens the store for accounts and settings alone: nothing is
	// loaded and nothing runs in the background. For commands beside a server.
	ControlOnly bool

	// fault is called before every step that makes something durable and may
	// fail it. For tests.
	fault func(step string) error
	// quiet leaves the background work to Rest. For tests.
	quiet bool
}

func (c *Config) defaults() {
	if c.HeadBytes == 0 {
		c.HeadBytes = 48 << 20
	}
	if c.SealAfter == 0 {
		c.SealAfter = time.Hour
	}
	if c.SealReadings == 0 {
		c.SealReadings = 720
	}
	if c.Readers == 0 {
		c.Readers = max(4, 2*runtime.NumCPU())
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.fault == nil {
		c.fault = func(string) error { return nil }
	}
}

// Store is the embedded store: one SQLite file. See the package comment.
type Store struct {
	cfg  Config
	log  *slog.Logger
	pool *sqlitex.Pool
	// accounts are connections for control data alone: a token must not wait
	// for those who read history.
	accounts *sqlitex.Pool

	// writeMu guards writer: commits, control changes, sealing slices. It is
	// always taken before mu.
	writeMu sync.Mutex
	writer  *sqlite.Conn

	// mu guards the fleet and everything in it. Readers hold it for slices of
	// a millisecond, the writer to stage and to publish a commit.
	mu    sync.RWMutex
	fleet fleet

	seq       int64          // of the last commit; changed under writeMu and mu
	lastNow   rimewatch.Time // of the last commit; changed under writeMu and mu
	staged    []*commit      // by seq, what is not committed yet; under mu
	spare     []*commit      // to be used again; under mu
	head      headSize
	deviceID  atomic.Int64 // last id given out
	alertID   atomic.Int64 // likewise
	lastAlert int64        // the greatest id of a stored alert; under mu
	counts    alertCounts  // by workspace, under mu
	active    map[int64]*activeAlert
	chunks    chunkTimes   // timestamps of chunks; under mu
	lookup    *sqlite.Conn // finds late readings in chunks; under mu

	ckptFloor atomic.Int64 // no input before it is needed for streaming state

	ctx      context.Context // of the background work, ends with Close
	cancel   context.CancelFunc
	closed   atomic.Bool
	workers  sync.WaitGroup
	seal     sealer
	maint    *sqlite.Conn   // of the background work; under maintMu
	maintMu  sync.Mutex     // one piece of background work at a time; taken before writeMu
	trimmed  int64          // no log row before it; under maintMu
	retained rimewatch.Time // when expired data were last looked for; under maintMu
}

// Open opens or creates the store, applies migrations and loads the devices
// and the unsealed readings.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg.defaults()
	if cfg.Path == "" {
		return nil, errors.New("open store: no path")
	}
	if err := os.MkdirAll(filepath.Dir(cfg.Path), 0o750); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{cfg: cfg, log: cfg.Logger, active: make(map[int64]*activeAlert)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.seal.init()
	if err := s.open(ctx); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("open store %s: %w", cfg.Path, err)
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	// The file holds secrets. SQLite gives its write-ahead log the same mode.
	f, err := os.OpenFile(s.cfg.Path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	conn, err := sqlite.OpenConn(s.cfg.Path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	s.writer = conn
	if err := prepareWriter(conn); err != nil {
		return err
	}
	if err := migrate(ctx, conn); err != nil {
		return err
	}
	s.pool, err = sqlitex.NewPool(s.cfg.Path, sqlitex.PoolOptions{
		Flags:       sqlite.OpenReadWrite,
		PoolSize:    s.cfg.Readers,
		PrepareConn: prepareReader,
	})
	if err != nil {
		return err
	}
	s.accounts, err = sqlitex.NewPool(s.cfg.Path, sqlitex.PoolOptions{
		Flags:       sqlite.OpenReadWrite,
		PoolSize:    accountReaders,
		PrepareConn: prepareReader,
	})
	if err != nil {
		return err
	}
	if s.cfg.ControlOnly {
		return nil
	}
	if s.maint, err = sqlite.OpenConn(s.cfg.Path, sqlite.OpenReadWrite); err != nil {
		return err
	}
	if err := sqlitex.ExecuteTransient(s.maint, "PRAGMA busy_timeout = 10000", nil); err != nil {
		return err
	}
	if s.lookup, err = sqlite.OpenConn(s.cfg.Path, sqlite.OpenReadWrite); err != nil {
		return err
	}
	if err := prepareReader(s.lookup); err != nil {
		return err
	}
	return s.load(ctx)
}

// migrate brings the schema up to date. A file that is up to date is not
// written to: a server must come up on a full disk, too, and answer reads.
func migrate(ctx context.Context, conn *sqlite.Conn) error {
	id, err := queryInt(conn, "PRAGMA application_id")
	if err != nil {
		return err
	}
	version, err := queryInt(conn, "PRAGMA user_version")
	if err != nil {
		return err
	}
	if id == applicationID && version == int64(len(migrations)) {
		return nil
	}
	return sqlitemigration.Migrate(ctx, conn, schema())
}

// prepareWriter sets the writer up. FULL syncs the write-ahead log at every
// commit: with NORMAL an acknowledged commit can be lost in a power cut. The
// write-ahead log is checkpointed in the background, not inside a commit.
func prepareWriter(conn *sqlite.Conn) error {
	pages, err := queryInt(conn, "PRAGMA page_count")
	if err != nil {
		return err
	}
	if pages == 0 { // it can only be chosen for a new file
		if err := sqlitex.ExecuteTransient(conn, "PRAGMA auto_vacuum = INCREMENTAL", nil); err != nil {
			return err
		}
	}
	for _, q := range []string{
		"PRAGMA busy_timeout = 10000",
		"PRAGMA journal_mode = WAL",
		"PRAGMA synchronous = FULL",
		"PRAGMA foreign_keys = ON",
		"PRAGMA wal_autocheckpoint = 0",
		"PRAGMA journal_size_limit = 8388608",
		"PRAGMA cache_size = -8192",
		"PRAGMA temp_store = MEMORY",
	} {
		if err := sqlitex.ExecuteTransient(conn, q, nil); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return nil
}

func prepareReader(conn *sqlite.Conn) error {
	for _, q := range []string{
		"PRAGMA busy_timeout = 10000",
		"PRAGMA query_only = ON",
		"PRAGMA cache_size = -2048",
		"PRAGMA temp_store = MEMORY",
	} {
		if err := sqlitex.ExecuteTransient(conn, q, nil); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return nil
}

// Close stops the background work and closes the file. Nothing is lost: what
// is not sealed is in the log.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.cancel()
	s.workers.Wait()
	var err error
	if s.maint != nil {
		err = s.maint.Close()
	}
	if s.pool != nil {
		err = errors.Join(err, s.pool.Close())
	}
	if s.accounts != nil {
		err = errors.Join(err, s.accounts.Close())
	}
	s.mu.Lock()
	if s.lookup != nil {
		err = errors.Join(err, s.lookup.Close())
		s.lookup = nil
	}
	s.mu.Unlock()
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	if s.writer != nil {
		s.writer.SetInterrupt(nil)
		err = errors.Join(err, s.writer.Close())
		s.writer = nil
	}
	return err
}

// read runs f on a pooled connection.
func (s *Store) read(ctx context.Context, f func(*sqlite.Conn) error) error {
	return s.readFrom(ctx, s.pool, f)
}

func (s *Store) readFrom(ctx context.Context, pool *sqlitex.Pool, f func(*sqlite.Conn) error) error {
	if s.closed.Load() {
		return errClosed()
	}
	conn, err := pool.Take(ctx)
	if err != nil {
		return storeError(err, "take a connection")
	}
	defer pool.Put(conn)
	return storeError(f(conn), "read")
}

// write runs f in one immediate transaction on the writer.
func (s *Store) write(ctx context.Context, f func(*sqlite.Conn) error) error {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	return s.transact(ctx, f)
}

// transact is write for a caller that holds writeMu.
func (s *Store) transact(ctx context.Context, f func(*sqlite.Conn) error) (err error) {
	if s.writer == nil || s.closed.Load() {
		return errClosed()
	}
	if err := ctx.Err(); err != nil {
		return storeError(err, "write")
	}
	end, err := sqlitex.ImmediateTransaction(s.writer)
	if err != nil {
		return storeError(err, "begin")
	}
	defer func() {
		if err == nil {
			err = s.cfg.fault("commit")
		}
		end(&err)
		err = storeError(err, "commit")
	}()
	return f(s.writer)
}

func errClosed() error {
	return &rimewatch.Error{Code: rimewatch.CodeUnavailable, Message: "The store is closing.", RetryAfter: 5 * time.Second}
}

// storeError gives every failure of the engine the one typed error. A full or
// failing disk is the caller's sign to try again later.
func storeError(err error, op string) error {
	if err == nil {
		return nil
	}
	var typed *rimewatch.Error
	if errors.As(err, &typed) {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return rimewatch.Wrap(rimewatch.CodeUnavailable, err, "The request was given up.")
	}
	e := rimewatch.Wrap(rimewatch.CodeInternal, fmt.Errorf("%s: %w", op, err), "The store failed.")
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultFull, sqlite.ResultIOErr, sqlite.ResultBusy, sqlite.ResultReadOnly, sqlite.ResultInterrupt, sqlite.ResultCantOpen:
		e.Code, e.Message, e.RetryAfter = rimewatch.CodeUnavailable, "The store cannot write at the moment.", 5*time.Second
	}
	return e
}
