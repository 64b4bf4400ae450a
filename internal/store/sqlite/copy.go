package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/core"
	"github.com/rimewatch/rimewatch/internal/store/tables"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Copy is a store's file that is read or written row by row (package migrate).
// It must not be used otherwise meanwhile.
type Copy struct {
	path string
	conn *sqlite.Conn
}

// OpenSource opens a store to be read. One of another version is refused.
func OpenSource(ctx context.Context, path string) (*Copy, error) {
	c, err := openCopy(ctx, path)
	if err != nil {
		return nil, err
	}
	fresh, err := examine(c.conn)
	if err == nil && fresh {
		err = ErrNotAStore
	}
	if err == nil {
		err = prepareReader(c.conn)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", path, err), c.Close())
	}
	return c, nil
}

func openCopy(ctx context.Context, path string) (*Copy, error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	conn.SetInterrupt(ctx.Done())
	return &Copy{path, conn}, nil
}

// copying is the table of a file that is not whole yet: where the copy stands.
const copying = `CREATE TABLE migration (
	source TEXT NOT NULL,
	position TEXT NOT NULL
) STRICT;`

// OpenTarget opens the file of an unfinished copy from source, or makes one. It is
// no store before Finish.
func OpenTarget(ctx context.Context, path, source string) (_ *Copy, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // it holds secrets
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	c, err := openCopy(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("open %s: %w", path, err), c.Close())
		}
	}()
	if err := prepareWriter(c.conn); err != nil {
		return nil, err
	}
	made, err := queryInt(c.conn, "SELECT count(*) FROM sqlite_schema")
	if err == nil && made == 0 {
		err = c.create(source)
	}
	if err != nil {
		return nil, err
	}
	begun, err := c.text("source")
	if err == nil && begun != source {
		err = fmt.Errorf("it is an unfinished copy of %s", begun)
	}
	return c, err
}

func (c *Copy) create(source string) (err error) {
	end, err := sqlitex.ImmediateTransaction(c.conn)
	if err != nil {
		return err
	}
	defer end(&err)
	if err := sqlitex.ExecuteScript(c.conn, tables.Schema+ownTables+copying, nil); err != nil {
		return err
	}
	return c.exec("INSERT INTO migration VALUES (?, '')", source)
}

func (c *Copy) exec(statement string, args ...any) error {
	return sqlitex.Execute(c.conn, statement, &sqlitex.ExecOptions{Args: args})
}

func (c *Copy) text(column string) (v string, err error) {
	err = sqlitex.Execute(c.conn, "SELECT "+column+" FROM migration", &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sqlite.Stmt) error { v = stmt.ColumnText(0); return nil },
	})
	return v, err
}

// Close closes the file.
func (c *Copy) Close() error {
	c.conn.SetInterrupt(nil)
	return c.conn.Close()
}

// Place names the store to the operator.
func (c *Copy) Place() string { return c.path }

// Position returns the argument of the last Append, "" before the first.
func (c *Copy) Position(context.Context) (string, error) { return c.text("position") }

// ReadTables lends the connection.
func (c *Copy) ReadTables(_ context.Context, f func(tables.Conn) error) error {
	return asDamaged(f(conn{Conn: c.conn}))
}

// Rows reads a slice of a table (tables.Table.Rows). Segments are put together
// again: a chunk whose segments are damaged comes with what is left of it.
func (c *Copy) Rows(ctx context.Context, t *tables.Table, after []int64, yield func(row []any, key []int64) error) error {
	var columns, key string
	switch t.Name {
	case "reading_chunk":
		columns, key = spanColumns+", device_id, summary", "device_id, to_at, young, segment"
		if after == nil {
			after = []int64{-1, 0, 0, 0}
		}
	case "damaged_chunk":
		columns, key = asideColumns+", found_at", "young, segment"
		if after == nil {
			after = []int64{-1, 0}
		}
	default:
		return c.ReadTables(ctx, func(conn tables.Conn) error { return t.Rows(conn, after, yield) })
	}
	args := make([]any, len(after))
	marks := ""
	for i, v := range after {
		args[i] = v
		marks += ", ?"
	}
	query := fmt.Sprintf("SELECT %s FROM %s WHERE (%s) > (%s) ORDER BY %s LIMIT %d", columns, t.Name, key, marks[2:], key, tables.Slice)
	err := sqlitex.Execute(c.conn, query, &sqlitex.ExecOptions{Args: args, ResultFunc: func(stmt *sqlite.Stmt) error {
		sp, device := scanSpan(stmt), stmt.ColumnInt64(6)
		data, err := chunks{c.conn}.Data(sp)
		if err != nil && !errors.Is(err, core.ErrDamaged) {
			return err
		}
		young := int64(0)
		if sp.Young {
			young = 1
		}
		row := []any{device, int64(sp.To), int64(sp.From), int64(sp.N), young}
		if t.Name == "damaged_chunk" {
			return yield(append(row, stmt.ColumnInt64(8), stmt.ColumnText(7), data), []int64{young, sp.ID})
		}
		return yield(append(row, core.Column(stmt, 7, []byte{}), data), []int64{device, int64(sp.To), young, sp.ID})
	}})
	return asDamaged(err)
}

