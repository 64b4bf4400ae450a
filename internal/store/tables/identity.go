package tables

import (
	"context"
	"maps"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// AdmitIdentity implements store.Control.
func (t People) AdmitIdentity(ctx context.Context, id store.Identification, u rimewatch.User, grants map[int64]rimewatch.Role) (rimewatch.User, error) {
	if err := id.Check(); err != nil {
		return u, err
	}
	if err := u.Check(); err != nil {
		return u, err
	}
	ctx = store.WithActorElse(ctx, u.Label())
	err := t.write(ctx, func(conn Conn) (err error) {
		var isNew bool
		if u, isNew, err = findIdentified(conn, id, u); err != nil {
			return err
		}
		if err := t.grant(ctx, conn, u.ID, grants); err != nil {
			return err
		}
		n, err := queryInt(conn, "SELECT count(*) FROM member WHERE user_id = ?", u.ID)
		switch {
		case err != nil:
			return err
		case n == 0:
			return rimewatch.Errorf(rimewatch.CodeForbidden, "Your account at the provider gives no access here.")
		case isNew:
			return t.auditUser(ctx, conn, u.ID, "user.identified", store.Fields{"issuer": id.Issuer, "subject": id.Subject})
		}
		return nil
	})
	return u, err
}

// findIdentified finds the person whom a provider names; one who is new to the
// provider is u.
func findIdentified(conn Conn, id store.Identification, u rimewatch.User) (_ rimewatch.User, isNew bool, err error) {
	known, err := queryInt(conn, "SELECT user_id FROM identity WHERE issuer = ? AND subject = ?", id.Issuer, id.Subject)
	if err != nil {
		return u, false, err
	}
	if known != 0 {
		u, err = userTable.find(conn, "id = ?", known)
		return u, false, err
	}
	found, err := userTable.find(conn, "email = ?", rimewatch.EmailKey(u.Email))
	switch rimewatch.CodeOf(err) {
	case "":
		u = found
	case rimewatch.CodeNotFound:
		err = insertUser(conn, &u)
	}
	if err == nil {
		_, err = exec(conn, "INSERT INTO identity (issuer, subject, user_id) VALUES (?, ?, ?)", id.Issuer, id.Subject, u.ID)
		err = unique(err, rimewatch.Errorf(rimewatch.CodeForbidden, "The provider knows this address as another person's."))
	}
	return u, true, err
}

// grant makes the memberships that a provider has given to a person those of
// grants.
func (t People) grant(ctx context.Context, conn Conn, userID int64, grants map[int64]rimewatch.Role) error {
	has := make(map[int64]bool) // workspace → by the provider
	err := each(conn, "SELECT workspace_id, provided FROM member WHERE user_id = ?", func(row Row) { has[row.ColumnInt64(0)] = row.ColumnBool(1) }, userID)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(has)) {
		if _, still := grants[id]; still || !has[id] {
			continue
		}
		if _, err := t.deleteMember(ctx, conn, id, userID, t.now()); err != nil && rimewatch.CodeOf(err) != rimewatch.CodeConflict {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(grants)) {
		if provided, member := has[id]; member && !provided {
			continue
		}
		m := rimewatch.Member{WorkspaceID: id, UserID: userID, Role: grants[id], CreatedAt: t.now(), Provided: true}
		if old, _, err := findMember(conn, id, userID); err == nil && !m.Role.AtLeast(rimewatch.RoleAdmin) {
			m.Sites = old.Sites // the provider knows nothing of them
		}
		if err := m.Check(); err != nil {
			return err
		}
		if err := t.putMember(ctx, conn, &m); err != nil && rimewatch.CodeOf(err) != rimewatch.CodeConflict {
			return err
		}
	}
	return nil
}
