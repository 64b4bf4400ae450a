package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// faults are skipped unless they are asked for.
func faults(t *testing.T) {
	t.Helper()
	if os.Getenv("RIMEWATCH_CLUSTER_FAULTS") == "" {
		t.Skip("make cluster-faults")
	}
}

// clockFile names the file with how far a node's clock is ahead of the machine's.
const clockFile = "RIMEWATCH_TEST_CLOCK"

// adjustable has a node take its time from clockFile, and look every moment for
// workspaces that are to be erased. It is no bug.
var adjustable = []edit{
	{"internal/app/node.go", "\t\tnow = time.Now\n", "\t\tnow = shifted\n"},
	{"internal/app/node.go", "Now: time.Now, Stamp: cfg.Now,", "Now: shifted, Stamp: cfg.Now,"},
	{"internal/app/node.go", "// NewNode connects", `func shifted() time.Time {
	text, _ := os.ReadFile(os.Getenv("` + clockFile + `"))
	ahead, _ := time.ParseDuration(string(text))
	return time.Now().Add(ahead)
}

// NewNode connects`},
	{"internal/app/app.go", "Wall: rimewatch.TimeOf(now)", "Wall: rimewatch.TimeOf(shifted())"},
	{"internal/app/erase.go", "a.clock != nil && !a.clock.Sure()", "false"},
	{"internal/app/erase.go", "eraseEvery = 10 * time.Minute", "eraseEvery = 200 * time.Millisecond"},
}

// clusterFaults are what happens to one node after the other, or to the database.
var clusterFaults = []struct {
	name     string
	fault    func(c *cluster, round int) time.Duration
	most     int // rounds, 0 = as many as are asked for
	shape    shape
	settings []string // of the database
}{
	{"kill", (*cluster).kill, 0, direct, nil},
	{"pause", (*cluster).pause, 0, direct, nil},
	{"stopped in order", (*cluster).stop, fewer, direct, nil},
	{"cut", (*cluster).cut, fewer, direct, nil},
	{"nodes cut off from each other", (*cluster).isolate, fewer, proxied, nil},
	{"a node cut off from the database", (*cluster).strand, fewer, proxied, nil},
	{"a clock is set wrong", (*cluster).misset, fewer, direct, nil},
	{"database killed", (*cluster).crash, fewer, direct, nil},
	{"database killed, synchronous_commit off", (*cluster).crash, fewer, direct, []string{"synchronous_commit=off"}},
	{"primary killed, standby promoted", (*cluster).replace, fewer, replicated, nil},
	{"database read-only", (*cluster).demote, fewer, direct, nil},
	{"database slow", (*cluster).slow, fewer, direct, nil},
	{"database full", (*cluster).fill, fewer, direct, nil},
	{"database full during a take-over", (*cluster).fillDuringTakeOver, fewer, direct, nil},
	{"privileges taken away", (*cluster).disown, fewer, direct, nil},
	{"a workspace deleted during its take-over", (*cluster).eraseDuringTakeOver, fewer, direct, nil},
}

// fewer is the number of rounds of faults that take longer than others.
const fewer = 20

// TestClusterFaults has one fault after the other happen to one node after the other.
func TestClusterFaults(t *testing.T) {
	trial.NeedsAll(t)
	faults(t)
	bin := plant(t, adjustable)
	for _, x := range clusterFaults {
		t.Run(x.name, func(t *testing.T) {
			c := newClusterOf(t, bin, x.shape, x.settings...)
			n := rounds(t)
			if x.most > 0 {
				n = min(n, x.most)
			}
			c.endure(n, func(int) bool { return true }, func(int) func(*cluster, int) time.Duration { return x.fault })
		})
	}
}

