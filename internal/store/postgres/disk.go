package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/core"
	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// disk is the database and the connections to it, with the methods that a core and the tables call.
type disk struct {
	cfg    Config
	tables *tables.Tables

	reads *pgxpool.Pool // for history and lists
	// accounts are connections for the reads of every request: a token must
	// not wait for those who read history.
	accounts *pgxpool.Pool
	writes   *pgxpool.Pool // for commits, changes, background work and the write path's look-ups
	borrowed bool          // the pools are a Database's
	primary  *primary      // where they lead to

	of     int64         // how many shards the database is divided into
	shard  int64         // the one that we serve
	stream int64         // of it, whose owner we are; 0 = none
	first  core.Last     // where the ids begin that came with a shard among several
	ids    core.Last     // the greatest that are stored; of the one who appends
	node   string        // the name that we are heard of by
	moved  int64         // see core.Core.Moved; set before close
	turn   chan struct{} // one change of tables at a time
	change int64         // number of the last change of tables; under turn

	closing  context.Context // ends the wait for a database that does not answer
	giveUp   context.CancelFunc
	workers  sync.WaitGroup
	closed   atomic.Bool
	insisted atomic.Bool // that synchronous_commit is not off was said

	follows  *following // nil = the shard is ours from the beginning
	lostOnce sync.Once
	lostC    chan struct{}
	why      error // set before lostC is closed
}

// Connections besides those for reading. Commits, changes, checkpoints, background
// work and the write path's look-ups have one each at a time.
const (
	accountReaders = 2
	writers        = 6
)

func newDisk(cfg Config) *disk {
	d := &disk{cfg: cfg, primary: newPrimary(cfg.Primary, cfg.Logger), turn: make(chan struct{}, 1), lostC: make(chan struct{})}
	d.closing, d.giveUp = context.WithCancel(context.Background())
	return d
}

// connect makes the pools.
func (d *disk) connect(ctx context.Context) (err error) {
	servers, err := d.findPrimary(ctx)
	if err != nil {
		return err
	}
	for _, p := range []struct {
		pool **pgxpool.Pool
		size int
	}{{&d.reads, d.cfg.Readers}, {&d.accounts, accountReaders}, {&d.writes, max(d.cfg.writers, writers)}} {
		cfg, err := pgxpool.ParseConfig(d.cfg.URL)
		if err != nil {
			return badURL(err)
		}
		prepare(cfg.ConnConfig)
		if d.node != "" {
			cfg.ConnConfig.RuntimeParams["application_name"] = applicationName(d.node)
		}
		cfg.MaxConns = int32(p.size) //nolint:gosec // a small number
		if d.node != "" {
			cfg.MinConns = cfg.MaxConns / 2 // a shard that is taken over does not wait for new ones
		}
		cfg.AfterConnect = d.insist
		d.primary.guard(&cfg.ConnConfig.Config)
		if *p.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
			return err
		}
	}
	d.primary.onMove(func() { // those that are lent are closed when they are given back
		for _, pool := range []*pgxpool.Pool{d.reads, d.accounts, d.writes} {
			pool.Reset()
		}
	})
	if len(servers) > 1 {
		d.workers.Go(func() { d.watchServers(servers) })
	}
	return nil
}

// prepare sets the settings that a connection of ours depends on. A server that loses one in
// the middle of a batch holds its locks until it notices: within half a minute.
func prepare(cfg *pgx.ConnConfig) {
	if cfg.ConnectTimeout == 0 || cfg.ConnectTimeout > 5*time.Second {
		cfg.ConnectTimeout = 5 * time.Second
	}
	for name, value := range map[string]string{
		"application_name":                    "rimewatch",
		"default_transaction_isolation":       "read committed",
		"idle_in_transaction_session_timeout": "30s",
		"tcp_keepalives_idle":                 "10",
		"tcp_keepalives_interval":             "5",
		"tcp_keepalives_count":                "3",
	} {
		if _, set := cfg.RuntimeParams[name]; !set {
			cfg.RuntimeParams[name] = value
		}
	}
}

// insist has commits synced where the server's settings would acknowledge what is
// not: what synchronous_commit means with standbys is the operator's to choose,
// but never that a crash loses what was acknowledged.
func (d *disk) insist(ctx context.Context, c *pgx.Conn) error {
	tag, err := c.Exec(ctx, "SELECT set_config('synchronous_commit', 'on', FALSE) WHERE current_setting('synchronous_commit') = 'off'")
	if err == nil && tag.RowsAffected() > 0 && !d.insisted.Swap(true) {
		d.cfg.Logger.Warn("synchronous_commit is off in the database's settings; this server's connections set it to on, because acknowledged readings must survive a crash")
	}
	return err
}

