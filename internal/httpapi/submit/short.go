package submit

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/httpapi/shortpath"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
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

// Post is serveSingle for a request that did not come over net/http.
func (g *Readings) Post(ctx context.Context, q *shortpath.Request, a *shortpath.Answer) {
	start, id := time.Now(), g.nameOf(q)
	defer func() {
		if v := recover(); v != nil {
			g.postPanicked(a, id, v)
		}
		g.singleMeter.Observe(a.Status, time.Since(start))
	}()
	s := g.single.Get().(*singleScratch)
	status, e := g.post(ctx, q, &s.Scratch)
	g.answerPost(a, id, s, status, e)
}

// nameOf returns the name of a request.
func (g *Readings) nameOf(q *shortpath.Request) string {
	if sent := string(q.ID); httpapi.SaneID(sent) {
		return sent
	}
	return g.api.RequestID(nil)
}

func (g *Readings) postPanicked(a *shortpath.Answer, id string, v any) {
	g.api.Log().Error("panic", "method", http.MethodPost, "path", SinglePath, "request_id", id, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
	g.refuse(a, id, rimewatch.Errorf(rimewatch.CodeInternal, "Internal error."))
}

// answerPost makes the answer of what became of a request, and takes back its memory.
func (g *Readings) answerPost(a *shortpath.Answer, id string, s *singleScratch, status int, e *rimewatch.Error) {
	if s.Left >= 0 {
		g.api.DeviceLimit.EachHeader(s.Left, a.Header)
	}
	if e != nil {
		g.api.LogFailure(http.MethodPost, SinglePath, id, e)
		g.refuse(a, id, e) // s is not used again
		return
	}
	a.Status = status
	a.Header("Content-Type", httpapi.TypeJSON)
	a.Header("X-Content-Type-Options", "nosniff")
	a.Header("Cache-Control", "no-store")
	a.Header(httpapi.RequestIDHeader, id)
	a.Body = append(a.Body[:0], s.Out...) // s goes to others before a is written
	if cap(s.Out) <= maxKept {
		g.single.Put(s)
	}
}

// post makes the checks in the order of the contract and stores the reading. That
// the body is small JSON, the loop knows.
func (g *Readings) post(ctx context.Context, q *shortpath.Request, s *Scratch) (int, *rimewatch.Error) {
	s.Left = -1
	now := store.ArrivedAt(ctx, g.api.Now())
	p, e := g.sender(ctx, q, now)
	if e != nil {
		return 0, e
	}
	return g.Single(ctx, &p, now, q.Body, s)
}

// sender returns who sends a request, who may send readings.
func (g *Readings) sender(ctx context.Context, q *shortpath.Request, now rimewatch.Time) (account.Principal, *rimewatch.Error) {
	p, err := g.api.Auth().Authenticate(ctx, q.Token, now)
	if err != nil {
		from := &http.Request{Method: http.MethodPost, URL: &url.URL{Path: SinglePath}, RemoteAddr: q.Remote.String()}
		if q.ForwardedFor != nil {
			from.Header = http.Header{"X-Forwarded-For": {string(q.ForwardedFor)}}
		}
		return p, g.api.RefuseToken(err, p, from, now)
	}
	if !p.Scopes.Has(rimewatch.ScopeReadingsWrite) {
		return p, httpapi.AsError(p.Require(rimewatch.ScopeReadingsWrite))
	}
	return p, nil
}

// refuse makes the answer to a request that failed.
func (g *Readings) refuse(a *shortpath.Answer, id string, e *rimewatch.Error) {
	h := make(http.Header)
	httpapi.FailureHeaders(h, e)
	for _, name := range slices.Sorted(maps.Keys(h)) { // the same answer each time
		a.Header(name, h[name][0])
	}
	a.Header("X-Content-Type-Options", "nosniff")
	a.Header(httpapi.RequestIDHeader, id)
	a.Status, a.Body = httpapi.StatusOf[e.Code], wire.AppendFailure(a.Body[:0], e, id)
}
