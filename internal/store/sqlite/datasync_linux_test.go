package sqlite

import (
	"path/filepath"
	"syscall"
	"testing"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// TestSyncData: the write-ahead log of a file that the engine opens is synced by us,
// its name in the directory with the first sync; a sync that fails is an error.
func TestSyncData(t *testing.T) {
	for range 2 { // once is enough
		if err := syncData(); err != nil {
			t.Fatal(err)
		}
	}
	tls := libc.NewTLS()
	t.Cleanup(tls.Close)
	text := func(s string) uintptr {
		c, err := libc.CString(s)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { libc.Xfree(tls, c) })
		return c
	}
	// What the engine writes to must not move as a goroutine's stack may.
	out := libc.Xcalloc(tls, 1, 8)
	t.Cleanup(func() { libc.Xfree(tls, out) })
	if code := sqlite3.Xsqlite3_open_v2(tls, text(filepath.Join(t.TempDir(), "x")), out, sqlite3.SQLITE_OPEN_READWRITE|sqlite3.SQLITE_OPEN_CREATE, 0); code != sqlite3.SQLITE_OK {
		t.Fatal(code)
	}
	db := *pointed[uintptr](out)
	t.Cleanup(func() { sqlite3.Xsqlite3_close_v2(tls, db) })
	exec := func(sql string) int32 { return sqlite3.Xsqlite3_exec(tls, db, text(sql), 0, 0, 0) }
	if code := exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (a)"); code != sqlite3.SQLITE_OK {
		t.Fatal(code)
	}
	if code := sqlite3.Xsqlite3_file_control(tls, db, text("main"), sqlite3.SQLITE_FCNTL_JOURNAL_POINTER, out); code != sqlite3.SQLITE_OK {
		t.Fatal(code)
	}
	file := *pointed[uintptr](out)
	log := pointed[sqlite3.TunixFile](file)
	methods := pointed[sqlite3.Tsqlite3_io_methods](log.FpMethod)
	if methods.FxSync != pointerTo(syncLog) {
		t.Fatal("the log is synced by the engine itself")
	}
	if log.FctrlFlags&sqlite3.UNIXFILE_DIRSYNC != 0 {
		t.Error("the directory was not synced with the log's first sync")
	}
	fd := log.Fh
	var pipe [2]int // what cannot be synced
	if err := syscall.Pipe(pipe[:]); err != nil {
		t.Fatal(err)
	}
	log.Fh = int32(pipe[1])
	code := function[ioSync](methods.FxSync)(tls, file, sqlite3.SQLITE_SYNC_NORMAL)
	log.Fh = fd
	if code != sqlite3.SQLITE_IOERR_FSYNC || log.FlastErrno == 0 {
		t.Errorf("a sync that failed is answered with %d", code)
	}
	if code := exec("INSERT INTO t VALUES (1)"); code != sqlite3.SQLITE_OK {
		t.Error(code)
	}
	for _, p := range pipe {
		if err := syscall.Close(p); err != nil {
			t.Error(err)
		}
	}
}
