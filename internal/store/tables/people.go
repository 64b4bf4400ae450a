package tables

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func errUser() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such user.") }

func errEmailTaken() error {
	return rimewatch.Errorf(rimewatch.CodeConflict, "This e-mail address is already in use.").With("email", "is taken")
}

var userTable = shapeOf("person", errUser, errEmailTaken, func(u *rimewatch.User) []column {
	return []column{
		given("id", number(&u.ID)), col("email", text(&u.Email)), col("name", text(&u.Name)), col("password_hash", text(&u.PasswordHash)),
		col("locale", document(&u.Locale)), col("theme", text(&u.Theme)), fixed("created_at", number(&u.CreatedAt)), col("updated_at", number(&u.UpdatedAt)),
		col("break_glass", flag(&u.BreakGlass)), fixed("provided_at", number(&u.ProvidedAt)),
	}
})

func userFields(u *rimewatch.User) store.Fields {
	return store.Fields{"email": u.Email, "name": u.Name, "language": u.Language, "units": u.Units, "clock": u.Clock, "dates": u.Dates, "theme": u.Theme}
}

func insertUser(conn Conn, u *rimewatch.User) (err error) {
	u.Email = rimewatch.EmailKey(u.Email)
	u.ID, err = userTable.insert(conn, u)
	return err
}

// CreateUser implements store.People.
func (t People) CreateUser(ctx context.Context, u *rimewatch.User) error {
	if err := u.Check(); err != nil {
		return err
	}
	return t.write(ctx, func(conn Conn) error { return insertUser(conn, u) })
}

// UpdateUser implements store.People.
func (t People) UpdateUser(ctx context.Context, id int64, change func(*rimewatch.User) error) (u rimewatch.User, err error) {
	err = t.write(ctx, func(conn Conn) error {
		old, err := userTable.find(conn, "id = ?", id)
		if err != nil {
			return err
		}
		u = old
		if err := change(&u); err != nil {
			return err
		}
		userTable.keep(&u, &old, func(c column) bool { return c.given || c.fixed })
		u.Email = rimewatch.EmailKey(u.Email)
		if err := u.Check(); err != nil {
			return err
		}
		if err := userTable.update(conn, &u, id); err != nil {
			return err
		}
		if diff := store.Difference(userFields(&old), userFields(&u)); len(diff) > 0 {
			return t.auditUser(ctx, conn, id, "user.updated", diff)
		}
		return nil
	})
	if err != nil {
		return rimewatch.User{}, err
	}
	return u, nil
}

// User implements store.People.
func (t People) User(ctx context.Context, id int64) (rimewatch.User, error) {
	return userTable.first(ctx, t.base, "id = ?", id)
}

// UserByEmail implements store.People.
func (t People) UserByEmail(ctx context.Context, email string) (u rimewatch.User, err error) {
	if rimewatch.CheckText(nil, "email", email, rimewatch.MaxEmailLen) != nil {
		return u, errUser()
	}
	return userTable.first(ctx, t.base, "email = ?", rimewatch.EmailKey(email))
}

func countUsers(conn Conn) (n int, err error) {
	err = each(conn, "SELECT count(*) FROM person", func(row Row) { n = row.ColumnInt(0) })
	return n, err
}

// UserCount implements store.People.
func (t People) UserCount(ctx context.Context) (n int, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		n, err = countUsers(conn)
		return err
	})
	return n, err
}

