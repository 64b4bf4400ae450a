package tables

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func errSession() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such session.") }

var sessionTable = shapeOf("session", errSession, func() error { return rimewatch.Errorf(rimewatch.CodeConflict, "This session already exists.") },
	func(x *store.Session) []column {
		return []column{
			given("id", number(&x.ID)), col("hash", hash(&x.Hash)), col("user_id", number(&x.UserID)), col("workspace_id", number(&x.WorkspaceID)),
			col("user_agent", text(&x.UserAgent)), col("address", text(&x.Address)), col("created_at", number(&x.CreatedAt)),
			col("last_used_at", number(&x.LastUsedAt)), col("expires_at", number(&x.ExpiresAt)), col("strong", flag(&x.Strong)), col("ends_at", number(&x.EndsAt)),
			col("provided", flag(&x.Provided)),
		}
	})

// CreateSession implements store.People.
func (a Access) CreateSession(ctx context.Context, x *store.Session) error {
	if err := x.Check(); err != nil {
		return err
	}
	return a.write(ctx, func(conn Conn) (err error) {
		x.ID, err = sessionTable.insert(conn, x)
		return err
	})
}

// Session implements store.People.
func (a Access) Session(ctx context.Context, hash [32]byte, now rimewatch.Time) (store.Session, error) {
	return sessionTable.first(ctx, a.base, "hash = ? AND expires_at > ?", hash[:], int64(now))
}

// TouchSession implements store.People.
func (a Access) TouchSession(ctx context.Context, id int64, lastUsed, expires rimewatch.Time) error {
	return a.write(ctx, func(conn Conn) error {
		return execOne(conn, errSession(), `UPDATE session SET last_used_at = CASE WHEN last_used_at < ? THEN ? ELSE last_used_at END,
			expires_at = CASE WHEN expires_at < ? THEN ? ELSE expires_at END WHERE id = ?`,
			int64(lastUsed), int64(lastUsed), int64(expires), int64(expires), id)
	})
}

// Sessions implements store.People.
func (a Access) Sessions(ctx context.Context, userID int64, now rimewatch.Time) ([]store.Session, error) {
	return sessionTable.all(ctx, a.base, "user_id = ? AND expires_at > ? ORDER BY id", userID, int64(now))
}

// DeleteSession implements store.People.
func (a Access) DeleteSession(ctx context.Context, userID, id int64) error {
	return a.write(ctx, func(conn Conn) error {
		return execOne(conn, errSession(), "DELETE FROM session WHERE id = ? AND user_id = ?", id, userID)
	})
}

// DeleteSessions implements store.People.
func (a Access) DeleteSessions(ctx context.Context, userID, keep int64) error {
	return a.write(ctx, func(conn Conn) error {
		_, err := exec(conn, "DELETE FROM session WHERE user_id = ? AND id <> ?", userID, keep)
		return err
	})
}

// SetSessionWorkspace implements store.People.
func (a Access) SetSessionWorkspace(ctx context.Context, userID, id, workspaceID int64) error {
	return a.write(ctx, func(conn Conn) error {
		if _, _, err := findMember(conn, workspaceID, userID); err != nil {
			return err
		}
		return execOne(conn, errSession(), "UPDATE session SET workspace_id = ? WHERE id = ? AND user_id = ?", workspaceID, id, userID)
	})
}

// DeleteExpired implements store.People.
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
		if _, err := exec(conn, "DELETE FROM act WHERE state <> 'pending' AND settled_at <= ?", int64(now-rimewatch.ActLife)); err != nil {
			return err
		}
		if _, err := exec(conn, "DELETE FROM token_call WHERE at < ?", int64(now-rimewatch.TokenCallLife)); err != nil {
			return err
		}
		_, err := exec(conn, "DELETE FROM invitation WHERE expires_at <= ?", int64(now-store.InvitationGrace))
		return err
	})
}

func errToken() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such token.") }

func tokenColumns(t *rimewatch.Token) []column {
	return []column{
		given("id", number(&t.ID)), col("workspace_id", number(&t.WorkspaceID)), col("name", text(&t.Name)), col("prefix", text(&t.Prefix)), col("hash", hash(&t.Hash)),
		col("scopes", number(&t.Scopes)), col("created_by", number(&t.CreatedBy)), col("created_at", number(&t.CreatedAt)), col("expires_at", number(&t.ExpiresAt)),
		col("revoked_at", number(&t.RevokedAt)), col("last_used_at", number(&t.LastUsedAt)), col("sites", sites(&t.Sites)),
	}
}

var tokenTable = shapeOf("token", errToken, func() error { return rimewatch.Errorf(rimewatch.CodeConflict, "This token already exists.") }, tokenColumns)

