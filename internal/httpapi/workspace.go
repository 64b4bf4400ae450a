package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

type tokenAdmin interface {
	CreateToken(ctx context.Context, p account.Principal, r account.TokenRequest, now rimewatch.Time) (rimewatch.Token, string, error)
	Tokens(ctx context.Context, p account.Principal) ([]store.TokenView, error)
	RevokeToken(ctx context.Context, p account.Principal, id int64, now rimewatch.Time) error
}

type siteAdmin interface {
	Sites(ctx context.Context, p account.Principal) ([]rimewatch.Site, error)
	Site(ctx context.Context, p account.Principal, id int64) (rimewatch.Site, error)
	CreateSite(ctx context.Context, p account.Principal, r account.SiteRequest, now rimewatch.Time) (rimewatch.Site, error)
	UpdateSite(ctx context.Context, p account.Principal, id int64, patch account.SitePatch, now rimewatch.Time) (rimewatch.Site, error)
	DeleteSite(ctx context.Context, p account.Principal, id int64) error
}

// WorkspaceJSON is a workspace with its settings.
type WorkspaceJSON struct {
	ID           int64          `json:"id"`
	Name         string         `json:"name"`
	AutoRegister bool           `json:"auto_register" doc:"A reading of an unknown serial creates the device."`
	TimeZone     string         `json:"timezone"`
	RawDays      int            `json:"raw_days" doc:"Days for which readings are kept."`
	RollupDays   int            `json:"rollup_days" doc:"Days for which hourly aggregates are kept."`
	SecondFactor bool           `json:"require_second_factor" doc:"Members sign in with a second factor. API tokens are not concerned."`
	Limits       typeLimits     `json:"limits" doc:"What the workspace overrides for all its devices of a type, by the slug of the type."`
	CreatedAt    rimewatch.Time `json:"created_at" nullable:"false"`
	UpdatedAt    rimewatch.Time `json:"updated_at" nullable:"false"`
}

func workspaceJSON(w *rimewatch.Workspace) WorkspaceJSON {
	return WorkspaceJSON{w.ID, w.Name, w.AutoRegister, w.TimeZone, w.RawDays, w.RollupDays, w.RequireSecondFactor, w.Limits, w.CreatedAt, w.UpdatedAt}
}

// WorkspaceData is the data of answers about the workspace.
type WorkspaceData struct {
	Workspace WorkspaceJSON `json:"workspace"`
}

// WorkspaceView is a workspace with what people have to know of it.
type WorkspaceView struct {
	WorkspaceData
	Notifications NotificationState `json:"notifications"`
}

func (a *API) getWorkspace(ctx context.Context, _ *NoInput) (WorkspaceView, error) {
	p := callOf(ctx).principal
	w, err := a.cfg.Auth.Workspace(ctx, p)
	if err != nil {
		return WorkspaceView{}, err
	}
	channels, err := a.cfg.Notifications.Channels(ctx, p.WorkspaceID)
	if err != nil {
		return WorkspaceView{}, err
	}
	return WorkspaceView{WorkspaceData{workspaceJSON(&w)}, notificationState(channels)}, nil
}

// WorkspaceBody changes the settings of a workspace.
type WorkspaceBody struct {
	Name             *string                          `json:"name,omitempty" minLength:"1" maxLength:"200"`
	AutoRegister     *bool                            `json:"auto_register,omitempty"`
	TimeZone         *string                          `json:"timezone,omitempty" maxLength:"64" doc:"IANA name."`
	RawDays          *int                             `json:"raw_days,omitempty" minimum:"1" maximum:"36500"`
	RollupDays       *int                             `json:"rollup_days,omitempty" minimum:"1" maximum:"36500" doc:"Not below raw_days."`
	Limits           map[string]optional[LimitsPatch] `json:"limits,omitempty" doc:"By the slug of an equipment type: limits for all devices of the type that do not have their own. Only what is named changes; null for one limit or for a type goes back to the type's own."`
	SecondFactor     *bool                            `json:"require_second_factor,omitempty" doc:"Needs the role owner, and that you have a second factor yourself."`
	ConfirmLoosening bool                             `json:"confirm_loosening,omitempty" doc:"Needed to loosen a safety limit: a bound of the product temperature, and the delays of food that needs time and temperature control and of medical types."`
}

