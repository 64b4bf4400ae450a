package postgres

import (
	"context"

	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/core"
)

// relationBytes returns the size of the schema's tables, indexes included.
const relationBytes = `SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
	WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')`

// Sizes implements core.Disk.
func (d *disk) Sizes(ctx context.Context) (st store.Stats, err error) {
	err = d.read(ctx, d.reads, func(s *session) error { return sizes(s, &st) })
	return st, err
}

func sizes(s *session, st *store.Stats) error {
	devices := int64(0)
	err := core.ReadInts(s, map[*int64]string{
		&st.FileBytes:      relationBytes,
		&st.Chunks:         "SELECT count(*) FROM reading_chunk",
		&st.StoredReadings: "SELECT coalesce(sum(n), 0)::bigint FROM reading_chunk",
		&st.LogEntries:     "SELECT count(*) FROM commit_log",
		&devices:           "SELECT count(*) FROM device WHERE deleted_at = 0",
	})
	st.Devices = int(devices)
	return err
}

// Tidy implements core.Disk: the server tidies up by itself.
func (d *disk) Tidy(context.Context) error { return nil }
