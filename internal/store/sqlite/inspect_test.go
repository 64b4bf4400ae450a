package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rimewatch/rimewatch"
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
	look := func() {
		t.Helper()
		in, err := Inspect(ctx, path, true)
		if err != nil {
			t.Fatal(err)
		}
		if in.SchemaVersion != SchemaVersion() || in.Workspaces != 1 || in.Users != 0 || in.AliveAt != 1234567 || in.Stats.FileBytes+in.Stats.WALBytes == 0 {
			t.Errorf("%+v", in)
		}
	}
	look() // beside the open store
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	look()
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
