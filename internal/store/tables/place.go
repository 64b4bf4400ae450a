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

const workspaceColumns = "id, name, on_unknown, time_zone, raw_days, rollup_days, created_at, updated_at, limits, require_second_factor, delete_at"

func scanWorkspace(row Row) rimewatch.Workspace {
	var limits map[string]rimewatch.LimitOverrides
	if text := row.ColumnText(8); text != "{}" {
		_ = json.Unmarshal([]byte(text), &limits) // what limitsText wrote
	}
	return rimewatch.Workspace{
		Limits: limits,
		ID:     row.ColumnInt64(0), Name: row.ColumnText(1), OnUnknown: rimewatch.OnUnknown(row.ColumnText(2)), TimeZone: row.ColumnText(3),
		RawDays: row.ColumnInt(4), RollupDays: row.ColumnInt(5), CreatedAt: columnTime(row, 6), UpdatedAt: columnTime(row, 7),
		RequireSecondFactor: row.ColumnBool(9), DeleteAt: columnTime(row, 10),
	}
}

func findWorkspace(conn Conn, where string, arg any) (w rimewatch.Workspace, err error) {
	err = one(conn, errWorkspace(), "SELECT "+workspaceColumns+" FROM workspace WHERE "+where,
		func(row Row) { w = scanWorkspace(row) }, arg)
	return w, err
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

func (t *base) insertWorkspace(ctx context.Context, conn Conn, w *rimewatch.Workspace) (err error) {
	w.OnUnknown = cmp.Or(w.OnUnknown, rimewatch.HoldUnknown)
	w.ID, err = insert(conn, errNameTaken(),
		"INSERT INTO workspace (name, name_key, on_unknown, time_zone, raw_days, rollup_days, created_at, updated_at, limits, require_second_factor) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		w.Name, rimewatch.TextKey(w.Name), string(w.OnUnknown), w.TimeZone, w.RawDays, w.RollupDays, int64(w.CreatedAt), int64(w.UpdatedAt), limitsText(w), w.RequireSecondFactor)
	if err != nil {
		return err
	}
	return t.audit(ctx, conn, w.ID, "workspace.created", subject("workspace", w.ID), workspaceFields(w))
}

// CreateWorkspace implements store.Control.
func (t Places) CreateWorkspace(ctx context.Context, w *rimewatch.Workspace) error {
	if err := w.Check(); err != nil {
		return err
	}
	return t.write(ctx, func(conn Conn) error { return t.insertWorkspace(ctx, conn, w) })
}

// UpdateWorkspace implements store.Control.
func (t Places) UpdateWorkspace(ctx context.Context, id int64, change func(*rimewatch.Workspace) error) (w rimewatch.Workspace, err error) {
	err = t.write(ctx, func(conn Conn) error {
		old, err := findWorkspace(conn, "id = ?", id)
		if err != nil {
			return err
		}
		w = old
		if err := change(&w); err != nil {
			return err
		}
		w.ID, w.CreatedAt = old.ID, old.CreatedAt
		if err := w.Check(); err != nil {
			return err
		}
		_, err = exec(conn,
			"UPDATE workspace SET name = ?, name_key = ?, on_unknown = ?, time_zone = ?, raw_days = ?, rollup_days = ?, updated_at = ?, limits = ?, require_second_factor = ?, delete_at = ? WHERE id = ?",
			w.Name, rimewatch.TextKey(w.Name), string(w.OnUnknown), w.TimeZone, w.RawDays, w.RollupDays, int64(w.UpdatedAt), limitsText(&w), w.RequireSecondFactor, int64(w.DeleteAt), id)
		if err != nil {
			return unique(err, errNameTaken())
		}
		if old.DeleteAt != w.DeleteAt {
			return t.audit(ctx, conn, id, "workspace.deletion_changed", subject("workspace", id), store.Fields{"delete_at": store.Change{From: old.DeleteAt, To: w.DeleteAt}})
		}
		return t.auditChange(ctx, conn, id, "workspace.updated", subject("workspace", id), workspaceFields(&old), workspaceFields(&w))
	})
	if err != nil {
		return rimewatch.Workspace{}, err
	}
	return w, nil
}

// Workspace implements store.Control.
func (t Places) Workspace(ctx context.Context, id int64) (w rimewatch.Workspace, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		w, err = findWorkspace(conn, "id = ?", id)
		return err
	})
	return w, err
}

// WorkspaceByName implements store.Control.
func (t Places) WorkspaceByName(ctx context.Context, name string) (w rimewatch.Workspace, err error) {
	if rimewatch.CheckText(nil, "name", name, rimewatch.MaxNameLen) != nil {
		return w, errWorkspace()
	}
	err = t.read(ctx, func(conn Conn) (err error) {
		w, err = findWorkspace(conn, "name_key = ?", rimewatch.TextKey(name))
		return err
	})
	return w, err
}

