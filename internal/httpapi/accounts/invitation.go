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

type inviter interface {
	Invite(ctx context.Context, p account.Principal, r account.InviteRequest, now rimewatch.Time) (store.Invitation, string, error)
	Invitations(ctx context.Context, p account.Principal) ([]store.InvitationView, error)
	RenewInvitation(ctx context.Context, p account.Principal, id int64, now rimewatch.Time) (store.Invitation, string, error)
	WithdrawInvitation(ctx context.Context, p account.Principal, id int64) error
	Invitation(ctx context.Context, secret string, now rimewatch.Time) (store.InvitationView, error)
	Accept(ctx context.Context, p account.Principal, secret string, now rimewatch.Time) (rimewatch.Member, error)
	AcceptAsNew(ctx context.Context, secret string, r account.NewPerson, now rimewatch.Time) (account.SignedIn, error)
}

// Invitation offers the holder of an address a membership.
type Invitation struct {
	ID        int64           `json:"id"`
	Email     string          `json:"email"`
	Role      rimewatch.Role  `json:"role" enum:"viewer,technician,admin,owner"`
	SiteIDs   rimewatch.Sites `json:"site_ids,omitempty" doc:"The sites that the membership is limited to: everything else of the workspace does not exist there. Absent = all."`
	Expired   bool            `json:"expired" doc:"Its link has stopped working; it can be renewed."`
	CreatedAt rimewatch.Time  `json:"created_at" nullable:"false"`
	ExpiresAt rimewatch.Time  `json:"expires_at" nullable:"false"`
}

func invitationJSON(v *store.Invitation, now rimewatch.Time) Invitation {
	return Invitation{v.ID, v.Email, v.Role, v.Sites, now >= v.ExpiresAt, v.CreatedAt, v.ExpiresAt}
}

// InvitationData is the data of answers about one invitation.
type InvitationData struct {
	Invitation Invitation `json:"invitation"`
	Secret     *string    `json:"secret" doc:"Shown only here: the holder of the address accepts with it. Null when it was sent to the address."`
}

func invitationData(c *httpapi.Call, v *store.Invitation, secret string) InvitationData {
	return InvitationData{invitationJSON(v, c.Now), wire.OrNull(secret)}
}

// InviteBody is who is invited.
type InviteBody struct {
	Email string          `json:"email" minLength:"3" maxLength:"254"`
	Role  rimewatch.Role  `json:"role" enum:"viewer,technician,admin,owner"`
	Sites rimewatch.Sites `json:"site_ids,omitempty" minItems:"1" maxItems:"200" doc:"Limits the membership of a viewer or technician to these sites. Default: all."`
}

// inLanguage is whoever calls, with the language of the browser where they have chosen none.
func inLanguage(c *httpapi.Call) account.Principal {
	p := c.Principal
	p.Locale = c.Locale()
	return p
}

func (a people) invite(ctx context.Context, in *httpapi.BodyInput[InviteBody]) (InvitationData, error) {
	c := httpapi.CallOf(ctx)
	v, secret, err := a.service.Invite(ctx, inLanguage(c), account.InviteRequest(in.Body), c.Now)
	if err != nil {
		return InvitationData{}, err
	}
	return invitationData(c, &v, secret), nil
}

func (a people) renewInvitation(ctx context.Context, in *httpapi.IDInput) (InvitationData, error) {
	c := httpapi.CallOf(ctx)
	v, secret, err := a.service.RenewInvitation(ctx, inLanguage(c), in.Number(), c.Now)
	if err != nil {
		return InvitationData{}, err
	}
	return invitationData(c, &v, secret), nil
}

func (a people) withdrawInvitation(ctx context.Context, in *httpapi.IDInput) (httpapi.Done, error) {
	return httpapi.Done{}, a.service.WithdrawInvitation(ctx, httpapi.CallOf(ctx).Principal, in.Number())
}

// InvitationSecret is a body with the secret of an invitation. It stands in the
// body, since addresses of pages end up in logs.
type InvitationSecret struct {
	Secret string `json:"secret" minLength:"1" maxLength:"64"`
}

