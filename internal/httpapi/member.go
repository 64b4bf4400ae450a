package httpapi

import (
	"context"
	"net/http"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/store"
)

type memberAdmin interface {
	Members(ctx context.Context, p account.Principal) ([]store.MemberView, error)
	AddMember(ctx context.Context, p account.Principal, r account.MemberRequest, now rimewatch.Time) (store.MemberView, string, error)
	RenewLink(ctx context.Context, p account.Principal, userID int64, now rimewatch.Time) (string, error)
	ChangeRole(ctx context.Context, p account.Principal, userID int64, role rimewatch.Role) (store.MemberView, error)
	RemoveMember(ctx context.Context, p account.Principal, userID int64) error
	LinkUser(ctx context.Context, secret string, now rimewatch.Time) (rimewatch.User, error)
	AcceptLink(ctx context.Context, secret, password string, client account.Client, now rimewatch.Time) (account.SignedIn, error)
}

// Member is a person's place in a workspace.
type Member struct {
	UserID    int64          `json:"user_id"`
	Email     string         `json:"email"`
	Name      string         `json:"name"`
	Role      rimewatch.Role `json:"role" enum:"viewer,technician,admin,owner"`
	Pending   bool           `json:"pending" doc:"Invited, and has not set a password yet."`
	CreatedAt rimewatch.Time `json:"created_at" nullable:"false"`
}

func memberJSON(m *store.MemberView) Member {
	return Member{m.UserID, m.Email, m.Name, m.Role, m.Pending, m.CreatedAt}
}

// MemberList are the members of a workspace.
type MemberList struct {
	Members []Member `json:"members"`
}

// MemberData is the data of answers about one member.
type MemberData struct {
	Member Member  `json:"member"`
	Link   *string `json:"invitation,omitempty" doc:"Secret of the invitation with which the person sets a password. It is shown here and never again; null when the person has a password or another invitation."`
}

func (a *API) listMembers(ctx context.Context, _ *NoInput) (MemberList, error) {
	list, err := a.cfg.Accounts.Members(ctx, callOf(ctx).principal)
	if err != nil {
		return MemberList{}, err
	}
	out := MemberList{make([]Member, len(list))}
	for i := range list {
		out.Members[i] = memberJSON(&list[i])
	}
	return out, nil
}

// MemberCreate is the body that adds a member.
type MemberCreate struct {
	Email string         `json:"email" minLength:"3" maxLength:"254"`
	Name  string         `json:"name,omitempty" maxLength:"200" doc:"Of a person who is not known yet."`
	Role  rimewatch.Role `json:"role" enum:"viewer,technician,admin,owner"`
}

// MemberCreateInput carries the body that adds a member.
type MemberCreateInput struct {
	Body MemberCreate
}

func (a *API) addMember(ctx context.Context, in *MemberCreateInput) (MemberData, error) {
	c := callOf(ctx)
	m, link, err := a.cfg.Accounts.AddMember(ctx, c.principal, account.MemberRequest(in.Body), c.now)
	if err != nil {
		return MemberData{}, err
	}
	return MemberData{memberJSON(&m), orNull(link)}, nil
}

// MemberUpdate is the body that changes a member.
type MemberUpdate struct {
	Role rimewatch.Role `json:"role" enum:"viewer,technician,admin,owner"`
}

// MemberUpdateInput carries the body that changes a member.
type MemberUpdateInput struct {
	IDInput
	Body MemberUpdate
}

func (a *API) changeRole(ctx context.Context, in *MemberUpdateInput) (MemberData, error) {
	id, err := in.id()
	if err != nil {
		return MemberData{}, err
	}
	m, err := a.cfg.Accounts.ChangeRole(ctx, callOf(ctx).principal, id, in.Body.Role)
	if err != nil {
		return MemberData{}, err
	}
	return MemberData{Member: memberJSON(&m)}, nil
}

func (a *API) removeMember(ctx context.Context, in *IDInput) (Done, error) {
	id, err := in.id()
	if err != nil {
		return Done{}, err
	}
	return Done{}, a.cfg.Accounts.RemoveMember(ctx, callOf(ctx).principal, id)
}

// Invitation is a secret with which a person sets a password.
type Invitation struct {
	Invitation string `json:"invitation" doc:"It is shown here and never again."`
}