// badURL is an error of the connection string in one line, without its password.
func badURL(err error) error {
	var bad *pgconn.ParseConfigError
	if errors.As(err, &bad) {
		return fmt.Errorf("--store: %w", err)
	}
	return err
}

func (d *disk) close() error {
	if d.closed.Swap(true) {
		return nil
	}
	d.giveUp()
	d.workers.Wait()
	err := d.release()
	for _, pool := range []*pgxpool.Pool{d.reads, d.accounts, d.writes} {
		if pool != nil && !d.borrowed {
			pool.Close()
		}
	}
	return err
}

// lose ends all writing: the process has to start again.
func (d *disk) lose(why error) error {
	d.lostOnce.Do(func() {
		d.why = why
		close(d.lostC)
		d.cfg.Logger.Error("the store cannot be written to any more", "reason", why)
	})
	return d.lostErr()
}

// lostErr returns the error of every write once the store is lost, nil before.
func (d *disk) lostErr() error {
	select {
	case <-d.lostC:
		return rimewatch.Wrap(rimewatch.CodeUnavailable, d.why, "The store is served by another server.")
	default:
		if d.follows != nil && d.stream == 0 {
			return rimewatch.Wrap(rimewatch.CodeUnavailable, errFollows, "The store is served by another server.")
		}
		return nil
	}
}

// with lends a connection of a pool.
func (d *disk) with(ctx context.Context, pool *pgxpool.Pool, f func(*pgx.Conn) error) error {
	if d.closed.Load() || pool == nil {
		return core.ErrClosed()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	if err = f(c.Conn()); err != nil && (c.Conn().IsClosed() || code(err) == readOnly) {
		// The others are broken, too, or lead to a server that is the primary no more.
		pool.Reset()
	}
	return err
}

// read runs f on a connection of a pool, without a transaction. One that broke
// while it lay idle, before f was given anything, is replaced.
func (d *disk) read(ctx context.Context, pool *pgxpool.Pool, f func(*session) error) error {
	broken := false // looked at while the connection is lent: afterwards it is somebody else's
	attempt := func(c *pgx.Conn) error {
		s := &session{ctx: ctx, conn: c}
		err := f(s)
		broken = err != nil && c.IsClosed() && !s.given
		return err
	}
	err := d.with(ctx, pool, attempt)
	if broken && ctx.Err() == nil {
		err = d.with(ctx, pool, attempt)
	}
	return d.failure(err, "read")
}

// Read implements tables.DB.
func (d *disk) Read(ctx context.Context, f func(tables.Conn) error) error {
	return d.read(ctx, d.accounts, func(s *session) error { return f(s) })
}

// ReadLong implements tables.DB.
func (d *disk) ReadLong(ctx context.Context, f func(tables.Conn) error) error {
	return d.read(ctx, d.reads, func(s *session) error { return f(s) })
}

// fence queues the first statement of a transaction that writes.
func (d *disk) fence(b *pgx.Batch) {
	if d.stream != 0 {
		b.Queue("SELECT fence($1, $2)", d.shard, d.stream)
	}
}

// everybody is the turn of changes that concern people, who may belong to
// workspaces of several shards.
const everybody = -1

// TakeTurn waits until no other transaction writes to the audit trail of a
// workspace.
func (s *session) TakeTurn(workspaceID int64) error {
	if shard := store.ShardOf(workspaceID, s.disk.of); s.disk.of > 1 && shard != s.disk.shard {
		return s.Later(nil, "SELECT 1 FROM turn WHERE shard = ? FOR UPDATE", shard)
	}
	return nil
}

// takeTurn queues the lock that changes of tables wait for.
func (d *disk) takeTurn(ctx context.Context, b *pgx.Batch) {
	if d.of > 1 && tables.OfAllShards(ctx) {
		b.Queue("SELECT 1 FROM turn WHERE shard = $1 FOR UPDATE", everybody)
	}
	b.Queue("SELECT 1 FROM turn WHERE shard = $1 FOR UPDATE", d.shard)
}

// transact runs f in one fenced transaction: its changes have been made, and its
// locks are held, when the commit is sent. turn says that it changes tables.
func (d *disk) transact(ctx context.Context, turn bool, f func(*session) error) error {
	if err := d.lostErr(); err != nil {
		return err
	}
	return d.with(ctx, d.writes, func(c *pgx.Conn) error {
		// A request that is cancelled does not break the connection of a commit.
		patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.cfg.patience)
		defer cancel()
		s := &session{ctx: patient, conn: c, disk: d, begin: func(b *pgx.Batch) {
			b.Queue("BEGIN")
			d.fence(b)
			if turn {
				d.takeTurn(ctx, b)
			}
		}}
		err := f(s)
		if err == nil && s.begun {
			return s.commit()
		}
		s.rollback()
		return err
	})
}

