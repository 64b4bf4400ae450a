package e2e

import (
	"flag"
	"fmt"
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
)

func TestMain(m *testing.M) {
	// A race is a failure even where nobody looks at the exit code. Without the last a program that ends sleeps a second more.
	if err := os.Setenv("GORACE", "halt_on_error=1 exitcode=66 atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	if signal.Ignored(syscall.SIGHUP) { // as nohup has it, which every program that we start would inherit
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	testscript.Main(cleanly{m}, map[string]func(){"api": apiMain})
}

// cleanly removes what was built.
type cleanly struct{ m *testing.M }

func (c cleanly) Run() int {
	defer func() {
		if built.temporary != "" {
			_ = os.RemoveAll(built.temporary)
		}
	}()
	return c.m.Run()
}

// built is the program to test.
var built struct {
	once      sync.Once
	path      string
	temporary string // directory to remove
	err       error
}

// program is the path of the program to test, which is built at the first call.
func program(t testing.TB) string {
	t.Helper()
	built.once.Do(func() { built.path, built.err = build() })
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

func build() (string, error) {
	if path := os.Getenv("RIMEWATCH_E2E_BINARY"); path != "" {
		return filepath.Abs(path)
	}
	dir, err := os.MkdirTemp("", "rimewatch-e2e-")
	if err != nil {
		return "", err
	}
	built.temporary = dir
	path := filepath.Join(dir, "rimewatch")
	args := []string{"build", "-race", "-ldflags=-s -w", "-o", path}
	// What locks for itself, runs alone, or only costs time at each start (lists of bad passwords).
	for _, alone := range []string{"modernc.org/...", "github.com/ccojocar/...", "github.com/rimewatch/rimewatch/internal/lab/simulate"} {
		args = append(args, "-gcflags="+alone+"=-race=false")
	}
	cmd := exec.Command("go", append(args, "./cmd/rimewatch")...)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // the race detector needs it
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
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