func (a *API) renewInvitation(ctx context.Context, in *IDInput) (Invitation, error) {
	id, err := in.id()
	if err != nil {
		return Invitation{}, err
	}
	c := callOf(ctx)
	link, err := a.cfg.Accounts.RenewLink(ctx, c.principal, id, c.now)
	return Invitation{link}, err
}

// InvitationLookup is the body that asks whom an invitation is for. The secret
// stands in the body, since addresses end up in logs.
type InvitationLookup struct {
	Invitation string `json:"invitation" minLength:"1" maxLength:"64"`
}

// InvitationLookupInput carries a look at an invitation.
type InvitationLookupInput struct {
	Body InvitationLookup
}

// Invited is whom an invitation is for.
type Invited struct {
	Email string `json:"email"`
	Name  string `json:"name"`
}

func (a *API) lookUpInvitation(ctx context.Context, in *InvitationLookupInput) (Invited, error) {
	c := callOf(ctx)
	s, err := a.guess(c, func() (account.SignedIn, error) {
		u, err := a.cfg.Accounts.LinkUser(ctx, in.Body.Invitation, c.now)
		return account.SignedIn{User: u}, err
	})
	return Invited{s.User.Email, s.User.Name}, err
}

// InvitationAccept is the body that accepts an invitation.
type InvitationAccept struct {
	Invitation string `json:"invitation" minLength:"1" maxLength:"64"`
	Password   string `json:"password" minLength:"10" maxLength:"256"`
}

// InvitationAcceptInput carries the acceptance of an invitation.
type InvitationAcceptInput struct {
	Body InvitationAccept
}

func (a *API) acceptInvitation(ctx context.Context, in *InvitationAcceptInput) (UserData, error) {
	c := callOf(ctx)
	s, err := a.guess(c, func() (account.SignedIn, error) {
		return a.cfg.Accounts.AcceptLink(ctx, in.Body.Invitation, in.Body.Password, a.client(c), c.now)
	})
	if err != nil {
		return UserData{}, err
	}
	a.setSession(c, s)
	return UserData{userJSON(&s.User)}, nil
}

func (a *API) memberRoutes() []route {
	admin := person(rimewatch.RoleAdmin)
	conflict := []rimewatch.Code{rimewatch.CodeConflict}
	return []route{
		{method: http.MethodGet, path: "/v1/members", id: "list-members", tag: "Workspace", summary: "List members", access: admin, bind: handle(a.listMembers)},
		{
			method: http.MethodPost, path: "/v1/members", id: "add-member", tag: "Workspace", summary: "Add a member", access: admin, body: jsonBody, status: http.StatusCreated,
			description: "Only an owner makes owners.", also: conflict, bind: handle(a.addMember),
		},
		{
			method: http.MethodPatch, path: "/v1/members/{id}", id: "update-member", tag: "Workspace", summary: "Change a member's role", access: admin, body: jsonBody,
			description: "The id is the user's. The last owner stays one.", also: conflict, bind: handle(a.changeRole),
		},
		{
			method: http.MethodDelete, path: "/v1/members/{id}", id: "remove-member", tag: "Workspace", summary: "Remove a member, or leave", access: person(rimewatch.RoleViewer),
			description: "The id is the user's. Removing somebody else needs the role admin. The last owner cannot leave.", also: conflict, bind: handle(a.removeMember),
		},
		{
			method: http.MethodPost, path: "/v1/members/{id}/invitation", id: "renew-invitation", tag: "Workspace", summary: "Renew the invitation of a pending member", access: admin,
			also: conflict, bind: handle(a.renewInvitation),
		},
		{
			method: http.MethodPost, path: "/v1/invitations/lookup", id: "look-up-invitation", tag: "Account", summary: "See whom an invitation is for", access: public, body: jsonBody,
			also: []rimewatch.Code{rimewatch.CodeNotFound}, bind: handle(a.lookUpInvitation),
		},
		{
			method: http.MethodPost, path: "/v1/invitations/accept", id: "accept-invitation", tag: "Account", summary: "Set a password by an invitation", access: public, body: jsonBody,
			also: []rimewatch.Code{rimewatch.CodeNotFound}, description: "Signs in.", bind: handle(a.acceptInvitation),
		},
	}
}
