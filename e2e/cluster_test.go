package e2e

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
)

const (
	clusterNodes      = 3
	clusterWorkspaces = 8
	clusterSecret     = "a secret that only the tests know"
	// reownWithin is how long a shard may go unserved after a kill, on a busy machine
	// whose processes are built to find races.
	reownWithin = 20 * time.Second
)

// cluster is three nodes on one database, and what was sent to them.
type cluster struct {
	t        *testing.T
	bin      string
	database *pgtest.Server
	nodes    []*member
	tokens   []string
	devices  []*sender // of workspace i at i, i+clusterWorkspaces, …
	failed   atomic.Int64
}

// member is a node: a process that is started again and again.
type member struct {
	dir, peer string // peer is where other nodes reach it
	mu        sync.Mutex
	p         *process
	url       string
}

func (m *member) address() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.url
}

// freeAddress is an address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func newCluster(t *testing.T) *cluster { return newClusterOf(t, program(t)) }

// newClusterOf is newCluster of a program.
func newClusterOf(t *testing.T, bin string) *cluster {
	t.Helper()
	database, err := pgtest.Start("full_page_writes=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(database.Stop)
	c := &cluster{t: t, bin: bin, database: database}
	for i := range clusterNodes {
		c.nodes = append(c.nodes, &member{dir: filepath.Join(t.TempDir(), fmt.Sprint("node", i)), peer: freeAddress(t)})
	}
	for _, m := range c.nodes {
		c.start(m)
	}
	for i := range clusterWorkspaces {
		out, err := exec.Command(c.bin, "token", "create", "--data", t.TempDir(), "--store", database.URL("postgres"),
			"--workspace", fmt.Sprint("W", i), "--create", "--name", "cluster").Output()
		if err != nil {
			t.Fatal(err)
		}
		c.tokens = append(c.tokens, strings.TrimSpace(string(out)))
	}
	c.awaitAll(clusterNodes)
	for i := range 4 * clusterWorkspaces {
		d := &sender{serial: fmt.Sprintf("D-%03d", i), number: i, size: 1, sent: make(map[rimewatch.Time]*sample)}
		if i < clusterWorkspaces {
			d.size = batchSize
		}
		if i/clusterWorkspaces == 1 {
			d.heat = always
		}
		c.devices = append(c.devices, d)
		_, err := c.client(d, i).CreateDevice(t.Context(), d.serial, alertAtOnce())
		if err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// start starts a node and waits until it takes requests in.
func (c *cluster) start(m *member) {
	c.t.Helper()
	env := append(os.Environ(), "GORACE=halt_on_error=1 exitcode=66", "RIMEWATCH_CLUSTER_SECRET="+clusterSecret)
	p, url, _, err := launch("", c.bin, env, []string{
		"serve", "--listen", "127.0.0.1:0", "--data", m.dir, "--store", c.database.URL("postgres"), "--seal-after", "300ms",
		"--cluster-listen", m.peer, "--cluster-url", "http://" + m.peer, "--cluster-shards", "8",
	})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		if c.t.Failed() {
			c.t.Logf("node %s:\n%s", m.peer, p.err.String())
		}
	})
	m.mu.Lock()
	m.p, m.url = p, url
	m.mu.Unlock()
}

// client speaks for a device to a node.
func (c *cluster) client(d *sender, node int) *client.Client {
	cl, err := client.New(c.nodes[node%clusterNodes].address(), c.tokens[d.number%clusterWorkspaces], &client.Options{Retries: -1})
	if err != nil {
		c.t.Fatal(err)
	}
	return cl
}

// figures reads the figures of a node.
func (c *cluster) figures(m *member, names ...string) map[string]float64 {
	out := make(map[string]float64)
	hc := http.Client{Timeout: 5 * time.Second}
	resp, err := hc.Get(m.address() + "/metrics")
	if err != nil {
		return out
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 2 && slices.Contains(names, words[0]) {
			out[words[0]], _ = strconv.ParseFloat(words[1], 64)
		}
	}
	return out
}

const (
	figureShards    = "rimewatch_cluster_shards"
	figureForwarded = "rimewatch_cluster_forwarded_total"
)

// awaitAll waits until so many nodes serve about as many shards each, and all of
// them are ready.
func (c *cluster) awaitAll(nodes int) {
	c.t.Helper()
	var last string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		serving, shards, ready := 0, 0, 0
		last = ""
		for i, m := range c.nodes {
			n := int(c.figures(m, figureShards)[figureShards])
			if shards += n; n > 0 {
				serving++
			}
			hc := http.Client{Timeout: 5 * time.Second}
			resp, err := hc.Get(m.address() + "/readyz")
			if err == nil {
				if resp.StatusCode == http.StatusOK {
					ready++
				}
				text, _ := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				last += fmt.Sprintf("\nnode %d: %d shards, %s", i, n, text)
			}
		}
		if serving == nodes && shards == 8 && ready == nodes {
			return
		}
	}
	c.t.Fatalf("the shards are not served by %d nodes: %s", nodes, last)
}

