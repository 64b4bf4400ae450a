package app

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/cluster"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/httpapi/shortpath"
	"github.com/rimewatch/rimewatch/internal/httpapi/submit"
)

// Start joins the cluster and takes requests in. When it returns nil, requests are
// answered, by this node or by another.
func (n *Node) Start(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			_ = n.Stop()
		}
	}()
	inner, err := new(net.ListenConfig).Listen(ctx, "tcp", n.cfg.ClusterListen)
	if err != nil {
		return err
	}
	n.inner = &http.Server{Handler: n.cluster.Internal(), ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout}
	if c := n.tls.between(); c != nil {
		inner = tls.NewListener(inner, c)
	}
	n.workers.Go(func() {
		if err := n.inner.Serve(inner); !errors.Is(err, http.ErrServerClosed) {
			n.failed <- err
		}
	})
	// A node that gives us a shard has others wait until we serve it: we join when we can.
	there := make(chan struct{})
	n.workers.Go(func() { n.makeSpares(n.run, sync.OnceFunc(func() { close(there) })) })
	select {
	case <-there:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := n.cluster.Start(ctx); err != nil {
		return err
	}
	h, err := n.handler()
	if err != nil {
		return err
	}
	if n.public, err = newPublicServer(ctx, &n.cfg, n.tls, 0, h, single{n}); err != nil {
		return err
	}
	n.workers.Go(func() { n.tls.run(n.run) })
	n.workers.Go(func() { n.public.serve(n.failed) })
	n.workers.Go(func() { tuneMemory(n.run) })
	n.cfg.Logger.Info("serving", "url", n.public.url(), "data", n.cfg.Data, "node", n.database.Name())
	return nil
}

// handler answers requests about this node by itself, and brings all others to
// the nodes that answer them.
func (n *Node) handler() (http.Handler, error) {
	proxies, err := n.cfg.Proxies()
	if err != nil {
		return nil, err
	}
	own, err := httpapi.New(httpapi.Config{
		Now: n.cluster.Now, Log: n.cfg.Logger, Version: n.cfg.Version, PublicURL: n.cfg.PublicURL, TrustedProxies: proxies,
		Ready: func(context.Context) error { return n.cluster.Ready() }, MetricsToken: n.cfg.MetricsToken,
		Metrics: http.HandlerFunc(n.serveMetrics),
	})
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz", "/readyz", "/metrics":
			own.ServeHTTP(w, r)
		default:
			if n.cluster.Leaving() { // the sender is to look for another node
				w.Header().Set("Connection", "close")
			}
			n.cluster.ServeHTTP(w, r)
		}
	}), nil
}

// serveMetrics answers with the metrics of the node, and of the shards that it serves at
// this moment. Nothing is registered with the node when a shard comes, so nothing can be
// left behind when it goes, and keep it from coming back.
func (n *Node) serveMetrics(w http.ResponseWriter, r *http.Request) {
	all := prometheus.Gatherers{n.registry}
	n.cluster.Each(func(_ int64, s cluster.Service) { all = append(all, s.(*App).cfg.part.metrics) })
	promhttp.HandlerFor(all, promhttp.HandlerOpts{}).ServeHTTP(w, r)
}

// single brings plain POSTs of readings to where they are stored.
type single struct{ *Node }

// ServePost implements shortpath.Handler.
func (s single) ServePost(q *shortpath.Request, a *shortpath.Answer) {
	defer func() {
		if v := recover(); v != nil { // it costs one answer, not the node
			s.cfg.Logger.Error("panic", "path", submit.SinglePath, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			a.Status, a.Body = httpapi.StatusOf[rimewatch.CodeInternal], a.Body[:0]
		}
	}()
	a.Close = s.cluster.Leaving()
	workspace, err := s.tokens.ofSecret(context.Background(), q.Token)
	if err == nil {
		if app, done, here := s.cluster.Local(s.cluster.ShardOf(workspace), http.MethodPost); here {
			defer done()
			app.(*App).readings.ServePost(q, a)
			if workspace != 0 {
				a.Header(cluster.NodeHeader, s.cluster.Host())
			}
			return
		}
	}
	var answer []byte
	var host string
	if err == nil {
		a.Body = q.Append(a.Body[:0]) // its memory is free until there is an answer
		answer, host, err = s.cluster.Post(workspace, a.Body, func() bool { return submit.Timed(q.Body) })
	}
	if err == nil {
		err = a.Decode(answer)
	}
	if err == nil {
		if workspace != 0 {
			a.Header(cluster.NodeHeader, host)
		}
		return
	}
	status, header, body := s.cluster.Failure(err)
	for name, values := range header {
		if name != "Content-Length" && name != "Date" && name != "Connection" {
			a.Header(name, values[0])
		}
	}
	a.Status, a.Body = status, append(a.Body[:0], body...)
}

// ofPost finds whose a plain POST is that another node took in.
func (n *Node) ofPost(request []byte) (int64, error) {
	x := postPool.Get().(*posted)
	defer postPool.Put(x)
	if err := x.request.Decode(request); err != nil {
		return 0, err
	}
	return n.tokens.ofSecret(n.run, x.request.Token)
}

func (n *Node) registerMetrics() {
	r := n.registry
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), n.tls)
	gauge, counter := gaugesOf(r, "cluster"), countersOf(r, "cluster")
	c := &n.cluster.Counts
	gauge("shards", "Shards that this node serves.", func() float64 { shards, _ := n.cluster.Held(); return float64(shards) })
	gauge("members", "Nodes that are heard of, this one included.", func() float64 { _, members := n.cluster.Held(); return float64(members) })
	gauge("unreachable", "Nodes that are heard of and that this one cannot reach.", func() float64 { return float64(n.cluster.Unreachable()) })
	gauge("quarantined", "Shards that no node could open, and that are tried once a minute.", func() float64 { return float64(n.cluster.Quarantined()) })
	gauge("clock_offset_seconds", "How far this node's clock is ahead of the database's.", func() float64 { return float64(c.Offset.Load()) / 1000 })
	counter("opened_total", "Shards that this node began to serve.", c.Opened.Load)
	counter("taken_over_total", "Shards among them that a node had which was gone.", c.TakenOver.Load)
	counter("given_total", "Shards that this node gave away.", c.Given.Load)
	counter("fenced_total", "Shards that other nodes took from this one.", c.Fenced.Load)
	counter("forwarded_total", "Requests that other nodes answered.", c.Forwarded.Load)
	counter("unserved_total", "Requests whose shard nobody served in time.", c.NotServed.Load)
}

// RunNode is NewNode, Start, and Stop when ctx ends.
func RunNode(ctx context.Context, cfg Config) error {
	n, err := NewNode(ctx, cfg)
	if err != nil {
		return unlessStopped(ctx, cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)), err)
	}
	return serve(ctx, n, n.tls, cfg.Reload)
}
