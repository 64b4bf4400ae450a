package tables

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

var excursionTable = shapeOf("excursion", nil, nil, func(e *rimewatch.Excursion) []column {
	return []column{
		given("id", number(&e.ID)), col("workspace_id", number(&e.WorkspaceID)), col("device_id", number(&e.DeviceID)), col("from_at", number(&e.From)),
		col("to_at", number(&e.To)), col("low", flag(&e.Low)), col("limit_temp", float(&e.Limit)), col("peak", float(&e.Peak)),
		col("degree_minutes", float(&e.DegreeMinutes)), col("cause", text(&e.Cause)),
		col("found_late_at", number(&e.FoundLateAt)), col("runs", number(&e.Runs)), col("sum_ms", number(&e.Sum)),
	}
})

// saveExcursion inserts one, or overwrites the one that has its id.
func saveExcursion(conn Conn, e *rimewatch.Excursion) error {
	if e.ID == 0 {
		return excursionTable.insertLater(conn, &e.ID, e)
	}
	return excursionTable.updateLater(conn, e, e.ID)
}

// Excursions implements store.Records.
func (t Records) Excursions(ctx context.Context, workspaceID, deviceID int64, from, to rimewatch.Time, limit int) (list []rimewatch.Excursion, err error) {
	query, args := "workspace_id = ? AND to_at > ? AND from_at < ?", []any{workspaceID, int64(from), int64(to)}
	if deviceID != 0 {
		query, args = query+" AND device_id = ?", append(args, deviceID)
	}
	err = t.readLong(ctx, func(conn Conn) (err error) {
		list, err = excursionTable.list(conn, query+" ORDER BY from_at, id LIMIT ?", append(args, limit)...)
		return err
	})
	return list, err
}

// ExcursionTotals implements store.Records.
func (t Records) ExcursionTotals(ctx context.Context, workspaceID int64, from, to rimewatch.Time) (map[int64]store.ExcursionTotal, error) {
	var list []rimewatch.Excursion
	err := t.readLong(ctx, func(conn Conn) (err error) {
		list, err = excursionTable.list(conn, "workspace_id = ? AND to_at > ? AND from_at < ?", workspaceID, int64(from), int64(to))
		return err
	})
	out := make(map[int64]store.ExcursionTotal)
	for i := range list {
		sum := out[list[i].DeviceID]
		sum.Add(&list[i], from, to)
		out[list[i].DeviceID] = sum
	}
	return out, err
}

// Responses implements store.Records.
func (t Records) Responses(ctx context.Context, workspaceID int64, from, to rimewatch.Time) (list []store.Response, err error) {
	const query = `SELECT device_id, site_id, triggered_at, resolved_at,
		COALESCE((SELECT MIN(at) FROM alert_transition WHERE alert_id = alert.id AND kind = ?), 0)
		FROM alert WHERE workspace_id = ? AND triggered_at >= ? AND triggered_at < ? AND severity = ? ORDER BY triggered_at, id`
	err = t.readLong(ctx, func(conn Conn) error {
		list = nil
		return each(conn, query, func(row Row) {
			list = append(list, store.Response{
				DeviceID: row.ColumnInt64(0), SiteID: row.ColumnInt64(1), TriggeredAt: rimewatch.Time(row.ColumnInt64(2)), ResolvedAt: rimewatch.Time(row.ColumnInt64(3)),
				AcknowledgedAt: rimewatch.Time(row.ColumnInt64(4)),
			})
		}, string(rimewatch.TransitionAcknowledged), workspaceID, int64(from), int64(to), string(rimewatch.Critical))
	})
	return list, err
}

// expireExcursions deletes those that ended before, and the limits of that time.
func (t *base) expireExcursions(ctx context.Context, workspaceID int64, before rimewatch.Time) error {
	const (
		expired = " FROM excursion WHERE workspace_id = ? AND to_at < ?"
		limits  = " FROM former_limits WHERE workspace_id = ? AND until_at < ?"
	)
	found := int64(0)
	err := t.readLong(ctx, func(conn Conn) (err error) {
		found, err = queryInt(conn, "SELECT EXISTS (SELECT 1"+expired+") OR EXISTS (SELECT 1"+limits+")", workspaceID, int64(before), workspaceID, int64(before))
		return err
	})
	if err != nil || found == 0 {
		return err
	}
	return t.write(ctx, func(conn Conn) error {
		return execAll(conn, []any{workspaceID, int64(before)}, "DELETE"+expired, "DELETE"+limits)
	})
}

// FormerLimits implements store.Records.
func (t Records) FormerLimits(ctx context.Context, deviceID int64, after rimewatch.Time) (list []rimewatch.FormerLimits, err error) {
	err = t.read(ctx, func(conn Conn) error {
		return conn.Query(func(row Row) error {
			f := rimewatch.FormerLimits{WorkspaceID: row.ColumnInt64(0), DeviceID: deviceID, Until: columnTime(row, 1)}
			list = append(list, f)
			return json.Unmarshal([]byte(row.ColumnText(2)), &list[len(list)-1].Limits)
		}, "SELECT workspace_id, until_at, body FROM former_limits WHERE device_id = ? AND until_at > ? ORDER BY until_at", deviceID, int64(after))
	})
	return list, err
}

