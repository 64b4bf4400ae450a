package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Accounts keeps people, sessions, tokens, members, sites and the workspace.
type Accounts interface {
	personal
	tokenAdmin
	memberAdmin
	inviter
	secondFactors
	siteAdmin
	UpdateWorkspace(ctx context.Context, p account.Principal, patch account.WorkspacePatch, now rimewatch.Time) (rimewatch.Workspace, error)
}

type personal interface {
	SetupCode(ctx context.Context) (code string, needed bool, err error)
	Setup(ctx context.Context, r account.SetupRequest, now rimewatch.Time) (account.SignedIn, error)
	SignIn(ctx context.Context, c account.Credentials, now rimewatch.Time) (account.SignedIn, error)
	SignOut(ctx context.Context, p account.Principal) error
	Person(ctx context.Context, p account.Principal) (rimewatch.User, error)
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
	Units string `json:"units" enum:"c,f" doc:"For display only: the API speaks °C."`
	Theme string `json:"theme" enum:"system,light,dark"`
}

func userJSON(u *rimewatch.User) UserJSON { return UserJSON{u.ID, u.Email, u.Name, u.Units, u.Theme} }

// UserData is the data of answers about a person.
type UserData struct {
	User UserJSON `json:"user"`
}

// SetupState tells whether the service waits to be set up.
type SetupState struct {
	Needed   bool `json:"needed" doc:"No user exists yet: the server's log has the one-time code."`
	SignedIn bool `json:"signed_in" doc:"The request carries the cookie of a session that is valid."`
	Mail     bool `json:"mail" doc:"The service sends e-mail: links for forgotten passwords and for invitations."`
}

func (a *API) setupState(ctx context.Context, _ *NoInput) (SetupState, error) {
	_, needed, err := a.cfg.Accounts.SetupCode(ctx)
	if err != nil {
		return SetupState{}, err
	}
	c := callOf(ctx)
	state := SetupState{Needed: needed, Mail: a.cfg.Accounts.SendsMail()}
	if cookie, err := c.r.Cookie(a.sessionCookie(c.r)); err == nil {
		_, err := a.cfg.Auth.AuthenticateSession(ctx, cookie.Value, c.now)
		state.SignedIn = err == nil
	}
	return state, nil
}

// SetupBody makes the first user.
type SetupBody struct {
	Code      string `json:"code" minLength:"1" maxLength:"64" doc:"The one-time code from the server's log."`
	Workspace string `json:"workspace" minLength:"1" maxLength:"200" doc:"Name of the workspace."`
	TimeZone  string `json:"timezone,omitempty" maxLength:"64" doc:"IANA name. Default: UTC."`
	Email     string `json:"email" minLength:"3" maxLength:"254"`
	Name      string `json:"name,omitempty" maxLength:"200"`
	Password  string `json:"password" minLength:"10" maxLength:"256"`
}

// SetupInput carries a set-up.
type SetupInput struct {
	Body SetupBody
}

func (a *API) setUp(ctx context.Context, in *SetupInput) (UserData, error) {
	c := callOf(ctx)
	b := &in.Body
	var s account.SignedIn
	err := a.guess(c, func() (err error) {
		s, err = a.cfg.Accounts.Setup(ctx, account.SetupRequest{
			Code: b.Code, Workspace: b.Workspace, TimeZone: b.TimeZone, Email: b.Email, Name: b.Name, Password: b.Password, Client: a.client(c),
		}, c.now)
		return err
	})
	if err != nil {
		return UserData{}, err
	}
	a.setSession(c, s)
	return UserData{userJSON(&s.User)}, nil
}

// SignInBody is what a person signs in with.
type SignInBody struct {
	Email    string `json:"email" minLength:"1" maxLength:"254"`
	Password string `json:"password" minLength:"1" maxLength:"256"`
	Code     string `json:"code,omitempty" maxLength:"32" doc:"Of the authenticator app, or a recovery code. Needed when the account has a second factor: without it the answer is 401 with fields.code."`
}

// SignInInput carries credentials.
type SignInInput struct {
	Body SignInBody
}

