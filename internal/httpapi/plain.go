package httpapi

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/netip"

	"github.com/rimewatch/rimewatch"
)

// table is the route table.
func (a *API) table() []route {
	var all []route
	for _, part := range [][]route{
		a.deviceRoutes(), a.importRoutes(), a.readingRoutes(), a.alertRoutes(), a.predictionRoutes(), a.recordRoutes(), a.reportRoutes(), a.auditRoutes(), a.maintenanceRoutes(), a.channelRoutes(), a.routingRoutes(), a.silenceRoutes(), a.deliveryRoutes(),
		a.workspaceRoutes(), a.memberRoutes(), a.invitationRoutes(), factorRoom{a}.routes(), a.accountRoutes(), a.policyRoutes(), a.streamRoutes(),
	} {
		all = append(all, part...)
	}
	return all
}

// registerPlain adds what is not part of the described API: the description
// itself, the docs page, and what machines that watch the service ask for.
func (a *API) registerPlain() {
	plain := func(path string, fn func(c *call) error) {
		h := a.rawHandler(fn)
		a.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			c := callOf(r.Context())
			c.route, c.w, c.r = &route{method: http.MethodGet, path: path}, w, r
			h(w, r)
		})
	}
	plain(Prefix+"/openapi.json", func(c *call) error {
		c.cached("application/json", a.spec.json, a.spec.etag)
		return nil
	})
	plain(Prefix+"/asyncapi.json", func(c *call) error {
		c.cached("application/json", a.streamSpec.json, a.streamSpec.etag)
		return nil
	})
	plain(Prefix+"/docs", a.docsPage)
	plain(Prefix+"/docs/{file}", a.docsFile)
	plain("/healthz", func(c *call) error { return c.ok() })
	plain("/readyz", a.readyz)
	if a.cfg.Metrics != nil {
		plain("/metrics", a.metrics)
	}
}

func (c *call) ok() error {
	c.header("Content-Type", typeJSON)
	_, _ = fmt.Fprintln(c.w, `{"success":true,"data":{"status":"ok"}}`)
	return nil
}

func (a *API) readyz(c *call) error {
	if a.cfg.Ready != nil {
		if err := a.cfg.Ready(c.r.Context()); err != nil {
			return rimewatch.Wrap(rimewatch.CodeUnavailable, err, "The service is not ready.")
		}
	}
	return c.ok()
}

// metrics serves the figures of the service to this machine and to those who
// have the token for it.
func (a *API) metrics(c *call) error {
	if !a.mayReadMetrics(c.r) {
		return errUnauthenticated()
	}
	a.cfg.Metrics.ServeHTTP(c.w, c.r)
	return nil
}

// mayReadMetrics judges a request by the connection alone: what a proxy says
// about its client is no reason to open up, and a proxy on this machine is not
// this machine.
func (a *API) mayReadMetrics(r *http.Request) bool {
	if a.cfg.MetricsToken != "" {
		token, ok := bearerToken(r.Header["Authorization"])
		if ok && subtle.ConstantTimeCompare([]byte(token), []byte(a.cfg.MetricsToken)) == 1 {
			return true
		}
	}
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	forwarded := r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Forwarded") != ""
	return err == nil && ap.Addr().Unmap().IsLoopback() && !forwarded
}
