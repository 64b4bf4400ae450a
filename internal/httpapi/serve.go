package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Recorder remembers the status of an answer.
type Recorder struct {
	http.ResponseWriter
	status int
	begun  time.Time // when the request came; zero = the answer keeps the request's deadline
}

// AllowAnswer extends the deadline of an answer that took long to make by all of
// WriteTimeout: the sender of the request is not to blame.
func AllowAnswer(w http.ResponseWriter, begun time.Time) {
	if now := time.Now(); now.Sub(begun) > WriteTimeout/4 {
		_ = http.NewResponseController(w).SetWriteDeadline(now.Add(WriteTimeout))
	}
}

// starts notes the status with which the answer starts.
func (w *Recorder) starts(status int) {
	if w.status != 0 {
		return
	}
	w.status = status
	if !w.begun.IsZero() {
		AllowAnswer(w.ResponseWriter, w.begun)
	}
}

// WriteHeader implements http.ResponseWriter and keeps the first status.
func (w *Recorder) WriteHeader(status int) {
	w.starts(status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *Recorder) Write(b []byte) (int, error) {
	w.starts(http.StatusOK)
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the writer below.
func (w *Recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// serve answers everything but the hot ingest routes.
func (a *API) serve(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	c := &Call{ID: a.ids.Of(r.Header), Now: a.cfg.Now(), R: r}
	var comp *compressor
	if r.Method == http.MethodGet && a.ours(r.URL.Path) {
		comp = &compressor{ResponseWriter: w, encoding: acceptedEncoding(r.Header)}
		w = comp
	}
	rec := &Recorder{ResponseWriter: w, begun: start}
	c.W = rec
	securityHeaders(rec.Header(), c.ID)
	if a.OnTLS(r) {
		rec.Header()["Strict-Transport-Security"] = oneYear
	}
	defer func() {
		if v := recover(); v != nil {
			a.Panicked(c, rec, v)
		}
		if comp != nil {
			comp.finish()
		}
		a.meter.observe(c.route, rec.status, time.Since(start))
		a.called(c, rec.status, time.Since(start))
	}()
	r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
	if a.ours(r.URL.Path) {
		a.dispatch(c, rec, r)
		return
	}
	if a.cfg.Fallback == nil {
		c.writeFailure(rec, errNoSuchPath())
		return
	}
	a.cfg.Fallback.ServeHTTP(rec, r)
}

func securityHeaders(h http.Header, id string) {
	h[RequestIDHeader] = []string{id}
	h["X-Content-Type-Options"] = NoSniff
	h["Referrer-Policy"] = sameOrigin
	h["X-Frame-Options"] = deny
	h["Cross-Origin-Opener-Policy"] = sameOrigin
}

// Header values that every answer shares; they are never changed.
var (
	NoSniff    = []string{"nosniff"}
	sameOrigin = []string{"same-origin"}
	deny       = []string{"DENY"}
	oneYear    = []string{"max-age=31536000"} // without subdomains, which are not ours
)

// ours reports whether a path belongs to the API rather than to the web UI.
func (a *API) ours(p string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	return p == Prefix || strings.HasPrefix(p, Prefix+"/") || a.outside[first] || strings.HasPrefix(path.Clean(p), Prefix+"/")
}

func errNoSuchPath() *rimewatch.Error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is nothing at this path.")
}

// dispatch finds the route. What the router answers by itself, it would answer
// in plain text; that becomes an envelope here. A path that is not in its
// shortest form is unknown rather than redirected: a client that builds a path
// from a serial such as ".." must not end up somewhere else.
func (a *API) dispatch(c *Call, w http.ResponseWriter, r *http.Request) {
	r = withoutSlash(r)
	c.R = r
	if p := r.URL.EscapedPath(); path.Clean(p) != p {
		c.writeFailure(w, errUnclean(p))
		return
	}
	router, pattern := a.mux.Handler(r)
	if pattern != "" {
		// The default for answers about one workspace; routes may say otherwise.
		w.Header().Set("Cache-Control", "no-store")
		a.mux.ServeHTTP(w, r)
		return
	}
	probe := &probeWriter{header: make(http.Header)}
	router.ServeHTTP(probe, r)
	allow := allowed(a.mux, r, probe.header.Get("Allow"))
	switch {
	case probe.status != http.StatusMethodNotAllowed:
		c.writeFailure(w, errNoSuchPath())
	case r.Method == http.MethodOptions:
		writeOptions(w, allow)
	default:
		w.Header().Set("Allow", allow)
		c.writeFailure(w, rimewatch.Errorf(rimewatch.CodeMethodNotAllowed, "This path accepts %s.", allow))
	}
}

// allowed are the methods of a path, as the router lists them. It takes the HEAD of every GET;
// one that has a route of its own is refused there.
func allowed(mux *http.ServeMux, r *http.Request, list string) string {
	head := *r
	head.Method = http.MethodHead
	if _, pattern := mux.Handler(&head); strings.HasPrefix(pattern, http.MethodHead+" ") {
		return strings.Replace(list, "GET, HEAD", "GET", 1)
	}
	return list
}

// withoutSlash is a request without the slash that ends its path: many clients add
// one.
func withoutSlash(r *http.Request) *http.Request {
	p := r.URL.Path
	if len(p) < 2 || !strings.HasSuffix(p, "/") || strings.HasSuffix(p, "//") {
		return r
	}
	shorter := r.Clone(r.Context())
	shorter.URL.Path, shorter.URL.RawPath = strings.TrimSuffix(p, "/"), strings.TrimSuffix(r.URL.RawPath, "/")
	return shorter
}

// errUnclean is the answer to a path that is not in its shortest form.
func errUnclean(p string) *rimewatch.Error {
	rest, ok := strings.CutPrefix(p, Prefix+"/v1/devices/")
	serial, _, _ := strings.Cut(rest, "/")
	if ok && (serial == "." || serial == "..") {
		return ErrDeviceNotFound()
	}
	return errNoSuchPath()
}

// writeOptions answers with the methods of a path. There is no cross-origin sharing, so
// no other header is due.
func writeOptions(w http.ResponseWriter, allow string) {
	w.Header().Set("Allow", allow+", OPTIONS")
	w.Header().Set("Content-Type", TypeJSON)
	_, _ = fmt.Fprintln(w, `{"success":true,"data":{}}`)
}

// probeWriter discards an answer.
type probeWriter struct {
	header http.Header
	status int
}

func (p *probeWriter) Header() http.Header         { return p.header }
func (p *probeWriter) Write(b []byte) (int, error) { return len(b), nil }
func (p *probeWriter) WriteHeader(status int)      { p.status = status }

// Panicked answers for a handler that panicked and logs it once. The server's
// own way of giving up on a connection is let through.
func (a *API) Panicked(c *Call, w *Recorder, v any) {
	if v == http.ErrAbortHandler { //nolint:errorlint // a panic's value, which net/http compares itself
		panic(v)
	}
	a.cfg.Log.Error("panic", "method", c.R.Method, "path", LoggedPath(c.R.URL.Path), "request_id", c.ID, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
	if w.status != 0 {
		// Part of an answer is out: breaking the connection is the only way left
		// to say that the rest is missing.
		panic(http.ErrAbortHandler)
	}
	w.Header().Del("Content-Length")
	c.writeFailure(w, rimewatch.Errorf(rimewatch.CodeInternal, "Internal error."))
}

// LoggedPath is a path as it may be logged: that of a source holds its key, those of a
// phone call and of a link in a message their tickets.
func LoggedPath(p string) string {
	for _, secret := range []string{"/in/", "/voice/", "/a/", "/cal/", "/o/", Prefix + "/v1/acknowledgements/", Prefix + "/v1/work-order-links/"} {
		if strings.HasPrefix(p, secret) {
			return secret + "…"
		}
	}
	return p
}
