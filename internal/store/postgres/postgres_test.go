package postgres

import (
	"context"
	"net/url"
	"os"
	"testing"

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
	err := s.Recover(t.Context(), func(store.Checkpoint) error { return nil }, func(*store.Entry) error { return nil })
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

func TestControl(t *testing.T) {
	storetest.Control(t, func(t *testing.T) store.Store { return openAt(t, Config{URL: server.Database(t)}) })
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
