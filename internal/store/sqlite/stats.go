package sqlite

import (
	"context"
	"fmt"
	"os"

	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/core"
	"github.com/rimewatch/rimewatch/internal/store/tables"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

func (d *disk) walBytes() int64 { return fileSize(d.cfg.Path + "-wal") }

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// Sizes implements core.Disk.
func (d *disk) Sizes(ctx context.Context) (store.Stats, error) {
	st := store.Stats{FileBytes: fileSize(d.cfg.Path), WALBytes: d.walBytes()}
	devices := int64(0)
	err := d.ReadLong(ctx, func(c tables.Conn) error {
		return core.ReadInts(c, map[*int64]string{
			&st.Chunks:         "SELECT count(*) FROM reading_chunk",
			&st.StoredReadings: "SELECT coalesce(sum(n), 0) FROM reading_chunk",
			&st.LogEntries:     "SELECT count(*) FROM commit_log",
			&devices:           "SELECT count(*) FROM device WHERE deleted_at = 0",
		})
	})
	st.Devices = int(devices)
	return st, err
}

const (
	walLimit    = 32 << 20
	walKept     = walLimit * 3 / 4 // of a log that begins anew: what is there need not grow again
	walFew      = 256              // pages of the log that may be left to be copied while nobody writes
	walPasses   = 6                // at most
	vacuumPages = 256
)

// Tidy implements core.Disk: it copies the write-ahead log into the file when it
// has grown. Passes run beside the writer, each of which has less to copy, until next
// to nothing was added meanwhile; the last one keeps the writer out so that the next
// commit starts the log from its beginning.
func (d *disk) Tidy(ctx context.Context) error {
	if d.walBytes() < walLimit {
		return nil
	}
	d.maintMu.Lock()
	defer d.maintMu.Unlock()
	for pass, before := 0, int64(0); pass < walPasses; pass++ {
		if err := d.cfg.fault("wal"); err != nil {
			return err
		}
		pages, err := d.checkpoint("PASSIVE")
		if err != nil {
			return err
		}
		if pages < before {
			return nil // a commit has begun it anew
		}
		if pages-before <= walFew {
			break
		}
		before = pages
	}
	d.writeMu.Lock()
	defer d.writeMu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := d.checkpoint("PASSIVE")
	return err
}

// checkpoint copies the write-ahead log into the file and returns how many pages it
// held. Under maintMu.
func (d *disk) checkpoint(mode string) (pages int64, err error) {
	if d.closed.Load() {
		return 0, core.ErrClosed()
	}
	if d.maint == nil {
		if d.maint, err = openMaint(d.cfg.Path); err != nil {
			return 0, storeError(err, "checkpoint the write-ahead log")
		}
	}
	err = sqlitex.ExecuteTransient(d.maint, "PRAGMA wal_checkpoint("+mode+")", &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
		pages = stmt.ColumnInt64(1)
		return nil
	}})
	return pages, storeError(err, "checkpoint the write-ahead log")
}

// shrink moves free pages to the end of the file and cuts them off, in slices,
// and empties the write-ahead log.
func (d *disk) shrink(ctx context.Context) error {
	for {
		free, err := d.vacuum(ctx)
		if err != nil {
			return err
		}
		if free == 0 {
			break
		}
		if err := d.Tidy(ctx); err != nil {
			return err
		}
	}
	d.maintMu.Lock()
	defer d.maintMu.Unlock()
	d.writeMu.Lock()
	defer d.writeMu.Unlock()
	_, err := d.checkpoint("TRUNCATE")
	return err
}

// vacuum frees one slice of pages and returns how many were free before.
func (d *disk) vacuum(ctx context.Context) (free int64, err error) {
	d.writeMu.Lock()
	defer d.writeMu.Unlock()
	if err := d.writable(); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, storeError(err, "write")
	}
	if free, err = queryInt(d.writer, "PRAGMA freelist_count"); err == nil && free > 0 {
		err = sqlitex.ExecuteTransient(d.writer, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", vacuumPages), nil)
	}
	return free, storeError(err, "vacuum")
}
