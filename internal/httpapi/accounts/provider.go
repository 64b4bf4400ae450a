package accounts

import (
	"context"
	"net/http"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// Provider signs people in elsewhere.
type Provider interface {
	// Begin returns where the browser goes, and a secret that it brings back.
	Begin(now rimewatch.Time) (to, cookie string, err error)
	// Finish returns whom the provider has named.
	Finish(ctx context.Context, cookie, state, code string, now rimewatch.Time) (account.Identity, error)
}

// SignOn is the sign-in at a provider, under the name that people know it by.
type SignOn struct {
	Provider Provider // nil = there is none
	Name     string
}

// provided answers what is about signing in at a provider.
type provided struct {
	people
	SignOn
}

// flowCookie holds what a sign-in needs when the browser comes back. Like the
// session's it has a prefix on TLS.
const flowCookie = "rimewatch_sign_on"

func (a provided) cookieName(r *http.Request) string {
	if a.OnTLS(r) {
		return "__Host-" + flowCookie
	}
	return flowCookie
}

// setFlow sets the secret in the browser, or removes it ("").
func (a provided) setFlow(c *httpapi.Call, value string) {
	cookie := &http.Cookie{Name: a.cookieName(c.R), Value: value, Path: "/", MaxAge: 600, HttpOnly: true, Secure: a.OnTLS(c.R), SameSite: http.SameSiteLaxMode}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(c.W, cookie)
}

func (a provided) begin(c *httpapi.Call) error {
	if a.Provider == nil {
		return a.back(c, rimewatch.Errorf(rimewatch.CodeConflict, "This service has no sign-in provider."))
	}
	to, cookie, err := a.Provider.Begin(c.Now)
	if err != nil {
		return a.back(c, err)
	}
	a.setFlow(c, cookie)
	http.Redirect(c.W, c.R, to, http.StatusSeeOther)
	return nil
}

// CallbackInput are the parameters that the provider sends the browser back with.
type CallbackInput struct {
	Code  string `query:"code" maxLength:"4096"`
	State string `query:"state" maxLength:"512"`
	Error string `query:"error" maxLength:"512"`
}

func (a provided) finish(c *httpapi.Call) error {
	if a.Provider == nil {
		return a.back(c, rimewatch.Errorf(rimewatch.CodeConflict, "This service has no sign-in provider."))
	}
	cookie, err := c.R.Cookie(a.cookieName(c.R))
	if err != nil {
		cookie = &http.Cookie{}
	}
	a.setFlow(c, "") // it counts once
	var s account.SignedIn
	err = a.guess(c, func() error {
		if c.Query.Get("error") != "" {
			return rimewatch.Errorf(rimewatch.CodeForbidden, "The sign-in provider refused the sign-in.")
		}
		id, err := a.Provider.Finish(c.R.Context(), cookie.Value, c.Query.Get("state"), c.Query.Get("code"), c.Now)
		if err == nil {
			s, err = a.service.SignInProvided(c.R.Context(), id, a.session(c), a.client(c), c.Now)
		}
		return err
	})
	if err != nil {
		return a.back(c, err)
	}
	a.setSession(c, s)
	http.Redirect(c.W, c.R, "/", http.StatusSeeOther)
	return nil
}

// session returns the secret of the browser's session, "" without one.
func (a provided) session(c *httpapi.Call) string {
	cookie, err := c.R.Cookie(a.SessionCookie(c.R))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// back leads a browser whose sign-in has failed to the page that says so; others
// get the error.
func (a provided) back(c *httpapi.Call, err error) error {
	if !strings.Contains(c.R.Header.Get("Accept"), "text/html") {
		return err
	}
	a.Log().Info("sign-in at the provider failed", "address", a.ClientAddr(c.R), "request_id", c.ID, "error", err)
	why := "refused"
	switch code := rimewatch.CodeOf(err); {
	case account.NeedsPassword(err):
		why = "link"
	case code == rimewatch.CodeUnavailable:
		why = "unavailable"
	case code == rimewatch.CodeUnauthenticated:
		why = "expired"
	}
	http.Redirect(c.W, c.R, "/sign-in?provider="+why, http.StatusSeeOther)
	return nil
}

func (a provided) routes() []httpapi.Route {
	const path = "/v1/auth/provider"
	also := []rimewatch.Code{rimewatch.CodeConflict, rimewatch.CodeUnauthenticated, rimewatch.CodeForbidden}
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: path, ID: "sign-in-at-provider", Tag: "Account", Summary: "Sign in at the provider", Access: httpapi.Public, Status: http.StatusSeeOther, Also: also,
			Description: "For browsers: leads to the operator's sign-in provider (OpenID Connect). 409 without one.", Bind: httpapi.Raw[httpapi.NoInput, httpapi.Done](a.begin),
		},
		{
			Method: http.MethodGet, Path: path + "/callback", ID: "finish-sign-in-at-provider", Tag: "Account", Summary: "Return from the provider", Access: httpapi.Public, Status: http.StatusSeeOther, Also: also,
			Description: "Where the provider sends the browser back to. Sets the session cookie and leads to the start page; a browser whose sign-in failed is led to the sign-in page. 409 where the address is that of an account with a password: sign in with the password first, then at the provider within 10 minutes.",
			Bind:        httpapi.Raw[CallbackInput, httpapi.Done](a.finish),
		},
	}
}
