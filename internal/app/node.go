package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/cluster"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/httpapi/inlets"
	"github.com/rimewatch/rimewatch/internal/httpapi/notifications"
	"github.com/rimewatch/rimewatch/internal/httpapi/records"
	"github.com/rimewatch/rimewatch/internal/httpapi/shortpath"
	"github.com/rimewatch/rimewatch/internal/httpapi/submit"
	"github.com/rimewatch/rimewatch/internal/notify/outbound"
	"github.com/rimewatch/rimewatch/internal/notify/service"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/postgres"
	"github.com/rimewatch/rimewatch/internal/ticket"
	"github.com/rimewatch/rimewatch/internal/twilio"
)

// part is the shard that an App serves for a Node. Making an App takes
// longer than loading a shard, so it is made before anybody knows for
// which shard: until then store, shard and metrics are empty.
type part struct {
	shard   store.Shard
	number  int64
	store   *lateStore
	secret  func(ctx context.Context, name string) ([32]byte, error)
	metrics *prometheus.Registry // the App's, each with the label shard
}

func (p *part) holds(workspaceID int64) bool { return p.shard.Holds(workspaceID) }

// ticketPrefix returns the beginning of tickets of this shard, by which other nodes
// find the shard.
func (p *part) ticketPrefix() string { return strconv.FormatInt(p.number, 10) + "." }

// lateStore is a store that comes after those who use it.
type lateStore struct{ Store }

// Close implements Store.
func (s *lateStore) Close() error {
	if s.Store == nil {
		return nil
	}
	return s.Store.Close()
}

// freshShards is how many shards a fresh database is divided into, unless an operator
// decides otherwise.
const freshShards = 16

// innerEnd is how long answers to other nodes may take when the node ends.
const innerEnd = 2 * time.Second

// linger is how long a node that is to end goes on taking requests in, once it is not
// ready any more: for as long as a balancer takes to see that twice.
const linger = 2 * time.Second

// socketsEnd is how long sockets have to end when a shard is given away.
const socketsEnd = 100 * time.Millisecond

// DrainStreams implements cluster.Service: it ends the sockets.
func (a *App) DrainStreams() {
	ctx, cancel := context.WithTimeout(context.Background(), socketsEnd)
	a.Hub.Stop(ctx)
	cancel()
}

// readFirst is how many devices a shard may have whose states are read before it is
// served: those of a larger one are read afterwards, so that senders wait for less.
const readFirst = 200

// loading reports whether states of devices are still being read. Of a shard that this
// node has just been given, a request waits for that as it would for somebody who
// serves it: where nothing has failed, none is put off.
func (a *App) loading(ctx context.Context) bool {
	if a.cfg.part == nil || !a.Ingest.Loading() {
		return a.Ingest.Loading()
	}
	ctx, cancel := context.WithTimeout(ctx, a.cfg.ClusterHold)
	defer cancel()
	select {
	case <-a.Ingest.Loaded():
		return false
	case <-ctx.Done():
		return true
	}
}

// Moved implements cluster.Service.
func (a *App) Moved() int64 { return a.Store.Moved() }

// Quiesce implements cluster.Service.
func (a *App) Quiesce(d time.Duration) { a.Store.Quiesce(d) }

// ServeHTTP answers a request of the shard.
func (a *App) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.API.ServeHTTP(w, r) }

// Post implements cluster.Service, for requests as single.ServePost sends them.
func (a *App) Post(came rimewatch.Time, request, b []byte) []byte {
	x := postPool.Get().(*posted)
	defer postPool.Put(x)
	x.answer.Reset()
	if err := x.request.Decode(request); err != nil { // ofPost has read it already
		x.answer.Status = httpapi.StatusOf[rimewatch.CodeInvalidJSON]
		return x.answer.Append(b)
	}
	a.readings.Post(store.WithArrival(context.Background(), store.Arrival{At: came}), &x.request, &x.answer)
	return x.answer.Append(b)
}

// posted is memory for a plain POST that another node took in.
type posted struct {
	request shortpath.Request
	answer  shortpath.Answer
}

var postPool = sync.Pool{New: func() any { return new(posted) }}

