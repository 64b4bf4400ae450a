package postgres

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// The schema of version 10 as its program made it. It never changes.
//
//go:embed testdata/schema10.sql
var schema10 string

// catalogue lists everything that a schema consists of, a line each.
const catalogue = `SELECT line FROM (
	SELECT format('column %s.%s %s %s %s default %s', table_name, ordinal_position, column_name, data_type, is_nullable, column_default) AS line
		FROM information_schema.columns WHERE table_schema = current_schema()
	UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = current_schema()
	UNION ALL SELECT format('constraint %s on %s %s', conname, conrelid::regclass, pg_get_constraintdef(oid)) FROM pg_constraint WHERE connamespace = current_schema()::regnamespace
	UNION ALL SELECT format('trigger %s', pg_get_triggerdef(t.oid)) FROM pg_trigger t JOIN pg_class r ON r.oid = tgrelid WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace
	UNION ALL SELECT format('function %s %s', proname, prosrc) FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
	UNION ALL SELECT format('options %s %s', relname, reloptions) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND reloptions IS NOT NULL
	UNION ALL SELECT format('storage %s.%s %s', r.relname, attname, attstorage) FROM pg_attribute a JOIN pg_class r ON r.oid = attrelid WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND attnum > 0
) lines ORDER BY line`

func connected(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func lines(t *testing.T, url, query string) (list []string) {
	t.Helper()
	rows, err := connected(t, url).Query(t.Context(), query)
	if err == nil {
		list, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// version10 is a database of version 10 with a workspace in it.
func version10(t *testing.T) string {
	t.Helper()
	url := server.Database(t)
	c := connected(t, url)
	for _, sql := range []string{
		"DROP SCHEMA public CASCADE", "CREATE SCHEMA public", schema10,
		"INSERT INTO rimewatch VALUES (TRUE, 10)", "INSERT INTO shard (id, node, stream, open) VALUES (0, '', 0, FALSE)", "INSERT INTO turn VALUES (-1), (0)",
		"INSERT INTO workspace (name, name_key, on_unknown, raw_days, rollup_days, created_at, updated_at) VALUES ('Shop', 'shop', 'hold', 396, 1096, 1, 1)",
	} {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatal(sql[:min(len(sql), 60)], err)
		}
	}
	return url
}

// A database of an older version is brought up to date where it is: its tables are
// those of a fresh one, and what was in them stays.
func TestUpgradeInPlace(t *testing.T) {
	url := version10(t)
	ready(t, openAt(t, Config{URL: url}))
	if diff := cmp.Diff(lines(t, server.Database(t), catalogue), lines(t, url, catalogue)); diff != "" {
		t.Errorf("not as in a fresh database:\n%s", diff)
	}
	if got := lines(t, url, "SELECT name || ' ' || version FROM workspace, rimewatch"); !slices.Equal(got, []string{fmt.Sprint("Shop ", store.SchemaVersion)}) {
		t.Errorf("%q", got)
	}
}

// steps are a history in which two versions followed.
func steps(beside bool, rewrite error) *tables.History {
	return &tables.History{Version: store.SchemaVersion + 2, Upgrades: []tables.Upgrade{
		{From: store.SchemaVersion, Beside: beside, SQL: "ALTER TABLE workspace ADD COLUMN motto TEXT NOT NULL DEFAULT '?'"},
		{
			From: store.SchemaVersion + 1, Beside: beside, SQL: "CREATE TABLE visit (id INTEGER PRIMARY KEY AUTOINCREMENT, photo BLOB) STRICT",
			PostgreSQL: "ALTER TABLE visit SET (fillfactor = 70)",
			Rewrite: func(c tables.Conn) error {
				if err := c.Later(nil, "UPDATE workspace SET motto = name || ?", "!"); err != nil {
					return err
				}
				return rewrite
			},
		},
	}}
}

// Of several nodes one takes the steps, once; while a server of the version before is
// heard of, only steps that it may go on beside are taken.
func TestUpgradeOnce(t *testing.T) {
	url := server.Database(t)
	old := ready(t, openAt(t, Config{URL: url}))
	shop := newShop(t, old)
	if _, err := Connect(t.Context(), Config{URL: url, history: steps(false, nil), gone: time.Hour}); err == nil || !strings.Contains(err.Error(), "stop all servers of that version") {
		t.Fatalf("while a server serves: %v", err)
	}
	if err := shop.commit(); err != nil {
		t.Fatalf("the server of before: %v", err)
	}
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			db, err := Connect(t.Context(), Config{URL: url, history: steps(true, nil), Logger: logger})
			if err != nil {
				t.Error(err)
				return
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := strings.Count(log.String(), "brought up to date"); n != 1 {
		t.Errorf("taken %d times:\n%s", n, log.String())
	}
	if got := lines(t, url, "SELECT motto FROM workspace"); len(got) != 1 || !strings.HasSuffix(got[0], "!") {
		t.Errorf("%q", got)
	}
	if got := lines(t, url, "SELECT reloptions::text FROM pg_class WHERE relname = 'visit'"); !slices.Equal(got, []string{"{fillfactor=70}"}) {
		t.Errorf("%q", got)
	}
	if err := shop.commit(); err != nil {
		t.Errorf("the server of before, beside it: %v", err)
	}
}

// A step that fails leaves the database as it was; commands beside a server change no
// schema; and a server that is silent writes nothing after a step.
func TestUpgradeRefuses(t *testing.T) {
	url := server.Database(t)
	old := ready(t, openAt(t, Config{URL: url, patience: time.Second}))
	shop := newShop(t, old)
	before := lines(t, url, catalogue)
	odd := errors.New("row 7 is odd")
	if _, err := Connect(t.Context(), Config{URL: url, history: steps(true, odd)}); !errors.Is(err, odd) {
		t.Errorf("a step that fails: %v", err)
	}
	if _, err := Open(t.Context(), Config{URL: url, history: steps(true, nil), ControlOnly: true}); !errors.Is(err, store.ErrOlder) {
		t.Errorf("a command: %v", err)
	}
	if diff := cmp.Diff(before, lines(t, url, catalogue)); diff != "" {
		t.Errorf("changed:\n%s", diff)
	}
	db, err := Connect(t.Context(), Config{URL: url, history: steps(false, nil), gone: time.Nanosecond}) // to it, nobody is heard of
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if err := shop.commit(); err == nil {
		t.Error("a server of the version before wrote after the step")
	}
}