// drive sends what a device measures to one node after the other until ctx ends.
func (c *cluster) drive(ctx context.Context, d *sender) {
	for i := d.number; ctx.Err() == nil; i++ {
		readings := make([]client.Reading, d.size)
		for i := range readings {
			readings[i] = d.next()
		}
		// A reading that was not acknowledged is sent again, to another node.
		for try := 0; ; try++ {
			err := d.post(context.WithoutCancel(ctx), c.client(d, i+try), readings)
			if err == nil {
				break
			}
			if client.StatusOf(err) >= 500 { // a connection that is refused is the balancer's to notice
				c.failed.Add(1)
				c.t.Logf("try %d of %s: %v", try, d.serial, err)
			}
			if ctx.Err() != nil || try > 20 {
				break
			}
			time.Sleep(20 * time.Millisecond) //nolint:forbidigo // a device that retries
		}
		select {
		case <-ctx.Done():
		case <-time.After(rand.N(pauseMS * time.Millisecond)):
		}
	}
}

// load has all devices send while f runs.
func (c *cluster) load(f func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for _, d := range c.devices {
		wg.Go(func() { c.drive(ctx, d) })
	}
	f()
	cancel()
	wg.Wait()
}

func (c *cluster) acknowledged() (n int) {
	for _, d := range c.devices {
		for _, s := range d.sent {
			if s.acknowledged {
				n++
			}
		}
	}
	return n
}

// sound looks for what no node may ever print.
func (c *cluster) sound() {
	c.t.Helper()
	for _, m := range c.nodes {
		for _, bad := range []string{"DATA RACE", "panic", "the log holds another commit"} {
			if text := m.p.err.String(); strings.Contains(text, bad) {
				c.t.Fatal(text)
			}
		}
	}
}

// reowned waits until a workspace of every shard is answered through a node, and
// returns how long that took.
func (c *cluster) reowned(by int) time.Duration {
	c.t.Helper()
	begun := time.Now()
	for i := range clusterWorkspaces {
		for {
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
			_, err := c.client(c.devices[i], by).Device(ctx, c.devices[i].serial)
			cancel()
			if err == nil {
				break
			}
			if time.Since(begun) > reownWithin {
				c.t.Fatalf("workspace %d is not served after %v: %v", i, reownWithin, err)
			}
		}
	}
	return time.Since(begun)
}

// TestCluster kills a node under load, freezes another, and stops the third in order.
func TestCluster(t *testing.T) {
	c := newCluster(t)
	var took []time.Duration
	c.load(func() {
		time.Sleep(500 * time.Millisecond) //nolint:forbidigo // a load for a while
		took = append(took, c.kill(0))
	})
	c.restart(0)
	c.load(func() {
		time.Sleep(500 * time.Millisecond) //nolint:forbidigo // likewise
		took = append(took, c.pause(1))
	})
	c.awaitAll(clusterNodes)
	c.sound()
	failed := c.failed.Load()
	c.load(func() { c.handOver(2) })
	c.verify()
	c.sound()
	// Nothing is lost, but requests are still answered by 503 while the shards move.
	switch n := c.failed.Load() - failed; {
	case n > 0 && os.Getenv("RIMEWATCH_CLUSTER_FAULTS") != "":
		t.Errorf("%d answers 5xx when a node was stopped in order and started again", n)
	case n > 0:
		t.Logf("%d answers 5xx when a node was stopped in order and started again", n)
	}
	if c.figures(c.nodes[2], figureShards)[figureShards] == 0 {
		t.Error("nothing was given to a node that came back")
	}
	forwarded := 0.0
	for _, m := range c.nodes {
		forwarded += c.figures(m, figureForwarded)[figureForwarded]
	}
	if n := c.acknowledged(); forwarded == 0 || n < 300 {
		t.Errorf("%d readings, %.0f forwarded requests: that is no load", n, forwarded)
	}
	t.Logf("%d readings acknowledged, %.0f requests forwarded; served again after %v (killed), %v (frozen)", c.acknowledged(), forwarded, took[0], took[1])
}

