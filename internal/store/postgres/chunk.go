package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store/core"
	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// rows are chunks as columns, for one statement.
type rows struct {
	devices, to, from, n []int64
	young                []bool
	summaries, data      [][]byte
}

func (r *rows) add(deviceID int64, list []core.Chunk) {
	for i := range list {
		c := &list[i]
		r.devices, r.to, r.from, r.n = append(r.devices, deviceID), append(r.to, int64(c.To)), append(r.from, int64(c.From)), append(r.n, int64(c.N))
		r.young, r.summaries, r.data = append(r.young, c.Young), append(r.summaries, c.Summary), append(r.data, c.Data)
	}
}

func (r *rows) save(s *session) error {
	if len(r.devices) == 0 {
		return nil
	}
	return s.Later(nil, `INSERT INTO reading_chunk (device_id, to_at, young, from_at, n, summary, data)
		SELECT * FROM unnest(?::bigint[], ?::bigint[], ?::boolean[], ?::bigint[], ?::bigint[], ?::bytea[], ?::bytea[])`,
		r.devices, r.to, r.young, r.from, r.n, r.summaries, r.data)
}

// Seal implements core.Disk. The marks go first: of two attempts one waits for
// the other there and finds itself done.
func (d *disk) Seal(ctx context.Context, list []core.Sealed) error {
	ids, marks := make([]int64, len(list)), make([]int64, len(list))
	var all rows
	for i := range list {
		ids[i], marks[i] = list[i].DeviceID, int64(list[i].Mark)
		all.add(list[i].DeviceID, list[i].Chunks)
	}
	attempt := func(ctx context.Context) error {
		return d.transact(ctx, false, func(s *session) error {
			n, err := s.Exec(`INSERT INTO seal_mark (device_id, seq) SELECT * FROM unnest(?::bigint[], ?::bigint[])
				ON CONFLICT (device_id) DO UPDATE SET seq = excluded.seq WHERE seal_mark.seq < excluded.seq`, ids, marks)
			switch {
			case err != nil:
				return err
			case n == 0: // the attempt before, whose commit this one repeats
				return s.Later(nil, "UPDATE stream SET change = change WHERE shard = ? AND id = ?", d.shard, d.stream)
			case n != len(list):
				return fmt.Errorf("%d of %d devices are sealed further than this server knows", len(list)-n, len(list))
			}
			return all.save(s)
		})
	}
	err := attempt(ctx)
	if unknown(err) {
		err = d.persist(0, attempt)
	}
	return d.failure(err, "seal")
}

// remove deletes existing chunks: their replacements were made from them.
func remove(s *session, devices, ids []int64) error {
	n, err := s.Exec("DELETE FROM reading_chunk c USING unnest(?::bigint[], ?::bigint[]) AS old (device_id, id) WHERE c.device_id = old.device_id AND c.id = old.id", devices, ids)
	if err == nil && n != len(ids) {
		err = fmt.Errorf("%d of %d chunks vanished", len(ids)-n, len(ids))
	}
	return err
}

// Merge implements core.Disk. One whose outcome is unknown is an error: the next
// plan is made from the existing chunks.
func (d *disk) Merge(ctx context.Context, list []core.Merge) error {
	var devices, ids []int64
	var fresh rows
	for i := range list {
		for _, sp := range list[i].Old {
			devices, ids = append(devices, list[i].DeviceID), append(ids, sp.ID)
		}
		fresh.add(list[i].DeviceID, list[i].Chunks)
	}
	err := d.transact(ctx, false, func(s *session) error {
		if err := remove(s, devices, ids); err != nil {
			return err
		}
		return fresh.save(s)
	})
	return d.failure(err, "merge")
}

