package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
)

// shop is a store with a workspace and a device in it.
type shop struct {
	*testing.T
	s                 *Store
	workspace, device int64
	n                 int    // readings that were acknowledged
	mark              string // in what is sent with each, unless empty
}

func newShop(t *testing.T, s *Store) *shop {
	t.Helper()
	w := rimewatch.Workspace{Name: "Shop", TimeZone: "UTC", RawDays: rimewatch.DefaultRawDays, RollupDays: rimewatch.DefaultRollupDays, CreatedAt: 1, UpdatedAt: 1}
	if err := s.CreateWorkspace(t.Context(), &w); err != nil {
		t.Fatal(err)
	}
	op := &store.DeviceOp{WorkspaceID: w.ID, Serial: "A", Create: &rimewatch.Device{ID: s.NewDeviceID(), WorkspaceID: w.ID, Serial: "A", Name: "A", EquipmentType: "walkin_freezer"}}
	if err := storetest.Commit(t.Context(), s, &store.Group{Now: 1, Devices: []*store.DeviceOp{op}}, &store.Effects{}); err != nil || op.Err != nil {
		t.Fatal(err, op.Err)
	}
	return &shop{T: t, s: s, workspace: w.ID, device: op.Device.ID}
}

// commit sends the next reading.
func (x *shop) commit() error {
	at := rimewatch.Time(1_700_000_000_000) + rimewatch.Time(x.n)*rimewatch.Minute
	r := rimewatch.Reading{At: at}
	r.Set(rimewatch.Humidity, 50)
	g := &store.Group{Now: at, Parts: [][]store.Input{{{Kind: store.InputReading, DeviceID: x.device, Reading: r}}}}
	if x.mark != "" {
		g.Parts[0] = append(g.Parts[0], store.Input{Kind: store.InputHeartbeat, DeviceID: x.device, Payload: []byte(x.mark)})
	}
	err := storetest.Commit(x.Context(), x.s, g, &store.Effects{})
	if err == nil {
		x.n++
	}
	return err
}

// history is how many readings can be read.
func (x *shop) history() (n int) {
	x.Helper()
	err := x.s.Readings(x.Context(), store.HistoryQuery{DeviceID: x.device, To: rimewatch.MaxTime, Limit: 1 << 20}, func(*rimewatch.Reading) error { n++; return nil })
	if err != nil {
		x.Fatal(err)
	}
	return n
}

// until waits until something is so: how soon, depends on how busy the machine is.
func until(t *testing.T, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not happen")
		}
	}
}

