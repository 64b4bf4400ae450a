package account

import (
	"context"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/catalogue"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Profile is a signed-in person's own account.
type Profile struct {
	User        rimewatch.User // PasswordHash is empty
	Workspace   rimewatch.Workspace
	Role        rimewatch.Role
	Scopes      rimewatch.Scopes
	Memberships []store.MembershipView // all of the user's workspaces
}

func newUser(email, name string, now rimewatch.Time) rimewatch.User {
	return rimewatch.User{Email: normalEmail(email), Name: normalText(name), Locale: rimewatch.Locale{Units: "c", Clock: "24h", Dates: "dmy"}, Theme: "system", CreatedAt: now, UpdatedAt: now}
}

// Person is the account of the signed-in person, without its password.
func (s *Service) Person(ctx context.Context, p Principal) (rimewatch.User, error) {
	if err := p.RequirePerson(); err != nil {
		return rimewatch.User{}, err
	}
	u, err := s.store.People().User(ctx, p.UserID)
	u.PasswordHash = ""
	return u, err
}

// Memberships lists the workspaces of the signed-in person.
func (s *Service) Memberships(ctx context.Context, p Principal) ([]store.MembershipView, error) {
	if err := p.RequirePerson(); err != nil {
		return nil, err
	}
	return s.memberships(ctx, p)
}

// memberships are those that count in the principal's session.
func (s *Service) memberships(ctx context.Context, p Principal) ([]store.MembershipView, error) {
	all, err := s.store.People().Memberships(ctx, p.UserID)
	return slices.DeleteFunc(all, func(m store.MembershipView) bool { return !counts(&m, p.provided != 0) }), err
}

// Me describes the signed-in person in the workspace that the session looks at:
// CodeForbidden when the person is no member of it.
func (s *Service) Me(ctx context.Context, p Principal) (Profile, error) {
	u, err := s.Person(ctx, p)
	if err != nil {
		return Profile{}, err
	}
	if err := p.RequireRole(rimewatch.RoleViewer); err != nil {
		return Profile{}, err
	}
	w, err := s.store.Workspace(ctx, p.WorkspaceID)
	if err != nil {
		return Profile{}, err
	}
	all, err := s.memberships(ctx, p)
	if err != nil {
		return Profile{}, err
	}
	return Profile{User: u, Workspace: w, Role: p.Role, Scopes: p.Scopes, Memberships: all}, nil
}

// ProfilePatch changes a person's own settings; nil leaves a value as it is.
type ProfilePatch struct {
	Name     *string
	Language *string // see rimewatch.Locale
	Units    *string
	Clock    *string
	Dates    *string
	Theme    *string // "system", "light" or "dark"
}

// UpdateMe changes the signed-in person's settings: CodeValidationFailed with
// the fields name, language, units, clock, dates, theme.
func (s *Service) UpdateMe(ctx context.Context, p Principal, patch ProfilePatch, now rimewatch.Time) (rimewatch.User, error) {
	if err := p.RequirePerson(); err != nil {
		return rimewatch.User{}, err
	}
	if l := patch.Language; l != nil && *l != "" && !catalogue.Known(*l) {
		return rimewatch.User{}, rimewatch.Invalid("language", "must be one of %s, or empty for that of the browser", strings.Join(catalogue.Languages(), ", "))
	}
	u, err := s.store.People().UpdateUser(ctx, p.UserID, func(u *rimewatch.User) error {
		if patch.Name != nil {
			u.Name = normalText(*patch.Name)
		}
		for _, p := range []struct{ to, from *string }{
			{&u.Language, patch.Language}, {&u.Units, patch.Units}, {&u.Clock, patch.Clock}, {&u.Dates, patch.Dates}, {&u.Theme, patch.Theme},
		} {
			if p.from != nil {
				*p.to = *p.from
			}
		}
		u.UpdatedAt = now
		return nil
	})
	u.PasswordHash = ""
	return u, err
}

// ChangePassword replaces the signed-in person's password, ends all sessions
// and starts a new one in place of this one, so that a stolen cookie is worth
// nothing afterwards. CodeValidationFailed with the field current_password when
// that is wrong, or password when the new one will not do; CodeConflict for whoever
// signs in at a provider: a password would outlast what the provider says.
func (s *Service) ChangePassword(ctx context.Context, p Principal, current, password string, client Client, now rimewatch.Time) (SignedIn, error) {
	u, err := s.confirmPassword(ctx, p, current, now)
	if err != nil {
		return SignedIn{}, err
	}
	if u.PasswordHash == "" {
		return SignedIn{}, errNoPassword()
	}
	if err := checkPassword(password, u.Email, u.Name); err != nil {
		return SignedIn{}, err
	}
	if err := s.setPassword(ctx, u.ID, password, now); err != nil {
		return SignedIn{}, err
	}
	return s.startSession(ctx, &u, termsOf(&p), client, now)
}

func errNoPassword() error {
	return rimewatch.Errorf(rimewatch.CodeConflict, "Whoever signs in at the provider has no password here.")
}

// confirmPassword returns the signed-in person who enters the current password:
// CodeValidationFailed with the field current_password when it is wrong.
func (s *Service) confirmPassword(ctx context.Context, p Principal, current string, now rimewatch.Time) (rimewatch.User, error) {
	if err := p.RequirePerson(); err != nil {
		return rimewatch.User{}, err
	}
	u, err := s.store.People().User(ctx, p.UserID)
	if err != nil {
		return u, err
	}
	if u.PasswordHash == "" {
		return u, s.confirmFresh(ctx, p, now)
	}
	ok, err := s.hasher.verify(ctx, known, "", u.PasswordHash, current)
	if err == nil && !ok {
		err = rimewatch.Invalid("current_password", "is wrong")
	}
	return u, err
}

// freshFor is for how long after signing in a person without a password need not
// show again who they are.
const freshFor = 10 * rimewatch.Minute

// confirmFresh is confirmPassword of somebody who signs in by a provider and has
// no password.
func (s *ownSessions) confirmFresh(ctx context.Context, p Principal, now rimewatch.Time) error {
	if fresh, err := s.signedInWithin(ctx, p, freshFor, now); fresh || err != nil {
		return err
	}
	return rimewatch.Invalid("current_password", "is not needed: sign out, sign in again by your provider and repeat this within 10 minutes")
}

// signedInWithin reports whether the caller's session began no longer ago than that.
func (s *ownSessions) signedInWithin(ctx context.Context, p Principal, within, now rimewatch.Time) (bool, error) {
	all, err := s.store.People().Sessions(ctx, p.UserID, now)
	return slices.ContainsFunc(all, func(x store.Session) bool { return x.ID == p.SessionID && now-x.CreatedAt < within }), err
}

// Erase deletes the signed-in person's account; its acts stay in
// the audit trails. CodeValidationFailed with the field current_password;
// CodeConflict while a workspace has no other owner.
func (s *Service) Erase(ctx context.Context, p Principal, password string, now rimewatch.Time) error {
	u, err := s.confirmPassword(ctx, p, password, now)
	if err != nil {
		return err
	}
	tokens, err := s.store.People().EraseUser(ctx, u.ID, now)
	for _, id := range tokens {
		s.dropToken(id)
	}
	return err
}

func (s *Service) setPassword(ctx context.Context, userID int64, password string, now rimewatch.Time) error {
	hash, err := s.hasher.hash(ctx, s.rand, password)
	if err != nil {
		return err
	}
	return s.store.People().SetPassword(ctx, userID, hash, now)
}
