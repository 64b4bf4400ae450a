package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// Copy is a store in PostgreSQL that is read or written row by row (package
// migrate).
type Copy struct {
	disk  *disk
	place string
}

// OpenSource opens a store to be read and keeps servers out of it until Close.
// One that a server uses, or of another version, is refused.
func OpenSource(ctx context.Context, url string) (*Copy, error) {
	return openCopy(ctx, url, func(c *pgx.Conn) error {
		fresh, err := examine(ctx, c, store.SchemaVersion)
		if err == nil && fresh {
			err = errors.New("there is no store in this database")
		}
		return err
	})
}

// OpenTarget opens a database that has no table, or an unfinished copy from
// source. It is no store before Finish. With again, what an unfinished copy has
// brought there is thrown away.
func OpenTarget(ctx context.Context, url, source string, again bool) (*Copy, error) {
	return openCopy(ctx, url, func(c *pgx.Conn) error { return prepareTarget(ctx, c, source, again) })
}

func openCopy(ctx context.Context, url string, prepare func(*pgx.Conn) error) (*Copy, error) {
	cfg := Config{URL: url, Readers: 2, patience: 10 * time.Minute}
	cfg.defaults()
	c := &Copy{disk: newDisk(cfg)}
	d := c.disk
	err := d.connect(ctx)
	if err == nil {
		conn := d.writes.Config().ConnConfig
		c.place = fmt.Sprintf("%s:%d/%s", conn.Host, conn.Port, conn.Database)
		err = d.with(ctx, d.writes, prepare)
	}
	if err == nil {
		err = d.with(ctx, d.writes, d.countShards)
	}
	if err == nil && d.of > 1 {
		err = fmt.Errorf("the database is divided into %d shards: bring it back to one with rimewatch cluster divide --shards 1", d.of)
	}
	if err == nil {
		err = d.claim(ctx)
	}
	if err != nil {
		_ = d.close()
		return nil, fmt.Errorf("open store: %w", explain(err))
	}
	d.workers.Go(d.beat)
	return c, nil
}

