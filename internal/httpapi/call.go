package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/catalogue"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Call is one request on its way through the API.
type Call struct {
	ID        string
	Now       rimewatch.Time
	route     *Route
	Principal account.Principal // zero on public routes
	Query     url.Values        // the parameters that the route knows, checked
	warnings  []string          // about parameters that the route does not know
	mediaType string            // of the body
	merges    bool              // the body is a merge patch
	act       *rimewatch.Act    // carried out by the call; nil = the call is a request
	kept      string            // see Kept
	// mediaParams are the parameters of the body's Content-Type.
	mediaParams map[string]string
	body        []byte // checked
	release     func() // lets go of the body; nil without one
	W           http.ResponseWriter
	R           *http.Request
	failed      *rimewatch.Error // of the refusal, nil = it was not refused
	streamed    time.Time        // when a streamed answer last moved its deadlines
}

type callKey struct{}

// CallOf finds the call that a handler works on.
func CallOf(ctx context.Context) *Call { return ctx.Value(callKey{}).(*Call) }

// Workspace is the one that the principal belongs to.
func (c *Call) Workspace() int64 { return c.Principal.WorkspaceID }

// Caller is the number of the token or, negative, of the person that makes the call.
func (c *Call) Caller() int64 { return limitKey(&c.Principal) }

// done releases the resources of the call.
func (c *Call) done() {
	if c.release != nil {
		c.release()
	}
}

// Locale returns the caller's language and formats: those that a person has chosen, and where that
// leaves the language open, or a token asks, the language of Accept-Language.
func (c *Call) Locale() rimewatch.Locale {
	l := c.Principal.Locale
	if l.Language == "" {
		l.Language = catalogue.Match(c.R.Header.Get("Accept-Language"))
	}
	return l
}

// Words returns the words in the caller's language.
func (c *Call) Words() phrase.Words { return phrase.In(c.Locale()) }

// Body returns the body with its content type and the parameters of that. The frame has
// read it within its bounds, and checked it where it is JSON.
func (c *Call) Body() (body []byte, mediaType string, params map[string]string) {
	return c.body, c.mediaType, c.mediaParams
}

// JSON returns the JSON body, which the frame has checked; nil = there is none.
func (c *Call) JSON() []byte { return c.body }

// Header sets a response header.
func (c *Call) Header(name, value string) { c.W.Header().Set(name, value) }

// ClientAddr is the address that the request comes from. Behind a trusted proxy
// it is the last one in X-Forwarded-For that is not a trusted proxy itself: what
// stands before that, anyone could have written.
func (a *API) ClientAddr(r *http.Request) netip.Addr {
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
		hop, ok := forwardedAddr(hops[i])
		if !ok {
			break
		}
		addr = hop
		if !a.trusted(addr) {
			break
		}
	}
	return addr
}

// forwardedAddr reads an address of X-Forwarded-For, behind which some proxies
// write the client's port.
func forwardedAddr(hop string) (netip.Addr, bool) {
	hop = strings.TrimSpace(hop)
	if ap, err := netip.ParseAddrPort(hop); err == nil {
		return ap.Addr().Unmap(), true
	}
	if in, ok := strings.CutPrefix(hop, "["); ok {
		hop = strings.TrimSuffix(in, "]")
	}
	addr, err := netip.ParseAddr(hop)
	return addr.Unmap(), err == nil
}

