package cluster

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

const (
	// keptBody is how large a body may be that is kept to be sent again.
	keptBody = 1 << 20
	// mostWaiting bounds the memory of requests that wait for a node, in bytes. Each
	// counts for its body and for requestSize.
	mostWaiting = 128 << 20
	requestSize = 16 << 10
)

// ShardOf returns the shard of a workspace.
func (n *Node) ShardOf(workspaceID int64) int64 {
	return store.ShardOf(workspaceID, n.cfg.Database.Shards())
}

// changes reports whether a request may change something.
func changes(method string) bool { return method != http.MethodGet && method != http.MethodHead }

// Local lends the service of a shard for a request, if it is served here. done is called
// when it is not used any more.
func (n *Node) Local(shard int64, method string) (s Service, done func(), here bool) {
	if !n.fresh() {
		return nil, nil, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	own := n.held[shard]
	if own == nil || own.leaving {
		return nil, nil, false
	}
	running := &own.reading
	if changes(method) {
		running = &own.writing
	}
	running.Add(1)
	return own.service, running.Done, true
}

// remote is where another node serves a shard.
type remote struct {
	peer    *peer
	base    string          // "": no other node does, or it cannot be reached
	cut     bool            // it cannot be reached
	stream  int64           // of that node
	there   context.Context // ends when the node is gone, or cannot be reached any more
	changed <-chan struct{} // closed when anything changes
}

func (n *Node) owner(shard int64) (p remote) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p.changed = n.changed
	if int(shard) < len(n.view.Holdings) {
		if h := &n.view.Holdings[shard]; h.Open && h.Node != n.name {
			if m := n.members[h.Node]; m != nil {
				p.peer, p.stream, p.there, p.cut = m, h.Stream, m.link, m.link.Err() != nil && m.ctx.Err() == nil
				if m.link.Err() == nil {
					p.base = n.urlOf(h.Node)
				}
			}
		}
	}
	return p
}

// ServeHTTP brings a request to the node that serves its workspace.
func (n *Node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, name := range innerHeaders { // only another node says such things
		r.Header.Del(name)
	}
	workspace, err := n.cfg.Workspace(r)
	if err != nil {
		n.fail(w, r, err)
		return
	}
	n.serve(w, r, workspace)
}

// NodeHeader of an answer names the node that serves the workspace of the request, by the
// host of its URL: a balancer that remembers it sends the next one there.
const NodeHeader = "Rimewatch-Node"

// nameOwner has an answer to a request of a workspace say that it is this node's.
func (n *Node) nameOwner(w http.ResponseWriter, workspace int64) {
	if workspace != 0 { // a stranger's leaves nothing in a balancer's memory
		w.Header()[NodeHeader] = n.host
	}
}

// Host is the value of NodeHeader for this node.
func (n *Node) Host() string { return n.host[0] }

// serve answers a request of a workspace, here or elsewhere. When the connection to another
// node breaks, nobody knows whether that has carried it out: then it is sent again, over a new
// connection and to whoever has the shard by then, if it writes the same twice. The first time
// that is at once; a node that dies may take one more connection and break it.
func (n *Node) serve(w http.ResponseWriter, r *http.Request, workspace int64) {
	shard := n.ShardOf(workspace)
	b := bodyOf(r)
	waiting := wait{n: n, over: time.Now().Add(n.cfg.Hold)}
	defer waiting.end()
	var came store.Arrival
	again := false
	for {
		p := n.owner(shard)
		if s, done, here := n.Local(shard, r.Method); here {
			b.rewind(r)
			defer done()
			n.nameOwner(w, workspace)
			s.ServeHTTP(w, arrived(r, came))
			return
		}
		if err := n.inQuarantine(shard); err != nil {
			n.fail(w, r, err)
			return
		}
		begun := time.Now()
		if b.keep(r) { // for as long as the sender took, for which he does not wait
			waiting.over = waiting.over.Add(time.Since(begun))
			if b.broken != nil { // net/http takes the client for gone; he waits for an answer
				r = r.WithContext(context.WithoutCancel(r.Context()))
			}
			continue
		}
		if p.base != "" {
			if came.At == 0 {
				came.At = n.Now()
			}
			b.rewind(r)
			err := n.forward(&p, w, r, b, came)
			undone := errors.Is(err, errUndone)
			switch {
			case err == nil:
				return
			case undone && b.used && b.broken != nil:
				n.fail(w, r, rimewatch.Wrap(rimewatch.CodeInvalidJSON, b.broken, "The body did not arrive completely or in time."))
				return
			case undone && b.used:
				n.fail(w, r, p.unserved())
				return
			case undone, !changes(r.Method):
			case !b.used && n.cfg.Repeatable(r, b.whole):
				n.client.CloseIdleConnections() // they may be broken, too
				if !again {
					again = true
					continue
				}
			default:
				n.fail(w, r, n.unknown(r))
				return
			}
		}
		if !waiting.next(r.Context(), p.changed, int64(len(b.whole))) {
			n.Counts.NotServed.Add(1)
			if again {
				n.fail(w, r, n.unknown(r))
			} else {
				n.fail(w, r, p.unserved())
			}
			return
		}
	}
}