// prepareTarget makes the schema, all but the mark that says that it is whole.
func prepareTarget(ctx context.Context, c *pgx.Conn, source string, again bool) error {
	fresh, err := examine(ctx, c, store.SchemaVersion)
	unfinished := errors.Is(err, ErrUnfinished)
	switch {
	case !unfinished && err != nil:
		return err
	case !unfinished && !fresh:
		return errors.New("the database holds a store already: compare it with --check, or give the copy a database of its own")
	case unfinished && !again:
		begun := ""
		if err := c.QueryRow(ctx, "SELECT source FROM migration").Scan(&begun); err != nil {
			return err
		}
		if begun != source {
			return fmt.Errorf("the database holds an unfinished copy of %s: --again throws it away", begun)
		}
		return nil
	}
	tx, err := c.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if unfinished {
		if err := dropAll(ctx, tx); err != nil {
			return err
		}
	}
	for _, statement := range []string{
		schema, "ALTER TABLE delivery DISABLE TRIGGER USER", // its counts are copied
		"CREATE TABLE migration (source TEXT NOT NULL, position TEXT NOT NULL)",
	} {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	if err := divide(ctx, tx, 1); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "INSERT INTO migration VALUES ($1, '')", source); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// dropAll takes everything of ours out of the schema again.
func dropAll(ctx context.Context, tx pgx.Tx) error {
	var names []string
	for line := range strings.Lines(schema) {
		if words := strings.Fields(line); strings.HasPrefix(line, "CREATE TABLE ") {
			names = append(names, words[2])
		}
	}
	_, err := tx.Exec(ctx, "DROP TABLE migration, "+strings.Join(names, ", ")+" CASCADE")
	if err == nil {
		_, err = tx.Exec(ctx, "DROP FUNCTION count_delivery, refuse_change, fence")
	}
	if err == nil {
		_, err = tx.Exec(ctx, "DROP SEQUENCE device_block, alert_block")
	}
	return err
}

// Close lets servers use the store again.
func (c *Copy) Close() error { return c.disk.close() }

// Place names the store to the operator.
func (c *Copy) Place() string { return c.place }

// Position returns the argument of the last Append, "" before the first.
func (c *Copy) Position(ctx context.Context) (v string, err error) {
	err = c.ReadTables(ctx, func(conn tables.Conn) error {
		return conn.Query(func(row tables.Row) error { v = row.ColumnText(0); return nil }, "SELECT position FROM migration")
	})
	return v, err
}

// ReadTables lends a connection.
func (c *Copy) ReadTables(ctx context.Context, f func(tables.Conn) error) error {
	return c.disk.ReadLong(ctx, f)
}

// Rows reads a slice of a table (tables.Table.Rows). Those of chunks have keys of
// their own, and are as young as they are.
func (c *Copy) Rows(ctx context.Context, t *tables.Table, after []int64, yield func(row []any, key []int64) error) error {
	query := ""
	switch t.Name {
	case "reading_chunk":
		query = "SELECT " + t.Names() + ", id FROM reading_chunk WHERE (device_id, to_at, id) > (?, ?, ?) ORDER BY device_id, to_at, id LIMIT ?"
		if after == nil {
			after = []int64{-1, 0, 0}
		}
	case "damaged_chunk":
		query = "SELECT " + t.Names() + ", id FROM damaged_chunk WHERE id > ? ORDER BY id LIMIT ?"
		if after == nil {
			after = []int64{-1}
		}
	default:
		return c.ReadTables(ctx, func(conn tables.Conn) error { return t.Rows(conn, after, yield) })
	}
	args := make([]any, len(after), len(after)+1)
	for i, v := range after {
		args[i] = v
	}
	return c.ReadTables(ctx, func(conn tables.Conn) error {
		return conn.Query(func(row tables.Row) error {
			id := row.ColumnInt64(len(t.Columns))
			values := tables.Values(row, t.Columns)
			if len(after) == 1 {
				return yield(values, []int64{id})
			}
			return yield(values, []int64{values[0].(int64), values[1].(int64), id})
		}, query, append(args, tables.Slice)...)
	})
}

// Append writes rows of a table and the position that they bring the copy to, in
// one transaction.
func (c *Copy) Append(ctx context.Context, t *tables.Table, rows [][]any, position string) error {
	names := strings.Split(t.Names(), ", ")
	for i := range names {
		if names[i] != "young" {
			continue
		}
		for _, row := range rows {
			row[i] = row[i] != int64(0)
		}
	}
	err := c.disk.transact(ctx, false, func(s *session) error {
		_, err := s.Exec("UPDATE migration SET position = ?", position)
		if err == nil {
			_, err = s.conn.CopyFrom(s.ctx, pgx.Identifier{t.Name}, names, pgx.CopyFromRows(rows))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", t.Name, err)
	}
	return nil
}

// Counters returns the greatest id that each Counted table has given out.
func (c *Copy) Counters(ctx context.Context) (map[string]int64, error) {
	counters := make(map[string]int64)
	err := c.ReadTables(ctx, func(conn tables.Conn) error {
		for _, t := range tables.Catalog() {
			if !t.Counted {
				continue
			}
			err := conn.Query(func(row tables.Row) error {
				if row.ColumnBool(1) {
					counters[t.Name] = row.ColumnInt64(0)
				}
				return nil
			}, "SELECT last_value, is_called FROM "+t.Name+"_id_seq")
			if err != nil {
				return err
			}
		}
		return nil
	})
	return counters, err
}

// Finish makes the copy a store: the last that is written says so.
func (c *Copy) Finish(ctx context.Context, counters map[string]int64) error {
	return c.disk.transact(ctx, false, func(s *session) error {
		for name, n := range counters {
			if err := s.Later(nil, "SELECT setval(?::text::regclass, ?)", name+"_id_seq", n); err != nil {
				return err
			}
		}
		for _, statement := range []string{"DROP TABLE migration", "ALTER TABLE delivery ENABLE TRIGGER USER", "ANALYZE"} {
			if err := s.Later(nil, statement); err != nil {
				return err
			}
		}
		return s.Later(nil, "INSERT INTO rimewatch VALUES (TRUE, ?)", store.SchemaVersion)
	})
}