var tokenViews = shapeOf("token t LEFT JOIN person u ON u.id = t.created_by", errToken, nil, func(v *store.TokenView) []column {
	return append(as("t", tokenColumns(&v.Token)), given("coalesce(nullif(u.name, ''), u.email, '')", text(&v.CreatedByName)))
})

// CreateToken implements store.People.
func (a Access) CreateToken(ctx context.Context, t *rimewatch.Token) error {
	if err := t.Check(); err != nil {
		return err
	}
	return a.write(ctx, func(conn Conn) (err error) {
		if err := room(conn, rimewatch.Sentencef("tokens"), a.quotas.Tokens, "SELECT count(*) FROM token WHERE workspace_id = ? AND revoked_at = 0 AND (expires_at = 0 OR expires_at > ?)", t.WorkspaceID, int64(t.CreatedAt)); err != nil {
			return err
		}
		t.ID, err = tokenTable.insert(conn, t)
		if err != nil {
			return err
		}
		detail := store.Fields{"name": t.Name, "scopes": t.Scopes.Names(), "expires_at": t.ExpiresAt}
		if t.Sites != nil {
			detail["site_ids"] = t.Sites
		}
		if err := a.audit(ctx, conn, t.WorkspaceID, "token.created", subject("token", t.ID), detail); err != nil {
			return err
		}
		return a.tokenEvent(conn, t, rimewatch.EventTokenCreated, 0)
	})
}

// RotateToken implements store.People.
func (a Access) RotateToken(ctx context.Context, id int64, next *rimewatch.Token, until rimewatch.Time) error {
	if err := next.Check(); err != nil {
		return err
	}
	return a.write(ctx, func(conn Conn) error {
		old, err := tokenTable.find(conn, "id = ? AND workspace_id = ? AND revoked_at = 0", id, next.WorkspaceID)
		if err != nil {
			return err
		}
		if old.ExpiresAt != 0 {
			until = min(until, old.ExpiresAt)
		}
		if _, err := exec(conn, "UPDATE token SET expires_at = ? WHERE id = ?", int64(until), old.ID); err != nil {
			return err
		}
		if next.ID, err = tokenTable.insert(conn, next); err != nil {
			return err
		}
		detail := store.Fields{"name": next.Name, "replaces": old.ID, "until": until}
		if err := a.audit(ctx, conn, next.WorkspaceID, "token.rotated", subject("token", next.ID), detail); err != nil {
			return err
		}
		return a.tokenEvent(conn, next, rimewatch.EventTokenCreated, old.ID)
	})
}

// tokenEvent writes that a token was made, in place of another where replaces is not 0, or revoked.
func (b *base) tokenEvent(conn Conn, t *rimewatch.Token, what rimewatch.EventType, replaces int64) error {
	token := map[string]any{"id": t.ID, "name": t.Name, "scopes": t.Scopes.Names(), "site_ids": t.Sites, "expires_at": nil, "replaces": nil}
	if t.ExpiresAt != 0 {
		token["expires_at"] = t.ExpiresAt
	}
	if replaces != 0 {
		token["replaces"] = replaces
	}
	return b.happened(conn, t.WorkspaceID, 0, what, rimewatch.EventSubject("token", t.ID), map[string]any{"token": token})
}

// TokenByHash implements store.People.
func (a Access) TokenByHash(ctx context.Context, hash [32]byte) (rimewatch.Token, error) {
	return tokenTable.first(ctx, a.base, "hash = ?", hash[:])
}

// Tokens implements store.People.
func (a Access) Tokens(ctx context.Context, workspaceID int64) ([]store.TokenView, error) {
	return tokenViews.all(ctx, a.base, "t.workspace_id = ? ORDER BY t.id", workspaceID)
}

// RevokeToken implements store.People.
func (a Access) RevokeToken(ctx context.Context, workspaceID, id int64, now rimewatch.Time) error {
	return a.write(ctx, func(conn Conn) error {
		t, err := tokenTable.find(conn, "id = ? AND workspace_id = ?", id, workspaceID)
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
	if err := b.audit(ctx, conn, t.WorkspaceID, "token.revoked", subject("token", t.ID), store.Fields{"name": t.Name}); err != nil {
		return err
	}
	return b.tokenEvent(conn, t, rimewatch.EventTokenRevoked, 0)
}

// revokeTokensBy ends the tokens that a member made and returns their ids.
func (b *base) revokeTokensBy(ctx context.Context, conn Conn, workspaceID, userID int64, now rimewatch.Time) (ids []int64, err error) {
	made, err := tokenTable.list(conn, "workspace_id = ? AND created_by = ? AND revoked_at = 0 ORDER BY id", workspaceID, userID)
	for i := range made {
		if err == nil {
			ids = append(ids, made[i].ID)
			err = b.revokeToken(ctx, conn, &made[i], now)
		}
	}
	return ids, err
}

// TouchTokens implements store.People.
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
