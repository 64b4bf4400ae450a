package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store/core"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// The bytes of a chunk lie in segments of a size of which eight fill a page:
// as one blob of some kilobytes each, chunks left a third of their pages empty.
// The segments of a chunk have consecutive ids; the first one names the chunk.
//
// Chunks that will be merged soon are young and have their segments in a table
// of their own: what comes and goes leaves its holes there, and the table of
// those that stay is written from one end to the other.
const segmentSize = 498

// segmentTable is where the segments of young and of grown chunks lie.
func segmentTable(young bool) string {
	if young {
		return "young_segment"
	}
	return "chunk_segment"
}

const spanColumns = "segment, segments, young, from_at, to_at, n"

func scanSpan(stmt *sqlite.Stmt) core.Span {
	return core.Span{
		ID: stmt.ColumnInt64(0), Segments: stmt.ColumnInt(1), Young: stmt.ColumnBool(2),
		From: rimewatch.Time(stmt.ColumnInt64(3)), To: rimewatch.Time(stmt.ColumnInt64(4)), N: stmt.ColumnInt(5),
	}
}

// saveChunk writes a chunk inside a transaction of the writer.
func saveChunk(conn *sqlite.Conn, deviceID int64, c *core.Chunk) error {
	first, n, err := saveSegments(conn, c.Young, c.Data)
	if err != nil {
		return err
	}
	return sqlitex.Execute(conn, "INSERT INTO reading_chunk (device_id, to_at, young, segment, segments, from_at, n, summary) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		&sqlitex.ExecOptions{Args: []any{deviceID, int64(c.To), c.Young, first, n, int64(c.From), c.N, c.Summary}})
}

// saveSegments writes the bytes of a chunk and returns the id of its first segment
// and how many there are.
func saveSegments(conn *sqlite.Conn, young bool, data []byte) (first int64, n int, err error) {
	stmt, err := conn.Prepare("INSERT INTO " + segmentTable(young) + " (data) VALUES (?)")
	if err != nil {
		return 0, 0, err
	}
	for len(data) > 0 || n == 0 { // one at least: it names the chunk
		part := data[:min(len(data), segmentSize)]
		data = data[len(part):]
		stmt.BindBytes(1, part)
		_, err := stmt.Step()
		if err := errors.Join(err, stmt.Reset()); err != nil {
			return 0, 0, err
		}
		// One writer inserts them one after the other at the end of the table.
		if id := conn.LastInsertRowID(); n == 0 {
			first = id
		} else if id != first+int64(n) {
			return 0, 0, fmt.Errorf("segment %d does not follow %d", id, first+int64(n)-1)
		}
		n++
	}
	return first, n, nil
}

// deleteChunk deletes an existing chunk: its replacement was made from it.
func deleteChunk(conn *sqlite.Conn, deviceID int64, sp core.Span) error {
	if err := sqlitex.Execute(conn, "DELETE FROM reading_chunk WHERE device_id = ? AND to_at = ? AND young = ? AND segment = ?",
		&sqlitex.ExecOptions{Args: []any{deviceID, int64(sp.To), sp.Young, sp.ID}}); err != nil {
		return err
	}
	if conn.Changes() != 1 {
		return fmt.Errorf("chunk %d vanished", sp.ID)
	}
	return sqlitex.Execute(conn, "DELETE FROM "+segmentTable(sp.Young)+" WHERE id >= ? AND id < ?",
		&sqlitex.ExecOptions{Args: []any{sp.ID, sp.ID + int64(sp.Segments)}})
}

// Seal implements core.Disk.
func (d *disk) Seal(ctx context.Context, list []core.Sealed) error {
	return d.write(ctx, func(conn *sqlite.Conn) error {
		for i := range list {
			if err := d.seal(conn, &list[i]); err != nil {
				return fmt.Errorf("seal device %d: %w", list[i].DeviceID, err)
			}
		}
		return nil
	})
}

func (d *disk) seal(conn *sqlite.Conn, s *core.Sealed) error {
	for i := range s.Chunks {
		if err := d.cfg.fault("chunk"); err != nil {
			return err
		}
		if err := saveChunk(conn, s.DeviceID, &s.Chunks[i]); err != nil {
			return err
		}
	}
	if err := d.cfg.fault("mark"); err != nil {
		return err
	}
	return sqlitex.Execute(conn, "INSERT INTO seal_mark (device_id, seq) VALUES (?, ?) ON CONFLICT DO UPDATE SET seq = excluded.seq",
		&sqlitex.ExecOptions{Args: []any{s.DeviceID, int64(s.Mark)}})
}

// Merge implements core.Disk.
func (d *disk) Merge(ctx context.Context, list []core.Merge) error {
	return d.write(ctx, func(conn *sqlite.Conn) error {
		for i := range list {
			m := &list[i]
			for k := range m.Chunks {
				if err := d.cfg.fault("merge"); err != nil {
					return err
				}
				if err := saveChunk(conn, m.DeviceID, &m.Chunks[k]); err != nil {
					return err
				}
			}
			for _, sp := range m.Old {
				if err := d.cfg.fault("drop"); err != nil {
					return err
				}
				if err := deleteChunk(conn, m.DeviceID, sp); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// RollUp implements core.Disk.
func (d *disk) RollUp(ctx context.Context, list []core.Rollup) error {
	return d.write(ctx, func(conn *sqlite.Conn) error {
		for i := range list {
			r := &list[i]
			if err := d.cfg.fault("rollup"); err != nil {
				return err
			}
			if len(r.Data) > 0 {
				err := sqlitex.Execute(conn, "INSERT INTO reading_rollup (device_id, from_at, to_at, data) VALUES (?, ?, ?, ?)",
					&sqlitex.ExecOptions{Args: []any{r.DeviceID, int64(r.From), int64(r.To), r.Data}})
				if err != nil {
					return err
				}
			}
			if err := deleteChunk(conn, r.DeviceID, r.Span); err != nil {
				return err
			}
		}
		return nil
	})
}

// DropRollups implements core.Disk.
func (d *disk) DropRollups(ctx context.Context, workspaceID int64, before rimewatch.Time) error {
	const expired = "SELECT r.id FROM device d JOIN reading_rollup r ON r.device_id = d.id AND r.to_at < ? WHERE d.workspace_id = ?"
	found := int64(0)
	err := d.read(ctx, &d.pool, func(conn *sqlite.Conn) (err error) {
		found, err = queryInt(conn, "SELECT EXISTS ("+expired+")", int64(before), workspaceID)
		return err
	})
	if err != nil || found == 0 {
		return err
	}
	return d.write(ctx, func(conn *sqlite.Conn) error {
		return sqlitex.Execute(conn, "DELETE FROM reading_rollup WHERE id IN ("+expired+")", &sqlitex.ExecOptions{Args: []any{int64(before), workspaceID}})
	})
}

// YoungChunks implements core.Disk.
func (d *disk) YoungChunks(ctx context.Context) (ids []int64, err error) {
	err = d.read(ctx, &d.pool, func(conn *sqlite.Conn) error {
		return sqlitex.Execute(conn, "SELECT DISTINCT device_id FROM reading_chunk WHERE young", &sqlitex.ExecOptions{
			ResultFunc: func(stmt *sqlite.Stmt) error {
				ids = append(ids, stmt.ColumnInt64(0))
				return nil
			},
		})
	})
	return ids, err
}

// Expired implements core.Disk.
func (d *disk) Expired(ctx context.Context, workspaceID int64, before rimewatch.Time, limit int) (list []core.DeviceSpan, err error) {
	err = d.read(ctx, &d.pool, func(conn *sqlite.Conn) error {
		return sqlitex.Execute(conn, `SELECT c.segment, c.segments, c.young, c.from_at, c.to_at, c.n, c.device_id FROM device d JOIN reading_chunk c ON c.device_id = d.id AND c.to_at < ?
			WHERE d.workspace_id = ? LIMIT ?`, &sqlitex.ExecOptions{
			Args: []any{int64(before), workspaceID, limit},
			ResultFunc: func(stmt *sqlite.Stmt) error {
				list = append(list, core.DeviceSpan{Span: scanSpan(stmt), DeviceID: stmt.ColumnInt64(6)})
				return nil
			},
		})
	})
	return list, err
}

// View implements core.Disk.
func (d *disk) View(ctx context.Context, f func(core.Chunks) error) error {
	return d.read(ctx, &d.pool, func(conn *sqlite.Conn) error { return view(conn, f) })
}

// LookUp implements core.Disk.
func (d *disk) LookUp(f func(core.Chunks) error) error {
	d.lookMu.Lock()
	defer d.lookMu.Unlock()
	if d.lookup == nil {
		return core.ErrClosed()
	}
	return storeError(view(d.lookup, f), "look up")
}

// view runs f in a read transaction: chunks are neither sealed nor merged away
// between the list and its contents.
func view(conn *sqlite.Conn, f func(core.Chunks) error) error {
	if err := sqlitex.Execute(conn, "BEGIN", nil); err != nil {
		return err
	}
	defer func() {
		// Also when the request was given up: an interrupted connection refuses to
		// roll back, and whoever gets it next would find the transaction open.
		conn.SetInterrupt(nil)
		_ = sqlitex.Execute(conn, "ROLLBACK", nil)
	}()
	return f(chunks{conn})
}

// chunks are those that a read transaction sees.
type chunks struct{ conn *sqlite.Conn }

// NewestSealed implements core.Chunks.
func (c chunks) NewestSealed(deviceID int64) (rimewatch.Time, error) {
	to, err := queryInt(c.conn, "SELECT coalesce(max(to_at), -1) FROM reading_chunk WHERE device_id = ?", deviceID)
	return rimewatch.Time(to), err
}

// Spans implements core.Chunks.
func (c chunks) Spans(deviceID int64, from, to rimewatch.Time, descending bool, limit int) (list []core.Span, err error) {
	order := "ASC"
	if descending {
		order = "DESC"
	}
	err = sqlitex.Execute(c.conn, "SELECT "+spanColumns+" FROM reading_chunk WHERE device_id = ? AND to_at >= ? AND from_at < ? ORDER BY to_at "+order+" LIMIT ?", &sqlitex.ExecOptions{
		Args: []any{deviceID, int64(from), int64(to), limit},
		ResultFunc: func(stmt *sqlite.Stmt) error {
			list = append(list, scanSpan(stmt))
			return nil
		},
	})
	return list, err
}

// mostSegments bounds a chunk: a day of ten readings a second, uncompressed, is
// less. A damaged file may claim any number.
const mostSegments = 1 << 18

// Data implements core.Chunks.
func (c chunks) Data(sp core.Span) ([]byte, error) {
	if sp.Segments < 0 || sp.Segments > mostSegments {
		return nil, fmt.Errorf("%w: it claims %d segments", core.ErrDamaged, sp.Segments)
	}
	buf := make([]byte, 0, sp.Segments*segmentSize)
	n := 0
	err := sqlitex.Execute(c.conn, "SELECT data FROM "+segmentTable(sp.Young)+" WHERE id >= ? AND id < ? ORDER BY id", &sqlitex.ExecOptions{
		Args: []any{sp.ID, sp.ID + int64(sp.Segments)},
		ResultFunc: func(stmt *sqlite.Stmt) error {
			at, size := len(buf), stmt.ColumnLen(0)
			buf = slices.Grow(buf, size)[:at+size]
			stmt.ColumnBytes(0, buf[at:])
			n++
			return nil
		},
	})
	if err == nil && n != sp.Segments {
		err = fmt.Errorf("%w: %d of %d segments are left", core.ErrDamaged, n, sp.Segments)
	}
	return buf, asDamaged(err)
}

// Summary implements core.Chunks.
func (c chunks) Summary(deviceID int64, sp core.Span) (summary []byte, err error) {
	err = sqlitex.Execute(c.conn, "SELECT summary FROM reading_chunk WHERE device_id = ? AND to_at = ? AND young = ? AND segment = ?", &sqlitex.ExecOptions{
		Args:       []any{deviceID, int64(sp.To), sp.Young, sp.ID},
		ResultFunc: func(stmt *sqlite.Stmt) error { summary = core.Column(stmt, 0, nil); return nil },
	})
	if err == nil && summary == nil {
		err = fmt.Errorf("chunk %d vanished", sp.ID)
	}
	return summary, asDamaged(err)
}

// Rollups implements core.Chunks.
func (c chunks) Rollups(deviceID int64, from, to rimewatch.Time, yield func(id int64, from, to rimewatch.Time, data []byte) error) error {
	return core.ReadRollups(conn{Conn: c.conn}, deviceID, from, to, yield)
}