// Node is one server of a cluster: an App for each shard that it owns, and the cluster that
// brings requests to the right one.
type Node struct {
	cfg      Config
	database *postgres.Database
	cluster  *cluster.Node
	registry *prometheus.Registry
	tokens   tokenRoutes
	ready    chan *App     // made before there are shards for them
	opening  atomic.Int64  // shards
	opened   chan struct{} // something when there are none any more

	public   *publicServer
	inner    *http.Server
	tls      *encryption
	release  func()
	failed   chan error
	workers  sync.WaitGroup
	run      context.Context // until Stop
	cancel   context.CancelFunc
	stopOnce sync.Once
	stopErr  error
}

// NewNode connects to the database. Nothing runs or listens yet.
func NewNode(ctx context.Context, cfg Config) (_ *Node, err error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	n := &Node{cfg: cfg, failed: make(chan error, 3), registry: prometheus.NewRegistry()}
	now := cfg.Now // for the process, not for devices
	if now == nil {
		now = time.Now
	}
	run, cancel := context.WithCancel(context.Background())
	n.run, n.cancel = run, cancel
	defer func() {
		if err != nil {
			_ = n.Stop()
		}
	}()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Data, 0o750); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if n.release, err = lock(cfg.Data); err != nil {
		return nil, err
	}
	n.database, err = postgres.Connect(ctx, postgres.Config{URL: cfg.Store, Primary: cfg.primaryFile(), Logger: cfg.Logger, Now: now, Shards: cmp.Or(cfg.ClusterShards, freshShards), Quotas: cfg.quotas()})
	if err != nil {
		return nil, err
	}
	if of := n.database.Shards(); cfg.ClusterShards != 0 && cfg.ClusterShards != of {
		return nil, fmt.Errorf("--cluster-shards %d, but the database is divided into %d: leave it out, or stop all nodes and divide the database (rimewatch cluster divide --shards %d)", cfg.ClusterShards, of, cfg.ClusterShards)
	}
	n.ready, n.opened = make(chan *App, min(spares, n.database.Shards())), make(chan struct{}, 1)
	if cfg.GuardServices {
		allow, err := cfg.AllowedNetworks()
		if err != nil {
			return nil, err
		}
		service.Guard(outbound.New(allow))
	}
	n.tokens.init(n.database)
	if n.tls, err = newEncryption(&n.cfg, cfg.Logger, now); err != nil {
		return nil, err
	}
	n.cluster = cluster.New(cluster.Config{
		Database: n.database, URL: cfg.ClusterURL, Secret: cfg.ClusterSecret, Version: cfg.Version, Now: time.Now, Stamp: cfg.Now, Log: cfg.Logger,
		Open: n.open, Follow: n.follow, Workspace: n.workspace, OfPost: n.ofPost, Repeatable: repeatable, Readings: ofReadings, Drain: cfg.DrainPeriod, Hold: cfg.ClusterHold, Linger: linger,
		TLS: n.tls.between(),
	})
	n.registerMetrics()
	return n, nil
}

// spares is how many Apps are made before there are shards for them: as many as a node takes
// over at once when another one is gone.
const spares = 4

// makeSpares is the goroutine that makes them. It calls there each time there are as
// many, and at its end. It rests while shards are opened: those who wait for one need the
// processor more.
func (n *Node) makeSpares(ctx context.Context, there func()) {
	defer there()
	for {
		for len(n.ready) < cap(n.ready) && n.opening.Load() == 0 {
			a, err := n.spare(ctx)
			if err != nil {
				if ctx.Err() == nil {
					n.cfg.Logger.Warn("prepare for a shard", "err", err)
				}
				return // whoever opens one makes its own
			}
			n.ready <- a // only this goroutine fills it
		}
		there()
		select {
		case <-n.opened:
		case <-ctx.Done():
			return
		}
	}
}

// spare makes an App without a shard.
func (n *Node) spare(ctx context.Context) (*App, error) {
	of := n.database.Shards()
	cfg := n.cfg // without Now, each has a keeper of its own
	cfg.HeadMemory = max(n.cfg.HeadMemory/of, leastHead)
	cfg.StateMemory = max(stateMemory(n.cfg.StateMemory<<20, machineMemory())/of>>20, 1)
	cfg.part = &part{store: &lateStore{}, secret: n.database.Secret}
	cfg.Logger = slog.New(ofShard{n.cfg.Logger.Handler(), cfg.part})
	return New(ctx, cfg)
}

// ofShard is a log whose lines name the shard that they are about.
type ofShard struct {
	slog.Handler
	part *part
}

