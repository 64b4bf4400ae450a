package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/core"
	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// trimRows is the number of rows of the log that one transaction deletes.
const trimRows = 512

// Last implements core.Disk.
func (d *disk) Last(ctx context.Context) (last core.Last, err error) {
	if d.of > 1 {
		return d.lastOfShard(ctx)
	}
	err = d.read(ctx, d.reads, func(s *session) error {
		return s.Query(func(row tables.Row) error {
			last = core.Last{Seq: store.Seq(row.ColumnInt64(0)), DeviceID: row.ColumnInt64(1), AlertID: row.ColumnInt64(2)}
			return nil
		}, `SELECT coalesce((SELECT max(seq) FROM commit_log WHERE shard = ?), 0),
			(SELECT last_value FROM device_id_seq), (SELECT last_value FROM alert_id_seq)`, d.shard)
	})
	d.ids = last
	return last, err
}

// Append implements core.Disk.
func (d *disk) Append(ctx context.Context, seq store.Seq, row []byte, ops []*store.DeviceOp, e *store.Effects) error {
	changes := tables.Writes(ops, e)
	if len(row) == 0 {
		if !changes {
			return nil
		}
		err := d.Write(ctx, func(conn tables.Conn) error { return d.saveEffects(conn, ops, e) })
		if err == nil {
			d.ids = d.usedUp(ops, e)
		}
		return err
	}
	if err := ctx.Err(); err != nil {
		return d.failure(err, "append")
	}
	if changes {
		select {
		case d.turn <- struct{}{}:
			defer func() { <-d.turn }()
		case <-ctx.Done():
			return d.failure(ctx.Err(), "append")
		}
	}
	attempt := func(ctx context.Context) error { return d.appendOnce(ctx, seq, row, changes, ops, e) }
	err := attempt(d.closing)
	if unknown(err) {
		// It is sent again until there is an answer: one of the two wins.
		err = d.persist(0, func(ctx context.Context) error {
			if err := attempt(ctx); !logged(err) {
				return err
			}
			return d.verifyLogged(ctx, seq, row)
		})
		if err != nil && !logged(err) {
			err = d.undecided(err, seq, row)
		}
	}
	if logged(err) {
		err = d.lose(errDiverged)
	}
	if err == nil {
		d.ids = d.usedUp(ops, e)
	}
	return d.failure(err, "append")
}

// undecided looks for a commit whose outcome was not known when another server took
// the store, or when the wait for an answer ended: nil where the log holds it. The log
// is trimmed from its beginning, and nothing arrives after the fence: a commit that is
// missing from a log that begins at or before it was never stored.
func (d *disk) undecided(why error, seq store.Seq, row []byte) error {
	fenced := code(why) == fencedState
	if fenced {
		_ = d.lose(errFenced)
	}
	ctx, cancel := context.WithTimeout(context.Background(), d.cfg.patience)
	defer cancel()
	stored, reachesBack := false, false
	err := d.read(ctx, d.writes, func(s *session) error {
		return s.Query(func(r tables.Row) error { stored, reachesBack = r.ColumnBool(0), r.ColumnBool(1); return nil },
			`SELECT EXISTS (SELECT 1 FROM commit_log WHERE shard = ? AND stream = ? AND seq = ? AND data = ?),
				EXISTS (SELECT 1 FROM commit_log WHERE shard = ? AND seq <= ?)`, d.shard, d.stream, int64(seq), row, d.shard, int64(seq))
	})
	switch {
	case err == nil && stored:
		return nil
	case err == nil && fenced && reachesBack:
		return d.lostErr()
	}
	return errOutcome(why)
}

// errOutcome is never CodeUnavailable, which means that nothing was stored.
func errOutcome(why error) error {
	return rimewatch.Wrap(rimewatch.CodeOutcomeUnknown, why, "The database broke the connection: check whether the change was stored before you send it again.")
}

