package tables

import (
	"context"
	"maps"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func errNoAccess() error {
	return rimewatch.Errorf(rimewatch.CodeForbidden, "Your account at the provider gives no access here.")
}

// AdmitIdentity implements store.People.
func (t People) AdmitIdentity(ctx context.Context, a store.Admission) (out store.Admitted, err error) {
	if err := a.Check(); err != nil {
		return out, err
	}
	if err := a.Person.Check(); err != nil {
		return out, err
	}
	ctx = store.WithActorElse(ctx, a.Person.Label())
	var refused error
	err = t.write(ctx, func(conn Conn) (err error) {
		out, refused, err = t.admit(ctx, conn, &a)
		return err
	})
	if err != nil {
		return store.Admitted{}, err
	}
	return out, refused
}

// admit is AdmitIdentity in a transaction, which is committed with a refusal.
func (t People) admit(ctx context.Context, conn Conn, a *store.Admission) (out store.Admitted, refused, err error) {
	u, known, err := findNamed(conn, a)
	if err != nil {
		return out, nil, err
	}
	out.User = u
	has := make(map[int64]bool) // workspace → by a provider
	if u.ID != 0 {
		if err := each(conn, "SELECT workspace_id, provided FROM member WHERE user_id = ?", func(row Row) { has[row.ColumnInt64(0)] = row.ColumnBool(1) }, u.ID); err != nil {
			return out, nil, err
		}
	}
	if known {
		if out.Left, err = t.withdraw(ctx, conn, a, u.ID, has); err != nil {
			return out, nil, err
		}
	}
	switch {
	case u.PasswordHash != "" && a.Proven != u.ID && !(known && u.BreakGlass):
		return out, store.ErrUnproven, nil
	case len(a.Grants) == 0 && !slices.Contains(slices.Collect(maps.Values(has)), false):
		if u.ID != 0 && known {
			_, err = exec(conn, "DELETE FROM session WHERE user_id = ?", u.ID)
		}
		return out, errNoAccess(), err
	}
	if !known {
		if err := identify(conn, a, &u); err != nil {
			return out, nil, err
		}
	}
	out.User = u
	if err := t.grant(ctx, conn, a, u.ID, has); err != nil {
		return out, nil, err
	}
	if err := t.vouch(ctx, conn, a, &u); err != nil {
		return out, nil, err
	}
	if !known {
		err = t.auditUser(ctx, conn, u.ID, "user.identified", store.Fields{"issuer": a.Issuer, "subject": a.Subject})
	}
	out.User = u
	return out, nil, err
}

// findNamed finds the person that a provider names, and reports whether the
// provider has named that person before. One who is new to it is the one with the
// same address, or a.Person, which is not stored yet.
func findNamed(conn Conn, a *store.Admission) (u rimewatch.User, known bool, err error) {
	id, err := queryInt(conn, "SELECT user_id FROM identity WHERE issuer = ? AND subject = ?", a.Issuer, a.Subject)
	if err != nil {
		return u, false, err
	}
	if id != 0 {
		u, err = userTable.find(conn, "id = ?", id)
		return u, true, err
	}
	u, err = userTable.find(conn, "email = ?", rimewatch.EmailKey(a.Person.Email))
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
		return a.Person, false, nil
	}
	return u, false, err
}

// identify notes whom a provider names, and stores a person who is new. Whoever has
// shown the account's password is who it belongs to, whatever was noted before.
func identify(conn Conn, a *store.Admission, u *rimewatch.User) (err error) {
	if u.ID == 0 {
		err = insertUser(conn, u)
	} else if a.Proven == u.ID {
		_, err = exec(conn, "DELETE FROM identity WHERE issuer = ? AND user_id = ?", a.Issuer, u.ID)
	}
	if err != nil {
		return err
	}
	_, err = exec(conn, "INSERT INTO identity (issuer, subject, user_id) VALUES (?, ?, ?)", a.Issuer, a.Subject, u.ID)
	return unique(err, rimewatch.Errorf(rimewatch.CodeForbidden, "The provider knows this address as another person's."))
}

