package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// planted makes a module with a package for each test file, and works in it.
func planted(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module planted\n\ngo 1.26\n")
	for name, body := range files {
		write(name+"/x_test.go", "package x\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nvar _ = os.Stat\n\n"+body)
	}
	t.Chdir(dir)
	return dir
}

// once is a test that fails where it has not been run before.
const once = `func TestOnce(t *testing.T) {
	t.Run("a part", func(t *testing.T) {
		if _, err := os.Stat("../been"); err != nil {
			_ = os.WriteFile("../been", nil, 0o600)
			t.Error("it was not there")
		}
	})
}

func TestFine(*testing.T) {}
`

// TestOnceMore: what passes on the second try is told and is no failure, what does not
// is one, at once and at the end of everything.
func TestOnceMore(t *testing.T) {
	dir := planted(t, map[string]string{"a": once, "b": "func TestAlways(t *testing.T) { t.Error(\"as ever\") }\n"})
	told := func(args ...string) (string, error) {
		t.Helper()
		var out strings.Builder
		err := run(t.Context(), append([]string{"-vet=off"}, args...), &out)
		if len(args) > 1 && args[0] == "-now" {
			out.Reset()
			err = run(t.Context(), args, &out)
		}
		return out.String(), err
	}
	const flaky = "FLAKY: planted/a TestOnce\nx_test.go:14: it was not there\n--- FAIL: TestOnce/a_part \n--- FAIL: TestOnce \n"
	took := regexp.MustCompile(`    |\(\d+\.\d+s\)`)
	plain := func(s string) string { return took.ReplaceAllString(s, "") }
	out, err := told("-run=^Test(Once|Fine)$", "./a")
	if err != nil || !strings.Contains(plain(out), flaky) || !strings.Contains(out, "again, alone: planted/a TestOnce\nok  \tplanted/a\t") {
		t.Errorf("at once: %v\n%s", err, out)
	}
	if out, err = told("./b"); err == nil || !strings.Contains(err.Error(), "failed twice: planted/b TestAlways") || strings.Contains(out, "FLAKY") || strings.Count(out, "as ever") != 2 {
		t.Errorf("always: %v\n%s", err, out)
	}
	if err := os.Remove(filepath.Join(dir, "been")); err != nil {
		t.Fatal(err)
	}
	waiting := t.TempDir()
	for _, c := range []string{"./a", "./b"} {
		var out strings.Builder
		if err := run(t.Context(), []string{"-later", waiting, "-vet=off", c}, &out); err != nil || strings.Contains(out.String(), "alone: ") || !strings.Contains(out.String(), "again: 1 failed and will be") {
			t.Errorf("%s, later: %v\n%s", c, err, &out)
		}
	}
	if err := os.WriteFile(filepath.Join(waiting, "browser.flaky"), []byte("a page\nwas not there\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var last strings.Builder
	err = run(t.Context(), []string{"-now", waiting}, &last)
	if err == nil || err.Error() != "failed twice: planted/b TestAlways" || !strings.Contains(plain(last.String()), flaky) || !strings.HasSuffix(last.String(), "FLAKY: a page\nwas not there\n") {
		t.Errorf("at the end: %v\n%s", err, &last)
	}
}

// TestNoLuck: what cannot be luck is not tried again.
func TestNoLuck(t *testing.T) {
	begun := `{"Action":"output","Package":"p","Test":"TestX","Output":"=== RUN   TestX\n"}` + "\n"
	says := func(text string) string {
		return fmt.Sprintf(`{"Action":"output","Package":"p","Test":"TestX","Output":%q}`, text) + "\n"
	}
	const failed, over = `{"Action":"fail","Package":"p","Test":"TestX"}` + "\n", `{"Action":"output","Package":"p","Output":"FAIL\tp\t1s\n"}` + "\n" + `{"Action":"fail","Package":"p"}` + "\n"
	for _, c := range []struct{ name, events, why, shown string }{
		{"luck", begun + says("    x_test.go:1: no\n") + failed + over, "", "    x_test.go:1: no\nFAIL\tp\t1s\n"},
		{"a race", begun + says("WARNING: DATA RACE\n") + failed + over, "p: WARNING: DATA RACE", "WARNING: DATA RACE\nFAIL\tp\t1s\n"},
		{"a race that another test found", begun + says("WARNING: DATA RACE\n") + `{"Action":"pass","Package":"p","Test":"TestX"}` + "\n" + strings.ReplaceAll(failed, "TestX", "TestY") + over, "p: WARNING: DATA RACE", "FAIL\tp\t1s\n"},
		{"a panic", begun + says("panic: x\n") + failed + over, "p: panic", "panic: x\nFAIL\tp\t1s\n"},
		{"a test that hangs", begun + `{"Action":"output","Package":"p","Output":"panic: test timed out after 1s\n"}` + "\n" + over, "p: panic", "FAIL\tp\t1s\npanic: test timed out after 1s\n"},
		{"the end of a package", `{"Action":"output","Package":"p","Output":"leaked\n"}` + "\n" + over, "p failed outside of its tests", "FAIL\tp\t1s\nleaked\n"},
		{"what is not compiled", `{"ImportPath":"p","Action":"build-output","Output":"p.go:1: no\n"}` + "\n" + over, "p failed outside of its tests", "p.go:1: no\nFAIL\tp\t1s\n"},
	} {
		var shown strings.Builder
		a, err := listen(strings.NewReader(c.events), &shown)
		if err != nil || a.why != c.why || len(a.Failed) != 1 || shown.String() != c.shown {
			t.Errorf("%s: %v, %+v, %q", c.name, err, a, shown.String())
		}
	}
}
