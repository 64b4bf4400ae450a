package account

import (
	"context"
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

// Identity is what the sign-in provider says of a person.
type Identity struct {
	store.Identification
	Email    string
	Verified bool // the provider has checked that the address is the person's
	Name     string
	Groups   []string
}

// SignInProvided makes a session for the person whom the provider has named, with
// the memberships that the person's groups grant. CodeForbidden when the provider
// has not verified the address, or grants no access; CodeConflict while
// the service is not set up: the first owner is a person with a password, who gets
// in when the provider does not answer.
func (s *Service) SignInProvided(ctx context.Context, id Identity, client Client, now rimewatch.Time) (SignedIn, error) {
	if _, needed, err := s.SetupCode(ctx); err != nil || needed {
		if err == nil {
			err = rimewatch.Errorf(rimewatch.CodeConflict, "The service is not set up yet.")
		}
		return SignedIn{}, err
	}
	if !id.Verified || id.Email == "" {
		if u, err := s.store.UserByEmail(ctx, normalEmail(id.Email)); err == nil {
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
	u, err := s.store.AdmitIdentity(ctx, id.Identification, newUser(id.Email, name, now), grants)
	if err != nil {
		return SignedIn{}, err
	}
	in, err := s.startSessionUntil(ctx, &u, 0, client, true, now, now+ProvidedLife)
	if err != nil {
		return in, err
	}
	return in, s.signedIn(ctx, &u, "provider", client, now)
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