// errDiverged is the end of a server whose memory does not fit the log: a commit
// that it took for lost arrived after all.
var errDiverged = errors.New("the log holds another commit than this server's")

// logged reports whether an error says that the position of the log is taken.
func logged(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.ConstraintName == "commit_log_pkey"
}

// verifyLogged compares the rows of the log with those that were to be written. Its own
// write brings both to where commits are safe. Ids that the lost answer would
// have brought stay 0.
func (d *disk) verifyLogged(ctx context.Context, seq store.Seq, row []byte) error {
	return d.transact(ctx, false, func(s *session) error {
		same := false
		err := s.Query(func(r tables.Row) error { same = r.ColumnBool(0); return nil },
			"SELECT data = ? FROM commit_log WHERE shard = ? AND stream = ? AND seq = ?", row, d.shard, d.stream, int64(seq))
		if err == nil && !same {
			err = d.lose(errDiverged)
		}
		if err == nil {
			err = s.Later(nil, "UPDATE stream SET change = change WHERE shard = ? AND id = ?", d.shard, d.stream)
		}
		return err
	})
}

// appendOnce is one attempt: a single batch, unless something has to be read.
func (d *disk) appendOnce(ctx context.Context, seq store.Seq, row []byte, changes bool, ops []*store.DeviceOp, e *store.Effects) error {
	if err := d.lostErr(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, d.cfg.patience)
	defer cancel()
	forget := unwritten(e)
	return d.with(ctx, d.writes, func(c *pgx.Conn) error {
		once := !tables.Asks(ops, e)
		s := &session{ctx: ctx, conn: c, disk: d, once: once, begin: func(b *pgx.Batch) {
			if !once {
				b.Queue("BEGIN")
			}
			d.fence(b)
			if changes {
				d.takeTurn(ctx, b)
			}
		}}
		err := s.Later(nil, "INSERT INTO commit_log (shard, stream, seq, data) VALUES (?, ?, ?, ?)", d.shard, d.stream, int64(seq), row)
		if err == nil && changes {
			err = d.saveEffects(s, ops, e)
		}
		switch {
		case err != nil && s.conn.IsClosed() && !pgconn.SafeToRetry(err):
			err = unknownError{err} // it broke while it asked: it begins again, as after a commit
		case err != nil:
			s.rollback()
		case once:
			err = s.send()
		default:
			err = s.commit()
		}
		if err != nil {
			forget()
		}
		return err
	})
}

// unwritten returns the function that takes back the ids that an attempt to write new excursions sets: one
// with an id is there already.
func unwritten(e *store.Effects) (forget func()) {
	var fresh []*rimewatch.Excursion
	for _, x := range e.Excursions {
		if x.ID == 0 {
			fresh = append(fresh, x)
		}
	}
	return func() {
		for _, x := range fresh {
			x.ID = 0
		}
	}
}

// saveEffects writes the effects of a group and notes the ids that it used up.
func (d *disk) saveEffects(conn tables.Conn, ops []*store.DeviceOp, e *store.Effects) error {
	if err := d.tables.Commit(conn, ops, e); err != nil {
		return err
	}
	if d.of > 1 { // ids come in blocks
		return nil
	}
	last := d.usedUp(ops, e)
	if last.DeviceID > d.ids.DeviceID {
		if err := conn.Later(nil, "SELECT setval('device_id_seq', ?)", last.DeviceID); err != nil {
			return err
		}
	}
	if last.AlertID > d.ids.AlertID {
		return conn.Later(nil, "SELECT setval('alert_id_seq', ?)", last.AlertID)
	}
	return nil
}

// usedUp returns the greatest ids once a group is stored.
func (d *disk) usedUp(ops []*store.DeviceOp, e *store.Effects) core.Last {
	last := d.ids
	for _, op := range ops {
		if op.Err == nil {
			last.DeviceID = max(last.DeviceID, op.Device.ID)
		}
	}
	for _, a := range e.Alerts {
		last.AlertID = max(last.AlertID, a.ID)
	}
	return last
}

