package account

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

func TestInvite(t *testing.T) {
	f := newFixture(t)
	f.person("member@example.com", rimewatch.RoleViewer)
	for _, c := range []struct {
		name  string
		r     InviteRequest
		code  rimewatch.Code
		field string
	}{
		{"role", InviteRequest{Email: "a@example.com", Role: "root"}, rimewatch.CodeValidationFailed, "role"},
		{"no role", InviteRequest{Email: "a@example.com"}, rimewatch.CodeValidationFailed, "role"},
		{"email", InviteRequest{Email: "nobody", Role: rimewatch.RoleViewer}, rimewatch.CodeValidationFailed, "email"},
		{"NUL in email", InviteRequest{Email: "a\x00@example.com", Role: rimewatch.RoleViewer}, rimewatch.CodeValidationFailed, "email"},
		{"long email", InviteRequest{Email: strings.Repeat("a", 300) + "@example.com", Role: rimewatch.RoleViewer}, rimewatch.CodeValidationFailed, "email"},
		{"good", InviteRequest{Email: " A@Example.com ", Role: rimewatch.RoleViewer}, "", ""},
		{"again", InviteRequest{Email: "a@EXAMPLE.com", Role: rimewatch.RoleViewer}, rimewatch.CodeConflict, "email"},
		{"a member", InviteRequest{Email: "Member@example.com", Role: rimewatch.RoleViewer}, rimewatch.CodeConflict, "email"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, _, err := f.Invite(f.ctx, f.op, c.r, t0)
			if c.code != "" {
				f.field(err, c.code, c.field)
				return
			}
			f.ok(err)
			same(t, v.Email, "a@example.com")
			same(t, v.ExpiresAt, t0+InvitationLife)
		})
	}
}

// An invitation makes its holder a member where he was invited, and nowhere
// else: who keeps a link to an address gains nothing when another workspace
// invites the same address.
func TestInvitationOpensOneWorkspace(t *testing.T) {
	f := newFixture(t)
	b, err := f.FindWorkspace(f.ctx, "B", true, t0)
	f.ok(err)
	_, kept, err := f.Invite(f.ctx, Operator(b.ID), InviteRequest{Email: "ada@example.com", Role: rimewatch.RoleViewer}, t0)
	f.ok(err)
	_, link := f.invite("ada@example.com", rimewatch.RoleOwner) // A's
	thief, err := f.AcceptAsNew(f.ctx, kept, NewPerson{Name: "Thief", Password: password}, t0)
	f.ok(err)
	all, err := f.Memberships(f.ctx, thief.Principal)
	f.ok(err)
	same(t, len(all), 1)
	same(t, all[0].WorkspaceID, b.ID)
	f.code(f.SwitchWorkspace(f.ctx, thief.Principal, f.ws.ID), rimewatch.CodeNotFound)
	_, err = f.Accept(f.ctx, thief.Principal, kept, t0) // A's link is what opens A
	f.code(err, rimewatch.CodeNotFound)
	v, err := f.Invitation(f.ctx, link, t0)
	f.ok(err)
	same(t, v.WorkspaceName, f.ws.Name)
}

// Nobody is put into a workspace unasked, and the inviter learns the same
// whether the address has an account or not.
func TestInvitingAnExistingAccount(t *testing.T) {
	f := newFixture(t)
	u := f.person("ada@example.com", rimewatch.RoleViewer)
	b, err := f.FindWorkspace(f.ctx, "B", true, t0)
	f.ok(err)
	var links []string
	for _, email := range []string{"ada@example.com", "new@example.com"} {
		v, link, err := f.Invite(f.ctx, Operator(b.ID), InviteRequest{Email: email, Role: rimewatch.RoleAdmin}, t0)
		f.ok(err)
		links = append(links, link)
		seen, err := f.Invitation(f.ctx, link, t0)
		f.ok(err)
		v.Hash = seen.Hash
		same(t, seen.Invitation, v)
		same(t, seen.WorkspaceName, "B")
		same(t, seen.InvitedByName, "")
	}
	all, err := f.store.People().Memberships(f.ctx, u.ID)
	f.ok(err)
	same(t, len(all), 1)
	members, err := f.Members(f.ctx, Operator(b.ID))
	f.ok(err)
	same(t, len(members), 0)

	// The holder of the link alone makes no new account of hers, and no password.
	_, err = f.AcceptAsNew(f.ctx, links[0], NewPerson{Name: "Eve", Password: "another good password"}, t0)
	f.code(err, rimewatch.CodeConflict)
	in := f.signIn("ada@example.com", t0)
	_, err = f.Accept(f.ctx, in.Principal, links[1], t0) // somebody else's
	f.code(err, rimewatch.CodeForbidden)
	m, err := f.Accept(f.ctx, in.Principal, links[0], t0)
	f.ok(err)
	same(t, m, rimewatch.Member{WorkspaceID: b.ID, UserID: u.ID, Role: rimewatch.RoleAdmin, CreatedAt: t0})
	p, err := f.AuthenticateSession(f.ctx, in.Secret, "", t0)
	f.ok(err)
	same(t, p.WorkspaceID, b.ID) // she looks at what she has joined
	_, err = f.Accept(f.ctx, in.Principal, links[0], t0)
	f.code(err, rimewatch.CodeNotFound)
	_, err = f.Accept(f.ctx, f.op, links[1], t0)
	f.code(err, rimewatch.CodeForbidden)
}

