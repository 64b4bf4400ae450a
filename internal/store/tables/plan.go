package tables

import (
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// planSQL makes the table of maintenance plans.
const planSQL = `CREATE TABLE maintenance_plan (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	site_ids TEXT NOT NULL, -- JSON
	device_ids TEXT NOT NULL, -- JSON
	span TEXT NOT NULL, -- JSON
	reason TEXT NOT NULL,
	enabled INTEGER NOT NULL,
	created_by TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	revision INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX maintenance_window_by_plan ON maintenance_window(plan_id, starts_at) WHERE plan_id <> 0`

// planUpgradeSQL is the step by which there are maintenance plans.
const planUpgradeSQL = "ALTER TABLE maintenance_window ADD COLUMN plan_id INTEGER NOT NULL DEFAULT 0;\n" + planSQL

func errPlan() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such maintenance plan.")
}

var planTable = resource[rimewatch.MaintenancePlan]{
	shape: resourceOf("maintenance_plan", errPlan, nil, planKey, func(p *rimewatch.MaintenancePlan) []column {
		return []column{
			col("site_ids", document(&p.SiteIDs)), col("device_ids", document(&p.DeviceIDs)), col("span", document(&p.Window)),
			col("reason", text(&p.Reason)), col("enabled", flag(&p.Enabled)), fixed("created_by", text(&p.CreatedBy)), col("updated_at", number(&p.UpdatedAt)),
		}
	}),
	created: "maintenance_plan.created", updated: "maintenance_plan.updated", deleted: "maintenance_plan.deleted",
	key:   planKey,
	check: (*rimewatch.MaintenancePlan).Check,
	most:  func(store.Quotas) int { return rimewatch.MaxMaintenancePlans }, kind: rimewatch.Sentencef("maintenance plans"),
	fields: func(p *rimewatch.MaintenancePlan) store.Fields {
		return store.Fields{
			"site_ids": written(p.SiteIDs), "device_ids": written(p.DeviceIDs), "windows": written([]rimewatch.CheckWindow{p.Window}), "reason": p.Reason, "enabled": p.Enabled,
		}
	},
}

func planKey(p *rimewatch.MaintenancePlan) key {
	return key{&p.ID, &p.WorkspaceID, &p.Revision, &p.CreatedAt, nil}
}

// MaintenancePlans implements store.Maintenance.
func (t Routing) MaintenancePlans() store.Resource[rimewatch.MaintenancePlan] {
	return handle[rimewatch.MaintenancePlan]{t.base, &planTable, func(conn Conn, p *rimewatch.MaintenancePlan) error {
		return deleteFrom(conn, "maintenance_plan", p.ID)
	}}
}

// AllMaintenancePlans implements store.Everywhere.
func (t Everywhere) AllMaintenancePlans(ctx context.Context) ([]rimewatch.MaintenancePlan, error) {
	return planTable.all(ctx, t.base, "enabled <> 0"+t.and("workspace_id")+" ORDER BY id")
}

// SettleMaintenance implements store.Maintenance.
func (t Routing) SettleMaintenance(ctx context.Context, workspaceID, planID int64, after rimewatch.Time, settle func(*rimewatch.MaintenancePlan, []rimewatch.MaintenanceWindow) ([]rimewatch.MaintenanceWindow, []int64)) error {
	return t.write(ctx, func(conn Conn) error {
		// Others at this plan wait, and then find the windows made here.
		n, err := exec(conn, "UPDATE maintenance_plan SET revision = revision WHERE id = ? AND workspace_id = ?", planID, workspaceID)
		if err != nil {
			return err
		}
		var plan *rimewatch.MaintenancePlan
		if n > 0 {
			p, err := planTable.find(conn, "id = ?", planID)
			if err != nil {
				return err
			}
			plan = &p
		}
		coming, err := maintenanceTable.list(conn, "workspace_id = ? AND plan_id = ? AND plan_id <> 0 AND starts_at > ? ORDER BY id", workspaceID, planID, int64(after))
		if err != nil {
			return err
		}
		made, withdrawn := settle(plan, coming)
		for i := range coming {
			if err := t.withdraw(ctx, conn, &coming[i], withdrawn); err != nil {
				return err
			}
		}
		for i := range made {
			if err := maintenanceTable.createIn(store.WithActor(ctx, made[i].CreatedBy), t.base, conn, &made[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// withdraw deletes a window of a plan that is among those to be withdrawn.
func (t Routing) withdraw(ctx context.Context, conn Conn, w *rimewatch.MaintenanceWindow, ids []int64) error {
	if !slices.Contains(ids, w.ID) {
		return nil
	}
	n, err := exec(conn, "DELETE FROM maintenance_window WHERE id = ?", w.ID)
	if err != nil || n == 0 {
		return err
	}
	return maintenanceTable.audit(store.WithActor(ctx, w.CreatedBy), t.base, conn, w, maintenanceTable.deleted, maintenanceTable.fields(w))
}
