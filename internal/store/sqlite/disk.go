package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/core"
	"github.com/rimewatch/rimewatch/internal/store/tables"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// disk is the file and the connections to it, with the methods that a core and the tables call.
type disk struct {
	cfg    Config
	tables *tables.Tables
	closed atomic.Bool

	pool pool
	// accounts are connections for the reads of every request: a token must
	// not wait for those who read history.
	accounts pool

	writeMu sync.Mutex   // one transaction at a time
	writer  *sqlite.Conn // nil while the disk cannot be written to
	// logReadOnly: the write-ahead log was not empty when the disk could not be
	// written to, see reconnect.
	logReadOnly bool
	own         tables.Conn  // the writer's
	maintMu     sync.Mutex   // taken before writeMu
	maint       *sqlite.Conn // of the background work; under maintMu
	lookMu      sync.Mutex
	lookup      *sqlite.Conn // of the write path; under lookMu
}

func (d *disk) open() error {
	c, err := d.connect()
	if err != nil && takesNoWrite(err) && !d.cfg.ControlOnly {
		if c = d.connectReading(); c != nil {
			d.cfg.Logger.Error("the store cannot be written to; it is read, and writes are refused, until it can be", "err", err)
			err = nil
		}
	}
	if err == nil {
		d.take(c)
	}
	return err
}

// examine looks at a file before anything writes to it and reports whether it is
// fresh. One of another program or of another version is refused.
func examine(conn *sqlite.Conn) (fresh bool, err error) {
	version, err := versionOf(conn)
	if err != nil || version == 0 {
		return version == 0, err
	}
	return false, store.CheckVersion(version)
}

// versionOf returns the version of a file's schema, 0 when it is fresh. A file of
// another program is ErrNotAStore.
func versionOf(conn *sqlite.Conn) (int, error) {
	tables, err := queryInt(conn, "SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return -1, err
	}
	id, err := queryInt(conn, "PRAGMA application_id")
	if err != nil {
		return -1, err
	}
	version, err := queryInt(conn, "PRAGMA user_version")
	switch {
	case err != nil:
		return -1, err
	case tables == 0 && id == 0 && version == 0:
		return 0, nil
	case id != applicationID || version == 0:
		return -1, ErrNotAStore
	}
	return int(version), nil
}

// create gives a fresh file its schema.
func create(conn *sqlite.Conn) (err error) {
	end, err := sqlitex.ImmediateTransaction(conn)
	if err != nil {
		return err
	}
	defer end(&err)
	if fresh, err := examine(conn); err != nil || !fresh { // another process was quicker
		return err
	}
	if err := sqlitex.ExecuteScript(conn, schema, nil); err != nil {
		return err
	}
	return mark(conn)
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
		"PRAGMA journal_mode = WAL",
		"PRAGMA synchronous = FULL",
		"PRAGMA foreign_keys = ON",
		"PRAGMA wal_autocheckpoint = 0",
		fmt.Sprintf("PRAGMA journal_size_limit = %d", walKept),
		"PRAGMA cache_size = -8192",
		"PRAGMA temp_store = MEMORY",
	} {
		if err := sqlitex.ExecuteTransient(conn, q, nil); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return nil
}

func (d *disk) close() error {
	if d.closed.Swap(true) {
		return nil
	}
	var err error
	for _, p := range []*pool{&d.pool, &d.accounts} {
		if old := p.Load(); old != nil {
			err = errors.Join(err, old.Close())
		}
	}
	for _, c := range []struct {
		mu   *sync.Mutex
		conn **sqlite.Conn
	}{{&d.maintMu, &d.maint}, {&d.lookMu, &d.lookup}, {&d.writeMu, &d.writer}} {
		c.mu.Lock()
		if *c.conn != nil {
			(*c.conn).SetInterrupt(nil)
			err = errors.Join(err, (*c.conn).Close())
			*c.conn = nil
		}
		c.mu.Unlock()
	}
	return err
}

// read runs f on a connection of a pool.
func (d *disk) read(ctx context.Context, pool *pool, f func(*sqlite.Conn) error) error {
	if d.closed.Load() {
		return core.ErrClosed()
	}
	from := pool.Load()
	if from == nil {
		return unwritable(errors.New("it is being opened again"))
	}
	conn, err := from.Take(ctx)
	if now := pool.Load(); err != nil && now != nil && now != from { // it was replaced
		from = now
		conn, err = from.Take(ctx)
	}
	if err != nil {
		return storeError(err, "take a connection")
	}
	defer from.Put(conn)
	return storeError(f(conn), "read")
}