func saveFormerLimits(conn Conn, f *rimewatch.FormerLimits) error {
	body, err := json.Marshal(&f.Limits)
	if err != nil {
		return err
	}
	return conn.Later(nil, `INSERT INTO former_limits (workspace_id, device_id, until_at, body) VALUES (?, ?, ?, ?)
		ON CONFLICT (device_id, until_at) DO NOTHING`, f.WorkspaceID, f.DeviceID, int64(f.Until), string(body))
}

// CreateCorrectiveAction implements store.Records.
func (t Records) CreateCorrectiveAction(ctx context.Context, a *rimewatch.CorrectiveAction) error {
	return t.write(ctx, func(conn Conn) error {
		line, err := actionOwner(ctx, conn, a)
		if err != nil {
			return err
		}
		return t.recordAction(ctx, conn, a, line)
	})
}

// actionOwner looks up the subject of a corrective action: the alert, whose
// timeline gets a line, the case, or the device alone. The case that owns it is documented.
func actionOwner(ctx context.Context, conn Conn, a *rimewatch.CorrectiveAction) (line *rimewatch.AlertTransition, err error) {
	c, found, err := caseOfAction(ctx, conn, a)
	if err != nil {
		return nil, err
	}
	if found && a.AlertID == 0 && a.ExcursionID == 0 { // recorded for the case itself, whose device may be gone
		if !ofCase(&c, a.DeviceID) {
			return nil, rimewatch.Invalid("device_serial", "is no device of the case")
		}
		return nil, documented(conn, &c)
	}
	if line, err = actionSubject(conn, a); err == nil && found {
		err = documented(conn, &c)
	}
	return line, err
}

// ofCase reports whether a case is one of a device, or of a site that it had lines of: 0 = the site itself.
func ofCase(c *rimewatch.Case, deviceID int64) bool {
	return c.DeviceID == deviceID || c.DeviceID == 0 && slices.ContainsFunc(c.Lines, func(l rimewatch.CaseLine) bool { return l.DeviceID == deviceID })
}

func actionSubject(conn Conn, a *rimewatch.CorrectiveAction) (*rimewatch.AlertTransition, error) {
	if a.AlertID == 0 {
		missing := rimewatch.Errorf(rimewatch.CodeDeviceNotFound, "There is no such device.")
		err := one(conn, missing, "SELECT id FROM device WHERE id = ? AND workspace_id = ? AND deleted_at = 0", func(Row) {}, a.DeviceID, a.WorkspaceID)
		if err == nil && a.ExcursionID != 0 {
			err = one(conn, rimewatch.Invalid("excursion_id", "is no excursion of the device that has ended"),
				"SELECT id FROM excursion WHERE id = ? AND device_id = ? AND workspace_id = ?", func(Row) {}, a.ExcursionID, a.DeviceID, a.WorkspaceID)
		}
		return nil, err
	}
	line := &rimewatch.AlertTransition{
		WorkspaceID: a.WorkspaceID, AlertID: a.AlertID, Kind: rimewatch.TransitionCorrective, At: a.At, Actor: a.RecordedBy, Note: a.Action,
	}
	missing := rimewatch.Errorf(rimewatch.CodeAlertNotFound, "There is no such alert.")
	err := one(conn, missing, "SELECT device_id, severity FROM alert WHERE id = ? AND workspace_id = ?",
		func(row Row) {
			a.DeviceID, line.Severity = row.ColumnInt64(0), rimewatch.Severity(row.ColumnText(1))
		}, a.AlertID, a.WorkspaceID)
	return line, err
}

const actionColumns = "SELECT id, workspace_id, alert_id, device_id, performed_at, body, case_id FROM corrective_action WHERE workspace_id = ?"

func readAction(row Row) (a rimewatch.CorrectiveAction, err error) {
	a = rimewatch.CorrectiveAction{
		ID: row.ColumnInt64(0), WorkspaceID: row.ColumnInt64(1), AlertID: row.ColumnInt64(2), DeviceID: row.ColumnInt64(3), PerformedAt: columnTime(row, 4),
		CaseID: row.ColumnInt64(6),
	}
	if err = json.Unmarshal([]byte(row.ColumnText(5)), &a); err != nil {
		err = fmt.Errorf("corrective action %d: %w", a.ID, err)
	}
	return a, err
}

func oneAction(conn Conn, workspaceID, id int64) (a rimewatch.CorrectiveAction, err error) {
	var damaged error
	err = one(conn, store.ErrNoRecord(), actionColumns+" AND id = ?", func(row Row) { a, damaged = readAction(row) }, workspaceID, id)
	return a, cmp.Or(err, damaged)
}

