package httpapi

import (
	"context"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// sessionCookie holds the secret of a signed-in browser. On TLS it has a prefix
// by which browsers take it from this very host alone, over TLS.
const (
	sessionCookie    = "rimewatch_session"
	tlsSessionCookie = "__Host-" + sessionCookie
)

// SessionCookie is the name of the session cookie: over TLS one that no sibling domain can set.
func (a *API) SessionCookie(r *http.Request) string {
	if a.OnTLS(r) {
		return tlsSessionCookie
	}
	return sessionCookie
}

// SessionCookies are the names of the session cookie, over TLS and without.
func SessionCookies() []string { return []string{tlsSessionCookie, sessionCookie} }

// admit checks a request in the order that the contract fixes: authentication,
// scope, rate, content type, size, JSON, fields. Existence is for the handler.
func (a *API) admit(c *Call) *rimewatch.Error {
	var e *rimewatch.Error
	switch {
	case c.act != nil:
		var err error
		if c.Principal, err = a.cfg.Auth.Member(c.R.Context(), c.act.WorkspaceID, c.act.UserID); err != nil {
			e = AsError(err)
		}
	case c.route.Access.Public:
		e = a.checkOrigin(c.R)
	case c.route.socket:
		c.Principal, e = a.authenticateSocket(c.R, c.Now)
	default:
		c.Principal, e = a.Authenticate(c.R, c.Now)
	}
	if e != nil {
		return e
	}
	if a.cfg.Serves != nil && c.Workspace() != 0 && !a.cfg.Serves(c.Workspace()) {
		return &rimewatch.Error{Code: rimewatch.CodeUnavailable, Message: "The workspace is served elsewhere.", RetryAfter: time.Second}
	}
	if e := c.route.admits(&c.Principal, c.R); e != nil {
		return e
	}
	if e := a.limit(c); e != nil {
		return e
	}
	if e := a.takeBody(c); e != nil {
		return e
	}
	return a.checkFields(c)
}

// Authenticate finds the principal by the Authorization header or, failing
// that, by the session cookie. A cookie is sent by the browser whoever made the
// page, so it counts for writes only when the page is ours.
func (a *API) Authenticate(r *http.Request, now rimewatch.Time) (account.Principal, *rimewatch.Error) {
	slug := r.Header.Get(WorkspaceHeader)
	if slug == "" && safeMethod(r.Method) { // of a link to a file, which sends no header
		slug = r.URL.Query().Get("workspace")
	}
	return a.authenticate(r, slug, now)
}

// WorkspaceHeader names, by its slug, the workspace that a request is about: one of the person's, or the
// token's own. Without it that is the one that the session last looked at.
const WorkspaceHeader = "Rimewatch-Workspace"

func (a *API) authenticate(r *http.Request, slug string, now rimewatch.Time) (account.Principal, *rimewatch.Error) {
	if sent := r.Header["Authorization"]; len(sent) > 0 {
		p, e := a.bearer(r, sent, now)
		if e == nil && slug != "" {
			e = a.checkOwn(r.Context(), &p, slug)
		}
		return p, e
	}
	cookie, err := r.Cookie(a.SessionCookie(r))
	if err != nil {
		return account.Principal{}, errUnauthenticated()
	}
	p, err := a.cfg.Auth.AuthenticateSession(r.Context(), cookie.Value, slug, now)
	if err != nil {
		return account.Principal{}, AsError(err)
	}
	return p, a.checkOrigin(r)
}

// checkOwn refuses a token's request that names another workspace than its own.
func (a *API) checkOwn(ctx context.Context, p *account.Principal, slug string) *rimewatch.Error {
	id, err := a.cfg.Auth.WorkspaceOfSlug(ctx, slug)
	switch {
	case err == nil && id == p.WorkspaceID:
		return nil
	case err == nil || rimewatch.CodeOf(err) == rimewatch.CodeNotFound:
		return rimewatch.Errorf(rimewatch.CodeWrongWorkspace, "The token is of another workspace than the one that %s names.", WorkspaceHeader)
	}
	return AsError(err)
}

// checkOrigin refuses writes that another site's page makes with a browser.
func (a *API) checkOrigin(r *http.Request) *rimewatch.Error {
	if safeMethod(r.Method) || a.crossOrigin.Check(r) == nil && !unsealed(r, a.sealed) {
		return nil
	}
	if e := errOtherHost(r); e != nil {
		return e
	}
	return rimewatch.Errorf(rimewatch.CodeForbidden, "Cross-origin writes are not allowed.")
}

// errOtherHost names the cure where a proxy may have changed the header Host of
// a request from our own page, nil where the browser says that the page is
// another site's, or where the hosts are the same.
func errOtherHost(r *http.Request) *rimewatch.Error {
	from := r.Header.Get("Sec-Fetch-Site")
	page, err := url.Parse(r.Header.Get("Origin"))
	if ours := err == nil && (from == "" || from == "same-origin"); !ours || page.Host == "" || strings.EqualFold(page.Host, r.Host) {
		return nil
	}
	return rimewatch.Errorf(rimewatch.CodeForbidden,
		"The page is at %s, but the request arrived for %s. If a proxy is in front of Rimewatch, let it pass on the header Host, or start Rimewatch with --public-url %s.",
		page.Host, r.Host, page.Scheme+"://"+page.Host)
}

// unsealed reports whether a request comes from a page that was fetched without
// TLS from where we serve with it: anybody on the way may have written that page.
// sealed is the host of our public URL when that is https, "" otherwise.
func unsealed(r *http.Request, sealed string) bool {
	host, plain := strings.CutPrefix(r.Header.Get("Origin"), "http://")
	return plain && (r.TLS != nil || strings.EqualFold(host, sealed))
}

func safeMethod(m string) bool {
	return m == http.MethodGet || m == http.MethodHead || m == http.MethodOptions
}

func errUnauthenticated() *rimewatch.Error {
	return rimewatch.Errorf(rimewatch.CodeUnauthenticated, "The request is not authenticated.")
}

// ErrTooManyFailures refuses an address after too many failed authentications; wait is the time until its next try.
func ErrTooManyFailures(wait time.Duration) *rimewatch.Error {
	e := rimewatch.Errorf(rimewatch.CodeRateLimited, "Too many failed authentications from this address.")
	e.RetryAfter = wait
	return e
}

// bearer authenticates by the Authorization header.
func (a *API) bearer(r *http.Request, sent []string, now rimewatch.Time) (account.Principal, *rimewatch.Error) {
	from := func() *http.Request { return r }
	token, ok := BearerToken(sent)
	if !ok {
		return account.Principal{}, a.refuseToken(errUnauthenticated(), account.Principal{}, from, now)
	}
	return a.AuthenticateToken(r.Context(), token, now, from)
}

// AuthenticateToken finds the principal of an API token. Failures are counted against the address
// that from comes from; a valid token from the same address still works. from is called after one. With an error it returns
// of a token that has ended what is known of it.
func (a *API) AuthenticateToken(ctx context.Context, token string, now rimewatch.Time, from func() *http.Request) (account.Principal, *rimewatch.Error) {
	p, err := a.cfg.Auth.Authenticate(ctx, token, now)
	if err != nil {
		return p, a.refuseToken(err, p, from, now)
	}
	return p, nil
}

// refuseToken returns the answer to a token that failed with err, and counts the failure. ended
// is what Authenticate returned with err.
func (a *API) refuseToken(err error, ended account.Principal, from func() *http.Request, now rimewatch.Time) *rimewatch.Error {
	e := AsError(err)
	if e.Code != rimewatch.CodeUnauthenticated {
		return e
	}
	r := from()
	if wait := a.AuthFailures.Fail(a.ClientAddr(r), now); wait > 0 {
		return ErrTooManyFailures(wait)
	}
	a.refused(ended, e, r, "", now)
	return errUnauthenticated()
}

// refused records a request that was refused with e for want of rights or since
// there were too many; other errors are not recorded. route is the route's path,
// "" = the request's.
func (a *API) refused(p account.Principal, e *rimewatch.Error, r *http.Request, route string, now rimewatch.Time) {
	if e.Code != rimewatch.CodeUnauthenticated && e.Code != rimewatch.CodeForbidden && e.Code != rimewatch.CodeRateLimited {
		return
	}
	if route == "" && r.URL != nil {
		route = clip(LoggedPath(r.URL.Path), 200)
	}
	addr := a.ClientAddr(r)
	x := account.Refusal{Code: e.Code, Request: strings.TrimSpace(r.Method + " " + route), Address: addr.String()}
	if p.WorkspaceID == 0 { // who has a network does not have a line for each of its addresses
		x.Address = account.Household(addr).String()
	}
	a.cfg.Auth.Refused(r.Context(), p, x, now)
}

// clip shortens text of strangers to n bytes.
func clip(text string, n int) string {
	return strings.ToValidUTF8(text[:min(n, len(text))], "")
}

// BearerToken returns the token of the values of an Authorization header.
func BearerToken(sent []string) (string, bool) {
	const scheme = "bearer "
	if len(sent) != 1 || len(sent[0]) <= len(scheme) || !strings.EqualFold(sent[0][:len(scheme)], scheme) {
		return "", false
	}
	return strings.Trim(sent[0][len(scheme):], " "), true
}

// limit counts the request against its token or person. Ingest counts against
// the device instead.
func (a *API) limit(c *Call) *rimewatch.Error {
	if c.route.Access.Public || c.act != nil {
		return nil
	}
	if c.route.PerDevice {
		who := a.cfg.Identify(c.Workspace(), []byte(c.R.PathValue("serial")))
		if who != nil && c.Principal.Sites().Has(who.SiteID) {
			return takeFrom(a.DeviceLimit, who.ID, c.Now, c.W.Header())
		}
	}
	return takeFrom(a.tokenLimit, limitKey(&c.Principal), c.Now, c.W.Header())
}

// limitKey distinguishes tokens from people.
func limitKey(p *account.Principal) int64 {
	if p.Session {
		return -p.UserID
	}
	return p.TokenID
}

func takeFrom(l *Limiter, key int64, now rimewatch.Time, h http.Header) *rimewatch.Error {
	left, wait := l.Take(key, now)
	l.Header(h, left)
	if wait > 0 {
		return ErrRateLimited(wait)
	}
	return nil
}

// takeBody reads the body of a route that has one, and checks its type and size.
func (a *API) takeBody(c *Call) *rimewatch.Error {
	b := &c.route.Body
	if len(b.Types) == 0 {
		return nil
	}
	if c.R.ContentLength == 0 {
		if b.Optional {
			return nil
		}
		return ErrEmptyBody
	}
	var e *rimewatch.Error
	if kind, _, err := mime.ParseMediaType(c.R.Header.Get("Content-Type")); err == nil && kind == TypeMergePatch && c.route.Method == http.MethodPatch {
		c.mediaType, c.merges = TypeJSON, true
	} else if c.mediaType, c.mediaParams, e = contentType(c.R.Header, b.File, b.Types); e != nil {
		return e
	}
	if c.body, c.release, e = a.body(c); e != nil {
		return e
	}
	if wire.Blank(c.body) {
		c.body = nil
		if b.Optional {
			return nil
		}
		return ErrEmptyBody
	}
	if c.mediaType == TypeJSON {
		return MeantAsJSON(c.R.Header, c.body)
	}
	return nil
}

// body reads the body. One that anybody may send has nothing large to say.
func (a *API) body(c *Call) (body []byte, release func(), e *rimewatch.Error) {
	switch {
	case c.route.Body.Bulk:
		return a.BulkBody(c.W, c.R, c.Workspace(), nil)
	case !c.route.Access.Public:
		return a.Body(c.W, c.R, c.Workspace(), nil)
	}
	body, e = readBody(c.W, c.R, nil, promptBody, nil)
	return body, func() {}, e
}

// checkFields checks query parameters, and the syntax and members of a JSON body.
func (a *API) checkFields(c *Call) *rimewatch.Error {
	query, warnings, e := a.checker.query(c.route.op.Parameters, c.R.URL.RawQuery)
	c.Query, c.warnings = query, warnings
	if len(c.body) == 0 || c.mediaType != TypeJSON {
		return e
	}
	return merge(e, a.checker.Body(c.route.bodySchema, c.body))
}

// merge joins the complaints of two places; a malformed document comes first.
func merge(x, y *rimewatch.Error) *rimewatch.Error {
	switch {
	case x == nil:
		return y
	case y == nil || x.Code == rimewatch.CodeInvalidJSON:
		return x
	case y.Code == rimewatch.CodeInvalidJSON:
		return y
	}
	return rimewatch.Merge(x, y)
}
