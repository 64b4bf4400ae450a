package account

import (
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// provided signs somebody in whom a provider has named.
func (f *fixture) provided(email string, now rimewatch.Time, groups ...string) (SignedIn, error) {
	return f.linked(email, "", now, groups...)
}

// linked is provided in a browser that has a session.
func (f *fixture) linked(email, session string, now rimewatch.Time, groups ...string) (SignedIn, error) {
	return f.SignInProvided(f.ctx, Identity{
		Identification: store.Identification{Issuer: "https://id.example", Subject: email}, Email: email, Verified: true, Groups: groups,
	}, session, Client{}, now)
}

// TestProvidedSessions: a provider's session counts as one with a second factor,
// and ends the same day however much it is used.
func TestProvidedSessions(t *testing.T) {
	f := newFixture(t)
	f.Service = New(Config{Store: f.store, Password: cheap, Grants: []Grant{{"staff", "bakery", rimewatch.RoleViewer}}})
	_, err := f.provided("pat@example.com", t0, "staff")
	f.code(err, rimewatch.CodeConflict) // nobody has set the service up: who would get in without the provider?
	f.person("ada@example.com", rimewatch.RoleOwner)
	in, err := f.provided("pat@example.com", t0, "staff")
	f.ok(err)
	same(t, in.EndsAt, t0+ProvidedLife)
	_, err = f.store.UpdateWorkspace(f.ctx, f.ws.ID, func(w *rimewatch.Workspace) error { w.RequireSecondFactor = true; return nil })
	f.ok(err)
	for now := t0; now < t0+ProvidedLife; now += rimewatch.Hour {
		p, err := f.AuthenticateSession(f.ctx, in.Secret, "", now)
		f.ok(err)
		same(t, p.Role, rimewatch.RoleViewer)
		f.ok(f.Flush(f.ctx, now))
	}
	_, err = f.AuthenticateSession(f.ctx, in.Secret, "", t0+ProvidedLife)
	f.code(err, rimewatch.CodeUnauthenticated)
}

// TestProvidedPersons have no password, get none by mail, and show again who they
// are by signing in again.
func TestProvidedPersons(t *testing.T) {
	f := newFixture(t)
	f.person("ada@example.com", rimewatch.RoleOwner)
	mail := f.mailing()
	f.grants = []Grant{{"staff", "Bakery", rimewatch.RoleTechnician}}
	in, err := f.provided("pat@example.com", t0, "staff")
	f.ok(err)
	_, err = f.SignIn(f.ctx, Credentials{Email: "pat@example.com"}, t0)
	f.code(err, rimewatch.CodeUnauthenticated)
	f.ok(f.RequestReset(t.Context(), "pat@example.com", "", t0)) // the same answer
	f.ok(f.RequestReset(t.Context(), "ada@example.com", "", t0))
	same(t, (<-mail.letters).To, "ada@example.com")
	same(t, len(mail.letters), 0)
	_, err = f.ChangeMember(f.ctx, f.op, in.User.ID, MemberPatch{Role: rimewatch.RoleOwner})
	f.code(err, rimewatch.CodeConflict) // it would not last
	f.field(f.Erase(f.ctx, in.Principal, "", t0+freshFor), rimewatch.CodeValidationFailed, "current_password")
	again, err := f.provided("pat@example.com", t0+freshFor, "staff")
	f.ok(err)
	f.ok(f.Erase(f.ctx, again.Principal, "", t0+freshFor))
	in, err = f.provided("pat@example.com", t0+freshFor, "staff") // the provider makes a new account
	f.ok(err)
	if in.User.ID == again.User.ID {
		t.Error("an erased account is back")
	}
}

// TestLeavingTheGroups: what the groups gave ends though the sign-in is refused, at
// once and everywhere, and no device goes silent.
func TestLeavingTheGroups(t *testing.T) {
	f := newFixture(t)
	f.person("ada@example.com", rimewatch.RoleAdmin)
	mail := f.mailing()
	f.grants = []Grant{{"chiefs", "Bakery", rimewatch.RoleOwner}, {"staff", "Bakery", rimewatch.RoleViewer}}
	in, err := f.provided("pat@example.com", t0, "chiefs")
	f.ok(err)
	make := func(s rimewatch.Scopes, name string) string {
		_, plain, err := f.CreateToken(f.ctx, in.Principal, TokenRequest{Name: name, Scopes: s}, t0)
		f.ok(err)
		return plain
	}
	gateway, mixed, script := make(rimewatch.ScopesIngest, "gateway"), make(rimewatch.ScopesFull, "mixed"), make(rimewatch.ScopesRead, "script")
	elsewhere := f.other()
	for _, s := range []*Service{f.Service, elsewhere} { // both remember it
		p, err := s.Authenticate(f.ctx, mixed, t0)
		f.ok(err)
		same(t, p.Scopes, rimewatch.ScopesFull)
	}
	stream, err := elsewhere.Authenticate(f.ctx, mixed, t0)
	f.ok(err)

	_, err = f.provided("pat@example.com", t0, "none") // the last owner
	f.code(err, rimewatch.CodeForbidden)
	_, err = f.AuthenticateSession(f.ctx, in.Secret, "", t0)
	f.code(err, rimewatch.CodeUnauthenticated)
	all, err := f.store.People().Memberships(f.ctx, in.User.ID)
	f.ok(err)
	same(t, len(all), 0)
	_, err = f.Authenticate(f.ctx, script, t0)
	f.code(err, rimewatch.CodeUnauthenticated)
	now := t0 + rimewatch.Second
	f.code(elsewhere.Valid(f.ctx, stream, now), rimewatch.CodeUnauthenticated) // a stream may not go on
	for _, s := range []*Service{f.Service, elsewhere} {
		for _, plain := range []string{gateway, mixed} {
			p, err := s.Authenticate(f.ctx, plain, now)
			f.ok(err)
			same(t, p.Scopes, rimewatch.ScopesIngest)
		}
	}
	list, err := f.Tokens(f.ctx, f.op)
	f.ok(err)
	same(t, len(list), 2)
	for _, x := range list {
		same(t, x.CreatedBy, int64(0))
	}
	l := <-mail.letters
	same(t, l.To, "ada@example.com")
	for _, want := range []string{"pat@example.com", "- gateway\n- mixed\n", "- script\n", "They belong to the workspace now."} {
		if !strings.Contains(l.Text, want) {
			t.Errorf("the letter lacks %q:\n%s", want, l.Text)
		}
	}
	same(t, f.Ownerless(), 1)                                                                    // the operator is told
	another := New(Config{Store: f.store, Serves: func(id int64) bool { return id != f.ws.ID }}) // and by one shard alone
	another.checkOwners(f.ctx)
	same(t, another.Ownerless(), 0)
	in, err = f.provided("pat@example.com", now, "chiefs")
	f.ok(err)
	f.checkOwners(f.ctx)
	same(t, f.Ownerless(), 0)
	demoted, err := f.provided("pat@example.com", now, "staff")
	f.ok(err)
	same(t, demoted.Principal.Role, rimewatch.RoleViewer)
	p, err := f.AuthenticateSession(f.ctx, in.Secret, "", now)
	f.ok(err)
	same(t, p.Role, rimewatch.RoleViewer)
}

// TestProvidedRolesByPassword: roles that a provider has given count only in
// sessions that it has begun, and nothing makes another one of those.
func TestProvidedRolesByPassword(t *testing.T) {
	f := newFixture(t)
	f.person("ada@example.com", rimewatch.RoleOwner)
	b, err := f.FindWorkspace(f.ctx, "B", true, t0)
	f.ok(err)
	f.grants = []Grant{{"staff", "B", rimewatch.RoleAdmin}}
	bob := f.person("bob@example.com", rimewatch.RoleViewer)
	f.ok(f.store.People().PutMember(f.ctx, &rimewatch.Member{WorkspaceID: b.ID, UserID: bob.ID, Role: rimewatch.RoleAdmin, Provided: true}))
	in := f.signIn("bob@example.com", t0)
	same(t, in.Principal.WorkspaceID, f.ws.ID)
	list, err := f.Memberships(f.ctx, in.Principal)
	f.ok(err)
	same(t, len(list), 1)
	f.code(f.SwitchWorkspace(f.ctx, in.Principal, b.ID), rimewatch.CodeNotFound)
	f.ok(f.store.People().SetSessionWorkspace(f.ctx, bob.ID, in.Principal.SessionID, b.ID))
	p, err := f.AuthenticateSession(f.ctx, in.Secret, "", t0)
	f.ok(err)
	same(t, p.NeedsProvider, true)
	f.code(p.RequireRole(rimewatch.RoleViewer), rimewatch.CodeForbidden)
	f.code(p.Require(0), rimewatch.CodeForbidden)

	pat, err := f.provided("pat@example.com", t0, "staff")
	f.ok(err)
	_, err = f.ChangePassword(f.ctx, pat.Principal, "", password, Client{}, t0)
	f.code(err, rimewatch.CodeConflict)
	_, err = f.ResetPassword(f.ctx, "pat@example.com", password, false, t0)
	f.code(err, rimewatch.CodeConflict)
	_, _, later := f.protect(pat, t0+rimewatch.Minute) // a new session in place of the old, which lasts no longer
	same(t, later.EndsAt, pat.EndsAt)
	same(t, later.Principal.Role, rimewatch.RoleAdmin)
	f.ok(f.Valid(f.ctx, later.Principal, t0))

	_, err = f.ResetPassword(f.ctx, "pat@example.com", password, true, t0) // by the operator's word
	f.ok(err)
	f.ok(f.store.People().DeleteSecondFactor(f.ctx, pat.User.ID))
	same(t, f.signIn("pat@example.com", t0).Principal.Role, rimewatch.RoleAdmin)
}

// TestLinking: the account of a person with a password is linked to the provider
// after that password, and has none from then on.
func TestLinking(t *testing.T) {
	f := newFixture(t)
	f.person("ada@example.com", rimewatch.RoleOwner)
	f.person("bob@example.com", rimewatch.RoleViewer)
	refused := func(session string, now rimewatch.Time) {
		t.Helper()
		_, err := f.linked("bob@example.com", session, now)
		f.code(err, rimewatch.CodeConflict)
		same(t, NeedsPassword(err), true)
	}
	refused("", t0)
	refused("nonsense", t0)
	refused(f.signIn("ada@example.com", t0).Secret, t0) // somebody else's
	in := f.signIn("bob@example.com", t0)
	refused(in.Secret, t0+freshFor)
	linked, err := f.linked("bob@example.com", in.Secret, t0+freshFor-1)
	f.ok(err)
	same(t, linked.Principal.Role, rimewatch.RoleViewer)
	_, err = f.AuthenticateSession(f.ctx, in.Secret, "", t0)
	f.code(err, rimewatch.CodeUnauthenticated)
	_, err = f.SignIn(f.ctx, Credentials{Email: "bob@example.com", Password: password}, t0)
	f.code(err, rimewatch.CodeUnauthenticated)
	_, err = f.linked("bob@example.com", "", t0)
	f.ok(err)
}

// TestBreakGlass: the owner of the set-up keeps a password, and its use is told
// where there is a provider.
func TestBreakGlass(t *testing.T) {
	f := newFixture(t)
	code, _, err := f.SetupCode(f.ctx)
	f.ok(err)
	_, err = f.Setup(f.ctx, setupRequest(code), t0)
	f.ok(err)
	f.person("bob@example.com", rimewatch.RoleAdmin)
	mail := f.mailing()
	in := f.signIn("ada@example.com", t0)
	same(t, len(f.trail(f.ws.ID, "user.break_glass_used")), 0) // an ordinary sign-in without a provider
	f.provider = true
	_, err = f.linked("ada@example.com", in.Secret, t0)
	f.ok(err)
	f.signIn("ada@example.com", t0)
	same(t, f.trail(f.ws.ID, "user.break_glass_used"), []map[string]any{{"actor": "Ada <ada@example.com>", "action": "user.break_glass_used", "address": "192.0.2.1"}})
	for _, want := range []string{"ada@example.com", "bob@example.com"} {
		same(t, (<-mail.letters).To, want)
	}
	f.signIn("bob@example.com", t0)
	same(t, len(f.trail(f.ws.ID, "user.break_glass_used")), 1)

	f.code(f.NameBreakGlass(f.ctx, "bob@example.com"), rimewatch.CodeConflict)
	f.person("eve@example.com", rimewatch.RoleOwner)
	f.ok(f.NameBreakGlass(f.ctx, "eve@example.com"))
	f.signIn("eve@example.com", t0)
	same(t, len(f.trail(f.ws.ID, "user.break_glass_used")), 2)
	_, err = f.linked("ada@example.com", "", t0) // no longer: the next link takes the password away
	same(t, NeedsPassword(err), true)
}

// TestLookalikes: an address that only looks like another's is another, at the
// provider and everywhere else.
func TestLookalikes(t *testing.T) {
	f := newFixture(t)
	const kelvin = "\u212Aim@a.test"
	kim := f.person("kim@a.test", rimewatch.RoleOwner)
	f.grants = []Grant{{"staff", "Bakery", rimewatch.RoleViewer}}
	_, err := f.provided(kelvin, t0, "staff")
	f.field(err, rimewatch.CodeForbidden, "email")
	_, err = f.store.People().UserByEmail(f.ctx, kelvin)
	f.code(err, rimewatch.CodeNotFound)
	same(t, f.signIn(" KIM@A.test", t0).User.ID, kim.ID)
}

// TestAddressesOfBefore: an account whose address was stored as earlier versions
// did is still signed in to.
func TestAddressesOfBefore(t *testing.T) {
	f := newFixture(t)
	for _, email := range []string{"m\u00fcller@a.test", "mu\u0308ller@b.test"} { // composed, decomposed
		u := f.person("x"+email[len(email)-7:], rimewatch.RoleViewer)
		_, err := f.store.People().UpdateUser(f.ctx, u.ID, func(u *rimewatch.User) error { u.Email = email; return nil })
		f.ok(err)
		for _, typed := range []string{email, strings.ToUpper(email)} {
			same(t, f.signIn(typed, t0).User.ID, u.ID)
		}
	}
}
