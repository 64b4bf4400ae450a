package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/migrate"
	"github.com/rimewatch/rimewatch/internal/store/postgres"
	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
	"github.com/rimewatch/rimewatch/internal/store/tables"
	"github.com/rimewatch/rimewatch/internal/trial"
)

var server pgtest.Shared

func TestMain(m *testing.M) { os.Exit(server.Main(m)) }

func silent(string, string, int64, int64) {}

// closing closes one side of a copy.
func closing(t *testing.T, c interface{ Close() error }) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// toDatabase copies a file into a database and returns its URL. interrupt may
// wrap the target.
func toDatabase(t *testing.T, path, url string, interrupt func(migrate.Target) migrate.Target) error {
	t.Helper()
	file, err := sqlite.OpenSource(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, file)
	database, err := postgres.OpenTarget(t.Context(), url, path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, database)
	_, err = migrate.Copy(t.Context(), file, interrupt(database), silent)
	return err
}

// toFile copies a database into a file.
func toFile(t *testing.T, url, path string, interrupt func(migrate.Target) migrate.Target) error {
	t.Helper()
	database, err := postgres.OpenSource(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, database)
	file, err := sqlite.OpenTarget(t.Context(), path, url)
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, file)
	_, err = migrate.Copy(t.Context(), database, interrupt(file), silent)
	return err
}

func whole(to migrate.Target) migrate.Target { return to }

var errKilled = errors.New("killed")

// mortal is a target that dies before or after one of its transactions.
type mortal struct {
	migrate.Target
	left  int
	after bool
}

func (m *mortal) dies() bool { m.left--; return m.left < 0 }

func (m *mortal) Append(ctx context.Context, t *tables.Table, rows [][]any, position string) error {
	dies := m.dies()
	if dies && !m.after {
		return errKilled
	}
	err := m.Target.Append(ctx, t, rows, position)
	if dies {
		return errKilled
	}
	return err
}

func (m *mortal) Finish(ctx context.Context, counters map[string]int64) error {
	if m.dies() {
		return errKilled
	}
	return m.Target.Finish(ctx, counters)
}

// untilDone runs a copy that dies at random points until it ends.
func untilDone(t *testing.T, rnd *rand.Rand, run func(func(migrate.Target) migrate.Target) error) {
	t.Helper()
	for deaths := 0; ; deaths++ {
		err := run(func(to migrate.Target) migrate.Target {
			return &mortal{to, 1 + rnd.IntN(60), rnd.IntN(2) == 0}
		})
		if err == nil && deaths == 0 {
			t.Fatal("the copy never died")
		}
		if err == nil {
			return
		}
		if !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
	}
}

// perTable is how many rows every table of a random store has: some slices.
const perTable = tables.Slice + 17

