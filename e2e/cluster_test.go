package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/store/postgres"
	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
	"github.com/rimewatch/rimewatch/internal/trial"
)

const (
	clusterNodes      = 3
	clusterWorkspaces = 8
	clusterSecret     = "a secret that only the tests know"
)

// cluster is three nodes on one database, and what was sent to them.
type cluster struct {
	t        *testing.T
	bin      string
	database *pgtest.Server
	settings []string       // of the database
	role     string         // of the nodes in the database
	standby  *pgtest.Server // nil = none
	hosts    string         // where nodes find the two of them
	shape    shape
	nodes    []*member
	tokens   []string
	box      *mailbox  // gets the messages of all workspaces
	devices  []*sender // of workspace i at i, i+clusterWorkspaces, …
	untimed  []*untimed
	failed   atomic.Int64
	answered []atomic.Int64 // by device
	speaking sync.Map       // clients, by node and token
}

// member is a node: a process that is started again and again.
type member struct {
	dir, peer string        // peer is where it listens for other nodes
	inner     *pgtest.Proxy // between other nodes and it, nil = none
	outer     *pgtest.Proxy // between it and the database
	clock     string        // file with how far its clock is ahead
	mu        sync.Mutex
	p         *process
	url       string
}

func (m *member) address() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.url
}

// shape is how the parts of a cluster are connected.
type shape int

const (
	direct     shape = iota
	proxied          // with proxies between everything, for faults of the network
	replicated       // the database has a synchronous standby
)

func newCluster(t *testing.T) *cluster { return newClusterOf(t, program(t), direct) }

// newClusterOf is newCluster of a program and a shape, with settings of the database.
func newClusterOf(t *testing.T, bin string, as shape, settings ...string) *cluster {
	t.Helper()
	if os.Getenv("RIMEWATCH_CLUSTER_FAULTS") != "" {
		settings = append(settings, "full_page_writes=off")
	} else {
		settings = append(settings, "fsync=off") // it is not the database's machine that dies
	}
	database, err := pgtest.Start(settings...)
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, bin: bin, database: database, role: "service", settings: settings, shape: as}
	t.Cleanup(func() { c.database.Stop() })
	if as == replicated {
		if c.standby, err = database.Standby("", settings...); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.standby.Stop() })
		c.hosts = database.Address() + "," + c.standby.Address()
	}
	c.assemble()
	return c
}

// assemble starts the nodes on the database, and makes what will be sent to them.
func (c *cluster) assemble() {
	t := c.t
	t.Helper()
	secret, verifier := webhookSecret(t)
	c.box = &mailbox{verifier: verifier, opened: make(map[string]map[string]int)}
	receiver := httptest.NewServer(c.box)
	t.Cleanup(receiver.Close)
	c.execute("CREATE ROLE service LOGIN", "GRANT ALL ON SCHEMA public TO service")
	for i := range clusterNodes {
		m := &member{dir: filepath.Join(t.TempDir(), fmt.Sprint("node", i)), peer: freeAddress(t), clock: filepath.Join(t.TempDir(), "clock")}
		if c.shape == proxied {
			m.inner, m.outer = pgtest.NewProxy(t, m.peer), pgtest.NewProxy(t, c.database.Address())
		}
		c.nodes = append(c.nodes, m)
	}
	for _, m := range c.nodes {
		c.start(m)
	}
	c.guard()
	for i := range clusterWorkspaces {
		out, err := exec.Command(c.bin, "token", "create", "--data", t.TempDir(), "--store", c.database.URL("postgres"),
			"--workspace", fmt.Sprint("W", i), "--create", "--name", "cluster").Output()
		if err != nil {
			t.Fatal(err)
		}
		c.tokens = append(c.tokens, strings.TrimSpace(string(out)))
	}
	c.addWebhooks(receiver.URL, secret)
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
		_, err := c.client(d, i, nil).CreateDevice(t.Context(), d.serial, alertAtOnce())
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range clusterWorkspaces {
		u := &untimed{sender: sender{serial: fmt.Sprintf("U-%03d", i), number: i}, begun: rimewatch.TimeOf(time.Now()), fate: make(map[int64]int)}
		if _, err := c.client(&u.sender, i, nil).CreateDevice(t.Context(), u.serial, alertAtOnce()); err != nil {
			t.Fatal(err)
		}
		c.untimed = append(c.untimed, u)
	}
	c.answered = make([]atomic.Int64, len(c.devices))
}