// withdraw ends the memberships that a provider granted and grants no more.
func (t People) withdraw(ctx context.Context, conn Conn, a *store.Admission, userID int64, has map[int64]bool) (left []store.Withdrawal, err error) {
	for _, id := range slices.Sorted(maps.Keys(has)) {
		if _, still := a.Grants[id]; still || !has[id] {
			continue
		}
		delete(has, id)
		w, err := t.narrowTokens(ctx, conn, userID, id, a.At)
		if err != nil {
			return nil, err
		}
		for _, k := range w.Kept {
			if _, err := exec(conn, "UPDATE token SET created_by = 0 WHERE id = ?", k.ID); err != nil {
				return nil, err
			}
			if err := t.audit(ctx, conn, id, "token.taken_over", subject("token", k.ID), store.Fields{"name": k.Name}); err != nil {
				return nil, err
			}
		}
		if err := t.endMembership(ctx, conn, id, userID); err != nil {
			return nil, err
		}
		left = append(left, w)
	}
	return left, nil
}

// grant makes the memberships of a.Grants where no person has given one.
func (t People) grant(ctx context.Context, conn Conn, a *store.Admission, userID int64, has map[int64]bool) error {
	for _, id := range slices.Sorted(maps.Keys(a.Grants)) {
		if provided, member := has[id]; member && !provided {
			continue
		}
		m := rimewatch.Member{WorkspaceID: id, UserID: userID, Role: a.Grants[id], CreatedAt: t.now(), Provided: true}
		if old, _, err := findMember(conn, id, userID); err == nil && !m.Role.AtLeast(rimewatch.RoleAdmin) {
			m.Sites = old.Sites // the provider knows nothing of them
		}
		if err := m.Check(); err != nil {
			return err
		}
		if err := t.putMember(ctx, conn, &m); err != nil {
			return err
		}
	}
	return nil
}

// vouch notes a sign-in at a provider, which from then on takes the place of a
// password and its second factor.
func (t People) vouch(ctx context.Context, conn Conn, a *store.Admission, u *rimewatch.User) error {
	if _, err := exec(conn, "UPDATE person SET provided_at = ?, lapse_told = 0 WHERE id = ?", int64(a.At), u.ID); err != nil {
		return err
	}
	u.ProvidedAt = a.At
	if u.PasswordHash == "" || u.BreakGlass {
		return nil
	}
	u.PasswordHash = ""
	for _, q := range []string{
		"UPDATE person SET password_hash = '' WHERE id = ?", "DELETE FROM session WHERE user_id = ? AND provided = 0",
		"DELETE FROM password_link WHERE user_id = ?", "DELETE FROM recovery_code WHERE user_id = ?", "DELETE FROM second_factor WHERE user_id = ?",
	} {
		if _, err := exec(conn, q, u.ID); err != nil {
			return err
		}
	}
	return t.auditUser(ctx, conn, u.ID, "user.password_removed", nil)
}

// LeaveProvider implements store.People.
func (t People) LeaveProvider(ctx context.Context, userID int64) error {
	return t.write(ctx, func(conn Conn) error {
		if _, err := userTable.find(conn, "id = ?", userID); err != nil {
			return err
		}
		for _, q := range []string{
			"DELETE FROM identity WHERE user_id = ?", "UPDATE member SET provided = 0 WHERE user_id = ?", "UPDATE person SET provided_at = 0, lapse_told = 0 WHERE id = ?",
		} {
			if _, err := exec(conn, q, userID); err != nil {
				return err
			}
		}
		return t.auditUser(ctx, conn, userID, "user.made_local", nil)
	})
}

// SetBreakGlass implements store.People.
func (t People) SetBreakGlass(ctx context.Context, userID int64) error {
	return t.write(ctx, func(conn Conn) error {
		if _, err := exec(conn, "UPDATE person SET break_glass = 0 WHERE break_glass <> 0"); err != nil {
			return err
		}
		if err := execOne(conn, errUser(), "UPDATE person SET break_glass = 1 WHERE id = ?", userID); err != nil {
			return err
		}
		return t.auditUser(ctx, conn, userID, "user.break_glass_named", nil)
	})
}