// faults are skipped unless they are asked for.
func faults(t *testing.T) {
	t.Helper()
	if os.Getenv("RIMEWATCH_CLUSTER_FAULTS") == "" {
		t.Skip("make cluster-faults")
	}
}

// TestClusterFaults has one fault after the other happen to one node after the other.
func TestClusterFaults(t *testing.T) {
	faults(t)
	for name, fault := range map[string]func(c *cluster, round int) time.Duration{"kill": (*cluster).kill, "pause": (*cluster).pause} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			var took []time.Duration
			for round := range rounds(t) {
				c.load(func() {
					time.Sleep(time.Duration(300+rand.IntN(700)) * time.Millisecond) //nolint:forbidigo // a load for a while
					took = append(took, fault(c, round))
				})
				c.sound()
				c.restart(round)
				if round%fullEvery == fullEvery-1 || round == rounds(t)-1 {
					c.verify()
				}
				if t.Failed() {
					t.Fatalf("in round %d", round)
				}
			}
			slices.Sort(took)
			t.Logf("%d rounds: %d readings acknowledged, %d answers 5xx; served again after %v (median), %v (longest)",
				len(took), c.acknowledged(), c.failed.Load(), took[len(took)/2], took[len(took)-1])
		})
	}
}

// kill kills a node and returns after what time others served its shards.
func (c *cluster) kill(round int) time.Duration {
	c.nodes[round%clusterNodes].p.kill()
	return c.reowned(round + 1)
}

// pause freezes a node until others serve its shards.
func (c *cluster) pause(round int) time.Duration {
	p := c.nodes[round%clusterNodes].p
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)
	took := c.reowned(round + 1)
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	time.Sleep(500 * time.Millisecond) //nolint:forbidigo // it believes that it owns shards
	return took
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
	case <-time.After(reownWithin):
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

// TestClusterRefuses has what does not fit refused in plain words.
func TestClusterRefuses(t *testing.T) {
	c := newCluster(t)
	store := c.database.URL("postgres")
	for _, x := range []struct {
		name, want string
		env        string
		args       []string
	}{
		{"another secret", "another --cluster-secret", "another secret of nodes", []string{"--cluster-listen", "127.0.0.1:0", "--cluster-url", "http://127.0.0.1:1"}},
		{"a short secret", "16 characters", "short", []string{"--cluster-listen", "127.0.0.1:0", "--cluster-url", "http://127.0.0.1:1"}},
		{"no URL", "--cluster-url", clusterSecret, []string{"--cluster-listen", "127.0.0.1:0"}},
		{"no node", "--cluster-listen", "", nil},
		{"MQTT", "--mqtt-listen", clusterSecret, []string{"--cluster-listen", "127.0.0.1:0", "--cluster-url", "http://127.0.0.1:1", "--mqtt-listen", "127.0.0.1:0"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, c.bin, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--store", store}, x.args...)...)
			cmd.Env = append(os.Environ(), "RIMEWATCH_CLUSTER_SECRET="+x.env)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), x.want) {
				t.Errorf("it says %q, %v: not %q", out, err, x.want)
			}
		})
	}
	// The internal listener believes nobody who does not know the secret.
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+c.nodes[0].peer+"/api/v1/devices", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.tokens[0])
	r.Header.Set("X-Rimewatch-Cluster-Shard", "1")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("a stranger gets %s", resp.Status)
	}
	// A revoked token is refused by every node within a second.
	c.revoke(0)
}

// revoke revokes the token of a workspace through one node and asks all of them.
func (c *cluster) revoke(workspace int) {
	c.t.Helper()
	out, err := exec.Command(c.bin, "token", "revoke", c.tokens[workspace], "--workspace", fmt.Sprint("W", workspace), "--data", c.t.TempDir(), "--store", c.database.URL("postgres")).CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s: %v", out, err)
	}
	deadline := time.Now().Add(time.Second)
	for i := range c.nodes {
		for {
			_, err := c.client(c.devices[workspace], i).Device(c.t.Context(), c.devices[workspace].serial)
			if client.StatusOf(err) == http.StatusUnauthorized {
				break
			}
			if time.Now().After(deadline) {
				c.t.Fatalf("node %d answers %v a second after the token was revoked", i, err)
			}
		}
	}
}
