package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// alertBody is what of an alert no query asks for.
type alertBody struct {
	Metric             string                `json:"metric,omitempty"`
	Value              *float64              `json:"value,omitempty"`
	PeakValue          *float64              `json:"peak_value,omitempty"`
	Threshold          *float64              `json:"threshold,omitempty"`
	Unit               string                `json:"unit,omitempty"`
	ConditionStartedAt rimewatch.Time        `json:"condition_started_at,omitempty"`
	LastEvaluatedAt    rimewatch.Time        `json:"last_evaluated_at,omitempty"`
	AcknowledgedBy     string                `json:"acknowledged_by,omitempty"`
	AckExpiresAt       rimewatch.Time        `json:"ack_expires_at,omitempty"`
	ResolvedBy         string                `json:"resolved_by,omitempty"`
	Resolution         rimewatch.Resolution  `json:"resolution,omitempty"`
	Note               string                `json:"note,omitempty"`
	Occurrences        int                   `json:"occurrences,omitempty"`
	Flapping           bool                  `json:"flapping,omitempty"`
	OutOf              int                   `json:"out_of,omitempty"`
	HoldH              *float64              `json:"hold_h,omitempty"`
	SuppressedBy       int64                 `json:"suppressed_by,omitempty"`
	Prediction         *rimewatch.Prediction `json:"prediction,omitempty"`
	Feedback           *rimewatch.Feedback   `json:"feedback,omitempty"`
}

func bodyOf(a *rimewatch.Alert) *alertBody {
	return &alertBody{a.Metric, a.Value, a.PeakValue, a.Threshold, a.Unit, a.ConditionStartedAt, a.LastEvaluatedAt,
		a.AcknowledgedBy, a.AckExpiresAt, a.ResolvedBy, a.Resolution, a.Note, a.Occurrences, a.Flapping, a.OutOf, a.HoldH, a.SuppressedBy, a.Prediction, a.Feedback}
}

func (b *alertBody) into(a *rimewatch.Alert) {
	a.Metric, a.Value, a.PeakValue, a.Threshold, a.Unit = b.Metric, b.Value, b.PeakValue, b.Threshold, b.Unit
	a.ConditionStartedAt, a.LastEvaluatedAt, a.AcknowledgedBy, a.AckExpiresAt = b.ConditionStartedAt, b.LastEvaluatedAt, b.AcknowledgedBy, b.AckExpiresAt
	a.ResolvedBy, a.Resolution, a.Note, a.Occurrences, a.Flapping = b.ResolvedBy, b.Resolution, b.Note, b.Occurrences, b.Flapping
	a.OutOf, a.HoldH, a.SuppressedBy, a.Prediction, a.Feedback = b.OutOf, b.HoldH, b.SuppressedBy, b.Prediction, b.Feedback
}

// activeAlert is an active alert in memory, with what is newer than its row.
type activeAlert struct {
	workspaceID, deviceID int64
	severity              rimewatch.Severity
	touch                 store.AlertTouch
}

// alertCounts counts the retained alerts of each workspace.
type alertCounts map[int64]*store.AlertCounts

func (c alertCounts) add(workspaceID int64, status rimewatch.AlertStatus, severity rimewatch.Severity, n int) {
	counts := c[workspaceID]
	if counts == nil {
		counts = &store.AlertCounts{}
		c[workspaceID] = counts
	}
	*counterOf(counts, status, severity) += n
}

func counterOf(c *store.AlertCounts, status rimewatch.AlertStatus, severity rimewatch.Severity) *int {
	switch {
	case status == rimewatch.AlertActive && severity == rimewatch.Critical:
		return &c.ActiveCritical
	case status == rimewatch.AlertActive:
		return &c.ActiveWarning
	case severity == rimewatch.Critical:
		return &c.ResolvedCritical
	default:
		return &c.ResolvedWarning
	}
}

const alertColumns = "id, workspace_id, device_id, status, severity, type, triggered_at, acknowledged_at, resolved_at, body, site_id"

