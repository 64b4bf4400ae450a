package tables

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func errWorkspace() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such workspace.")
}

func errNameTaken() error {
	return rimewatch.Errorf(rimewatch.CodeConflict, "This workspace name is already in use.").With("name", "is taken")
}

var workspaceTable = resource[rimewatch.Workspace]{
	shape: shapeOf("workspace", errWorkspace, errNameTaken, func(w *rimewatch.Workspace) []column {
		return []column{
			given("id", number(&w.ID)), col("name", text(&w.Name)), nameKey(w.Name), col("on_unknown", text(&w.OnUnknown)),
			col("time_zone", text(&w.TimeZone)), col("raw_days", number(&w.RawDays)), col("rollup_days", number(&w.RollupDays)),
			fixed("created_at", number(&w.CreatedAt)), col("updated_at", number(&w.UpdatedAt)), col("limits", limitsCell{w}),
			col("require_second_factor", flag(&w.RequireSecondFactor)), col("delete_at", number(&w.DeleteAt)),
			fixed("exposure_since", number(&w.ExposureSince)),
		}
	}),
	created: "workspace.created", updated: "workspace.updated", other: "workspace.deletion_changed",
	where:  "id = ? AND id = ?", // it is its own
	ids:    func(w *rimewatch.Workspace) (id, workspaceID *int64) { return &w.ID, &w.ID },
	check:  (*rimewatch.Workspace).Check,
	fields: workspaceFields,
	changed: func(old, w *rimewatch.Workspace, diff store.Fields) bool {
		if old.DeleteAt == w.DeleteAt {
			return false
		}
		diff["delete_at"] = store.Change{From: old.DeleteAt, To: w.DeleteAt}
		return true
	},
}

// limitsCell is a workspace's limits.
type limitsCell struct{ w *rimewatch.Workspace }

func (c limitsCell) arg() any      { return limitsText(c.w) }
func (c limitsCell) keep(old cell) { c.w.Limits = old.(limitsCell).w.Limits }
func (c limitsCell) scan(row Row, i int) error {
	if text := row.ColumnText(i); text != "{}" {
		_ = json.Unmarshal([]byte(text), &c.w.Limits) // what limitsText wrote
	}
	return nil
}

// limitsText is how a workspace's limits are stored: types in order, no empty
// ones.
func limitsText(w *rimewatch.Workspace) string {
	set := make(map[string]rimewatch.LimitOverrides, len(w.Limits))
	for slug, o := range w.Limits {
		if !o.Empty() {
			set[slug] = o
		}
	}
	b, err := json.Marshal(set)
	if err != nil { // numbers that JSON cannot write do not get past the API
		return "{}"
	}
	return string(b)
}

// jsonText is JSON that can be compared.
type jsonText string

// MarshalJSON implements json.Marshaler.
func (t jsonText) MarshalJSON() ([]byte, error) { return []byte(t), nil }

func workspaceFields(w *rimewatch.Workspace) store.Fields {
	return store.Fields{"name": w.Name, "on_unknown": string(w.OnUnknown), "timezone": w.TimeZone, "raw_days": w.RawDays, "rollup_days": w.RollupDays, "limits": jsonText(limitsText(w)),
		"require_second_factor": w.RequireSecondFactor}
}

func (t *base) insertWorkspace(ctx context.Context, conn Conn, w *rimewatch.Workspace) error {
	w.OnUnknown = cmp.Or(w.OnUnknown, rimewatch.HoldUnknown)
	return workspaceTable.createIn(ctx, t, conn, w)
}

// CreateWorkspace implements store.Control.
func (t Places) CreateWorkspace(ctx context.Context, w *rimewatch.Workspace) error {
	return t.write(ctx, func(conn Conn) error { return t.insertWorkspace(ctx, conn, w) })
}

// UpdateWorkspace implements store.Control.
func (t Places) UpdateWorkspace(ctx context.Context, id int64, change func(*rimewatch.Workspace) error) (rimewatch.Workspace, error) {
	return workspaceTable.change(ctx, t.base, id, id, change)
}

// Workspace implements store.Control.
func (t Places) Workspace(ctx context.Context, id int64) (rimewatch.Workspace, error) {
	return workspaceTable.get(ctx, t.base, id, id)
}

// WorkspaceByName implements store.Control.
func (t Places) WorkspaceByName(ctx context.Context, name string) (w rimewatch.Workspace, err error) {
	if rimewatch.CheckText(nil, "name", name, rimewatch.MaxNameLen) != nil {
		return w, errWorkspace()
	}
	return workspaceTable.first(ctx, t.base, "name_key = ?", rimewatch.TextKey(name))
}

// Workspaces implements store.Control.
func (t Places) Workspaces(ctx context.Context) ([]rimewatch.Workspace, error) {
	return workspaceTable.all(ctx, t.base, "TRUE"+t.and("id")+" ORDER BY id")
}

func errSite() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such site.") }

var siteTable = resource[rimewatch.Site]{
	shape: shapeOf("site", errSite, errSite, func(x *rimewatch.Site) []column {
		return []column{
			given("id", number(&x.ID)), fixed("workspace_id", number(&x.WorkspaceID)), col("name", text(&x.Name)), col("time_zone", text(&x.TimeZone)),
			col("address", text(&x.Address)), fixed("created_at", number(&x.CreatedAt)), col("updated_at", number(&x.UpdatedAt)),
		}
	}),
	created: "site.created", updated: "site.updated", deleted: "site.deleted",
	ids:   func(x *rimewatch.Site) (id, workspaceID *int64) { return &x.ID, &x.WorkspaceID },
	check: (*rimewatch.Site).Check,
	room: func(t *base, conn Conn, x *rimewatch.Site) error {
		return room(conn, rimewatch.Sentencef("sites"), t.quotas.Sites, "SELECT count(*) FROM site WHERE workspace_id = ?", x.WorkspaceID)
	},
	fields: func(x *rimewatch.Site) store.Fields {
		return store.Fields{"name": x.Name, "timezone": x.TimeZone, "address": x.Address}
	},
}

// CreateSite implements store.Control.
func (t Places) CreateSite(ctx context.Context, x *rimewatch.Site) error {
	return siteTable.create(ctx, t.base, x)
}

// UpdateSite implements store.Control.
func (t Places) UpdateSite(ctx context.Context, workspaceID, id int64, change func(*rimewatch.Site) error) (rimewatch.Site, error) {
	return siteTable.change(ctx, t.base, workspaceID, id, change)
}

// DeleteSite implements store.Control.
func (t Places) DeleteSite(ctx context.Context, workspaceID, id int64) error {
	return siteTable.delete(ctx, t.base, workspaceID, id, func(conn Conn, _ *rimewatch.Site) error {
		return execAll(conn, []any{workspaceID, id},
			"DELETE FROM site WHERE workspace_id = ? AND id = ?",
			"UPDATE device SET site_id = 0 WHERE workspace_id = ? AND site_id = ?",
			"UPDATE source SET site_id = 0 WHERE workspace_id = ? AND site_id = ?",
			"DELETE FROM report_schedule WHERE workspace_id = ? AND site_id = ?")
	})
}

// Site implements store.Control.
func (t Places) Site(ctx context.Context, workspaceID, id int64) (rimewatch.Site, error) {
	return siteTable.get(ctx, t.base, workspaceID, id)
}

// Sites implements store.Control.
func (t Places) Sites(ctx context.Context, workspaceID int64) ([]rimewatch.Site, error) {
	return siteTable.all(ctx, t.base, "workspace_id = ? ORDER BY id", workspaceID)
}