// patch is the body in the words of the accounts.
func (b *WorkspaceBody) patch() account.WorkspacePatch {
	p := account.WorkspacePatch{
		Name: b.Name, AutoRegister: b.AutoRegister, TimeZone: b.TimeZone, RawDays: b.RawDays, RollupDays: b.RollupDays,
		ConfirmLoosening: b.ConfirmLoosening, RequireSecondFactor: b.SecondFactor,
	}
	for slug, limits := range b.Limits {
		if p.Limits == nil {
			p.Limits = make(map[string]func(*rimewatch.LimitOverrides))
		}
		p.Limits[slug] = func(o *rimewatch.LimitOverrides) {
			if limits.value == nil {
				*o = rimewatch.LimitOverrides{}
				return
			}
			limits.value.apply(o)
		}
	}
	return p
}

// typeLimits are overrides by type of equipment, never null.
type typeLimits map[string]rimewatch.LimitOverrides

// MarshalJSON implements json.Marshaler.
func (t typeLimits) MarshalJSON() ([]byte, error) {
	if t == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]rimewatch.LimitOverrides(t))
}

// WorkspaceInput carries a change of settings.
type WorkspaceInput struct {
	Body WorkspaceBody
}

func (a *API) updateWorkspace(ctx context.Context, in *WorkspaceInput) (WorkspaceData, error) {
	c := callOf(ctx)
	w, err := a.cfg.Accounts.UpdateWorkspace(ctx, c.principal, in.Body.patch(), c.now)
	if err != nil {
		return WorkspaceData{}, err
	}
	a.settings.forget(w.ID)
	if len(in.Body.Limits) > 0 {
		if err := a.cfg.Writer.RefreshSettings(ctx); err != nil {
			return WorkspaceData{}, err
		}
	}
	return WorkspaceData{workspaceJSON(&w)}, nil
}

// Site is a place with devices.
type Site struct {
	ID        int64          `json:"id"`
	Name      string         `json:"name"`
	TimeZone  string         `json:"timezone" doc:"IANA name."`
	Address   string         `json:"address"`
	CreatedAt rimewatch.Time `json:"created_at" nullable:"false"`
	UpdatedAt rimewatch.Time `json:"updated_at" nullable:"false"`
}

func siteJSON(s *rimewatch.Site) Site {
	return Site{s.ID, s.Name, s.TimeZone, s.Address, s.CreatedAt, s.UpdatedAt}
}

// SiteList are the sites of a workspace.
type SiteList struct {
	Sites []Site `json:"sites"`
}

// SiteData is the data of answers about one site.
type SiteData struct {
	Site Site `json:"site"`
}

func siteData(s rimewatch.Site, err error) (SiteData, error) {
	if err != nil {
		return SiteData{}, err
	}
	return SiteData{siteJSON(&s)}, nil
}

func (a *API) listSites(ctx context.Context, _ *NoInput) (SiteList, error) {
	list, err := a.cfg.Accounts.Sites(ctx, callOf(ctx).principal)
	if err != nil {
		return SiteList{}, err
	}
	out := SiteList{make([]Site, len(list))}
	for i := range list {
		out.Sites[i] = siteJSON(&list[i])
	}
	return out, nil
}

func (a *API) getSite(ctx context.Context, in *IDInput) (SiteData, error) {
	id, err := in.id()
	if err != nil {
		return SiteData{}, err
	}
	return siteData(a.cfg.Accounts.Site(ctx, callOf(ctx).principal, id))
}

