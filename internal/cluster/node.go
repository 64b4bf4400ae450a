package cluster

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

const (
	beatEvery = time.Second
	lookEvery = 250 * time.Millisecond
	// freshFor is shorter than store.GoneAfter: nobody has taken a shard from a
	// node that was heard of so lately.
	freshFor = 2 * time.Second
	// mostOffset is how far a node's clock may be from the database's.
	mostOffset = 2 * time.Second
	// mostPause is how long a node's beats may be apart. The others' may have been as long
	// apart then, for the same reason: a node that was silent judges nobody.
	mostPause = beatEvery + beatEvery/2
	// opening is how many shards a node opens at a time.
	opening = 4
)

// Service serves one shard.
type Service interface {
	http.Handler
	// Post answers a plain POST of a reading that another node took in at came, and appends
	// the answer to b. What both look like, the nodes' Config knows. It does not panic.
	Post(came rimewatch.Time, request, b []byte) []byte
	// Moved counts what a Successor of the shard would have to read again.
	Moved() int64
	// Quiesce has changes that Moved counts, and that can wait, wait for a while: it returns when none
	// of that is under way.
	Quiesce(d time.Duration)
	// Part ends the requests that last for as long as their clients want.
	DrainStreams()
	// Stop ends everything that runs for the shard, and lets go of it.
	Stop() error
	// Failed yields when the service has ended by itself.
	Failed() <-chan error
}

// Database is the shared database of a cluster's nodes.
type Database interface {
	// Name is the name of this node; no other process has or had it.
	Name() string
	Shards() int64
	// Beat says that this node is there, and looks how things stand.
	Beat(ctx context.Context, self *store.Member) (store.ClusterState, error)
	Look(ctx context.Context) (store.ClusterState, error)
	// RemoveMember takes a member off the list that was last heard of at beat.
	RemoveMember(ctx context.Context, name string, beat int64) error
	// Leave takes this node off the list.
	Leave(ctx context.Context) error
}

