package e2e

import (
	"flag"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/trial"
)

func TestMain(m *testing.M) {
	// A race is a failure even where nobody looks at the exit code. Without the last a program that ends sleeps a second more.
	if err := os.Setenv("GORACE", "halt_on_error=1 exitcode=66 atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	if signal.Ignored(syscall.SIGHUP) { // as nohup has it, which every program that we start would inherit
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	testscript.Main(cleanly{m}, map[string]func(){"api": apiMain, "sdk": sdkMain})
}

// cleanly removes what was built.
type cleanly struct{ m *testing.M }

func (c cleanly) Run() int {
	defer func() {
		if built.dir != "" {
			_ = os.RemoveAll(built.dir)
		}
	}()
	return c.m.Run()
}

// built is where programs were built, and the path of the one to test once it is known.
var built struct {
	mu        sync.Mutex
	dir, path string
}

// program returns the path of the program to test, which is built at the first call.
func program(t testing.TB) string {
	t.Helper()
	path := os.Getenv("RIMEWATCH_E2E_BINARY")
	if path == "" {
		path = build(t, "./cmd/rimewatch")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	built.mu.Lock()
	defer built.mu.Unlock()
	built.path = path
	return path
}

// build returns the path of a program of this module, which is built at the first call.
func build(t testing.TB, of string) string {
	t.Helper()
	built.mu.Lock()
	defer built.mu.Unlock()
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "rimewatch-e2e-")
		if err != nil {
			t.Fatal(err)
		}
		built.dir = dir
	}
	path := filepath.Join(built.dir, filepath.Base(of))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	args := []string{"build", "-ldflags=-s -w", "-o", path}
	if trial.Long() { // the goroutines of a server meet in the tests of its packages, too, at less cost
		args = append(args, "-race")
		// Code that locks for itself, runs alone, or only costs time at each start (lists of bad passwords).
		for _, alone := range []string{"modernc.org/...", "github.com/ccojocar/...", "github.com/rimewatch/rimewatch/internal/simulate"} {
			args = append(args, "-gcflags="+alone+"=-race=false")
		}
	}
	cmd := exec.Command("go", append(args, of)...)
	cmd.Dir = ".."
	if trial.Long() {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // the race detector needs it
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

var update = flag.Bool("update", false, "write what the program printed into the scripts")

func TestScripts(t *testing.T) {
	bin := program(t)
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(bin)+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Setenv("TMPDIR", env.WorkDir+"/tmp")
			env.Setenv("SOME", rimewatch.NewToken(func() byte { return 7 })) // has the form of a token
			// Readings of a date that stands in a script would be too old for the server one day.
			berlin := rimewatch.ZoneOf("Europe/Berlin")
			midnight := rimewatch.TimeOf(time.Now()).DayTime(-2, 0, berlin)
			env.Setenv("DAY", midnight.Std().In(berlin).Format("02.01.2006"))
			env.Setenv("MIDNIGHT", midnight.String())
			env.Setenv("TEN_PAST", (midnight + 10*rimewatch.Minute).String())
			env.Setenv("ONE", (midnight + rimewatch.Hour).String())
			return os.Mkdir(filepath.Join(env.WorkDir, "tmp"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"start":  start,
			"end":    end,
			"reload": reload,
			"token":  token,
			"usage":  usage,
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}
