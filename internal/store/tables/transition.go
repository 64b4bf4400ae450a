package tables

import (
	"context"
	"encoding/json"

	"github.com/rimewatch/rimewatch"
)

const transitionColumns = "id, workspace_id, alert_id, kind, at, severity, actor, note, facts"

// insertTransition writes a line of an alert's timeline and sets its ID.
func insertTransition(conn Conn, t *rimewatch.AlertTransition) error {
	facts, err := encodeFacts(t)
	if err != nil {
		return err
	}
	return insertLater(conn, &t.ID, "INSERT INTO alert_transition (workspace_id, alert_id, kind, at, severity, actor, note, facts) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		t.WorkspaceID, t.AlertID, string(t.Kind), int64(t.At), string(t.Severity), t.Actor, t.Note, facts)
}

// alertFacts are an alert's facts in a line of its timeline.
type alertFacts struct {
	DeviceID    int64                 `json:"device_id,omitempty"`
	SiteID      int64                 `json:"site_id,omitempty"`
	Type        rimewatch.AlertType   `json:"type"`
	Status      rimewatch.AlertStatus `json:"status"`
	TriggeredAt rimewatch.Time        `json:"triggered_at"`
	ResolvedAt  rimewatch.Time        `json:"resolved_at,omitempty"`
	From        *rimewatch.Place      `json:"from,omitempty"`
	*rimewatch.Alert
}

func encodeFacts(t *rimewatch.AlertTransition) (string, error) {
	a := t.Facts
	if a == nil {
		return "", nil
	}
	b, err := json.Marshal(alertFacts{a.DeviceID, a.SiteID, a.Type, a.Status, a.TriggeredAt, a.ResolvedAt, t.From, a})
	return string(b), err
}

func decodeFacts(facts string, t *rimewatch.AlertTransition) error {
	if facts == "" {
		return nil
	}
	f := alertFacts{Alert: &rimewatch.Alert{}}
	if json.Unmarshal([]byte(facts), &f) != nil {
		t.Note = unreadable
		return nil //nolint:nilerr // one damaged line does not keep other messages from being planned
	}
	t.Facts, t.From = f.Alert, f.From
	t.Facts.ID, t.Facts.WorkspaceID, t.Facts.DeviceID, t.Facts.SiteID = t.AlertID, t.WorkspaceID, f.DeviceID, f.SiteID
	t.Facts.Type, t.Facts.Status, t.Facts.Severity, t.Facts.TriggeredAt, t.Facts.ResolvedAt = f.Type, f.Status, t.Severity, f.TriggeredAt, f.ResolvedAt
	return nil
}

func scanTransition(row Row, t *rimewatch.AlertTransition) error {
	*t = rimewatch.AlertTransition{
		ID: row.ColumnInt64(0), WorkspaceID: row.ColumnInt64(1), AlertID: row.ColumnInt64(2),
		Kind: rimewatch.TransitionKind(row.ColumnText(3)), At: columnTime(row, 4), Severity: rimewatch.Severity(row.ColumnText(5)),
		Actor: row.ColumnText(6), Note: row.ColumnText(7),
	}
	return decodeFacts(row.ColumnText(8), t)
}

func transitions(conn Conn, where string, args ...any) ([]rimewatch.AlertTransition, error) {
	return scanAll(conn, scanTransition, "SELECT "+transitionColumns+" FROM alert_transition "+where, args...)
}

// AlertTransitions implements store.Notifications.
func (t Outbox) AlertTransitions(ctx context.Context, workspaceID, alertID int64) (list []rimewatch.AlertTransition, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		list, err = transitions(conn, "WHERE alert_id = ? AND workspace_id = ? ORDER BY id", alertID, workspaceID)
		return err
	})
	return list, err
}

// AllTransitionsAfter implements store.Everywhere.
func (t Everywhere) AllTransitionsAfter(ctx context.Context, id int64, limit int) (list []rimewatch.AlertTransition, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		list, err = transitions(conn, "WHERE id > ?"+t.and("workspace_id")+" ORDER BY id LIMIT ?", id, limit)
		return err
	})
	return list, err
}

// PlannedThrough implements store.Notifications.
func (t Outbox) PlannedThrough(ctx context.Context) (id int64, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		id, err = meta(conn, t.key("planned_through"))
		return err
	})
	return id, err
}

// pruneSlice is the number of rows that are pruned in one transaction.
const pruneSlice = 500

// pruneNotifications drops, in slices, rows older than before: silences that ended, and the
// timelines and deliveries of alerts that are over.
func (t *base) pruneNotifications(ctx context.Context, workspaceID int64, before rimewatch.Time) error {
	const over = "NOT EXISTS (SELECT 1 FROM alert a WHERE a.id = x.alert_id AND a.status = 'active')"
	for _, rows := range []string{
		"alert_transition WHERE id IN (SELECT id FROM alert_transition x WHERE workspace_id = ? AND at < ? AND " + over + " LIMIT ?)",
		"silence WHERE id IN (SELECT id FROM silence WHERE workspace_id = ? AND ends_at < ? LIMIT ?)",
		"delivery WHERE id IN (SELECT id FROM delivery x WHERE workspace_id = ? AND created_at < ? AND status <> 'pending' AND " + over + " LIMIT ?)",
	} {
		if err := t.prune(ctx, rows, workspaceID, before); err != nil {
			return err
		}
	}
	return nil
}

func (t *base) prune(ctx context.Context, rows string, workspaceID int64, before rimewatch.Time) error {
	for n := pruneSlice; n == pruneSlice; {
		found := int64(0)
		err := t.readLong(ctx, func(conn Conn) (err error) {
			found, err = queryInt(conn, "SELECT EXISTS (SELECT 1 FROM "+rows+")", workspaceID, int64(before), 1)
			return err
		})
		if err != nil || found == 0 {
			return err
		}
		err = t.write(ctx, func(conn Conn) (err error) {
			n, err = exec(conn, "DELETE FROM "+rows, workspaceID, int64(before), pruneSlice)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
