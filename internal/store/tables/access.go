package tables

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func errSession() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such session.") }

const sessionColumns = "id, hash, user_id, workspace_id, user_agent, address, created_at, last_used_at, expires_at, strong, ends_at"

func scanSession(row Row) store.Session {
	x := store.Session{
		ID: row.ColumnInt64(0), UserID: row.ColumnInt64(2), WorkspaceID: row.ColumnInt64(3),
		UserAgent: row.ColumnText(4), Address: row.ColumnText(5),
		CreatedAt: columnTime(row, 6), LastUsedAt: columnTime(row, 7), ExpiresAt: columnTime(row, 8),
		Strong: row.ColumnBool(9), EndsAt: columnTime(row, 10),
	}
	row.ColumnBytes(1, x.Hash[:])
	return x
}

// CreateSession implements store.Control.
func (a Access) CreateSession(ctx context.Context, x *store.Session) error {
	if err := x.Check(); err != nil {
		return err
	}
	return a.write(ctx, func(conn Conn) (err error) {
		x.ID, err = insert(conn, rimewatch.Errorf(rimewatch.CodeConflict, "This session exists already."),
			"INSERT INTO session (hash, user_id, workspace_id, user_agent, address, created_at, last_used_at, expires_at, strong, ends_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			x.Hash[:], x.UserID, x.WorkspaceID, x.UserAgent, x.Address, int64(x.CreatedAt), int64(x.LastUsedAt), int64(x.ExpiresAt), x.Strong, int64(x.EndsAt))
		return err
	})
}

// Session implements store.Control.
func (a Access) Session(ctx context.Context, hash [32]byte, now rimewatch.Time) (x store.Session, err error) {
	err = a.read(ctx, func(conn Conn) error {
		return one(conn, errSession(), "SELECT "+sessionColumns+" FROM session WHERE hash = ? AND expires_at > ?",
			func(row Row) { x = scanSession(row) }, hash[:], int64(now))
	})
	return x, err
}

// TouchSession implements store.Control.
func (a Access) TouchSession(ctx context.Context, id int64, lastUsed, expires rimewatch.Time) error {
	return a.write(ctx, func(conn Conn) error {
		n, err := exec(conn, `UPDATE session SET last_used_at = CASE WHEN last_used_at < ? THEN ? ELSE last_used_at END,
			expires_at = CASE WHEN expires_at < ? THEN ? ELSE expires_at END WHERE id = ?`,
			int64(lastUsed), int64(lastUsed), int64(expires), int64(expires), id)
		if err == nil && n == 0 {
			return errSession()
		}
		return err
	})
}

// Sessions implements store.Control.
func (a Access) Sessions(ctx context.Context, userID int64, now rimewatch.Time) (list []store.Session, err error) {
	err = a.read(ctx, func(conn Conn) error {
		return each(conn, "SELECT "+sessionColumns+" FROM session WHERE user_id = ? AND expires_at > ? ORDER BY id",
			func(row Row) { list = append(list, scanSession(row)) }, userID, int64(now))
	})
	return list, err
}

// DeleteSession implements store.Control.
func (a Access) DeleteSession(ctx context.Context, userID, id int64) error {
	return a.write(ctx, func(conn Conn) error {
		n, err := exec(conn, "DELETE FROM session WHERE id = ? AND user_id = ?", id, userID)
		if err == nil && n == 0 {
			return errSession()
		}
		return err
	})
}

// DeleteSessions implements store.Control.
func (a Access) DeleteSessions(ctx context.Context, userID, keep int64) error {
	return a.write(ctx, func(conn Conn) error {
		_, err := exec(conn, "DELETE FROM session WHERE user_id = ? AND id <> ?", userID, keep)
		return err
	})
}

// SetSessionWorkspace implements store.Control.
func (a Access) SetSessionWorkspace(ctx context.Context, userID, id, workspaceID int64) error {
	return a.write(ctx, func(conn Conn) error {
		if _, _, err := findMember(conn, workspaceID, userID); err != nil {
			return err
		}
		n, err := exec(conn, "UPDATE session SET workspace_id = ? WHERE id = ? AND user_id = ?", workspaceID, id, userID)
		if err == nil && n == 0 {
			return errSession()
		}
		return err
	})
}

// DeleteExpired implements store.Control.
func (a Access) DeleteExpired(ctx context.Context, now rimewatch.Time) error {
	if err := a.expireAnswers(ctx, now); err != nil {
		return err
	}
	return a.write(ctx, func(conn Conn) error {
		if _, err := exec(conn, "DELETE FROM session WHERE expires_at <= ?", int64(now)); err != nil {
			return err
		}
		if _, err := exec(conn, "DELETE FROM password_link WHERE expires_at <= ?", int64(now)); err != nil {
			return err
		}
		_, err := exec(conn, "DELETE FROM invitation WHERE expires_at <= ?", int64(now-store.InvitationGrace))
		return err
	})
}

func errToken() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such token.") }

const tokenColumns = "t.id, t.workspace_id, t.name, t.prefix, t.hash, t.scopes, t.created_by, t.created_at, t.expires_at, t.revoked_at, t.last_used_at, t.sites"

func scanToken(row Row) rimewatch.Token {
	t := rimewatch.Token{
		ID: row.ColumnInt64(0), WorkspaceID: row.ColumnInt64(1), Name: row.ColumnText(2), Prefix: row.ColumnText(3),
		Scopes: rimewatch.Scopes(row.ColumnInt64(5)), CreatedBy: row.ColumnInt64(6), CreatedAt: columnTime(row, 7),
		ExpiresAt: columnTime(row, 8), RevokedAt: columnTime(row, 9), LastUsedAt: columnTime(row, 10), Sites: rimewatch.ParseSites(row.ColumnText(11)),
	}
	row.ColumnBytes(4, t.Hash[:])
	return t
}

// CreateToken implements store.Control.
func (a Access) CreateToken(ctx context.Context, t *rimewatch.Token) error {
	if err := t.Check(); err != nil {
		return err
	}
	return a.write(ctx, func(conn Conn) (err error) {
		if err := room(conn, rimewatch.Sentencef("tokens"), a.quotas.Tokens, "SELECT count(*) FROM token WHERE workspace_id = ? AND revoked_at = 0", t.WorkspaceID); err != nil {
			return err
		}
		t.ID, err = insert(conn, rimewatch.Errorf(rimewatch.CodeConflict, "This token exists already."),
			`INSERT INTO token (workspace_id, name, prefix, hash, scopes, sites, created_by, created_at, expires_at, revoked_at, last_used_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			t.WorkspaceID, t.Name, t.Prefix, t.Hash[:], int64(t.Scopes), t.Sites.Text(), t.CreatedBy, int64(t.CreatedAt), int64(t.ExpiresAt), int64(t.RevokedAt), int64(t.LastUsedAt))
		if err != nil {
			return err
		}
		detail := store.Fields{"name": t.Name, "scopes": t.Scopes.Names(), "expires_at": t.ExpiresAt}
		if t.Sites != nil {
			detail["site_ids"] = t.Sites
		}
		return a.audit(ctx, conn, t.WorkspaceID, "token.created", subject("token", t.ID), detail)
	})
}

// TokenByHash implements store.Control.
func (a Access) TokenByHash(ctx context.Context, hash [32]byte) (t rimewatch.Token, err error) {
	err = a.read(ctx, func(conn Conn) error {
		return one(conn, errToken(), "SELECT "+tokenColumns+" FROM token t WHERE t.hash = ?",
			func(row Row) { t = scanToken(row) }, hash[:])
	})
	return t, err
}

// Tokens implements store.Control.
func (a Access) Tokens(ctx context.Context, workspaceID int64) (list []store.TokenView, err error) {
	err = a.read(ctx, func(conn Conn) error {
		return each(conn, "SELECT "+tokenColumns+`, coalesce(nullif(u.name, ''), u.email, '')
			FROM token t LEFT JOIN person u ON u.id = t.created_by WHERE t.workspace_id = ? ORDER BY t.id`, func(row Row) {
			list = append(list, store.TokenView{Token: scanToken(row), CreatedByName: row.ColumnText(12)})
		}, workspaceID)
	})
	return list, err
}

// RevokeToken implements store.Control.
func (a Access) RevokeToken(ctx context.Context, workspaceID, id int64, now rimewatch.Time) error {
	return a.write(ctx, func(conn Conn) error {
		var t rimewatch.Token
		err := one(conn, errToken(), "SELECT "+tokenColumns+" FROM token t WHERE t.id = ? AND t.workspace_id = ?",
			func(row Row) { t = scanToken(row) }, id, workspaceID)
		if err != nil || t.RevokedAt != 0 {
			return err
		}
		return a.revokeToken(ctx, conn, &t, now)
	})
}

func (b *base) revokeToken(ctx context.Context, conn Conn, t *rimewatch.Token, now rimewatch.Time) error {
	if _, err := exec(conn, "UPDATE token SET revoked_at = ? WHERE id = ?", int64(now), t.ID); err != nil {
		return err
	}
	return b.audit(ctx, conn, t.WorkspaceID, "token.revoked", subject("token", t.ID), store.Fields{"name": t.Name})
}

// revokeTokensBy ends the tokens that a member made and returns their ids.
func (b *base) revokeTokensBy(ctx context.Context, conn Conn, workspaceID, userID int64, now rimewatch.Time) (ids []int64, err error) {
	var made []rimewatch.Token
	err = each(conn, "SELECT "+tokenColumns+" FROM token t WHERE t.workspace_id = ? AND t.created_by = ? AND t.revoked_at = 0 ORDER BY t.id",
		func(row Row) { made = append(made, scanToken(row)) }, workspaceID, userID)
	for i := range made {
		if err == nil {
			ids = append(ids, made[i].ID)
			err = b.revokeToken(ctx, conn, &made[i], now)
		}
	}
	return ids, err
}

// TouchTokens implements store.Control.
func (a Access) TouchTokens(ctx context.Context, lastUsed map[int64]rimewatch.Time) error {
	return a.write(ctx, func(conn Conn) error {
		for id, at := range lastUsed {
			if _, err := exec(conn, "UPDATE token SET last_used_at = ? WHERE id = ? AND last_used_at < ?", int64(at), id, int64(at)); err != nil {
				return err
			}
		}
		return nil
	})
}
