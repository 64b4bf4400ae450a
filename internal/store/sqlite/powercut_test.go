package sqlite

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// sector is what a disk writes as a whole.
const sector = 512

// change is one that a file saw, in the order of all, or a sync.
type change struct {
	kind changeKind
	name string // without its directory
	at   int64
	data []byte // what was written
	safe int    // how many changes there were when it was safe on the disk; 0 = not yet, -1 = never
}

type changeKind int

const (
	written changeKind = iota
	truncated
	deleted
	synced
)

// never is when what a failed sync should have made safe is safe.
const never = -1

// recorder is a file system of the engine that notes what a directory's files see,
// and when it was synced. What was not synced may be lost with the power: any
// sectors of it, in any order.
type recorder struct {
	dir     string
	mu      sync.Mutex
	changes []change
	open    map[uintptr]string // names of files, by the engine's handle
	known   map[string]bool    // names that are safe in the directory
	// before is called before each write and each sync, which it may fail; what a
	// failed sync should have made safe is never safe.
	before func(name string, sync bool) bool

	vfs, under sqlite3.Tsqlite3_vfs
	methods    map[uintptr]*sqlite3.Tsqlite3_io_methods // ours, by the engine's
	keep       []any                                    // functions that the engine alone refers to
}

// at returns what an address of the engine's points to.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// function returns what the engine calls f by.
func (r *recorder) function(f any) uintptr {
	r.keep = append(r.keep, f)
	return (*[2]uintptr)(unsafe.Pointer(&r.keep[len(r.keep)-1]))[1]
}

// called returns the function that the engine calls by an address.
func called[F any](address uintptr) F { return *(*F)(unsafe.Pointer(&struct{ uintptr }{address})) }

type (
	opening    = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	deleting   = func(tls *libc.TLS, vfs, name uintptr, syncDir int32) int32
	closing    = func(tls *libc.TLS, file uintptr) int32
	writing    = func(tls *libc.TLS, file, from uintptr, n int32, at int64) int32
	truncating = func(tls *libc.TLS, file uintptr, size int64) int32
	syncing    = func(tls *libc.TLS, file uintptr, flags int32) int32
)

// record makes the engine go through a recorder until the test ends.
func record(t *testing.T, dir string) *recorder {
	t.Helper()
	r := &recorder{dir: dir, open: make(map[uintptr]string), known: make(map[string]bool), methods: make(map[uintptr]*sqlite3.Tsqlite3_io_methods)}
	tls := libc.NewTLS()
	if code := sqlite3.Xsqlite3_initialize(tls); code != sqlite3.SQLITE_OK {
		t.Fatal(code)
	}
	under := sqlite3.Xsqlite3_vfs_find(tls, 0)
	name, err := libc.CString("recorder")
	if err != nil {
		t.Fatal(err)
	}
	r.under = *at[sqlite3.Tsqlite3_vfs](under)
	r.vfs = r.under
	r.vfs.FzName = name
	r.vfs.FxOpen = r.function(func(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
		code := called[opening](r.under.FxOpen)(tls, under, name, file, flags, out)
		if code == sqlite3.SQLITE_OK && name != 0 && filepath.Dir(libc.GoString(name)) == r.dir {
			r.opened(file, filepath.Base(libc.GoString(name)))
		}
		return code
	})
	r.vfs.FxDelete = r.function(func(tls *libc.TLS, _, name uintptr, syncDir int32) int32 {
		code := called[deleting](r.under.FxDelete)(tls, under, name, syncDir)
		if path := libc.GoString(name); code == sqlite3.SQLITE_OK && filepath.Dir(path) == r.dir {
			r.note(change{kind: deleted, name: filepath.Base(path)})
			if syncDir != 0 {
				r.sync(filepath.Base(path), true)
			}
		}
		return code
	})
	own := uintptr(unsafe.Pointer(&r.vfs))
	if code := sqlite3.Xsqlite3_vfs_register(tls, own, 1); code != sqlite3.SQLITE_OK {
		t.Fatal(code)
	}
	t.Cleanup(func() {
		sqlite3.Xsqlite3_vfs_unregister(tls, own)
		sqlite3.Xsqlite3_vfs_register(tls, under, 1)
		libc.Xfree(tls, name)
		tls.Close()
	})
	return r
}

func (r *recorder) note(c change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes = append(r.changes, c)
}

// opened puts our methods before a file's.
func (r *recorder) opened(file uintptr, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[file] = name
	methods := &at[sqlite3.Tsqlite3_file](file).FpMethods
	own := r.methods[*methods]
	if own == nil {
		own = r.wrap(*at[sqlite3.Tsqlite3_io_methods](*methods))
		r.methods[*methods] = own
	}
	*methods = uintptr(unsafe.Pointer(own))
}