// CreateFirstOwner implements store.People.
func (t People) CreateFirstOwner(ctx context.Context, w *rimewatch.Workspace, u *rimewatch.User) error {
	if err := w.Check(); err != nil {
		return err
	}
	if err := u.Check(); err != nil {
		return err
	}
	ctx = store.WithActorElse(ctx, u.Label())
	return t.write(ctx, func(conn Conn) error {
		n, err := countUsers(conn)
		if err != nil {
			return err
		}
		if n > 0 {
			return rimewatch.Errorf(rimewatch.CodeConflict, "There is already a user.")
		}
		old, err := workspaceTable.find(conn, "name_key = ?", rimewatch.TextKey(w.Name))
		switch rimewatch.CodeOf(err) {
		case "":
			*w = old
		case rimewatch.CodeNotFound:
			err = t.insertWorkspace(ctx, conn, w)
		}
		if err != nil {
			return err
		}
		if err := insertUser(conn, u); err != nil {
			return err
		}
		return t.putMember(ctx, conn, &rimewatch.Member{WorkspaceID: w.ID, UserID: u.ID, Role: rimewatch.RoleOwner, CreatedAt: u.CreatedAt})
	})
}

// setPassword changes a password and ends the sessions and links of the old one.
func (t People) setPassword(ctx context.Context, conn Conn, userID int64, passwordHash string, now rimewatch.Time) error {
	err := execOne(conn, errUser(), "UPDATE person SET password_hash = ?, updated_at = ? WHERE id = ?", passwordHash, int64(now), userID)
	if err == nil {
		_, err = exec(conn, "DELETE FROM session WHERE user_id = ?", userID)
	}
	if err == nil {
		_, err = exec(conn, "DELETE FROM password_link WHERE user_id = ?", userID)
	}
	if err == nil {
		err = t.auditUser(ctx, conn, userID, "user.password_set", nil)
	}
	return err
}

func checkPasswordHash(hash string) error {
	if e := rimewatch.CheckText(nil, "password", hash, rimewatch.MaxPasswordHashLen); e != nil {
		return e
	}
	return nil
}

// SetPassword implements store.People.
func (t People) SetPassword(ctx context.Context, userID int64, passwordHash string, now rimewatch.Time) error {
	if err := checkPasswordHash(passwordHash); err != nil {
		return err
	}
	return t.write(ctx, func(conn Conn) error { return t.setPassword(ctx, conn, userID, passwordHash, now) })
}

// CreatePasswordLink implements store.People.
func (t People) CreatePasswordLink(ctx context.Context, l *store.PasswordLink) error {
	return t.write(ctx, func(conn Conn) error {
		_, err := exec(conn, `INSERT INTO password_link (user_id, hash, created_at, expires_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, created_at = excluded.created_at, expires_at = excluded.expires_at`,
			l.UserID, l.Hash[:], int64(l.CreatedAt), int64(l.ExpiresAt))
		if err != nil {
			return unique(err, rimewatch.Errorf(rimewatch.CodeConflict, "This link already exists."))
		}
		return t.auditUser(ctx, conn, l.UserID, "user.reset_requested", store.Fields{"expires_at": l.ExpiresAt})
	})
}

func findPasswordLink(conn Conn, hash [32]byte, now rimewatch.Time) (l store.PasswordLink, err error) {
	missing := rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such link.")
	err = one(conn, missing, "SELECT user_id, created_at, expires_at FROM password_link WHERE hash = ? AND expires_at > ?", func(row Row) {
		l = store.PasswordLink{Hash: hash, UserID: row.ColumnInt64(0), CreatedAt: columnTime(row, 1), ExpiresAt: columnTime(row, 2)}
	}, hash[:], int64(now))
	return l, err
}

// PasswordLink implements store.People.
func (t People) PasswordLink(ctx context.Context, hash [32]byte, now rimewatch.Time) (l store.PasswordLink, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		l, err = findPasswordLink(conn, hash, now)
		return err
	})
	return l, err
}

// UsePasswordLink implements store.People.
func (t People) UsePasswordLink(ctx context.Context, hash [32]byte, passwordHash string, now rimewatch.Time) error {
	if err := checkPasswordHash(passwordHash); err != nil {
		return err
	}
	return t.write(ctx, func(conn Conn) error {
		l, err := findPasswordLink(conn, hash, now)
		if err != nil {
			return err
		}
		u, err := userTable.find(conn, "id = ?", l.UserID)
		if err != nil {
			return err
		}
		return t.setPassword(store.WithActorElse(ctx, u.Label()), conn, l.UserID, passwordHash, now)
	})
}

