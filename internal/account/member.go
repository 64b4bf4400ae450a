package account

import (
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Members lists the members of the principal's workspace. Needs the role admin.
func (s *Service) Members(ctx context.Context, p Principal) ([]store.MemberView, error) {
	if err := p.Require(rimewatch.ScopeMembers); err != nil {
		return nil, err
	}
	return s.store.People().Members(ctx, p.WorkspaceID)
}

// mayManage checks that p may grant or take the role: only owners deal in
// owners.
func (s *Service) mayManage(p Principal, role rimewatch.Role) error {
	if err := p.Require(rimewatch.ScopeMembers); err != nil {
		return err
	}
	if err := (&rimewatch.Member{Role: role}).Check(); err != nil {
		return err
	}
	if role == rimewatch.RoleOwner {
		return p.RequireRole(rimewatch.RoleOwner)
	}
	return nil
}

// member finds a member of the principal's workspace: CodeNotFound.
func (s *Service) member(ctx context.Context, p Principal, userID int64) (store.MemberView, error) {
	all, err := s.store.People().Members(ctx, p.WorkspaceID)
	if err != nil {
		return store.MemberView{}, err
	}
	i := slices.IndexFunc(all, func(m store.MemberView) bool { return m.UserID == userID })
	if i < 0 {
		return store.MemberView{}, rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such member.")
	}
	return all[i], nil
}

// MemberPatch is a change of a member.
type MemberPatch struct {
	Role     rimewatch.Role  // "" = as it is
	Sites    rimewatch.Sites // to be limited to, nil = as it is
	AllSites bool            // to be limited no more
}

// ChangeMember changes a member's role, and the sites that the member is limited
// to; who becomes admin or owner is limited no more. Needs the role admin, and
// owner where an owner is made or unmade. CodeNotFound; CodeConflict for the last
// owner; CodeValidationFailed on site_ids.
func (s *Service) ChangeMember(ctx context.Context, p Principal, userID int64, patch MemberPatch) (store.MemberView, error) {
	if patch.Role != "" {
		if err := s.mayManage(p, patch.Role); err != nil {
			return store.MemberView{}, err
		}
	}
	m, err := s.member(ctx, p, userID)
	if err != nil {
		return m, err
	}
	if err := s.mayManage(p, m.Role); err != nil {
		return m, err
	}
	if patch.Role != "" && patch.Role != m.Role {
		if m.Provided {
			return m, rimewatch.Errorf(rimewatch.CodeConflict, "This role comes from a group of the sign-in provider: change it there.")
		}
		m.Role = patch.Role
	}
	switch {
	case patch.Sites != nil:
		if m.Sites, err = s.knownSites(ctx, p, patch.Sites); err != nil {
			return m, err
		}
	case patch.AllSites || m.Role.AtLeast(rimewatch.RoleAdmin):
		m.Sites = nil
	}
	return m, s.store.People().PutMember(ctx, &m.Member)
}

// knownSites returns sites in order, as they are stored: CodeValidationFailed on
// site_ids when one is not of the principal's workspace.
func (s *settings) knownSites(ctx context.Context, p Principal, sites rimewatch.Sites) (rimewatch.Sites, error) {
	if sites == nil {
		return nil, nil
	}
	all, err := s.store.Sites().List(ctx, p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	for _, id := range sites {
		if !slices.ContainsFunc(all, func(x rimewatch.Site) bool { return x.ID == id }) {
			return nil, rimewatch.Invalid("site_ids", "must be sites of the workspace")
		}
	}
	sorted := slices.Clone(sites)
	slices.Sort(sorted)
	return sorted, nil
}

// RemoveMember ends a membership; everyone may end their own. Needs the role
// admin otherwise, and owner to remove an owner. CodeNotFound; CodeConflict for
// the last owner. The member's sessions lose the workspace at once, and the
// tokens and invitations that he made there end.
func (s *Service) RemoveMember(ctx context.Context, p Principal, userID int64, now rimewatch.Time) error {
	if p.UserID == 0 || p.UserID != userID {
		if err := p.Require(rimewatch.ScopeMembers); err != nil {
			return err
		}
		m, err := s.member(ctx, p, userID)
		if err != nil {
			return err
		}
		if err := s.mayManage(p, m.Role); err != nil {
			return err
		}
	}
	tokens, err := s.store.People().DeleteMember(ctx, p.WorkspaceID, userID, now)
	for _, id := range tokens {
		s.dropToken(id)
	}
	return err
}
