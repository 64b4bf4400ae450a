package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/core"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
)

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

// crashed copies the files of a store as they are, in the middle of whatever it
// does, to a new place: what kill −9 would leave behind.
func crashed(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), FileName)
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

var engine = storetest.Engine{
	Open: func(t *testing.T) store.Store {
		return ready(t, openAt(t, Config{Path: filepath.Join(t.TempDir(), FileName)}))
	},
	Reopen: func(t *testing.T, s store.Store) store.Store {
		return openAt(t, Config{Path: crashed(t, s.(*Store).disk.cfg.Path)})
	},
	Settle: func(t *testing.T, s store.Store) {
		if err := s.(*Store).Rest(t.Context()); err != nil {
			t.Fatal(err)
		}
	},
}

func TestReadings(t *testing.T) { storetest.Readings(t, engine) }

func TestResources(t *testing.T) { storetest.Resources(t, engine) }

// The file holds secrets: nobody else on the machine reads it.
func TestFileMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	openAt(t, Config{Path: path})
	for _, suffix := range []string{"", "-wal"} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has the mode %o", info.Name(), mode)
		}
	}
}

// TestGivenUp: a request that is given up while it reads leaves its connection fit
// for the next one, which sees what was committed since.
func TestGivenUp(t *testing.T) {
	const readers = 3
	d := openAt(t, Config{Path: filepath.Join(t.TempDir(), FileName), Readers: readers}).disk
	for range 2 * readers {
		ctx, cancel := context.WithCancel(t.Context())
		err := d.View(ctx, func(v core.Chunks) error {
			cancel()
			_, err := v.NewestSealed(1)
			return err
		})
		if rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
			t.Fatalf("given up: %v", err)
		}
	}
	sealed := core.Sealed{DeviceID: 1, Chunks: []core.Chunk{{From: 5, To: 7, N: 2}}}
	if err := d.Seal(t.Context(), []core.Sealed{sealed}); err != nil {
		t.Fatal(err)
	}
	for range 2 * readers {
		err := d.View(t.Context(), func(v core.Chunks) error {
			to, err := v.NewestSealed(1)
			if to != 7 {
				t.Errorf("newest sealed: %d, want 7", to)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