// Config of a Node. Everything but Stamp, Log, TLS and Dial is needed.
type Config struct {
	Database Database
	URL      string // where other nodes reach this one
	Secret   string // by which nodes know each other
	Version  string
	Now      func() time.Time // of the machine
	Stamp    func() time.Time // the arrival time of requests; nil = the database's time
	Log      *slog.Logger
	// Open takes a shard from the owner of a stream and serves it.
	Open func(ctx context.Context, shard, stream int64) (Service, error)
	// Follow reads a shard while the owner of a stream still serves it, who has Moved so
	// much before.
	Follow func(ctx context.Context, shard, stream, moved int64) (Successor, error)
	// Workspace returns the workspace of a request, 0 = none.
	Workspace func(r *http.Request) (int64, error)
	// OfPost finds out whose the request of a Post is.
	OfPost func(request []byte) (int64, error)
	// Repeatable reports whether what a request with a body writes is written once, although
	// it was sent twice.
	Repeatable func(r *http.Request, body []byte) bool
	// Readings reports whether a request brings readings and nothing else: a sender sends
	// them again rather than find out what became of them.
	Readings func(r *http.Request) bool
	// Drain bounds how long running requests may take when a shard is given away.
	Drain time.Duration
	// Hold is how long a request waits for a node that serves its shard.
	Hold time.Duration
	// Linger is how long a node that serves nothing any more brings requests to
	// others, until the last balancer has noticed.
	Linger time.Duration
	// TLS is how other nodes are spoken to; nil: without.
	TLS *tls.Config
	// Dial reaches other nodes; nil: by TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Node is one of the servers of a cluster.
type Node struct {
	cfg    Config
	log    *slog.Logger
	name   string
	host   []string     // of its URL: a value of NodeHeader
	client *http.Client // to other nodes
	Counts Counts

	mu         sync.Mutex
	view       store.ClusterState
	held       map[int64]*held
	busy       map[int64]bool       // shards that are being opened
	successors map[int64]*successor // what was read of shards that others still serve
	unclosed   map[int64]int64      // streams, by shard, that are open in this node's name although it does not serve them
	faults     map[int64]*fault     // shards that this node could not open
	trials     map[int64]*trials
	opened     bool             // everything has been opened once that was to be when this node came
	members    map[string]*peer // the others, by name
	leaving    bool
	leaveBy    time.Time // until when successors are waited for, while leaving
	left       sync.Once
	copying    buffers
	askings    sync.Pool     // *asking
	holds      atomic.Int64  // connections that others hold to this node
	waiting    atomic.Int64  // bytes of requests that nobody serves yet
	changed    chan struct{} // closed when who serves what has changed
	lateBeat   int           // beats in a row at which the clock was wrong

	heard      atomic.Pointer[time.Time]    // when the last beat that arrived was sent
	beaten     time.Time                    // when its answer was there; of whoever calls round
	steady     time.Time                    // since when no two beats were farther apart than mostPause; likewise
	clock      atomic.Pointer[clockReading] // what the database's clock said
	kick       chan struct{}
	news       atomic.Bool   // something that the others have to know before the next beat is due
	announcing chan struct{} // so many successors are waited for at a time
	ctx        context.Context
	end        context.CancelFunc
	work       sync.WaitGroup
}

// Counts are totals since the start.
type Counts struct {
	Opened    atomic.Int64 // shards that no node had, or that were given to this one
	TakenOver atomic.Int64 // from nodes that were gone
	Given     atomic.Int64 // to other nodes
	Fenced    atomic.Int64 // that other nodes took
	Forwarded atomic.Int64 // requests that other nodes answered
	NotServed atomic.Int64 // requests whose shard no node served in time
	Offset    atomic.Int64 // ms that this node's clock is ahead of the database's
}

// peer is another member: ctx ends when it is off the list, link when it cannot be
// reached any more.
type peer struct {
	ctx     context.Context
	cancel  context.CancelFunc
	link    context.Context
	cut     context.CancelFunc
	leaving bool // in order

	dialing sync.Mutex
	trunk   *trunk // under dialing; nil = none yet
}

// held is a shard that this node serves.
type held struct {
	service Service
	stream  int64
	since   time.Time
	reading sync.WaitGroup // running requests that change nothing
	writing sync.WaitGroup // the others
	giving  bool           // to another node, which may still be reading it
	leaving bool           // no more requests
}

// New makes a node; Start brings it to life.
func New(cfg Config) *Node {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Dial == nil {
		cfg.Dial = (&net.Dialer{Timeout: lostAfter}).DialContext
	}
	n := &Node{
		cfg: cfg, log: cfg.Log, name: cfg.Database.Name(), host: []string{hostOf(cfg.URL)}, kick: make(chan struct{}, 1), changed: make(chan struct{}),
		held: make(map[int64]*held), busy: make(map[int64]bool), successors: make(map[int64]*successor), announcing: make(chan struct{}, opening), unclosed: make(map[int64]int64), faults: make(map[int64]*fault), trials: make(map[int64]*trials), members: make(map[string]*peer),
	}
	n.askings.New = func() any { return &asking{done: make(chan error, 1)} }
	n.client = &http.Client{Transport: &http.Transport{DialContext: cfg.Dial, TLSClientConfig: cfg.TLS, MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute}}
	n.ctx, n.end = context.WithCancel(context.Background())
	return n
}

// protocol is the version of the nodes' protocol. Those that speak another do not know each
// other's secret.
const protocol = "2 "

// digest is the part of the secret that other nodes see.
func (n *Node) digest() string {
	sum := sha256.Sum256([]byte("rimewatch cluster " + protocol + n.cfg.Secret))
	return hex.EncodeToString(sum[:8])
}

// Start joins the cluster. It fails when somebody uses the database who is no
// member, or members know each other by another secret.
func (n *Node) Start(ctx context.Context) error {
	sent := time.Now()
	v, err := n.cfg.Database.Look(ctx)
	if err != nil {
		return err
	}
	n.compareClocks(sent, &v, true)
	for i := range v.Members {
		switch m := &v.Members[i]; {
		case v.Silent(m):
		case m.URL == "":
			return fmt.Errorf("another server uses the database: %s, which is no node of a cluster", m.Name)
		case m.Secret != n.digest():
			return fmt.Errorf("the node %s at %s knows another --cluster-secret, or is of a version that speaks otherwise to other nodes: stop all of those first", m.Name, m.URL)
		}
	}
	if err := n.reachSelf(ctx); err != nil {
		return err
	}
	for i := range v.Members {
		if m := &v.Members[i]; m.URL == n.cfg.URL && m.Name != n.name { // what listens there now is this node
			if err := n.cfg.Database.RemoveMember(ctx, m.Name, m.Beat); err != nil {
				return err
			}
		}
	}
	if err := n.round(ctx, true); err != nil {
		return err
	}
	n.work.Go(n.run)
	return nil
}

// run is the goroutine that says that this node is there and looks how things stand.
func (n *Node) run() {
	beat := time.Now()
	for range ticker.Every(n.ctx.Done(), lookEvery, n.kick) {
		due := time.Since(beat) >= beatEvery || n.news.Swap(false)
		if due {
			beat = time.Now()
		}
		ctx, cancel := context.WithTimeout(n.ctx, freshFor)
		if err := n.round(ctx, due); err != nil && n.ctx.Err() == nil && due {
			n.log.Warn("the database does not answer", "err", err)
		}
		cancel()
	}
}

// Wake has the node look how things stand now.
func (n *Node) Wake() {
	select {
	case n.kick <- struct{}{}:
	default:
	}
}

// round reads the state of the cluster and acts on it.
func (n *Node) round(ctx context.Context, beat bool) error {
	sent := time.Now()
	var v store.ClusterState
	var err error
	if beat {
		n.mu.Lock()
		self := &store.Member{URL: n.cfg.URL, Version: n.cfg.Version, Secret: n.digest(), Leaving: n.leaving || n.lateBeat > 1, Failed: n.failures()}
		n.mu.Unlock()
		v, err = n.cfg.Database.Beat(ctx, self)
	} else {
		v, err = n.cfg.Database.Look(ctx)
	}
	if err != nil {
		return err
	}
	if beat {
		n.heard.Store(&sent)
		n.compareClocks(sent, &v, false)
	}
	n.judge(&v, beat)
	for i := range v.Members {
		if m := &v.Members[i]; m.Name != n.name && v.Silent(m) {
			n.log.Warn("a node is silent: its shards are taken over", "node", m.Name)
			if err := n.cfg.Database.RemoveMember(ctx, m.Name, m.Beat); err != nil {
				return err
			}
		}
	}
	n.applyPlan(&v)
	return nil
}

// judge has nobody be silent for a node that was so itself a moment ago: when the database
// stood still, the first whose beat arrives sees the others' as old as its own was.
func (n *Node) judge(v *store.ClusterState, beat bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	pause := time.Since(n.beaten)
	if beat {
		if n.beaten = time.Now(); pause > mostPause {
			n.steady = n.beaten
		}
	}
	if pause <= mostPause && time.Since(n.steady) >= store.GoneAfter {
		return
	}
	for i := range v.Members {
		v.Members[i].Beat = int64(v.Now)
	}
}

// clockSlack is what two clocks that run alike may seem to differ: less is the way of an
// answer, and following it would have moments go back.
const clockSlack = 100 * time.Millisecond

// clockReading is a reading of the database's clock at a moment of this process.
type clockReading struct{ database, at time.Time }

// byDatabase returns the database's time: its last reading, and the time since by the
// monotonic clock, which no step of the machine's clock moves.
func (n *Node) byDatabase() (now time.Time, known bool) {
	c := n.clock.Load()
	if c == nil {
		return time.Time{}, false
	}
	return c.database.Add(time.Since(c.at)), true
}

// Now is the time by which requests are stamped and judged: the database's, so that all
// nodes have one; the machine's until a beat has arrived.
func (n *Node) Now() rimewatch.Time {
	if n.cfg.Stamp != nil {
		return rimewatch.TimeOf(n.cfg.Stamp())
	}
	now, known := n.byDatabase()
	if !known {
		now = n.cfg.Now()
	}
	return rimewatch.TimeOf(now)
}

// compareClocks has a node whose clock is wrong give its shards away, and take none at its
// start: the times that it gives to readings, and its deadlines, would be wrong.
func (n *Node) compareClocks(sent time.Time, v *store.ClusterState, start bool) {
	half := time.Since(sent) / 2
	offset := n.cfg.Now().Add(-half).Sub(v.Now.Std())
	n.Counts.Offset.Store(offset.Milliseconds())
	if at, known := n.byDatabase(); !known || at.Add(-half).Sub(v.Now.Std()).Abs() > half+clockSlack {
		n.clock.Store(&clockReading{v.Now.Std(), sent.Add(half)})
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if offset.Abs()-half <= mostOffset {
		if n.lateBeat > 1 {
			n.log.Info("the clock is right again")
		}
		n.lateBeat = 0
		return
	}
	if n.lateBeat++; start {
		n.lateBeat = 2
	}
	if n.lateBeat == 2 {
		n.log.Error("the clock differs from the database's: this node serves no shards", "seconds", offset.Seconds())
	}
}

// applyPlan takes and gives away shards until this node serves those of the plan.
func (n *Node) applyPlan(v *store.ClusterState) {
	want := plan(v)
	alive := make(map[string]bool, len(v.Members))
	for i := range v.Members {
		alive[v.Members[i].Name] = true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.view = *v
	n.watchMembers()
	n.watchFailures(v)
	n.opened = n.opened || !slices.ContainsFunc(v.Holdings, func(h store.Holding) bool {
		return want[h.Shard] == n.name && n.held[h.Shard] == nil && n.faults[h.Shard] == nil && !(h.Open && alive[h.Node] && h.Node != n.name)
	})
	for i := range v.Holdings {
		h := &v.Holdings[i]
		own := n.held[h.Shard]
		switch {
		case own != nil && h.Stream > own.stream:
			n.drop(h.Shard, own, errors.New("another node has taken it"))
		case own != nil && h.Stream == own.stream && want[i] != n.name && want[i] != "" && !own.giving && !own.leaving:
			n.give(h.Shard, own, want[i])
		case own == nil && want[i] == n.name && (!h.Open || !alive[h.Node] || h.Node == n.name), n.forgotten(h):
			if n.mayTry(v, h.Shard) {
				n.take(h, h.Open && h.Node != n.name)
			}
		}
	}
	n.wakeWaiting()
}

// forgotten reports whether a stream is open in this node's name, and stays so, although
// it does not serve the shard: the database took no writes when it was to be closed, or
// its answer was lost when it was opened. While it is open nobody else takes it. The
// first time that is seen, it may have been closed since. Under mu.
func (n *Node) forgotten(h *store.Holding) bool {
	if !h.Open || h.Node != n.name || n.held[h.Shard] != nil || n.busy[h.Shard] {
		delete(n.unclosed, h.Shard)
		return false
	}
	if n.unclosed[h.Shard] == h.Stream {
		return true
	}
	n.unclosed[h.Shard] = h.Stream
	return false
}

// take opens a shard. Under mu.
func (n *Node) take(h *store.Holding, over bool) {
	if n.busy[h.Shard] || len(n.busy) >= opening || n.leaving {
		return
	}
	n.busy[h.Shard] = true
	shard, stream, from, known := h.Shard, h.Stream, h.Node, n.successors[h.Shard]
	delete(n.successors, shard)
	n.work.Go(func() {
		begun := time.Now()
		s, ahead, err := n.open(shard, stream, known)
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.busy, shard)
		if err != nil {
			if !errors.Is(err, store.ErrTaken) && n.ctx.Err() == nil {
				n.log.Error("a shard cannot be opened", "shard", shard, "err", err)
			}
			n.failed(shard, err)
			return
		}
		delete(n.faults, shard)
		own := &held{service: s, stream: stream + 1, since: begun}
		n.held[shard] = own
		n.Counts.Opened.Add(1)
		if over {
			n.Counts.TakenOver.Add(1)
		}
		n.log.Info("serves a shard", "shard", shard, "from", from, "ms", time.Since(begun).Milliseconds(), "read_ahead", ahead)
		n.work.Go(func() { n.watch(shard, own) })
		n.Wake()
		n.wakeWaiting()
		for i := range n.view.Members { // where requests for it may wait
			if m := &n.view.Members[i]; m.Name != n.name {
				url := m.URL
				n.work.Go(func() { n.poke(url) })
			}
		}
	})
}

// watch drops a shard whose service has ended by itself.
func (n *Node) watch(shard int64, own *held) {
	select {
	case <-n.ctx.Done():
	case err := <-own.service.Failed():
		n.mu.Lock()
		n.drop(shard, own, err)
		n.mu.Unlock()
		n.Wake()
	}
}

// urlOf returns where a member is reached, "" when there is none. Under mu.
func (n *Node) urlOf(name string) string {
	for i := range n.view.Members {
		if m := &n.view.Members[i]; m.Name == name {
			return m.URL
		}
	}
	return ""
}

// fresh reports whether nobody can have taken this node's shards without its
// knowing.
func (n *Node) fresh() bool {
	at := n.heard.Load()
	return at != nil && time.Since(*at) < freshFor
}

// Ready reports why this node cannot bring requests to where they are answered. A shard
// that nobody serves is no reason: another node could not serve it either.
func (n *Node) Ready() error {
	if !n.fresh() {
		return errors.New("the database does not answer")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.leaving {
		return errors.New("the node is stopping")
	}
	if n.lateBeat > 1 {
		return fmt.Errorf("the clock differs from the database's by %d ms", n.Counts.Offset.Load())
	}
	if !n.opened {
		return errors.New("the node opens its shards")
	}
	return nil
}

// Held is how many shards this node serves, and of how many members there are.
func (n *Node) Held() (shards, members int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, own := range n.held {
		if !own.leaving {
			shards++
		}
	}
	return shards, len(n.view.Members)
}

// Unreachable returns how many of the other members this node cannot reach.
func (n *Node) Unreachable() (count int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, m := range n.members {
		if m.link.Err() != nil && m.ctx.Err() == nil {
			count++
		}
	}
	return count
}

// Each calls f for every shard that is served here, in no order.
func (n *Node) Each(f func(shard int64, s Service)) {
	n.mu.Lock()
	list := make(map[int64]Service, len(n.held))
	for shard, own := range n.held {
		if !own.leaving {
			list[shard] = own.service
		}
	}
	n.mu.Unlock()
	for shard, s := range list {
		f(shard, s)
	}
}
