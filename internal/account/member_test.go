package account

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rimewatch/rimewatch"
)

var allRoles = []rimewatch.Role{rimewatch.RoleViewer, rimewatch.RoleTechnician, rimewatch.RoleAdmin, rimewatch.RoleOwner}

// Who may give, take and end which role: admins all but owner, owners all.
func TestWhoManagesMembers(t *testing.T) {
	f := newFixture(t)
	f.person("keeper@example.com", rimewatch.RoleOwner) // so that no target is the last owner
	token := Principal{WorkspaceID: f.ws.ID, TokenID: 1, Scopes: rimewatch.ScopesFull}
	actors := map[string]Principal{"token": token, "operator": f.op}
	for _, r := range allRoles {
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
			for _, role := range allRoles {
				n++
				m, link, err := f.AddMember(f.ctx, actor, MemberRequest{Email: fmt.Sprintf("n%d@example.com", n), Role: role}, t0)
				same(t, rimewatch.CodeOf(err), may(role))
				if err == nil {
					same(t, m.Role, role)
					same(t, len(link), 43)
				}
				pending, _, err := f.AddMember(f.ctx, f.op, MemberRequest{Email: fmt.Sprintf("p%d@example.com", n), Role: role}, t0)
				f.ok(err)
				_, err = f.RenewLink(f.ctx, actor, pending.UserID, t0)
				same(t, rimewatch.CodeOf(err), may(role))
				for _, to := range allRoles {
					u := target(role)
					m, err := f.ChangeRole(f.ctx, actor, u.ID, to)
					same(t, rimewatch.CodeOf(err), may(role, to))
					if err == nil {
						same(t, m.Role, to)
					}
				}
				same(t, rimewatch.CodeOf(f.RemoveMember(f.ctx, actor, target(role).ID)), may(role))
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
	_, err = f.ChangeRole(f.ctx, op, u.ID, rimewatch.RoleAdmin)
	f.code(err, rimewatch.CodeNotFound)
	_, err = f.RenewLink(f.ctx, op, u.ID, t0)
	f.code(err, rimewatch.CodeNotFound)
	f.code(f.RemoveMember(f.ctx, op, u.ID), rimewatch.CodeNotFound)
	list, err := f.Members(f.ctx, op)
	f.ok(err)
	same(t, len(list), 0)
}

func TestLastOwner(t *testing.T) {
	f := newFixture(t)
	owner := f.as(rimewatch.RoleOwner)
	_, err := f.ChangeRole(f.ctx, owner, owner.UserID, rimewatch.RoleAdmin)
	f.code(err, rimewatch.CodeConflict)
	f.code(f.RemoveMember(f.ctx, owner, owner.UserID), rimewatch.CodeConflict)
	viewer := f.as(rimewatch.RoleViewer)
	f.ok(f.RemoveMember(f.ctx, viewer, viewer.UserID)) // everyone may leave
	f.code(f.RemoveMember(f.ctx, viewer, viewer.UserID), rimewatch.CodeNotFound)
}

func TestAddMember(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct {
		name  string
		r     MemberRequest
		code  rimewatch.Code
		field string
	}{
		{"role", MemberRequest{Email: "a@example.com", Role: "root"}, rimewatch.CodeValidationFailed, "role"},
		{"no role", MemberRequest{Email: "a@example.com"}, rimewatch.CodeValidationFailed, "role"},
		{"email", MemberRequest{Email: "nobody", Role: rimewatch.RoleViewer}, rimewatch.CodeValidationFailed, "email"},
		{"NUL in email", MemberRequest{Email: "a\x00@example.com", Role: rimewatch.RoleViewer}, rimewatch.CodeValidationFailed, "email"},
		{"long email", MemberRequest{Email: strings.Repeat("a", 300) + "@example.com", Role: rimewatch.RoleViewer}, rimewatch.CodeValidationFailed, "email"},
		{"name", MemberRequest{Email: "a@example.com", Name: "\xff", Role: rimewatch.RoleViewer}, rimewatch.CodeValidationFailed, "name"},
		{"good", MemberRequest{Email: " A@Example.com ", Name: " Ada ", Role: rimewatch.RoleViewer}, "", ""},
		{"again", MemberRequest{Email: "a@EXAMPLE.com", Role: rimewatch.RoleViewer}, rimewatch.CodeConflict, "email"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _, err := f.AddMember(f.ctx, f.op, c.r, t0)
			if c.code != "" {
				f.field(err, c.code, c.field)
				return
			}
			f.ok(err)
			same(t, m.Email, "a@example.com")
			same(t, m.Name, "Ada")
			same(t, m.Pending, true)
		})
	}
}

func TestAcceptLink(t *testing.T) {
	f := newFixture(t)
	m, first, err := f.AddMember(f.ctx, f.op, MemberRequest{Email: "ada@example.com", Role: rimewatch.RoleTechnician}, t0)
	f.ok(err)
	link, err := f.RenewLink(f.ctx, f.op, m.UserID, t0)
	f.ok(err)
	for _, bad := range []string{"", "x", first, link + "x", strings.Repeat("A", 43)} {
		_, err = f.LinkUser(f.ctx, bad, t0)
		f.code(err, rimewatch.CodeNotFound)
		_, err = f.AcceptLink(f.ctx, bad, password, Client{}, t0)
		f.code(err, rimewatch.CodeNotFound)
	}
	u, err := f.LinkUser(f.ctx, link, t0)
	f.ok(err)
	same(t, u.Email, "ada@example.com")
	_, err = f.AcceptLink(f.ctx, link, "short", Client{}, t0)
	f.field(err, rimewatch.CodeValidationFailed, "password")
	_, err = f.AcceptLink(f.ctx, link, password, Client{}, t0+PasswordLinkLife)
	f.code(err, rimewatch.CodeNotFound)

	var wg sync.WaitGroup
	codes := make([]rimewatch.Code, 4)
	for i := range codes {
		wg.Go(func() {
			in, err := f.AcceptLink(f.ctx, link, password, Client{}, t0)
			codes[i] = rimewatch.CodeOf(err)
			if err == nil && (in.Principal.UserID != m.UserID || in.Principal.Role != rimewatch.RoleTechnician) {
				t.Errorf("signed in as %+v", in.Principal)
			}
		})
	}
	wg.Wait()
	count := make(map[rimewatch.Code]int)
	for _, c := range codes {
		count[c]++
	}
	if count[""] != 1 || count[rimewatch.CodeNotFound] != len(codes)-1 {
		t.Fatalf("a link that is used %d times at once gives %v", len(codes), codes)
	}
	f.signIn("ada@example.com", t0)
	_, err = f.RenewLink(f.ctx, f.op, m.UserID, t0)
	f.code(err, rimewatch.CodeConflict) // a password is not reset by an admin
}

// An admin elsewhere must not get a link that also opens this workspace.
func TestLinkOfAnotherWorkspace(t *testing.T) {
	f := newFixture(t)
	m, link, err := f.AddMember(f.ctx, f.op, MemberRequest{Email: "ada@example.com", Role: rimewatch.RoleOwner}, t0)
	f.ok(err)
	other, err := f.FindWorkspace(f.ctx, "Other", true, t0)
	f.ok(err)
	elsewhere, stolen, err := f.AddMember(f.ctx, Operator(other.ID), MemberRequest{Email: "ada@example.com", Role: rimewatch.RoleViewer}, t0)
	f.ok(err)
	same(t, elsewhere.UserID, m.UserID)
	same(t, stolen, "")
	_, err = f.RenewLink(f.ctx, Operator(other.ID), m.UserID, t0)
	f.code(err, rimewatch.CodeConflict)
	_, err = f.AcceptLink(f.ctx, link, password, Client{}, t0)
	f.ok(err)
}