// TestHardship: while the database takes no writes, each is refused with a code
// that says try again, nothing of it is stored, and reads go on. Afterwards the
// same is accepted once.
func TestHardship(t *testing.T) {
	database, err := pgtest.Start("fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(database.Stop)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	execute := func(statements ...string) func() error {
		return func() (err error) {
			for _, statement := range statements {
				err = errors.Join(err, database.Exec("postgres", statement))
			}
			return err
		}
	}
	must(database.Exec("postgres", "CREATE ROLE service LOGIN; GRANT ALL ON SCHEMA public TO service"))
	u := strings.Replace(database.URL("postgres"), "postgres@", "service@", 1)
	var log bytes.Buffer
	x := newShop(t, ready(t, openAt(t, Config{URL: u, Logger: slog.New(slog.NewTextHandler(&log, nil)), quiet: true})))
	must(x.commit())
	sites := 0 // that were acknowledged
	for _, c := range []struct {
		name       string
		begin, end func() error
		cause      string
	}{
		{
			"the disk is full",
			execute(`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
				CREATE TRIGGER full_disk BEFORE INSERT ON commit_log EXECUTE FUNCTION full_disk(); CREATE TRIGGER full_disk BEFORE INSERT ON site EXECUTE FUNCTION full_disk()`),
			execute("DROP FUNCTION full_disk CASCADE"), "No space left",
		},
		{"privileges are taken away", execute("REVOKE INSERT ON commit_log, site FROM service"), execute("GRANT INSERT ON commit_log, site TO service"), "permission denied"},
		{"read-only", execute("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()"), execute("ALTER SYSTEM RESET default_transaction_read_only", "SELECT pg_reload_conf()"), "read-only"},
	} {
		must(c.begin())
		writes := map[string]func() error{
			"a reading": x.commit,
			"a site": func() error {
				err := x.s.Sites().Create(t.Context(), &rimewatch.Site{WorkspaceID: x.workspace, Name: c.name, TimeZone: "UTC"})
				if err == nil {
					sites++
				}
				return err
			},
		}
		// Settings reach a connection between two statements, some time after they were made.
		until(t, func() bool { return writes["a reading"]() != nil })
		until(t, func() bool { return writes["a site"]() != nil })
		before := x.n
		for what, write := range writes {
			err := write()
			if rimewatch.CodeOf(err) != rimewatch.CodeUnavailable || !strings.Contains(fmt.Sprint(err), c.cause) {
				t.Errorf("%s: %s: %v", c.name, what, err)
			}
		}
		if got := x.history(); got != before || x.n != before {
			t.Errorf("%s: %d readings, want %d", c.name, got, before)
		}
		must(c.end())
		until(t, func() bool { return x.commit() == nil })
		if got := x.history(); got != before+1 {
			t.Errorf("after %s: %d readings, want %d", c.name, got, before+1)
		}
	}
	if list, err := x.s.Sites().List(t.Context(), x.workspace); err != nil || len(list) != sites {
		t.Errorf("sites %v, %d were acknowledged, %v", list, sites, err)
	}
	must(x.s.Close())
	x.s = ready(t, openAt(t, Config{URL: u}))
	if got := x.history(); got != x.n {
		t.Errorf("after a restart: %d readings, %d were acknowledged", got, x.n)
	}
	must(x.s.Close())
	// A user who may not see standbys does not say that there are none.
	must(execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()")())
	for user, want := range map[string]string{u: "cannot be seen", database.URL("postgres"): "no synchronous standby is connected"} {
		var in Inspection
		until(t, func() bool { // the setting is there
			in, err = Inspect(t.Context(), user, false)
			return strings.Contains(fmt.Sprint(in.Warnings), "standby is connected")
		})
		if text := strings.Join(in.Warnings, "\n"); err != nil || !strings.Contains(text, want) || strings.Count(text, "standby is connected") != 1 {
			t.Errorf("%s: %q, %v", user, in.Warnings, err)
		}
	}
}

// A commit whose answer is lost with the primary is neither acknowledged nor
// refused while the server that is left takes no writes; then it is stored once.
func TestDemoted(t *testing.T) {
	database, err := pgtest.Start("fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(database.Stop)
	u, err := url.Parse(database.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := pgtest.NewProxy(t, u.Host)
	u.Host = proxy.Addr()
	waits := make(chan struct{})
	x := newShop(t, ready(t, openAt(t, Config{URL: u.String(), Logger: slog.New(&ear{"25006", sync.OnceFunc(func() { close(waits) })}), quiet: true, patience: 10 * time.Minute})))
	if err := x.commit(); err != nil {
		t.Fatal(err)
	}
	// It is cut off on its way, and nothing comes through before the server is a standby.
	x.mark = "the last before the end"
	proxy.Arm(pgtest.StallRequest, x.mark)
	answer := make(chan error, 1)
	go func() { answer <- x.commit() }()
	until(t, func() bool { return proxy.Cuts() == 1 })
	if err := database.Demote("fsync=off"); err != nil {
		t.Fatal(err)
	}
	proxy.Resume()
	select {
	case <-waits: // it was told that the server is read-only
	case err := <-answer:
		t.Fatalf("the commit ended while the server was a standby: %v", err)
	}
	if err := database.Promote(); err != nil {
		t.Fatal(err)
	}
	if err := <-answer; err != nil {
		t.Fatal(err)
	}
	if st, err := x.s.Stats(t.Context()); err != nil || st.StoredReadings != 2 || x.n != 2 {
		t.Errorf("%d readings, %d acknowledged, %v", st.StoredReadings, x.n, err)
	}
}

// ear is a log that waits for a word.
type ear struct {
	word  string
	heard func()
}

func (e *ear) Enabled(context.Context, slog.Level) bool { return true }
func (e *ear) WithAttrs([]slog.Attr) slog.Handler       { return e }
func (e *ear) WithGroup(string) slog.Handler            { return e }

func (e *ear) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if strings.Contains(a.Value.String(), e.word) {
			e.heard()
		}
		return true
	})
	return nil
}