func TestAcceptAsNew(t *testing.T) {
	f := newFixture(t)
	v, first := f.invite("ada@example.com", rimewatch.RoleTechnician)
	renewed, link, err := f.RenewInvitation(f.ctx, f.op, v.ID, t0+1)
	f.ok(err)
	same(t, renewed.ExpiresAt, t0+1+InvitationLife)
	who := NewPerson{Name: " Ada ", Password: password}
	for _, bad := range []string{"", "x", first, link + "x", strings.Repeat("A", 43)} {
		_, err = f.Invitation(f.ctx, bad, t0)
		f.code(err, rimewatch.CodeNotFound)
		_, err = f.AcceptAsNew(f.ctx, bad, who, t0)
		f.code(err, rimewatch.CodeNotFound)
	}
	_, err = f.AcceptAsNew(f.ctx, link, NewPerson{Name: "\x00", Password: "short"}, t0)
	f.field(err, rimewatch.CodeValidationFailed, "password")
	f.field(err, rimewatch.CodeValidationFailed, "name")
	_, err = f.AcceptAsNew(f.ctx, link, who, renewed.ExpiresAt)
	f.code(err, rimewatch.CodeNotFound)

	var wg sync.WaitGroup
	codes := make([]rimewatch.Code, 4)
	for i := range codes {
		wg.Go(func() {
			in, err := f.AcceptAsNew(f.ctx, link, who, t0)
			codes[i] = rimewatch.CodeOf(err)
			if err == nil && (in.User.Name != "Ada" || in.Principal.WorkspaceID != f.ws.ID || in.Principal.Role != rimewatch.RoleTechnician) {
				t.Errorf("signed in as %+v %+v", in.User, in.Principal)
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
	list, err := f.Invitations(f.ctx, f.op)
	f.ok(err)
	same(t, len(list), 0)
}

func TestWithdrawnInvitation(t *testing.T) {
	f := newFixture(t)
	v, link := f.invite("ada@example.com", rimewatch.RoleViewer)
	f.ok(f.WithdrawInvitation(f.ctx, f.op, v.ID))
	f.code(f.WithdrawInvitation(f.ctx, f.op, v.ID), rimewatch.CodeNotFound)
	_, err := f.AcceptAsNew(f.ctx, link, NewPerson{Password: password}, t0)
	f.code(err, rimewatch.CodeNotFound)
	f.invite("ada@example.com", rimewatch.RoleViewer) // and may be invited again
}

// TestInvitationMailsAreLimited: by workspace, by inviter and by address. A limit
// that is reached changes nothing, and ends with its hour.
func TestInvitationMailsAreLimited(t *testing.T) {
	f := newFixture(t)
	mail := f.mailing()
	admins := []Principal{f.as(rimewatch.RoleAdmin), f.as(rimewatch.RoleOwner), f.op}
	n := 0
	invite := func(p Principal) error {
		n++
		_, _, err := f.Invite(f.ctx, p, InviteRequest{Email: fmt.Sprintf("p%d@example.com", n), Role: rimewatch.RoleViewer}, t0)
		return err
	}
	for range invitesByPerson {
		f.ok(invite(admins[0]))
	}
	_, _, err := f.Invite(f.ctx, admins[0], InviteRequest{Email: "late@example.com", Role: rimewatch.RoleViewer}, t0+rimewatch.Minute)
	f.code(err, rimewatch.CodeRateLimited)
	var e *rimewatch.Error
	same(t, errors.As(err, &e) && e.RetryAfter == 59*time.Minute, true)
	for range invitesOfSpace - invitesByPerson { // somebody else of the workspace
		f.ok(invite(admins[1]))
	}
	f.code(invite(admins[2]), rimewatch.CodeRateLimited)
	same(t, len(mail.letters), invitesOfSpace)
	list, err := f.Invitations(f.ctx, f.op)
	f.ok(err)
	same(t, len(list), invitesOfSpace)

	now := t0 + inviteWindow
	v, _, err := f.Invite(f.ctx, f.op, InviteRequest{Email: "late@example.com", Role: rimewatch.RoleViewer}, now)
	f.ok(err)
	for range invitesToOne - 1 {
		_, _, err = f.RenewInvitation(f.ctx, f.op, v.ID, now)
		f.ok(err)
	}
	_, _, err = f.RenewInvitation(f.ctx, f.op, v.ID, now)
	f.code(err, rimewatch.CodeRateLimited)
	b, err := f.FindWorkspace(f.ctx, "B", true, t0)
	f.ok(err)
	_, _, err = f.Invite(f.ctx, Operator(b.ID), InviteRequest{Email: "Late@example.com", Role: rimewatch.RoleViewer}, now)
	f.code(err, rimewatch.CodeRateLimited)
}

// TestMailedNames: names carry no message of their own to strangers.
func TestMailedNames(t *testing.T) {
	for name, want := range map[string]string{
		"Ben's Market & Deli, No. 4":             "Ben's Market & Deli, No. 4",
		"Käserei Zürich (Süd) – 冷蔵庫":             "Käserei Zürich (Süd) 冷蔵庫",
		"You have won: https://evil.example/x?y": "You have won https evil example x y",
		"pay@evil.example www.evil.example":      "pay evil example www evil example",
		"Line\r\nBcc: you@example.com":           "Line Bcc you example com",
		"\u202etekram\u200b <b>now</b>":          "tekram b now b",
		strings.Repeat("ab ", 100):               strings.TrimSpace(strings.Repeat("ab ", 20)),
	} {
		same(t, mailedName(name), want)
	}
}
