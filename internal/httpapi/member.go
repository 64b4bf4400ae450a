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
	ChangeRole(ctx context.Context, p account.Principal, userID int64, role rimewatch.Role) (store.MemberView, error)
	RemoveMember(ctx context.Context, p account.Principal, userID int64, now rimewatch.Time) error
}

// Member is a person's place in a workspace.
type Member struct {
	UserID    int64          `json:"user_id"`
	Email     string         `json:"email"`
	Name      string         `json:"name"`
	Role      rimewatch.Role `json:"role" enum:"viewer,technician,admin,owner"`
	CreatedAt rimewatch.Time `json:"created_at" nullable:"false"`
}

func memberJSON(m *store.MemberView) Member {
	return Member{m.UserID, m.Email, m.Name, m.Role, m.CreatedAt}
}

// MemberList are the members of a workspace, and those who are invited to it.
type MemberList struct {
	Members     []Member     `json:"members"`
	Invitations []Invitation `json:"invitations" doc:"Pending members: invited, and have not accepted yet."`
}

func (a *API) listMembers(ctx context.Context, _ *NoInput) (MemberList, error) {
	c := callOf(ctx)
	members, err := a.cfg.Accounts.Members(ctx, c.principal)
	if err != nil {
		return MemberList{}, err
	}
	pending, err := a.cfg.Accounts.Invitations(ctx, c.principal)
	if err != nil {
		return MemberList{}, err
	}
	out := MemberList{make([]Member, len(members)), make([]Invitation, len(pending))}
	for i := range members {
		out.Members[i] = memberJSON(&members[i])
	}
	for i := range pending {
		out.Invitations[i] = invitationJSON(&pending[i].Invitation, c.now)
	}
	return out, nil
}

// MemberData is the data of answers about one member.
type MemberData struct {
	Member Member `json:"member"`
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
	return MemberData{memberJSON(&m)}, nil
}

func (a *API) removeMember(ctx context.Context, in *IDInput) (Done, error) {
	id, err := in.id()
	if err != nil {
		return Done{}, err
	}
	c := callOf(ctx)
	return Done{}, a.cfg.Accounts.RemoveMember(ctx, c.principal, id, c.now)
}

func (a *API) memberRoutes() []route {
	admin := person(rimewatch.RoleAdmin)
	conflict := []rimewatch.Code{rimewatch.CodeConflict}
	return []route{
		{method: http.MethodGet, path: "/v1/members", id: "list-members", tag: "Workspace", summary: "List members and invitations", access: admin, bind: handle(a.listMembers)},
		{
			method: http.MethodPost, path: "/v1/members", id: "invite-member", tag: "Workspace", summary: "Invite a member", access: admin, body: jsonBody, status: http.StatusCreated,
			description: "The holder of the address becomes a member when he accepts. The answer is the same whether the address has an account or not. Only an owner invites owners.",
			also:        conflict, bind: handle(a.invite),
		},
		{
			method: http.MethodPatch, path: "/v1/members/{id}", id: "update-member", tag: "Workspace", summary: "Change a member's role", access: admin, body: jsonBody,
			description: "The id is the user's. The last owner stays one.", also: conflict, bind: handle(a.changeRole),
		},
		{
			method: http.MethodDelete, path: "/v1/members/{id}", id: "remove-member", tag: "Workspace", summary: "Remove a member, or leave", access: person(rimewatch.RoleViewer),
			description: "The id is the user's. Removing someone else requires the role admin. The last owner cannot leave. Tokens and invitations created by the member end too.",
			also:        conflict, bind: handle(a.removeMember),
		},
	}
}
