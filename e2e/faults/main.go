// Command faults plants every fault that the service must hold under, one after
// the other, and prints a line about each: `make faults`. The tests are the ones of
// `go test ./...`, at greater length; it ends with 1 when one of them fails.
package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// fault is a kind of trouble and the tests that plant it.
type fault struct {
	name  string
	where string // package
	tests string // regular expression
	race  bool   // with the race detector; figures are without it
	env   []string
}

const (
	e2e    = "./e2e"
	sqlite = "./internal/store/sqlite"
	ingest = "./internal/ingest"
)

var faults = []fault{
	{"what doctor says of each", "./cmd/rimewatch", "TestDoctor", false, nil},
	{"kill -9", e2e, "TestKill9$", true, []string{"RIMEWATCH_KILL9_ROUNDS=25"}},
	{"kill -9 while devices send at every inlet", e2e, "TestKill9Inlets", true, []string{"RIMEWATCH_KILL9_ROUNDS=25"}},
	{"kill -9 while messages are sent", e2e, "TestKill9BeforeDelivery", true, nil},
	{"crash at every step that writes", sqlite, "TestCrashAtEveryStep", false, nil},
	{"power cuts", sqlite, "TestPowerCuts|TestTornWrites", false, []string{"RIMEWATCH_POWER_CUTS=1000"}},
	{"failing sync", sqlite, "TestFailureAtEveryStep|TestControlFault", false, nil},
	{"slow sync", ingest, "TestSlowSync", true, nil},
	{"full disk at start and while running", e2e, "TestFullDiskOfAServer", false, nil},
	{"full disk, as the store sees it", sqlite, "TestOpenOnFullDisk|TestFreshStoreOnFullDisk", true, nil},
	{"full disk, as ingest sees it", ingest, "TestStartOnFullDisk|TestFullDisk", true, nil},
	{"read-only disk", e2e, "TestReadOnlyDiskOfAServer", false, nil},
	{"read-only disk, as the store sees it", sqlite, "TestLogOnReadOnlyDisk", true, nil},
	{"flipped bits", sqlite, "TestFlippedBits", false, []string{"RIMEWATCH_FLIPS=1000"}},
	{"damaged rows and chunks", sqlite, "TestDamage|TestInspectFindsDamage", true, nil},
	{"steps of the clock", ingest, "TestClockSteps|TestBootIn1970|TestClockDeletesNothing|TestClockIsAudited", true, nil},
	{"descriptors used up", e2e, "TestDescriptorsUsedUp", false, nil},
	{"little memory", e2e, "TestLittleMemory", false, nil},
	{"floods", e2e, "TestFloods", false, nil},
	{"slow and endless clients", "./internal/httpapi", "TestSlowSenders|TestHeldBodies|TestPlaces", true, nil},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "rimewatch-faults-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	plain := filepath.Join(dir, "rimewatch")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", plain, "./cmd/rimewatch").CombinedOutput(); err != nil { //nolint:gosec // our own path
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	began, planted, failed := time.Now(), 0, 0
	for i := range faults {
		f := &faults[i]
		if len(os.Args) > 1 && !strings.Contains(f.name, os.Args[1]) {
			continue
		}
		planted++
		began := time.Now()
		notes, err := f.plant(ctx, plain)
		verdict := "held"
		if err != nil {
			verdict = "FAILED"
			failed++
			fmt.Printf("%s\n", notes.all)
		}
		fmt.Printf("%-6s  %-38s %6.1f s  %s\n", verdict, f.name, time.Since(began).Seconds(), strings.Join(notes.said, "; "))
	}
	fmt.Printf("%d of %d faults held, in %v\n", planted-failed, planted, time.Since(began).Round(time.Second))
	if failed > 0 {
		return fmt.Errorf("%d did not hold", failed)
	}
	return nil
}

// notes are what tests printed.
type notes struct {
	all  []byte
	said []string // what they logged
}

// plant runs a fault's tests.
func (f *fault) plant(ctx context.Context, plain string) (notes, error) {
	args := []string{"test", "-count=1", "-v", "-timeout", "15m", "-run", "^(" + f.tests + ")"}
	env := append(os.Environ(), "RIMEWATCH_TESTS=faults", fmt.Sprintf("RAPID_SEED=%d", rand.Uint64()))
	if f.race {
		args = append(args, "-race", "-gcflags=modernc.org/...=-race=false")
		env = append(env, "CGO_ENABLED=1")
	} else {
		env = append(env, "CGO_ENABLED=0", "RIMEWATCH_E2E_BINARY="+plain)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, f.where)...) //nolint:gosec // the table's
	cmd.Env = append(env, f.env...)
	out, err := cmd.CombinedOutput()
	n := notes{all: out}
	passed := 0
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "--- PASS") {
			passed++
		}
		if place, text, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && strings.Contains(place, "_test.go:") {
			n.said = append(n.said, text)
		}
	}
	if err == nil && passed == 0 {
		err = fmt.Errorf("no test is called %s", f.tests)
		n.all = append(n.all, err.Error()...)
	}
	return n, err
}
