package sqlite

import (
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
	"zombiezen.com/go/sqlite"
)

// TestOwner: whoever opens the file owns it (the directory's lock is the
// server's), until it is closed. A commit that fails is not stored.
func TestOwner(t *testing.T) {
	var failing atomic.Bool
	e := engine
	e.Open = func(t *testing.T) store.Store {
		return ready(t, openAt(t, Config{Path: filepath.Join(t.TempDir(), FileName), quiet: true, fault: func(step string) error {
			if step == "commit" && failing.Load() {
				return sqlite.ResultIOErrFsync.ToError()
			}
			return nil
		}}))
	}
	storetest.Owner(t, e, func(t *testing.T, s store.Store) {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}, []storetest.Loss{{Name: "a disk that does not sync", Refused: true, Arm: func(*testing.T, store.Store, string) func() {
		failing.Store(true)
		return func() { failing.Store(false) }
	}}})
}
