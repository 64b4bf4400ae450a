package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Backup writes a consistent copy to a new file, also while a server runs.
func (s *Store) Backup(ctx context.Context, path string) error {
	return s.disk.read(ctx, &s.disk.pool, func(conn *sqlite.Conn) error {
		if err := sqlitex.ExecuteTransient(conn, "PRAGMA query_only = OFF", nil); err != nil {
			return err
		}
		defer func() { _ = sqlitex.ExecuteTransient(conn, "PRAGMA query_only = ON", nil) }()
		return copyTo(conn, path)
	})
}

// copyTo writes a copy to a new file that only we may read: it holds secrets.
func copyTo(conn *sqlite.Conn, path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return sqlitex.ExecuteTransient(conn, "VACUUM INTO ?", &sqlitex.ExecOptions{Args: []any{path}})
}

// Settle brings a file to stable storage and gives it its name.
func Settle(from, to string) error {
	f, err := os.OpenFile(from, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(0o600), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

// syncDir makes a rename durable. Where directories cannot be synced, it is so
// by itself.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}