// Handle implements slog.Handler.
func (h ofShard) Handle(ctx context.Context, r slog.Record) error {
	r.AddAttrs(slog.Int64("shard", h.part.number))
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h ofShard) WithAttrs(attrs []slog.Attr) slog.Handler {
	return ofShard{h.Handler.WithAttrs(attrs), h.part}
}

// WithGroup implements slog.Handler.
func (h ofShard) WithGroup(name string) slog.Handler {
	return ofShard{h.Handler.WithGroup(name), h.part}
}

// open takes a shard and serves it.
func (n *Node) open(ctx context.Context, shard, stream int64) (cluster.Service, error) {
	defer n.reading()()
	a, cfg, err := n.appFor(ctx, shard)
	if err != nil {
		return nil, err
	}
	s, err := n.database.Open(ctx, shard, stream, cfg)
	if err != nil {
		return nil, errors.Join(err, a.Stop())
	}
	a.cfg.part.store.Store = s
	if err := a.begin(ctx); err != nil {
		return nil, errors.Join(err, a.Stop())
	}
	return a, nil
}

// reading notes that a shard is being read, until done is called.
func (n *Node) reading() (done func()) {
	n.opening.Add(1)
	return func() {
		if n.opening.Add(-1) == 0 {
			select {
			case n.opened <- struct{}{}:
			default:
			}
		}
	}
}

// appFor takes an App for a shard, and says how its store is to be opened.
func (n *Node) appFor(ctx context.Context, shard int64) (a *App, cfg postgres.Config, err error) {
	select {
	case a = <-n.ready:
	default:
		if a, err = n.spare(ctx); err != nil {
			return nil, cfg, err
		}
	}
	p := a.cfg.part
	p.number, p.shard = shard, store.Shard{Number: shard, Of: n.database.Shards()}
	p.metrics = prometheus.NewRegistry()
	prometheus.WrapRegistererWith(prometheus.Labels{"shard": strconv.FormatInt(shard, 10)}, p.metrics).MustRegister(a.registry)
	var sure func() bool
	if a.clock != nil {
		sure = a.clock.Sure
	}
	return a, postgres.Config{
		Logger: a.cfg.Logger, Now: a.cfg.Now, Sure: sure, HeadBytes: a.cfg.HeadMemory << 20, SealAfter: a.cfg.SealAfter, LogReadings: successorInputs,
		Quotas: a.cfg.quotas(),
	}, nil
}

// leastHead is the least memory for unsealed readings of a shard, in MiB.
const leastHead = 4

// workspace finds the workspace of a request, by its credentials. The node that
// answers refuses wrong ones.
func (n *Node) workspace(r *http.Request) (int64, error) {
	ctx := r.Context()
	if key, ok := strings.CutPrefix(r.URL.Path, "/in/"); ok {
		return n.tokens.ofSecret(ctx, key)
	}
	for _, links := range [...]string{notifications.TicketPath, records.OrderTicketPath, ticket.CalendarPath} {
		if text, ok := strings.CutPrefix(r.URL.Path, links); ok {
			return ticket.WorkspaceOf(text), nil
		}
	}
	if strings.HasPrefix(r.URL.Path, twilio.Path) {
		return twilio.WorkspaceOf(r.URL.Path), nil
	}
	if sent := r.Header["Authorization"]; len(sent) > 0 {
		if secret, ok := httpapi.BearerToken(sent); ok {
			return n.tokens.ofSecret(ctx, secret)
		}
		return n.tokens.ofSecret(ctx, inlets.InfluxKey(r))
	}
	if text := r.URL.Query().Get("ticket"); text != "" {
		number, _, _ := strings.Cut(text, ".")
		shard, err := strconv.ParseInt(number, 10, 64)
		if err == nil && shard >= 0 && shard < n.database.Shards() {
			return shard, nil // any workspace of it
		}
		return 0, nil
	}
	for _, name := range httpapi.SessionCookies() {
		if c, err := r.Cookie(name); err == nil {
			return n.ofSession(ctx, c.Value, cmp.Or(r.Header.Get(httpapi.WorkspaceHeader), r.URL.Query().Get("workspace")))
		}
	}
	return n.tokens.ofSecret(ctx, inlets.InfluxKey(r))
}

