package postgres

import (
	"testing"

	"github.com/rimewatch/rimewatch/internal/store/storetest"
	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// TestEveryByteOfARecord: what people answer for cannot be changed by a byte without the
// verifier of the audit trail saying so.
func TestEveryByteOfARecord(t *testing.T) {
	s := openAt(t, Config{URL: server.Database(t)})
	read := func(f func(tables.Conn) error) {
		t.Helper()
		if err := s.disk.ReadLong(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	storetest.EveryByte(t, s, storetest.Raw{
		Row: func(name string) (columns []string, values []any) {
			for _, table := range tables.Catalog() {
				if table.Name != name {
					continue
				}
				for _, c := range table.Columns {
					columns = append(columns, c.Name)
				}
				read(func(conn tables.Conn) error {
					return table.Rows(conn, nil, func(row []any, _ []int64) error { values = row; return nil })
				})
			}
			return columns, values
		},
		Set: func(table, column string, value any) error {
			return s.disk.Write(t.Context(), func(conn tables.Conn) error {
				_, err := conn.Exec("UPDATE "+table+" SET "+column+" = ?", value)
				return err
			})
		},
		Damaged: func() (n int) {
			read(func(conn tables.Conn) error {
				_, list, err := tables.VerifyTrails(conn)
				n = len(list)
				return err
			})
			return n
		},
	})
}
