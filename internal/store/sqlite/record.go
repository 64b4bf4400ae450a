package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rimewatch/rimewatch"
	"zombiezen.com/go/sqlite"
)

const excursionColumns = "id, workspace_id, device_id, from_at, to_at, low, limit_temp, peak, degree_minutes, cause"

func saveExcursion(conn *sqlite.Conn, e *rimewatch.Excursion) (err error) {
	e.ID, err = insert(conn, nil,
		"INSERT INTO excursion (workspace_id, device_id, from_at, to_at, low, limit_temp, peak, degree_minutes, cause) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		e.WorkspaceID, e.DeviceID, int64(e.From), int64(e.To), e.Low, e.Limit, e.Peak, e.DegreeMinutes, string(e.Cause))
	return err
}

func scanExcursion(stmt *sqlite.Stmt) rimewatch.Excursion {
	return rimewatch.Excursion{
		ID: stmt.ColumnInt64(0), WorkspaceID: stmt.ColumnInt64(1), DeviceID: stmt.ColumnInt64(2),
		From: columnTime(stmt, 3), To: columnTime(stmt, 4), Low: stmt.ColumnBool(5), Limit: stmt.ColumnFloat(6),
		Peak: stmt.ColumnFloat(7), DegreeMinutes: stmt.ColumnFloat(8), Cause: rimewatch.ExcursionCause(stmt.ColumnText(9)),
	}
}

// Excursions implements store.Records.
func (s *Store) Excursions(ctx context.Context, workspaceID, deviceID int64, from, to rimewatch.Time, limit int) (list []rimewatch.Excursion, err error) {
	query, args := "SELECT "+excursionColumns+" FROM excursion WHERE workspace_id = ? AND to_at > ? AND from_at < ?", []any{workspaceID, int64(from), int64(to)}
	if deviceID != 0 {
		query, args = query+" AND device_id = ?", append(args, deviceID)
	}
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		return each(conn, query+" ORDER BY from_at, id LIMIT ?", func(stmt *sqlite.Stmt) { list = append(list, scanExcursion(stmt)) }, append(args, limit)...)
	})
	return list, err
}

// expireExcursions deletes those that ended before.
func (s *Store) expireExcursions(ctx context.Context, workspaceID int64, before rimewatch.Time) error {
	const expired = " FROM excursion WHERE workspace_id = ? AND to_at < ?"
	found := int64(0)
	err := s.read(ctx, func(conn *sqlite.Conn) (err error) {
		found, err = queryInt(conn, "SELECT EXISTS (SELECT 1"+expired+")", workspaceID, int64(before))
		return err
	})
	if err != nil || found == 0 {
		return err
	}
	return s.write(ctx, func(conn *sqlite.Conn) error {
		_, err := exec(conn, "DELETE"+expired, workspaceID, int64(before))
		return err
	})
}

// actionBody is what of a corrective action no query asks for.
type actionBody struct {
	At               rimewatch.Time        `json:"at"`
	PerformedBy      string                `json:"performed_by"`
	VerifiedBy       string                `json:"verified_by,omitempty"`
	Cause            string                `json:"cause"`
	Action           string                `json:"action"`
	PreventiveAction string                `json:"preventive_action,omitempty"`
	Disposition      rimewatch.Disposition `json:"disposition"`
	Product          string                `json:"product,omitempty"`
	RepairReference  string                `json:"repair_reference,omitempty"`
	RecordedBy       string                `json:"recorded_by"`
}

// CreateCorrectiveAction implements store.Records.
func (s *Store) CreateCorrectiveAction(ctx context.Context, a *rimewatch.CorrectiveAction) error {
	body, err := json.Marshal(actionBody{a.At, a.PerformedBy, a.VerifiedBy, a.Cause, a.Action, a.PreventiveAction, a.Disposition, a.Product, a.RepairReference, a.RecordedBy})
	if err != nil {
		return err
	}
	return s.write(ctx, func(conn *sqlite.Conn) error {
		missing := rimewatch.Errorf(rimewatch.CodeAlertNotFound, "There is no such alert.")
		line := rimewatch.AlertTransition{
			WorkspaceID: a.WorkspaceID, AlertID: a.AlertID, Kind: rimewatch.TransitionCorrective, At: a.At, Actor: a.RecordedBy, Note: a.Action,
		}
		err := one(conn, missing, "SELECT device_id, severity FROM alert WHERE id = ? AND workspace_id = ?",
			func(stmt *sqlite.Stmt) {
				a.DeviceID, line.Severity = stmt.ColumnInt64(0), rimewatch.Severity(stmt.ColumnText(1))
			}, a.AlertID, a.WorkspaceID)
		if err != nil {
			return err
		}
		a.ID, err = insert(conn, nil, "INSERT INTO corrective_action (workspace_id, alert_id, device_id, performed_at, body) VALUES (?, ?, ?, ?, ?)",
			a.WorkspaceID, a.AlertID, a.DeviceID, int64(a.PerformedAt), string(body))
		if err != nil {
			return err
		}
		if err := insertTransition(conn, &line); err != nil {
			return err
		}
		return s.audit(ctx, conn, a.WorkspaceID, "corrective_action.recorded", subject("alert", a.AlertID),
			fields{"id": a.ID, "performed_by": a.PerformedBy, "verified_by": a.VerifiedBy, "disposition": a.Disposition})
	})
}

