// Again runs go test, and what failed once more, alone. A test that passes then is
// flaky: it fails by luck. That is reported at the end of everything, with how it failed, so
// that it is mended, and is no failure of what was tested. A data race, a panic, a test
// that hangs, a package that fails outside of its tests, or more failures than a few
// are never luck.
//
//	again [-later DIR] FLAGS... PACKAGES...   go test; with -later, what failed waits in DIR
//	again -now DIR                            runs what waits, and says what was flaky
//
// Flags have their value in one word, as -run=X.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// mostAgain is how many tests of one call may have failed by luck.
const mostAgain = 5

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "again:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, w io.Writer) error {
	if len(args) == 2 && args[0] == "-now" {
		return now(ctx, args[1], w)
	}
	dir := ""
	if len(args) > 2 && args[0] == "-later" {
		dir, args = args[1], args[2:]
	}
	first, err := goTest(ctx, args, w)
	switch {
	case err != nil || len(first.Failed) == 0:
		return err
	case first.why != "":
		return fmt.Errorf("%s: nothing is run again", first.why)
	case len(first.Failed) > mostAgain:
		return fmt.Errorf("%d tests failed: none is run again", len(first.Failed))
	case dir == "":
		flaky, err := second(ctx, []attempt{first}, w)
		tell(flaky, w)
		return err
	}
	_, _ = fmt.Fprintf(w, "again: %d failed and will be run again, alone, after everything else\n", len(first.Failed))
	return later(dir, first)
}

// later keeps what failed.
func later(dir string, a attempt) error {
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "*.json")
	if err != nil {
		return err
	}
	if _, err = f.Write(b); err != nil {
		return err
	}
	return f.Close()
}

// now runs what waits, and reports it and what others have noted in files of dir.
func now(ctx context.Context, dir string, w io.Writer) error {
	waiting, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	var attempts []attempt
	for _, path := range waiting {
		var a attempt
		b, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(b, &a)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		attempts = append(attempts, a)
	}
	flaky, failed := second(ctx, attempts, w)
	notes, err := filepath.Glob(filepath.Join(dir, "*.flaky"))
	if err != nil {
		return err
	}
	for _, path := range notes {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		flaky = append(flaky, failure{Text: string(b)})
	}
	tell(flaky, w)
	return failed
}

// second runs each test that failed alone, and returns those that passed; the error
// names the others.
func second(ctx context.Context, attempts []attempt, w io.Writer) (flaky []failure, err error) {
	var failed []string
	for _, a := range attempts {
		for _, f := range a.Failed {
			_, _ = fmt.Fprintf(w, "again, alone: %s %s\n", f.Package, f.Test)
			flags := slices.DeleteFunc(slices.Clone(a.Flags), func(s string) bool { return strings.HasPrefix(s, "-run=") })
			// Not from the cache, which may hold a day on which it passed.
			alone, err := goTest(ctx, append(flags, "-count=1", "-run=^"+f.Test+"$", f.Package), w)
			if err != nil {
				return nil, err
			}
			if len(alone.Failed) > 0 {
				failed = append(failed, f.Package+" "+f.Test)
				continue
			}
			flaky = append(flaky, f)
		}
	}
	if len(failed) > 0 {
		return flaky, fmt.Errorf("failed twice: %s", strings.Join(failed, ", "))
	}
	return flaky, nil
}

func tell(flaky []failure, w io.Writer) {
	if len(flaky) == 0 {
		return
	}
	_, _ = fmt.Fprintf(w, "\nFLAKY: failed, and passed on the second try. Such a test is to be mended as if it had failed.\n")
	for _, f := range flaky {
		_, _ = fmt.Fprintf(w, "FLAKY: %s\n", strings.TrimSpace(f.Package+" "+f.Test+"\n"+f.Text))
	}
}

// goTest runs go test once and prints what it would print without -json.
func goTest(ctx context.Context, args []string, w io.Writer) (attempt, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...) //nolint:gosec // what the Makefile says
	cmd.Stderr = os.Stderr
	if slices.Contains(args, "-race") {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return attempt{}, err
	}
	if err := cmd.Start(); err != nil {
		return attempt{}, err
	}
	a, err := listen(out, w)
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			a.Flags = append(a.Flags, arg)
		}
	}
	if exit := cmd.Wait(); err == nil && exit != nil && len(a.Failed) == 0 {
		err = fmt.Errorf("go test: %w", exit)
	}
	return a, err
}
