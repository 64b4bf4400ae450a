package httpapi

import (
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// registerPlain adds the paths outside the described API: the description itself, the docs page,
// and those for monitoring.
func (a *API) registerPlain() {
	plain := func(path string, fn func(c *Call) error) { a.Plain(http.MethodGet, path, fn) }
	plain(Prefix+"/openapi.json", func(c *Call) error {
		c.cached("application/json", a.spec())
		return nil
	})
	plain(Prefix+"/asyncapi.json", func(c *Call) error {
		c.cached("application/json", a.streamSpec())
		return nil
	})
	plain(Prefix+"/docs", a.docsPage)
	plain(Prefix+"/docs/{file}", a.docsFile)
	plain("/healthz", func(c *Call) error { return c.ok() })
	plain("/readyz", a.readyz)
	if a.cfg.Metrics != nil {
		plain("/metrics", a.metrics)
	}
}

// Plain adds a path that is not part of the described API, such as those that
// other people's protocols ask for. Its handler does all checks itself, gets a body by
// Take, and writes the answer, unless it returns an error. It is called while routes are
// made.
func (a *API) Plain(method, path string, fn func(c *Call) error) {
	h := a.rawHandler(fn)
	if !strings.HasPrefix(path, Prefix+"/") {
		first, _, _ := strings.Cut(path[1:], "/")
		a.outside[first] = true
	}
	rt := &Route{Method: method, Path: path}
	a.beside = append(a.beside, *rt)
	a.mux.HandleFunc(method+" "+path, func(w http.ResponseWriter, r *http.Request) {
		c := CallOf(r.Context())
		c.route, c.W, c.R = rt, w, r
		defer c.done()
		h(w, r)
	})
}

func (c *Call) ok() error {
	c.Header("Content-Type", TypeJSON)
	_, _ = fmt.Fprintln(c.W, `{"success":true,"data":{"status":"ok"}}`)
	return nil
}

func (a *API) readyz(c *Call) error {
	if a.cfg.Ready != nil {
		if err := a.cfg.Ready(c.R.Context()); err != nil {
			return rimewatch.Wrap(rimewatch.CodeUnavailable, err, "The service is not ready.")
		}
	}
	return c.ok()
}

// metrics serves the figures of the service to this machine and to those who
// have the token for it.
func (a *API) metrics(c *Call) error {
	if !a.mayReadMetrics(c.R) {
		return errUnauthenticated()
	}
	a.cfg.Metrics.ServeHTTP(c.W, c.R)
	return nil
}

// mayReadMetrics judges a request by the connection: a proxy's headers about its
// client is no reason to open up, and a proxy on this machine is not this
// machine. One that sends no header of its own is known by what it cannot help:
// the operator has said that there is one (--public-url, --trusted-proxy), the
// Host is not this machine's, or the request is HTTP/1.0, which nginx speaks
// where it is told nothing else and nothing that reads metrics does.
func (a *API) mayReadMetrics(r *http.Request) bool {
	if a.cfg.MetricsToken != "" {
		token, ok := BearerToken(r.Header["Authorization"])
		if ok && subtle.ConstantTimeCompare([]byte(token), []byte(a.cfg.MetricsToken)) == 1 {
			return true
		}
	}
	if a.cfg.PublicURL != "" || len(a.cfg.TrustedProxies) > 0 || !r.ProtoAtLeast(1, 1) || !isLoopback(r.Host) {
		return false
	}
	for _, name := range []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"} {
		if len(r.Header[name]) > 0 {
			return false
		}
	}
	return isLoopback(r.RemoteAddr)
}

// isLoopback reports whether a host, with or without a port, is this machine.
func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}
