package sqlite

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store/core"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// pool is a pool of connections that can be replaced by another one.
type pool = atomic.Pointer[sqlitex.Pool]

// accountReaders is the number of connections in accounts.
const accountReaders = 2

// connections are all that an open file has.
type connections struct {
	writer, maint, lookup *sqlite.Conn
	pool, accounts        *sqlitex.Pool
}

// connect opens the file for reading and writing and gives a fresh one its schema.
func (d *disk) connect() (_ *connections, err error) {
	c := &connections{}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	if err := syncData(); err != nil {
		return nil, err
	}
	// The file holds secrets. SQLite gives its write-ahead log the same mode.
	f, err := os.OpenFile(d.cfg.Path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	if c.writer, err = sqlite.OpenConn(d.cfg.Path, sqlite.OpenReadWrite); err != nil {
		return nil, err
	}
	if err := sqlitex.ExecuteTransient(c.writer, "PRAGMA busy_timeout = 10000", nil); err != nil {
		return nil, err
	}
	fresh, steps, err := d.examine(c.writer)
	if err != nil {
		return nil, err
	}
	if err := prepareWriter(c.writer); err != nil {
		return nil, err
	}
	if err := d.upgrade(c.writer, steps); err != nil {
		return nil, err
	}
	// A file that has its schema is not written to: a server must come up on a
	// full disk, too, and answer reads.
	if fresh {
		if err := create(c.writer); err != nil {
			return nil, err
		}
	}
	if err := mayWrite(c.writer); err != nil {
		return nil, err
	}
	if err := c.openReaders(d.cfg.Path, sqlite.OpenReadWrite, d.cfg.Readers); err != nil || d.cfg.ControlOnly {
		return c, err
	}
	c.maint, err = openMaint(d.cfg.Path)
	return c, err
}

// openReaders opens the connections that only read.
func (c *connections) openReaders(path string, flags sqlite.OpenFlags, readers int) (err error) {
	if c.pool, err = sqlitex.NewPool(path, sqlitex.PoolOptions{Flags: flags, PoolSize: readers, PrepareConn: prepareReader}); err != nil {
		return err
	}
	if c.accounts, err = sqlitex.NewPool(path, sqlitex.PoolOptions{Flags: flags, PoolSize: accountReaders, PrepareConn: prepareReader}); err != nil {
		return err
	}
	if c.lookup, err = sqlite.OpenConn(path, flags); err != nil {
		return err
	}
	return prepareReader(c.lookup)
}

func openMaint(path string) (*sqlite.Conn, error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	if err := sqlitex.ExecuteTransient(conn, "PRAGMA busy_timeout = 10000", nil); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func (c *connections) close() {
	for _, p := range []*sqlitex.Pool{c.pool, c.accounts} {
		if p != nil {
			_ = p.Close()
		}
	}
	for _, conn := range []*sqlite.Conn{c.lookup, c.maint, c.writer} {
		if conn != nil {
			_ = conn.Close()
		}
	}
}

// mayWrite begins a transaction, which writes nothing. SQLite opens what it cannot
// write to for reading alone, and for good.
func mayWrite(conn *sqlite.Conn) error {
	err := sqlitex.ExecuteTransient(conn, "BEGIN IMMEDIATE", nil)
	if sqlite.ErrCode(err).ToPrimary() == sqlite.ResultBusy { // somebody else may
		return nil
	}
	if err != nil {
		return err
	}
	return sqlitex.ExecuteTransient(conn, "ROLLBACK", nil)
}

// takesNoWrite reports whether a disk that is full or read-only, or that fails, is
// the cause of err.
func takesNoWrite(err error) bool {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultFull, sqlite.ResultIOErr, sqlite.ResultReadOnly, sqlite.ResultCantOpen:
		return true
	}
	for _, e := range []syscall.Errno{syscall.ENOSPC, syscall.EROFS, syscall.EIO, syscall.EFBIG, syscall.EDQUOT} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// immutable is the name under which SQLite reads a file without writing anything
// beside it: not even the shared memory of its write-ahead log, for which a full
// disk has no room. It is right only while nobody writes to the file.
func immutable(path string) string {
	return (&url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: "immutable=1"}).String()
}

const readingOnly = sqlite.OpenReadOnly | sqlite.OpenURI // of an immutable one

// connectReading opens the file for reading alone; nil when that fails, too, or
// when there is nothing to read. What lies in a write-ahead log SQLite must read
// with it, which it cannot where there is no room for its shared memory. Where
// that is read-only it stays so until nobody in this process has it open, see
// reconnect.
func (d *disk) connectReading() *connections {
	c := &connections{}
	path, flags := immutable(d.cfg.Path), readingOnly
	if d.walBytes() > 0 {
		path, flags, d.logReadOnly = d.cfg.Path, sqlite.OpenReadWrite, true
	}
	if err := c.openReaders(path, flags, d.cfg.Readers); err != nil {
		c.close()
		return nil
	}
	if fresh, err := examine(c.lookup); err != nil || fresh {
		c.close()
		return nil
	}
	return c
}

// take makes connections the store's own.
func (d *disk) take(c *connections) {
	d.writer, d.maint, d.lookup = c.writer, c.maint, c.lookup
	d.own = conn{c.writer, d}
	d.pool.Store(c.pool)
	d.accounts.Store(c.accounts)
}

// writable returns an error while the disk cannot be written to. One that can be
// again is opened for writing. Under writeMu.
func (d *disk) writable() error {
	switch {
	case d.closed.Load():
		return core.ErrClosed()
	case d.writer != nil:
		return nil
	}
	c, err := d.connect()
	if d.logReadOnly && sqlite.ErrCode(err).ToPrimary() == sqlite.ResultReadOnly {
		c, err = d.reconnect()
	}
	if err != nil {
		return unwritable(err)
	}
	// Whoever still reads as if nobody wrote is interrupted before somebody does.
	d.replaceReaders(c)
	_ = c.maint.Close() // maintMu comes before writeMu: checkpoint opens its own
	d.writer, d.own = c.writer, conn{c.writer, d}
	d.cfg.Logger.Info("the store can be written to again")
	return nil
}

// replaceReaders puts the connections that only read in the place of those that there
// are, whose users are interrupted. Under writeMu.
func (d *disk) replaceReaders(c *connections) {
	for _, p := range []struct {
		all *pool
		now *sqlitex.Pool
	}{{&d.pool, c.pool}, {&d.accounts, c.accounts}} {
		if old := p.all.Swap(p.now); old != nil {
			_ = old.Close()
		}
	}
	d.lookMu.Lock()
	defer d.lookMu.Unlock()
	if d.lookup != nil {
		_ = d.lookup.Close()
	}
	d.lookup = c.lookup
}

// reconnect is connect on a disk that can be written to again when the write-ahead
// log is open for reading alone, which it is until all who read have closed it. It is
// tried once; when it fails, what is there is read as before. Under writeMu.
func (d *disk) reconnect() (*connections, error) {
	d.logReadOnly = false
	d.replaceReaders(&connections{})
	c, err := d.connect()
	if err != nil {
		readers := &connections{}
		err = errors.Join(err, readers.openReaders(d.cfg.Path, sqlite.OpenReadWrite, d.cfg.Readers))
		d.replaceReaders(readers)
	}
	return c, err
}

// unwritable is the error of a disk that is full or fails: the caller's sign to
// try again later.
func unwritable(err error) error {
	e := rimewatch.Wrap(rimewatch.CodeUnavailable, err, "The store cannot write at the moment.")
	e.RetryAfter = 5 * time.Second
	return e
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