func errMember() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such member.") }

func memberColumns(m *rimewatch.Member) []column {
	return as("m", []column{
		col("workspace_id", number(&m.WorkspaceID)), col("user_id", number(&m.UserID)), col("role", text(&m.Role)), col("sites", sites(&m.Sites)),
		col("provided", flag(&m.Provided)), col("created_at", number(&m.CreatedAt)),
	})
}

// membership is a member with the number of the workspace's owners.
type membership struct {
	rimewatch.Member
	owners int
}

var (
	membershipTable = shapeOf("member m", errMember, nil, func(m *membership) []column {
		return append(memberColumns(&m.Member), given("(SELECT count(*) FROM member o WHERE o.workspace_id = m.workspace_id AND o.role = 'owner')", number(&m.owners)))
	})
	memberViews = shapeOf("member m JOIN person u ON u.id = m.user_id", errMember, nil, func(m *store.MemberView) []column {
		return append(memberColumns(&m.Member), given("u.email", text(&m.Email)), given("u.name", text(&m.Name)))
	})
	workspacesOf = shapeOf("member m JOIN workspace w ON w.id = m.workspace_id", errMember, nil, func(m *store.MembershipView) []column {
		return append(memberColumns(&m.Member), given("w.name", text(&m.WorkspaceName)), given("w.slug", text(&m.WorkspaceSlug)), given("w.require_second_factor", flag(&m.RequireSecondFactor)))
	})
)

// findMember returns a membership and the number of the workspace's owners.
func findMember(conn Conn, workspaceID, userID int64) (rimewatch.Member, int, error) {
	m, err := membershipTable.find(conn, "m.workspace_id = ? AND m.user_id = ?", workspaceID, userID)
	return m.Member, m.owners, err
}

func errLastOwner() error {
	return rimewatch.Errorf(rimewatch.CodeConflict, "A workspace must have at least one owner.")
}

// keepsOwner refuses (CodeConflict) a change that leaves a workspace without an owner: that a
// member has another role, or none (""). CodeNotFound where there is no such member.
func keepsOwner(conn Conn, workspaceID, userID int64, role rimewatch.Role) error {
	m, owners, err := findMember(conn, workspaceID, userID)
	if err == nil && m.Role == rimewatch.RoleOwner && role != rimewatch.RoleOwner && owners == 1 {
		return errLastOwner()
	}
	return err
}

func (t People) putMember(ctx context.Context, conn Conn, m *rimewatch.Member) error {
	old, _, err := findMember(conn, m.WorkspaceID, m.UserID)
	switch rimewatch.CodeOf(err) {
	case "":
		m.CreatedAt = old.CreatedAt
	case rimewatch.CodeNotFound:
	default:
		return err
	}
	_, err = exec(conn, `INSERT INTO member (workspace_id, user_id, role, sites, provided, created_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = excluded.role, sites = excluded.sites, provided = excluded.provided`,
		m.WorkspaceID, m.UserID, string(m.Role), m.Sites.Text(), m.Provided, int64(m.CreatedAt))
	if err != nil || old.Role == m.Role && old.Sites.Text() == m.Sites.Text() {
		return err
	}
	if !m.Role.AtLeast(old.Role) {
		if err := t.endInvitationsBy(ctx, conn, m.WorkspaceID, m.UserID); err != nil {
			return err
		}
	}
	u, err := userTable.find(conn, "id = ?", m.UserID)
	if err != nil {
		return err
	}
	if old.Role == "" {
		detail := store.Fields{"email": u.Email, "role": m.Role}
		if m.Sites != nil {
			detail["site_ids"] = m.Sites
		}
		return t.audit(ctx, conn, m.WorkspaceID, "member.added", subject("user", m.UserID), detail)
	}
	detail := store.Difference(store.Fields{"role": old.Role, "site_ids": old.Sites}, store.Fields{"role": m.Role, "site_ids": m.Sites})
	detail["email"] = u.Email
	return t.audit(ctx, conn, m.WorkspaceID, "member.updated", subject("user", m.UserID), detail)
}