func scanAlert(stmt *sqlite.Stmt, a *rimewatch.Alert) error {
	*a = rimewatch.Alert{
		ID:             stmt.ColumnInt64(0),
		WorkspaceID:    stmt.ColumnInt64(1),
		DeviceID:       stmt.ColumnInt64(2),
		Status:         rimewatch.AlertStatus(stmt.ColumnText(3)),
		Severity:       rimewatch.Severity(stmt.ColumnText(4)),
		Type:           rimewatch.AlertType(stmt.ColumnText(5)),
		TriggeredAt:    rimewatch.Time(stmt.ColumnInt64(6)),
		AcknowledgedAt: rimewatch.Time(stmt.ColumnInt64(7)),
		ResolvedAt:     rimewatch.Time(stmt.ColumnInt64(8)),
		SiteID:         stmt.ColumnInt64(10),
	}
	var b alertBody
	if err := json.Unmarshal([]byte(stmt.ColumnText(9)), &b); err != nil {
		return fmt.Errorf("alert %d: %w", a.ID, err)
	}
	b.into(a)
	return nil
}

// saveAlert inserts an alert or overwrites it.
func saveAlert(conn *sqlite.Conn, a *rimewatch.Alert) error {
	body, err := json.Marshal(bodyOf(a))
	if err != nil {
		return err
	}
	stmt, err := conn.Prepare(`INSERT INTO alert (` + alertColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET status = excluded.status, severity = excluded.severity,
			acknowledged_at = excluded.acknowledged_at, resolved_at = excluded.resolved_at, body = excluded.body`)
	if err != nil {
		return err
	}
	stmt.BindInt64(1, a.ID)
	stmt.BindInt64(2, a.WorkspaceID)
	stmt.BindInt64(3, a.DeviceID)
	stmt.BindText(4, string(a.Status))
	stmt.BindText(5, string(a.Severity))
	stmt.BindText(6, string(a.Type))
	stmt.BindInt64(7, int64(a.TriggeredAt))
	stmt.BindInt64(8, int64(a.AcknowledgedAt))
	stmt.BindInt64(9, int64(a.ResolvedAt))
	stmt.BindText(10, string(body))
	stmt.BindInt64(11, a.SiteID)
	_, err = stmt.Step()
	return errors.Join(err, stmt.Reset(), stmt.ClearBindings())
}

// loadAlerts counts the retained alerts and remembers the active ones.
func (s *Store) loadAlerts(conn *sqlite.Conn) error {
	err := sqlitex.ExecuteTransient(conn, "SELECT workspace_id, status, severity, count(*) FROM alert GROUP BY 1, 2, 3", &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sqlite.Stmt) error {
			s.counts.add(stmt.ColumnInt64(0), rimewatch.AlertStatus(stmt.ColumnText(1)), rimewatch.Severity(stmt.ColumnText(2)), stmt.ColumnInt(3))
			return nil
		},
	})
	if err != nil {
		return err
	}
	return eachActive(conn, func(a *rimewatch.Alert) error {
		s.active[a.ID] = &activeAlert{workspaceID: a.WorkspaceID, deviceID: a.DeviceID, severity: a.Severity}
		if d := s.fleet.byID[a.DeviceID]; d != nil {
			d.live.ActiveAlerts++
		}
		return nil
	})
}

func eachActive(conn *sqlite.Conn, f func(*rimewatch.Alert) error) error {
	var a rimewatch.Alert
	return sqlitex.Execute(conn, "SELECT "+alertColumns+" FROM alert WHERE status = 'active' ORDER BY id", &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sqlite.Stmt) error {
			if err := scanAlert(stmt, &a); err != nil {
				return err
			}
			return f(&a)
		},
	})
}

// noteAlert keeps counts and active alerts in step with a committed alert, which
// is new or overwrites what was there. Under mu.
func (s *Store) noteAlert(a *rimewatch.Alert, fresh bool) {
	known := s.active[a.ID]
	if known == nil && !fresh {
		return // it was resolved before, and is counted
	}
	s.lastAlert = max(s.lastAlert, a.ID)
	if known != nil {
		s.counts.add(a.WorkspaceID, rimewatch.AlertActive, known.severity, -1)
	}
	s.counts.add(a.WorkspaceID, a.Status, a.Severity, 1)
	d := s.fleet.byID[a.DeviceID]
	switch {
	case a.Status == rimewatch.AlertActive && known == nil:
		s.active[a.ID] = &activeAlert{workspaceID: a.WorkspaceID, deviceID: a.DeviceID, severity: a.Severity}
		if d != nil {
			d.live.ActiveAlerts++
		}
	case a.Status == rimewatch.AlertActive:
		known.severity = a.Severity
		known.touch = store.AlertTouch{}
	case known != nil:
		delete(s.active, a.ID)
		if d != nil {
			d.live.ActiveAlerts--
		}
	}
}

func (s *Store) touchAlerts(touched []store.AlertTouch) {
	for _, t := range touched {
		if a := s.active[t.AlertID]; a != nil {
			a.touch = t
		}
	}
}

// complete adds what is newer in memory and what belongs to the device.
func (s *Store) complete(list []rimewatch.AlertView) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for i := range list {
		v := &list[i]
		if a := s.active[v.ID]; a != nil && v.Status == rimewatch.AlertActive && a.touch.Evaluated != 0 {
			t := a.touch
			v.LastEvaluatedAt = max(v.LastEvaluatedAt, t.Evaluated)
			if t.HasValue {
				v.Value, v.PeakValue = &t.Value, &t.Peak
			}
		}
		if d := s.fleet.byID[v.DeviceID]; d != nil {
			v.DeviceSerial, v.DeviceName, v.EquipmentType = d.row.serial, d.row.name, d.row.equipmentType
			v.Site = s.fleet.sites[d.row.siteID]
		} else if v.SiteID != 0 {
			v.Site = s.fleet.sites[v.SiteID]
		}
	}
}

// where builds the conditions of a filter. Values are bound, never spelt out;
// status is, so that the partial index applies.
func alertWhere(workspaceID int64, f *store.AlertFilter) (string, []any) {
	conds := []string{"workspace_id = ?"}
	args := []any{workspaceID}
	add := func(cond string, arg any) {
		conds = append(conds, cond)
		args = append(args, arg)
	}
	switch f.Status {
	case rimewatch.AlertActive:
		conds = append(conds, "status = 'active'")
	case rimewatch.AlertResolved:
		conds = append(conds, "status = 'resolved'")
	}
	if f.Severity != "" {
		add("severity = ?", string(f.Severity))
	}
	if f.Type != "" {
		add("type = ?", string(f.Type))
	}
	if f.DeviceID != 0 {
		add("device_id = ?", f.DeviceID)
	}
	if f.Since != 0 {
		add("triggered_at >= ?", int64(f.Since))
	}
	if f.Acknowledged != nil {
		if *f.Acknowledged {
			conds = append(conds, "acknowledged_at > 0")
		} else {
			conds = append(conds, "acknowledged_at = 0")
		}
	}
	return strings.Join(conds, " AND "), args
}

// Alerts implements store.Alerts.
func (s *Store) Alerts(ctx context.Context, workspaceID int64, f store.AlertFilter, p store.AlertPage) ([]rimewatch.AlertView, int, error) {
	var list []rimewatch.AlertView
	total, counted := 0, true // a page by keyset costs what it shows
	if p.BeforeAt == 0 {
		total, counted = s.countedTotal(workspaceID, &f)
	}
	where, args := alertWhere(workspaceID, &f)
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		if !counted {
			n, err := queryInt(conn, "SELECT count(*) FROM alert WHERE "+where, args...)
			if err != nil {
				return err
			}
			total = int(n)
		}
		query := "SELECT " + alertColumns + " FROM alert WHERE " + where
		if p.BeforeAt != 0 {
			query += " AND (triggered_at, id) < (?, ?)"
			args = append(args, int64(p.BeforeAt), p.BeforeID)
			p.Offset = 0
		}
		query += " ORDER BY triggered_at DESC, id DESC LIMIT ? OFFSET ?"
		args = append(args, p.Limit, p.Offset)
		return sqlitex.Execute(conn, query, &sqlitex.ExecOptions{Args: args, ResultFunc: func(stmt *sqlite.Stmt) error {
			list = append(list, rimewatch.AlertView{})
			return scanAlert(stmt, &list[len(list)-1].Alert)
		}})
	})
	if err != nil {
		return nil, 0, err
	}
	return list, total, s.completeAll(ctx, list)
}

// countedTotal answers from the counters what they can.
func (s *Store) countedTotal(workspaceID int64, f *store.AlertFilter) (int, bool) {
	if f.Type != "" || f.DeviceID != 0 || f.Acknowledged != nil || f.Since != 0 {
		return 0, false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.counts[workspaceID]
	if c == nil {
		return 0, true
	}
	total := 0
	for _, status := range []rimewatch.AlertStatus{rimewatch.AlertActive, rimewatch.AlertResolved} {
		for _, severity := range []rimewatch.Severity{rimewatch.Warning, rimewatch.Critical} {
			if (f.Status == "" || f.Status == status) && (f.Severity == "" || f.Severity == severity) {
				total += *counterOf(c, status, severity)
			}
		}
	}
	return total, true
}

// completeAll is complete, and looks up the names of devices that were deleted.
func (s *Store) completeAll(ctx context.Context, list []rimewatch.AlertView) error {
	s.complete(list)
	for i := range list {
		if list[i].DeviceSerial != "" || list[i].DeviceID == 0 {
			continue
		}
		err := s.read(ctx, func(conn *sqlite.Conn) error {
			return sqlitex.Execute(conn, "SELECT serial, name, equipment_type FROM device WHERE id = ?", &sqlitex.ExecOptions{
				Args: []any{list[i].DeviceID},
				ResultFunc: func(stmt *sqlite.Stmt) error {
					list[i].DeviceSerial, list[i].DeviceName, list[i].EquipmentType = stmt.ColumnText(0), stmt.ColumnText(1), stmt.ColumnText(2)
					return nil
				},
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Alert implements store.Alerts.
func (s *Store) Alert(ctx context.Context, workspaceID, id int64) (rimewatch.AlertView, error) {
	list := make([]rimewatch.AlertView, 0, 1)
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return sqlitex.Execute(conn, "SELECT "+alertColumns+" FROM alert WHERE id = ? AND workspace_id = ?", &sqlitex.ExecOptions{
			Args: []any{id, workspaceID},
			ResultFunc: func(stmt *sqlite.Stmt) error {
				list = append(list, rimewatch.AlertView{})
				return scanAlert(stmt, &list[len(list)-1].Alert)
			},
		})
	})
	if err == nil && len(list) == 0 {
		err = rimewatch.Errorf(rimewatch.CodeAlertNotFound, "There is no such alert.")
	}
	if err != nil {
		return rimewatch.AlertView{}, err
	}
	err = s.completeAll(ctx, list)
	return list[0], err
}

// ViewAlert implements store.Alerts.
func (s *Store) ViewAlert(ctx context.Context, a *rimewatch.Alert) (rimewatch.AlertView, error) {
	list := []rimewatch.AlertView{{Alert: *a}}
	err := s.completeAll(ctx, list)
	return list[0], err
}

// AlertCounts implements store.Alerts.
func (s *Store) AlertCounts(ctx context.Context, workspaceID int64, since rimewatch.Time) (store.AlertCounts, error) {
	var c store.AlertCounts
	if since == 0 {
		s.mu.RLock()
		defer s.mu.RUnlock()
		if known := s.counts[workspaceID]; known != nil {
			c = *known
		}
		return c, nil
	}
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return sqlitex.Execute(conn, "SELECT status, severity, count(*) FROM alert WHERE workspace_id = ? AND triggered_at >= ? GROUP BY 1, 2", &sqlitex.ExecOptions{
			Args: []any{workspaceID, int64(since)},
			ResultFunc: func(stmt *sqlite.Stmt) error {
				*counterOf(&c, rimewatch.AlertStatus(stmt.ColumnText(0)), rimewatch.Severity(stmt.ColumnText(1))) += stmt.ColumnInt(2)
				return nil
			},
		})
	})
	return c, err
}

// ActiveAlerts implements store.Alerts.
func (s *Store) ActiveAlerts(ctx context.Context, yield func(*rimewatch.Alert) error) error {
	return s.read(ctx, func(conn *sqlite.Conn) error { return eachActive(conn, yield) })
}