// CorrectiveAction implements store.Records.
func (t Records) CorrectiveAction(ctx context.Context, workspaceID, id int64) (a rimewatch.CorrectiveAction, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		a, err = oneAction(conn, workspaceID, id)
		return err
	})
	return a, err
}

// VerifyCorrectiveAction implements store.Records.
func (t Records) VerifyCorrectiveAction(ctx context.Context, workspaceID, id int64, d rimewatch.Doer, now rimewatch.Time) (a rimewatch.CorrectiveAction, err error) {
	err = t.write(ctx, func(conn Conn) (err error) {
		if a, err = oneAction(conn, workspaceID, id); err != nil {
			return err
		}
		was := a.Verified
		if err := a.Verify(d, now); err != nil || a.Verified == was {
			return err
		}
		body, err := json.Marshal(&a)
		if err != nil {
			return err
		}
		if _, err := conn.Exec("UPDATE corrective_action SET body = ? WHERE id = ?", string(body), id); err != nil {
			return err
		}
		about := subject("device", a.DeviceID)
		switch {
		case a.AlertID != 0:
			about = subject("alert", a.AlertID)
		case a.DeviceID == 0:
			about = subject("case", a.CaseID)
		}
		if err := t.sealed(ctx, conn, sealedActions, workspaceID, a.ID, "corrective_action.verified", about, store.Fields{"verified_by": a.VerifiedBy}); err != nil {
			return err
		}
		return t.confirmOrder(ctx, conn, &a)
	})
	return a, err
}

// CorrectiveActions implements store.Records.
func (t Records) CorrectiveActions(ctx context.Context, workspaceID, alertID, deviceID int64, from, to rimewatch.Time) (list []rimewatch.CorrectiveAction, err error) {
	query, args := actionColumns+" AND performed_at >= ? AND performed_at < ?", []any{workspaceID, int64(from), int64(to)}
	if alertID != 0 {
		query, args = query+" AND alert_id = ?", append(args, alertID)
	}
	if deviceID != 0 {
		query, args = query+" AND device_id = ?", append(args, deviceID)
	}
	var damaged error
	err = t.readLong(ctx, func(conn Conn) error {
		return each(conn, query+" ORDER BY performed_at, id", func(row Row) {
			a, err := readAction(row)
			damaged = cmp.Or(damaged, err)
			list = append(list, a)
		}, args...)
	})
	if err == nil {
		err = damaged
	}
	return list, err
}

// calibrationBody are the members of a calibration that no query asks for, its field by name.
type calibrationBody struct {
	Field string `json:"field"`
	*rimewatch.Calibration
}

func saveCalibration(conn Conn, trails map[int64][32]byte, d *rimewatch.Device, c *rimewatch.Calibration) error {
	body, err := json.Marshal(calibrationBody{c.Field.String(), c})
	if err != nil {
		return err
	}
	c.WorkspaceID, c.DeviceID = d.WorkspaceID, d.ID
	c.ID, err = insert(conn, nil, "INSERT INTO calibration (workspace_id, device_id, performed_at, body) VALUES (?, ?, ?, ?)",
		c.WorkspaceID, c.DeviceID, int64(c.PerformedAt), string(body))
	if err != nil {
		return err
	}
	seal, err := sealedCalibrations.of(conn, c.ID)
	if err != nil {
		return err
	}
	e, err := store.NewAuditEntry(c.WorkspaceID, c.RecordedAt, c.RecordedBy, "calibration.recorded", subject("device", d.ID),
		store.Fields{"id": c.ID, "field": c.Field.String(), "offset": c.Offset, "applied_from": c.AppliedFrom, "passed": c.Passed, "sha256": seal})
	if err != nil {
		return err
	}
	return appendAudit(conn, trails, e)
}

// Calibrations implements store.Records.
func (t Records) Calibrations(ctx context.Context, workspaceID, deviceID int64) (list []rimewatch.Calibration, err error) {
	var damaged error
	err = t.readLong(ctx, func(conn Conn) error {
		return each(conn, "SELECT id, performed_at, body FROM calibration WHERE workspace_id = ? AND device_id = ? ORDER BY performed_at DESC, id DESC", func(row Row) {
			c := rimewatch.Calibration{ID: row.ColumnInt64(0), WorkspaceID: workspaceID, DeviceID: deviceID, PerformedAt: columnTime(row, 1)}
			b := calibrationBody{Calibration: &c}
			if err := json.Unmarshal([]byte(row.ColumnText(2)), &b); err != nil {
				damaged = fmt.Errorf("calibration %d: %w", c.ID, err)
			}
			c.Field, _ = rimewatch.FieldByName(b.Field)
			list = append(list, c)
		}, workspaceID, deviceID)
	})
	if err == nil {
		err = damaged
	}
	return list, err
}
