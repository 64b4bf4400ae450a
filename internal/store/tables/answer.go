package tables

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func saveAnswer(conn Conn, a *store.Answer) error {
	return conn.Later(nil, `INSERT INTO answer (caller, request_key, workspace_id, request, at, device_id, reading_at, status, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (caller, request_key) DO UPDATE SET workspace_id = excluded.workspace_id, request = excluded.request, at = excluded.at,
			device_id = excluded.device_id, reading_at = excluded.reading_at, status = excluded.status, body = excluded.body`,
		a.Caller, a.Key, a.WorkspaceID, a.Request[:], int64(a.At), a.DeviceID, int64(a.ReadingAt), a.Status, blob(a.Body))
}

// KeepAnswer implements store.Answers.
func (a Places) KeepAnswer(ctx context.Context, x *store.Answer) error {
	return a.write(store.WithAnswer(ctx, nil), func(conn Conn) error { return saveAnswer(conn, x) })
}

// AnswerTo implements store.Answers.
func (a Places) AnswerTo(ctx context.Context, caller int64, key string, now rimewatch.Time) (x store.Answer, err error) {
	err = a.read(ctx, func(conn Conn) error {
		missing := rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such answer.")
		return one(conn, missing, "SELECT workspace_id, request, at, device_id, reading_at, status, body FROM answer WHERE caller = ? AND request_key = ? AND at > ?", func(row Row) {
			x = store.Answer{
				WorkspaceID: row.ColumnInt64(0), Caller: caller, Key: key, At: columnTime(row, 2),
				DeviceID: row.ColumnInt64(3), ReadingAt: columnTime(row, 4), Status: row.ColumnInt(5), Body: columnBlob(row, 6),
			}
			row.ColumnBytes(1, x.Request[:])
		}, caller, key, int64(now-store.AnswerLife))
	})
	return x, err
}

// TrimAnswers implements store.Answers.
func (a Places) TrimAnswers(ctx context.Context, workspaceID, most int64) (kept int64, err error) {
	err = a.write(store.WithAnswer(ctx, nil), func(conn Conn) error {
		kept = 0
		last := int64(-1) // the newest moment of which nothing is kept
		err := each(conn, "SELECT at, length(request_key) + length(body) FROM answer WHERE workspace_id = ? ORDER BY at DESC", func(row Row) {
			switch size := store.AnswerRow + row.ColumnInt64(1); {
			case last >= 0:
			case kept+size > most:
				last = row.ColumnInt64(0)
			default:
				kept += size
			}
		}, workspaceID)
		if err != nil || last < 0 {
			return err
		}
		if _, err := exec(conn, "DELETE FROM answer WHERE workspace_id = ? AND at <= ?", workspaceID, last); err != nil {
			return err
		}
		return one(conn, nil, "SELECT count(*), coalesce(sum(length(request_key) + length(body)), 0) FROM answer WHERE workspace_id = ?", func(row Row) {
			kept = store.AnswerRow*row.ColumnInt64(0) + row.ColumnInt64(1)
		}, workspaceID)
	})
	return kept, err
}

// expireAnswers deletes answers older than AnswerLife, slice by slice: other writes
// wait for it.
func (a *base) expireAnswers(ctx context.Context, now rimewatch.Time) error {
	for {
		n := 0
		err := a.write(ctx, func(conn Conn) (err error) {
			n, err = exec(conn, "DELETE FROM answer WHERE (caller, request_key) IN (SELECT caller, request_key FROM answer WHERE at <= ? LIMIT ?)", int64(now-store.AnswerLife), eraseSlice)
			return err
		})
		if err != nil || n < eraseSlice {
			return err
		}
	}
}
