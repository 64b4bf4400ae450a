package tables

import (
	"context"
	"fmt"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func subject(kind string, id int64) string { return fmt.Sprintf("%s %d", kind, id) }

// audit writes an entry of the audit trail, in the caller's transaction.
func (t *base) audit(ctx context.Context, conn Conn, workspaceID int64, action, subject string, detail store.Fields) error {
	e, err := store.NewAuditEntry(workspaceID, t.now(), store.ActorOf(ctx), action, subject, detail)
	if err != nil {
		return err
	}
	return appendAudit(conn, make(map[int64][32]byte), e)
}

// auditUser is audit for changes of a person, in all of their workspaces.
func (t *base) auditUser(ctx context.Context, conn Conn, userID int64, action string, detail store.Fields) error {
	var workspaces []int64
	err := each(conn, "SELECT workspace_id FROM member WHERE user_id = ? ORDER BY workspace_id",
		func(row Row) { workspaces = append(workspaces, row.ColumnInt64(0)) }, userID)
	for _, id := range workspaces {
		if err == nil {
			err = t.audit(ctx, conn, id, action, subject("user", userID), detail)
		}
	}
	return err
}

// turner is a Conn whose transaction does not keep others from writing to the
// trails of all workspaces: it has to wait for its turn at a workspace's.
type turner interface {
	TakeTurn(workspaceID int64) error
}

// appendAudit chains an entry to the last one of its workspace. trails are the
// last hashes of workspaces that the transaction has written entries of.
func appendAudit(conn Conn, trails map[int64][32]byte, e *rimewatch.AuditEntry) error {
	prev, known := trails[e.WorkspaceID]
	if !known {
		if c, ok := conn.(turner); ok {
			if err := c.TakeTurn(e.WorkspaceID); err != nil {
				return err
			}
		}
		err := each(conn, "SELECT hash FROM audit WHERE workspace_id = ? ORDER BY id DESC LIMIT 1",
			func(row Row) { row.ColumnBytes(0, prev[:]) }, e.WorkspaceID)
		if err != nil {
			return err
		}
	}
	e.Hash = store.AuditHash(prev, e)
	trails[e.WorkspaceID] = e.Hash
	return auditTable.insertLater(conn, &e.ID, e)
}

var auditTable = shapeOf("audit", nil, nil, func(e *rimewatch.AuditEntry) []column {
	return []column{
		given("id", number(&e.ID)), col("workspace_id", number(&e.WorkspaceID)), col("at", number(&e.At)), col("actor", text(&e.Actor)),
		col("action", text(&e.Action)), col("subject", text(&e.Subject)), col("detail", text(&e.Detail)), col("hash", hash(&e.Hash)),
	}
})

// AuditEntries implements store.Audit.
func (t Audit) AuditEntries(ctx context.Context, workspaceID int64, action, subject string, p store.Page) (list []rimewatch.AuditEntry, total int, err error) {
	const where = "workspace_id = ? AND substr(action, 1, length(?)) = ? AND substr(subject, 1, length(?)) = ?"
	err = t.read(ctx, func(conn Conn) error {
		n, err := queryInt(conn, "SELECT count(*) FROM audit WHERE "+where, workspaceID, action, action, subject, subject)
		if err != nil {
			return err
		}
		total = int(n)
		query, args := where, []any{workspaceID, action, action, subject, subject}
		if p.After != 0 {
			query += " AND id < ?"
			args = append(args, p.After)
			p.Offset = 0
		}
		list, err = auditTable.list(conn, query+" ORDER BY id DESC LIMIT ? OFFSET ?", append(args, p.Limit, p.Offset)...)
		return err
	})
	return list, total, err
}

// AuditUser implements store.Audit.
func (t Audit) AuditUser(ctx context.Context, userID int64, action string, detail store.Fields) error {
	return t.write(ctx, func(conn Conn) error { return t.auditUser(ctx, conn, userID, action, detail) })
}

// AuditWorkspace implements store.Audit.
func (t Audit) AuditWorkspace(ctx context.Context, workspaceID int64, action, subject string, detail store.Fields) error {
	return t.write(ctx, func(conn Conn) error { return t.audit(ctx, conn, workspaceID, action, subject, detail) })
}

// VerifyAudit implements store.Audit.
func (t Audit) VerifyAudit(ctx context.Context, workspaceID int64) (broken int64, err error) {
	err = t.read(ctx, func(conn Conn) error {
		_, list, err := verifyTrails(conn, false, "workspace_id = ?", workspaceID)
		if len(list) > 0 {
			broken = list[0]
		}
		return err
	})
	return broken, err
}

// VerifyTrails checks the chain of every workspace's audit trail. It returns how
// many entries there are, and those that do not follow from the one before or whose
// records, with the bytes of attachments, are not what they were.
func VerifyTrails(conn Conn) (entries int64, broken []int64, err error) {
	return verifyTrails(conn, true, "TRUE")
}

func verifyTrails(conn Conn, whole bool, where string, args ...any) (entries int64, broken []int64, err error) {
	last, sealed := make(map[int64][32]byte), make(seals)
	read := auditTable.reader()
	err = conn.Query(func(row Row) error {
		e, err := read(row)
		if store.AuditHash(last[e.WorkspaceID], &e) != e.Hash {
			broken = append(broken, e.ID)
		}
		last[e.WorkspaceID] = e.Hash
		sealed.note(e.ID, e.Action, e.Detail)
		entries++
		return err
	}, auditTable.selects+where+" ORDER BY id", args...)
	if err != nil {
		return entries, broken, err
	}
	changed, err := sealed.broken(conn, whole, where, args...)
	broken = append(broken, changed...)
	slices.Sort(broken)
	return entries, slices.Compact(broken), err
}