// Log implements core.Disk.
func (d *disk) Log(ctx context.Context, after store.Seq, yield func(seq store.Seq, row []byte) error) error {
	return d.read(ctx, d.reads, func(s *session) error {
		return core.ReadLog(s, "shard = ? AND seq > ? ORDER BY seq", yield, d.shard, int64(after))
	})
}

// TrimLog implements core.Disk.
func (d *disk) TrimLog(ctx context.Context, floor, last store.Seq, at rimewatch.Time) (bool, error) {
	n := 0
	err := d.transact(ctx, false, func(s *session) (err error) {
		n, err = s.Exec(`DELETE FROM commit_log WHERE shard = ? AND seq <= (SELECT max(seq) FROM
			(SELECT seq FROM commit_log WHERE shard = ? AND seq < ? ORDER BY seq LIMIT ?) slice)`, d.shard, d.shard, int64(floor), trimRows)
		if err != nil || n == 0 {
			return err
		}
		return d.tables.NoteLog(s, at, last)
	})
	return n > 0, d.failure(err, "trim the log")
}

// SaveCheckpoints implements core.Disk. An older one never replaces a newer: what
// broke off may arrive late.
func (d *disk) SaveCheckpoints(ctx context.Context, list []core.Checkpoint) error {
	n := len(list)
	ids, seqs, tempAt := make([]int64, n), make([]int64, n), make([]int64, n)
	temps, latest, states := make([]float64, n), make([][]byte, n), make([][]byte, n)
	for i := range list {
		c := &list[i]
		ids[i], seqs[i], latest[i], temps[i], tempAt[i], states[i] = c.DeviceID, int64(c.Seq), c.Latest, c.CurrentTemp, int64(c.CurrentTempAt), c.State
	}
	err := d.transact(ctx, false, func(s *session) error {
		return s.Later(nil, `INSERT INTO checkpoint (device_id, seq, latest, current_temp, current_temp_at, state)
			SELECT * FROM unnest(?::bigint[], ?::bigint[], ?::bytea[], ?::float8[], ?::bigint[], ?::bytea[])
			ON CONFLICT (device_id) DO UPDATE SET seq = excluded.seq, latest = excluded.latest, current_temp = excluded.current_temp,
			current_temp_at = excluded.current_temp_at, state = excluded.state WHERE checkpoint.seq <= excluded.seq`,
			ids, seqs, latest, temps, tempAt, states)
	})
	return d.failure(err, "save checkpoints")
}

// Checkpoints implements core.Disk.
func (d *disk) Checkpoints(ctx context.Context, devices []int64, yield func(*core.Checkpoint) error) error {
	return d.read(ctx, d.reads, func(s *session) error {
		var c core.Checkpoint
		for _, id := range devices {
			if err := core.ReadCheckpoints(s, &c, true, "device_id = ?", yield, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// CheckpointRange implements core.Disk.
func (d *disk) CheckpointRange(ctx context.Context, from, to int64, states bool, yield func(*core.Checkpoint) error) error {
	where := "device_id >= ? AND device_id < ?"
	if !states { // with states few are asked for at a time: to find out whose they are would cost more
		where += d.and("checkpoint.device_id")
	}
	return d.read(ctx, d.reads, func(s *session) error {
		return core.ReadCheckpoints(s, new(core.Checkpoint), states, where, yield, from, to)
	})
}

// SealMarks implements core.Disk.
func (d *disk) SealMarks(ctx context.Context) (marks map[int64]store.Seq, err error) {
	err = d.read(ctx, d.reads, func(s *session) (err error) {
		marks, err = core.ReadMarks(s, "seq >= coalesce((SELECT min(seq) FROM commit_log WHERE shard = ?), 0)"+d.and("seal_mark.device_id"), d.shard)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("seal marks: %w", err)
	}
	return marks, nil
}