// randomRows fills a table: numbers in its key count from 1, and so do references.
func randomRows(rnd *rand.Rand, t *tables.Table) (rows [][]any) {
	text := func() string {
		return fmt.Sprintf("%x %s", rnd.Uint64(), string([]rune("aé漢🧊\n'\\\t\"")[:rnd.IntN(9)]))
	}
	for i := range perTable {
		row := make([]any, len(t.Columns))
		for c := range row {
			switch col := t.Columns[c]; {
			case col.Name == "young" || col.Name == "shard":
				row[c] = int64(i % 2)
			case slices.Contains(t.Key, c) && col.Kind == "INTEGER", strings.HasSuffix(col.Name, "workspace_id"), col.Name == "user_id", col.Name == "source_id":
				row[c] = int64(i + 1)
			case col.Kind == "INTEGER":
				row[c] = int64(rnd.Uint64() >> 1)
			case col.Kind == "REAL":
				row[c] = rnd.NormFloat64()
			case col.Kind == "TEXT":
				row[c] = text()
			case strings.HasSuffix(col.Name, "hash"): // unique
				row[c] = []byte(text())
			default:
				row[c] = []byte(strings.Repeat(text(), rnd.IntN(50)))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// randomFile makes a store of random rows, and returns them.
func randomFile(t *testing.T, rnd *rand.Rand, path string) map[string][][]any {
	t.Helper()
	file, err := sqlite.OpenTarget(t.Context(), path, "nowhere")
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, file)
	all, counters := make(map[string][][]any), make(map[string]int64)
	for _, table := range tables.Catalog() {
		all[table.Name] = randomRows(rnd, &table)
		if err := file.Append(t.Context(), &table, all[table.Name], ""); err != nil {
			t.Fatal(err)
		}
		if table.Counted {
			counters[table.Name] = perTable + rnd.Int64N(1000) // some were deleted
		}
	}
	if err := file.Finish(t.Context(), counters); err != nil {
		t.Fatal(err)
	}
	return all
}

// A store with rows in every table comes back as it was, through copies that die
// at random points.
func TestThereAndBack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(14, 1))
	dir, url := t.TempDir(), server.Database(t)
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	want := randomFile(t, rnd, first)
	untilDone(t, rnd, func(dying func(migrate.Target) migrate.Target) error { return toDatabase(t, first, url, dying) })
	untilDone(t, rnd, func(dying func(migrate.Target) migrate.Target) error { return toFile(t, url, second, dying) })

	a, err := sqlite.OpenSource(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, a)
	b, err := sqlite.OpenSource(t.Context(), second)
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, b)
	if _, err := migrate.Compare(t.Context(), a, b, silent); err != nil {
		t.Fatal(err)
	}
	for _, table := range tables.Catalog() {
		var got [][]any
		for after, more := []int64(nil), true; more; {
			more = false
			err := b.Rows(t.Context(), &table, after, func(row []any, key []int64) error {
				got, after, more = append(got, row), key, table.Sliced()
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(got) != perTable || !reflect.DeepEqual(byText(got), byText(want[table.Name])) {
			t.Errorf("%s: %d rows came back, not the %d that were sent", table.Name, len(got), perTable)
		}
	}
}

// byText returns rows under their text, the same for all orders.
func byText(rows [][]any) map[string][]any {
	m := make(map[string][]any, len(rows))
	for _, row := range rows {
		m[fmt.Sprintf("%q", row)] = row
	}
	return m
}

// The stores' own suite, with a move to the other engine wherever it opens a store
// again: whatever it asks is answered as before. From PostgreSQL back only in a long run, TestThereAndBack does always.
func TestMoved(t *testing.T) {
	open := func(t *testing.T, path string) *sqlite.Store {
		t.Helper()
		s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	places := make(map[store.Store]string)
	storetest.Reopened(t, storetest.Engine{
		Open: func(t *testing.T) store.Store {
			path := filepath.Join(t.TempDir(), sqlite.FileName)
			s := open(t, path)
			places[s] = path
			if err := s.Recover(t.Context(), 1, func(int, store.Checkpoint) error { return nil }, func(int, *store.Entry) error { return nil }); err != nil {
				t.Fatal(err)
			}
			return s
		},
		Reopen: func(t *testing.T, s store.Store) store.Store {
			closing(t, s)
			from := places[s]
			inDatabase := func(url string) store.Store {
				moved, err := postgres.Open(t.Context(), postgres.Config{URL: url})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = moved.Close() })
				places[moved] = url
				return moved
			}
			if _, ok := s.(*sqlite.Store); !ok && !trial.Long() {
				return inDatabase(from)
			} else if !ok {
				path := filepath.Join(t.TempDir(), sqlite.FileName)
				if err := toFile(t, from, path, whole); err != nil {
					t.Fatal(err)
				}
				s := open(t, path)
				places[s] = path
				return s
			}
			url := server.Database(t)
			if err := toDatabase(t, from, url, whole); err != nil {
				t.Fatal(err)
			}
			return inDatabase(url)
		},
		Settle: func(t *testing.T, s store.Store) {
			if err := s.(interface{ Rest(context.Context) error }).Rest(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
	})
}

func execute(t *testing.T, url, statement string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	if _, err := c.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// TestCompare: whatever is not the same is named.
func TestCompare(t *testing.T) {
	path, url := filepath.Join(t.TempDir(), "file"), server.Database(t)
	randomFile(t, rand.New(rand.NewPCG(14, 2)), path)
	if err := toDatabase(t, path, url, whole); err != nil {
		t.Fatal(err)
	}
	compare := func() (migrate.Report, error) {
		file, err := sqlite.OpenSource(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer closing(t, file)
		database, err := postgres.OpenSource(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer closing(t, database)
		return migrate.Compare(t.Context(), file, database, silent)
	}
	r, err := compare()
	if err != nil || len(r.Differences) > 0 {
		t.Fatalf("%v, %q", err, r.Differences)
	}
	// Random bytes bear no sums, and random entries are no chain: all of it is named.
	if all := strings.Join(r.Damage, "\n"); !strings.Contains(all, "commit_log: ") && !strings.Contains(all, "checkpoint: ") || r.Entries != perTable {
		t.Errorf("damage %q, %d entries", r.Damage, r.Entries)
	}
	for _, c := range []struct{ statement, difference string }{
		{"UPDATE token SET hash = 'x' WHERE id = 7", "token has 517 rows in both, but not the same ones"},
		{"DELETE FROM commit_log WHERE seq = 9", "commit_log has 517 rows in one and 516 in the other"},
		{"UPDATE reading_chunk SET data = data || 'x' WHERE id = 3", "reading_chunk has 517 rows in both"},
		{"UPDATE reading_chunk SET n = n + 1 WHERE id = 4", "device "},
		{"SELECT setval('device_id_seq', 1000000)", "the ids of device have come to"},
	} {
		execute(t, url, c.statement)
		r, err := compare()
		var different *migrate.DifferentError
		if !errors.As(err, &different) || !slices.ContainsFunc(r.Differences, func(d string) bool { return strings.HasPrefix(d, c.difference) }) {
			t.Errorf("after %s: %v, %q", c.statement, err, r.Differences)
		}
	}
}

// heard has whoever serves a database count as heard of for an hour from each beat:
// on a busy machine there is none for seconds.
func heard(t *testing.T, url string) {
	t.Helper()
	execute(t, url, `CREATE FUNCTION ahead() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.beat := NEW.beat + 3600000; RETURN NEW; END';
		CREATE TRIGGER ahead BEFORE INSERT OR UPDATE ON node FOR EACH ROW EXECUTE FUNCTION ahead();
		UPDATE node SET beat = beat`)
}

// TestRefused: what cannot be read or written to is left as it is.
func TestRefused(t *testing.T) {
	dir, url := t.TempDir(), server.Database(t)
	path := filepath.Join(dir, "file")
	refused := func(what string, err error, part string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, want %q", what, err, part)
		}
	}
	_, err := postgres.OpenSource(t.Context(), url)
	refused("a database without a store", err, "there is no store")
	s, err := postgres.Open(t.Context(), postgres.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	heard(t, url)
	_, err = postgres.OpenSource(t.Context(), url)
	refused("a database that is served", err, "another server uses the database")
	closing(t, s)
	_, err = postgres.OpenTarget(t.Context(), url, path, true)
	refused("a database that holds a store", err, "holds a store already")
	execute(t, url, "UPDATE rimewatch SET version = version + 1")
	_, err = postgres.OpenSource(t.Context(), url)
	refused("a database of another version", err, "newer version")

	randomFile(t, rand.New(rand.NewPCG(14, 3)), path)
	unfinished := server.Database(t)
	err = toDatabase(t, path, unfinished, func(to migrate.Target) migrate.Target { return &mortal{to, 5, true} })
	refused("a copy that died", err, errKilled.Error())
	_, err = postgres.Open(t.Context(), postgres.Config{URL: unfinished})
	refused("serving an unfinished copy", err, "run rimewatch migrate again")
	_, err = postgres.OpenTarget(t.Context(), unfinished, "another", false)
	refused("an unfinished copy of another store", err, "unfinished copy of "+path)
	again, err := postgres.OpenTarget(t.Context(), unfinished, "another", true)
	if err != nil {
		t.Fatal(err)
	}
	if position, err := again.Position(t.Context()); err != nil || position != "" {
		t.Errorf("a copy that starts over stands at %q, %v", position, err)
	}
	heard(t, unfinished)
	_, err = postgres.OpenTarget(t.Context(), unfinished, "another", false)
	refused("a second copy at once", err, "another server uses the database")
	closing(t, again)

	half := filepath.Join(dir, "half")
	c, err := sqlite.OpenTarget(t.Context(), half, "here")
	if err != nil {
		t.Fatal(err)
	}
	closing(t, c)
	_, err = sqlite.OpenTarget(t.Context(), half, "there")
	refused("a file of another copy", err, "unfinished copy of here")
	_, err = sqlite.OpenSource(t.Context(), half)
	refused("an unfinished file", err, "not a Rimewatch store")
}

// A source that changes between two parts of a copy is found out.
func TestChangedSource(t *testing.T) {
	path, url := filepath.Join(t.TempDir(), "file"), server.Database(t)
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, ControlOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.MarkAlive(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	err = toDatabase(t, path, url, func(to migrate.Target) migrate.Target { return &mortal{to, 1, true} })
	if err != nil && !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	if err := s.MarkAlive(t.Context(), 6); err != nil {
		t.Fatal(err)
	}
	closing(t, s)
	err = toDatabase(t, path, url, whole)
	var different *migrate.DifferentError
	if !errors.As(err, &different) {
		t.Fatalf("a copy of two moments: %v", err)
	}
	if _, err := postgres.Open(t.Context(), postgres.Config{URL: url}); err == nil {
		t.Fatal("it can be served")
	}
}
