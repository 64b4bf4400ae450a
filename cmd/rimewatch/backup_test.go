package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
)

// command runs one on a data directory and returns its exit code and what it
// complains of.
func command(args ...string) (code int, complaint string) {
	var errOut bytes.Buffer
	code = run(args, streams{in: strings.NewReader(""), out: io.Discard, err: &errOut})
	return code, errOut.String()
}

// TestBackupOfDamage: a backup names the rows that are damaged, and is kept; it is
// restored only when somebody says so.
func TestBackupOfDamage(t *testing.T) {
	dir := healthy(t)
	damage(t, dir, flip("chunk_segment", "data", "true"))
	copied, fresh := filepath.Join(t.TempDir(), "copy.db"), filepath.Join(t.TempDir(), "fresh")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"backup", "--data", dir, copied}, exitFailed, "holds 1 damaged row: chunk"},
		{[]string{"restore", "--data", fresh, copied}, exitFailed, "use --damaged to restore it all the same"},
		{[]string{"restore", "--data", fresh, "--damaged", copied}, 0, ""},
	} {
		if code, text := command(c.args...); code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%v: %d %q, want %d %q", c.args, code, text, c.code, c.want)
		}
	}
	if text, code := diagnose(t, fresh); code != exitFailed || !strings.Contains(text, "1 commit waiting in the log") {
		t.Errorf("what was restored: %d\n%s", code, text)
	}
}

// TestPathsThatCannotBeUsed: the complaint is one line that names the path, and says
// what to name instead.
func TestPathsThatCannotBeUsed(t *testing.T) {
	dir := healthy(t)
	none, file := filepath.Join(t.TempDir(), "none"), filepath.Join(dir, sqlite.FileName)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"backup", "--data", none, "copy.db"}, "there is no store in " + none},
		{[]string{"backup", "--data", file, "copy.db"}, "there is no store in " + file},
		{[]string{"backup", "--data", dir, filepath.Join(none, "copy.db")}, "cannot write " + filepath.Join(none, "copy.db") + ": no such file or directory; name a file in a directory that exists"},
		{[]string{"backup", "--force", "--data", dir, dir}, dir + " is a directory; name a file in it"},
		{[]string{"restore", "--data", dir, none}, "cannot read " + none + ": no such file or directory; name the file of a backup"},
		{[]string{"restore", "--data", dir, dir}, dir + " is a directory; name the file of a backup in it"},
		{[]string{"restore", "--data", dir, "backup_test.go"}, "check backup_test.go: not a Rimewatch store; nothing was restored"},
		{[]string{"restore", "--data", filepath.Join(file, "d"), file}, "cannot make the data directory " + filepath.Join(file, "d") + ": not a directory"},
		{[]string{"limits", "get", "--data", none, "--workspace", "X"}, "there is no store in " + none},
		{[]string{"limits", "get", "--data", dir, "--workspace", "X"}, `there is no workspace "X"; its name is in the web UI under Settings`},
		{[]string{"token", "create", "--data", dir, "--workspace", "X", "--name", "x"}, `there is no workspace "X"; use --create to create it`},
		{[]string{"serve", "--data", filepath.Join(t.TempDir(), "d"), "--listen", "127.0.0.1:0", "--policies", none}, "--policies: cannot read " + none + ": name a directory of Markdown files"},
	} {
		code, text := command(c.args...)
		if code != exitFailed || !strings.HasPrefix(text, "rimewatch: "+c.want) || strings.Count(text, "\n") != 1 {
			t.Errorf("%v: %d %q, want %q", c.args, code, text, c.want)
		}
	}
}

// TestRestoreUntilTheRename: until another store is in its place, one that a crash
// has left with a log is whole without it.
func TestRestoreUntilTheRename(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, sqlite.FileName)
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, ControlOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	crashed := t.TempDir()
	if err := s.MarkAlive(t.Context(), 1234567); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{sqlite.FileName, sqlite.FileName + "-wal"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || len(data) == 0 {
			t.Fatalf("%s: %d bytes, %v", name, len(data), err)
		}
		if err := os.WriteFile(filepath.Join(crashed, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c := restoreCmd{dataFlag: dataFlag{Data: crashed}}
	if err := c.emptyLog(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(crashed); err != nil || len(left) != 1 {
		t.Errorf("%v, %v are left", left, err)
	}
	if in, err := sqlite.Inspect(t.Context(), c.file(), true); err != nil || in.AliveAt != 1234567 {
		t.Errorf("it lost what was in its log: %+v, %v", in.AliveAt, err)
	}
}

// TestRestoreStrangeStore: a file that somebody has changed is no backup, even where it is
// all sound: with a trigger more, or without a table, or brought up to date to be so.
func TestRestoreStrangeStore(t *testing.T) {
	dir := healthy(t)
	for name, c := range map[string]struct{ change, want string }{
		"as it was":       {"SELECT 1", ""},
		"foreign trigger": {spy, "the trigger spy is not of this program"},
		"no table":        {"DROP TABLE route", "the table route is missing"},
		"older, changed":  {fmt.Sprintf("PRAGMA user_version = %d", store.OldestSchema), "it cannot be brought up to date"},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := t.TempDir(), filepath.Join(t.TempDir(), "to")
			if err := os.CopyFS(from, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			damage(t, from, c.change)
			code, text := command("restore", "--data", to, filepath.Join(from, sqlite.FileName))
			_, err := os.Stat(filepath.Join(to, sqlite.FileName))
			if (code == exitFailed) != (c.want != "") || !strings.Contains(text, c.want) || (err == nil) != (c.want == "") {
				t.Errorf("%d %q, %v", code, text, err)
			}
		})
	}
}

// TestBackupIsAnotherFile: a store is neither overwritten by its own backup nor
// restored from itself, by whatever name, and what a kill left with a log is no backup.
func TestBackupIsAnotherFile(t *testing.T) {
	dir := healthy(t)
	path := filepath.Join(dir, sqlite.FileName)
	other := filepath.Join(t.TempDir(), "dir")
	link, hard := filepath.Join(t.TempDir(), "link.db"), filepath.Join(t.TempDir(), "hard.db")
	if err := errors.Join(os.Symlink(dir, other), os.Symlink(path, link), os.Link(path, hard), os.WriteFile(path+"-wal", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, filepath.Join(other, sqlite.FileName), link, hard, path + "-wal"} {
		for _, verb := range []string{"backup", "restore"} {
			if code, text := command(verb, "--data", dir, "--force", name); code != exitFailed || !strings.Contains(text, "belongs to the store in "+dir+": a backup is another file") {
				t.Errorf("%s %s: %d %q", verb, name, code, text)
			}
		}
	}
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Error("the store is another file")
	}
	killed := filepath.Join(t.TempDir(), "killed.db")
	if err := errors.Join(os.Link(path, killed), os.WriteFile(killed+"-wal", []byte("what came last"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if code, text := command("restore", "--data", t.TempDir(), killed); code != exitFailed || !strings.Contains(text, "make one of it with rimewatch backup") {
		t.Errorf("%d %q", code, text)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	for range 2 { // another file is one that may be replaced
		if code, text := command("backup", "--data", dir, "--force", copied); code != 0 {
			t.Errorf("%d %q", code, text)
		}
	}
}