// Invited is what an invitation is for.
type Invited struct {
	Email         string         `json:"email"`
	WorkspaceName string         `json:"workspace_name"`
	Role          rimewatch.Role `json:"role" enum:"viewer,technician,admin,owner"`
	InvitedBy     *string        `json:"invited_by" doc:"Null for the command line."`
	ExpiresAt     rimewatch.Time `json:"expires_at" nullable:"false"`
}

func (a people) lookUpInvitation(ctx context.Context, in *httpapi.BodyInput[InvitationSecret]) (Invited, error) {
	c := httpapi.CallOf(ctx)
	var out Invited
	err := a.guess(c, func() error {
		v, err := a.service.Invitation(ctx, in.Body.Secret, c.Now)
		out = Invited{v.Email, v.WorkspaceName, v.Role, wire.OrNull(v.InvitedByName), v.ExpiresAt}
		return err
	})
	return out, err
}

// InvitationAccept is the body by which a person without an account accepts an
// invitation.
type InvitationAccept struct {
	Secret   string `json:"secret" minLength:"1" maxLength:"64"`
	Name     string `json:"name,omitempty" maxLength:"200"`
	Password string `json:"password" minLength:"10" maxLength:"256"`
}

func (a people) acceptInvitation(ctx context.Context, in *httpapi.BodyInput[InvitationAccept]) (UserData, error) {
	c := httpapi.CallOf(ctx)
	b := &in.Body
	return a.enter(c, func() (account.SignedIn, error) {
		return a.service.AcceptAsNew(ctx, b.Secret, account.NewPerson{Name: b.Name, Password: b.Password, Client: a.client(c)}, c.Now)
	})
}

func (a people) joinWorkspace(ctx context.Context, in *httpapi.BodyInput[InvitationSecret]) (httpapi.Done, error) {
	c := httpapi.CallOf(ctx)
	return httpapi.Done{}, a.guess(c, func() error {
		_, err := a.service.Accept(ctx, c.Principal, in.Body.Secret, c.Now)
		return err
	})
}

func (a people) invitationRoutes() []httpapi.Route {
	admin := httpapi.Scope(rimewatch.ScopeMembers)
	gone := []rimewatch.Code{rimewatch.CodeNotFound}
	return []httpapi.Route{
		{
			Method: http.MethodPost, Path: "/v1/invitations/{id}/renew", ID: "renew-invitation", Tag: "Workspace", Summary: "Renew an invitation", Access: admin,
			Description: "Its old link stops working.", Bind: httpapi.Handle(a.renewInvitation),
		},
		{Method: http.MethodDelete, Path: "/v1/invitations/{id}", ID: "withdraw-invitation", Tag: "Workspace", Summary: "Withdraw an invitation", Access: admin, Bind: httpapi.Handle(a.withdrawInvitation)},
		{
			Method: http.MethodPost, Path: "/v1/invitations/lookup", ID: "look-up-invitation", Tag: "Account", Summary: "See what an invitation is for", Access: httpapi.Public, Body: httpapi.JSONBody,
			Also: gone, Bind: httpapi.Handle(a.lookUpInvitation),
		},
		{
			Method: http.MethodPost, Path: "/v1/invitations/accept", ID: "accept-invitation", Tag: "Account", Summary: "Accept an invitation with a new account", Access: httpapi.Public, Body: httpapi.JSONBody,
			Also:        append([]rimewatch.Code{rimewatch.CodeConflict}, gone...),
			Description: "Creates an account for the invited address and signs in. 409 if the address already has an account: its holder signs in and accepts.", Bind: httpapi.Handle(a.acceptInvitation),
		},
		{
			Method: http.MethodPost, Path: "/v1/me/invitations", ID: "join-workspace", Tag: "Account", Summary: "Accept an invitation with your account", Access: httpapi.SignedIn, Body: httpapi.JSONBody,
			Also: gone, Description: "The invitation must be for your address. The session then looks at the workspace.", Bind: httpapi.Handle(a.joinWorkspace),
		},
	}
}
