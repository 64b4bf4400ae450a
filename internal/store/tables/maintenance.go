package tables

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func errMaintenance() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such maintenance window.")
}

const maintenanceColumns = "id, workspace_id, site_ids, device_ids, starts_at, ends_at, reason, created_by, created_at"

func scanMaintenance(row Row, w *rimewatch.MaintenanceWindow) error {
	*w = rimewatch.MaintenanceWindow{
		ID: row.ColumnInt64(0), WorkspaceID: row.ColumnInt64(1), StartsAt: columnTime(row, 4), EndsAt: columnTime(row, 5),
		Reason: row.ColumnText(6), CreatedBy: row.ColumnText(7), CreatedAt: columnTime(row, 8),
	}
	if err := fromJSON(row, 2, &w.SiteIDs); err != nil {
		return err
	}
	return fromJSON(row, 3, &w.DeviceIDs)
}

func maintenanceWindows(conn Conn, where string, args ...any) ([]rimewatch.MaintenanceWindow, error) {
	return scanAll(conn, scanMaintenance, "SELECT "+maintenanceColumns+" FROM maintenance_window WHERE "+where, args...)
}

func findMaintenance(conn Conn, workspaceID, id int64) (rimewatch.MaintenanceWindow, error) {
	list, err := maintenanceWindows(conn, "id = ? AND workspace_id = ?", id, workspaceID)
	if err == nil && len(list) == 0 {
		err = errMaintenance()
	}
	if err != nil {
		return rimewatch.MaintenanceWindow{}, err
	}
	return list[0], nil
}

func maintenanceFields(w *rimewatch.MaintenanceWindow) store.Fields {
	return store.Fields{
		"site_ids": json.RawMessage(asJSON(w.SiteIDs)), "device_ids": json.RawMessage(asJSON(w.DeviceIDs)),
		"starts_at": w.StartsAt, "ends_at": w.EndsAt, "reason": w.Reason,
	}
}

// CreateMaintenance implements store.Maintenance.
func (t Routing) CreateMaintenance(ctx context.Context, w *rimewatch.MaintenanceWindow) error {
	if err := w.Check(); err != nil {
		return err
	}
	return t.write(ctx, func(conn Conn) error {
		if err := roomForSpan(conn, "maintenance_window", rimewatch.Sentencef("maintenance windows that are active, planned or ended within the last week"), w.WorkspaceID, w.CreatedAt, rimewatch.MaxMaintenanceWindows); err != nil {
			return err
		}
		id, err := insert(conn, errMaintenance(),
			"INSERT INTO maintenance_window (workspace_id, site_ids, device_ids, starts_at, ends_at, reason, created_by, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			w.WorkspaceID, asJSON(w.SiteIDs), asJSON(w.DeviceIDs), int64(w.StartsAt), int64(w.EndsAt), w.Reason, w.CreatedBy, int64(w.CreatedAt))
		if err != nil {
			return err
		}
		w.ID = id
		return t.audit(ctx, conn, w.WorkspaceID, "maintenance.created", subject("maintenance", id), maintenanceFields(w))
	})
}

// UpdateMaintenance implements store.Maintenance.
func (t Routing) UpdateMaintenance(ctx context.Context, workspaceID, id int64, change func(*rimewatch.MaintenanceWindow) error) (w rimewatch.MaintenanceWindow, err error) {
	err = t.write(ctx, func(conn Conn) error {
		old, err := findMaintenance(conn, workspaceID, id)
		if err != nil {
			return err
		}
		w = old
		before := maintenanceFields(&old)
		if err := change(&w); err != nil {
			return err
		}
		w.ID, w.WorkspaceID, w.CreatedAt = id, workspaceID, old.CreatedAt
		if err := w.Check(); err != nil {
			return err
		}
		_, err = exec(conn, "UPDATE maintenance_window SET site_ids = ?, device_ids = ?, starts_at = ?, ends_at = ?, reason = ?, created_by = ? WHERE id = ?",
			asJSON(w.SiteIDs), asJSON(w.DeviceIDs), int64(w.StartsAt), int64(w.EndsAt), w.Reason, w.CreatedBy, id)
		if err != nil {
			return err
		}
		action := "maintenance.updated"
		if w.EndsAt < old.EndsAt {
			action = "maintenance.ended"
		}
		return t.auditChange(ctx, conn, workspaceID, action, subject("maintenance", id), before, maintenanceFields(&w))
	})
	if err != nil {
		return rimewatch.MaintenanceWindow{}, err
	}
	return w, nil
}

// MaintenanceWindow implements store.Maintenance.
func (t Routing) MaintenanceWindow(ctx context.Context, workspaceID, id int64) (w rimewatch.MaintenanceWindow, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		w, err = findMaintenance(conn, workspaceID, id)
		return err
	})
	return w, err
}

// MaintenanceWindows implements store.Maintenance.
func (t Routing) MaintenanceWindows(ctx context.Context, workspaceID int64, endAfter rimewatch.Time) (list []rimewatch.MaintenanceWindow, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		list, err = maintenanceWindows(conn, "workspace_id = ? AND ends_at > ? ORDER BY id", workspaceID, int64(endAfter))
		return err
	})
	return list, err
}

// AllMaintenanceWindows implements store.Everywhere.
func (t Routing) AllMaintenanceWindows(ctx context.Context, endAfter rimewatch.Time) (list []rimewatch.MaintenanceWindow, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		// A window of which nobody can read what it is for holds for nothing, and
		// keeps nobody else's from being read.
		list, err = scanAll(conn, func(row Row, w *rimewatch.MaintenanceWindow) error {
			if scanMaintenance(row, w) != nil {
				w.ID = 0
			}
			return nil
		}, "SELECT "+maintenanceColumns+" FROM maintenance_window WHERE ends_at > ?"+t.and("workspace_id")+" ORDER BY id", int64(endAfter))
		return err
	})
	return slices.DeleteFunc(list, func(w rimewatch.MaintenanceWindow) bool { return w.ID == 0 }), err
}
