package account

import (
	"fmt"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// Who may give, take and end which role: admins all but owner, owners all.
func TestWhoManagesMembers(t *testing.T) {
	f := newFixture(t)
	f.person("keeper@example.com", rimewatch.RoleOwner) // so that no target is the last owner
	token := Principal{WorkspaceID: f.ws.ID, TokenID: 1, Scopes: rimewatch.ScopesFull}
	actors := map[string]Principal{"token": token, "operator": f.op}
	for _, r := range rimewatch.Roles {
		actors[string(r)] = f.as(r)
	}
	n := 0
	target := func(role rimewatch.Role) rimewatch.User {
		n++
		return f.person(fmt.Sprintf("t%d@example.com", n), role)
	}
	for name, actor := range actors {
		may := func(roles ...rimewatch.Role) rimewatch.Code {
			for _, r := range roles {
				if name != "operator" && name != "owner" && (name != "admin" || r == rimewatch.RoleOwner) {
					return rimewatch.CodeForbidden
				}
			}
			return ""
		}
		t.Run(name, func(t *testing.T) {
			_, err := f.Members(f.ctx, actor)
			same(t, rimewatch.CodeOf(err), may(rimewatch.RoleViewer))
			_, err = f.Invitations(f.ctx, actor)
			same(t, rimewatch.CodeOf(err), may(rimewatch.RoleViewer))
			for _, role := range rimewatch.Roles {
				n++
				v, link, err := f.Invite(f.ctx, actor, InviteRequest{Email: fmt.Sprintf("n%d@example.com", n), Role: role}, t0)
				same(t, rimewatch.CodeOf(err), may(role))
				if err == nil {
					same(t, v.Role, role)
					same(t, len(link), 43)
				}
				invited, _ := f.invite(fmt.Sprintf("p%d@example.com", n), role)
				_, _, err = f.RenewInvitation(f.ctx, actor, invited.ID, t0)
				same(t, rimewatch.CodeOf(err), may(role))
				same(t, rimewatch.CodeOf(f.WithdrawInvitation(f.ctx, actor, invited.ID)), may(role))
				for _, to := range rimewatch.Roles {
					u := target(role)
					m, err := f.ChangeMember(f.ctx, actor, u.ID, MemberPatch{Role: to})
					same(t, rimewatch.CodeOf(err), may(role, to))
					if err == nil {
						same(t, m.Role, to)
					}
				}
				same(t, rimewatch.CodeOf(f.RemoveMember(f.ctx, actor, target(role).ID, t0)), may(role))
			}
		})
	}
}

func TestMembersOfAnotherWorkspace(t *testing.T) {
	f := newFixture(t)
	u := f.person("ada@example.com", rimewatch.RoleViewer)
	other, err := f.FindWorkspace(f.ctx, "Other", true, t0)
	f.ok(err)
	op := Operator(other.ID)
	_, err = f.ChangeMember(f.ctx, op, u.ID, MemberPatch{Role: rimewatch.RoleAdmin})
	f.code(err, rimewatch.CodeNotFound)
	v, link := f.invite("eve@example.com", rimewatch.RoleViewer)
	_, _, err = f.RenewInvitation(f.ctx, op, v.ID, t0)
	f.code(err, rimewatch.CodeNotFound)
	f.code(f.WithdrawInvitation(f.ctx, op, v.ID), rimewatch.CodeNotFound)
	_, err = f.Invitation(f.ctx, link, t0)
	f.ok(err)
	foreign, err := f.Invitations(f.ctx, op)
	f.ok(err)
	same(t, len(foreign), 0)
	f.code(f.RemoveMember(f.ctx, op, u.ID, t0), rimewatch.CodeNotFound)
	list, err := f.Members(f.ctx, op)
	f.ok(err)
	same(t, len(list), 0)
}

func TestLastOwner(t *testing.T) {
	f := newFixture(t)
	owner := f.as(rimewatch.RoleOwner)
	_, err := f.ChangeMember(f.ctx, owner, owner.UserID, MemberPatch{Role: rimewatch.RoleAdmin})
	f.code(err, rimewatch.CodeConflict)
	f.code(f.RemoveMember(f.ctx, owner, owner.UserID, t0), rimewatch.CodeConflict)
	viewer := f.as(rimewatch.RoleViewer)
	f.ok(f.RemoveMember(f.ctx, viewer, viewer.UserID, t0)) // everyone may leave
	f.code(f.RemoveMember(f.ctx, viewer, viewer.UserID, t0), rimewatch.CodeNotFound)
}

// The tokens that a member made end with the membership, at once.
func TestRemovedMembersTokens(t *testing.T) {
	f := newFixture(t)
	f.person("owner@example.com", rimewatch.RoleOwner)
	admin := f.as(rimewatch.RoleAdmin)
	_, plain, err := f.CreateToken(f.ctx, admin, TokenRequest{Name: "mine"}, t0)
	f.ok(err)
	_, lines := f.token(TokenRequest{})
	p, err := f.Authenticate(f.ctx, plain, t0)
	f.ok(err)
	f.ok(f.RemoveMember(f.ctx, f.op, admin.UserID, t0+1))
	_, err = f.Authenticate(f.ctx, plain, t0+1)
	f.code(err, rimewatch.CodeUnauthenticated)
	same(t, f.revoked, []int64{p.TokenID})
	_, err = f.Authenticate(f.ctx, lines, t0+1)
	f.ok(err)
}

func TestErase(t *testing.T) {
	f := newFixture(t)
	owner := f.as(rimewatch.RoleOwner)
	f.code(f.Erase(f.ctx, owner, password, t0), rimewatch.CodeConflict)
	admin := f.as(rimewatch.RoleAdmin)
	_, plain, err := f.CreateToken(f.ctx, admin, TokenRequest{Name: "mine"}, t0)
	f.ok(err)
	_, err = f.Authenticate(f.ctx, plain, t0)
	f.ok(err)
	f.field(f.Erase(f.ctx, admin, "wrong", t0), rimewatch.CodeValidationFailed, "current_password")
	f.code(f.Erase(f.ctx, f.op, password, t0), rimewatch.CodeForbidden)
	f.ok(f.Erase(f.ctx, admin, password, t0))
	_, err = f.Authenticate(f.ctx, plain, t0)
	f.code(err, rimewatch.CodeUnauthenticated)
	_, err = f.SignIn(f.ctx, Credentials{Email: "admin@example.com", Password: password}, t0)
	f.code(err, rimewatch.CodeUnauthenticated)
}
