package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"zombiezen.com/go/sqlite"
)

// fields is what an entry of the audit trail tells of a change. Never a secret.
type fields map[string]any

// change is one of the fields that became another.
type change struct {
	From any `json:"from"`
	To   any `json:"to"`
}

// changes are the fields that differ.
func changes(before, after fields) fields {
	out := make(fields)
	for name, v := range after {
		if !reflect.DeepEqual(before[name], v) {
			out[name] = change{before[name], v}
		}
	}
	return out
}

func subject(kind string, id int64) string { return fmt.Sprintf("%s %d", kind, id) }

// audit writes, in the caller's transaction, who did what.
func (s *Store) audit(ctx context.Context, conn *sqlite.Conn, workspaceID int64, action, subject string, detail fields) error {
	b := []byte("{}")
	if len(detail) > 0 {
		var err error
		if b, err = json.Marshal(detail); err != nil {
			return fmt.Errorf("audit %s: %w", action, err)
		}
	}
	return appendAudit(conn, &rimewatch.AuditEntry{
		WorkspaceID: workspaceID, At: rimewatch.TimeOf(s.cfg.Now()), Actor: store.ActorOf(ctx), Action: action, Subject: subject, Detail: string(b),
	})
}

// auditChange is audit of an update. One that changed nothing leaves no entry.
func (s *Store) auditChange(ctx context.Context, conn *sqlite.Conn, workspaceID int64, action, subject string, before, after fields) error {
	if diff := changes(before, after); len(diff) > 0 {
		return s.audit(ctx, conn, workspaceID, action, subject, diff)
	}
	return nil
}

// auditUser is audit of what concerns a person, in all of their workspaces.
func (s *Store) auditUser(ctx context.Context, conn *sqlite.Conn, userID int64, action string, detail fields) error {
	var workspaces []int64
	err := each(conn, "SELECT workspace_id FROM member WHERE user_id = ? ORDER BY workspace_id",
		func(stmt *sqlite.Stmt) { workspaces = append(workspaces, stmt.ColumnInt64(0)) }, userID)
	for _, id := range workspaces {
		if err == nil {
			err = s.audit(ctx, conn, id, action, subject("user", userID), detail)
		}
	}
	return err
}

// appendAudit chains an entry to the last one of its workspace.
func appendAudit(conn *sqlite.Conn, e *rimewatch.AuditEntry) error {
	var prev [32]byte
	err := each(conn, "SELECT hash FROM audit WHERE workspace_id = ? ORDER BY id DESC LIMIT 1",
		func(stmt *sqlite.Stmt) { stmt.ColumnBytes(0, prev[:]) }, e.WorkspaceID)
	if err != nil {
		return err
	}
	e.Hash = store.AuditHash(prev, e)
	if _, err := exec(conn, "INSERT INTO audit (workspace_id, at, actor, action, subject, detail, hash) VALUES (?, ?, ?, ?, ?, ?, ?)",
		e.WorkspaceID, int64(e.At), e.Actor, e.Action, e.Subject, e.Detail, e.Hash[:]); err != nil {
		return err
	}
	e.ID = conn.LastInsertRowID()
	return nil
}

const auditColumns = "id, workspace_id, at, actor, action, subject, detail, hash"

func scanAudit(stmt *sqlite.Stmt) rimewatch.AuditEntry {
	e := rimewatch.AuditEntry{
		ID: stmt.ColumnInt64(0), WorkspaceID: stmt.ColumnInt64(1), At: columnTime(stmt, 2),
		Actor: stmt.ColumnText(3), Action: stmt.ColumnText(4), Subject: stmt.ColumnText(5), Detail: stmt.ColumnText(6),
	}
	stmt.ColumnBytes(7, e.Hash[:])
	return e
}

// AuditEntries implements store.Audit.
func (s *Store) AuditEntries(ctx context.Context, workspaceID int64, action, subject string, p store.Page) (list []rimewatch.AuditEntry, total int, err error) {
	const where = " FROM audit WHERE workspace_id = ? AND instr(action, ?) = 1 AND instr(subject, ?) = 1"
	err = s.readControl(ctx, func(conn *sqlite.Conn) error {
		n, err := queryInt(conn, "SELECT count(*)"+where, workspaceID, action, subject)
		if err != nil {
			return err
		}
		total = int(n)
		query, args := "SELECT "+auditColumns+where, []any{workspaceID, action, subject}
		if p.After != 0 {
			query += " AND id < ?"
			args = append(args, p.After)
			p.Offset = 0
		}
		return each(conn, query+" ORDER BY id DESC LIMIT ? OFFSET ?",
			func(stmt *sqlite.Stmt) { list = append(list, scanAudit(stmt)) }, append(args, p.Limit, p.Offset)...)
	})
	return list, total, err
}

// VerifyAudit implements store.Audit.
func (s *Store) VerifyAudit(ctx context.Context, workspaceID int64) (broken int64, err error) {
	var prev [32]byte
	err = s.readControl(ctx, func(conn *sqlite.Conn) error {
		return each(conn, "SELECT "+auditColumns+" FROM audit WHERE workspace_id = ? ORDER BY id", func(stmt *sqlite.Stmt) {
			e := scanAudit(stmt)
			if broken == 0 && store.AuditHash(prev, &e) != e.Hash {
				broken = e.ID
			}
			prev = e.Hash
		}, workspaceID)
	})
	return broken, err
}
