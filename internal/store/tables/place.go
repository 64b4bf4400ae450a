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
			fixed("exposure_since", number(&w.ExposureSince)), col("revision", number(&w.Revision)), col("slug", text(&w.Slug)),
			fixed("test_of", number(&w.TestOf)), fixed("test_devices", number(&w.TestDevices)),
			col("require_action", text(&w.RequireAction)), col("logo_at", number(&w.LogoAt)),
		}
	}),
	created: "workspace.created", updated: "workspace.updated", other: "workspace.deletion_changed",
	key: func(w *rimewatch.Workspace) key {
		return key{&w.ID, &w.ID, &w.Revision, &w.CreatedAt, nil}
	},
	check:  (*rimewatch.Workspace).Check,
	fields: workspaceFields,
	changed: func(old, w *rimewatch.Workspace, diff store.Fields) bool {
		if old.Slug != w.Slug {
			diff["slug"] = store.Change{From: old.Slug, To: w.Slug}
		}
		if old.LogoAt != w.LogoAt {
			diff["logo_at"] = store.Change{From: old.LogoAt, To: w.LogoAt}
		}
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
		_ = json.Unmarshal([]byte(text), &c.w.Limits) // by limitsText
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
		"require_second_factor": w.RequireSecondFactor, "require_action": string(w.RequireAction)}
}

func (t *base) insertWorkspace(ctx context.Context, conn Conn, w *rimewatch.Workspace) error {
	w.OnUnknown, w.RequireAction = cmp.Or(w.OnUnknown, rimewatch.HoldUnknown), cmp.Or(w.RequireAction, rimewatch.RequireNone)
	if w.Slug == "" {
		slug, err := freeSlug(conn, w.Name)
		if err != nil {
			return err
		}
		w.Slug = slug
	}
	if err := workspaceTable.createIn(ctx, t, conn, w); err != nil {
		return err
	}
	return takeSlug(conn, w.ID, w.Slug)
}

// CreateWorkspace implements store.Control.
func (t Places) CreateWorkspace(ctx context.Context, w *rimewatch.Workspace) error {
	return t.write(ctx, func(conn Conn) error { return t.insertWorkspace(ctx, conn, w) })
}

// UpdateWorkspace implements store.Control.
func (t Places) UpdateWorkspace(ctx context.Context, id int64, change func(*rimewatch.Workspace) error) (rimewatch.Workspace, error) {
	var w rimewatch.Workspace
	err := t.write(ctx, func(conn Conn) error {
		old, err := workspaceTable.find(conn, "id = ?", id)
		if err == nil {
			w, err = workspaceTable.changeIn(ctx, t.base, conn, old, change)
		}
		if err == nil && w.Slug != old.Slug {
			err = takeSlug(conn, id, w.Slug)
		}
		return err
	})
	if err != nil {
		return rimewatch.Workspace{}, err
	}
	return w, nil
}

// Workspace implements store.Control.
func (t Places) Workspace(ctx context.Context, id int64) (rimewatch.Workspace, error) {
	return workspaceTable.first(ctx, t.base, "id = ?", id)
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
	shape: resourceOf("site", errSite, errSite, siteKey, func(x *rimewatch.Site) []column {
		return []column{col("name", text(&x.Name)), col("time_zone", text(&x.TimeZone)), col("address", text(&x.Address)), col("updated_at", number(&x.UpdatedAt))}
	}),
	created: "site.created", updated: "site.updated", deleted: "site.deleted",
	key:   siteKey,
	check: (*rimewatch.Site).Check,
	most:  func(q store.Quotas) int { return q.Sites }, kind: rimewatch.Sentencef("sites"),
	fields: func(x *rimewatch.Site) store.Fields {
		return store.Fields{"name": x.Name, "timezone": x.TimeZone, "address": x.Address}
	},
}

func siteKey(x *rimewatch.Site) key {
	return key{&x.ID, &x.WorkspaceID, &x.Revision, &x.CreatedAt, nil}
}

// Sites implements store.Control.
func (t Places) Sites() store.Resource[rimewatch.Site] {
	return handle[rimewatch.Site]{t.base, &siteTable, func(conn Conn, x *rimewatch.Site) error {
		return execAll(conn, []any{x.WorkspaceID, x.ID},
			"DELETE FROM site WHERE workspace_id = ? AND id = ?",
			"UPDATE device SET site_id = 0 WHERE workspace_id = ? AND site_id = ?",
			"UPDATE source SET site_id = 0 WHERE workspace_id = ? AND site_id = ?",
			"UPDATE rota SET site_id = 0 WHERE workspace_id = ? AND site_id = ?",
			"DELETE FROM report_schedule WHERE workspace_id = ? AND site_id = ?",
			"DELETE FROM check_template WHERE workspace_id = ? AND site_id = ?",
			"DELETE FROM contact WHERE workspace_id = ? AND site_id = ?")
	}}
}
