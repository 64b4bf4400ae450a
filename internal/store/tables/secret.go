package tables

import (
	"context"
	"crypto/rand"
)

// Secret implements store.Store.
func (t Places) Secret(ctx context.Context, name string) (key [32]byte, err error) {
	find := func(conn Conn) error {
		return each(conn, "SELECT value FROM secret WHERE name = ?", func(row Row) { row.ColumnBytes(0, key[:]) }, name)
	}
	if err := t.read(ctx, find); err != nil || key != [32]byte{} {
		return key, err
	}
	err = t.write(ctx, func(conn Conn) error {
		var fresh [32]byte
		_, _ = rand.Read(fresh[:]) // never fails
		if _, err := exec(conn, "INSERT INTO secret (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", name, fresh[:]); err != nil {
			return err
		}
		return find(conn)
	})
	return key, err
}