// ofReadings are requests with readings.
func ofReadings(r *http.Request) bool {
	if r.Method != http.MethodPost {
		return false
	}
	switch path := r.URL.Path; path {
	case submit.SinglePath, submit.BatchPath, "/write", "/api/v2/write":
		return true
	default:
		return strings.HasPrefix(path, "/in/")
	}
}

// repeatable are requests of tokens with an Idempotency-Key, and readings with times of
// their own. What a sender of a source means by a time, only the owner knows.
func repeatable(r *http.Request, body []byte) bool {
	switch {
	case r.Method != http.MethodPost || len(r.Header["Authorization"]) == 0:
		return false
	case httpapi.Keyed(r):
		return true
	default:
		return (r.URL.Path == submit.SinglePath || r.URL.Path == submit.BatchPath) && submit.Timed(body)
	}
}

// ofSession returns the workspace that a request of a session is about: the one that it names by its slug,
// or the one that the session last looked at.
func (n *Node) ofSession(ctx context.Context, secret, slug string) (int64, error) {
	hash, ok := account.SessionHash(secret)
	if !ok {
		return 0, nil
	}
	if slug != "" {
		w, err := n.database.WorkspaceBySlug(ctx, slug)
		if rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
			return w.ID, err
		}
	}
	s, err := n.database.People().Session(ctx, hash, n.cluster.Now())
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
		return 0, nil
	}
	return s.WorkspaceID, err
}

// tokenRoutes remember which workspace a token or a key of a source belongs to,
// which never changes. Whether it is still valid, the owner judges.
type tokenRoutes struct {
	database *postgres.Database
	mu       sync.RWMutex
	of       map[string]int64
}

// mostRoutes bounds the remembered routes.
const mostRoutes = 100_000

func (t *tokenRoutes) init(database *postgres.Database) {
	t.database, t.of = database, make(map[string]int64)
}

// ofSecret returns the workspace of a token or of a key, 0 when there is none.
func (t *tokenRoutes) ofSecret(ctx context.Context, secret string) (int64, error) {
	t.mu.RLock()
	id := t.of[secret]
	t.mu.RUnlock()
	if id != 0 {
		return id, nil
	}
	var err error
	switch {
	case rimewatch.ValidToken(secret):
		var token rimewatch.Token
		token, err = t.database.People().TokenByHash(ctx, rimewatch.HashToken(secret))
		id = token.WorkspaceID
	case rimewatch.ValidSourceKey(secret):
		var s rimewatch.Source
		s, _, err = t.database.Inlets().SourceByKey(ctx, rimewatch.HashToken(secret))
		id = s.WorkspaceID
	}
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
		return 0, nil
	}
	if err == nil && id != 0 {
		t.mu.Lock()
		if len(t.of) >= mostRoutes {
			clear(t.of)
		}
		t.of[secret] = id
		t.mu.Unlock()
	}
	return id, err
}

// Failed yields when the server stops by itself.
func (n *Node) Failed() <-chan error { return n.failed }

// Addr is where requests are taken in, also when port 0 was asked for.
func (n *Node) Addr() string { return n.public.Addr().String() }

// Part returns the App of a shard on this node, nil when another node serves it.
func (n *Node) Part(shard int64) (part *App) {
	n.cluster.Each(func(number int64, s cluster.Service) {
		if number == shard {
			part = s.(*App)
		}
	})
	return part
}

// Stop hands all shards over to other nodes and ends.
func (n *Node) Stop() error {
	n.stopOnce.Do(func() { n.stopErr = n.stop() })
	return n.stopErr
}

func (n *Node) stop() error {
	var errs []error
	if n.cluster != nil {
		n.cluster.Leave()
	}
	if n.public != nil {
		ctx, cancel := context.WithTimeout(context.Background(), n.cfg.DrainPeriod)
		errs = append(errs, n.public.stop(ctx))
		cancel()
	}
	if n.cluster != nil {
		n.cluster.Stop()
	}
	if n.inner != nil {
		ctx, cancel := context.WithTimeout(context.Background(), innerEnd)
		if n.inner.Shutdown(ctx) != nil {
			_ = n.inner.Close()
		}
		cancel()
	}
	n.cancel()
	n.workers.Wait()
	for len(n.ready) > 0 {
		errs = append(errs, (<-n.ready).Stop())
	}
	if n.database != nil {
		errs = append(errs, n.database.Close())
	}
	if n.release != nil {
		n.release()
	}
	return errors.Join(errs...)
}
