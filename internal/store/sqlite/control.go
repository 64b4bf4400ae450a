package sqlite

import (
	"context"
	"encoding/json"

	"github.com/rimewatch/rimewatch"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// accountReaders is the number of connections that read control data.
const accountReaders = 2

// readControl is read for control data.
func (s *Store) readControl(ctx context.Context, f func(*sqlite.Conn) error) error {
	return s.readFrom(ctx, s.accounts, f)
}

// each runs a query and hands out its rows.
func each(conn *sqlite.Conn, query string, scan func(*sqlite.Stmt), args ...any) error {
	return sqlitex.Execute(conn, query, &sqlitex.ExecOptions{
		Args:       args,
		ResultFunc: func(stmt *sqlite.Stmt) error { scan(stmt); return nil },
	})
}

// one runs a query that finds one row: missing when it finds none.
func one(conn *sqlite.Conn, missing error, query string, scan func(*sqlite.Stmt), args ...any) error {
	found := false
	err := each(conn, query, func(stmt *sqlite.Stmt) { found = true; scan(stmt) }, args...)
	if err == nil && !found {
		return missing
	}
	return err
}

// exec runs a statement and gives the number of rows that it changed. What it
// refers to but does not exist is CodeNotFound.
func exec(conn *sqlite.Conn, query string, args ...any) (int, error) {
	err := sqlitex.Execute(conn, query, &sqlitex.ExecOptions{Args: args})
	if sqlite.ErrCode(err) == sqlite.ResultConstraintForeignKey {
		return 0, rimewatch.Wrap(rimewatch.CodeNotFound, err, "What this belongs to does not exist.")
	}
	if err != nil {
		return 0, err
	}
	return conn.Changes(), nil
}

// insert runs an INSERT and gives the new id. A clash of unique keys is taken.
func insert(conn *sqlite.Conn, taken error, query string, args ...any) (int64, error) {
	_, err := exec(conn, query, args...)
	if err != nil {
		return 0, unique(err, taken)
	}
	return conn.LastInsertRowID(), nil
}

// unique replaces the engine's word for a clash of unique keys.
func unique(err, taken error) error {
	if code := sqlite.ErrCode(err); code == sqlite.ResultConstraintUnique || code == sqlite.ResultConstraintPrimaryKey {
		return taken
	}
	return err
}

func columnTime(stmt *sqlite.Stmt, col int) rimewatch.Time {
	return rimewatch.Time(stmt.ColumnInt64(col))
}

func errWorkspace() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such workspace.")
}

func errNameTaken() error {
	return rimewatch.Errorf(rimewatch.CodeConflict, "Another workspace has this name.").With("name", "is taken")
}

const workspaceColumns = "id, name, auto_register, time_zone, raw_days, rollup_days, created_at, updated_at, limits"

func scanWorkspace(stmt *sqlite.Stmt) rimewatch.Workspace {
	var limits map[string]rimewatch.LimitOverrides
	if text := stmt.ColumnText(8); text != "{}" {
		_ = json.Unmarshal([]byte(text), &limits) // what limitsText wrote
	}
	return rimewatch.Workspace{
		Limits: limits,
		ID:     stmt.ColumnInt64(0), Name: stmt.ColumnText(1), AutoRegister: stmt.ColumnBool(2), TimeZone: stmt.ColumnText(3),
		RawDays: stmt.ColumnInt(4), RollupDays: stmt.ColumnInt(5), CreatedAt: columnTime(stmt, 6), UpdatedAt: columnTime(stmt, 7),
	}
}

