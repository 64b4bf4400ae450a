package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/config"
	"github.com/rimewatch/rimewatch/internal/store/postgres"
)

const (
	clusterNodes   = 3
	clusterShards  = 6 // with a workspace in each
	clusterDevices = 10_000
	clusterLog     = 5 // readings of each device, a minute apart
	clusterHold    = 20 * time.Second
	clusterSecret  = "between the nodes of the bench"
)

// childNode serves as a node until it is asked to stop.
func childNode(ctx context.Context, dir, database, peer string) error {
	n, err := app.NewNode(ctx, app.Config{Serve: config.Serve{
		Data: dir, Store: database, Listen: "127.0.0.1:0", HeadMemory: 48, SealAfter: time.Hour, DrainPeriod: 5 * time.Second,
		ClusterListen: peer, ClusterURL: "http://" + peer, ClusterSecret: clusterSecret, ClusterShards: clusterShards, ClusterHold: clusterHold,
	}, Version: "bench"}) // without a log: nodes are killed
	if err != nil {
		return err
	}
	if err := n.Start(ctx); err != nil {
		return err
	}
	fmt.Println("ready", n.Addr(), "none")
	orders := orders()
	for {
		select {
		case <-ctx.Done():
			return n.Stop()
		case order := <-orders:
			if _, err := obeyProfile(order); err != nil {
				return err
			}
		}
	}
}

// nodes are a cluster with a database of its own.
type nodes struct {
	o        *options
	d        *database
	list     []*server
	peers    []string
	accounts *account.Service
	close    func() error
	tokens   []rimewatch.Token // by shard
	plain    []string
}