// arrived is a request that was to be answered elsewhere before.
func arrived(r *http.Request, came store.Arrival) *http.Request {
	if came.At == 0 {
		return r
	}
	return r.WithContext(store.WithArrival(r.Context(), came))
}

// unknown is the error of a request that may have been carried out or not.
// Readings are to be sent again all the same: at the worst one without a time and without a
// key is stored twice, which is better than not at all.
func (n *Node) unknown(r *http.Request) error {
	if n.cfg.Readings(r) {
		return lostReadings(r.Method + " " + r.URL.Path)
	}
	return rimewatch.Wrap(rimewatch.CodeOutcomeUnknown, errors.New(r.Method+" "+httpapi.LoggedPath(r.URL.Path)), "The node that was asked went away: check whether the request was carried out before you send it again.")
}

// lostReadings is unknown of readings.
func lostReadings(of string) error {
	e := rimewatch.Wrap(rimewatch.CodeUnavailable, errors.New(of), "The node that was asked went away. The readings may have been stored: send them again. Those with recorded_at or an Idempotency-Key are then stored once.")
	e.RetryAfter = time.Second
	return e
}

func unserved() error { return (&remote{}).unserved() }

// unserved is the error of a request that no node has answered, and of which nothing was
// stored.
func (p *remote) unserved() error {
	e := &rimewatch.Error{Code: rimewatch.CodeUnavailable, Message: "No node serves the workspace at the moment.", RetryAfter: time.Second}
	if p.cut {
		e.Message = "The node that serves the workspace cannot be reached from this one at the moment."
	}
	return e
}

// wait is a request's wait for a node that serves its shard.
type wait struct {
	n    *Node
	over time.Time
	size int64 // its share of mostWaiting
}

// next waits for a change of owners, for a moment at most: false when it is
// time to give up, or when too much waits. The request's body is of so many bytes.
func (w *wait) next(ctx context.Context, changed <-chan struct{}, body int64) bool {
	left := time.Until(w.over)
	if left <= 0 {
		return false
	}
	if w.size == 0 {
		w.size = body + requestSize
		if w.n.waiting.Add(w.size) > mostWaiting {
			return false
		}
	}
	t := time.NewTimer(min(left, lookEvery/5))
	defer t.Stop()
	select {
	case <-changed:
	case <-t.C:
	case <-ctx.Done():
		return false
	case <-w.n.ctx.Done():
		return false
	}
	return true
}

// end returns the request's share of mostWaiting.
func (w *wait) end() { w.n.waiting.Add(-w.size) }

// fail answers a request with an error, in the language of its reader.
func (n *Node) fail(w http.ResponseWriter, r *http.Request, err error) {
	n.refuse(w, httpapi.ForReader(httpapi.AsError(err), r))
}

