package tables

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rimewatch/rimewatch"
)

func wrap(err error, what string, id int64) error { return fmt.Errorf("%s %d: %w", what, id, err) }

// each runs a query and hands out its rows.
func each(conn Conn, query string, scan func(Row), args ...any) error {
	return conn.Query(func(row Row) error { scan(row); return nil }, query, args...)
}

// one runs a query that finds one row: missing when it finds none.
func one(conn Conn, missing error, query string, scan func(Row), args ...any) error {
	found := false
	err := each(conn, query, func(row Row) { found = true; scan(row) }, args...)
	if err == nil && !found {
		return missing
	}
	return err
}

// scanAll returns all rows of a query whose scan can fail.
func scanAll[T any](conn Conn, scan func(Row, *T) error, query string, args ...any) (list []T, err error) {
	err = conn.Query(func(row Row) error {
		var v T
		if err := scan(row, &v); err != nil {
			return err
		}
		list = append(list, v)
		return nil
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return list, nil
}

// queryInt returns the first column of a query's only row, 0 without one.
func queryInt(conn Conn, query string, args ...any) (v int64, err error) {
	err = each(conn, query, func(row Row) { v = row.ColumnInt64(0) }, args...)
	return v, err
}

// exec runs a statement and returns the number of rows that it changed. What it
// refers to but does not exist is CodeNotFound.
func exec(conn Conn, query string, args ...any) (int, error) {
	n, err := conn.Exec(query, args...)
	return n, Missing(err)
}

// execOne runs a statement that changes one row: missing when there is none.
func execOne(conn Conn, missing error, query string, args ...any) error {
	n, err := exec(conn, query, args...)
	if err == nil && n == 0 {
		return missing
	}
	return err
}

// Missing is CodeNotFound for a reference that leads nowhere. Other errors come
// back as they are.
func Missing(err error) error {
	if errors.Is(err, ErrForeignKey) {
		return rimewatch.Wrap(rimewatch.CodeNotFound, err, "What this refers to does not exist.")
	}
	return err
}

// insert runs an INSERT and returns the new id. A clash of unique keys is taken.
func insert(conn Conn, taken error, query string, args ...any) (id int64, err error) {
	id, err = queryInt(conn, query+" RETURNING id", args...)
	return id, unique(Missing(err), taken)
}

// insertLater runs an INSERT whose id is not needed before the transaction is
// committed.
func insertLater(conn Conn, id *int64, query string, args ...any) error {
	return conn.Later(func(row Row) error { *id = row.ColumnInt64(0); return nil }, query+" RETURNING id", args...)
}

// unique replaces the engine's word for a clash of unique keys.
func unique(err, taken error) error {
	if taken != nil && errors.Is(err, ErrUnique) {
		return taken
	}
	return err
}

// fromJSON reads a column that holds JSON.
func fromJSON(row Row, col int, into any) error {
	if err := json.Unmarshal([]byte(row.ColumnText(col)), into); err != nil {
		return fmt.Errorf("%s %d: %w", row.ColumnName(col), row.ColumnInt64(0), err)
	}
	return nil
}

// asJSON encodes for fromJSON: texts and numbers alone, which always can be
// written.
func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// blob returns b for a column that is never NULL.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func columnTime(row Row, col int) rimewatch.Time { return rimewatch.Time(row.ColumnInt64(col)) }

func columnBlob(row Row, col int) []byte {
	n := row.ColumnLen(col)
	if n == 0 {
		return nil
	}
	b := make([]byte, n)
	row.ColumnBytes(col, b)
	return b
}

// setMeta keeps one of the numbers that concern the whole store.
func setMeta(conn Conn, key string, v int64) error {
	return conn.Later(nil, "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, v)
}

// raiseMeta is setMeta that never makes a number smaller.
func raiseMeta(conn Conn, key string, v int64) error {
	return conn.Later(nil, "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE meta.value < excluded.value", key, v)
}

func meta(conn Conn, key string) (int64, error) {
	return queryInt(conn, "SELECT value FROM meta WHERE key = ?", key)
}
