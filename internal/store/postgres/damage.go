package postgres

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/core"
	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// SetAside implements core.Disk.
func (d *disk) SetAside(ctx context.Context, list []core.Damaged) error {
	err := d.transact(ctx, false, func(s *session) error {
		for i := range list {
			b := &list[i]
			err := s.Later(nil, `WITH gone AS (DELETE FROM reading_chunk WHERE device_id = ? AND id = ? RETURNING *)
				INSERT INTO damaged_chunk (id, device_id, from_at, to_at, n, young, found_at, why, summary, data)
				SELECT id, device_id, from_at, to_at, n, young, ?::bigint, ?::text, summary, data FROM gone`,
				b.DeviceID, b.ID, d.cfg.Now().UnixMilli(), b.Why)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return d.failure(err, "set chunks aside")
}

// Aside implements core.Disk.
func (d *disk) Aside(ctx context.Context) (list []core.Damaged, err error) {
	err = d.read(ctx, d.reads, func(s *session) error {
		return s.Query(func(row tables.Row) error {
			list = append(list, core.Damaged{DeviceSpan: core.DeviceSpan{Span: scanSpan(row), DeviceID: row.ColumnInt64(5)}, Why: row.ColumnText(6)})
			return nil
		}, "SELECT "+spanColumns+", c.device_id, c.why FROM damaged_chunk c WHERE TRUE"+d.and("c.device_id")+" ORDER BY id")
	})
	return list, err
}

// DropAside implements core.Disk.
func (d *disk) DropAside(ctx context.Context, workspaceID int64, before rimewatch.Time) error {
	err := d.transact(ctx, false, func(s *session) error {
		return s.Later(nil, "DELETE FROM damaged_chunk c USING device d WHERE c.device_id = d.id AND d.workspace_id = ? AND c.to_at < ?", workspaceID, int64(before))
	})
	return d.failure(err, "drop damaged chunks")
}

// SetLogAside implements core.Disk. Its number is never given again: checkpoints
// may bear it.
func (d *disk) SetLogAside(ctx context.Context, seq store.Seq, why string) error {
	err := d.transact(ctx, false, func(s *session) error {
		err := s.Later(nil, `WITH gone AS (DELETE FROM commit_log WHERE shard = ? AND seq = ? RETURNING *)
			INSERT INTO damaged_commit (seq, found_at, why, data) SELECT seq, ?::bigint, ?::text, data FROM gone`,
			d.shard, int64(seq), d.cfg.Now().UnixMilli(), why)
		if err != nil {
			return err
		}
		return d.tables.NoteLog(s, 0, seq)
	})
	return d.failure(err, "set a commit aside")
}
