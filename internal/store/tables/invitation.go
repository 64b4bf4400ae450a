package tables

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func errInvitation() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such invitation.")
}

func invitationColumns(v *store.Invitation) []column {
	return []column{
		given("id", number(&v.ID)), col("workspace_id", number(&v.WorkspaceID)), col("email", text(&v.Email)), col("role", text(&v.Role)), col("sites", sites(&v.Sites)),
		col("hash", hash(&v.Hash)), col("invited_by", number(&v.InvitedBy)), col("created_at", number(&v.CreatedAt)), col("expires_at", number(&v.ExpiresAt)),
	}
}

var invitationTable = shapeOf("invitation", errInvitation, func() error {
	return rimewatch.Errorf(rimewatch.CodeConflict, "This address has already been invited.").With("email", "is invited already")
}, invitationColumns)

// invitationViews are invitations with the names that they are shown with.
var invitationViews = shapeOf("invitation v JOIN workspace w ON w.id = v.workspace_id LEFT JOIN person u ON u.id = v.invited_by", errInvitation, nil,
	func(v *store.InvitationView) []column {
		return append(as("v", invitationColumns(&v.Invitation)), given("w.name", text(&v.WorkspaceName)), given("coalesce(nullif(u.name, ''), u.email, '')", text(&v.InvitedByName)))
	})

// CreateInvitation implements store.People.
func (t People) CreateInvitation(ctx context.Context, v *store.Invitation) error {
	v.Email = rimewatch.EmailKey(v.Email)
	if err := v.Check(); err != nil {
		return err
	}
	return t.write(ctx, func(conn Conn) error {
		if err := room(conn, rimewatch.Sentencef("members"), t.quotas.Members, "SELECT (SELECT count(*) FROM member WHERE workspace_id = ?) + (SELECT count(*) FROM invitation WHERE workspace_id = ?)", v.WorkspaceID, v.WorkspaceID); err != nil {
			return err
		}
		members, err := queryInt(conn, "SELECT count(*) FROM member m JOIN person u ON u.id = m.user_id WHERE m.workspace_id = ? AND u.email = ?", v.WorkspaceID, v.Email)
		if err != nil {
			return err
		}
		if members > 0 {
			return rimewatch.Errorf(rimewatch.CodeConflict, "This user is already a member.").With("email", "is a member already")
		}
		v.ID, err = invitationTable.insert(conn, v)
		if err != nil {
			return err
		}
		return t.auditInvitation(ctx, conn, v, "invitation.created")
	})
}

func (t *base) auditInvitation(ctx context.Context, conn Conn, v *store.Invitation, action string) error {
	return t.audit(ctx, conn, v.WorkspaceID, action, subject("invitation", v.ID), store.Fields{"email": v.Email, "role": v.Role})
}

// RenewInvitation implements store.People.
func (t People) RenewInvitation(ctx context.Context, workspaceID, id int64, hash [32]byte, expires rimewatch.Time) (store.Invitation, error) {
	var v store.InvitationView
	err := t.write(ctx, func(conn Conn) (err error) {
		if v, err = invitationViews.find(conn, "v.id = ? AND v.workspace_id = ?", id, workspaceID); err != nil {
			return err
		}
		v.Hash, v.ExpiresAt = hash, expires
		if _, err := exec(conn, "UPDATE invitation SET hash = ?, expires_at = ? WHERE id = ?", hash[:], int64(expires), id); err != nil {
			return unique(err, rimewatch.Errorf(rimewatch.CodeConflict, "This invitation already exists."))
		}
		return t.auditInvitation(ctx, conn, &v.Invitation, "invitation.renewed")
	})
	if err != nil {
		return store.Invitation{}, err
	}
	return v.Invitation, nil
}

func (t *base) deleteInvitation(ctx context.Context, conn Conn, v *store.Invitation, action string) error {
	if _, err := exec(conn, "DELETE FROM invitation WHERE id = ?", v.ID); err != nil {
		return err
	}
	return t.auditInvitation(ctx, conn, v, action)
}

// DeleteInvitation implements store.People.
func (t People) DeleteInvitation(ctx context.Context, workspaceID, id int64) error {
	return t.write(ctx, func(conn Conn) error {
		v, err := invitationViews.find(conn, "v.id = ? AND v.workspace_id = ?", id, workspaceID)
		if err != nil {
			return err
		}
		return t.deleteInvitation(ctx, conn, &v.Invitation, "invitation.withdrawn")
	})
}

// endInvitationsBy withdraws the invitations of a member, who may know their links.
func (t People) endInvitationsBy(ctx context.Context, conn Conn, workspaceID, userID int64) error {
	made, err := invitationViews.list(conn, "v.workspace_id = ? AND v.invited_by = ? ORDER BY v.id", workspaceID, userID)
	for i := range made {
		if err == nil {
			err = t.deleteInvitation(ctx, conn, &made[i].Invitation, "invitation.withdrawn")
		}
	}
	return err
}

// Invitations implements store.People.
func (t People) Invitations(ctx context.Context, workspaceID int64) ([]store.InvitationView, error) {
	return invitationViews.all(ctx, t.base, "v.workspace_id = ? ORDER BY v.id", workspaceID)
}

// Invitation implements store.People.
func (t People) Invitation(ctx context.Context, hash [32]byte, now rimewatch.Time) (store.InvitationView, error) {
	return invitationViews.first(ctx, t.base, "v.hash = ? AND v.expires_at > ?", hash[:], int64(now))
}

// AcceptInvitation implements store.People.
func (t People) AcceptInvitation(ctx context.Context, hash [32]byte, u *rimewatch.User, now rimewatch.Time) (m rimewatch.Member, err error) {
	if err := u.Check(); err != nil {
		return m, err
	}
	ctx = store.WithActorElse(ctx, u.Label())
	known := u.ID
	err = t.write(ctx, func(conn Conn) error {
		v, err := invitationViews.find(conn, "v.hash = ? AND v.expires_at > ?", hash[:], int64(now))
		if err != nil {
			return err
		}
		if rimewatch.EmailKey(u.Email) != v.Email {
			return rimewatch.Errorf(rimewatch.CodeForbidden, "This invitation is for another e-mail address.")
		}
		if u.ID == 0 {
			if err := insertUser(conn, u); err != nil {
				return err
			}
		}
		if err := t.deleteInvitation(ctx, conn, &v.Invitation, "invitation.accepted"); err != nil {
			return err
		}
		m, _, err = findMember(conn, v.WorkspaceID, u.ID)
		if rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
			return err
		}
		m = rimewatch.Member{WorkspaceID: v.WorkspaceID, UserID: u.ID, Role: v.Role, Sites: v.Sites, CreatedAt: now}
		return t.putMember(ctx, conn, &m)
	})
	if err != nil {
		u.ID = known
		return rimewatch.Member{}, err
	}
	return m, nil
}