// signIn checks credentials. Failures count per address, and an address that
// has used them up is refused before the password is looked at: otherwise it
// could go on guessing and be told of the one that fits.
func (a *API) signIn(ctx context.Context, in *SignInInput) (UserData, error) {
	c := callOf(ctx)
	var s account.SignedIn
	err := a.guess(c, func() (err error) {
		s, err = a.cfg.Accounts.SignIn(ctx, account.Credentials{Email: in.Body.Email, Password: in.Body.Password, Code: in.Body.Code, Client: a.client(c)}, c.now)
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
func (a *API) guess(c *call, try func() error) error {
	addr := a.clientAddr(c.r)
	if wait := a.authFailures.Fail(addr, c.now); wait > 0 {
		return errTooManyFailures(wait)
	}
	err := try()
	if !wrongSecret(err) {
		a.authFailures.Forgive(addr, c.now)
	}
	return err
}

// wrongSecret reports whether an error says that a secret was wrong.
func wrongSecret(err error) bool {
	if account.NeedsCode(err) {
		return false
	}
	switch e := asError(err); rimewatch.CodeOf(err) {
	case rimewatch.CodeUnauthenticated, rimewatch.CodeNotFound:
		return true
	default:
		return err != nil && (e.Fields["current_password"] != nil || e.Fields["code"] != nil)
	}
}

// client is what a session remembers of the browser.
func (a *API) client(c *call) account.Client {
	return account.Client{UserAgent: c.r.UserAgent(), Address: a.clientAddr(c.r).String()}
}

// setSession hands the browser its cookie.
func (a *API) setSession(c *call, s account.SignedIn) {
	a.setCookie(c, s.Secret, s.EndsAt.Std())
}

func (a *API) setCookie(c *call, value string, ends time.Time) {
	cookie := &http.Cookie{
		Name: a.sessionCookie(c.r), Value: value, Path: "/", Expires: ends,
		HttpOnly: true, Secure: a.onTLS(c.r), SameSite: http.SameSiteLaxMode,
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(c.w, cookie)
}

// Done is the data of answers that have nothing to tell.
type Done struct{}

func (a *API) signOut(ctx context.Context, _ *NoInput) (Done, error) {
	c := callOf(ctx)
	if err := a.cfg.Accounts.SignOut(ctx, c.principal); err != nil {
		return Done{}, err
	}
	a.setCookie(c, "", time.Unix(1, 0))
	return Done{}, nil
}

// Me is what a signed-in person knows of themselves.
type Me struct {
	User        UserJSON        `json:"user"`
	Workspace   WorkspaceJSON   `json:"workspace"`
	Role        rimewatch.Role  `json:"role" enum:"viewer,technician,admin,owner"`
	Scopes      []string        `json:"scopes"`
	Memberships []MembershipRef `json:"memberships"`
}

// MembershipRef is one of a person's workspaces.
type MembershipRef struct {
	WorkspaceID   int64          `json:"workspace_id"`
	WorkspaceName string         `json:"workspace_name"`
	Role          rimewatch.Role `json:"role" enum:"viewer,technician,admin,owner"`
}

func (a *API) me(ctx context.Context, _ *NoInput) (Me, error) {
	p, err := a.cfg.Accounts.Me(ctx, callOf(ctx).principal)
	if err != nil {
		return Me{}, err
	}
	out := Me{
		User: userJSON(&p.User), Workspace: workspaceJSON(&p.Workspace), Role: p.Role, Scopes: p.Scopes.Names(),
		Memberships: membershipRefs(p.Memberships),
	}
	return out, nil
}

func membershipRefs(all []store.MembershipView) []MembershipRef {
	out := make([]MembershipRef, len(all))
	for i, m := range all {
		out[i] = MembershipRef{m.WorkspaceID, m.WorkspaceName, m.Role}
	}
	return out
}

// MyWorkspaces are a person's workspaces.
type MyWorkspaces struct {
	User        UserJSON        `json:"user"`
	Memberships []MembershipRef `json:"memberships"`
}

func (a *API) myWorkspaces(ctx context.Context, _ *NoInput) (MyWorkspaces, error) {
	p := callOf(ctx).principal
	u, err := a.cfg.Accounts.Person(ctx, p)
	if err != nil {
		return MyWorkspaces{}, err
	}
	all, err := a.cfg.Accounts.Memberships(ctx, p)
	if err != nil {
		return MyWorkspaces{}, err
	}
	return MyWorkspaces{userJSON(&u), membershipRefs(all)}, nil
}

// MeBody changes a person's own settings.
type MeBody struct {
	Name  *string `json:"name,omitempty" maxLength:"200"`
	Units *string `json:"units,omitempty" enum:"c,f"`
	Theme *string `json:"theme,omitempty" enum:"system,light,dark"`
}

// MeInput carries a change of a person's settings.
type MeInput struct {
	Body MeBody
}

func (a *API) updateMe(ctx context.Context, in *MeInput) (UserData, error) {
	c := callOf(ctx)
	u, err := a.cfg.Accounts.UpdateMe(ctx, c.principal, account.ProfilePatch(in.Body), c.now)
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

// PasswordInput carries a change of password.
type PasswordInput struct {
	Body PasswordBody
}

func (a *API) changePassword(ctx context.Context, in *PasswordInput) (UserData, error) {
	c := callOf(ctx)
	var s account.SignedIn
	err := a.guess(c, func() (err error) {
		s, err = a.cfg.Accounts.ChangePassword(ctx, c.principal, in.Body.CurrentPassword, in.Body.Password, a.client(c), c.now)
		return err
	})
	if err != nil {
		return UserData{}, err
	}
	a.setSession(c, s)
	return UserData{userJSON(&s.User)}, nil
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

func (a *API) listSessions(ctx context.Context, _ *NoInput) (SessionList, error) {
	c := callOf(ctx)
	list, err := a.cfg.Accounts.Sessions(ctx, c.principal, c.now)
	if err != nil {
		return SessionList{}, err
	}
	out := SessionList{make([]SessionJSON, len(list))}
	for i, s := range list {
		out.Sessions[i] = SessionJSON{s.ID, s.ID == c.principal.SessionID, s.UserAgent, s.Address, s.CreatedAt, s.LastUsedAt, s.ExpiresAt}
	}
	return out, nil
}

// IDInput names something by its number in a path.
type IDInput struct {
	ID string `path:"id" doc:"Integer id."`
}

func (in *IDInput) id() (int64, error) {
	return pathID(in.ID, rimewatch.Errorf(rimewatch.CodeNotFound, "There is nothing with this id."))
}

func (a *API) endSession(ctx context.Context, in *IDInput) (Done, error) {
	id, err := in.id()
	if err != nil {
		return Done{}, err
	}
	return Done{}, a.cfg.Accounts.RevokeSession(ctx, callOf(ctx).principal, id)
}

func (a *API) endOtherSessions(ctx context.Context, _ *NoInput) (Done, error) {
	return Done{}, a.cfg.Accounts.RevokeOtherSessions(ctx, callOf(ctx).principal)
}

// SwitchBody names the workspace to look at.
type SwitchBody struct {
	WorkspaceID int64 `json:"workspace_id" minimum:"1"`
}

// SwitchInput carries a switch of workspace.
type SwitchInput struct {
	Body SwitchBody
}

func (a *API) switchWorkspace(ctx context.Context, in *SwitchInput) (Done, error) {
	err := a.cfg.Accounts.SwitchWorkspace(ctx, callOf(ctx).principal, in.Body.WorkspaceID)
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
		return Done{}, rimewatch.Invalid("workspace_id", "is not one of your workspaces")
	}
	return Done{}, err
}

func (a *API) accountRoutes() []route {
	return []route{
		{method: http.MethodGet, path: "/v1/setup", id: "setup-state", tag: "Account", summary: "Report whether the service is set up", access: public, bind: handle(a.setupState)},
		{
			method: http.MethodPost, path: "/v1/setup", id: "set-up", tag: "Account", summary: "Make the first user", access: public, body: jsonBody, status: http.StatusCreated,
			also: []rimewatch.Code{rimewatch.CodeConflict}, description: "Works once, with the code that the server logs at its start. Signs in.", bind: handle(a.setUp),
		},
		{
			method: http.MethodPost, path: "/v1/auth/sign-in", id: "sign-in", tag: "Account", summary: "Sign in", access: public, body: jsonBody,
			also: []rimewatch.Code{rimewatch.CodeUnauthenticated}, description: "Sets the session cookie.", bind: handle(a.signIn),
		},
		{method: http.MethodPost, path: "/v1/auth/sign-out", id: "sign-out", tag: "Account", summary: "Sign out", access: signedIn, bind: handle(a.signOut)},
		{method: http.MethodGet, path: "/v1/me", id: "get-me", tag: "Account", summary: "Get the signed-in person", access: person(rimewatch.RoleViewer), bind: handle(a.me)},
		{
			method: http.MethodGet, path: "/v1/me/workspaces", id: "list-my-workspaces", tag: "Account", summary: "List your workspaces", access: signedIn,
			description: "Also answers when the session looks at a workspace that you are no member of any more, where everything else is 403.", bind: handle(a.myWorkspaces),
		},
		{method: http.MethodPatch, path: "/v1/me", id: "update-me", tag: "Account", summary: "Change your own settings", access: signedIn, body: jsonBody, bind: handle(a.updateMe)},
		{
			method: http.MethodPost, path: "/v1/me/password", id: "change-password", tag: "Account", summary: "Change your password", access: signedIn, body: jsonBody,
			description: "Ends all of your sessions and starts a new one for this browser.", bind: handle(a.changePassword),
		},
		{
			method: http.MethodPost, path: "/v1/me/workspace", id: "switch-workspace", tag: "Account", summary: "Look at another of your workspaces", access: signedIn, body: jsonBody,
			bind: handle(a.switchWorkspace),
		},
		{method: http.MethodGet, path: "/v1/me/sessions", id: "list-sessions", tag: "Account", summary: "List your sessions", access: signedIn, bind: handle(a.listSessions)},
		{method: http.MethodDelete, path: "/v1/me/sessions", id: "end-other-sessions", tag: "Account", summary: "End all of your other sessions", access: signedIn, bind: handle(a.endOtherSessions)},
		{method: http.MethodDelete, path: "/v1/me/sessions/{id}", id: "end-session", tag: "Account", summary: "End one of your sessions", access: signedIn, bind: handle(a.endSession)},
	}
}
