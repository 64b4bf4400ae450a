package tables

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// attachmentSQL makes the tables of attachments: what is known of each, and the bytes, which
// a workspace has once however often it attaches them.
const attachmentSQL = `CREATE TABLE attachment (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL,
	case_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	type TEXT NOT NULL,
	size INTEGER NOT NULL,
	width INTEGER NOT NULL, -- px, 0 = it is no image
	height INTEGER NOT NULL,
	sha256 BLOB NOT NULL, -- of the bytes that are kept
	original BLOB NOT NULL, -- of those that were sent
	at INTEGER NOT NULL,
	doer TEXT NOT NULL -- JSON
) STRICT;
CREATE INDEX attachment_by_case ON attachment(case_id);
CREATE INDEX attachment_by_workspace ON attachment(workspace_id, sha256);
CREATE TABLE attachment_piece (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL,
	sha256 BLOB NOT NULL, -- of the whole
	piece INTEGER NOT NULL, -- from 0
	data BLOB NOT NULL,
	UNIQUE (workspace_id, sha256, piece)
) STRICT`

func errAttachment() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such attachment.")
}

var attachmentTable = shapeOf("attachment", errAttachment, nil, func(a *rimewatch.Attachment) []column {
	return []column{
		given("id", number(&a.ID)), col("workspace_id", number(&a.WorkspaceID)), col("case_id", number(&a.CaseID)), col("name", text(&a.Name)),
		col("type", text(&a.Type)), col("size", number(&a.Size)), col("width", number(&a.Width)), col("height", number(&a.Height)),
		col("sha256", hash(&a.SHA256)), col("original", hash(&a.Original)), col("at", number(&a.At)), col("doer", document(&a.By)),
	}
})

// Attach implements store.Cases.
func (t Records) Attach(ctx context.Context, a *rimewatch.Attachment, data []byte) error {
	a.SHA256, a.Size = sha256.Sum256(data), int64(len(data))
	return t.write(ctx, func(conn Conn) error {
		c, err := oneCase(ctx, conn, a.WorkspaceID, a.CaseID)
		if err != nil {
			return err
		}
		had, err := attachmentTable.list(conn, "case_id = ?", c.ID)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(had, func(x rimewatch.Attachment) bool { return x.SHA256 == a.SHA256 }); i >= 0 {
			*a = had[i]
			return nil
		}
		if len(had) >= rimewatch.MaxAttachments {
			return rimewatch.Errorf(rimewatch.CodeQuotaExceeded, "A case can have at most %d attachments.", rimewatch.MaxAttachments)
		}
		if err := t.keepBytes(conn, a, data); err != nil {
			return err
		}
		if a.ID, err = attachmentTable.insert(conn, a); err != nil {
			return err
		}
		if c.Status == rimewatch.CaseSigned { // which does not cover it
			if err := documented(conn, &c); err != nil {
				return err
			}
		}
		return t.sealed(ctx, conn, sealedAttachments, a.WorkspaceID, a.ID, "case.attached", subject("case", c.ID),
			store.Fields{"name": a.Name, "type": a.Type, "size": a.Size, "content_sha256": fmt.Sprintf("%x", a.SHA256)})
	})
}

// keepBytes stores what an attachment is, unless the workspace has it.
func (t Records) keepBytes(conn Conn, a *rimewatch.Attachment, data []byte) error {
	known, used := int64(0), int64(0)
	err := each(conn, `SELECT EXISTS (SELECT 1 FROM attachment_piece WHERE workspace_id = ? AND sha256 = ?),
		(SELECT coalesce(sum(size), 0) FROM (SELECT DISTINCT sha256, size FROM attachment WHERE workspace_id = ?) x)`, func(row Row) {
		known, used = row.ColumnInt64(0), row.ColumnInt64(1)
	}, a.WorkspaceID, a.SHA256[:], a.WorkspaceID)
	if err != nil || known != 0 {
		return err
	}
	if used+a.Size > rimewatch.AttachmentQuota {
		return rimewatch.Errorf(rimewatch.CodeQuotaExceeded, "The attachments of a workspace can have at most %d MB together.", rimewatch.AttachmentQuota>>20)
	}
	i := 0
	for piece := range slices.Chunk(data, rimewatch.AttachmentPiece) {
		if _, err := exec(conn, "INSERT INTO attachment_piece (workspace_id, sha256, piece, data) VALUES (?, ?, ?, ?)", a.WorkspaceID, a.SHA256[:], i, piece); err != nil {
			return err
		}
		i++
	}
	return nil
}

// Attachments implements store.Cases.
func (t Records) Attachments(ctx context.Context, workspaceID, caseID int64) ([]rimewatch.Attachment, error) {
	return attachmentTable.all(ctx, t.base, "case_id = ? AND workspace_id = ? ORDER BY id", caseID, workspaceID)
}

// Attachment implements store.Cases.
func (t Records) Attachment(ctx context.Context, workspaceID, caseID, id int64) (a rimewatch.Attachment, data []byte, err error) {
	err = t.readLong(ctx, func(conn Conn) error {
		if _, err := oneCase(ctx, conn, workspaceID, caseID); err != nil {
			return err
		}
		if a, err = attachmentTable.find(conn, "id = ? AND case_id = ?", id, caseID); err != nil {
			return err
		}
		data, err = attachedBytes(conn, &a)
		return err
	})
	return a, data, err
}

// attachedBytes reads what an attachment is. What is not what it was is an error: evidence is
// whole or it is none.
func attachedBytes(conn Conn, a *rimewatch.Attachment) ([]byte, error) {
	data := make([]byte, 0, max(min(a.Size, rimewatch.MaxAttachment), 0))
	err := each(conn, "SELECT data FROM attachment_piece WHERE workspace_id = ? AND sha256 = ? ORDER BY piece", func(row Row) {
		data = append(data, columnBlob(row, 0)...)
	}, a.WorkspaceID, a.SHA256[:])
	if err == nil && sha256.Sum256(data) != a.SHA256 {
		err = fmt.Errorf("attachment %d is damaged: its bytes have another hash", a.ID)
	}
	return data, err
}

// damagedAttachments lists the attachments whose bytes are not those that were attached. It
// reads all of them.
func damagedAttachments(conn Conn, where string, args ...any) (ids []int64, err error) {
	list, err := attachmentTable.list(conn, where+" ORDER BY id", args...)
	for i := range list {
		if _, err := attachedBytes(conn, &list[i]); err != nil {
			ids = append(ids, list[i].ID)
		}
	}
	return ids, err
}