// write runs f in one immediate transaction on the writer.
func (d *disk) write(ctx context.Context, f func(*sqlite.Conn) error) (err error) {
	d.writeMu.Lock()
	defer d.writeMu.Unlock()
	if err := d.writable(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return storeError(err, "write")
	}
	end, err := sqlitex.ImmediateTransaction(d.writer)
	if err != nil {
		return storeError(err, "begin")
	}
	defer func() {
		if err == nil {
			err = d.cfg.fault("commit")
		}
		end(&err)
		err = storeError(err, "commit")
	}()
	return f(d.writer)
}

// Read implements tables.DB.
func (d *disk) Read(ctx context.Context, f func(tables.Conn) error) error {
	return d.read(ctx, &d.accounts, func(c *sqlite.Conn) error { return f(conn{c, d}) })
}

// ReadLong implements tables.DB.
func (d *disk) ReadLong(ctx context.Context, f func(tables.Conn) error) error {
	return d.read(ctx, &d.pool, func(c *sqlite.Conn) error { return f(conn{c, d}) })
}

// Write implements tables.DB.
func (d *disk) Write(ctx context.Context, f func(tables.Conn) error) error {
	return d.write(ctx, func(*sqlite.Conn) error { return f(d.own) })
}

// conn is a connection as package tables wants it.
type conn struct {
	*sqlite.Conn
	disk *disk
}

// Query implements tables.Conn.
func (c conn) Query(row func(tables.Row) error, statement string, args ...any) error {
	if strings.HasPrefix(statement, "INSERT") {
		if err := c.disk.cfg.fault("table"); err != nil {
			return err
		}
	}
	err := sqlitex.Execute(c.Conn, statement, &sqlitex.ExecOptions{Args: args, ResultFunc: func(stmt *sqlite.Stmt) error { return row(stmt) }})
	return constraint(err)
}

// Exec implements tables.Conn.
func (c conn) Exec(statement string, args ...any) (int, error) {
	if err := c.disk.cfg.fault("table"); err != nil {
		return 0, err
	}
	if err := sqlitex.Execute(c.Conn, statement, &sqlitex.ExecOptions{Args: args}); err != nil {
		return 0, constraint(err)
	}
	return c.Changes(), nil
}

// Later implements tables.Conn: nothing is gained by waiting.
func (c conn) Later(row func(tables.Row) error, statement string, args ...any) error {
	if row == nil {
		row = func(tables.Row) error { return nil }
	}
	return c.Query(row, statement, args...)
}

// constraint returns the violated constraint in the terms of package tables.
func constraint(err error) error {
	switch sqlite.ErrCode(err) {
	case sqlite.ResultConstraintUnique, sqlite.ResultConstraintPrimaryKey:
		return fmt.Errorf("%w: %w", tables.ErrUnique, err)
	case sqlite.ResultConstraintForeignKey:
		return fmt.Errorf("%w: %w", tables.ErrForeignKey, err)
	}
	return err
}

func queryInt(conn *sqlite.Conn, query string, args ...any) (v int64, err error) {
	err = sqlitex.Execute(conn, query, &sqlitex.ExecOptions{Args: args, ResultFunc: func(stmt *sqlite.Stmt) error {
		v = stmt.ColumnInt64(0)
		return nil
	}})
	return v, err
}

// asDamaged turns the engine's errors of corruption into core.ErrDamaged.
func asDamaged(err error) error {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultCorrupt, sqlite.ResultNotADB:
		return fmt.Errorf("%w: %w", core.ErrDamaged, err)
	}
	return err
}

// storeError wraps every failure of the engine in the one typed error. A full or
// failing disk is the caller's sign to try again later.
func storeError(err error, op string) error {
	if err == nil {
		return nil
	}
	err = tables.Missing(err)
	var typed *rimewatch.Error
	if errors.As(err, &typed) {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return rimewatch.Wrap(rimewatch.CodeUnavailable, err, "The request was cancelled.")
	}
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultFull, sqlite.ResultIOErr, sqlite.ResultBusy, sqlite.ResultReadOnly, sqlite.ResultInterrupt, sqlite.ResultCantOpen:
		return unwritable(fmt.Errorf("%s: %w", op, err))
	}
	return rimewatch.Wrap(rimewatch.CodeInternal, fmt.Errorf("%s: %w", op, asDamaged(err)), "The store failed.")
}
