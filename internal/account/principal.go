package account

import (
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Principal is who makes a request: a person with a session, an API token, or
// the operator of the machine. A person who is no member of the workspace that
// the session looks at, or lacks the second factor that it requires, has no
// workspace, no role and no scopes, and so may only do what concerns the account.
type Principal struct {
	WorkspaceID int64          // 0 for a person who is no member
	UserID      int64          // 0 for tokens and the operator
	TokenID     int64          // 0 for sessions and the operator
	TokenName   string         // of the token; "" for sessions and the operator
	MadeBy      int64          // the person who made the token; 0 for sessions, and where the command line did
	SessionID   int64          // 0 for tokens and the operator
	Role        rimewatch.Role // "" for tokens, and for a person who is no member
	Scopes      rimewatch.Scopes
	Limit       *rimewatch.Sites // sites that the principal is limited to, nil = it is not
	Session     bool             // a person or the operator, never a token
	Locale      rimewatch.Locale // how the person reads; empty for tokens and the operator
	NeedsFactor bool             // the workspace requires a second factor, and the session was begun without
	// NeedsProvider is set where the sign-in provider has given the membership, and
	// the session was begun by a password.
	NeedsProvider bool

	provided rimewatch.Time // when the session ends at the latest that a provider has begun; 0 = it was begun otherwise
	strong   bool           // the session was begun with a second factor, or by a provider
	lookedAt int64          // the workspace that the session looks at, a member of it or not
}

// person is the user responsible for the principal's acts: a token's maker, 0 = the operator.
func (p *Principal) person() int64 { return max(p.UserID, p.MadeBy) }

// Sites returns the sites that the principal is limited to, nil = all.
func (p *Principal) Sites() rimewatch.Sites {
	if p.Limit == nil {
		return nil
	}
	return *p.Limit
}

// limitOf is Principal.Limit of a membership or a token.
func limitOf(s rimewatch.Sites) *rimewatch.Sites {
	if s == nil {
		return nil
	}
	return &s
}

// RequireAllSites checks that the principal is not limited to sites:
// CodeForbidden.
func (p *Principal) RequireAllSites() error {
	if p.Limit == nil {
		return nil
	}
	return rimewatch.Errorf(rimewatch.CodeForbidden, "This requires access to all sites of the workspace.")
}

// Operator is the command line acting in a workspace, with the rights of an owner.
func Operator(workspaceID int64) Principal {
	return Principal{WorkspaceID: workspaceID, Role: rimewatch.RoleOwner, Scopes: rimewatch.RoleOwner.Scopes(), Session: true}
}

func (p *Principal) errNoMember() error {
	if p.NeedsFactor {
		return rimewatch.Errorf(rimewatch.CodeForbidden, "This workspace requires a second factor. Set one up in your account.").With("second_factor", "is required")
	}
	if p.NeedsProvider {
		return rimewatch.Errorf(rimewatch.CodeForbidden, "Your role in this workspace comes from your sign-in provider: sign in there.")
	}
	return rimewatch.Errorf(rimewatch.CodeForbidden, "You are not a member of this workspace.")
}

// Require checks scopes: CodeForbidden, whose fields.scope names those that a token lacks;
// to a person it names the role that has them.
func (p *Principal) Require(want rimewatch.Scopes) error {
	if p.Session && p.Role == "" {
		return p.errNoMember()
	}
	if p.Scopes.Has(want) {
		return nil
	}
	if p.Session {
		for _, r := range rimewatch.Roles {
			if r.Scopes().Has(want) {
				return p.RequireRole(r)
			}
		}
	}
	e := rimewatch.Errorf(rimewatch.CodeForbidden, "The token lacks the scope for this.")
	for _, n := range (want &^ p.Scopes).Names() {
		e.With("scope", "%s", n)
	}
	return e
}

// RequireRole checks that a person with at least this role asks:
// CodeForbidden. A token never passes.
func (p *Principal) RequireRole(want rimewatch.Role) error {
	if !p.Session {
		return rimewatch.Errorf(rimewatch.CodeForbidden, "This requires a signed-in user; API tokens cannot do it.")
	}
	if p.Role == "" {
		return p.errNoMember()
	}
	if !p.Role.AtLeast(want) {
		return rimewatch.Errorf(rimewatch.CodeForbidden, "This requires the role %s.", rimewatch.Sentencef(string(want)))
	}
	return nil
}

// RequirePerson checks that a signed-in person asks, a member of a workspace or
// not: CodeForbidden. Tokens and the operator, who have no account, do not pass.
func (p *Principal) RequirePerson() error {
	if !p.Session || p.UserID == 0 {
		return rimewatch.Errorf(rimewatch.CodeForbidden, "This requires a signed-in user; API tokens cannot do it.")
	}
	return nil
}

// Member returns a member of a workspace with the rights that the person has now, for what was
// asked for before: CodeForbidden where the person is none any more.
func (s *Service) Member(ctx context.Context, workspaceID, userID int64) (Principal, error) {
	p := Principal{UserID: userID, Session: true, lookedAt: workspaceID, strong: true}
	all, err := s.store.People().Memberships(ctx, userID)
	if err != nil {
		return p, err
	}
	i := slices.IndexFunc(all, func(m store.MembershipView) bool { return m.WorkspaceID == workspaceID })
	if i < 0 {
		return p, p.errNoMember()
	}
	u, err := s.store.People().User(ctx, userID)
	m := &all[i]
	p.Locale, p.WorkspaceID, p.Role, p.Scopes, p.Limit = u.Locale, m.WorkspaceID, m.Role, m.Role.Scopes(), limitOf(m.Sites)
	return p, err
}
