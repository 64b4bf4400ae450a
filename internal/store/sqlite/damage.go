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

// SetAside implements core.Disk.
func (d *disk) SetAside(ctx context.Context, list []core.Damaged) error {
	return d.write(ctx, func(conn *sqlite.Conn) error {
		for i := range list {
			b := &list[i]
			err := sqlitex.Execute(conn, `INSERT INTO damaged_chunk (young, segment, segments, device_id, from_at, to_at, n, found_at, why)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
				&sqlitex.ExecOptions{Args: []any{b.Young, b.ID, b.Segments, b.DeviceID, int64(b.From), int64(b.To), b.N, d.cfg.Now().UnixMilli(), b.Why}})
			if err != nil {
				return err
			}
			err = sqlitex.Execute(conn, "DELETE FROM reading_chunk WHERE device_id = ? AND to_at = ? AND young = ? AND segment = ?",
				&sqlitex.ExecOptions{Args: []any{b.DeviceID, int64(b.To), b.Young, b.ID}})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

const asideColumns = "segment, segments, young, from_at, to_at, n, device_id, why"

func scanAside(stmt *sqlite.Stmt) core.Damaged {
	return core.Damaged{DeviceSpan: core.DeviceSpan{Span: scanSpan(stmt), DeviceID: stmt.ColumnInt64(6)}, Why: stmt.ColumnText(7)}
}

// Aside implements core.Disk.
func (d *disk) Aside(ctx context.Context) (list []core.Damaged, err error) {
	err = d.read(ctx, &d.pool, func(conn *sqlite.Conn) error {
		return sqlitex.Execute(conn, "SELECT "+asideColumns+" FROM damaged_chunk ORDER BY segment", &sqlitex.ExecOptions{
			ResultFunc: func(stmt *sqlite.Stmt) error {
				list = append(list, scanAside(stmt))
				return nil
			},
		})
	})
	return list, err
}

// DropAside implements core.Disk.
func (d *disk) DropAside(ctx context.Context, workspaceID int64, before rimewatch.Time) error {
	var list []core.Damaged
	err := d.read(ctx, &d.pool, func(conn *sqlite.Conn) error {
		return sqlitex.Execute(conn, "SELECT "+asideColumns+" FROM damaged_chunk WHERE to_at < ? AND device_id IN (SELECT id FROM device WHERE workspace_id = ?)", &sqlitex.ExecOptions{
			Args: []any{int64(before), workspaceID},
			ResultFunc: func(stmt *sqlite.Stmt) error {
				list = append(list, scanAside(stmt))
				return nil
			},
		})
	})
	if err != nil || len(list) == 0 {
		return err
	}
	return d.write(ctx, func(conn *sqlite.Conn) error {
		for i := range list {
			sp := &list[i].Span
			for _, q := range []struct {
				query string
				args  []any
			}{
				{"DELETE FROM damaged_chunk WHERE young = ? AND segment = ?", []any{sp.Young, sp.ID}},
				{"DELETE FROM " + segmentTable(sp.Young) + " WHERE id >= ? AND id < ?", []any{sp.ID, sp.ID + int64(sp.Segments)}},
			} {
				if err := sqlitex.Execute(conn, q.query, &sqlitex.ExecOptions{Args: q.args}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// SetLogAside implements core.Disk. Its number is never given again: checkpoints
// may bear it.
func (d *disk) SetLogAside(ctx context.Context, seq store.Seq, why string) error {
	return d.write(ctx, func(conn *sqlite.Conn) error {
		err := sqlitex.Execute(conn, "INSERT INTO damaged_commit (seq, found_at, why, data) SELECT seq, ?, ?, data FROM commit_log WHERE seq = ?",
			&sqlitex.ExecOptions{Args: []any{d.cfg.Now().UnixMilli(), why, int64(seq)}})
		if err != nil {
			return err
		}
		if err := sqlitex.Execute(conn, "DELETE FROM commit_log WHERE seq = ?", &sqlitex.ExecOptions{Args: []any{int64(seq)}}); err != nil {
			return err
		}
		return d.tables.NoteLog(d.own, 0, seq)
	})
}

// damageShown bounds the damage of one kind that Inspect lists.
const damageShown = 100

// verify checks every row that has a checksum and returns the damaged rows, and those that were
// set aside before.
func verify(c *sqlite.Conn) (damage, aside []string, err error) {
	note := func(list *[]string, format string, args ...any) {
		if len(*list) < damageShown {
			*list = append(*list, fmt.Sprintf(format, args...))
		}
	}
	read := func(query string, failed error) {
		if isCorrupt := errors.Is(asDamaged(failed), core.ErrDamaged); isCorrupt {
			note(&damage, "%s: %v", query, failed)
		} else {
			err = errors.Join(err, failed)
		}
	}
	each := func(query string, f func(stmt *sqlite.Stmt)) {
		read(query, sqlitex.Execute(c, query, &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error { f(stmt); return nil }}))
	}
	each("SELECT seq, data FROM commit_log", func(stmt *sqlite.Stmt) {
		if err := core.VerifyLog(store.Seq(stmt.ColumnInt64(0)), core.Column(stmt, 1, nil)); err != nil {
			note(&damage, "%v", err)
		}
	})
	each("SELECT "+spanColumns+", device_id, summary FROM reading_chunk", func(stmt *sqlite.Stmt) {
		sp, device := scanSpan(stmt), stmt.ColumnInt64(6)
		data, err := chunks{c}.Data(sp)
		if err == nil {
			err = core.VerifyChunk(device, sp, data, core.Column(stmt, 7, nil))
		}
		if err != nil {
			note(&damage, "chunk %d of device %d (%d readings, %s to %s): %v", sp.ID, device, sp.N, sp.From, sp.To, err)
		}
	})
	each("SELECT id, device_id, from_at, to_at, data FROM reading_rollup", func(stmt *sqlite.Stmt) {
		device, from, to := stmt.ColumnInt64(1), rimewatch.Time(stmt.ColumnInt64(2)), rimewatch.Time(stmt.ColumnInt64(3))
		if err := core.VerifyRollup(device, from, to, core.Column(stmt, 4, nil)); err != nil {
			note(&damage, "rollup %d of device %d (%s to %s): %v", stmt.ColumnInt64(0), device, from, to, err)
		}
	})
	read("checkpoints", core.ReadCheckpoints(conn{Conn: c}, new(core.Checkpoint), true, "TRUE", func(x *core.Checkpoint) error {
		if err := core.VerifyCheckpoint(x); err != nil {
			note(&damage, "checkpoint of device %d: %v", x.DeviceID, err)
		}
		return nil
	}))
	each("PRAGMA foreign_key_check", func(stmt *sqlite.Stmt) {
		note(&damage, "row %d of table %s refers to a row of %s that does not exist", stmt.ColumnInt64(1), stmt.ColumnText(0), stmt.ColumnText(2))
	})
	_, broken, failed := tables.VerifyTrails(conn{Conn: c})
	err = errors.Join(err, failed)
	for _, id := range broken {
		note(&damage, "entry %d of the audit trail does not follow from the one before it, or its record is another one: something was changed or removed", id)
	}
	each("SELECT "+asideColumns+" FROM damaged_chunk ORDER BY segment", func(stmt *sqlite.Stmt) {
		b := scanAside(stmt)
		note(&aside, "chunk %d of device %d (%d readings, %s to %s): %s", b.ID, b.DeviceID, b.N, b.From, b.To, b.Why)
	})
	each("SELECT why FROM damaged_commit ORDER BY seq", func(stmt *sqlite.Stmt) { note(&aside, "%s", stmt.ColumnText(0)) })
	return damage, aside, err
}
