package postgres

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
)

var server = pgtest.Shared{Template: func(url string) error {
	s, err := Open(context.Background(), Config{URL: url, ControlOnly: true})
	if err != nil {
		return err
	}
	return s.Close()
}}

func TestMain(m *testing.M) { os.Exit(server.Main(m)) }

// openAt opens a store and closes it with the test.
func openAt(t *testing.T, cfg Config) *Store {
	t.Helper()
	if cfg.Now == nil { // a day after what the tests store, so that no pass of retention expires it while they run
		cfg.Now = func() time.Time { return time.UnixMilli(1_700_000_000_000).Add(24 * time.Hour) }
	}
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func ready(t *testing.T, s *Store) *Store {
	t.Helper()
	err := s.Recover(t.Context(), 1, func(_ int, _ store.Checkpoint) error { return nil }, func(_ int, _ *store.Entry) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var engine = storetest.Engine{
	Open: func(t *testing.T) store.Store { return ready(t, openAt(t, Config{URL: server.Database(t)})) },
	Reopen: func(t *testing.T, s store.Store) store.Store {
		return openAt(t, Config{URL: s.(*Store).disk.cfg.URL, takeOver: true})
	},
	Settle: func(t *testing.T, s store.Store) {
		if err := s.(*Store).Rest(t.Context()); err != nil {
			t.Fatal(err)
		}
	},
}

func TestReadings(t *testing.T) { storetest.Readings(t, engine) }

func TestResources(t *testing.T) { storetest.Resources(t, engine) }

func TestControl(t *testing.T) {
	storetest.Control(t, func(t *testing.T) store.Store { return openAt(t, Config{URL: server.Database(t)}) })
}

func TestInlets(t *testing.T) {
	storetest.Inlets(t, func(t *testing.T) store.Store { return openAt(t, Config{URL: server.Database(t)}) })
}

// TestOwner goes through a proxy that cuts connections where it hurts.
func TestOwner(t *testing.T) {
	var proxy *pgtest.Proxy
	proxied := engine
	proxied.Open = func(t *testing.T) store.Store {
		u, err := url.Parse(server.Database(t))
		if err != nil {
			t.Fatal(err)
		}
		proxy = pgtest.NewProxy(t, u.Host)
		u.Host = proxy.Addr()
		return ready(t, openAt(t, Config{URL: u.String(), quiet: true}))
	}
	var losses []storetest.Loss
	for name, cut := range map[string]pgtest.Cut{
		"before the request": pgtest.BeforeRequest, "in the request": pgtest.MidRequest,
		"before the answer": pgtest.BeforeAnswer, "the request comes late": pgtest.HoldRequest,
	} {
		losses = append(losses, storetest.Loss{Name: name, Arm: func(t *testing.T, _ store.Store, mark string) func() {
			proxy.Arm(cut, mark)
			return func() {
				if proxy.Cuts() != 1 {
					t.Fatal("the connection was not cut")
				}
				proxy.Release()
			}
		}})
	}
	storetest.Owner(t, proxied, func(t *testing.T, s store.Store) {
		openAt(t, Config{URL: s.(*Store).disk.cfg.URL, takeOver: true})
	}, losses)
}

func TestTwoProcesses(t *testing.T) {
	u := server.Database(t)
	storetest.Processes(t, openAt(t, Config{URL: u}), openAt(t, Config{URL: u, ControlOnly: true}))
}

func TestQuotas(t *testing.T) {
	storetest.Quotas(t, openAt(t, Config{URL: server.Database(t), Quotas: storetest.SmallQuotas}))
}

// TestInspect: what keeps a server from serving, and what endangers what it was
// told, are lines that say what to mend.
func TestInspect(t *testing.T) {
	u := server.Database(t)
	in, err := Inspect(t.Context(), u, true)
	if err != nil || in.Fresh || in.Store != nil || len(in.Problems) > 0 {
		t.Fatalf("%+v, %v", in, err)
	}
	for _, part := range []string{"fsync is off", "no synchronous standby"} { // as the tests start it
		if !strings.Contains(strings.Join(in.Warnings, "\n"), part) {
			t.Errorf("the warnings %q do not say %q", in.Warnings, part)
		}
	}
	if strings.Contains(strings.Join(in.Warnings, "\n"), "synchronous_commit") {
		t.Errorf("warnings %q", in.Warnings)
	}
	exec := func(statement string) {
		t.Helper()
		c, err := pgx.Connect(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(t.Context())
		if _, err := c.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, url, prepare, open, inspect string }{
		{"newer", u, "UPDATE rimewatch SET version = version + 1", "newer version of Rimewatch", "newer version of Rimewatch"},
		{"unfinished", u, "DELETE FROM rimewatch", "migration", "migration"},
		{"foreign", u, "DROP TABLE rimewatch", "tables of something else", "tables of something else"},
		{"synchronous_commit", u + "&synchronous_commit=off", "SELECT 1", "tables of something else", "synchronous_commit is off"},
		{"read-only", u + "&default_transaction_read_only=on&search_path=empty", "CREATE SCHEMA empty", "read-only", "read-only"},
		{"no privileges", strings.Replace(u, "postgres@", "stranger@", 1), "CREATE ROLE stranger LOGIN", "privileges", "may not create tables"},
		{"a wrong parameter", u + "&sslmod=disable", "SELECT 1", "does not know", "does not know"},
		{"no server", "postgres://127.0.0.1:1/x?connect_timeout=1", "SELECT 1", "failed to connect", "failed to connect"},
		{"a wrong URL", "postgres://a b", "SELECT 1", "--store", "--store"},
	} {
		t.Run(c.name, func(t *testing.T) {
			exec(c.prepare)
			if c.name == "no privileges" {
				exec("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
			}
			in, err := Inspect(t.Context(), c.url, true)
			said := fmt.Sprint(err, in.Store, in.Problems, in.Warnings)
			if !strings.Contains(said, c.inspect) {
				t.Errorf("doctor says %s, not %q", said, c.inspect)
			}
			s, err := Open(t.Context(), Config{URL: c.url, ControlOnly: true})
			if err == nil {
				_ = s.Close()
				t.Fatal("it can be opened")
			}
			if !strings.Contains(err.Error(), c.open) || strings.Contains(err.Error(), "\n") {
				t.Errorf("opening says %q, not %q", err, c.open)
			}
		})
	}
}

// TestInspectRows: every row of whatever table that is not what was written is found,
// beside a server, where rows are checked.
func TestInspectRows(t *testing.T) {
	u := server.Database(t)
	s := ready(t, openAt(t, Config{URL: u}))
	x := newShop(t, s)
	commit := func() {
		t.Helper()
		if err := x.commit(); err != nil {
			t.Fatal(err)
		}
	}
	commit()
	if err := s.Rest(t.Context()); err != nil { // seals it into a chunk
		t.Fatal(err)
	}
	commit()
	if err := s.SaveCheckpoints(t.Context(), []store.Checkpoint{{DeviceID: x.device, Seq: 1, State: []byte{1}}}, 0); err != nil {
		t.Fatal(err)
	}
	look := func(check bool) Inspection {
		t.Helper()
		in, err := Inspect(t.Context(), u, check)
		if err != nil || in.Store != nil {
			t.Fatal(in.Store, err)
		}
		return in
	}
	if in := look(true); len(in.Damage)+len(in.Aside) > 0 {
		t.Fatalf("%q, %q", in.Damage, in.Aside)
	}
	c, err := pgx.Connect(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	for _, part := range []struct{ statement, want string }{
		{"UPDATE commit_log SET data = set_byte(data, length(data) - 1, get_byte(data, length(data) - 1) # 1)", "commit"},
		{"UPDATE reading_chunk SET data = set_byte(data, length(data) - 1, get_byte(data, length(data) - 1) # 1)", "chunk"},
		{"UPDATE checkpoint SET current_temp = current_temp + 1", "checkpoint"},
	} {
		tag, err := c.Exec(t.Context(), part.statement)
		if err != nil || tag.RowsAffected() == 0 {
			t.Fatalf("%s: %v, %v", part.statement, tag, err)
		}
		if all := strings.Join(look(true).Damage, "\n"); !strings.Contains(all, part.want) {
			t.Errorf("%s: damage %q", part.statement, all)
		}
	}
	if in := look(false); len(in.Damage) > 0 {
		t.Errorf("not asked for: %q", in.Damage)
	}
}

// A server keeps its store from a second one for as long as it is heard of.
func TestSecondServer(t *testing.T) {
	u := server.Database(t)
	first := ready(t, openAt(t, Config{URL: u}))
	patient := Config{URL: u, gone: time.Hour} // on a busy machine nothing is heard for seconds
	if s, err := Open(t.Context(), patient); err == nil || !strings.Contains(err.Error(), "another server uses the database") {
		if s != nil {
			_ = s.Close()
		}
		t.Fatalf("the second server: %v", err)
	}
	select {
	case <-first.Lost():
		t.Fatal("the first server lost its store")
	default:
	}
	if err := first.MarkAlive(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	taker := openAt(t, Config{URL: u, takeOver: true})
	if err := first.MarkAlive(t.Context(), 2); rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
		t.Fatalf("the first server after the second took over: %v", err)
	}
	<-first.Lost()
	if err := taker.Close(); err != nil {
		t.Fatal(err)
	}
	openAt(t, patient) // nobody waits for a store that was closed in order
}
