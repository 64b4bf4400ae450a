package account

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// PasswordLinkLife is how long an invitation is good for.
const PasswordLinkLife = 7 * rimewatch.Day

// Members lists the members of the principal's workspace. Needs the role admin.
func (s *Service) Members(ctx context.Context, p Principal) ([]store.MemberView, error) {
	if err := p.RequireRole(rimewatch.RoleAdmin); err != nil {
		return nil, err
	}
	return s.store.Members(ctx, p.WorkspaceID)
}

// MemberRequest describes a member to be added.
type MemberRequest struct {
	Email string
	Name  string // of a person who is not known yet; "" is allowed
	Role  rimewatch.Role
}

// AddMember adds a person to the principal's workspace. A person who has no
// password yet gets a link secret, which AcceptLink takes; it is given out here
// and never again. Needs the role admin, and owner to make an owner.
// CodeConflict when the person is a member already; CodeValidationFailed with
// the fields email, name, role.
func (s *Service) AddMember(ctx context.Context, p Principal, r MemberRequest, now rimewatch.Time) (m store.MemberView, link string, err error) {
	if err := s.mayManage(p, r.Role); err != nil {
		return m, "", err
	}
	u, err := s.findOrCreateUser(ctx, r, now)
	if err != nil {
		return m, "", err
	}
	all, err := s.store.Memberships(ctx, u.ID)
	if err != nil {
		return m, "", err
	}
	for _, x := range all {
		if x.WorkspaceID == p.WorkspaceID {
			return m, "", rimewatch.Errorf(rimewatch.CodeConflict, "This person is a member already.").With("email", "is a member already")
		}
	}
	row := rimewatch.Member{WorkspaceID: p.WorkspaceID, UserID: u.ID, Role: r.Role, CreatedAt: now}
	if err := s.store.PutMember(ctx, &row); err != nil {
		return m, "", err
	}
	m = store.MemberView{Member: row, Email: u.Email, Name: u.Name, Pending: u.PasswordHash == ""}
	// Someone who waits for an invitation to another workspace uses that one: a
	// link from here would open the other workspace to whoever holds it.
	if m.Pending && len(all) == 0 {
		link, err = s.newLink(ctx, u.ID, now)
	}
	return m, link, err
}

func (s *Service) findOrCreateUser(ctx context.Context, r MemberRequest, now rimewatch.Time) (rimewatch.User, error) {
	email := normalEmail(r.Email)
	u, err := s.store.UserByEmail(ctx, email)
	if rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
		return u, err
	}
	u = newUser(email, r.Name, now)
	err = s.store.CreateUser(ctx, &u)
	if rimewatch.CodeOf(err) == rimewatch.CodeConflict {
		return s.store.UserByEmail(ctx, email) // someone was quicker
	}
	return u, err
}

func newUser(email, name string, now rimewatch.Time) rimewatch.User {
	return rimewatch.User{Email: normalEmail(email), Name: normalText(name), Units: "c", Theme: "system", CreatedAt: now, UpdatedAt: now}
}

func (s *Service) newLink(ctx context.Context, userID int64, now rimewatch.Time) (string, error) {
	secret, hash, err := s.newSecret()
	if err != nil {
		return "", err
	}
	return secret, s.store.CreatePasswordLink(ctx, &store.PasswordLink{Hash: hash, UserID: userID, CreatedAt: now, ExpiresAt: now + PasswordLinkLife})
}

// mayManage checks that p may give or take the role: only owners deal in
// owners.
func (s *Service) mayManage(p Principal, role rimewatch.Role) error {
	if err := p.RequireRole(rimewatch.RoleAdmin); err != nil {
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
	all, err := s.store.Members(ctx, p.WorkspaceID)
	if err != nil {
		return store.MemberView{}, err
	}
	for _, m := range all {
		if m.UserID == userID {
			return m, nil
		}
	}
	return store.MemberView{}, rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such member.")
}

// RenewLink gives a pending member a new link secret; the old one stops
// working. Needs the role admin, and owner for a pending owner. CodeConflict
// when the person has a password, or also waits for another workspace.
func (s *Service) RenewLink(ctx context.Context, p Principal, userID int64, now rimewatch.Time) (string, error) {
	if err := p.RequireRole(rimewatch.RoleAdmin); err != nil {
		return "", err
	}
	m, err := s.member(ctx, p, userID)
	if err != nil {
		return "", err
	}
	if err := s.mayManage(p, m.Role); err != nil {
		return "", err
	}
	all, err := s.store.Memberships(ctx, userID)
	if err != nil {
		return "", err
	}
	if !m.Pending || len(all) != 1 {
		return "", rimewatch.Errorf(rimewatch.CodeConflict, "This person does not wait for an invitation.")
	}
	return s.newLink(ctx, userID, now)
}

// ChangeRole gives a member another role. Needs the role admin, and owner where
// an owner is made or unmade. CodeNotFound; CodeConflict for the last owner.
func (s *Service) ChangeRole(ctx context.Context, p Principal, userID int64, role rimewatch.Role) (store.MemberView, error) {
	if err := s.mayManage(p, role); err != nil {
		return store.MemberView{}, err
	}
	m, err := s.member(ctx, p, userID)
	if err != nil {
		return m, err
	}
	if err := s.mayManage(p, m.Role); err != nil {
		return m, err
	}
	m.Role = role
	return m, s.store.PutMember(ctx, &m.Member)
}

// RemoveMember ends a membership; everyone may end their own. Needs the role
// admin otherwise, and owner to remove an owner. CodeNotFound; CodeConflict for
// the last owner. The member's sessions lose the workspace at once.
func (s *Service) RemoveMember(ctx context.Context, p Principal, userID int64) error {
	if p.UserID == 0 || p.UserID != userID {
		if err := p.RequireRole(rimewatch.RoleAdmin); err != nil {
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
	return s.store.DeleteMember(ctx, p.WorkspaceID, userID)
}

func errLink() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "This link was used already or has expired.")
}

// LinkUser tells whose password a link secret sets, for the page that asks for
// it: CodeNotFound when the link is unknown, used, replaced or expired.
func (s *Service) LinkUser(ctx context.Context, secret string, now rimewatch.Time) (rimewatch.User, error) {
	hash, ok := hashSecret(secret)
	if !ok {
		return rimewatch.User{}, errLink()
	}
	l, err := s.store.PasswordLink(ctx, hash, now)
	if err != nil {
		return rimewatch.User{}, notFoundIs(err, errLink)
	}
	u, err := s.store.User(ctx, l.UserID)
	u.PasswordHash = ""
	return u, err
}

// AcceptLink sets the password by a link secret and signs the person in. A link
// works once: CodeNotFound; CodeValidationFailed with the field password.
func (s *Service) AcceptLink(ctx context.Context, secret, password string, client Client, now rimewatch.Time) (SignedIn, error) {
	if err := checkPassword("password", password); err != nil {
		return SignedIn{}, err
	}
	u, err := s.LinkUser(ctx, secret, now) // before the work of hashing
	if err != nil {
		return SignedIn{}, err
	}
	passwordHash, err := s.hasher.hash(ctx, s.rand, password)
	if err != nil {
		return SignedIn{}, err
	}
	hash, _ := hashSecret(secret)
	if err := s.store.UsePasswordLink(ctx, hash, passwordHash, now); err != nil {
		return SignedIn{}, notFoundIs(err, errLink)
	}
	return s.startSession(ctx, &u, 0, client, now)
}