func (r *recorder) wrap(under sqlite3.Tsqlite3_io_methods) *sqlite3.Tsqlite3_io_methods {
	own := under
	nameOf := func(file uintptr) string {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.open[file]
	}
	own.FxClose = r.function(func(tls *libc.TLS, file uintptr) int32 {
		r.mu.Lock()
		delete(r.open, file)
		r.mu.Unlock()
		return called[closing](under.FxClose)(tls, file)
	})
	own.FxWrite = r.function(func(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32 {
		name := nameOf(file)
		if r.before != nil && !r.before(name, false) {
			return sqlite3.SQLITE_IOERR_WRITE
		}
		code := called[writing](under.FxWrite)(tls, file, from, n, offset)
		if code == sqlite3.SQLITE_OK {
			r.note(change{name: name, at: offset, data: slices.Clone(unsafe.Slice(at[byte](from), n))})
		}
		return code
	})
	own.FxTruncate = r.function(func(tls *libc.TLS, file uintptr, size int64) int32 {
		code := called[truncating](under.FxTruncate)(tls, file, size)
		if code == sqlite3.SQLITE_OK {
			r.note(change{kind: truncated, name: nameOf(file), at: size})
		}
		return code
	})
	own.FxSync = r.function(func(tls *libc.TLS, file uintptr, flags int32) int32 {
		name := nameOf(file)
		if r.before != nil && !r.before(name, true) {
			r.sync(name, false)
			return sqlite3.SQLITE_IOERR_FSYNC
		}
		code := called[syncing](under.FxSync)(tls, file, flags)
		r.sync(name, code == sqlite3.SQLITE_OK)
		return code
	})
	return &own
}

// sync notes one of a file, whose changes until then are safe from now on, or never.
// The first of a new file is one of the directory, too, which knows what was deleted.
func (r *recorder) sync(name string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes = append(r.changes, change{kind: synced, name: name})
	safe := len(r.changes)
	if !ok {
		safe = never
	}
	first := ok && !r.known[name]
	r.known[name] = r.known[name] || ok
	for i := range r.changes {
		if c := &r.changes[i]; c.safe == 0 && (c.name == name || first && c.kind == deleted) {
			c.safe = safe
		}
	}
}

// cut writes the files as the disk may hold them when the power fails after the
// first n changes.
func (r *recorder) cut(t *testing.T, n int, rnd *rand.Rand) (path string) {
	t.Helper()
	files := make(map[string][]byte)
	for _, c := range r.changes[:n] {
		safe := c.safe > 0 && c.safe <= n
		data := files[c.name]
		switch {
		case c.kind == synced || c.kind != written && !safe && rnd.IntN(2) == 0: // lost
		case c.kind == deleted:
			delete(files, c.name)
		case c.kind == truncated:
			files[c.name] = slices.Concat(data, make([]byte, max(0, c.at-int64(len(data)))))[:c.at]
		default:
			mostly := rnd.IntN(4) // of the sectors: none, some, all
			for from := 0; from < len(c.data); from += sector {
				if !safe && (mostly == 0 || mostly < 3 && rnd.IntN(2) == 0) {
					continue
				}
				to := min(from+sector, len(c.data))
				if more := c.at + int64(to) - int64(len(data)); more > 0 {
					data = append(data, make([]byte, more)...)
				}
				copy(data[c.at+int64(from):], c.data[from:to])
			}
			files[c.name] = data
		}
	}
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, FileName)
}

// moment is one at which the power may fail, and what had been acknowledged by then.
type moment struct {
	changes int
	name    string
	acked   map[int64]map[rimewatch.Time]float64
	pending []store.Input
}

func (r *crashRun) moment(changes int, name string) moment {
	m := moment{changes, name, make(map[int64]map[rimewatch.Time]float64), r.pending}
	for id, readings := range r.acked {
		m.acked[id] = maps.Clone(readings)
	}
	return m
}

// powerCuts is how often the test cuts the power.
func powerCuts() int {
	if n, err := strconv.Atoi(os.Getenv("RIMEWATCH_POWER_CUTS")); err == nil {
		return n
	}
	return 40
}

// TestPowerCuts cuts the power before syncs, some of which fail, and between writes:
// of what was not synced by then any sectors are lost. Everything acknowledged is
// there; of the group that was being committed all or nothing.
func TestPowerCuts(t *testing.T) {
	cuts, seed := powerCuts(), trial.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 1))
	path := filepath.Join(t.TempDir(), FileName)
	files := record(t, filepath.Dir(path))
	run := newCrashRun(t, Config{Path: path, quiet: true})
	var moments []moment
	syncs, failed := make(map[string]int), 0
	files.before = func(name string, sync bool) bool {
		files.mu.Lock()
		n := len(files.changes)
		files.mu.Unlock()
		if !sync {
			if rnd.IntN(8) == 0 {
				moments = append(moments, run.moment(n, "write to "+name))
			}
			return true
		}
		moments = append(moments, run.moment(n, "sync of "+name))
		if syncs[name]++; rnd.IntN(12) == 0 {
			failed++
			return false
		}
		return true
	}
	run.workload(60)
	files.before = nil
	run.compare("the end", run.s)
	kinds := make(map[string]int)
	for range cuts {
		m := moments[rnd.IntN(len(moments))]
		kinds[m.name]++
		image := &crashRun{t: t, ws: run.ws, ids: run.ids, acked: m.acked, pending: m.pending}
		cut := files.cut(t, m.changes, rnd)
		image.verify(fmt.Sprintf("power cut after %d changes, %s, seed %d", m.changes, m.name, seed), cut)
		if err := os.RemoveAll(filepath.Dir(cut)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d changes of files, %d syncs failed, seed %d, power cuts: %v", len(files.changes), failed, seed, kinds)
	if syncs[FileName] < 3 || syncs[FileName+"-wal"] < 60 {
		t.Errorf("syncs: %v", syncs)
	}
}