// CorrectiveActions implements store.Records.
func (s *Store) CorrectiveActions(ctx context.Context, workspaceID, alertID, deviceID int64, from, to rimewatch.Time) (list []rimewatch.CorrectiveAction, err error) {
	query, args := "SELECT id, workspace_id, alert_id, device_id, performed_at, body FROM corrective_action WHERE workspace_id = ? AND performed_at >= ? AND performed_at < ?", []any{workspaceID, int64(from), int64(to)}
	if alertID != 0 {
		query, args = query+" AND alert_id = ?", append(args, alertID)
	}
	if deviceID != 0 {
		query, args = query+" AND device_id = ?", append(args, deviceID)
	}
	var damaged error
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		return each(conn, query+" ORDER BY performed_at, id", func(stmt *sqlite.Stmt) {
			a := rimewatch.CorrectiveAction{
				ID: stmt.ColumnInt64(0), WorkspaceID: stmt.ColumnInt64(1), AlertID: stmt.ColumnInt64(2), DeviceID: stmt.ColumnInt64(3), PerformedAt: columnTime(stmt, 4),
			}
			var b actionBody
			if err := json.Unmarshal([]byte(stmt.ColumnText(5)), &b); err != nil {
				damaged = fmt.Errorf("corrective action %d: %w", a.ID, err)
			}
			a.At, a.PerformedBy, a.VerifiedBy, a.Cause, a.Action, a.PreventiveAction = b.At, b.PerformedBy, b.VerifiedBy, b.Cause, b.Action, b.PreventiveAction
			a.Disposition, a.Product, a.RepairReference, a.RecordedBy = b.Disposition, b.Product, b.RepairReference, b.RecordedBy
			list = append(list, a)
		}, args...)
	})
	if err == nil {
		err = damaged
	}
	return list, err
}

// calibrationBody is what of a calibration no query asks for.
type calibrationBody struct {
	Field          string         `json:"field"`
	Method         string         `json:"method"`
	Reference      float64        `json:"reference"`
	AsFound        float64        `json:"as_found"`
	AsLeft         *float64       `json:"as_left,omitempty"`
	Offset         float64        `json:"offset"`
	Uncertainty    *float64       `json:"uncertainty,omitempty"`
	PassLimit      float64        `json:"pass_limit"`
	Passed         bool           `json:"passed"`
	ReferenceID    string         `json:"reference_id,omitempty"`
	ReferenceDueAt rimewatch.Time `json:"reference_due_at,omitempty"`
	PerformedBy    string         `json:"performed_by"`
	AppliedFrom    rimewatch.Time `json:"applied_from"`
	DueAt          rimewatch.Time `json:"due_at"`
	Note           string         `json:"note,omitempty"`
	RecordedBy     string         `json:"recorded_by"`
	RecordedAt     rimewatch.Time `json:"recorded_at"`
}

func saveCalibration(conn *sqlite.Conn, d *rimewatch.Device, c *rimewatch.Calibration) error {
	body, err := json.Marshal(calibrationBody{
		c.Field.String(), c.Method, c.Reference, c.AsFound, c.AsLeft, c.Offset, c.Uncertainty, c.PassLimit, c.Passed,
		c.ReferenceID, c.ReferenceDueAt, c.PerformedBy, c.AppliedFrom, c.DueAt, c.Note, c.RecordedBy, c.RecordedAt,
	})
	if err != nil {
		return err
	}
	c.WorkspaceID, c.DeviceID = d.WorkspaceID, d.ID
	c.ID, err = insert(conn, nil, "INSERT INTO calibration (workspace_id, device_id, performed_at, body) VALUES (?, ?, ?, ?)",
		c.WorkspaceID, c.DeviceID, int64(c.PerformedAt), string(body))
	if err != nil {
		return err
	}
	detail, err := json.Marshal(fields{"id": c.ID, "field": c.Field.String(), "offset": c.Offset, "applied_from": c.AppliedFrom, "passed": c.Passed})
	if err != nil {
		return err
	}
	return appendAudit(conn, &rimewatch.AuditEntry{
		WorkspaceID: c.WorkspaceID, At: c.RecordedAt, Actor: c.RecordedBy, Action: "calibration.recorded", Subject: subject("device", d.ID), Detail: string(detail),
	})
}

// Calibrations implements store.Records.
func (s *Store) Calibrations(ctx context.Context, workspaceID, deviceID int64) (list []rimewatch.Calibration, err error) {
	var damaged error
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		return each(conn, "SELECT id, performed_at, body FROM calibration WHERE workspace_id = ? AND device_id = ? ORDER BY performed_at DESC, id DESC", func(stmt *sqlite.Stmt) {
			c := rimewatch.Calibration{ID: stmt.ColumnInt64(0), WorkspaceID: workspaceID, DeviceID: deviceID, PerformedAt: columnTime(stmt, 1)}
			var b calibrationBody
			if err := json.Unmarshal([]byte(stmt.ColumnText(2)), &b); err != nil {
				damaged = fmt.Errorf("calibration %d: %w", c.ID, err)
			}
			c.Field, _ = rimewatch.FieldByName(b.Field)
			c.Method, c.Reference, c.AsFound, c.AsLeft, c.Offset, c.Uncertainty, c.PassLimit, c.Passed = b.Method, b.Reference, b.AsFound, b.AsLeft, b.Offset, b.Uncertainty, b.PassLimit, b.Passed
			c.ReferenceID, c.ReferenceDueAt, c.PerformedBy, c.AppliedFrom, c.DueAt, c.Note = b.ReferenceID, b.ReferenceDueAt, b.PerformedBy, b.AppliedFrom, b.DueAt, b.Note
			c.RecordedBy, c.RecordedAt = b.RecordedBy, b.RecordedAt
			list = append(list, c)
		}, workspaceID, deviceID)
	})
	if err == nil {
		err = damaged
	}
	return list, err
}