// addWebhooks creates a channel in every workspace.
func (c *cluster) addWebhooks(url, secret string) {
	c.t.Helper()
	s, err := postgres.Open(c.t.Context(), postgres.Config{URL: c.database.URL("postgres"), ControlOnly: true})
	if err != nil {
		c.t.Fatal(err)
	}
	defer s.Close()
	now := rimewatch.TimeOf(time.Now())
	for i := range clusterWorkspaces {
		w, err := s.WorkspaceByName(c.t.Context(), fmt.Sprint("W", i))
		if err == nil {
			err = s.Routing().Channels().Create(c.t.Context(), &rimewatch.Channel{WorkspaceID: w.ID, Name: "Hook", Kind: rimewatch.ChannelWebhook, Enabled: true, URL: url, Secret: secret, CreatedAt: now, UpdatedAt: now})
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
}

// execute runs statements in the database.
func (c *cluster) execute(statements ...string) {
	c.t.Helper()
	for _, statement := range statements {
		if err := c.database.Exec("postgres", statement); err != nil {
			c.t.Fatal(err)
		}
	}
}

// start starts a node and waits until it takes requests in.
func (c *cluster) start(m *member) {
	c.t.Helper()
	env := append(os.Environ(), "RIMEWATCH_CLUSTER_SECRET="+clusterSecret, "RIMEWATCH_OUTBOUND_ALLOW=127.0.0.0/8", clockFile+"="+m.clock)
	store, peer := strings.Replace(c.database.URL("postgres"), "postgres@", c.role+"@", 1), m.peer
	switch c.shape {
	case direct:
	case proxied:
		store, peer = strings.Replace(store, c.database.Address(), m.outer.Addr(), 1), m.inner.Addr()
	case replicated:
		store = strings.Replace(store, c.database.Address(), c.hosts, 1) + "&target_session_attrs=read-write"
	}
	p, url, _, err := launch("", c.bin, env, nodeArgs(m, store, peer))
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

// nodeArgs starts a node: what is in testdata/cluster.json, with which deploy/cluster is
// compared.
func nodeArgs(m *member, store, peer string) []string {
	return []string{
		"serve", "--listen", "127.0.0.1:0", "--data", m.dir, "--store", store, "--seal-after", "300ms",
		"--cluster-listen", m.peer, "--cluster-url", "http://" + peer, "--cluster-shards", "8",
		"--cluster-hold", "20s", // however busy the machine is
		"--rate-limit", "0", // however quick
	}
}

// TestClusterTopology: the nodes of these tests are those of testdata/cluster.json.
func TestClusterTopology(t *testing.T) {
	trial.NeedsAll(t)
	var want struct {
		Nodes       int
		Flags       []string
		OnlyInTests []string `json:"only_in_tests"`
	}
	text, err := os.ReadFile("testdata/cluster.json")
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	flags := []string{"--cluster-secret"} // in the environment
	for _, arg := range nodeArgs(&member{}, "", "") {
		if strings.HasPrefix(arg, "--") {
			flags = append(flags, arg)
		}
	}
	all := slices.Concat(want.Flags, want.OnlyInTests)
	slices.Sort(flags)
	slices.Sort(all)
	if !slices.Equal(flags, all) || want.Nodes != clusterNodes {
		t.Errorf("%d nodes with %q, not %d with %q", clusterNodes, flags, want.Nodes, all)
	}
}

// once has no request sent twice by the client itself.
var once = &client.Options{Retries: -1}

// client speaks for a device to a node.
func (c *cluster) client(d *sender, node int, options *client.Options) *client.Client {
	type key struct {
		address, token string
		options        *client.Options
	}
	k := key{c.nodes[node%clusterNodes].address(), c.tokens[d.number%clusterWorkspaces], options}
	if cl, ok := c.speaking.Load(k); ok {
		return cl.(*client.Client)
	}
	cl, err := client.New(k.address, k.token, options)
	if err != nil {
		c.t.Error(err)
	}
	c.speaking.Store(k, cl)
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
			err := d.post(context.WithoutCancel(ctx), c.client(d, i+try, once), readings)
			if err == nil {
				c.answered[d.number].Add(1)
				break
			}
			c.note(fmt.Sprintf("try %d of %s through node %d", try, d.serial, (i+try)%clusterNodes), err)
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

// note counts and logs an answer 5xx; that a connection is refused is the balancer's to
// notice. No fault of ours may look like a bug of the service, which is what 500 says:
// the logs of the nodes, with its cause, follow where the test has failed.
func (c *cluster) note(what string, err error) {
	status := client.StatusOf(err)
	if status < http.StatusInternalServerError {
		return
	}
	if n := c.failed.Add(1); status != http.StatusServiceUnavailable || n <= 20 { // the rest says the same
		c.t.Logf("%s %s: %v", time.Now().Format(time.TimeOnly+".000"), what, err)
	}
	if status == http.StatusInternalServerError {
		c.t.Errorf("%s: answered 500", what)
	}
}

// load has all devices send while f runs, from when each was answered once until it
// was answered again.
func (c *cluster) load(f func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	enough := c.awaitAnswers()
	for _, d := range c.devices {
		wg.Go(func() { c.drive(ctx, d) })
	}
	for _, u := range c.untimed {
		wg.Go(func() { u.drive(ctx, c) })
	}
	enough()
	enough = c.awaitAnswers()
	f()
	enough()
}

// awaitAnswers begins to count answers; enough waits until every device has one.
func (c *cluster) awaitAnswers() (enough func()) {
	before := make([]int64, len(c.answered))
	for i := range before {
		before[i] = c.answered[i].Load()
	}
	return func() {
		c.t.Helper()
		for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
			left := slices.IndexFunc(c.devices, func(d *sender) bool { return c.answered[d.number].Load() == before[d.number] })
			if left < 0 {
				return
			}
			if time.Now().After(deadline) {
				c.t.Fatalf("what %s sends is not acknowledged", c.devices[left].serial)
			}
		}
	}
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
			_, err := c.client(c.devices[i], by, once).Device(ctx, c.devices[i].serial)
			cancel()
			if err == nil {
				break
			}
			if time.Since(begun) > patience {
				c.t.Fatalf("workspace %d is not served after %v: %v", i, patience, err)
			}
		}
	}
	return time.Since(begun)
}

// TestCluster kills a node under load, freezes another, and stops the third in order.
// Then it has what does not fit refused.
func TestCluster(t *testing.T) {
	trial.NeedsAll(t)
	c := newCluster(t)
	var took []time.Duration
	c.load(func() { took = append(took, c.kill(0)) })
	c.restart(0)
	c.load(func() { took = append(took, c.pause(1)) })
	c.awaitAll(clusterNodes)
	c.sound()
	c.load(func() { c.handOverUnseen(2) })
	c.verify()
	c.sound()
	if c.figures(c.nodes[2], figureShards)[figureShards] == 0 {
		t.Error("nothing was given to a node that came back")
	}
	forwarded := 0.0
	for _, m := range c.nodes {
		forwarded += c.figures(m, figureForwarded)[figureForwarded]
	}
	if n := c.acknowledged(); forwarded == 0 || n < 6*len(c.devices) {
		t.Errorf("%d readings, %.0f forwarded requests: that is no load", n, forwarded)
	}
	t.Logf("%d readings acknowledged, %.0f requests forwarded; served again after %v (killed), %v (frozen)", c.acknowledged(), forwarded, took[0], took[1])
	c.refuse()
}

// handOverUnseen stops a node in order and starts it again: no request fails. On a
// machine that is so busy that a node is not heard of for seconds, others take its
// shards over, as they must: then requests may fail.
func (c *cluster) handOverUnseen(node int) {
	c.t.Helper()
	processes := []*process{c.nodes[node].p}
	suspected := c.suspected(processes)
	failed := c.failed.Load()
	c.handOver(node)
	c.awaitAnswers()()
	if c.suspected(processes) > suspected {
		c.t.Log("this machine is too busy to judge a planned stop: a node was silent for seconds")
		return
	}
	if n := c.failed.Load() - failed; n > 0 {
		c.t.Errorf("%d answers 5xx when a node was stopped in order and started again", n)
	}
}

// suspected counts how often nodes, and processes that have ended, took another for
// dead.
func (c *cluster) suspected(ended []*process) (n int) {
	count := func(p *process) { n += strings.Count(p.err.String(), "its shards are taken over") }
	for _, m := range c.nodes {
		if !slices.Contains(ended, m.p) {
			count(m.p)
		}
	}
	for _, p := range ended {
		count(p)
	}
	return n
}