// benchCluster: what nodes cost beside one server, and how long they make wait.
func benchCluster(o *options) (err error) {
	devices := clusterDevices
	if o.quick {
		devices = 1000
	}
	heading("Cluster: %d nodes, %d shards of %d devices, database and generator on the same cores; load average before: %s", clusterNodes, clusterShards, devices, loadAverage())
	d, err := startDatabase()
	if err != nil {
		return err
	}
	defer d.Stop()
	c := &nodes{o: o, d: d}
	defer c.end()
	if err := c.begin(devices); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		run  func() error
	}{{"hop", c.hop}, {"rate", c.rates}, {"socket", c.sockets}, {"stop", c.planned}, {"kill", c.killed}, {"pause", c.paused}, {"revoke", c.revoked}} {
		if o.parts != "" && !strings.Contains(o.parts, part.name) {
			continue
		}
		if err := part.run(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// begin starts the nodes and fills the shards.
func (c *nodes) begin(devices int) error {
	for range clusterNodes {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		c.peers = append(c.peers, l.Addr().String())
		_ = l.Close()
	}
	for i := range clusterNodes {
		s, err := c.node(i)
		if err != nil {
			return err
		}
		c.list = append(c.list, s)
	}
	st, err := postgres.Open(context.Background(), postgres.Config{URL: c.d.url, ControlOnly: true})
	if err != nil {
		return err
	}
	c.close, c.accounts = st.Close, account.New(account.Config{Store: st})
	c.tokens, c.plain = make([]rimewatch.Token, clusterShards), make([]string, clusterShards)
	for i := range clusterShards {
		now := rimewatch.TimeOf(time.Now())
		w, err := c.accounts.FindWorkspace(context.Background(), fmt.Sprint("bench ", i), true, now)
		if err != nil {
			return err
		}
		shard := w.ID % clusterShards
		if c.tokens[shard], c.plain[shard], err = c.accounts.CreateToken(context.Background(), account.Operator(w.ID), account.TokenRequest{Name: "bench", Scopes: rimewatch.ScopesFull}, now); err != nil {
			return err
		}
	}
	if _, err := c.balanced(); err != nil {
		return err
	}
	return c.fill(devices)
}

// node starts a node at its place.
func (c *nodes) node(i int) (*server, error) {
	return start("child-node", filepath.Join(c.o.dir, fmt.Sprint("node", i)), c.d.url, c.peers[i])
}

func (c *nodes) end() {
	for _, s := range c.list {
		s.kill()
	}
	if c.close != nil {
		_ = c.close()
	}
}

// at is a node as one client of a shard's workspace sees it.
func (c *nodes) at(node, shard int) *server {
	return &server{cmd: c.list[node].cmd, addr: c.list[node].addr, token: c.plain[shard]}
}

// fill registers devices in each workspace, and sends a few minutes of each.
func (c *nodes) fill(devices int) error {
	f, err := newFeed()
	if err != nil {
		return err
	}
	owner, err := c.balanced()
	if err != nil {
		return err
	}
	began := time.Now()
	for shard := range clusterShards {
		s := c.at(owner[shard], shard)
		if err := createDevices(s, devices, ""); err != nil {
			return err
		}
		g := f.fleet(devices)
		if _, err := drive(s.addr, feedConns, time.Hour, 200, upTo(clusterLog*devices/1000/feedConns+1, g.batches(1000, s.token, inTurn))); err != nil {
			return err
		}
	}
	row("devices registered, and their log written, in", fmt.Sprintf("%.1f s", time.Since(began).Seconds()), "", true)
	return nil
}

// balanced waits until each node has had its part of the shards for a second, and
// returns which has which.
func (c *nodes) balanced() (owner []int, err error) {
	since := time.Now()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		now, err := c.owners()
		if err != nil {
			return nil, err
		}
		count := make([]int, clusterNodes)
		for _, node := range now {
			if node >= 0 {
				count[node]++
			}
		}
		if slices.Min(count) < clusterShards/clusterNodes || !slices.Equal(now, owner) {
			owner, since = now, time.Now()
		} else if time.Since(since) > time.Second {
			return owner, nil
		}
	}
	return nil, errors.New("the nodes do not share the shards out")
}

// owners returns which node has which shard, -1 = none. A node's name holds the number
// of its process.
func (c *nodes) owners() ([]int, error) {
	rows, err := c.d.conn.Query(context.Background(), "SELECT CASE WHEN open THEN split_part(node, '/', 2) ELSE '' END FROM shard ORDER BY id")
	if err != nil {
		return nil, err
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	list := make([]int, len(pids))
	for i, pid := range pids {
		list[i] = slices.IndexFunc(c.list, func(s *server) bool { return strconv.Itoa(s.cmd.Process.Pid) == pid })
	}
	return list, err
}

// single is a POST of one reading at its arrival, of one device after the other: one that
// reports more than once a millisecond is refused.
func single(token string) func(w, n int, buf []byte) []byte {
	return func(w, n int, buf []byte) []byte {
		body := fmt.Appendf(nil, `{"device_serial":%q,"product_zone_temp":-18.%d,"ambient_temp":24.8,"voltage":230.4}`, serial((w+64*n)%streamDevices), n%10)
		return request(buf, "POST", "/api/v1/readings", token, "application/json", body)
	}
}

// hop is what a POST costs more that goes through another node.
func (c *nodes) hop() error {
	owner, err := c.balanced()
	if err != nil {
		return err
	}
	var own, other result
	for range 4 { // in turns: the machine changes
		for shard, node := range owner {
			for step := range 2 {
				s := c.at((node+step)%clusterNodes, shard)
				r, err := drive(s.addr, 1, c.o.load/24, 201, single(s.token))
				if err != nil {
					return err
				}
				if step == 0 {
					own.times = append(own.times, r.times...)
				} else {
					other.times = append(other.times, r.times...)
				}
			}
		}
	}
	slices.Sort(own.times)
	slices.Sort(other.times)
	p50, p99 := other.quantile(.5)-own.quantile(.5), other.quantile(.99)-own.quantile(.99)
	row("a POST, one at a time, to the owner: p50 / p99", fmt.Sprintf("%.2f / %.2f ms", ms(own.quantile(.5)), ms(own.quantile(.99))), "", true)
	row("  through another node", fmt.Sprintf("%.2f / %.2f ms", ms(other.quantile(.5)), ms(other.quantile(.99))), "", true)
	row("  more", fmt.Sprintf("%+.2f / %+.2f ms", ms(p50), ms(p99)), "≤ 1, ≤ 5 ms", p50 <= time.Millisecond && p99 <= 5*time.Millisecond)
	return nil
}

// rates compares how much the owner takes in with what it takes through another node.
func (c *nodes) rates() error {
	const conns = 64
	owner, err := c.balanced()
	if err != nil {
		return err
	}
	var sum [2]spent // to the owner, through the node after it
	for turn := range 6 {
		step := turn % 2
		s, first, next := c.at((owner[0]+step)%clusterNodes, 0), c.list[owner[0]], c.list[(owner[0]+1)%clusterNodes]
		before, err := c.spent(first, next)
		if err != nil {
			return err
		}
		var r result
		load := func() (err error) {
			r, err = drive(s.addr, conns, c.o.load/4, 201, single(s.token))
			return err
		}
		name := fmt.Sprintf("cluster-rate%d", turn)
		if err := c.o.profiled(first, name+"-owner", func() error { return c.o.profiled(next, name+"-other", load) }); err != nil {
			return err
		}
		after, err := c.spent(first, next)
		if err != nil {
			return err
		}
		sum[step].add(&before, &after, &r)
	}
	row(fmt.Sprintf("%d connections, single POSTs: to the owner, through another node", conns), fmt.Sprintf("%.0f, %.0f/s", sum[0].rate(), sum[1].rate()), "", true)
	for step, name := range []string{"to the owner", "through another node"} {
		x := &sum[step]
		row("  of one "+name+": owner, other node, database, generator", fmt.Sprintf("%.1f, %.1f, %.1f, %.1f µs", x.each(0), x.each(1), x.each(2), x.each(3)), "", true)
		row("    readings in a commit", fmt.Sprintf("%.0f", float64(x.count)/float64(max(x.commits, 1))), "", true)
	}
	ratio := sum[1].rate() / sum[0].rate()
	row("  of the owner's own rate", fmt.Sprintf("%.2f ×", ratio), "≥ 0.7 ×", ratio >= .7)
	return nil
}

// spent is what a load has used.
type spent struct {
	count, commits int64
	took           time.Duration
	cpu            [4]time.Duration // of the owner, the node after it, the database and the generator
}

// spent returns what was used so far.
func (c *nodes) spent(owner, next *server) (x spent, err error) {
	x.cpu = [4]time.Duration{owner.cpu(), next.cpu(), 0, ownCPU()}
	rows, err := c.d.conn.Query(context.Background(), "SELECT pid FROM pg_stat_activity")
	if err != nil {
		return x, err
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	for _, pid := range pids {
		x.cpu[2] += cpuOf(pid)
	}
	if err == nil {
		x.commits, err = c.d.number("SELECT coalesce(max(seq), 0) FROM commit_log WHERE shard = 0")
	}
	return x, err
}

func (x *spent) add(before, after *spent, r *result) {
	x.count, x.took, x.commits = x.count+r.count, x.took+r.elapsed, x.commits+after.commits-before.commits
	for i := range x.cpu {
		x.cpu[i] += after.cpu[i] - before.cpu[i]
	}
}

func (x *spent) rate() float64 { return float64(x.count) / x.took.Seconds() }

// each is the processor time of one request, µs.
func (x *spent) each(i int) float64 {
	return float64(x.cpu[i].Microseconds()) / float64(max(x.count, 1))
}

// sockets has readings sent to the owner and watched at each node.
func (c *nodes) sockets() error {
	owner, err := c.balanced()
	if err != nil {
		return err
	}
	for step, name := range []string{"the owner", "another node"} {
		row("a socket at "+name, "", "", true)
		if err := latency(c.o, c.at(owner[0], 0), c.at((owner[0]+step)%clusterNodes, 0)); err != nil {
			return err
		}
	}
	return nil
}

// revoked revokes a token that is in use, again and again.
func (c *nodes) revoked() error {
	ctx := context.Background()
	var refused, closed result
	for shard := range clusterShards {
		var began time.Time
		var all sync.WaitGroup
		var mu sync.Mutex
		var open []*subscriber
		for node := range clusterNodes {
			x, err := subscribe(c.at(node, shard), "readings", 4096)
			if err != nil {
				return err
			}
			open = append(open, x)
		}
		w := account.Operator(c.tokens[shard].WorkspaceID)
		began = time.Now()
		if err := c.accounts.RevokeToken(ctx, w, c.tokens[shard].ID, rimewatch.TimeOf(began)); err != nil {
			return err
		}
		for node, x := range open {
			note := func(r *result) {
				mu.Lock()
				defer mu.Unlock()
				r.times = append(r.times, time.Since(began))
			}
			all.Go(func() {
				for _, err := x.next(nil); err == nil; _, err = x.next(nil) {
				}
				note(&closed)
			})
			all.Go(func() {
				// until it is not 201 any more
				_, _ = drive(c.list[node].addr, 1, time.Minute, 201, single(c.plain[shard]))
				note(&refused)
			})
		}
		all.Wait()
	}
	slices.Sort(refused.times)
	slices.Sort(closed.times)
	worst := max(refused.quantile(1), closed.quantile(1))
	row("a token revoked: refused by all nodes, p50 / worst", fmt.Sprintf("%.0f / %.0f ms", ms(refused.quantile(.5)), ms(refused.quantile(1))), "", true)
	row("  sockets at all nodes closed, p50 / worst", fmt.Sprintf("%.0f / %.0f ms", ms(closed.quantile(.5)), ms(closed.quantile(1))), "< 1 s", worst < time.Second)
	return nil
}
