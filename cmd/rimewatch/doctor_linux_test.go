package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/rimewatch/rimewatch/internal/store/sqlite"
	"golang.org/x/sys/unix"
)

// TestDoctorOfDisks: a disk without room, and one that cannot be written to, are
// named, where the test may mount them.
func TestDoctorOfDisks(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(healthy(t), sqlite.FileName))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		flags uintptr
		want  string
	}{
		{"small", 0, `(?m)^PROBLEM +disk +only .* are free$`},
		{"read-only", unix.MS_RDONLY, `(?m)^PROBLEM +directory +.*read-only`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64m,mode=700"); err != nil {
				t.Skipf("mounting is not permitted here: %v", err)
			}
			t.Cleanup(func() {
				if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
					t.Error(err)
				}
			})
			if err := os.WriteFile(filepath.Join(dir, sqlite.FileName), data, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT|c.flags, "size=64m"); err != nil {
				t.Fatal(err)
			}
			text, code := diagnose(t, dir)
			if code == 0 || !regexp.MustCompile(c.want).MatchString(text) {
				t.Errorf("exit code %d, no %s:\n%s", code, c.want, text)
			}
			if !regexp.MustCompile(`(?m)^ok +checksums`).MatchString(text) {
				t.Errorf("its rows were not checked:\n%s", text)
			}
		})
	}
}
