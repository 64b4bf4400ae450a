package core

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// Queries of an engine's log, checkpoints, marks and rollups, whose tables are the same in all.
// where is the condition of a query.

// Column reads a blob into buf, or into a larger one.
func Column(row tables.Row, col int, buf []byte) []byte {
	n := row.ColumnLen(col)
	if cap(buf) < n {
		buf = make([]byte, n+n/2)
	}
	buf = buf[:n]
	row.ColumnBytes(col, buf)
	return buf
}

// ReadLog calls yield for rows of the log. The bytes are only valid in the call.
func ReadLog(conn tables.Conn, where string, yield func(seq store.Seq, row []byte) error, args ...any) error {
	var buf []byte
	return conn.Query(func(row tables.Row) error {
		buf = Column(row, 1, buf)
		return yield(store.Seq(row.ColumnInt64(0)), buf)
	}, "SELECT seq, data FROM commit_log WHERE "+where, args...)
}

// ReadCheckpoints calls yield for checkpoints, which it reads into c, with their states
// where these are wanted.
func ReadCheckpoints(conn tables.Conn, c *Checkpoint, states bool, where string, yield func(*Checkpoint) error, args ...any) error {
	state := "''"
	if states {
		state = "state"
	}
	return conn.Query(func(row tables.Row) error {
		c.DeviceID, c.Seq = row.ColumnInt64(0), store.Seq(row.ColumnInt64(1))
		c.Latest, c.State = Column(row, 2, c.Latest), Column(row, 5, c.State)
		c.CurrentTemp, c.CurrentTempAt = row.ColumnFloat(3), rimewatch.Time(row.ColumnInt64(4))
		return yield(c)
	}, "SELECT device_id, seq, latest, current_temp, current_temp_at, "+state+" FROM checkpoint WHERE "+where, args...)
}

// ReadMarks returns up to which commit devices are sealed.
func ReadMarks(conn tables.Conn, where string, args ...any) (map[int64]store.Seq, error) {
	marks := make(map[int64]store.Seq)
	err := conn.Query(func(row tables.Row) error {
		marks[row.ColumnInt64(0)] = store.Seq(row.ColumnInt64(1))
		return nil
	}, "SELECT device_id, seq FROM seal_mark WHERE "+where, args...)
	return marks, err
}

// ReadRollups calls yield for a device's rollups that touch [from, to).
func ReadRollups(conn tables.Conn, deviceID int64, from, to rimewatch.Time, yield func(id int64, from, to rimewatch.Time, data []byte) error) error {
	return conn.Query(func(row tables.Row) error {
		return yield(row.ColumnInt64(0), rimewatch.Time(row.ColumnInt64(1)), rimewatch.Time(row.ColumnInt64(2)), Column(row, 3, nil))
	}, "SELECT id, from_at, to_at, data FROM reading_rollup WHERE device_id = ? AND to_at >= ? AND from_at < ?", deviceID, int64(from), int64(to))
}

// ReadInts sets numbers to the results of their queries.
func ReadInts(conn tables.Conn, queries map[*int64]string) error {
	for dst, query := range queries {
		if err := conn.Query(func(row tables.Row) error { *dst = row.ColumnInt64(0); return nil }, query); err != nil {
			return err
		}
	}
	return nil
}