// refuse answers with an error.
func (n *Node) refuse(w http.ResponseWriter, e *rimewatch.Error) {
	if e.Code == rimewatch.CodeInternal || e.Code == rimewatch.CodeOutcomeUnknown {
		n.log.Error("request failed", "error", e)
	}
	h := w.Header()
	httpapi.FailureHeaders(h, e)
	w.WriteHeader(httpapi.StatusOf[e.Code])
	_, _ = w.Write(wire.AppendFailure(nil, e, h.Get(httpapi.RequestIDHeader)))
}

// errUndone is of a request about which nothing was done.
var errUndone = errors.New("the shard is not there")

// forward has another node answer, as long as it is there and can be reached: one that
// is frozen or cut off does not hold requests up for longer. An error means that
// nothing of the answer was written.
func (n *Node) forward(p *remote, w http.ResponseWriter, r *http.Request, b *body, came store.Arrival) error {
	to, err := url.Parse(p.base + pathForward)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(p.there, cancel)()
	var written atomic.Bool // all of it: nobody acts upon less
	r = r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) { written.Store(info.Err == nil) },
	}))
	var failed error
	proxy := httputil.ReverseProxy{
		Transport: n.client.Transport, FlushInterval: -1, BufferPool: &n.copying,
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.Out.URL = to
			pr.Out.Host = pr.In.Host
			for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
				if v := pr.In.Header.Values(name); len(v) > 0 {
					pr.Out.Header[name] = v
				}
			}
			pr.Out.Header.Set(headerSecret, n.cfg.Secret)
			pr.Out.Header.Set(headerURI, pr.In.URL.RequestURI())
			pr.Out.Header.Set(headerClient, pr.In.RemoteAddr)
			pr.Out.Header.Set(headerCame, strconv.FormatInt(int64(came.At), 10))
			if pr.In.TLS != nil || httpapi.IsOverTLS(pr.In.Context()) {
				pr.Out.Header.Set(headerTLS, "1")
			}
			pr.Out.Header.Del("Expect") // the sender gets its 100 Continue here
			b.send(pr.Out)
		},
		ModifyResponse: func(resp *http.Response) error {
			if resp.Header.Get(headerMoved) != "" {
				return errUndone
			}
			return nil
		},
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) { failed = err },
	}
	proxy.ServeHTTP(w, r)
	switch {
	case failed == nil:
		n.Counts.Forwarded.Add(1)
	case !written.Load():
		return errors.Join(errUndone, failed)
	}
	return failed
}

// buffers are httputil's for copying answers.
type buffers struct{ pool sync.Pool }

const bufferSize = 32 << 10

// Get implements httputil.BufferPool.
func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[bufferSize]byte); ok {
		return p[:]
	}
	return make([]byte, bufferSize)
}

// Put implements httputil.BufferPool.
func (b *buffers) Put(p []byte) { b.pool.Put((*[bufferSize]byte)(p)) }

// forwarded answers a request that another node was sent. Whose it is, this node finds out
// for itself: nobody else can make it take what it does not own.
func (n *Node) forwarded(w http.ResponseWriter, r *http.Request) {
	u, err := url.ParseRequestURI(r.Header.Get(headerURI))
	if err != nil {
		http.Error(w, "this is no request of a client", http.StatusBadRequest)
		return
	}
	r.URL, r.RequestURI = u, r.Header.Get(headerURI)
	workspace, err := n.cfg.Workspace(r)
	s, done, here := n.Local(n.ShardOf(workspace), r.Method)
	if err != nil || !here {
		if here {
			done()
		}
		w.Header().Set(headerMoved, "1")
		n.fail(w, r, unserved())
		return
	}
	defer done()
	r.RemoteAddr = r.Header.Get(headerClient)
	if r.Header.Get(headerTLS) != "" {
		r = r.WithContext(httpapi.OverTLS(r.Context()))
	}
	at, _ := strconv.ParseInt(r.Header.Get(headerCame), 10, 64)
	came := store.Arrival{At: rimewatch.Time(at)}
	receive(r)
	for _, name := range innerHeaders {
		r.Header.Del(name)
	}
	n.nameOwner(w, workspace)
	s.ServeHTTP(w, arrived(r, came))
}
