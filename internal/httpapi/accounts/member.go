package accounts

import (
	"context"
	"net/http"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
)

type memberAdmin interface {
	Members(ctx context.Context, p account.Principal) ([]store.MemberView, error)
	ChangeMember(ctx context.Context, p account.Principal, userID int64, patch account.MemberPatch) (store.MemberView, error)
	RemoveMember(ctx context.Context, p account.Principal, userID int64, now rimewatch.Time) error
}

// Member is a person's place in a workspace.
type Member struct {
	UserID    int64           `json:"user_id"`
	Email     string          `json:"email"`
	Name      string          `json:"name"`
	Role      rimewatch.Role  `json:"role" enum:"viewer,technician,admin,owner"`
	SiteIDs   rimewatch.Sites `json:"site_ids,omitempty" doc:"The sites that the member is limited to: everything else of the workspace does not exist there. Absent = all."`
	CreatedAt rimewatch.Time  `json:"created_at" nullable:"false"`
}

func memberJSON(m *store.MemberView) Member {
	return Member{m.UserID, m.Email, m.Name, m.Role, m.Sites, m.CreatedAt}
}

// MemberList are the members of a workspace, and those who are invited to it.
type MemberList struct {
	Members     []Member     `json:"members"`
	Invitations []Invitation `json:"invitations" doc:"Pending members: invited, and have not accepted yet."`
}

func (a people) listMembers(ctx context.Context, _ *httpapi.NoInput) (MemberList, error) {
	c := httpapi.CallOf(ctx)
	members, err := a.service.Members(ctx, c.Principal)
	if err != nil {
		return MemberList{}, err
	}
	pending, err := a.service.Invitations(ctx, c.Principal)
	if err != nil {
		return MemberList{}, err
	}
	out := MemberList{make([]Member, len(members)), make([]Invitation, len(pending))}
	for i := range members {
		out.Members[i] = memberJSON(&members[i])
	}
	for i := range pending {
		out.Invitations[i] = invitationJSON(&pending[i].Invitation, c.Now)
	}
	return out, nil
}

// MemberData is the data of answers about one member.
type MemberData struct {
	Member Member `json:"member"`
}

// MemberUpdate is the body that changes a member.
type MemberUpdate struct {
	Role     rimewatch.Role  `json:"role,omitempty" enum:"viewer,technician,admin,owner"`
	SiteIDs  rimewatch.Sites `json:"site_ids,omitempty" minItems:"1" maxItems:"200" doc:"Limits a viewer or technician to these sites."`
	AllSites bool            `json:"all_sites,omitempty" doc:"Ends the limit."`
}

func (a people) changeMember(ctx context.Context, in *httpapi.IDBody[MemberUpdate]) (MemberData, error) {
	if in.Body.SiteIDs != nil && in.Body.AllSites {
		return MemberData{}, rimewatch.Invalid("all_sites", "must not be sent with site_ids")
	}
	m, err := a.service.ChangeMember(ctx, httpapi.CallOf(ctx).Principal, in.Number(), account.MemberPatch{Role: in.Body.Role, Sites: in.Body.SiteIDs, AllSites: in.Body.AllSites})
	if err != nil {
		return MemberData{}, err
	}
	return MemberData{memberJSON(&m)}, nil
}

func (a people) removeMember(ctx context.Context, in *httpapi.IDInput) (httpapi.Done, error) {
	c := httpapi.CallOf(ctx)
	return httpapi.Done{}, a.service.RemoveMember(ctx, c.Principal, in.Number(), c.Now)
}

func (a people) memberRoutes() []httpapi.Route {
	admin := httpapi.Scope(rimewatch.ScopeMembers)
	conflict := []rimewatch.Code{rimewatch.CodeConflict}
	return []httpapi.Route{
		{Method: http.MethodGet, Path: "/v1/members", ID: "list-members", Tag: "Workspace", Summary: "List members and invitations", Access: admin, Bind: httpapi.Handle(a.listMembers)},
		{
			Method: http.MethodPost, Path: "/v1/members", ID: "invite-member", Tag: "Workspace", Summary: "Invite a member", Access: admin, Body: httpapi.JSONBody, Status: http.StatusCreated,
			Description: "The holder of the address becomes a member on accepting. The answer is the same whether the address has an account or not. Only an owner invites owners.",
			Also:        append([]rimewatch.Code{rimewatch.CodeQuotaExceeded}, conflict...), Bind: httpapi.Handle(a.invite),
		},
		{
			Method: http.MethodPatch, Path: "/v1/members/{id}", ID: "update-member", Tag: "Workspace", Summary: "Change a member's role or sites", Access: admin, Body: httpapi.JSONBody,
			Description: "The id is the user's. The last owner stays one. A member who becomes admin or owner is no longer limited to sites. Streams of the member end.", Also: conflict, Bind: httpapi.Handle(a.changeMember),
		},
		{
			Method: http.MethodDelete, Path: "/v1/members/{id}", Sited: true, ID: "remove-member", Tag: "Workspace", Summary: "Remove a member, or leave", Access: httpapi.Either(rimewatch.RoleViewer, rimewatch.ScopeMembers),
			Description: "The id is the user's. Removing someone else requires the role admin, or the scope `members`. The last owner cannot leave. Tokens and invitations created by the member end too.",
			Also:        conflict, Bind: httpapi.Handle(a.removeMember),
		},
	}
}
