package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/tables"
	"zombiezen.com/go/sqlite"
)

// Inspection is the result of looking at a store's file.
type Inspection struct {
	SchemaVersion int
	tables.Census
	Stats  store.Stats // readings that only a server holds in memory are missing
	Damage []string    // rows that differ from the written ones, where they were checked
	Aside  []string    // damaged rows that were set aside before
	// Strange is in how far its tables, indexes and triggers are not those that this
	// program makes. Unread: tables are among them, and nothing else was looked at.
	Strange []string
	Unread  bool
}

// ErrNotAStore means that a file is not one of ours.
var ErrNotAStore = errors.New("not a Rimewatch store")

// Inspect looks at a store's file and, with check, at every page and index of it, at
// every row with a checksum, at every reference and at the chains of the audit trails
// for damage. It changes and migrates nothing and works while a server runs.
// ErrNotAStore when the file is something else.
func Inspect(ctx context.Context, path string, check bool) (in Inspection, err error) {
	conn, err := openToInspect(path)
	if err != nil {
		return in, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	conn.SetInterrupt(ctx.Done())
	version, err := queryInt(conn, "PRAGMA user_version")
	if err != nil {
		return in, err
	}
	in.SchemaVersion = int(version)
	if check {
		if err := fullCheck(conn); err != nil {
			return in, err
		}
	}
	if err := store.CheckVersion(in.SchemaVersion); err == nil || errors.Is(err, store.ErrOlder) {
		if in.Strange, in.Unread, err = strange(conn, in.SchemaVersion); err != nil {
			return in, err
		}
	}
	if in.SchemaVersion != store.SchemaVersion || in.Unread {
		return in, nil // its tables may be other ones
	}
	if check {
		if in.Damage, in.Aside, err = verify(conn); err != nil {
			return in, err
		}
	}
	return in, in.count(conn, path)
}

// openToInspect opens a file of ours so that nothing in it can be changed.
// ErrNotAStore when it is something else.
func openToInspect(path string) (*sqlite.Conn, error) {
	open := func(name string, flags sqlite.OpenFlags) (*sqlite.Conn, error) {
		conn, err := sqlite.OpenConn(name, flags)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", path, err)
		}
		err = prepareReader(conn)
		var id int64
		if err == nil {
			id, err = queryInt(conn, "PRAGMA application_id")
		}
		if err == nil && id != applicationID || sqlite.ErrCode(err).ToPrimary() == sqlite.ResultNotADB {
			err = ErrNotAStore
		}
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return conn, nil
	}
	// Read-write because a write-ahead log may have to be taken up.
	conn, err := open(path, sqlite.OpenReadWrite)
	if err != nil && takesNoWrite(err) && fileSize(path+"-wal") == 0 {
		return open(immutable(path), readingOnly)
	}
	return conn, err
}

// Rest copies the write-ahead log of a file that is not open into it.
func Rest(ctx context.Context, path string) (err error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	conn.SetInterrupt(ctx.Done())
	busy, err := queryInt(conn, "PRAGMA wal_checkpoint(TRUNCATE)")
	if err == nil && busy != 0 {
		err = errors.New("the file is in use")
	}
	return err
}

func (in *Inspection) count(c *sqlite.Conn, path string) error {
	in.Stats.FileBytes, in.Stats.WALBytes = fileSize(path), fileSize(path+"-wal")
	census, err := tables.Count(conn{Conn: c})
	if err != nil {
		return err
	}
	in.Census, in.Stats.Devices = census, census.Devices
	for _, q := range []struct {
		query string
		dst   *int64
	}{
		{"SELECT count(*) FROM reading_chunk", &in.Stats.Chunks},
		{"SELECT coalesce(sum(n), 0) FROM reading_chunk", &in.Stats.StoredReadings},
		{"SELECT coalesce(max(to_at), 0) FROM reading_chunk", (*int64)(&in.Stats.LastSealed)},
		{"SELECT count(*) FROM commit_log", &in.Stats.LogEntries},
	} {
		v, err := queryInt(c, q.query)
		if err != nil {
			return err
		}
		*q.dst = v
	}
	return nil
}