// commit sends the queued statements, and the commit with them.
func (s *session) commit() error {
	s.later.Queue("COMMIT").Exec(func(tag pgconn.CommandTag) error {
		if tag.String() != "COMMIT" {
			return errors.New("the transaction was aborted")
		}
		return nil
	})
	err := s.send()
	if err != nil {
		s.rollback()
	}
	return err
}

// send is flush with a commit.
func (s *session) send() error {
	err := s.flush()
	if err != nil && s.conn.IsClosed() && !pgconn.SafeToRetry(err) {
		return unknownError{err}
	}
	return err
}

func (s *session) rollback() {
	if s.begun && !s.conn.IsClosed() && s.conn.PgConn().TxStatus() != 'I' {
		_, _ = s.conn.Exec(s.ctx, "ROLLBACK")
	}
}

// unknownError is of a transaction that may have been stored: the connection broke
// before there was an answer.
type unknownError struct{ error }

// Unwrap returns the error of the connection.
func (e unknownError) Unwrap() error { return e.error }

func unknown(err error) bool { return errors.As(err, &unknownError{}) }

// Write implements tables.DB.
func (d *disk) Write(ctx context.Context, f func(tables.Conn) error) error {
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return d.failure(ctx.Err(), "write")
	}
	d.change++
	err := d.transact(ctx, true, func(s *session) error {
		if err := f(s); err != nil || d.stream == 0 {
			return err
		}
		return s.Later(nil, "UPDATE stream SET change = ? WHERE shard = ? AND id = ?", d.change, d.shard, d.stream)
	})
	if unknown(err) {
		err = d.settleChange(err)
	}
	return d.failure(err, "write")
}

// settleChange finds out whether the last change of tables was stored. It waits
// for the lock that the change held.
func (d *disk) settleChange(why error) error {
	if d.stream == 0 {
		return errOutcome(why)
	}
	stored := false
	err := d.persist(d.cfg.patience, func(ctx context.Context) error {
		return d.transact(ctx, true, func(s *session) error {
			last := int64(0)
			err := s.Query(func(row tables.Row) error { last = row.ColumnInt64(0); return nil },
				"UPDATE stream SET change = change WHERE shard = ? AND id = ? RETURNING change", d.shard, d.stream)
			stored = last == d.change
			return err
		})
	})
	switch {
	case err != nil:
		if code(err) == fencedState {
			_ = d.lose(errFenced)
		}
		return errOutcome(why)
	case stored:
		return nil
	}
	return why
}

// persist tries until there is an answer, for a while at most (0 = until the
// store gives up).
func (d *disk) persist(patience time.Duration, try func(context.Context) error) error {
	ctx, cancel := d.closing, context.CancelFunc(func() {})
	if patience > 0 {
		ctx, cancel = context.WithTimeout(ctx, patience)
	}
	defer cancel()
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := try(ctx)
		if err == nil || code(err) == fencedState || d.lostErr() != nil {
			return err
		}
		d.cfg.Logger.Warn("the database does not answer, will try again", "err", err)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// SQLSTATEs that we tell apart.
const (
	fencedState = "RW001"
	readOnly    = "25006"
	noPrivilege = "42501"
)

// code is the SQLSTATE of an answer of the server, "" of other errors.
func code(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// failure wraps every failure of the engine in the one typed error. What may be over
// soon is the caller's sign to try again later.
func (d *disk) failure(err error, op string) error {
	if err == nil {
		return nil
	}
	err = tables.Missing(err)
	var typed *rimewatch.Error
	if errors.As(err, &typed) {
		return err
	}
	state := code(err)
	if state == fencedState {
		return d.lose(errFenced)
	}
	if state == "" && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return rimewatch.Wrap(rimewatch.CodeUnavailable, err, "The request was cancelled.")
	}
	e := rimewatch.Wrap(rimewatch.CodeInternal, fmt.Errorf("%s: %w", op, err), "The store failed.")
	if passing(err, state) {
		e.Code, e.Message, e.RetryAfter = rimewatch.CodeUnavailable, "The database cannot be used at the moment.", 5*time.Second
	}
	return e
}

// passing reports whether an error is independent of the statement: there is no
// connection, the disk is full, the server is read-only, stops, lacks a privilege
// that somebody has taken away, or has to choose between two.
func passing(err error, state string) bool {
	if state == "" {
		var network net.Error
		var connecting *pgconn.ConnectError
		return errors.As(err, &network) || errors.As(err, &connecting) || unknown(err) || pgconn.SafeToRetry(err) ||
			errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, pgx.ErrTxClosed) || errors.Is(err, pgconn.ErrConnClosed)
	}
	for _, class := range []string{"08", "40", "53", "55", "57", "58", readOnly, noPrivilege} {
		if strings.HasPrefix(state, class) {
			return true
		}
	}
	return false
}