// TestClusterStorm has any fault happen after any other, for eighteen seconds a round
// that is asked for: half an hour for a hundred.
func TestClusterStorm(t *testing.T) {
	trial.NeedsAll(t)
	faults(t)
	c := newClusterOf(t, plant(t, adjustable), proxied)
	end := time.Now().Add(time.Duration(rounds(t)) * 18 * time.Second)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	dice := rand.New(rand.NewPCG(seed, 0))
	c.endure(1<<30, func(int) bool { return time.Now().Before(end) }, func(int) func(*cluster, int) time.Duration {
		x := clusterFaults[dice.IntN(len(clusterFaults))]
		t.Log("next: ", x.name)
		return x.fault
	})
}

// endure has faults happen under load, for so many rounds and as long as more says so,
// and looks again and again whether anything was lost.
func (c *cluster) endure(n int, more func(round int) bool, fault func(round int) func(*cluster, int) time.Duration) {
	t := c.t
	var took []time.Duration
	for round := 0; round < n && more(round); round++ {
		f := fault(round)
		c.load(func() {
			time.Sleep(time.Duration(300+rand.IntN(700)) * time.Millisecond) //nolint:forbidigo // a load for a while
			took = append(took, f(c, round))
		})
		c.sound()
		c.restart(round)
		if round%fullEvery == fullEvery-1 {
			c.verify()
		}
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	c.verify()
	slices.Sort(took)
	t.Logf("%d rounds: %d readings acknowledged, %d answers 5xx; served again after %v (median), %v (longest)",
		len(took), c.acknowledged(), c.failed.Load(), took[len(took)/2], took[len(took)-1])
}

// kill kills a node and returns after what time others served its shards.
func (c *cluster) kill(round int) time.Duration {
	c.nodes[round%clusterNodes].p.kill()
	return c.reowned(round + 1)
}

// stop stops a node in order, and starts it again.
func (c *cluster) stop(round int) time.Duration {
	c.t.Helper()
	c.handOver(round % clusterNodes)
	return c.reowned(round)
}

// pause freezes a node until others serve its shards.
func (c *cluster) pause(round int) time.Duration {
	c.t.Helper()
	p := c.nodes[round%clusterNodes].p
	if err := p.freeze(); err != nil {
		c.t.Fatal(err)
	}
	took := c.reowned(round + 1)
	left, err := c.count(fmt.Sprintf("SELECT count(*) FROM shard WHERE open AND split_part(node, '/', 2) = '%d'", p.cmd.Process.Pid))
	if err != nil || left > 0 {
		c.t.Errorf("a node that is frozen keeps %d shards, %v", left, err)
	}
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	time.Sleep(500 * time.Millisecond) //nolint:forbidigo // it believes that it owns shards
	return took
}

// cut breaks all connections to the database while commits wait for their standby:
// they are stored, and nobody is told.
func (c *cluster) cut(round int) time.Duration {
	c.t.Helper()
	for _, statement := range []string{
		"ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()", "SELECT pg_sleep(0.3)",
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'rimewatch%'", "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()",
	} {
		if err := c.database.Exec("postgres", statement); err != nil {
			c.t.Fatal(err)
		}
	}
	return c.reowned(round)
}

// handOver stops a node in order and starts it again.
func (c *cluster) handOver(node int) {
	c.t.Helper()
	m := c.nodes[node]
	_ = m.p.cmd.Process.Signal(os.Interrupt)
	select {
	case err := <-m.p.done:
		if err != nil {
			c.t.Errorf("a node ended with %v", err)
		}
	case <-time.After(patience):
		_ = m.p.cmd.Process.Signal(syscall.SIGQUIT) // it says where it hangs
		c.t.Fatalf("a node does not stop: %v", <-m.p.done)
	}
	c.start(m)
	c.awaitAll(clusterNodes)
}

// restart starts a node again that a fault has ended.
func (c *cluster) restart(round int) {
	c.t.Helper()
	if m := c.nodes[round%clusterNodes]; !m.p.running() {
		c.start(m)
	}
	c.awaitAll(clusterNodes)
}

// isolate cuts one node off from the others, or all of them from each other, while all
// see the database.
func (c *cluster) isolate(round int) time.Duration {
	c.t.Helper()
	cut := c.nodes
	if round%2 == 0 {
		cut = cut[round/2%clusterNodes:][:1]
	}
	for _, m := range cut {
		m.inner.Stall()
	}
	time.Sleep(time.Duration(1000+rand.IntN(5000)) * time.Millisecond) //nolint:forbidigo // shorter and longer than is waited for
	for _, m := range cut {
		m.inner.Resume()
	}
	return c.reowned(round)
}

// strand cuts one node off from the database until others serve its shards.
func (c *cluster) strand(round int) time.Duration {
	c.t.Helper()
	proxy := c.nodes[round%clusterNodes].outer
	proxy.Stall()
	defer proxy.Resume()
	took := c.reowned(round + 1)
	time.Sleep(500 * time.Millisecond) //nolint:forbidigo // it believes that it owns shards
	return took
}

// misset sets a node's clock wrong until it has given its shards away.
func (c *cluster) misset(round int) time.Duration {
	c.t.Helper()
	m := c.nodes[round%clusterNodes]
	set := func(ahead string) {
		if err := os.WriteFile(m.clock, []byte(ahead), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	set([]string{"5m", "-5m", "4s"}[round%3])
	begun := time.Now()
	for left := 1.0; left > 0; time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > patience {
			c.t.Fatalf("a node whose clock is wrong keeps %v shards", left)
		}
		if figures := c.figures(m, figureShards); len(figures) > 0 {
			left = figures[figureShards]
		}
	}
	took := c.reowned(round)
	set("0s")
	return took
}

// eraseDuringTakeOver has a workspace erased while its node is killed.
func (c *cluster) eraseDuringTakeOver(round int) time.Duration {
	c.t.Helper()
	name := fmt.Sprint("Doomed ", round)
	out, err := exec.Command(c.bin, "token", "create", "--data", c.t.TempDir(), "--store", c.database.URL("postgres"), "--workspace", name, "--create", "--name", "doomed").Output()
	if err != nil {
		c.t.Fatal(err)
	}
	cl, err := client.New(c.nodes[round%clusterNodes].address(), strings.TrimSpace(string(out)), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	for i := range 30 {
		serial := fmt.Sprint("X-", i)
		if _, err := cl.CreateDevice(c.t.Context(), serial, alertAtOnce()); err != nil {
			c.t.Fatal(err)
		}
		if _, _, err := cl.PostReading(c.t.Context(), client.Reading{DeviceSerial: serial, Measurements: client.Measurements{ProductZoneTemp: client.Value(30.0)}}); err != nil {
			c.t.Fatal(err)
		}
	}
	c.execute("UPDATE workspace SET delete_at = 1 WHERE name = '" + name + "'")
	time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond) //nolint:forbidigo // it may have begun, or be over
	took := c.kill(round)
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		left, err := c.count("SELECT (SELECT count(*) FROM workspace WHERE name = '" + name + "') + (SELECT count(*) FROM device WHERE serial LIKE 'X-%')")
		if err == nil && left == 0 {
			break
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("%d rows of a workspace that was erased are left, %v", left, err)
		}
	}
	for i := 1; i < clusterNodes; i++ {
		other, err := client.New(c.nodes[(round+i)%clusterNodes].address(), strings.TrimSpace(string(out)), once)
		if err == nil {
			_, err = other.Device(c.t.Context(), "X-0")
		}
		if client.StatusOf(err) != http.StatusUnauthorized {
			c.t.Errorf("the token of a workspace that was erased: %v", err)
		}
	}
	return took
}

// count returns what a query of one number yields.
func (c *cluster) count(query string) (n int, err error) {
	conn, err := pgx.Connect(c.t.Context(), c.database.URL("postgres"))
	if err != nil {
		return 0, err
	}
	defer conn.Close(c.t.Context())
	err = conn.QueryRow(c.t.Context(), query).Scan(&n)
	return n, err
}
