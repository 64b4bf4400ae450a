package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
)

// TestOpenOnFullDisk: a disk without room for the shared memory of the write-ahead
// log does not keep a store down that was closed cleanly: it is read, writes are
// CodeUnavailable, and it takes them as soon as there is room, while others read.
func TestOpenOnFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	r := newCrashRun(t, Config{Path: path, quiet: true})
	r.workload(30)
	if err := r.s.Close(); err != nil {
		t.Fatal(err)
	}
	inTheWay := path + "-shm"
	if err := os.Mkdir(inTheWay, 0o700); err != nil { // it cannot be made
		t.Fatal(err)
	}
	if in, err := Inspect(t.Context(), path, true); err != nil || in.Stats.Devices != 4 || len(in.Damage) > 0 {
		t.Errorf("inspected: %+v, %v", in, err)
	}
	r.s = ready(t, openAt(t, Config{Path: path, quiet: true}))
	r.compare("reading alone", r.s)
	refused := func(err error) {
		t.Helper()
		var e *rimewatch.Error
		if !errors.As(err, &e) || e.Code != rimewatch.CodeUnavailable || e.RetryAfter == 0 {
			t.Fatalf("a write: %v", err)
		}
	}
	g := &store.Group{Now: crashBase + rimewatch.Day, Parts: [][]store.Input{r.group(31)}}
	refused(storetest.Commit(t.Context(), r.s, g, &store.Effects{}))
	refused(r.s.Sites().Create(t.Context(), &rimewatch.Site{WorkspaceID: r.ws, Name: "S", TimeZone: "UTC"}))
	refused(r.s.Rest(t.Context()))
	r.compare("after refusals", r.s)

	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		readers.Go(func() {
			for {
				n, err := 0, error(nil)
				for _, id := range r.ids {
					err = errors.Join(err, r.s.Readings(t.Context(), store.HistoryQuery{DeviceID: id, To: crashBase + 10*rimewatch.Hour}, func(*rimewatch.Reading) error { n++; return nil }))
				}
				// Whoever reads at that very moment may be asked to come again.
				if err != nil && rimewatch.CodeOf(err) != rimewatch.CodeUnavailable || err == nil && n == 0 {
					t.Errorf("%d readings, %v", n, err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	if err := os.Remove(inTheWay); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for step := 32; step < 60; step++ {
		if r.commit(step); step%5 == 0 {
			if err := errors.Join(r.checkpoint(), r.s.Rest(t.Context())); err != nil {
				t.Error(err)
			}
		}
	}
	close(done)
	readers.Wait()
	t.Logf("it was written to for %v", time.Since(began))
	r.compare("written to again", r.s)
	r.verify("a crash after it", crashed(t, path))
}

// TestFreshStoreOnFullDisk: where there is nothing to read there is nothing to open.
func TestFreshStoreOnFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	if err := os.Mkdir(path+"-shm", 0o700); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(t.Context(), Config{Path: path, quiet: true}); err == nil {
		_ = s.Close()
		t.Error("a store without tables was opened")
	}
}

// TestLogOnReadOnlyDisk: what lies in the write-ahead log is read from a disk that
// cannot be written to, too. The next start, with a disk that can be, goes on.
func TestLogOnReadOnlyDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	r := newCrashRun(t, Config{Path: path, quiet: true})
	r.workload(9)
	left := crashed(t, path)
	if fileSize(left+"-wal") == 0 {
		t.Fatal("there is no log")
	}
	if err := os.Mkdir(left+"-shm", 0o700); err != nil {
		t.Fatal(err)
	}
	r.s = ready(t, openAt(t, Config{Path: left, quiet: true}))
	r.compare("reading alone", r.s)
	g := &store.Group{Now: crashBase + rimewatch.Day, Parts: [][]store.Input{r.group(31)}}
	if err := storetest.Commit(t.Context(), r.s, g, &store.Effects{}); rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
		t.Errorf("a write: %v", err)
	}
	if err := errors.Join(r.s.Close(), os.Remove(left+"-shm")); err != nil {
		t.Fatal(err)
	}
	r.s = ready(t, openAt(t, Config{Path: left, quiet: true}))
	r.commit(32)
	r.compare("written to again", r.s)
	r.verify("a crash after it", crashed(t, left))
}

// TestFirstWriteAfterKill: what a fleet may hold in memory before a kill does not
// hold up who writes after it, even before anything was sealed.
func TestFirstWriteAfterKill(t *testing.T) {
	r := newCrashRun(t, Config{Path: filepath.Join(t.TempDir(), FileName), quiet: true})
	r.workload(20)
	const least = 16 // bytes: far less than is there, which the fleet's size allows
	if n := r.s.HeadBytes(); n <= 2*least || n > 2*4<<10 {
		t.Fatalf("%d bytes are not sealed", n)
	}
	r.s = ready(t, openAt(t, Config{Path: crashed(t, r.s.disk.cfg.Path), quiet: true, HeadBytes: least}))
	g := &store.Group{Now: crashBase + rimewatch.Day, Parts: [][]store.Input{r.group(21)}}
	if err := storetest.Commit(t.Context(), r.s, g, &store.Effects{}); err != nil {
		t.Error(err)
	}
}