// A server whose settings acknowledge what is not synced does not do so to us.
func TestSynchronousCommit(t *testing.T) {
	settings := []string{"synchronous_commit=off", "wal_writer_delay=10s"}
	database, err := pgtest.Start(settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(database.Stop)
	var log bytes.Buffer
	s, err := Open(t.Context(), Config{URL: database.URL("postgres"), Logger: slog.New(slog.NewTextHandler(&log, nil)), quiet: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // its stream was taken over
	x := newShop(t, ready(t, s))
	for range 20 {
		if err := x.commit(); err != nil {
			t.Fatal(err)
		}
	}
	database.Kill()
	if err := database.Restart(settings...); err != nil {
		t.Fatal(err)
	}
	x.s = openAt(t, Config{URL: database.URL("postgres"), takeOver: true})
	ready(t, x.s)
	if got := x.history(); got != x.n {
		t.Errorf("%d of %d acknowledged readings are left", got, x.n)
	}
	if n := strings.Count(log.String(), "synchronous_commit is off"); n != 1 {
		t.Errorf("it was said %d times:\n%s", n, log.String())
	}
	c, err := pgx.Connect(t.Context(), database.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	plain := ""
	if err := c.QueryRow(t.Context(), "SHOW synchronous_commit").Scan(&plain); err != nil || plain != "off" {
		t.Errorf("the server has synchronous_commit %s, %v", plain, err)
	}
}

// TestUndecided: a commit whose answer was lost before another server took the store is
// acknowledged where the log holds it, and is said not to have been stored only where
// the log proves that.
func TestUndecided(t *testing.T) {
	x := newShop(t, ready(t, openAt(t, Config{URL: server.Database(t), quiet: true})))
	for range 2 {
		if err := x.commit(); err != nil {
			t.Fatal(err)
		}
	}
	taker := openAt(t, Config{URL: x.s.disk.cfg.URL, takeOver: true})
	var seq store.Seq
	var row []byte
	if err := taker.disk.Log(t.Context(), 0, func(s store.Seq, r []byte) error { seq, row = s, bytes.Clone(r); return nil }); err != nil || len(row) == 0 {
		t.Fatal(err)
	}
	fenced, broken := &pgconn.PgError{Code: fencedState}, unknownError{io.ErrUnexpectedEOF}
	judge := func(why error, seq store.Seq, row []byte, want rimewatch.Code) {
		t.Helper()
		err := x.s.disk.undecided(why, seq, row)
		if want == "" && err == nil {
			return
		}
		if rimewatch.CodeOf(err) != want {
			t.Errorf("after %v: %v, not %q", why, err, want)
		}
	}
	judge(broken, seq+1, row, rimewatch.CodeOutcomeUnknown) // it may still arrive
	judge(fenced, seq, row, "")
	judge(fenced, seq+1, row, rimewatch.CodeUnavailable)
	judge(fenced, seq, []byte("another"), rimewatch.CodeUnavailable)
	if _, err := taker.disk.writes.Exec(t.Context(), "DELETE FROM commit_log"); err != nil {
		t.Fatal(err)
	}
	judge(fenced, seq, row, rimewatch.CodeOutcomeUnknown)
}
