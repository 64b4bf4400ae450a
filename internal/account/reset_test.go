package account

import (
	"context"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// post is a mail server.
type post struct {
	letters chan Letter
	err     error
}

// mailing makes the fixture's service one that sends mail, and runs it.
func (f *fixture) mailing() *post {
	f.Helper()
	p := &post{letters: make(chan Letter, 100)}
	f.Service = New(Config{Store: f.store, Password: cheap, PublicURL: "https://rime.example", Mail: func(_ context.Context, l Letter) error {
		if p.err == nil {
			p.letters <- l
		}
		return p.err
	}})
	ctx, cancel := context.WithCancel(f.ctx)
	done := make(chan struct{})
	go func() { defer close(done); f.Run(ctx, func() rimewatch.Time { return t0 }) }()
	f.Cleanup(func() { cancel(); <-done })
	return p
}

// secretIn is the secret of the link in a letter.
func (f *fixture) secretIn(l Letter, page string) string {
	f.Helper()
	_, rest, ok := strings.Cut(l.Text, "https://rime.example/"+page+"#")
	if !ok {
		f.Fatalf("no link to %s in %q", page, l.Text)
	}
	return strings.Fields(rest)[0]
}

func TestForgottenPassword(t *testing.T) {
	f := newFixture(t)
	f.code(f.RequestReset(t.Context(), "ada@example.com", "", t0), rimewatch.CodeConflict) // no mail
	f.person("ada@example.com", rimewatch.RoleViewer)
	mail := f.mailing()
	in := f.signIn("ada@example.com", t0)
	f.ok(f.RequestReset(t.Context(), "nobody@example.com", "", t0)) // the same answer, and no letter
	f.ok(f.RequestReset(t.Context(), " ADA@example.com ", "", t0))
	l := <-mail.letters
	same(t, l.To, "ada@example.com")
	link := f.secretIn(l, "reset")
	f.ok(f.RequestReset(t.Context(), "ada@example.com", "", t0+1))
	renewed := f.secretIn(<-mail.letters, "reset")
	const next = "another good password"
	f.code(f.ResetByLink(f.ctx, link, next, t0), rimewatch.CodeNotFound) // replaced
	f.field(f.ResetByLink(f.ctx, renewed, "password123", t0), rimewatch.CodeValidationFailed, "password")
	f.code(f.ResetByLink(f.ctx, renewed, next, t0+1+ResetLife), rimewatch.CodeNotFound)
	_, err := f.AuthenticateSession(f.ctx, in.Secret, "", t0)
	f.ok(err)
	f.ok(f.ResetByLink(f.ctx, renewed, next, t0+ResetLife))
	f.code(f.ResetByLink(f.ctx, renewed, next, t0+ResetLife), rimewatch.CodeNotFound) // once
	_, err = f.AuthenticateSession(f.ctx, in.Secret, "", t0)
	f.code(err, rimewatch.CodeUnauthenticated)
	_, err = f.SignIn(f.ctx, Credentials{Email: "ada@example.com", Password: next}, t0)
	f.ok(err)
	for _, action := range []string{"user.reset_requested", "user.password_set"} {
		if len(f.trail(f.ws.ID, action)) == 0 {
			t.Errorf("no %s in the trail", action)
		}
	}
}

// What is mailed is in the language of the account, of the browser where it has none, or of who invites.
func TestMailsSpeakTheReadersLanguage(t *testing.T) {
	f := newFixture(t)
	u := f.person("ada@example.com", rimewatch.RoleAdmin)
	_, err := f.store.People().UpdateUser(f.ctx, u.ID, func(u *rimewatch.User) error { u.Language = "es"; return nil })
	f.ok(err)
	mail := f.mailing()
	f.ok(f.RequestReset(t.Context(), "ada@example.com", "", t0))
	l := <-mail.letters
	f.secretIn(l, "reset")
	same(t, l.Subject, "Una contraseña nueva para Rimewatch")
	f.person("ben@example.com", rimewatch.RoleViewer) // has chosen none, and reads in the browser's
	f.ok(f.RequestReset(t.Context(), "ben@example.com", "es", t0))
	same(t, (<-mail.letters).Subject, l.Subject)
	in := f.signIn("ada@example.com", t0)
	_, _, err = f.Invite(f.ctx, in.Principal, InviteRequest{Email: "new@example.com", Role: rimewatch.RoleTechnician}, t0)
	f.ok(err)
	l = <-mail.letters
	f.secretIn(l, "invitation")
	same(t, l.Subject, "Invitación a "+f.ws.Name+" en Rimewatch")
	if !strings.Contains(l.Text, "como técnico") || !strings.Contains(l.Text, "7 días") {
		t.Errorf("%s", l.Text)
	}
}

// Nobody floods somebody else's mailbox.
func TestResetsAreLimited(t *testing.T) {
	f := newFixture(t)
	f.person("ada@example.com", rimewatch.RoleViewer)
	f.person("bob@example.com", rimewatch.RoleViewer)
	mail := f.mailing()
	for range 20 {
		f.ok(f.RequestReset(t.Context(), "ada@example.com", "", t0))
	}
	f.ok(f.RequestReset(t.Context(), "bob@example.com", "", t0))
	n := 0
	for l := range mail.letters { // those for Ada come first
		if l.To == "bob@example.com" {
			break
		}
		n++
	}
	same(t, n, resetMails)
}

// Where the service sends mail, the inviter does not get the link.
func TestInvitationsByMail(t *testing.T) {
	f := newFixture(t)
	f.person("member@example.com", rimewatch.RoleViewer)
	mail := f.mailing()
	other, err := f.FindWorkspace(f.ctx, "Other", true, t0)
	f.ok(err)
	var texts []string
	for _, email := range []string{"new@example.com", "member@example.com"} {
		v, link, err := f.Invite(f.ctx, Operator(other.ID), InviteRequest{Email: email, Role: rimewatch.RoleAdmin}, t0)
		f.ok(err)
		same(t, link, "")
		l := <-mail.letters
		same(t, l.To, email)
		texts = append(texts, strings.ReplaceAll(l.Text, f.secretIn(l, "invitation"), ""))
		_, link, err = f.RenewInvitation(f.ctx, Operator(other.ID), v.ID, t0)
		f.ok(err)
		same(t, link, "")
		_, err = f.Invitation(f.ctx, f.secretIn(<-mail.letters, "invitation"), t0)
		f.ok(err)
	}
	same(t, texts[0], texts[1]) // the letter tells nothing of accounts

	mail.err = errDown
	_, _, err = f.Invite(f.ctx, Operator(other.ID), InviteRequest{Email: "late@example.com", Role: rimewatch.RoleAdmin}, t0)
	f.code(err, rimewatch.CodeUnavailable)
	mail.err = nil
	_, _, err = f.Invite(f.ctx, Operator(other.ID), InviteRequest{Email: "late@example.com", Role: rimewatch.RoleAdmin}, t0) // nothing is left of it
	f.ok(err)
}
