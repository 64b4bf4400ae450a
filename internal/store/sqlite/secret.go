package sqlite

import (
	"context"
	"crypto/rand"

	"github.com/rimewatch/rimewatch/internal/store"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

var _ store.Store = (*Store)(nil)

// Secret implements store.Store.
func (s *Store) Secret(ctx context.Context, name string) ([32]byte, error) {
	var key [32]byte
	find := func(conn *sqlite.Conn) error {
		return sqlitex.Execute(conn, "SELECT value FROM meta WHERE key = ?", &sqlitex.ExecOptions{
			Args: []any{"secret/" + name},
			ResultFunc: func(stmt *sqlite.Stmt) error {
				stmt.ColumnBytes(0, key[:])
				return nil
			},
		})
	}
	if err := s.read(ctx, find); err != nil || key != [32]byte{} {
		return key, err
	}
	err := s.write(ctx, func(conn *sqlite.Conn) error {
		var fresh [32]byte
		if _, err := rand.Read(fresh[:]); err != nil {
			return err
		}
		if err := sqlitex.Execute(conn, "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING",
			&sqlitex.ExecOptions{Args: []any{"secret/" + name, fresh[:]}}); err != nil {
			return err
		}
		return find(conn)
	})
	return key, err
}
