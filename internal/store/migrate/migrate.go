// Package migrate brings a store from one engine to another and proves that both
// hold the same. Rows are copied as they are: ids, times, tokens, the log, the
// bytes of chunks and the numbers that ids are counted from, so that cursors and
// the order of events stay what they were. Only where a chunk lies is the engine's
// own.
//
// A slice of rows and the position after it are written in one transaction: a copy
// that broke off goes on from there. What was copied is compared with the source,
// and only then the target is marked as a store; before, no server opens it.
package migrate

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// Side is a store, or what is to become one. Nobody else uses it meanwhile.
type Side interface {
	// Place names it to the operator.
	Place() string
	// Rows calls yield for the next rows of a table after a key, in the order of
	// keys (tables.Table.Rows). What yield is given is its own.
	Rows(ctx context.Context, t *tables.Table, after []int64, yield func(row []any, key []int64) error) error
	// Counters returns the greatest id that each Counted table ever gave out.
	Counters(ctx context.Context) (map[string]int64, error)
	// ReadTables lends a connection.
	ReadTables(ctx context.Context, f func(tables.Conn) error) error
}

// Target is a Side that is written.
type Target interface {
	Side
	// Position is what the last Append was given, "" before the first.
	Position(ctx context.Context) (string, error)
	// Append writes rows of a table and a position in one transaction.
	Append(ctx context.Context, t *tables.Table, rows [][]any, position string) error
	// Finish makes it a store.
	Finish(ctx context.Context, counters map[string]int64) error
}

// Progress hears of every slice: rows of a table so far, of about all.
type Progress func(what, table string, rows, all int64)

// position is where a copy stands: everything before a table, and of it the rows
// up to a key.
type position struct {
	Table int     `json:"table"` // its place in the catalogue
	After []int64 `json:"after"`
	Rows  int64   `json:"rows"` // of the table
}

// Copy copies everything, from where an earlier call broke off, compares, and
// makes the target a store.
func Copy(ctx context.Context, from Side, to Target, progress Progress) (Report, error) {
	text, err := to.Position(ctx)
	if err != nil {
		return Report{}, err
	}
	var at position
	if text != "" {
		if err := json.Unmarshal([]byte(text), &at); err != nil {
			return Report{}, fmt.Errorf("the position of the copy: %w", err)
		}
	}
	catalog := tables.Catalog()
	for i := at.Table; i < len(catalog); i++ {
		if i != at.Table {
			at = position{Table: i}
		}
		if err := copyTable(ctx, from, to, &catalog[i], &at, progress); err != nil {
			return Report{}, fmt.Errorf("copy %s: %w", catalog[i].Name, err)
		}
	}
	var report Report
	if err := report.compareRows(ctx, from, to, progress); err != nil {
		return report, err
	}
	counters, err := from.Counters(ctx)
	if err != nil {
		return report, err
	}
	return report, to.Finish(ctx, counters)
}

func copyTable(ctx context.Context, from Side, to Target, t *tables.Table, at *position, progress Progress) error {
	all, err := count(ctx, from, t)
	if err != nil {
		return err
	}
	for {
		var rows [][]any
		var last []int64
		err := from.Rows(ctx, t, at.After, func(row []any, key []int64) error {
			rows, last = append(rows, row), key
			return nil
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		next := position{Table: at.Table, After: last, Rows: at.Rows + int64(len(rows))}
		if last == nil { // all of it at once
			next = position{Table: at.Table + 1}
		}
		text, err := json.Marshal(next)
		if err != nil {
			return err
		}
		if err := to.Append(ctx, t, rows, string(text)); err != nil {
			return err
		}
		progress("copied", t.Name, at.Rows+int64(len(rows)), all)
		if *at = next; last == nil {
			return nil
		}
	}
}

func count(ctx context.Context, s Side, t *tables.Table) (n int64, err error) {
	err = s.ReadTables(ctx, func(conn tables.Conn) error {
		return conn.Query(func(row tables.Row) error { n = row.ColumnInt64(0); return nil }, "SELECT count(*) FROM "+t.Name)
	})
	return n, err
}
