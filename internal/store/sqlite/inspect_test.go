package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"zombiezen.com/go/sqlite/sqlitex"
)

func TestInspect(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), FileName)
	s, err := Open(ctx, Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	w := rimewatch.Workspace{Name: "w", TimeZone: "UTC", RawDays: 1, RollupDays: 1}
	if err := s.CreateWorkspace(ctx, &w); err != nil {
		t.Fatal(err)
	}
	if err := s.MarkAlive(ctx, 1234567); err != nil {
		t.Fatal(err)
	}
	if err := s.Audit().AuditWorkspace(ctx, w.ID, "clock.stepped", "clock", store.Fields{"seconds": -3600.5}); err != nil {
		t.Fatal(err)
	}
	look := func() {
		t.Helper()
		in, err := Inspect(ctx, path, true)
		if err != nil {
			t.Fatal(err)
		}
		if store.CheckVersion(in.SchemaVersion) != nil || in.Workspaces != 1 || in.Users != 0 || in.AliveAt != 1234567 || in.Stats.FileBytes+in.Stats.WALBytes == 0 {
			t.Errorf("%+v", in)
		}
		if len(in.Clock) != 1 || !strings.HasSuffix(in.Clock[0], " stepped by -3600.5 s") {
			t.Errorf("steps of the clock: %q", in.Clock)
		}
	}
	look() // beside the open store
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	look()
}

// A store of another version, or a file of another program, is refused before
// anything writes to it.
func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name, change, want string
	}{
		{"newer", fmt.Sprintf("PRAGMA user_version = %d", store.SchemaVersion+1), "newer version of Rimewatch"},
		{"older", fmt.Sprintf("PRAGMA user_version = %d", store.OldestSchema-1), "older version of Rimewatch"},
		{"another program's", "PRAGMA application_id = 1", ErrNotAStore.Error()},
		{"one without a version", "PRAGMA user_version = 0", ErrNotAStore.Error()},
		{"a database of nobody", "PRAGMA application_id = 0", ErrNotAStore.Error()},
	} {
		path := filepath.Join(t.TempDir(), FileName)
		s, err := Open(t.Context(), Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(sqlitex.ExecuteTransient(s.disk.writer, c.change, nil), s.Close()); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, controlOnly := range []bool{false, true} {
			if _, err := Open(t.Context(), Config{Path: path, ControlOnly: controlOnly}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		after, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s: the file was written to, %v", c.name, err)
		}
	}
}

func TestInspectRefuses(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage")
	if err := os.WriteFile(garbage, []byte("this is not a database, and it is longer than a header of one hundred bytes, so that nobody can take it for one"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{garbage, empty} {
		if _, err := Inspect(ctx, path, false); !errors.Is(err, ErrNotAStore) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Inspect(ctx, filepath.Join(dir, "missing"), false); err == nil {
		t.Error("a missing file can be inspected")
	}
	if _, err := os.Stat(filepath.Join(dir, "missing")); err == nil {
		t.Error("Inspect made a file")
	}
}

func TestInspectFindsDamage(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), FileName)
	s, err := Open(ctx, Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(b) && i < 4*4096; i++ {
		b[i] ^= 0xa5
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Inspect(ctx, path, true); err == nil || errors.Is(err, ErrNotAStore) {
		t.Errorf("damage was not found: %v", err)
	}
}
