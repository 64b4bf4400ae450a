package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/rimewatch/rimewatch"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

const (
	retainEvery = 15 * time.Minute
	retainSlice = 64 // chunks in one transaction
)

// retainDue looks for expired data now and then.
func (s *Store) retainDue(ctx context.Context) error {
	now := rimewatch.TimeOf(s.cfg.Now())
	if s.retained != 0 && now.Sub(s.retained) < retainEvery {
		return nil
	}
	if err := s.retain(ctx, now); err != nil {
		return err
	}
	s.retained = now
	return nil
}

// retain replaces raw chunks that are older than their workspace keeps by
// hourly rollups, and deletes rollups that are too old.
func (s *Store) retain(ctx context.Context, now rimewatch.Time) error {
	list, err := s.Workspaces(ctx)
	if err != nil {
		return err
	}
	for i := range list {
		w := &list[i]
		raw := now - rimewatch.Time(w.RawDays)*rimewatch.Day
		for {
			n, err := s.expireRaw(ctx, w.ID, raw)
			if err != nil {
				return fmt.Errorf("retention of workspace %d: %w", w.ID, err)
			}
			if n < retainSlice {
				break
			}
		}
		rollups := now - rimewatch.Time(max(w.RollupDays, w.RawDays))*rimewatch.Day
		if err := s.expireRollups(ctx, w.ID, rollups); err != nil {
			return fmt.Errorf("retention of workspace %d: %w", w.ID, err)
		}
		if err := s.expireExcursions(ctx, w.ID, rollups); err != nil {
			return fmt.Errorf("retention of workspace %d: %w", w.ID, err)
		}
		if err := s.pruneNotifications(ctx, w.ID, rollups); err != nil {
			return fmt.Errorf("retention of workspace %d: %w", w.ID, err)
		}
	}
	return nil
}

type expired struct {
	span
	deviceID int64
}

// expireRaw turns one slice of expired chunks into rollups. Only whole chunks
// expire, so that at most a day is kept longer than asked for.
func (s *Store) expireRaw(ctx context.Context, workspaceID int64, before rimewatch.Time) (int, error) {
	var list []expired
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return sqlitex.Execute(conn, `SELECT c.segment, c.segments, c.young, c.from_at, c.to_at, c.n, c.device_id FROM device d JOIN reading_chunk c ON c.device_id = d.id AND c.to_at < ?
			WHERE d.workspace_id = ? LIMIT ?`, &sqlitex.ExecOptions{
			Args: []any{int64(before), workspaceID, retainSlice},
			ResultFunc: func(stmt *sqlite.Stmt) error {
				list = append(list, expired{scanSpan(stmt), stmt.ColumnInt64(6)})
				return nil
			},
		})
	})
	if err != nil || len(list) == 0 {
		return 0, err
	}
	return len(list), s.write(ctx, func(conn *sqlite.Conn) error {
		for _, e := range list {
			if err := s.cfg.fault("rollup"); err != nil {
				return err
			}
			if err := rollUp(conn, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// rollUp replaces one chunk by the hours in it.
func rollUp(conn *sqlite.Conn, e expired) error {
	rs, err := decodeCluster(conn, []span{e.span})
	if err != nil {
		return err
	}
	if len(rs) > 0 {
		err := sqlitex.Execute(conn, "INSERT INTO reading_rollup (device_id, from_at, to_at, data) VALUES (?, ?, ?, ?)",
			&sqlitex.ExecOptions{Args: []any{e.deviceID, int64(rs[0].At / rimewatch.Hour * rimewatch.Hour), int64(rs[len(rs)-1].At), appendRollup(nil, rs)}})
		if err != nil {
			return err
		}
	}
	return deleteChunk(conn, e.deviceID, e.span)
}

func (s *Store) expireRollups(ctx context.Context, workspaceID int64, before rimewatch.Time) error {
	found := false
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		n, err := queryInt(conn, "SELECT EXISTS (SELECT 1 FROM device d JOIN reading_rollup r ON r.device_id = d.id AND r.to_at < ? WHERE d.workspace_id = ?)", int64(before), workspaceID)
		found = n != 0
		return err
	})
	if err != nil || !found {
		return err
	}
	return s.write(ctx, func(conn *sqlite.Conn) error {
		return sqlitex.Execute(conn, "DELETE FROM reading_rollup WHERE id IN (SELECT r.id FROM device d JOIN reading_rollup r ON r.device_id = d.id AND r.to_at < ? WHERE d.workspace_id = ?)",
			&sqlitex.ExecOptions{Args: []any{int64(before), workspaceID}})
	})
}