// Append writes rows of a table and the position that they bring the copy to, in
// one transaction.
func (c *Copy) Append(_ context.Context, t *tables.Table, rows [][]any, position string) (err error) {
	end, err := sqlitex.ImmediateTransaction(c.conn)
	if err != nil {
		return err
	}
	defer end(&err)
	for _, row := range rows {
		if err := c.insert(t, row); err != nil {
			return fmt.Errorf("write %s: %w", t.Name, err)
		}
	}
	return c.exec("UPDATE migration SET position = ?", position)
}

func (c *Copy) insert(t *tables.Table, row []any) error {
	switch t.Name {
	case "reading_chunk":
		return saveChunk(c.conn, row[0].(int64), &core.Chunk{
			To: rimewatch.Time(row[1].(int64)), From: rimewatch.Time(row[2].(int64)), N: int(row[3].(int64)), Young: row[4] != int64(0),
			Summary: row[5].([]byte), Data: row[6].([]byte),
		})
	case "damaged_chunk":
		first, n, err := saveSegments(c.conn, row[4] != int64(0), row[7].([]byte))
		if err != nil {
			return err
		}
		return c.exec("INSERT INTO damaged_chunk (young, segment, segments, device_id, to_at, from_at, n, found_at, why) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			row[4], first, n, row[0], row[1], row[2], row[3], row[5], row[6])
	}
	return c.exec("INSERT INTO "+t.Name+" ("+t.Names()+") VALUES ("+tables.Marks(len(row))+")", row...)
}

// Counters returns the greatest id that each Counted table has given out.
func (c *Copy) Counters(context.Context) (map[string]int64, error) {
	counters := make(map[string]int64)
	err := sqlitex.Execute(c.conn, "SELECT name, seq FROM sqlite_sequence WHERE seq > 0", &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sqlite.Stmt) error { counters[stmt.ColumnText(0)] = stmt.ColumnInt64(1); return nil },
	})
	return counters, err
}

// Finish makes the copy a store: the last that is written says so. The file is to
// be given its name afterwards.
func (c *Copy) Finish(_ context.Context, counters map[string]int64) error {
	if err := c.seal(counters); err != nil {
		return err
	}
	return sqlitex.ExecuteTransient(c.conn, "PRAGMA wal_checkpoint(TRUNCATE)", nil)
}

func (c *Copy) seal(counters map[string]int64) (err error) {
	end, err := sqlitex.ImmediateTransaction(c.conn)
	if err != nil {
		return err
	}
	defer end(&err)
	if err := c.exec("DELETE FROM sqlite_sequence"); err != nil {
		return err
	}
	for name, n := range counters {
		if err := c.exec("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", name, n); err != nil {
			return err
		}
	}
	if err := sqlitex.ExecuteScript(c.conn, triggers+"DROP TABLE migration;", nil); err != nil {
		return err
	}
	return mark(c.conn)
}

// mark makes a file ours and of this version.
func mark(conn *sqlite.Conn) error {
	for _, q := range []string{
		fmt.Sprintf("PRAGMA application_id = %d", applicationID),
		fmt.Sprintf("PRAGMA user_version = %d", store.SchemaVersion),
	} {
		if err := sqlitex.ExecuteTransient(conn, q, nil); err != nil {
			return err
		}
	}
	return nil
}