// PutMember implements store.People.
func (t People) PutMember(ctx context.Context, m *rimewatch.Member) error {
	if err := m.Check(); err != nil {
		return err
	}
	return t.write(ctx, func(conn Conn) error {
		if err := keepsOwner(conn, m.WorkspaceID, m.UserID, m.Role); err != nil && rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
			return err
		}
		return t.putMember(ctx, conn, m)
	})
}

// DeleteMember implements store.People.
func (t People) DeleteMember(ctx context.Context, workspaceID, userID int64, now rimewatch.Time) (tokens []int64, err error) {
	err = t.write(ctx, func(conn Conn) (err error) {
		tokens, err = t.deleteMember(ctx, conn, workspaceID, userID, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	return tokens, nil
}

func (t People) deleteMember(ctx context.Context, conn Conn, workspaceID, userID int64, now rimewatch.Time) (tokens []int64, err error) {
	if err := keepsOwner(conn, workspaceID, userID, ""); err != nil {
		return nil, err
	}
	if tokens, err = t.revokeTokensBy(ctx, conn, workspaceID, userID, now); err != nil {
		return nil, err
	}
	return tokens, t.endMembership(ctx, conn, workspaceID, userID)
}

// endMembership ends a membership with the invitations that the member made; tokens
// are the caller's.
func (t People) endMembership(ctx context.Context, conn Conn, workspaceID, userID int64) error {
	m, _, err := findMember(conn, workspaceID, userID)
	if err != nil {
		return err
	}
	u, err := userTable.find(conn, "id = ?", userID)
	if err != nil {
		return err
	}
	if err := t.endInvitationsBy(ctx, conn, workspaceID, userID); err != nil {
		return err
	}
	if _, err := exec(conn, "DELETE FROM member WHERE workspace_id = ? AND user_id = ?", workspaceID, userID); err != nil {
		return err
	}
	return t.audit(ctx, conn, workspaceID, "member.removed", subject("user", userID), store.Fields{"email": u.Email, "role": m.Role})
}

// EraseUser implements store.People.
func (t People) EraseUser(ctx context.Context, userID int64, now rimewatch.Time) (tokens []int64, err error) {
	err = t.write(ctx, func(conn Conn) error {
		if _, err := userTable.find(conn, "id = ?", userID); err != nil {
			return err
		}
		var workspaces []int64
		err := each(conn, "SELECT workspace_id FROM member WHERE user_id = ? ORDER BY workspace_id",
			func(row Row) { workspaces = append(workspaces, row.ColumnInt64(0)) }, userID)
		for _, id := range workspaces {
			if err == nil {
				var ended []int64
				ended, err = t.deleteMember(ctx, conn, id, userID, now)
				tokens = append(tokens, ended...)
			}
		}
		for _, table := range []string{"session", "password_link", "recovery_code", "second_factor", "identity"} {
			if err == nil {
				_, err = exec(conn, "DELETE FROM "+table+" WHERE user_id = ?", userID)
			}
		}
		if err == nil {
			_, err = exec(conn, "DELETE FROM person WHERE id = ?", userID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return tokens, nil
}

// Members implements store.People.
func (t People) Members(ctx context.Context, workspaceID int64) ([]store.MemberView, error) {
	return memberViews.all(ctx, t.base, "m.workspace_id = ? ORDER BY m.user_id", workspaceID)
}

// Memberships implements store.People.
func (t People) Memberships(ctx context.Context, userID int64) ([]store.MembershipView, error) {
	return workspacesOf.all(ctx, t.base, "m.user_id = ? ORDER BY m.workspace_id", userID)
}
