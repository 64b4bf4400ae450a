package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
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

// TestLogGrowsAhead: a write-ahead log that is no longer small grows by whole steps,
// what a crash leaves of it is read to its last commit, and one that begins anew keeps
// its size.
func TestLogGrowsAhead(t *testing.T) {
	if err := syncData(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite, sqlite.OpenCreate)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := prepareWriter(conn); err != nil {
		t.Fatal(err)
	}
	exec := func(c *sqlite.Conn, query string, args ...any) {
		t.Helper()
		if err := sqlitex.Execute(c, query, &sqlitex.ExecOptions{Args: args}); err != nil {
			t.Fatal(err)
		}
	}
	exec(conn, "CREATE TABLE t (a)")
	if size := fileSize(path + "-wal"); size >= logStep/2 {
		t.Errorf("a log with one table in it has %d bytes", size)
	}
	row := make([]byte, 50_000)
	commit := func(n int) {
		t.Helper()
		for range n {
			exec(conn, "INSERT INTO t VALUES (?)", row)
		}
	}
	const rows = 50
	grown, last := 0, int64(0)
	for range rows {
		commit(1)
		if size := fileSize(path + "-wal"); size > logStep && size != last {
			if size%logStep != 0 {
				t.Errorf("the log has %d bytes", size)
			}
			grown, last = grown+1, size
		}
	}
	if want := int(last/logStep) - 1; grown != want || want < 2 {
		t.Errorf("a log of %d bytes has grown %d times beyond its first step, want %d", last, grown, want)
	}
	for _, suffix := range []string{"", "-wal"} { // what a crash leaves
		b, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "crashed"+suffix), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	crashed, err := sqlite.OpenConn(filepath.Join(dir, "crashed"), sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := queryInt(crashed, "SELECT count(*) FROM t"); err != nil || n != rows {
		t.Errorf("%d rows after a crash (%v), want %d", n, err, rows)
	}
	if err := errors.Join(quickCheck(crashed), crashed.Close()); err != nil {
		t.Error(err)
	}
	exec(conn, "PRAGMA wal_checkpoint(PASSIVE)")
	commit(3)
	if size := fileSize(path + "-wal"); size != last {
		t.Errorf("a log that began anew has %d bytes, want %d as before", size, last)
	}
	if n, err := queryInt(conn, "SELECT count(*) FROM t"); err != nil || n != rows+3 {
		t.Errorf("%d rows (%v)", n, err)
	}
}

// TestEntersStep: of the writes that fill a log one after the other, one for each step
// asks how long the file is, the one with the step's first byte.
func TestEntersStep(t *testing.T) {
	if walKept%logStep != 0 {
		t.Errorf("a log that begins anew is cut to %d bytes, within a step", walKept)
	}
	for _, first := range []int64{0, 32, logStep - 4096, logStep - 24, logStep - 1} { // so that writes end before a step, at its beginning, and behind it
		steps := int64(0)
		if first%logStep != 0 {
			steps = 1
		}
		for at, n := first, int64(24); at+n <= 5*logStep; at, n = at+n, 4120-n {
			want := at <= steps*logStep && steps*logStep < at+n
			if entersStep(at, n) != want {
				t.Fatalf("a write of %d bytes at %d: %v, want %v", n, at, !want, want)
			}
			if want {
				steps++
			}
		}
		if steps != 5 {
			t.Errorf("%d steps of a log from %d on were entered, want 5", steps, first)
		}
	}
}