// RollUp implements core.Disk.
func (d *disk) RollUp(ctx context.Context, list []core.Rollup) error {
	err := d.transact(ctx, false, func(s *session) error {
		devices, ids := make([]int64, len(list)), make([]int64, len(list))
		for i := range list {
			devices[i], ids[i] = list[i].DeviceID, list[i].ID
		}
		if err := remove(s, devices, ids); err != nil {
			return err
		}
		for i := range list {
			r := &list[i]
			if len(r.Data) == 0 {
				continue
			}
			err := s.Later(nil, "INSERT INTO reading_rollup (device_id, from_at, to_at, data) VALUES (?, ?, ?, ?)", r.DeviceID, int64(r.From), int64(r.To), r.Data)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return d.failure(err, "roll up")
}

// DropRollups implements core.Disk.
func (d *disk) DropRollups(ctx context.Context, workspaceID int64, before rimewatch.Time) error {
	err := d.transact(ctx, false, func(s *session) error {
		return s.Later(nil, "DELETE FROM reading_rollup r USING device d WHERE r.device_id = d.id AND d.workspace_id = ? AND r.to_at < ?", workspaceID, int64(before))
	})
	return d.failure(err, "drop rollups")
}

// YoungChunks implements core.Disk.
func (d *disk) YoungChunks(ctx context.Context) (ids []int64, err error) {
	err = d.read(ctx, d.reads, func(s *session) error {
		return s.Query(func(row tables.Row) error { ids = append(ids, row.ColumnInt64(0)); return nil },
			"SELECT DISTINCT device_id FROM reading_chunk c WHERE young"+d.and("c.device_id"))
	})
	return ids, err
}

const spanColumns = "c.id, c.young, c.from_at, c.to_at, c.n"

func scanSpan(row tables.Row) core.Span {
	return core.Span{
		ID: row.ColumnInt64(0), Young: row.ColumnBool(1), From: rimewatch.Time(row.ColumnInt64(2)), To: rimewatch.Time(row.ColumnInt64(3)), N: row.ColumnInt(4),
	}
}

// Expired implements core.Disk.
func (d *disk) Expired(ctx context.Context, workspaceID int64, before rimewatch.Time, limit int) (list []core.DeviceSpan, err error) {
	err = d.read(ctx, d.reads, func(s *session) error {
		return s.Query(func(row tables.Row) error {
			list = append(list, core.DeviceSpan{Span: scanSpan(row), DeviceID: row.ColumnInt64(5)})
			return nil
		}, "SELECT "+spanColumns+", c.device_id FROM device d JOIN reading_chunk c ON c.device_id = d.id AND c.to_at < ? WHERE d.workspace_id = ? LIMIT ?",
			int64(before), workspaceID, limit)
	})
	return list, err
}

// View implements core.Disk.
func (d *disk) View(ctx context.Context, f func(core.Chunks) error) error {
	return d.view(ctx, d.reads, f)
}

// LookUp implements core.Disk.
func (d *disk) LookUp(f func(core.Chunks) error) error {
	ctx, cancel := context.WithTimeout(d.closing, d.cfg.patience)
	defer cancel()
	return d.view(ctx, d.writes, f)
}

// view runs f in a read transaction: chunks are neither sealed nor merged away
// between the list and its contents.
func (d *disk) view(ctx context.Context, pool *pgxpool.Pool, f func(core.Chunks) error) error {
	err := d.with(ctx, pool, func(c *pgx.Conn) error {
		s := &session{ctx: ctx, conn: c, begin: func(b *pgx.Batch) { b.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") }}
		defer s.rollback()
		return f(chunks{s})
	})
	return d.failure(err, "read chunks")
}

// chunks are those that a read transaction sees.
type chunks struct{ *session }

// NewestSealed implements core.Chunks.
func (c chunks) NewestSealed(deviceID int64) (to rimewatch.Time, err error) {
	err = c.Query(func(row tables.Row) error { to = rimewatch.Time(row.ColumnInt64(0)); return nil },
		"SELECT coalesce(max(to_at), -1) FROM reading_chunk WHERE device_id = ?", deviceID)
	return to, err
}

// Spans implements core.Chunks.
func (c chunks) Spans(deviceID int64, from, to rimewatch.Time, descending bool, limit int) (list []core.Span, err error) {
	order := "ASC"
	if descending {
		order = "DESC"
	}
	most := any(limit)
	if limit < 0 {
		most = nil // all of them
	}
	err = c.Query(func(row tables.Row) error { list = append(list, scanSpan(row)); return nil },
		"SELECT "+spanColumns+" FROM reading_chunk c WHERE device_id = ? AND to_at >= ? AND from_at < ? ORDER BY to_at "+order+" LIMIT ?",
		deviceID, int64(from), int64(to), most)
	return list, err
}

// Data implements core.Chunks.
func (c chunks) Data(sp core.Span) ([]byte, error) {
	return c.blob(sp.ID, "SELECT data FROM reading_chunk WHERE id = ?", sp.ID)
}

// Summary implements core.Chunks.
func (c chunks) Summary(deviceID int64, sp core.Span) ([]byte, error) {
	return c.blob(sp.ID, "SELECT summary FROM reading_chunk WHERE device_id = ? AND to_at = ? AND id = ?", deviceID, int64(sp.To), sp.ID)
}

func (c chunks) blob(id int64, statement string, args ...any) (data []byte, err error) {
	err = c.Query(func(row tables.Row) error { data = core.Column(row, 0, nil); return nil }, statement, args...)
	if err == nil && data == nil {
		err = fmt.Errorf("chunk %d vanished", id)
	}
	return data, err
}

// Rollups implements core.Chunks.
func (c chunks) Rollups(deviceID int64, from, to rimewatch.Time, yield func(id int64, from, to rimewatch.Time, data []byte) error) error {
	return core.ReadRollups(c, deviceID, from, to, yield)
}
