package httpapi

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
)

// call is one request on its way through the API.
type call struct {
	id        string
	now       rimewatch.Time
	route     *route
	principal account.Principal // zero on public routes
	query     url.Values        // the parameters that the route knows, checked
	mediaType string            // of the body
	body      []byte            // checked
	w         http.ResponseWriter
	r         *http.Request
	streamed  time.Time // when a streamed answer last moved its deadlines
}

type callKey struct{}

// callOf finds the call that a handler works on.
func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// workspace is the one that the principal belongs to.
func (c *call) workspace() int64 { return c.principal.WorkspaceID }

// header sets a response header.
func (c *call) header(name, value string) { c.w.Header().Set(name, value) }

// clientAddr is the address that the request comes from. Behind a trusted proxy
// it is the last one in X-Forwarded-For that is not a trusted proxy itself: what
// stands before that, anyone could have written.
func (a *API) clientAddr(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr := ap.Addr().Unmap()
	if !a.trusted(addr) {
		return addr
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		addr = hop.Unmap()
		if !a.trusted(addr) {
			break
		}
	}
	return addr
}

func (a *API) trusted(addr netip.Addr) bool {
	for _, p := range a.cfg.TrustedProxies {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// onTLS tells whether the browser speaks TLS, to us or to a trusted proxy.
func (a *API) onTLS(r *http.Request) bool {
	if a.secure || r.TLS != nil || r.Context().Value(overTLS{}) != nil {
		return true
	}
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && a.trusted(ap.Addr().Unmap()) && r.Header.Get("X-Forwarded-Proto") == "https"
}