// Workspaces implements store.Control.
func (t Places) Workspaces(ctx context.Context) (list []rimewatch.Workspace, err error) {
	err = t.read(ctx, func(conn Conn) error {
		return each(conn, "SELECT "+workspaceColumns+" FROM workspace WHERE TRUE"+t.and("id")+" ORDER BY id",
			func(row Row) { list = append(list, scanWorkspace(row)) })
	})
	return list, err
}

func errSite() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such site.") }

const siteColumns = "id, workspace_id, name, time_zone, address, created_at, updated_at"

func scanSite(row Row) rimewatch.Site {
	return rimewatch.Site{
		ID: row.ColumnInt64(0), WorkspaceID: row.ColumnInt64(1), Name: row.ColumnText(2), TimeZone: row.ColumnText(3),
		Address: row.ColumnText(4), CreatedAt: columnTime(row, 5), UpdatedAt: columnTime(row, 6),
	}
}

func siteFields(x *rimewatch.Site) store.Fields {
	return store.Fields{"name": x.Name, "timezone": x.TimeZone, "address": x.Address}
}

func findSite(conn Conn, workspaceID, id int64) (x rimewatch.Site, err error) {
	err = one(conn, errSite(), "SELECT "+siteColumns+" FROM site WHERE id = ? AND workspace_id = ?",
		func(row Row) { x = scanSite(row) }, id, workspaceID)
	return x, err
}

// CreateSite implements store.Control.
func (t Places) CreateSite(ctx context.Context, x *rimewatch.Site) error {
	if err := x.Check(); err != nil {
		return err
	}
	return t.write(ctx, func(conn Conn) (err error) {
		if err := room(conn, rimewatch.Sentencef("sites"), t.quotas.Sites, "SELECT count(*) FROM site WHERE workspace_id = ?", x.WorkspaceID); err != nil {
			return err
		}
		x.ID, err = insert(conn, errSite(),
			"INSERT INTO site (workspace_id, name, time_zone, address, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
			x.WorkspaceID, x.Name, x.TimeZone, x.Address, int64(x.CreatedAt), int64(x.UpdatedAt))
		if err != nil {
			return err
		}
		return t.audit(ctx, conn, x.WorkspaceID, "site.created", subject("site", x.ID), siteFields(x))
	})
}

// UpdateSite implements store.Control.
func (t Places) UpdateSite(ctx context.Context, workspaceID, id int64, change func(*rimewatch.Site) error) (x rimewatch.Site, err error) {
	err = t.write(ctx, func(conn Conn) error {
		old, err := findSite(conn, workspaceID, id)
		if err != nil {
			return err
		}
		x = old
		if err := change(&x); err != nil {
			return err
		}
		x.ID, x.WorkspaceID, x.CreatedAt = old.ID, old.WorkspaceID, old.CreatedAt
		if err := x.Check(); err != nil {
			return err
		}
		_, err = exec(conn, "UPDATE site SET name = ?, time_zone = ?, address = ?, updated_at = ? WHERE id = ?",
			x.Name, x.TimeZone, x.Address, int64(x.UpdatedAt), id)
		if err != nil {
			return err
		}
		return t.auditChange(ctx, conn, workspaceID, "site.updated", subject("site", id), siteFields(&old), siteFields(&x))
	})
	if err != nil {
		return rimewatch.Site{}, err
	}
	return x, nil
}

// DeleteSite implements store.Control.
func (t Places) DeleteSite(ctx context.Context, workspaceID, id int64) error {
	return t.write(ctx, func(conn Conn) error {
		x, err := findSite(conn, workspaceID, id)
		if err != nil {
			return err
		}
		if _, err := exec(conn, "DELETE FROM site WHERE id = ?", id); err != nil {
			return err
		}
		if _, err := exec(conn, "UPDATE device SET site_id = 0 WHERE workspace_id = ? AND site_id = ?", workspaceID, id); err != nil {
			return err
		}
		if _, err := exec(conn, "UPDATE source SET site_id = 0 WHERE workspace_id = ? AND site_id = ?", workspaceID, id); err != nil {
			return err
		}
		if _, err := exec(conn, "DELETE FROM report_schedule WHERE workspace_id = ? AND site_id = ?", workspaceID, id); err != nil {
			return err
		}
		return t.audit(ctx, conn, workspaceID, "site.deleted", subject("site", id), siteFields(&x))
	})
}

// Site implements store.Control.
func (t Places) Site(ctx context.Context, workspaceID, id int64) (x rimewatch.Site, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		x, err = findSite(conn, workspaceID, id)
		return err
	})
	return x, err
}

// Sites implements store.Control.
func (t Places) Sites(ctx context.Context, workspaceID int64) (list []rimewatch.Site, err error) {
	err = t.read(ctx, func(conn Conn) error {
		return each(conn, "SELECT "+siteColumns+" FROM site WHERE workspace_id = ? ORDER BY id",
			func(row Row) { list = append(list, scanSite(row)) }, workspaceID)
	})
	return list, err
}