// Lapsing implements store.People.
func (t People) Lapsing(ctx context.Context) (list []store.Lapse, err error) {
	err = t.read(ctx, func(conn Conn) error {
		return each(conn, `SELECT u.id, u.provided_at, u.lapse_told FROM person u WHERE u.password_hash = ''
			AND EXISTS (SELECT 1 FROM token k WHERE k.created_by = u.id AND k.revoked_at = 0 AND k.scopes <> ?) ORDER BY u.id`, func(row Row) {
			list = append(list, store.Lapse{UserID: row.ColumnInt64(0), Since: columnTime(row, 1), Told: row.ColumnInt(2)})
		}, int64(rimewatch.ScopesIngest))
	})
	return list, err
}

// stillLapsing reports whether a lapse is as it was read.
func stillLapsing(conn Conn, was store.Lapse) (bool, error) {
	n, err := queryInt(conn, "SELECT count(*) FROM person WHERE id = ? AND password_hash = '' AND provided_at = ? AND lapse_told = ?", was.UserID, int64(was.Since), was.Told)
	return n > 0, err
}

// PutLapse implements store.People.
func (t People) PutLapse(ctx context.Context, was, is store.Lapse, detail store.Fields) (done bool, err error) {
	err = t.write(ctx, func(conn Conn) (err error) {
		if done, err = stillLapsing(conn, was); err != nil || !done {
			return err
		}
		_, err = exec(conn, "UPDATE person SET provided_at = ?, lapse_told = ? WHERE id = ?", int64(is.Since), is.Told, was.UserID)
		if err != nil || detail == nil {
			return err
		}
		return t.auditUser(ctx, conn, was.UserID, "user.tokens_lapse", detail)
	})
	return done, err
}

// EndLapsed implements store.People.
func (t People) EndLapsed(ctx context.Context, was store.Lapse, now rimewatch.Time) (all []store.Withdrawal, err error) {
	err = t.write(ctx, func(conn Conn) error {
		all = nil
		if still, err := stillLapsing(conn, was); err != nil || !still {
			return err
		}
		var workspaces []int64
		err := each(conn, "SELECT DISTINCT workspace_id FROM token WHERE created_by = ? AND revoked_at = 0 ORDER BY workspace_id",
			func(row Row) { workspaces = append(workspaces, row.ColumnInt64(0)) }, was.UserID)
		for _, id := range workspaces {
			if err != nil {
				return err
			}
			var w store.Withdrawal
			w, err = t.narrowTokens(ctx, conn, was.UserID, id, now)
			all = append(all, w)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// narrowTokens leaves the tokens that a person made for a workspace nothing but
// sending readings, and ends those that could not: no device goes silent.
func (b *base) narrowTokens(ctx context.Context, conn Conn, userID, workspaceID int64, now rimewatch.Time) (w store.Withdrawal, err error) {
	w.WorkspaceID = workspaceID
	made, err := tokenTable.list(conn, "workspace_id = ? AND created_by = ? AND revoked_at = 0 ORDER BY id", workspaceID, userID)
	if err != nil {
		return w, err
	}
	for i := range made {
		k := made[i]
		if !k.Scopes.Has(rimewatch.ScopesIngest) {
			if err := b.revokeToken(ctx, conn, &k, now); err != nil {
				return w, err
			}
			w.Ended = append(w.Ended, k)
			continue
		}
		if k.Scopes != rimewatch.ScopesIngest {
			if _, err := exec(conn, "UPDATE token SET scopes = ? WHERE id = ?", int64(rimewatch.ScopesIngest), k.ID); err != nil {
				return w, err
			}
			diff := store.Difference(store.Fields{"scopes": k.Scopes.Names()}, store.Fields{"scopes": rimewatch.ScopesIngest.Names()})
			diff["name"] = k.Name
			if err := b.audit(ctx, conn, workspaceID, "token.narrowed", subject("token", k.ID), diff); err != nil {
				return w, err
			}
		}
		w.Kept = append(w.Kept, k)
	}
	return w, nil
}

// Ownerless implements store.People.
func (t People) Ownerless(ctx context.Context) ([]rimewatch.Workspace, error) {
	return workspaceTable.all(ctx, t.base, ownerless+" ORDER BY id")
}

// ownerless is the condition on a workspace that has no owner and is not about to be
// erased.
const ownerless = "delete_at = 0 AND NOT EXISTS (SELECT 1 FROM member o WHERE o.workspace_id = workspace.id AND o.role = 'owner')"