// SiteCreate is the body that makes a site.
type SiteCreate struct {
	Name     string `json:"name" minLength:"1" maxLength:"200"`
	TimeZone string `json:"timezone,omitempty" maxLength:"64" doc:"IANA name. Default: the workspace's."`
	Address  string `json:"address,omitempty" maxLength:"500"`
}

// SiteCreateInput carries the body that makes a site.
type SiteCreateInput struct {
	Body SiteCreate
}

func (a *API) createSite(ctx context.Context, in *SiteCreateInput) (SiteData, error) {
	c := callOf(ctx)
	return siteData(a.cfg.Accounts.CreateSite(ctx, c.principal, account.SiteRequest(in.Body), c.now))
}

// SiteUpdate is the body that changes a site.
type SiteUpdate struct {
	Name     *string `json:"name,omitempty" minLength:"1" maxLength:"200"`
	TimeZone *string `json:"timezone,omitempty" maxLength:"64" doc:"IANA name."`
	Address  *string `json:"address,omitempty" maxLength:"500"`
}

// SiteUpdateInput carries the body that changes a site.
type SiteUpdateInput struct {
	IDInput
	Body SiteUpdate
}

func (a *API) updateSite(ctx context.Context, in *SiteUpdateInput) (SiteData, error) {
	id, err := in.id()
	if err != nil {
		return SiteData{}, err
	}
	c := callOf(ctx)
	return siteData(a.cfg.Accounts.UpdateSite(ctx, c.principal, id, account.SitePatch(in.Body), c.now))
}

func (a *API) deleteSite(ctx context.Context, in *IDInput) (Done, error) {
	id, err := in.id()
	if err != nil {
		return Done{}, err
	}
	if err := a.cfg.Accounts.DeleteSite(ctx, callOf(ctx).principal, id); err != nil {
		return Done{}, err
	}
	return Done{}, a.cfg.Writer.SiteDeleted(ctx, id)
}

// Token is an API token as it is listed.
type Token struct {
	ID         int64          `json:"id"`
	Name       string         `json:"name"`
	Prefix     string         `json:"prefix" doc:"How the token begins, to recognise it by."`
	Scopes     []string       `json:"scopes"`
	CreatedBy  *string        `json:"created_by" doc:"null for the command line."`
	CreatedAt  rimewatch.Time `json:"created_at" nullable:"false"`
	LastUsedAt rimewatch.Time `json:"last_used_at" doc:"To the minute; null = never."`
	ExpiresAt  rimewatch.Time `json:"expires_at" doc:"null = never."`
}

func tokenJSON(t *rimewatch.Token, maker string) Token {
	return Token{t.ID, t.Name, t.Prefix, t.Scopes.Names(), wire.OrNull(maker), t.CreatedAt, t.LastUsedAt, t.ExpiresAt}
}

// TokenList are the tokens of a workspace.
type TokenList struct {
	Tokens []Token `json:"tokens"`
}

func (a *API) listTokens(ctx context.Context, _ *NoInput) (TokenList, error) {
	list, err := a.cfg.Accounts.Tokens(ctx, callOf(ctx).principal)
	if err != nil {
		return TokenList{}, err
	}
	out := TokenList{make([]Token, len(list))}
	for i := range list {
		out.Tokens[i] = tokenJSON(&list[i].Token, list[i].CreatedByName)
	}
	return out, nil
}

// TokenCreate is the body that makes a token.
type TokenCreate struct {
	Name      string          `json:"name" minLength:"1" maxLength:"200"`
	Scopes    []string        `json:"scopes,omitempty" maxItems:"20" doc:"Names of scopes, or one of the presets full, ingest and read. Default: full." enum:"full,ingest,read,devices:read,devices:write,readings:read,readings:write,alerts:read,alerts:write"`
	ExpiresAt *rimewatch.Time `json:"expires_at,omitempty" nullable:"true" doc:"Default: never."`
}

