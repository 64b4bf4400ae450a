package tables

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

const alertColumns = "id, workspace_id, device_id, status, severity, type, triggered_at, acknowledged_at, resolved_at, body, site_id, part"

func scanAlert(row Row, a *rimewatch.Alert) error {
	*a = rimewatch.Alert{
		ID:             row.ColumnInt64(0),
		WorkspaceID:    row.ColumnInt64(1),
		DeviceID:       row.ColumnInt64(2),
		Status:         rimewatch.AlertStatus(row.ColumnText(3)),
		Severity:       rimewatch.Severity(row.ColumnText(4)),
		Type:           rimewatch.AlertType(row.ColumnText(5)),
		TriggeredAt:    rimewatch.Time(row.ColumnInt64(6)),
		AcknowledgedAt: rimewatch.Time(row.ColumnInt64(7)),
		ResolvedAt:     rimewatch.Time(row.ColumnInt64(8)),
		SiteID:         row.ColumnInt64(10),
		Part:           row.ColumnText(11),
	}
	whole := *a
	if err := json.Unmarshal([]byte(row.ColumnText(9)), &whole); err != nil {
		a.Note = unreadable // one damaged row does not keep other alerts from being read
		return nil          //nolint:nilerr // see above
	}
	*a = whole
	return nil
}

// unreadable is shown where a part of a row is damaged.
const unreadable = "Part of this record is damaged and cannot be read."

// saveAlert inserts an alert or overwrites it.
func saveAlert(conn Conn, a *rimewatch.Alert) error {
	body, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return conn.Later(nil, `INSERT INTO alert (`+alertColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET status = excluded.status, severity = excluded.severity, triggered_at = excluded.triggered_at,
			acknowledged_at = excluded.acknowledged_at, resolved_at = excluded.resolved_at, body = excluded.body`,
		a.ID, a.WorkspaceID, a.DeviceID, string(a.Status), string(a.Severity), string(a.Type),
		int64(a.TriggeredAt), int64(a.AcknowledgedAt), int64(a.ResolvedAt), string(body), a.SiteID, a.Part)
}

// alertWhere builds the conditions of a filter. Values are bound, never spelt out;
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
	if f.Predictive != nil {
		cond := "type IN ("
		if !*f.Predictive {
			cond = "type NOT IN ("
		}
		types := rimewatch.PredictiveTypes()
		conds = append(conds, cond+Marks(len(types))+")")
		for _, t := range types {
			args = append(args, string(t))
		}
	}
	if f.DeviceID != 0 {
		add("device_id = ?", f.DeviceID)
	}
	if f.Serial != "" {
		const of = "SELECT id FROM device WHERE workspace_id = ? AND serial_key = ? AND deleted_at "
		conds = append(conds, "device_id IN ("+of+"= 0 UNION ALL "+of+"<> 0)") // each by its index
		key := rimewatch.SerialKey(f.Serial)
		args = append(args, workspaceID, key, workspaceID, key)
	}
	if f.SiteID != 0 {
		conds = append(conds, "(site_id = ? OR device_id IN (SELECT id FROM device WHERE workspace_id = ? AND site_id = ?))")
		args = append(args, f.SiteID, workspaceID, f.SiteID)
	}
	if f.Equipment != "" {
		conds = append(conds, "device_id IN (SELECT id FROM device WHERE workspace_id = ? AND equipment_type = ?)")
		args = append(args, workspaceID, f.Equipment)
	}
	if f.Devices != nil {
		conds = append(conds, "device_id IN ("+numbers(f.Devices)+")")
	}
	if f.Since != 0 {
		add("triggered_at >= ?", int64(f.Since))
	}
	if f.Sites != nil {
		cond, of := alertsOfSites(f.Sites)
		conds, args = append(conds, cond), append(args, of...)
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

// alertsOfSites builds the condition of alerts of sites, and of devices that stand
// there now.
func alertsOfSites(s rimewatch.Sites) (cond string, args []any) {
	marks := "NULL" // none
	if len(s) > 0 {
		marks = Marks(len(s))
	}
	for range 2 {
		for _, id := range s {
			args = append(args, id)
		}
	}
	return "(site_id IN (" + marks + ") OR device_id IN (SELECT id FROM device WHERE deleted_at = 0 AND site_id IN (" + marks + ")))", args
}

// ErrAlert says that there is no such alert.
func ErrAlert() *rimewatch.Error {
	return rimewatch.Errorf(rimewatch.CodeAlertNotFound, "There is no such alert.")
}

// numbers spells out ids: there may be more of them than can be bound.
func numbers(ids []int64) string {
	b := []byte("-1")
	for _, id := range ids {
		b = strconv.AppendInt(append(b, ','), id, 10)
	}
	return string(b)
}

// AlertList lists alerts newest first; with count, total counts all that the
// filter lets through.
func (t Alerts) AlertList(ctx context.Context, workspaceID int64, f store.AlertFilter, p store.AlertPage, count bool) (list []rimewatch.AlertView, total int, err error) {
	where, args := alertWhere(workspaceID, &f)
	err = t.readLong(ctx, func(conn Conn) error {
		if count {
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
		list, err = scanAll(conn, func(row Row, v *rimewatch.AlertView) error { return scanAlert(row, &v.Alert) }, query, args...)
		return err
	})
	return list, total, err
}

// FindAlert finds one alert: CodeAlertNotFound.
func (t Alerts) FindAlert(ctx context.Context, workspaceID, id int64) (a rimewatch.Alert, err error) {
	err = t.readLong(ctx, func(conn Conn) error {
		list, err := scanAll(conn, scanAlert, "SELECT "+alertColumns+" FROM alert WHERE id = ? AND workspace_id = ?", id, workspaceID)
		if err == nil && len(list) == 0 {
			err = ErrAlert()
		}
		if err == nil {
			a = list[0]
		}
		return err
	})
	return a, err
}

// CountAlerts calls yield for every workspace, status and severity that there
// are alerts of, triggered at or after since. workspaceID 0 = of all workspaces, with sites of nil.
func (t Alerts) CountAlerts(ctx context.Context, workspaceID int64, sites rimewatch.Sites, since rimewatch.Time, yield func(workspaceID int64, status rimewatch.AlertStatus, severity rimewatch.Severity, n int)) error {
	query, args := "SELECT workspace_id, status, severity, count(*) FROM alert", []any(nil)
	if workspaceID != 0 {
		query, args = query+" WHERE workspace_id = ? AND triggered_at >= ?", []any{workspaceID, int64(since)}
	}
	if sites != nil {
		cond, of := alertsOfSites(sites)
		query, args = query+" AND "+cond, append(args, of...)
	}
	return t.readLong(ctx, func(conn Conn) error {
		return each(conn, query+" GROUP BY 1, 2, 3", func(row Row) {
			yield(row.ColumnInt64(0), rimewatch.AlertStatus(row.ColumnText(1)), rimewatch.Severity(row.ColumnText(2)), row.ColumnInt(3))
		}, args...)
	})
}

// AllActiveAlerts implements store.Everywhere.
func (t Everywhere) AllActiveAlerts(ctx context.Context, yield func(*rimewatch.Alert) error) error {
	var a rimewatch.Alert
	return t.readLong(ctx, func(conn Conn) error {
		return conn.Query(func(row Row) error {
			if err := scanAlert(row, &a); err != nil {
				return err
			}
			return yield(&a)
		}, "SELECT "+alertColumns+" FROM alert WHERE status = 'active'"+t.and("workspace_id")+" ORDER BY id")
	})
}
