package accounts

import (
	"context"
	"net/http"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

type tokenAdmin interface {
	CreateToken(ctx context.Context, p account.Principal, r account.TokenRequest, now rimewatch.Time) (rimewatch.Token, string, error)
	Tokens(ctx context.Context, p account.Principal) ([]store.TokenView, error)
	RevokeToken(ctx context.Context, p account.Principal, id int64, now rimewatch.Time) error
	RotateToken(ctx context.Context, p account.Principal, id int64, grace, now rimewatch.Time) (rimewatch.Token, string, error)
	Token(ctx context.Context, p account.Principal) (store.TokenView, error)
	TokenCalls(ctx context.Context, p account.Principal, tokenID int64, now rimewatch.Time) ([]rimewatch.TokenCall, error)
}

// Token is an API token as it is listed.
type Token struct {
	ID         int64           `json:"id"`
	Name       string          `json:"name"`
	Prefix     string          `json:"prefix" doc:"How the token begins, to recognise it by."`
	Scopes     []string        `json:"scopes"`
	SiteIDs    rimewatch.Sites `json:"site_ids,omitempty" doc:"The sites that the token is limited to: everything else of the workspace does not exist there. Absent = all."`
	CreatedBy  *string         `json:"created_by" doc:"null for the command line, and for a token that the workspace has taken over from somebody who left the groups of the sign-in provider."`
	CreatedAt  rimewatch.Time  `json:"created_at" nullable:"false"`
	LastUsedAt rimewatch.Time  `json:"last_used_at" doc:"To the minute; null = never."`
	ExpiresAt  rimewatch.Time  `json:"expires_at" doc:"null = never."`
}

func tokenJSON(t *rimewatch.Token, maker string) Token {
	return Token{t.ID, t.Name, t.Prefix, t.Scopes.Names(), t.Sites, wire.OrNull(maker), t.CreatedAt, t.LastUsedAt, t.ExpiresAt}
}

// TokenList are the tokens of a workspace.
type TokenList struct {
	Tokens []Token `json:"tokens"`
}

func (a people) listTokens(ctx context.Context, _ *httpapi.NoInput) (TokenList, error) {
	list, err := a.service.Tokens(ctx, httpapi.CallOf(ctx).Principal)
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
	Scopes    []string        `json:"scopes,omitempty" maxItems:"20" doc:"Names of scopes, or one of the presets: ingest sends readings, read reads, full does what a technician does, admin what an admin does. Default: full." enum:"admin,full,ingest,read,devices:read,devices:write,readings:read,readings:write,alerts:read,alerts:write,status:read,notifications,members,tokens,settings,sources,audit:read,export:read,webhooks,events:read,records"`
	ExpiresAt *rimewatch.Time `json:"expires_at,omitempty" nullable:"true" doc:"Default: never."`
	SiteIDs   rimewatch.Sites `json:"site_ids,omitempty" minItems:"1" maxItems:"200" doc:"Limits the token to these sites. Default: all."`
}

// NewToken is the answer with a new token.
type NewToken struct {
	Token      Token  `json:"token"`
	PlainToken string `json:"plain_token" doc:"The token itself. It is shown here and never again."`
}

func (a people) createToken(ctx context.Context, in *httpapi.BodyInput[TokenCreate]) (NewToken, error) {
	c := httpapi.CallOf(ctx)
	r := account.TokenRequest{Name: in.Body.Name, Sites: in.Body.SiteIDs}
	if in.Body.Scopes != nil {
		var err error
		if r.Scopes, err = rimewatch.ParseScopes(in.Body.Scopes); err != nil {
			return NewToken{}, err
		}
	}
	if in.Body.ExpiresAt != nil {
		r.ExpiresAt = *in.Body.ExpiresAt
	}
	t, plain, err := a.service.CreateToken(ctx, c.Principal, r, c.Now)
	if err != nil {
		return NewToken{}, err
	}
	maker, err := a.Actor(ctx, c.Principal)
	if err != nil {
		return NewToken{}, err
	}
	return NewToken{tokenJSON(&t, maker), plain}, nil
}

// OwnToken is the token that asks.
type OwnToken struct {
	Token     Token          `json:"token" doc:"What it may do at present: of managing, no more than the person who made it."`
	Workspace wire.Workspace `json:"workspace"`
}

func (a people) ownToken(ctx context.Context, _ *httpapi.NoInput) (OwnToken, error) {
	p := httpapi.CallOf(ctx).Principal
	t, err := a.service.Token(ctx, p)
	if err != nil {
		return OwnToken{}, err
	}
	w, err := a.Auth().Workspace(ctx, p)
	t.Scopes = p.Scopes
	return OwnToken{tokenJSON(&t.Token, t.CreatedByName), wire.NewWorkspace(&w)}, err
}

// TokenRotate is the body that has another token take the place of one.
type TokenRotate struct {
	GraceS int64 `json:"grace_s,omitempty" minimum:"0" maximum:"604800" doc:"For how long the old token goes on, in seconds. Default: 0, it ends at once." example:"86400"`
}

func (a people) rotateToken(ctx context.Context, in *httpapi.IDBody[TokenRotate]) (NewToken, error) {
	c := httpapi.CallOf(ctx)
	t, plain, err := a.service.RotateToken(ctx, c.Principal, in.Number(), rimewatch.Time(in.Body.GraceS)*rimewatch.Second, c.Now)
	if err != nil {
		return NewToken{}, err
	}
	maker, err := a.service.Token(ctx, account.Principal{WorkspaceID: t.WorkspaceID, TokenID: t.ID})
	return NewToken{tokenJSON(&t, maker.CreatedByName), plain}, err
}

func (a people) revokeToken(ctx context.Context, in *httpapi.IDInput) (httpapi.Done, error) {
	c := httpapi.CallOf(ctx)
	return httpapi.Done{}, a.service.RevokeToken(ctx, c.Principal, in.Number(), c.Now)
}

func (a people) tokenRoutes() []httpapi.Route {
	admin := httpapi.Scope(rimewatch.ScopeTokens)
	return []httpapi.Route{
		{Method: http.MethodGet, Path: "/v1/tokens", ID: "list-tokens", Tag: "Workspace", Summary: "List API tokens", Access: admin, Bind: httpapi.Handle(a.listTokens)},
		{
			Method: http.MethodPost, Path: "/v1/tokens", ID: "create-token", Tag: "Workspace", Summary: "Create an API token", Access: admin, Body: httpapi.JSONBody, Status: http.StatusCreated,
			Description: "A token with the scope tokens makes only such as may less than itself, and end no later.",
			Also:        []rimewatch.Code{rimewatch.CodeQuotaExceeded},
			Bind:        httpapi.Handle(a.createToken),
		},
		{
			Method: http.MethodPost, Path: "/v1/tokens/{id}/rotate", ID: "rotate-token", Tag: "Workspace", Summary: "Replace an API token", Access: admin, Body: httpapi.OptionalJSONBody, Status: http.StatusCreated,
			Description: "Makes a token of the same name, scopes, sites and end. The old one ends when its grace is over.", Bind: httpapi.Handle(a.rotateToken),
		},
		{
			Method: http.MethodGet, Path: "/v1/token", Sited: true, ID: "get-token", Tag: "Workspace", Summary: "Get the API token that asks", Access: httpapi.Scope(0), Also: []rimewatch.Code{rimewatch.CodeNotFound},
			Description: "Its name, workspace, scopes, sites and end. How much it may send is in the headers RateLimit and RateLimit-Policy of each answer.", Bind: httpapi.Handle(a.ownToken),
		},
		{
			Method: http.MethodGet, Path: "/v1/tokens/{id}/requests", ID: "list-token-requests", Tag: "Workspace", Summary: "List requests of an API token", Access: admin, Paged: true,
			Description: "The newest 1,000 that were refused, and as many of the others, of which each hundredth is kept; for seven days, the newest first. No value that was sent is kept, and never the token. The summary counts what was refused, by its reason.", Bind: httpapi.Handle(a.tokenRequests),
		},
		{
			Method: http.MethodDelete, Path: "/v1/tokens/{id}", ID: "revoke-token", Tag: "Workspace", Summary: "Revoke an API token", Access: admin,
			Description: "It stops working within a second.", Bind: httpapi.Handle(a.revokeToken),
		},
	}
}
