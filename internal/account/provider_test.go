package account

import (
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// provided signs somebody in whom a provider has named.
func (f *fixture) provided(email string, now rimewatch.Time, groups ...string) (SignedIn, error) {
	return f.SignInProvided(f.ctx, Identity{
		Identification: store.Identification{Issuer: "https://id.example", Subject: email}, Email: email, Verified: true, Groups: groups,
	}, Client{}, now)
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
		p, err := f.AuthenticateSession(f.ctx, in.Secret, now)
		f.ok(err)
		same(t, p.Role, rimewatch.RoleViewer)
		f.ok(f.Flush(f.ctx, now))
	}
	_, err = f.AuthenticateSession(f.ctx, in.Secret, t0+ProvidedLife)
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
	f.ok(f.RequestReset("pat@example.com", "", t0)) // the same answer
	f.ok(f.RequestReset("ada@example.com", "", t0))
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

// TestLastOwnerByProvider: groups that end do not leave a workspace without an
// owner.
func TestLastOwnerByProvider(t *testing.T) {
	f := newFixture(t)
	f.grants = []Grant{{"chiefs", "Bakery", rimewatch.RoleOwner}, {"staff", "Bakery", rimewatch.RoleViewer}}
	ada := f.person("ada@example.com", rimewatch.RoleViewer)
	_, err := f.provided("pat@example.com", t0, "chiefs")
	f.ok(err)
	for _, group := range []string{"staff", "none"} {
		in, err := f.provided("pat@example.com", t0, group)
		f.ok(err)
		same(t, in.Principal.Role, rimewatch.RoleOwner)
	}
	f.ok(f.store.PutMember(f.ctx, &rimewatch.Member{WorkspaceID: f.ws.ID, UserID: ada.ID, Role: rimewatch.RoleOwner}))
	in, err := f.provided("pat@example.com", t0, "staff")
	f.ok(err)
	same(t, in.Principal.Role, rimewatch.RoleViewer)
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
	_, err = f.store.UserByEmail(f.ctx, kelvin)
	f.code(err, rimewatch.CodeNotFound)
	same(t, f.signIn(" KIM@A.test", t0).User.ID, kim.ID)
}

// TestAddressesOfBefore: an account whose address was stored as earlier versions
// did is still signed in to.
func TestAddressesOfBefore(t *testing.T) {
	f := newFixture(t)
	for _, email := range []string{"m\u00fcller@a.test", "mu\u0308ller@b.test"} { // composed, decomposed
		u := f.person("x"+email[len(email)-7:], rimewatch.RoleViewer)
		_, err := f.store.UpdateUser(f.ctx, u.ID, func(u *rimewatch.User) error { u.Email = email; return nil })
		f.ok(err)
		for _, typed := range []string{email, strings.ToUpper(email)} {
			same(t, f.signIn(typed, t0).User.ID, u.ID)
		}
	}
}
