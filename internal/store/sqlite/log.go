package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/core"
	"github.com/rimewatch/rimewatch/internal/store/tables"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// trimRows is the number of rows of the log that one transaction deletes.
const trimRows = 64

// Last implements core.Disk.
func (d *disk) Last(ctx context.Context) (last core.Last, err error) {
	err = d.ReadLong(ctx, func(c tables.Conn) error {
		return core.ReadInts(c, map[*int64]string{
			(*int64)(&last.Seq): "SELECT coalesce(max(seq), 0) FROM commit_log",
			&last.DeviceID:      "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'device'",
			&last.AlertID:       "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'alert'",
		})
	})
	return last, err
}

// Append implements core.Disk.
func (d *disk) Append(ctx context.Context, seq store.Seq, row []byte, ops []*store.DeviceOp, e *store.Effects) error {
	return d.write(ctx, func(c *sqlite.Conn) error {
		if len(row) > 0 {
			if err := d.appendLog(c, int64(seq), row); err != nil {
				return err
			}
		}
		return d.tables.Commit(d.own, ops, e)
	})
}

func (d *disk) appendLog(conn *sqlite.Conn, seq int64, row []byte) error {
	if err := d.cfg.fault("log"); err != nil {
		return err
	}
	stmt, err := conn.Prepare("INSERT INTO commit_log (seq, data) VALUES (?, ?)")
	if err != nil {
		return err
	}
	stmt.BindInt64(1, seq)
	stmt.BindBytes(2, row)
	_, err = stmt.Step()
	return errors.Join(err, stmt.Reset(), stmt.ClearBindings())
}

// Log implements core.Disk.
func (d *disk) Log(ctx context.Context, after store.Seq, yield func(seq store.Seq, row []byte) error) error {
	return d.ReadLong(ctx, func(c tables.Conn) error { return core.ReadLog(c, "seq > ? ORDER BY seq", yield, int64(after)) })
}

// TrimLog implements core.Disk.
func (d *disk) TrimLog(ctx context.Context, floor, last store.Seq, at rimewatch.Time) (bool, error) {
	upTo := int64(0)
	err := d.write(ctx, func(c *sqlite.Conn) error {
		var err error
		upTo, err = queryInt(c, "SELECT coalesce(max(seq), 0) FROM (SELECT seq FROM commit_log WHERE seq < ? ORDER BY seq LIMIT ?)", int64(floor), trimRows)
		if err != nil || upTo == 0 {
			return err
		}
		if err := d.cfg.fault("trim"); err != nil {
			return err
		}
		if err := sqlitex.Execute(c, "DELETE FROM commit_log WHERE seq <= ?", &sqlitex.ExecOptions{Args: []any{upTo}}); err != nil {
			return err
		}
		return d.tables.NoteLog(d.own, at, last)
	})
	return upTo != 0, err
}

// SaveCheckpoints implements core.Disk.
func (d *disk) SaveCheckpoints(ctx context.Context, list []core.Checkpoint) error {
	return d.write(ctx, func(conn *sqlite.Conn) error {
		for i := range list {
			c := &list[i]
			if err := d.cfg.fault("checkpoint"); err != nil {
				return err
			}
			err := sqlitex.Execute(conn, `INSERT INTO checkpoint (device_id, seq, latest, current_temp, current_temp_at, state)
				VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (device_id) DO UPDATE SET seq = excluded.seq, latest = excluded.latest,
				current_temp = excluded.current_temp, current_temp_at = excluded.current_temp_at, state = excluded.state`,
				&sqlitex.ExecOptions{Args: []any{c.DeviceID, int64(c.Seq), c.Latest, c.CurrentTemp, int64(c.CurrentTempAt), c.State}})
			if err != nil {
				return fmt.Errorf("checkpoint of device %d: %w", c.DeviceID, err)
			}
		}
		return nil
	})
}

// Checkpoints implements core.Disk.
func (d *disk) Checkpoints(ctx context.Context, devices []int64, yield func(*core.Checkpoint) error) error {
	return d.ReadLong(ctx, func(conn tables.Conn) error {
		var c core.Checkpoint
		for _, id := range devices {
			if err := core.ReadCheckpoints(conn, &c, true, "device_id = ?", yield, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// CheckpointRange implements core.Disk.
func (d *disk) CheckpointRange(ctx context.Context, from, to int64, states bool, yield func(*core.Checkpoint) error) error {
	return d.ReadLong(ctx, func(c tables.Conn) error {
		return core.ReadCheckpoints(c, new(core.Checkpoint), states, "device_id >= ? AND device_id < ?", yield, from, to)
	})
}

// SealMarks implements core.Disk.
func (d *disk) SealMarks(ctx context.Context) (marks map[int64]store.Seq, err error) {
	err = d.ReadLong(ctx, func(c tables.Conn) (err error) {
		marks, err = core.ReadMarks(c, "seq >= coalesce((SELECT min(seq) FROM commit_log), 0)")
		return err
	})
	return marks, err
}
