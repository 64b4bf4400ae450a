package sqlite

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"zombiezen.com/go/sqlite"
)

func errSession() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such session.") }

const sessionColumns = "id, hash, user_id, workspace_id, user_agent, address, created_at, last_used_at, expires_at"

func scanSession(stmt *sqlite.Stmt) store.Session {
	x := store.Session{
		ID: stmt.ColumnInt64(0), UserID: stmt.ColumnInt64(2), WorkspaceID: stmt.ColumnInt64(3),
		UserAgent: stmt.ColumnText(4), Address: stmt.ColumnText(5),
		CreatedAt: columnTime(stmt, 6), LastUsedAt: columnTime(stmt, 7), ExpiresAt: columnTime(stmt, 8),
	}
	stmt.ColumnBytes(1, x.Hash[:])
	return x
}

// CreateSession implements store.Control.
func (s *Store) CreateSession(ctx context.Context, x *store.Session) error {
	if err := x.Check(); err != nil {
		return err
	}
	return s.write(ctx, func(conn *sqlite.Conn) (err error) {
		x.ID, err = insert(conn, rimewatch.Errorf(rimewatch.CodeConflict, "This session exists already."),
			"INSERT INTO session (hash, user_id, workspace_id, user_agent, address, created_at, last_used_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			x.Hash[:], x.UserID, x.WorkspaceID, x.UserAgent, x.Address, int64(x.CreatedAt), int64(x.LastUsedAt), int64(x.ExpiresAt))
		return err
	})
}

// Session implements store.Control.
func (s *Store) Session(ctx context.Context, hash [32]byte, now rimewatch.Time) (x store.Session, err error) {
	err = s.readControl(ctx, func(conn *sqlite.Conn) error {
		return one(conn, errSession(), "SELECT "+sessionColumns+" FROM session WHERE hash = ? AND expires_at > ?",
			func(stmt *sqlite.Stmt) { x = scanSession(stmt) }, hash[:], int64(now))
	})
	return x, err
}

// TouchSession implements store.Control.
func (s *Store) TouchSession(ctx context.Context, id int64, lastUsed, expires rimewatch.Time) error {
	return s.write(ctx, func(conn *sqlite.Conn) error {
		n, err := exec(conn, "UPDATE session SET last_used_at = max(last_used_at, ?), expires_at = max(expires_at, ?) WHERE id = ?",
			int64(lastUsed), int64(expires), id)
		if err == nil && n == 0 {
			return errSession()
		}
		return err
	})
}

// Sessions implements store.Control.
func (s *Store) Sessions(ctx context.Context, userID int64, now rimewatch.Time) (list []store.Session, err error) {
	err = s.readControl(ctx, func(conn *sqlite.Conn) error {
		return each(conn, "SELECT "+sessionColumns+" FROM session WHERE user_id = ? AND expires_at > ? ORDER BY id",
			func(stmt *sqlite.Stmt) { list = append(list, scanSession(stmt)) }, userID, int64(now))
	})
	return list, err
}

// DeleteSession implements store.Control.
func (s *Store) DeleteSession(ctx context.Context, userID, id int64) error {
	return s.write(ctx, func(conn *sqlite.Conn) error {
		n, err := exec(conn, "DELETE FROM session WHERE id = ? AND user_id = ?", id, userID)
		if err == nil && n == 0 {
			return errSession()
		}
		return err
	})
}

// DeleteSessions implements store.Control.
func (s *Store) DeleteSessions(ctx context.Context, userID, keep int64) error {
	return s.write(ctx, func(conn *sqlite.Conn) error {
		_, err := exec(conn, "DELETE FROM session WHERE user_id = ? AND id <> ?", userID, keep)
		return err
	})
}

// SetSessionWorkspace implements store.Control.
func (s *Store) SetSessionWorkspace(ctx context.Context, userID, id, workspaceID int64) error {
	return s.write(ctx, func(conn *sqlite.Conn) error {
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
func (s *Store) DeleteExpired(ctx context.Context, now rimewatch.Time) error {
	return s.write(ctx, func(conn *sqlite.Conn) error {
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

const tokenColumns = "t.id, t.workspace_id, t.name, t.prefix, t.hash, t.scopes, t.created_by, t.created_at, t.expires_at, t.revoked_at, t.last_used_at"

func scanToken(stmt *sqlite.Stmt) rimewatch.Token {
	t := rimewatch.Token{
		ID: stmt.ColumnInt64(0), WorkspaceID: stmt.ColumnInt64(1), Name: stmt.ColumnText(2), Prefix: stmt.ColumnText(3),
		Scopes: rimewatch.Scopes(stmt.ColumnInt64(5)), CreatedBy: stmt.ColumnInt64(6), CreatedAt: columnTime(stmt, 7),
		ExpiresAt: columnTime(stmt, 8), RevokedAt: columnTime(stmt, 9), LastUsedAt: columnTime(stmt, 10),
	}
	stmt.ColumnBytes(4, t.Hash[:])
	return t
}

// CreateToken implements store.Control.
func (s *Store) CreateToken(ctx context.Context, t *rimewatch.Token) error {
	if err := t.Check(); err != nil {
		return err
	}
	return s.write(ctx, func(conn *sqlite.Conn) (err error) {
		t.ID, err = insert(conn, rimewatch.Errorf(rimewatch.CodeConflict, "This token exists already."),
			`INSERT INTO token (workspace_id, name, prefix, hash, scopes, created_by, created_at, expires_at, revoked_at, last_used_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			t.WorkspaceID, t.Name, t.Prefix, t.Hash[:], int64(t.Scopes), t.CreatedBy, int64(t.CreatedAt), int64(t.ExpiresAt), int64(t.RevokedAt), int64(t.LastUsedAt))
		if err != nil {
			return err
		}
		return s.audit(ctx, conn, t.WorkspaceID, "token.created", subject("token", t.ID),
			fields{"name": t.Name, "scopes": t.Scopes.Names(), "expires_at": t.ExpiresAt})
	})
}

// TokenByHash implements store.Control.
func (s *Store) TokenByHash(ctx context.Context, hash [32]byte) (t rimewatch.Token, err error) {
	err = s.readControl(ctx, func(conn *sqlite.Conn) error {
		return one(conn, errToken(), "SELECT "+tokenColumns+" FROM token t WHERE t.hash = ?",
			func(stmt *sqlite.Stmt) { t = scanToken(stmt) }, hash[:])
	})
	return t, err
}

// Tokens implements store.Control.
func (s *Store) Tokens(ctx context.Context, workspaceID int64) (list []store.TokenView, err error) {
	err = s.readControl(ctx, func(conn *sqlite.Conn) error {
		return each(conn, "SELECT "+tokenColumns+`, coalesce(nullif(u.name, ''), u.email, '')
			FROM token t LEFT JOIN user u ON u.id = t.created_by WHERE t.workspace_id = ? ORDER BY t.id`, func(stmt *sqlite.Stmt) {
			list = append(list, store.TokenView{Token: scanToken(stmt), CreatedByName: stmt.ColumnText(11)})
		}, workspaceID)
	})
	return list, err
}

// RevokeToken implements store.Control.
func (s *Store) RevokeToken(ctx context.Context, workspaceID, id int64, now rimewatch.Time) error {
	return s.write(ctx, func(conn *sqlite.Conn) error {
		var t rimewatch.Token
		err := one(conn, errToken(), "SELECT "+tokenColumns+" FROM token t WHERE t.id = ? AND t.workspace_id = ?",
			func(stmt *sqlite.Stmt) { t = scanToken(stmt) }, id, workspaceID)
		if err != nil || t.RevokedAt != 0 {
			return err
		}
		return s.revokeToken(ctx, conn, &t, now)
	})
}

func (s *Store) revokeToken(ctx context.Context, conn *sqlite.Conn, t *rimewatch.Token, now rimewatch.Time) error {
	if _, err := exec(conn, "UPDATE token SET revoked_at = ? WHERE id = ?", int64(now), t.ID); err != nil {
		return err
	}
	return s.audit(ctx, conn, t.WorkspaceID, "token.revoked", subject("token", t.ID), fields{"name": t.Name})
}

// revokeTokensBy ends the tokens that a member made and returns their ids.
func (s *Store) revokeTokensBy(ctx context.Context, conn *sqlite.Conn, workspaceID, userID int64, now rimewatch.Time) (ids []int64, err error) {
	var made []rimewatch.Token
	err = each(conn, "SELECT "+tokenColumns+" FROM token t WHERE t.workspace_id = ? AND t.created_by = ? AND t.revoked_at = 0 ORDER BY t.id",
		func(stmt *sqlite.Stmt) { made = append(made, scanToken(stmt)) }, workspaceID, userID)
	for i := range made {
		if err == nil {
			ids = append(ids, made[i].ID)
			err = s.revokeToken(ctx, conn, &made[i], now)
		}
	}
	return ids, err
}

// TouchTokens implements store.Control.
func (s *Store) TouchTokens(ctx context.Context, lastUsed map[int64]rimewatch.Time) error {
	return s.write(ctx, func(conn *sqlite.Conn) error {
		for id, at := range lastUsed {
			if _, err := exec(conn, "UPDATE token SET last_used_at = max(last_used_at, ?) WHERE id = ?", int64(at), id); err != nil {
				return err
			}
		}
		return nil
	})
}
