package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch/internal/trial"
)

// edit is a change of one place of a file.
type edit struct{ file, from, to string }

// slowAnswers is no bug: it leaves a node that is killed time to have stored what it
// has not answered.
var slowAnswers = edit{"internal/cluster/trunk.go", "s.Post(came, request, q.answer)\n", "s.Post(came, request, q.answer)\n\t\t\ttime.Sleep(50 * time.Millisecond)\n"}

// slowSeals is none either: a node that is frozen is in the middle of one.
var slowSeals = edit{
	"internal/store/postgres/disk.go", "\treturn d.with(ctx, d.writes, func(c *pgx.Conn) error {\n\t\t// A request",
	"\tif !turn {\n\t\ttime.Sleep(200 * time.Millisecond)\n\t}\n\treturn d.with(ctx, d.writes, func(c *pgx.Conn) error {\n\t\t// A request",
}

// planted are bugs that the checker has to find.
var planted = []struct {
	name  string
	edits []edit
	fault func(c *cluster, round int) time.Duration
}{
	{"no fence", []edit{{
		"internal/store/postgres/disk.go",
		"if d.stream != 0 {\n\t\tb.Queue(\"SELECT fence", "if d.stream < 0 {\n\t\tb.Queue(\"SELECT fence",
	}}, (*cluster).pause},
	{"acknowledged before it is stored", []edit{{
		"internal/store/postgres/log.go", "\terr := attempt(d.closing)\n",
		"\tif !changes {\n\t\trow, ops, e = append([]byte(nil), row...), nil, new(store.Effects)\n\t\tgo func() {\n\t\t\tlate, cancel := context.WithTimeout(d.closing, 50_000_000)\n\t\t\tdefer cancel()\n\t\t\t<-late.Done()\n\t\t\t_ = attempt(d.closing)\n\t\t}()\n\t\treturn nil\n\t}\n\terr := attempt(d.closing)\n",
	}}, (*cluster).kill},
	{"the log of the one before is not read", []edit{{
		"internal/store/postgres/log.go",
		"core.ReadLog(s, \"shard = ? AND seq > ? ORDER BY seq\", yield, d.shard,", "core.ReadLog(s, \"shard = ? AND stream = ? AND seq > ? ORDER BY seq\", yield, d.shard, d.stream,",
	}}, (*cluster).kill},
	{"seals and checkpoints are not fenced", []edit{{
		"internal/store/postgres/disk.go",
		"b.Queue(\"BEGIN\")\n\t\t\td.fence(b)\n", "b.Queue(\"BEGIN\")\n",
	}, slowSeals}, (*cluster).pause},
	{"a commit whose outcome is not known counts as failed", []edit{{
		"internal/store/postgres/log.go", "\tif unknown(err) {\n\t\t// It is sent", "\tif false {\n\t\t// It is sent",
	}}, (*cluster).cut},
	{"what has no time is sent again", []edit{slowAnswers, {
		"internal/cluster/trunk.go", "case timed():", "case true:",
	}}, (*cluster).kill},
}

// plantedRounds is how often a fault is tried before a bug counts as not found.
const plantedRounds = 8

// TestClusterPlanted builds the service with bugs, and has the checker find them.
func TestClusterPlanted(t *testing.T) {
	trial.NeedsAll(t)
	faults(t)
	for _, bug := range planted {
		t.Run(bug.name, func(t *testing.T) {
			c := newClusterOf(t, plant(t, bug.edits), direct)
			for round := range plantedRounds {
				c.load(func() {
					time.Sleep(time.Duration(300+rand.IntN(700)) * time.Millisecond) //nolint:forbidigo // a load for a while
					bug.fault(c, round)
				})
				c.restart(round)
				if wrong := c.wrong(); len(wrong) > 0 {
					t.Logf("found after %d rounds: %s", round+1, wrong[0])
					return
				}
			}
			t.Errorf("%d rounds did not show it", plantedRounds)
		})
	}
}

// TestPlantedHolds: the places that the faults and bugs change are still there.
func TestPlantedHolds(t *testing.T) {
	all := slices.Clone(adjustable)
	for _, bug := range planted {
		all = append(all, bug.edits...)
	}
	for _, e := range all {
		text, err := os.ReadFile(filepath.Join("..", e.file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), e.from) {
			t.Errorf("%s does not hold %q any more", e.file, e.from)
		}
	}
}

// plant builds the program with changes.
func plant(t *testing.T, edits []edit) string {
	t.Helper()
	dir := t.TempDir()
	replace := make(map[string]string)
	for i, e := range edits {
		path, err := filepath.Abs(filepath.Join("..", e.file))
		if err != nil {
			t.Fatal(err)
		}
		source, again := replace[path]
		if !again {
			source = path
		}
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(text), e.from, e.to, 1)
		if changed == string(text) {
			t.Fatalf("%s does not hold %q any more", e.file, e.from)
		}
		replace[path] = filepath.Join(dir, fmt.Sprint("changed", i, ".go"))
		if err := os.WriteFile(replace[path], []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "rimewatch")
	cmd := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", bin, "./cmd/rimewatch")
	cmd.Dir, cmd.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return bin
}

// running reports whether a process has not ended.
func (p *process) running() bool { return p.cmd.ProcessState == nil }

// wrong is what the checker finds.
func (c *cluster) wrong() (list []string) {
	for i, d := range c.devices {
		if err := d.verify(c.client(d, i, nil), 0); err != nil {
			list = append(list, fmt.Sprintf("%s of workspace %d: %v", d.serial, d.number%clusterWorkspaces, err))
		}
	}
	for i, u := range c.untimed {
		if err := u.verify(c.client(&u.sender, i, nil)); err != nil {
			list = append(list, fmt.Sprintf("%s: %v", u.serial, err))
		}
	}
	return append(list, c.wrongTables()...)
}
