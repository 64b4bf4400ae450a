package account

import (
	"context"
	"errors"
	"log/slog"

	"golang.org/x/text/unicode/norm"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Grant is the role in a workspace that a group of the sign-in provider grants.
// The operator says it, never a workspace: nobody is pulled into a workspace by
// its own admins.
type Grant struct {
	Group     string
	Workspace string // name
	Role      rimewatch.Role
}

// Identity is a sign-in provider's statement about a person.
type Identity struct {
	store.Identification
	Email    string
	Verified bool // the provider has checked that the address is the person's
	Name     string
	Groups   []string
}

// SignInProvided makes a session for the person whom the provider has named, with
// the memberships that the person's groups grant. What the groups grant no more has
// ended also when the sign-in is refused: CodeForbidden when the provider has not
// verified the address, or grants no access; NeedsPassword when the address is that
// of an account with a password, which is linked once shown is the secret of a
// session that its password has begun just now; CodeConflict while
// the service is not set up: the first owner is a person with a password, who gets
// in when the provider does not answer.
func (s *Service) SignInProvided(ctx context.Context, id Identity, shown string, client Client, now rimewatch.Time) (SignedIn, error) {
	if _, needed, err := s.SetupCode(ctx); err != nil || needed {
		if err == nil {
			err = rimewatch.Errorf(rimewatch.CodeConflict, "The service is not set up yet.")
		}
		return SignedIn{}, err
	}
	if !id.Verified || id.Email == "" {
		if u, err := s.store.People().UserByEmail(ctx, normalEmail(id.Email)); err == nil {
			s.refuse(ctx, u.ID, "an address that the provider has not verified", client, now)
		}
		return SignedIn{}, rimewatch.Errorf(rimewatch.CodeForbidden, "Your provider has not verified your e-mail address.").With("email", "is not verified")
	}
	if !norm.NFKC.IsNormalString(id.Email) { // it looks like another address, whose holder may be another person
		return SignedIn{}, rimewatch.Errorf(rimewatch.CodeForbidden, "Your provider spells your e-mail address with unusual characters.").With("email", "must be in Unicode's normal form NFKC")
	}
	grants, err := grantsOf(ctx, s.store, s.log, s.grants, id.Groups)
	if err != nil {
		return SignedIn{}, err
	}
	name := normalText(clip(id.Name, rimewatch.MaxNameLen))
	proven, err := s.provenBy(ctx, shown, now)
	if err != nil {
		return SignedIn{}, err
	}
	a, err := s.store.People().AdmitIdentity(ctx, store.Admission{Identification: id.Identification, Person: newUser(id.Email, name, now), Grants: grants, Proven: proven, At: now})
	s.left(ctx, &a)
	if err != nil {
		return SignedIn{}, err
	}
	in, err := s.startSession(ctx, &a.User, terms{strong: true, provided: true, ends: now + ProvidedLife}, client, now)
	if err != nil {
		return in, err
	}
	return in, s.signedIn(ctx, &a.User, "provider", client, now)
}

// NeedsPassword reports whether an error of SignInProvided says that the account
// with the address has to be signed in to by its password first.
func NeedsPassword(err error) bool { return errors.Is(err, store.ErrUnproven) }

// provenBy returns whose password has begun, within freshFor, the session with a
// secret; 0 = none.
func (s *Service) provenBy(ctx context.Context, secret string, now rimewatch.Time) (int64, error) {
	hash, ok := hashSecret(secret)
	if !ok {
		return 0, nil
	}
	row, err := s.store.People().Session(ctx, hash, now)
	if err != nil || row.Provided || now-row.CreatedAt >= freshFor {
		return 0, notFoundIs(err, func() error { return nil })
	}
	return row.UserID, nil
}

// left follows up on memberships that have ended with a person's groups.
func (s *Service) left(ctx context.Context, a *store.Admitted) {
	for _, w := range a.Left {
		s.forget(w)
		s.tellAdmins(w.WorkspaceID, leftNotice(&a.User, w))
	}
	if len(a.Left) > 0 {
		s.checkOwners(ctx)
	}
}

// forget has tokens that may do less looked up again.
func (s *tokens) forget(w store.Withdrawal) {
	for _, t := range w.Ended {
		s.dropToken(t.ID)
	}
	for _, t := range w.Kept {
		s.dropToken(t.ID)
	}
}

// grantsOf returns the roles that groups grant, by workspace; of several the
// highest.
func grantsOf(ctx context.Context, st Store, log *slog.Logger, all []Grant, groups []string) (map[int64]rimewatch.Role, error) {
	in := make(map[string]bool)
	for _, g := range groups {
		in[g] = true
	}
	out := make(map[int64]rimewatch.Role)
	for _, g := range all {
		if !in[g.Group] {
			continue
		}
		w, err := st.WorkspaceByName(ctx, g.Workspace)
		if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
			log.Warn("a group gives a role in a workspace that does not exist", "group", g.Group, "workspace", g.Workspace)
			continue
		}
		if err != nil {
			return nil, err
		}
		if had, ok := out[w.ID]; !ok || !had.AtLeast(g.Role) {
			out[w.ID] = g.Role
		}
	}
	return out, nil
}