func (a *API) trusted(addr netip.Addr) bool {
	for _, p := range a.cfg.TrustedProxies {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// OnTLS reports whether the browser speaks TLS, to us or to a trusted proxy.
func (a *API) OnTLS(r *http.Request) bool {
	if a.secure || r.TLS != nil || IsOverTLS(r.Context()) {
		return true
	}
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && a.trusted(ap.Addr().Unmap()) && r.Header.Get("X-Forwarded-Proto") == "https"
}

// overTLS marks the context of requests that came over our own TLS.
type overTLS struct{}

// IsOverTLS reports whether a context is of a request that came over our own TLS.
func IsOverTLS(ctx context.Context) bool { return ctx.Value(overTLS{}) != nil }

// OverTLS marks the context of requests that come over our own TLS, which
// net/http does not see.
func OverTLS(ctx context.Context) context.Context {
	return context.WithValue(ctx, overTLS{}, true)
}

// Merges reports whether the body is a merge patch: TypeMergePatch.
func (c *Call) Merges() bool { return c.merges }

// Actor names who does something: a person by name or e-mail, a token by its name.
func (a *API) Actor(ctx context.Context, p account.Principal) (string, error) {
	u, err := a.Person(ctx, p)
	switch {
	case err != nil || !p.Session:
		return TokenActor(&p), err
	case u.Name != "":
		return u.Name, nil
	default:
		return u.Email, nil
	}
}

// Person is the one who is signed in; zero for a token.
func (a *API) Person(ctx context.Context, p account.Principal) (rimewatch.User, error) {
	if !p.Session {
		return rimewatch.User{}, nil
	}
	return a.cfg.Auth.Person(ctx, p)
}

// TokenActor is the name under which the API token of p appears in timelines.
func TokenActor(p *account.Principal) string {
	return "token " + p.TokenName
}

// AuditActor is actor for the audit trail, where a name alone is not enough.
func (a *API) AuditActor(ctx context.Context, p account.Principal) (string, error) {
	u, err := a.Person(ctx, p)
	if err != nil || !p.Session {
		return TokenActor(&p), err
	}
	return u.Label(), nil
}

// Param returns a parameter, or the default when it was not sent.
func (c *Call) Param(name, byDefault string) string {
	if v := c.Query.Get(name); v != "" {
		return v
	}
	return byDefault
}

// Number returns an integer parameter, which is checked already.
func (c *Call) Number(name string, byDefault, most int64) int64 {
	n, err := strconv.ParseInt(c.Query.Get(name), 10, 64)
	if err != nil {
		n = byDefault
	}
	return min(n, most)
}

// PageInput returns the paging parameters of a route that writes its own answer.
func (c *Call) PageInput() PageInput {
	return PageInput{Page: c.Number("page", 1, wire.MaxCount), PerPage: c.Number("per_page", 15, wire.MaxCount), Cursor: c.Query.Get("cursor")}
}

// errGone means that the client went away.
var errGone = errors.New("client is gone")

// StreamChunk is how much of a streamed answer is gathered before it is sent.
const StreamChunk = 32 << 10

// Stream lets an answer take longer than the server allows for others, as long
// as its reader keeps up: every piece has WriteTimeout.
func (c *Call) Stream(piece []byte) error {
	now := time.Now()
	if now.Sub(c.streamed) > WriteTimeout/4 {
		control := http.NewResponseController(c.W)
		_ = control.SetReadDeadline(time.Time{}) // a late one would be taken for the client's death
		_ = control.SetWriteDeadline(now.Add(WriteTimeout))
		c.streamed = now
	}
	_, err := c.W.Write(piece)
	if err != nil {
		return errors.Join(errGone, err)
	}
	return nil
}

// BrokenStream ends an answer that failed on its way. When a part of it is out,
// only breaking the connection tells the client that the rest is missing.
func (a *API) BrokenStream(c *Call, err error) error {
	out := c.W
	if w, ok := out.(*warner); ok {
		out = w.ResponseWriter
	}
	rec, ok := out.(*Recorder)
	if !ok || rec.status == 0 {
		return err
	}
	if !errors.Is(err, errGone) && c.R.Context().Err() == nil {
		a.cfg.Log.Error("answer broke off", "path", LoggedPath(c.R.URL.Path), "request_id", c.ID, "error", err)
	}
	panic(http.ErrAbortHandler)
}

// Data answers with data, from a raw handler.
func (c *Call) Data(status int, data any) error {
	b, err := wire.AppendJSON([]byte(`{"success":true,"data":`), data)
	if err != nil {
		return err
	}
	c.Header("Content-Type", TypeJSON)
	c.W.WriteHeader(status)
	_, _ = c.W.Write(append(b, "}\n"...))
	return nil
}

// SiteFinder finds sites.
type SiteFinder interface {
	Sites(p account.Principal) store.Resource[rimewatch.Site]
}

// Site finds a site that the caller may see: CodeNotFound.
func (c *Call) Site(from SiteFinder, id int64) (rimewatch.Site, error) {
	if !c.Principal.Sites().Has(id) {
		return rimewatch.Site{}, rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such site.")
	}
	return from.Sites(account.Operator(c.Workspace())).Get(c.R.Context(), c.Workspace(), id)
}
