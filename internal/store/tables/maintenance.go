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
	shape: resourceOf("maintenance_window", errMaintenance, nil, maintenanceKey, func(w *rimewatch.MaintenanceWindow) []column {
		return []column{
			col("site_ids", document(&w.SiteIDs)), col("device_ids", document(&w.DeviceIDs)), col("starts_at", number(&w.StartsAt)),
			col("ends_at", number(&w.EndsAt)), col("reason", text(&w.Reason)), col("created_by", text(&w.CreatedBy)), fixed("plan_id", number(&w.PlanID)),
		}
	}),
	created: "maintenance.created", updated: "maintenance.updated", deleted: "maintenance.withdrawn", other: "maintenance.ended",
	key: maintenanceKey, span: true,
	check:   (*rimewatch.MaintenanceWindow).Check,
	most:    func(store.Quotas) int { return rimewatch.MaxMaintenanceWindows },
	counted: "plan_id = 0",
	kind:    rimewatch.Sentencef("maintenance windows that are active, planned or ended within the last week"),
	fields: func(w *rimewatch.MaintenanceWindow) store.Fields {
		return store.Fields{
			"site_ids": written(w.SiteIDs), "device_ids": written(w.DeviceIDs), "starts_at": w.StartsAt, "ends_at": w.EndsAt, "reason": w.Reason,
		}
	},
	changed: func(old, w *rimewatch.MaintenanceWindow, _ store.Fields) bool { return w.EndsAt < old.EndsAt },
}

func maintenanceKey(w *rimewatch.MaintenanceWindow) key {
	return key{&w.ID, &w.WorkspaceID, &w.Revision, &w.CreatedAt, nil}
}

// MaintenanceWindows implements store.Maintenance.
func (t Routing) MaintenanceWindows() store.Resource[rimewatch.MaintenanceWindow] {
	return handle[rimewatch.MaintenanceWindow]{t.base, &maintenanceTable, nil}
}

// AllMaintenanceWindows implements store.Everywhere.
func (t Everywhere) AllMaintenanceWindows(ctx context.Context, endAfter rimewatch.Time) (list []rimewatch.MaintenanceWindow, err error) {
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
