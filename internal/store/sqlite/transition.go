package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rimewatch/rimewatch"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

const transitionColumns = "id, workspace_id, alert_id, kind, at, severity, actor, note, facts"

// insertTransition writes a line of an alert's timeline and sets its ID.
func insertTransition(conn *sqlite.Conn, t *rimewatch.AlertTransition) error {
	stmt, err := conn.Prepare("INSERT INTO alert_transition (" + transitionColumns + ") VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	stmt.BindInt64(1, t.WorkspaceID)
	stmt.BindInt64(2, t.AlertID)
	stmt.BindText(3, string(t.Kind))
	stmt.BindInt64(4, int64(t.At))
	stmt.BindText(5, string(t.Severity))
	stmt.BindText(6, t.Actor)
	stmt.BindText(7, t.Note)
	facts, err := encodeFacts(t.Facts)
	if err != nil {
		return err
	}
	stmt.BindText(8, facts)
	_, err = stmt.Step()
	if err := errors.Join(err, stmt.Reset(), stmt.ClearBindings()); err != nil {
		return err
	}
	t.ID = conn.LastInsertRowID()
	return nil
}

// alertFacts is what a line of the timeline keeps of its alert.
type alertFacts struct {
	DeviceID    int64                 `json:"device_id,omitempty"`
	SiteID      int64                 `json:"site_id,omitempty"`
	Type        rimewatch.AlertType   `json:"type"`
	Status      rimewatch.AlertStatus `json:"status"`
	TriggeredAt rimewatch.Time        `json:"triggered_at"`
	ResolvedAt  rimewatch.Time        `json:"resolved_at,omitempty"`
	*alertBody
}

func encodeFacts(a *rimewatch.Alert) (string, error) {
	if a == nil {
		return "", nil
	}
	b, err := json.Marshal(alertFacts{a.DeviceID, a.SiteID, a.Type, a.Status, a.TriggeredAt, a.ResolvedAt, bodyOf(a)})
	return string(b), err
}

func decodeFacts(facts string, t *rimewatch.AlertTransition) error {
	if facts == "" {
		return nil
	}
	f := alertFacts{alertBody: &alertBody{}}
	if err := json.Unmarshal([]byte(facts), &f); err != nil {
		return fmt.Errorf("line %d of the timeline of alert %d: %w", t.ID, t.AlertID, err)
	}
	t.Facts = &rimewatch.Alert{
		ID: t.AlertID, WorkspaceID: t.WorkspaceID, DeviceID: f.DeviceID, SiteID: f.SiteID, Type: f.Type, Status: f.Status, Severity: t.Severity,
		TriggeredAt: f.TriggeredAt, ResolvedAt: f.ResolvedAt,
	}
	f.into(t.Facts)
	return nil
}

func scanTransition(stmt *sqlite.Stmt) (rimewatch.AlertTransition, error) {
	t := rimewatch.AlertTransition{
		ID: stmt.ColumnInt64(0), WorkspaceID: stmt.ColumnInt64(1), AlertID: stmt.ColumnInt64(2),
		Kind: rimewatch.TransitionKind(stmt.ColumnText(3)), At: columnTime(stmt, 4), Severity: rimewatch.Severity(stmt.ColumnText(5)),
		Actor: stmt.ColumnText(6), Note: stmt.ColumnText(7),
	}
	return t, decodeFacts(stmt.ColumnText(8), &t)
}

func transitions(conn *sqlite.Conn, where string, args ...any) (list []rimewatch.AlertTransition, err error) {
	err = sqlitex.Execute(conn, "SELECT "+transitionColumns+" FROM alert_transition "+where, &sqlitex.ExecOptions{
		Args: args,
		ResultFunc: func(stmt *sqlite.Stmt) error {
			t, err := scanTransition(stmt)
			list = append(list, t)
			return err
		},
	})
	return list, err
}

// AlertTransitions implements store.Notifications.
func (s *Store) AlertTransitions(ctx context.Context, workspaceID, alertID int64) (list []rimewatch.AlertTransition, err error) {
	err = s.readControl(ctx, func(conn *sqlite.Conn) (err error) {
		list, err = transitions(conn, "WHERE alert_id = ? AND workspace_id = ? ORDER BY id", alertID, workspaceID)
		return err
	})
	return list, err
}

// TransitionsAfter implements store.Notifications.
func (s *Store) TransitionsAfter(ctx context.Context, id int64, limit int) (list []rimewatch.AlertTransition, err error) {
	err = s.readControl(ctx, func(conn *sqlite.Conn) (err error) {
		list, err = transitions(conn, "WHERE id > ? ORDER BY id LIMIT ?", id, limit)
		return err
	})
	return list, err
}

// PlannedThrough implements store.Notifications.
func (s *Store) PlannedThrough(ctx context.Context) (id int64, err error) {
	err = s.readControl(ctx, func(conn *sqlite.Conn) (err error) {
		id, err = queryInt(conn, "SELECT coalesce((SELECT value FROM meta WHERE key = 'planned_through'), 0)")
		return err
	})
	return id, err
}

// pruneSlice is the number of rows that are pruned in one transaction.
const pruneSlice = 500

// pruneNotifications drops, in slices, what is older than before: silences that
// ended, the timelines of alerts that are over and what was told of these.
func (s *Store) pruneNotifications(ctx context.Context, workspaceID int64, before rimewatch.Time) error {
	const over = "NOT EXISTS (SELECT 1 FROM alert a WHERE a.id = x.alert_id AND a.status = 'active')"
	for _, rows := range []string{
		"alert_transition WHERE id IN (SELECT id FROM alert_transition x WHERE workspace_id = ? AND at < ? AND " + over + " LIMIT ?)",
		"silence WHERE id IN (SELECT id FROM silence WHERE workspace_id = ? AND ends_at < ? LIMIT ?)",
		"delivery WHERE id IN (SELECT id FROM delivery x WHERE workspace_id = ? AND created_at < ? AND status <> 'pending' AND " + over + " LIMIT ?)",
	} {
		if err := s.prune(ctx, rows, workspaceID, before); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) prune(ctx context.Context, rows string, workspaceID int64, before rimewatch.Time) error {
	for n := pruneSlice; n == pruneSlice; {
		found := int64(0)
		err := s.read(ctx, func(conn *sqlite.Conn) (err error) {
			found, err = queryInt(conn, "SELECT EXISTS (SELECT 1 FROM "+rows+")", workspaceID, int64(before), 1)
			return err
		})
		if err != nil || found == 0 {
			return err
		}
		err = s.write(ctx, func(conn *sqlite.Conn) (err error) {
			n, err = exec(conn, "DELETE FROM "+rows, workspaceID, int64(before), pruneSlice)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
