package sqlite

import (
	"context"
	"fmt"
	"os"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

func (s *Store) walBytes() int64 { return fileSize(s.cfg.Path + "-wal") }

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// Stats implements store.Store. It counts every chunk: not for a hot path.
func (s *Store) Stats(ctx context.Context) (store.Stats, error) {
	st := store.Stats{
		HeadReadings: s.head.readings.Load(),
		HeadBytes:    s.head.bytes.Load(),
		FileBytes:    fileSize(s.cfg.Path),
		WALBytes:     s.walBytes(),
		LastSealed:   rimewatch.Time(s.seal.lastAt.Load()),
	}
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		for _, q := range []struct {
			query string
			dst   *int64
		}{
			{"SELECT count(*) FROM reading_chunk", &st.Chunks},
			{"SELECT coalesce(sum(n), 0) FROM reading_chunk", &st.StoredReadings},
			{"SELECT count(*) FROM commit_log", &st.LogEntries},
		} {
			v, err := queryInt(conn, q.query)
			if err != nil {
				return err
			}
			*q.dst = v
		}
		n, err := queryInt(conn, "SELECT count(*) FROM device WHERE deleted_at = 0")
		st.Devices = int(n)
		return err
	})
	st.StoredReadings += st.HeadReadings
	return st, err
}

// HeadBytes is the memory of readings that are not sealed yet.
func (s *Store) HeadBytes() int64 { return s.head.bytes.Load() }

// Check lets the engine look for damage in the file: for doctor.
func (s *Store) Check(ctx context.Context) error {
	return s.read(ctx, quickCheck)
}

func quickCheck(conn *sqlite.Conn) error {
	return sqlitex.ExecuteTransient(conn, "PRAGMA quick_check", &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
		if text := stmt.ColumnText(0); text != "ok" {
			return fmt.Errorf("the file is damaged: %s", text)
		}
		return nil
	}})
}

// Backup writes a consistent copy to a new file, also beside a running server.
func (s *Store) Backup(ctx context.Context, path string) error {
	return s.read(ctx, func(conn *sqlite.Conn) error {
		if err := sqlitex.ExecuteTransient(conn, "PRAGMA query_only = OFF", nil); err != nil {
			return err
		}
		defer func() { _ = sqlitex.ExecuteTransient(conn, "PRAGMA query_only = ON", nil) }()
		return sqlitex.ExecuteTransient(conn, "VACUUM INTO ?", &sqlitex.ExecOptions{Args: []any{path}})
	})
}