func findWorkspace(conn *sqlite.Conn, where string, arg any) (w rimewatch.Workspace, err error) {
	err = one(conn, errWorkspace(), "SELECT "+workspaceColumns+" FROM workspace WHERE "+where,
		func(stmt *sqlite.Stmt) { w = scanWorkspace(stmt) }, arg)
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

func workspaceFields(w *rimewatch.Workspace) fields {
	return fields{"name": w.Name, "auto_register": w.AutoRegister, "timezone": w.TimeZone, "raw_days": w.RawDays, "rollup_days": w.RollupDays, "limits": jsonText(limitsText(w))}
}

func (s *Store) insertWorkspace(ctx context.Context, conn *sqlite.Conn, w *rimewatch.Workspace) (err error) {
	w.ID, err = insert(conn, errNameTaken(),
		"INSERT INTO workspace (name, name_key, auto_register, time_zone, raw_days, rollup_days, created_at, updated_at, limits) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		w.Name, rimewatch.TextKey(w.Name), w.AutoRegister, w.TimeZone, w.RawDays, w.RollupDays, int64(w.CreatedAt), int64(w.UpdatedAt), limitsText(w))
	if err != nil {
		return err
	}
	return s.audit(ctx, conn, w.ID, "workspace.created", subject("workspace", w.ID), workspaceFields(w))
}

// CreateWorkspace implements store.Control.
func (s *Store) CreateWorkspace(ctx context.Context, w *rimewatch.Workspace) error {
	if err := w.Check(); err != nil {
		return err
	}
	return s.write(ctx, func(conn *sqlite.Conn) error { return s.insertWorkspace(ctx, conn, w) })
}

// UpdateWorkspace implements store.Control.
func (s *Store) UpdateWorkspace(ctx context.Context, id int64, change func(*rimewatch.Workspace) error) (w rimewatch.Workspace, err error) {
	err = s.write(ctx, func(conn *sqlite.Conn) error {
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
			"UPDATE workspace SET name = ?, name_key = ?, auto_register = ?, time_zone = ?, raw_days = ?, rollup_days = ?, updated_at = ?, limits = ? WHERE id = ?",
			w.Name, rimewatch.TextKey(w.Name), w.AutoRegister, w.TimeZone, w.RawDays, w.RollupDays, int64(w.UpdatedAt), limitsText(&w), id)
		if err != nil {
			return unique(err, errNameTaken())
		}
		return s.auditChange(ctx, conn, id, "workspace.updated", subject("workspace", id), workspaceFields(&old), workspaceFields(&w))
	})
	if err != nil {
		return rimewatch.Workspace{}, err
	}
	return w, nil
}

// Workspace implements store.Control.
func (s *Store) Workspace(ctx context.Context, id int64) (w rimewatch.Workspace, err error) {
	err = s.readControl(ctx, func(conn *sqlite.Conn) (err error) {
		w, err = findWorkspace(conn, "id = ?", id)
		return err
	})
	return w, err
}

// WorkspaceByName implements store.Control.
func (s *Store) WorkspaceByName(ctx context.Context, name string) (w rimewatch.Workspace, err error) {
	if rimewatch.CheckText(nil, "name", name, rimewatch.MaxNameLen) != nil {
		return w, errWorkspace()
	}
	err = s.readControl(ctx, func(conn *sqlite.Conn) (err error) {
		w, err = findWorkspace(conn, "name_key = ?", rimewatch.TextKey(name))
		return err
	})
	return w, err
}

// Workspaces implements store.Control.
func (s *Store) Workspaces(ctx context.Context) (list []rimewatch.Workspace, err error) {
	err = s.readControl(ctx, func(conn *sqlite.Conn) error {
		return each(conn, "SELECT "+workspaceColumns+" FROM workspace ORDER BY id",
			func(stmt *sqlite.Stmt) { list = append(list, scanWorkspace(stmt)) })
	})
	return list, err
}

func errSite() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such site.") }

const siteColumns = "id, workspace_id, name, time_zone, address, created_at, updated_at"

func scanSite(stmt *sqlite.Stmt) rimewatch.Site {
	return rimewatch.Site{
		ID: stmt.ColumnInt64(0), WorkspaceID: stmt.ColumnInt64(1), Name: stmt.ColumnText(2), TimeZone: stmt.ColumnText(3),
		Address: stmt.ColumnText(4), CreatedAt: columnTime(stmt, 5), UpdatedAt: columnTime(stmt, 6),
	}
}

func siteFields(x *rimewatch.Site) fields {
	return fields{"name": x.Name, "timezone": x.TimeZone, "address": x.Address}
}

func findSite(conn *sqlite.Conn, workspaceID, id int64) (x rimewatch.Site, err error) {
	err = one(conn, errSite(), "SELECT "+siteColumns+" FROM site WHERE id = ? AND workspace_id = ?",
		func(stmt *sqlite.Stmt) { x = scanSite(stmt) }, id, workspaceID)
	return x, err
}

// writeSites is write for a change of sites: afterwards the fleet in memory
// knows it too, before anybody else writes. devices, if not nil, then changes
// the devices in memory.
func (s *Store) writeSites(ctx context.Context, f func(*sqlite.Conn) error, devices func()) error {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	if err := s.transact(ctx, f); err != nil {
		return err
	}
	if s.cfg.ControlOnly {
		return nil
	}
	if devices != nil {
		s.mu.Lock()
		devices()
		s.mu.Unlock()
	}
	// What is stored is stored: a failure here only leaves old names on view.
	if err := s.refreshSites(s.writer); err != nil {
		s.log.Error("read the sites again", "error", err)
	}
	return nil
}

// CreateSite implements store.Control.
func (s *Store) CreateSite(ctx context.Context, x *rimewatch.Site) error {
	if err := x.Check(); err != nil {
		return err
	}
	return s.writeSites(ctx, func(conn *sqlite.Conn) (err error) {
		x.ID, err = insert(conn, errSite(),
			"INSERT INTO site (workspace_id, name, time_zone, address, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
			x.WorkspaceID, x.Name, x.TimeZone, x.Address, int64(x.CreatedAt), int64(x.UpdatedAt))
		if err != nil {
			return err
		}
		return s.audit(ctx, conn, x.WorkspaceID, "site.created", subject("site", x.ID), siteFields(x))
	}, nil)
}

// UpdateSite implements store.Control.
func (s *Store) UpdateSite(ctx context.Context, workspaceID, id int64, change func(*rimewatch.Site) error) (x rimewatch.Site, err error) {
	err = s.writeSites(ctx, func(conn *sqlite.Conn) error {
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
		return s.auditChange(ctx, conn, workspaceID, "site.updated", subject("site", id), siteFields(&old), siteFields(&x))
	}, nil)
	if err != nil {
		return rimewatch.Site{}, err
	}
	return x, nil
}

// DeleteSite implements store.Control.
func (s *Store) DeleteSite(ctx context.Context, workspaceID, id int64) error {
	return s.writeSites(ctx, func(conn *sqlite.Conn) error {
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
		return s.audit(ctx, conn, workspaceID, "site.deleted", subject("site", id), siteFields(&x))
	}, func() {
		r := s.fleet.workspaces[workspaceID]
		if r == nil {
			return
		}
		for _, d := range r.list {
			if d.row.siteID == id {
				d.row.siteID = 0
			}
		}
	})
}

// Site implements store.Control.
func (s *Store) Site(ctx context.Context, workspaceID, id int64) (x rimewatch.Site, err error) {
	err = s.readControl(ctx, func(conn *sqlite.Conn) (err error) {
		x, err = findSite(conn, workspaceID, id)
		return err
	})
	return x, err
}

// Sites implements store.Control.
func (s *Store) Sites(ctx context.Context, workspaceID int64) (list []rimewatch.Site, err error) {
	err = s.readControl(ctx, func(conn *sqlite.Conn) error {
		return each(conn, "SELECT "+siteColumns+" FROM site WHERE workspace_id = ? ORDER BY id",
			func(stmt *sqlite.Stmt) { list = append(list, scanSite(stmt)) }, workspaceID)
	})
	return list, err
}
