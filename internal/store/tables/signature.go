package tables

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// signatureSQL makes the table of signatures.
const signatureSQL = `CREATE TABLE signature (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL,
	case_id INTEGER NOT NULL,
	at INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	session_id INTEGER NOT NULL,
	name TEXT NOT NULL, -- as printed, also when the account is gone
	meaning TEXT NOT NULL,
	proof TEXT NOT NULL,
	content TEXT NOT NULL, -- JSON, what was signed
	digest BLOB NOT NULL -- SHA-256 of content
) STRICT;
CREATE INDEX signature_by_case ON signature(case_id);
CREATE INDEX signature_by_session ON signature(session_id)`

var signatureTable = shapeOf("signature", nil, nil, func(s *rimewatch.Signature) []column {
	return []column{
		given("id", number(&s.ID)), col("workspace_id", number(&s.WorkspaceID)), col("case_id", number(&s.CaseID)), col("at", number(&s.At)),
		col("user_id", number(&s.UserID)), col("session_id", number(&s.SessionID)), col("name", text(&s.Name)), col("meaning", text(&s.Meaning)),
		col("proof", text(&s.Proof)), col("content", text(&s.Content)), col("digest", hash(&s.Digest)),
	}
})

// SignCase implements store.Cases.
func (t Records) SignCase(ctx context.Context, s *rimewatch.Signature, seen int) error {
	s.Seal()
	return t.write(ctx, func(conn Conn) error {
		c, err := oneCase(ctx, conn, s.WorkspaceID, s.CaseID)
		if err != nil {
			return err
		}
		actions, err := caseActions(conn, &c)
		if err != nil {
			return err
		}
		files, err := queryInt(conn, "SELECT count(*) FROM attachment WHERE case_id = ?", c.ID)
		if err != nil {
			return err
		}
		if len(actions)+int(files) != seen {
			return rimewatch.Errorf(rimewatch.CodeConflict, "Something was recorded meanwhile: look at the case again, and sign it then.")
		}
		if s.ID, err = signatureTable.insert(conn, s); err != nil {
			return err
		}
		if err := conn.Later(nil, "UPDATE record_case SET status = ? WHERE id = ?", string(rimewatch.CaseSigned), c.ID); err != nil {
			return err
		}
		return t.sealed(ctx, conn, sealedSignatures, s.WorkspaceID, s.ID, "case.signed", subject("case", c.ID), store.Fields{"meaning": string(s.Meaning), "name": s.Name})
	})
}

// Signatures implements store.Cases.
func (t Records) Signatures(ctx context.Context, workspaceID, caseID int64) ([]rimewatch.Signature, error) {
	return signatureTable.all(ctx, t.base, "case_id = ? AND workspace_id = ? ORDER BY id", caseID, workspaceID)
}

// SignedIn implements store.Cases.
func (t Records) SignedIn(ctx context.Context, sessionID int64) (signed bool, err error) {
	err = t.read(ctx, func(conn Conn) error {
		n, err := queryInt(conn, "SELECT EXISTS (SELECT 1 FROM signature WHERE session_id = ?)", sessionID)
		signed = n != 0
		return err
	})
	return signed, err
}
