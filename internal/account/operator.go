package account

import (
	"context"
	"errors"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// operatorDesk is the part of a Service by which the operator finds and repairs things,
// without a password.
type operatorDesk struct{ store Store }

func newWorkspace(name string, now rimewatch.Time) rimewatch.Workspace {
	return rimewatch.Workspace{
		Name: normalText(name), TimeZone: "UTC",
		RawDays: rimewatch.DefaultRawDays, RollupDays: rimewatch.DefaultRollupDays,
		CreatedAt: now, UpdatedAt: now,
	}
}

// gather joins the complaints of several checks into one CodeValidationFailed.
func gather(found ...error) error {
	var all *rimewatch.Error
	for _, err := range found {
		var e *rimewatch.Error
		if err == nil {
			continue
		}
		if !errors.As(err, &e) {
			return err
		}
		all = rimewatch.Merge(all, e)
	}
	if all == nil {
		return nil
	}
	return all
}

// FindWorkspace finds a workspace by name for the operator, and makes it when
// create is set: CodeNotFound, or CodeValidationFailed with the field name.
func (s *operatorDesk) FindWorkspace(ctx context.Context, name string, create bool, now rimewatch.Time) (rimewatch.Workspace, error) {
	w, err := s.store.WorkspaceByName(ctx, normalText(name))
	if !create || rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
		return w, err
	}
	w = newWorkspace(name, now)
	err = s.store.CreateWorkspace(ctx, &w)
	if rimewatch.CodeOf(err) == rimewatch.CodeConflict {
		return s.store.WorkspaceByName(ctx, w.Name) // another process was quicker
	}
	return w, err
}

// UserRequest describes a person that the operator adds.
type UserRequest struct {
	Email, Name, Password string
	Role                  rimewatch.Role
}

// AddUser makes a person with a password, member of a workspace, for the
// operator. CodeConflict with the field email when the person exists;
// CodeValidationFailed with the fields of the request.
func (s *Service) AddUser(ctx context.Context, workspaceID int64, r UserRequest, now rimewatch.Time) (rimewatch.User, error) {
	u := newUser(r.Email, r.Name, now)
	m := rimewatch.Member{WorkspaceID: workspaceID, Role: r.Role, CreatedAt: now}
	if err := gather(m.Check(), checkPassword(r.Password, u.Email, u.Name), u.Check()); err != nil {
		return u, err
	}
	hash, err := s.hasher.hash(ctx, s.rand, r.Password)
	if err != nil {
		return u, err
	}
	u.PasswordHash = hash
	if err := s.store.People().CreateUser(ctx, &u); err != nil {
		return u, err
	}
	m.UserID = u.ID
	u.PasswordHash = ""
	return u, s.store.People().PutMember(ctx, &m)
}

// RemoveFactorOf removes a person's second factor for the operator: CodeNotFound
// when there is no such person; false when there is no second factor.
func (s *operatorDesk) RemoveFactorOf(ctx context.Context, email string) (bool, error) {
	u, err := s.store.People().UserByEmail(ctx, normalEmail(email))
	if err != nil {
		return false, err
	}
	err = s.store.People().DeleteSecondFactor(ctx, u.ID)
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
		return false, nil
	}
	return err == nil, err
}

// HasFactor reports whether a person has a second factor, for the operator.
func (s *operatorDesk) HasFactor(ctx context.Context, email string) (bool, error) {
	u, err := s.store.People().UserByEmail(ctx, normalEmail(email))
	if err != nil {
		return false, err
	}
	f, err := s.store.People().SecondFactor(ctx, u.ID)
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
		return false, nil
	}
	return err == nil && f.ConfirmedAt != 0, err
}

// ResetPassword sets a person's password for the operator and ends all of
// their sessions. An empty password makes a random one. The password in force
// is returned. Somebody who signs in at a provider is made a local person by local,
// in the roles that the provider gave last: CodeConflict otherwise. CodeNotFound;
// CodeValidationFailed with the field password.
func (s *Service) ResetPassword(ctx context.Context, email, password string, local bool, now rimewatch.Time) (string, error) {
	u, err := s.store.People().UserByEmail(ctx, normalEmail(email))
	if err != nil {
		return "", err
	}
	if u.PasswordHash == "" && !local {
		return "", errNoPassword()
	}
	if password == "" {
		secret, _, err := s.newSecret()
		if err != nil {
			return "", err
		}
		password = secret[:20] // 120 bits
	}
	if err := checkPassword(password, u.Email, u.Name); err != nil {
		return "", err
	}
	if local {
		if err := s.store.People().LeaveProvider(ctx, u.ID); err != nil {
			return "", err
		}
	}
	return password, s.setPassword(ctx, u.ID, password, now)
}

// NameBreakGlass makes a person, for the operator, the one who keeps password and
// second factor beside a sign-in provider, in place of another. CodeNotFound;
// CodeConflict when the person has no password, or owns no workspace by a person's
// word: who gets in when the provider does not answer must not depend on it.
func (s *operatorDesk) NameBreakGlass(ctx context.Context, email string) error {
	u, err := s.store.People().UserByEmail(ctx, normalEmail(email))
	if err != nil {
		return err
	}
	if u.PasswordHash == "" {
		return errNoPassword()
	}
	all, err := s.store.People().Memberships(ctx, u.ID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(m store.MembershipView) bool { return m.Role == rimewatch.RoleOwner && !m.Provided }) {
		return rimewatch.Errorf(rimewatch.CodeConflict, "This person must own a workspace, and not by a group of the sign-in provider.")
	}
	return s.store.People().SetBreakGlass(ctx, u.ID)
}
