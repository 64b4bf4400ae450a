package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/clock"
	"github.com/rimewatch/rimewatch/internal/cluster"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/httpapi/inlets"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/postgres"
)

// part is the shard that an App serves for a Node.
type part struct {
	shard    store.Shard
	number   int64
	open     func(ctx context.Context, cfg *Config, keeper *clock.Keeper) (Store, error)
	registry prometheus.Registerer
}

// socketsEnd is how long sockets have to end when a shard is given away.
const socketsEnd = 100 * time.Millisecond

// ticketPrefix says whose a ticket is to nodes that do not know it.
func ticketPrefix(shard int64) string { return strconv.FormatInt(shard, 10) + "." }

// ServeHTTP answers a request of the shard.
func (a *App) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.API.ServeHTTP(w, r) }

// Node is one server of a cluster: an App for each shard that it owns, and what
// brings requests to the right one.
type Node struct {
	cfg      Config
	database *postgres.Database
	cluster  *cluster.Node
	registry *prometheus.Registry
	tokens   tokenRoutes

	public   *publicServer
	inner    *http.Server
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
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	n := &Node{cfg: cfg, failed: make(chan error, 3), registry: prometheus.NewRegistry()}
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
	n.database, err = postgres.Connect(ctx, postgres.Config{URL: cfg.Store, Logger: cfg.Logger, Now: cfg.Now, Shards: cfg.ClusterShards})
	if err != nil {
		return nil, err
	}
	n.tokens.init(n.database)
	n.cluster = cluster.New(cluster.Config{
		Database: n.database, URL: cfg.ClusterURL, Secret: cfg.ClusterSecret, Version: cfg.Version, Now: cfg.Now, Log: cfg.Logger,
		Open: n.open, Workspace: n.workspace, Drain: cfg.DrainPeriod,
	})
	n.registerMetrics()
	return n, nil
}

// open takes a shard and serves it.
func (n *Node) open(ctx context.Context, shard, stream int64) (cluster.Service, error) {
	of := n.database.Shards()
	number := strconv.FormatInt(shard, 10)
	cfg := n.cfg
	if cfg.Clock == nil {
		cfg.Now = nil // each has a keeper of its own
	}
	cfg.Logger = n.cfg.Logger.With("shard", shard)
	cfg.HeadMemory = max(n.cfg.HeadMemory/of, leastHead)
	cfg.StateMemory = max(stateMemory(n.cfg.StateMemory<<20)/of>>20, 1)
	cfg.part = &part{
		shard: store.Shard{Number: shard, Of: of}, number: shard,
		registry: prometheus.WrapRegistererWith(prometheus.Labels{"shard": number}, n.registry),
		open: func(ctx context.Context, cfg *Config, keeper *clock.Keeper) (Store, error) {
			var sure func() bool
			if keeper != nil {
				sure = keeper.Sure
			}
			return n.database.Open(ctx, shard, stream, postgres.Config{
				Logger: cfg.Logger, Now: cfg.Now, Sure: sure, HeadBytes: cfg.HeadMemory << 20, SealAfter: cfg.SealAfter,
			})
		},
	}
	a, err := New(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := a.begin(ctx); err != nil {
		_ = a.Stop()
		return nil, err
	}
	return a, nil
}

// leastHead is the least memory for unsealed readings of a shard, in MiB.
const leastHead = 4

// workspace finds whose a request is, by what it authenticates with. What is wrong
// with that, the node says that answers.
func (n *Node) workspace(r *http.Request) (int64, error) {
	ctx := r.Context()
	if key, ok := strings.CutPrefix(r.URL.Path, "/in/"); ok {
		return n.tokens.ofSecret(ctx, key)
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
		if err != nil || shard < 0 || shard >= n.database.Shards() {
			return 0, nil
		}
		return shard, nil // any workspace of it
	}
	for _, name := range httpapi.SessionCookies() {
		if c, err := r.Cookie(name); err == nil {
			return n.ofSession(ctx, c.Value)
		}
	}
	return n.tokens.ofSecret(ctx, inlets.InfluxKey(r))
}

func (n *Node) ofSession(ctx context.Context, secret string) (int64, error) {
	hash, ok := account.SessionHash(secret)
	if !ok {
		return 0, nil
	}
	s, err := n.database.Session(ctx, hash, rimewatch.TimeOf(n.cfg.Now()))
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

// mostRoutes bounds what is remembered.
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
		token, err = t.database.TokenByHash(ctx, rimewatch.HashToken(secret))
		id = token.WorkspaceID
	case rimewatch.ValidSourceKey(secret):
		var s rimewatch.Source
		s, err = t.database.SourceByKey(ctx, rimewatch.HashToken(secret))
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

// Stop gives all shards away and ends.
func (n *Node) Stop() error {
	n.stopOnce.Do(func() { n.stopErr = n.stop() })
	return n.stopErr
}

func (n *Node) stop() error {
	var errs []error
	if n.cluster != nil {
		n.cluster.Stop()
	}
	if n.public != nil {
		ctx, cancel := context.WithTimeout(context.Background(), n.cfg.DrainPeriod)
		errs = append(errs, n.public.stop(ctx))
		cancel()
	}
	if n.inner != nil {
		errs = append(errs, n.inner.Close())
	}
	n.cancel()
	n.workers.Wait()
	if n.database != nil {
		errs = append(errs, n.database.Close())
	}
	if n.release != nil {
		n.release()
	}
	return errors.Join(errs...)
}
