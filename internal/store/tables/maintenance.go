package tables

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func errMaintenance() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such maintenance window.")
}

var maintenanceTable = resource[rimewatch.MaintenanceWindow]{
	shape: shapeOf("maintenance_window", errMaintenance, nil, func(w *rimewatch.MaintenanceWindow) []column {
		return []column{
			given("id", number(&w.ID)), fixed("workspace_id", number(&w.WorkspaceID)), col("site_ids", document(&w.SiteIDs)), col("device_ids", document(&w.DeviceIDs)),
			col("starts_at", number(&w.StartsAt)), col("ends_at", number(&w.EndsAt)), col("reason", text(&w.Reason)), col("created_by", text(&w.CreatedBy)),
			fixed("created_at", number(&w.CreatedAt)),
		}
	}),
	created: "maintenance.created", updated: "maintenance.updated", other: "maintenance.ended",
	ids:   func(w *rimewatch.MaintenanceWindow) (id, workspaceID *int64) { return &w.ID, &w.WorkspaceID },
	check: (*rimewatch.MaintenanceWindow).Check,
	room: func(_ *base, conn Conn, w *rimewatch.MaintenanceWindow) error {
		return roomForSpan(conn, "maintenance_window", rimewatch.Sentencef("maintenance windows that are active, planned or ended within the last week"), w.WorkspaceID, w.CreatedAt, rimewatch.MaxMaintenanceWindows)
	},
	fields: func(w *rimewatch.MaintenanceWindow) store.Fields {
		return store.Fields{
			"site_ids": written(w.SiteIDs), "device_ids": written(w.DeviceIDs), "starts_at": w.StartsAt, "ends_at": w.EndsAt, "reason": w.Reason,
		}
	},
	changed: func(old, w *rimewatch.MaintenanceWindow, _ store.Fields) bool { return w.EndsAt < old.EndsAt },
}

// CreateMaintenance implements store.Maintenance.
func (t Routing) CreateMaintenance(ctx context.Context, w *rimewatch.MaintenanceWindow) error {
	return maintenanceTable.create(ctx, t.base, w)
}

// UpdateMaintenance implements store.Maintenance.
func (t Routing) UpdateMaintenance(ctx context.Context, workspaceID, id int64, change func(*rimewatch.MaintenanceWindow) error) (rimewatch.MaintenanceWindow, error) {
	return maintenanceTable.change(ctx, t.base, workspaceID, id, change)
}

// MaintenanceWindow implements store.Maintenance.
func (t Routing) MaintenanceWindow(ctx context.Context, workspaceID, id int64) (rimewatch.MaintenanceWindow, error) {
	return maintenanceTable.get(ctx, t.base, workspaceID, id)
}

// MaintenanceWindows implements store.Maintenance.
func (t Routing) MaintenanceWindows(ctx context.Context, workspaceID int64, endAfter rimewatch.Time) ([]rimewatch.MaintenanceWindow, error) {
	return maintenanceTable.all(ctx, t.base, "workspace_id = ? AND ends_at > ? ORDER BY id", workspaceID, int64(endAfter))
}

// AllMaintenanceWindows implements store.Everywhere.
func (t Routing) AllMaintenanceWindows(ctx context.Context, endAfter rimewatch.Time) (list []rimewatch.MaintenanceWindow, err error) {
	err = t.read(ctx, func(conn Conn) error {
		read := maintenanceTable.reader()
		return each(conn, maintenanceTable.selects+"ends_at > ?"+t.and("workspace_id")+" ORDER BY id", func(row Row) {
			// A window of which nobody can read what it is for holds for nothing, and
			// keeps nobody else's from being read.
			if w, err := read(row); err == nil {
				list = append(list, w)
			}
		}, int64(endAfter))
	})
	return list, err
}
