package tables

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// attachmentSQL makes the tables of attachments: the facts of each, and the bytes, which
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
	doer TEXT NOT NULL, -- JSON
	order_id INTEGER NOT NULL DEFAULT 0 -- the work order that it was attached to, 0 = none
) STRICT;
CREATE INDEX attachment_by_case ON attachment(case_id);
CREATE INDEX attachment_by_order ON attachment(order_id) WHERE order_id <> 0;
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
		col("order_id", number(&a.OrderID)),
	}
})

// Attach implements store.Cases.
func (t Records) Attach(ctx context.Context, a *rimewatch.Attachment, data []byte) error {
	a.SHA256, a.Size = sha256.Sum256(data), int64(len(data))
	return t.write(ctx, func(conn Conn) error {
		c, had, err := attachedTo(ctx, conn, a)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(had, func(x rimewatch.Attachment) bool { return x.SHA256 == a.SHA256 && x.OrderID == a.OrderID }); i >= 0 {
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
		action, about := "case.attached", subject("case", a.CaseID)
		if a.OrderID != 0 {
			action, about = "work_order.attached", subject("work_order", a.OrderID)
		}
		return t.sealed(ctx, conn, sealedAttachments, a.WorkspaceID, a.ID, action, about,
			store.Fields{"name": a.Name, "type": a.Type, "size": a.Size, "content_sha256": fmt.Sprintf("%x", a.SHA256)})
	})
}

// attachedTo finds the owner of a new attachment, and how many it has already. The case of an order may be gone.
func attachedTo(ctx context.Context, conn Conn, a *rimewatch.Attachment) (c rimewatch.Case, had []rimewatch.Attachment, err error) {
	if a.OrderID != 0 {
		o, err := orderTable.of(ctx, conn, a.WorkspaceID, a.OrderID)
		if err != nil {
			return c, nil, err
		}
		a.CaseID = o.CaseID
		ctx = store.WithSites(ctx, nil)
	}
	if a.CaseID != 0 || a.OrderID == 0 {
		c, err = oneCase(ctx, conn, a.WorkspaceID, a.CaseID)
		if a.OrderID != 0 && rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
			a.CaseID, err = 0, nil
		}
		if err != nil {
			return c, nil, err
		}
	}
	if a.CaseID != 0 {
		had, err = attachmentTable.list(conn, "case_id = ?", a.CaseID)
	} else {
		had, err = attachmentTable.list(conn, "order_id = ?", a.OrderID)
	}
	return c, had, err
}

// keepBytes stores the bytes of an attachment, unless the workspace has them.
func (t Records) keepBytes(conn Conn, a *rimewatch.Attachment, data []byte) error {
	known, used := int64(0), int64(0)
	err := each(conn, `SELECT EXISTS (SELECT 1 FROM attachment_piece WHERE workspace_id = ? AND sha256 = ?),
		(SELECT coalesce(sum(size), 0) FROM (SELECT DISTINCT sha256, size FROM attachment WHERE workspace_id = ?) x)`, func(row Row) {
		known, used = row.ColumnInt64(0), row.ColumnInt64(1)
	}, a.WorkspaceID, a.SHA256[:], a.WorkspaceID)
	if err != nil || known != 0 {
		return err
	}
	if most := cmp.Or(t.quotas.Attachments, rimewatch.AttachmentQuota); used+a.Size > most {
		return rimewatch.Errorf(rimewatch.CodeQuotaExceeded, "The attachments of a workspace can have at most %d MB together.", most>>20)
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
		a, data, err = attached(conn, "id = ? AND case_id = ?", id, caseID)
		return err
	})
	return a, data, err
}

// OrderAttachments implements store.Orders.
func (t Records) OrderAttachments(ctx context.Context, workspaceID, orderID int64) ([]rimewatch.Attachment, error) {
	return attachmentTable.all(ctx, t.base, "order_id = ? AND workspace_id = ? ORDER BY id", orderID, workspaceID)
}

// OrderAttachment implements store.Orders.
func (t Records) OrderAttachment(ctx context.Context, workspaceID, orderID, id int64) (a rimewatch.Attachment, data []byte, err error) {
	err = t.readLong(ctx, func(conn Conn) error {
		if _, err := orderTable.of(ctx, conn, workspaceID, orderID); err != nil {
			return err
		}
		a, data, err = attached(conn, "id = ? AND order_id = ?", id, orderID)
		return err
	})
	return a, data, err
}

// attached finds one attachment with its bytes.
func attached(conn Conn, where string, args ...any) (a rimewatch.Attachment, data []byte, err error) {
	if a, err = attachmentTable.find(conn, where, args...); err == nil {
		data, err = attachedBytes(conn, &a)
	}
	return a, data, err
}

// attachedBytes reads the bytes of an attachment. Changed bytes are an error: evidence is
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
