package accounts

import (
	"context"
	"net/http"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

type personal interface {
	SetupCode(ctx context.Context) (code string, needed bool, err error)
	Setup(ctx context.Context, r account.SetupRequest, now rimewatch.Time) (account.SignedIn, error)
	SignIn(ctx context.Context, c account.Credentials, now rimewatch.Time) (account.SignedIn, error)
	SignInProvided(ctx context.Context, id account.Identity, shown string, client account.Client, now rimewatch.Time) (account.SignedIn, error)
	SignOut(ctx context.Context, p account.Principal) error
	Memberships(ctx context.Context, p account.Principal) ([]store.MembershipView, error)
	Me(ctx context.Context, p account.Principal) (account.Profile, error)
	UpdateMe(ctx context.Context, p account.Principal, patch account.ProfilePatch, now rimewatch.Time) (rimewatch.User, error)
	ChangePassword(ctx context.Context, p account.Principal, current, password string, client account.Client, now rimewatch.Time) (account.SignedIn, error)
	Sessions(ctx context.Context, p account.Principal, now rimewatch.Time) ([]store.Session, error)
	RevokeSession(ctx context.Context, p account.Principal, id int64) error
	RevokeOtherSessions(ctx context.Context, p account.Principal) error
	SwitchWorkspace(ctx context.Context, p account.Principal, workspaceID int64) error
}

// UserJSON is a person in answers.
type UserJSON struct {
	ID    int64  `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
	Theme string `json:"theme" enum:"system,light,dark"`
	LocaleJSON
}

// LocaleJSON is a rimewatch.Locale in answers.
type LocaleJSON struct {
	Language string `json:"language" doc:"The tag of a language; empty: that of the browser, by Accept-Language."`
	Units    string `json:"units" enum:"c,f" doc:"Of sentences and pages: values of the API are in °C."`
	Clock    string `json:"clock" enum:"24h,12h"`
	Dates    string `json:"dates" enum:"dmy,mdy,ymd" doc:"The order of day, month and year."`
}

func userJSON(u *rimewatch.User) UserJSON {
	return UserJSON{u.ID, u.Email, u.Name, u.Theme, LocaleJSON(u.Full())}
}

// UserData is the data of answers about a person.
type UserData struct {
	User UserJSON `json:"user"`
}

// SetupState reports whether the service waits to be set up.
type SetupState struct {
	Needed    bool     `json:"needed" doc:"No user exists yet: the server's log has the one-time code."`
	SignedIn  bool     `json:"signed_in" doc:"The request carries the cookie of a session that is valid."`
	Role      *string  `json:"role" doc:"Of whoever is signed in, in the workspace that the session looks at; null where nothing can be asked: of nobody, and of a person who is no member, or has yet to set up the second factor that it requires."`
	Provider  *string  `json:"provider" doc:"The name of the sign-in provider; null without one."`
	Mail      bool     `json:"mail" doc:"The service sends e-mail: links for forgotten passwords and for invitations."`
	Addresses []string `json:"addresses" doc:"While it waits: addresses that it may be given, the likeliest first; empty where the operator has set one."`
}

func (a people) setupState(ctx context.Context, _ *httpapi.NoInput) (SetupState, error) {
	_, needed, err := a.service.SetupCode(ctx)
	if err != nil {
		return SetupState{}, err
	}
	c := httpapi.CallOf(ctx)
	state := SetupState{Needed: needed, Mail: a.service.SendsMail(ctx), Addresses: []string{}}
	if c := httpapi.CallOf(ctx); needed && !a.service.AddressFixed() {
		state.Addresses = a.Offered(c.R)
	}
	if a.signOn.Provider != nil {
		state.Provider = &a.signOn.Name
	}
	if cookie, err := c.R.Cookie(a.SessionCookie(c.R)); err == nil {
		p, err := a.Auth().AuthenticateSession(ctx, cookie.Value, c.R.Header.Get(httpapi.WorkspaceHeader), c.Now)
		state.SignedIn = err == nil || rimewatch.CodeOf(err) == rimewatch.CodeNotFound // in another workspace
		if err == nil && !p.NeedsFactor {
			state.Role = wire.OrNull(string(p.Role))
		}
	}
	return state, nil
}

// SetupBody makes the first user.
type SetupBody struct {
	Code      string `json:"code" minLength:"1" maxLength:"64" doc:"The one-time code from the server's log."`
	Workspace string `json:"workspace" minLength:"1" maxLength:"200" doc:"Name of the workspace."`
	TimeZone  string `json:"timezone,omitempty" maxLength:"64" doc:"IANA name. Default: UTC."`
	Address   string `json:"address,omitempty" maxLength:"200" doc:"Where people reach the installation, such as http://192.168.1.20:8080. Ignored where the operator has set one."`
	Email     string `json:"email" minLength:"3" maxLength:"254"`
	Name      string `json:"name,omitempty" maxLength:"200"`
	Password  string `json:"password" minLength:"10" maxLength:"256"`
}

func (a people) setUp(ctx context.Context, in *httpapi.BodyInput[SetupBody]) (UserData, error) {
	c := httpapi.CallOf(ctx)
	b := &in.Body
	return a.enter(c, func() (account.SignedIn, error) {
		return a.service.Setup(ctx, account.SetupRequest{
			Code: b.Code, Workspace: b.Workspace, TimeZone: b.TimeZone, Address: b.Address, Email: b.Email, Name: b.Name, Password: b.Password, Client: a.client(c),
		}, c.Now)
	})
}

// SignInBody is what a person signs in with.
type SignInBody struct {
	Email    string `json:"email" minLength:"1" maxLength:"254"`
	Password string `json:"password" minLength:"1" maxLength:"256"`
	Code     string `json:"code,omitempty" maxLength:"32" doc:"Of the authenticator app, or a recovery code. Needed when the account has a second factor: without it the answer is 401 with fields.code."`
}

// signIn checks credentials. Failures count per address, and an address that
// has used them up is refused before the password is looked at: otherwise it
// could go on guessing and learn which one fits.
func (a people) signIn(ctx context.Context, in *httpapi.BodyInput[SignInBody]) (UserData, error) {
	c := httpapi.CallOf(ctx)
	return a.enter(c, func() (account.SignedIn, error) {
		return a.service.SignIn(ctx, account.Credentials{Email: in.Body.Email, Password: in.Body.Password, Code: in.Body.Code, Client: a.client(c)}, c.Now)
	})
}

// enter runs something that checks a secret, under the limit of failures, and
// sets the cookie of the session that it opens.
func (a people) enter(c *httpapi.Call, f func() (account.SignedIn, error)) (UserData, error) {
	var s account.SignedIn
	err := a.guess(c, func() (err error) {
		s, err = f()
		return err
	})
	if err != nil {
		return UserData{}, err
	}
	a.setSession(c, s)
	return UserData{userJSON(&s.User)}, nil
}

// guess runs something that checks a secret, under the limit of failures. A try
// counts before its outcome is known: otherwise as many as come at once would
// all be heard.
func (a people) guess(c *httpapi.Call, try func() error) error {
	addr := a.ClientAddr(c.R)
	if wait := a.SignInFailures.Fail(addr, c.Now); wait > 0 {
		return httpapi.ErrTooManyFailures(wait)
	}
	err := try()
	if !wrongSecret(err) {
		a.SignInFailures.Forgive(addr, c.Now)
	}
	return err
}

// wrongSecret reports whether an error says that a secret was wrong.
func wrongSecret(err error) bool {
	if account.NeedsCode(err) {
		return false
	}
	switch e := httpapi.AsError(err); rimewatch.CodeOf(err) {
	case rimewatch.CodeUnauthenticated, rimewatch.CodeNotFound:
		return true
	default:
		return err != nil && (e.Fields["current_password"] != nil || e.Fields["code"] != nil)
	}
}

// client is what a session remembers of the browser.
func (a people) client(c *httpapi.Call) account.Client {
	return account.Client{UserAgent: c.R.UserAgent(), Address: a.ClientAddr(c.R).String()}
}

// setSession hands the browser its cookie.
func (a people) setSession(c *httpapi.Call, s account.SignedIn) {
	a.setCookie(c, s.Secret, s.EndsAt.Std())
}

func (a people) setCookie(c *httpapi.Call, value string, ends time.Time) {
	cookie := &http.Cookie{
		Name: a.SessionCookie(c.R), Value: value, Path: "/", Expires: ends,
		HttpOnly: true, Secure: a.OnTLS(c.R), SameSite: http.SameSiteLaxMode,
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(c.W, cookie)
}

func (a people) signOut(ctx context.Context, _ *httpapi.NoInput) (httpapi.Done, error) {
	c := httpapi.CallOf(ctx)
	if err := a.service.SignOut(ctx, c.Principal); err != nil {
		return httpapi.Done{}, err
	}
	a.setCookie(c, "", time.Unix(1, 0))
	return httpapi.Done{}, nil
}

// Me is what a signed-in person knows of themselves.
type Me struct {
	User        UserJSON        `json:"user"`
	Workspace   wire.Workspace  `json:"workspace"`
	Role        rimewatch.Role  `json:"role" enum:"viewer,technician,admin,owner"`
	Scopes      []string        `json:"scopes" doc:"Of devices, readings and alerts; the role says the rest."`
	SiteIDs     rimewatch.Sites `json:"site_ids,omitempty" doc:"The sites that the person is limited to: everything else of the workspace does not exist there. Absent = all."`
	Memberships []MembershipRef `json:"memberships"`
}

// MembershipRef is one of a person's workspaces.
type MembershipRef struct {
	WorkspaceID   int64          `json:"workspace_id"`
	WorkspaceName string         `json:"workspace_name"`
	WorkspaceSlug string         `json:"workspace_slug" doc:"Names it in links, and in the header Rimewatch-Workspace."`
	Role          rimewatch.Role `json:"role" enum:"viewer,technician,admin,owner"`
}

func (a people) me(ctx context.Context, _ *httpapi.NoInput) (Me, error) {
	who := httpapi.CallOf(ctx).Principal
	p, err := a.service.Me(ctx, who)
	if err != nil {
		return Me{}, err
	}
	out := Me{
		User: userJSON(&p.User), Workspace: wire.NewWorkspace(&p.Workspace), Role: p.Role, Scopes: (p.Scopes & rimewatch.ScopesFull).Names(), SiteIDs: who.Sites(),
		Memberships: membershipRefs(p.Memberships),
	}
	return out, nil
}

func membershipRefs(all []store.MembershipView) []MembershipRef {
	out := make([]MembershipRef, len(all))
	for i, m := range all {
		out[i] = MembershipRef{m.WorkspaceID, m.WorkspaceName, m.WorkspaceSlug, m.Role}
	}
	return out
}

// MyWorkspaces are a person's workspaces.
type MyWorkspaces struct {
	User        UserJSON        `json:"user"`
	Memberships []MembershipRef `json:"memberships"`
}

func (a people) myWorkspaces(ctx context.Context, _ *httpapi.NoInput) (MyWorkspaces, error) {
	p := httpapi.CallOf(ctx).Principal
	u, err := a.Auth().Person(ctx, p)
	if err != nil {
		return MyWorkspaces{}, err
	}
	all, err := a.service.Memberships(ctx, p)
	if err != nil {
		return MyWorkspaces{}, err
	}
	return MyWorkspaces{userJSON(&u), membershipRefs(all)}, nil
}

// MeBody changes a person's own settings.
type MeBody struct {
	Name     *string `json:"name,omitempty" maxLength:"200"`
	Language *string `json:"language,omitempty" maxLength:"16" doc:"Of sentences, such as es; empty: that of the browser."`
	Units    *string `json:"units,omitempty" enum:"c,f"`
	Clock    *string `json:"clock,omitempty" enum:"24h,12h"`
	Dates    *string `json:"dates,omitempty" enum:"dmy,mdy,ymd"`
	Theme    *string `json:"theme,omitempty" enum:"system,light,dark"`
}

func (a people) updateMe(ctx context.Context, in *httpapi.BodyInput[MeBody]) (UserData, error) {
	c := httpapi.CallOf(ctx)
	u, err := a.service.UpdateMe(ctx, c.Principal, account.ProfilePatch(in.Body), c.Now)
	if err != nil {
		return UserData{}, err
	}
	return UserData{userJSON(&u)}, nil
}

// PasswordBody changes a password.
type PasswordBody struct {
	CurrentPassword string `json:"current_password" minLength:"1" maxLength:"256"`
	Password        string `json:"password" minLength:"10" maxLength:"256"`
}

func (a people) changePassword(ctx context.Context, in *httpapi.BodyInput[PasswordBody]) (UserData, error) {
	c := httpapi.CallOf(ctx)
	return a.enter(c, func() (account.SignedIn, error) {
		return a.service.ChangePassword(ctx, c.Principal, in.Body.CurrentPassword, in.Body.Password, a.client(c), c.Now)
	})
}

// SessionJSON is a signed-in browser.
type SessionJSON struct {
	ID         int64          `json:"id"`
	Current    bool           `json:"current" doc:"The one that asks."`
	UserAgent  string         `json:"user_agent"`
	Address    string         `json:"address"`
	CreatedAt  rimewatch.Time `json:"created_at" nullable:"false"`
	LastUsedAt rimewatch.Time `json:"last_used_at" nullable:"false"`
	ExpiresAt  rimewatch.Time `json:"expires_at" nullable:"false"`
}

// SessionList are a person's sessions.
type SessionList struct {
	Sessions []SessionJSON `json:"sessions"`
}

func (a people) listSessions(ctx context.Context, _ *httpapi.NoInput) (SessionList, error) {
	c := httpapi.CallOf(ctx)
	list, err := a.service.Sessions(ctx, c.Principal, c.Now)
	if err != nil {
		return SessionList{}, err
	}
	out := SessionList{make([]SessionJSON, len(list))}
	for i, s := range list {
		out.Sessions[i] = SessionJSON{s.ID, s.ID == c.Principal.SessionID, s.UserAgent, s.Address, s.CreatedAt, s.LastUsedAt, s.ExpiresAt}
	}
	return out, nil
}

func (a people) endSession(ctx context.Context, in *httpapi.IDInput) (httpapi.Done, error) {
	return httpapi.Done{}, a.service.RevokeSession(ctx, httpapi.CallOf(ctx).Principal, in.Number())
}

func (a people) endOtherSessions(ctx context.Context, _ *httpapi.NoInput) (httpapi.Done, error) {
	return httpapi.Done{}, a.service.RevokeOtherSessions(ctx, httpapi.CallOf(ctx).Principal)
}

// SwitchBody names the workspace to look at.
type SwitchBody struct {
	WorkspaceID int64 `json:"workspace_id" minimum:"1"`
}

func (a people) switchWorkspace(ctx context.Context, in *httpapi.BodyInput[SwitchBody]) (httpapi.Done, error) {
	err := a.service.SwitchWorkspace(ctx, httpapi.CallOf(ctx).Principal, in.Body.WorkspaceID)
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
		return httpapi.Done{}, rimewatch.Invalid("workspace_id", "is not one of your workspaces")
	}
	return httpapi.Done{}, err
}

func (a people) accountRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: http.MethodGet, Path: "/v1/setup", ID: "setup-state", Tag: "Account", Summary: "Report whether the service is set up", Access: httpapi.Public, Bind: httpapi.Handle(a.setupState)},
		{
			Method: http.MethodPost, Path: "/v1/setup", ID: "set-up", Tag: "Account", Summary: "Create the first user", Access: httpapi.Public, Body: httpapi.JSONBody, Status: http.StatusCreated,
			Also: []rimewatch.Code{rimewatch.CodeConflict}, Description: "Works once, with the code that the server logs at its start. Signs in.", Bind: httpapi.Handle(a.setUp),
		},
		{
			Method: http.MethodPost, Path: "/v1/auth/sign-in", ID: "sign-in", Tag: "Account", Summary: "Sign in", Access: httpapi.Public, Body: httpapi.JSONBody,
			Also: []rimewatch.Code{rimewatch.CodeUnauthenticated}, Description: "Sets the session cookie.", Bind: httpapi.Handle(a.signIn),
		},
		{Method: http.MethodPost, Path: "/v1/auth/sign-out", ID: "sign-out", Tag: "Account", Summary: "Sign out", Access: httpapi.SignedIn, Bind: httpapi.Handle(a.signOut)},
		{Method: http.MethodGet, Path: "/v1/me", Sited: true, ID: "get-me", Tag: "Account", Summary: "Get the signed-in person", Access: httpapi.Myself, Bind: httpapi.Handle(a.me)},
		{
			Method: http.MethodGet, Path: "/v1/me/workspaces", ID: "list-my-workspaces", Tag: "Account", Summary: "List your workspaces", Access: httpapi.SignedIn,
			Description: "Also answers when the session looks at a workspace that you are no member of any more, where everything else is 403.", Bind: httpapi.Handle(a.myWorkspaces),
		},
		{Method: http.MethodPatch, Path: "/v1/me", ID: "update-me", Tag: "Account", Summary: "Change your own settings", Access: httpapi.SignedIn, Body: httpapi.JSONBody, Bind: httpapi.Handle(a.updateMe)},
		{
			Method: http.MethodPost, Path: "/v1/me/password", ID: "change-password", Tag: "Account", Summary: "Change your password", Access: httpapi.SignedIn, Body: httpapi.JSONBody,
			Description: "Ends all of your sessions and starts a new one for this browser.", Bind: httpapi.Handle(a.changePassword),
		},
		{
			Method: http.MethodPost, Path: "/v1/me/workspace", ID: "switch-workspace", Tag: "Account", Summary: "Switch to another of your workspaces", Access: httpapi.SignedIn, Body: httpapi.JSONBody,
			Bind: httpapi.Handle(a.switchWorkspace),
		},
		{Method: http.MethodGet, Path: "/v1/me/sessions", ID: "list-sessions", Tag: "Account", Summary: "List your sessions", Access: httpapi.SignedIn, Bind: httpapi.Handle(a.listSessions)},
		{Method: http.MethodDelete, Path: "/v1/me/sessions", ID: "end-other-sessions", Tag: "Account", Summary: "End all of your other sessions", Access: httpapi.SignedIn, Bind: httpapi.Handle(a.endOtherSessions)},
		{Method: http.MethodDelete, Path: "/v1/me/sessions/{id}", ID: "end-session", Tag: "Account", Summary: "End one of your sessions", Access: httpapi.SignedIn, Bind: httpapi.Handle(a.endSession)},
	}
}
