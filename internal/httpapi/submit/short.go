package submit

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/httpapi/shortpath"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Where readings are posted.
const (
	SinglePath = httpapi.Prefix + singlePath
	BatchPath  = httpapi.Prefix + batchPath
)

// ServePost implements shortpath.Handler.
func (g *Readings) ServePost(q *shortpath.Request, a *shortpath.Answer) {
	g.Post(context.Background(), q, a)
}

// Post is serveSingle for a request that did not come over net/http. That the body is small
// JSON, the loop knows.
func (g *Readings) Post(ctx context.Context, q *shortpath.Request, a *shortpath.Answer) {
	s := g.single.Get().(*singleScratch)
	x := &s.short
	*x = short{api: g.api, ctx: ctx, q: q, a: a}
	x.way = x
	stored := false // otherwise s is not used again
	g.serve(&x.call, &g.singleMeter, func() (int, *rimewatch.Error) {
		s.Left = -1
		status, e := g.Single(ctx, &x.p, x.now, q.Body, &s.Scratch)
		stored = e == nil
		return g.finish(&x.call, &s.Scratch, status, e)
	})
	if stored {
		*x = short{}
		g.keep(s)
	}
}

// short is a request that came by the short path.
type short struct {
	call
	api *httpapi.API
	ctx context.Context //nolint:containedctx // of one call
	q   *shortpath.Request
	a   *shortpath.Answer
}

func (x *short) arrived(now rimewatch.Time) rimewatch.Time { return store.ArrivedAt(x.ctx, now) }

func (x *short) size() int64 { return int64(len(x.q.Body)) }

func (x *short) name() string { return string(x.q.ID) }

func (x *short) sender(now rimewatch.Time) (account.Principal, *rimewatch.Error) {
	return x.api.AuthenticateToken(x.ctx, x.q.Token, now, x.request)
}

func (x *short) limited(l *httpapi.Limiter, left int) { l.EachHeader(left, x.a.Header) }

func (x *short) head(name string, value []string) { x.a.Header(name, value[0]) }

func (x *short) send(id string, status int, body []byte) {
	x.a.Header(httpapi.RequestIDHeader, id)
	x.a.Status, x.a.Body = status, append(x.a.Body[:0], body...) // body goes to others before it is written
}

func (x *short) plain() (http.ResponseWriter, *http.Request) {
	return &shortWriter{a: x.a, head: make(http.Header)}, x.request()
}

// request is the request as net/http would have it, for those who ask where it came from.
func (x *short) request() *http.Request {
	r := &http.Request{Method: http.MethodPost, URL: &url.URL{Path: SinglePath}, RemoteAddr: x.q.Remote.String()}
	if x.q.ForwardedFor != nil {
		r.Header = http.Header{"X-Forwarded-For": {string(x.q.ForwardedFor)}}
	}
	return r
}

// shortWriter makes an answer of the short path of one that is written as to net/http.
type shortWriter struct {
	a    *shortpath.Answer
	head http.Header
}

func (w *shortWriter) Header() http.Header { return w.head }

func (w *shortWriter) WriteHeader(status int) {
	for _, name := range slices.Sorted(maps.Keys(w.head)) { // the same answer each time
		w.a.Header(name, w.head[name][0])
	}
	w.a.Status, w.a.Body = status, w.a.Body[:0]
}

func (w *shortWriter) Write(b []byte) (int, error) {
	w.a.Body = append(w.a.Body, b...)
	return len(b), nil
}