// TokenCreateInput carries the body that makes a token.
type TokenCreateInput struct {
	Body TokenCreate
}

// NewToken is the answer with a new token.
type NewToken struct {
	Token      Token  `json:"token"`
	PlainToken string `json:"plain_token" doc:"The token itself. It is shown here and never again."`
}

func (a *API) createToken(ctx context.Context, in *TokenCreateInput) (NewToken, error) {
	c := callOf(ctx)
	r := account.TokenRequest{Name: in.Body.Name}
	if in.Body.Scopes != nil {
		var err error
		if r.Scopes, err = rimewatch.ParseScopes(in.Body.Scopes); err != nil {
			return NewToken{}, err
		}
	}
	if in.Body.ExpiresAt != nil {
		r.ExpiresAt = *in.Body.ExpiresAt
	}
	t, plain, err := a.cfg.Accounts.CreateToken(ctx, c.principal, r, c.now)
	if err != nil {
		return NewToken{}, err
	}
	maker, err := a.actor(ctx, c.principal)
	if err != nil {
		return NewToken{}, err
	}
	return NewToken{tokenJSON(&t, maker), plain}, nil
}

func (a *API) revokeToken(ctx context.Context, in *IDInput) (Done, error) {
	id, err := in.id()
	if err != nil {
		return Done{}, err
	}
	c := callOf(ctx)
	return Done{}, a.cfg.Accounts.RevokeToken(ctx, c.principal, id, c.now)
}

func (a *API) workspaceRoutes() []route {
	read, write := scope(rimewatch.ScopeDevicesRead), scope(rimewatch.ScopeDevicesWrite)
	admin := person(rimewatch.RoleAdmin)
	return []route{
		{method: http.MethodGet, path: "/v1/workspace", id: "get-workspace", tag: "Workspace", summary: "Get the workspace", access: person(rimewatch.RoleViewer), bind: handle(a.getWorkspace)},
		{
			method: http.MethodPatch, path: "/v1/workspace", id: "update-workspace", tag: "Workspace", summary: "Change the settings of the workspace", access: admin, body: jsonBody,
			also: []rimewatch.Code{rimewatch.CodeConflict}, bind: handle(a.updateWorkspace),
		},
		{method: http.MethodGet, path: "/v1/sites", id: "list-sites", tag: "Workspace", summary: "List sites", access: read, bind: handle(a.listSites)},
		{method: http.MethodPost, path: "/v1/sites", id: "create-site", tag: "Workspace", summary: "Make a site", access: write, body: jsonBody, status: http.StatusCreated, bind: handle(a.createSite)},
		{method: http.MethodGet, path: "/v1/sites/{id}", id: "get-site", tag: "Workspace", summary: "Get a site", access: read, bind: handle(a.getSite)},
		{method: http.MethodPatch, path: "/v1/sites/{id}", id: "update-site", tag: "Workspace", summary: "Change a site", access: write, body: jsonBody, bind: handle(a.updateSite)},
		{
			method: http.MethodDelete, path: "/v1/sites/{id}", id: "delete-site", tag: "Workspace", summary: "Delete a site", access: write,
			description: "Its devices stay, without a site.", bind: handle(a.deleteSite),
		},
		{method: http.MethodGet, path: "/v1/tokens", id: "list-tokens", tag: "Workspace", summary: "List API tokens", access: admin, bind: handle(a.listTokens)},
		{
			method: http.MethodPost, path: "/v1/tokens", id: "create-token", tag: "Workspace", summary: "Make an API token", access: admin, body: jsonBody, status: http.StatusCreated,
			bind: handle(a.createToken),
		},
		{
			method: http.MethodDelete, path: "/v1/tokens/{id}", id: "revoke-token", tag: "Workspace", summary: "Revoke an API token", access: admin,
			description: "It stops working within a second.", bind: handle(a.revokeToken),
		},
	}
}
