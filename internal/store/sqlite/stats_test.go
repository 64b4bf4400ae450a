package sqlite

import (
	"path/filepath"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/rimewatch/rimewatch/internal/store"
)

// TestTidyLeavesLittle: what is written while the write-ahead log is copied is copied
// beside the writer, too, as long as it is much; what commits wait for is next to nothing.
func TestTidyLeavesLittle(t *testing.T) {
	var (
		path    = filepath.Join(t.TempDir(), FileName)
		s       *Store
		seq     store.Seq
		passes  int
		reading *sqlite.Conn
	)
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	row := make([]byte, 1<<20)
	write := func(n int) {
		for range n {
			seq++
			must(s.disk.Append(t.Context(), seq, row, nil, &store.Effects{}))
		}
	}
	s = openAt(t, Config{Path: path, quiet: true, fault: func(step string) (err error) {
		if step != "wal" {
			return nil
		}
		switch passes++; passes {
		case 1: // as long as somebody reads, the log does not begin anew
			reading, err = sqlite.OpenConn(path, sqlite.OpenReadOnly)
			must(err)
			must(sqlitex.ExecuteTransient(reading, "BEGIN", nil))
			must(sqlitex.ExecuteTransient(reading, "SELECT count(*) FROM device", nil))
		case 2:
			write(3) // as if it had come during the pass before
		case 3:
			must(reading.Close())
		}
		return nil
	}})
	write(walLimit >> 20)
	must(s.disk.Tidy(t.Context()))
	if passes != 3 {
		t.Errorf("%d passes beside the writer, want 3", passes)
	}
	write(1)
	s.disk.maintMu.Lock()
	defer s.disk.maintMu.Unlock()
	if pages, err := s.disk.checkpoint("PASSIVE"); err != nil || pages > 300 {
		t.Errorf("%d pages in a log that begins anew, %v", pages, err)
	}
}
