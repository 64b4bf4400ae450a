package tables

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// rotaSQL makes the table of rotas.
const rotaSQL = `CREATE TABLE rota (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	site_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	name_key TEXT NOT NULL,
	shifts TEXT NOT NULL,
	overrides TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	revision INTEGER NOT NULL DEFAULT 1,
	tell_hand_over TEXT NOT NULL,
	calendar_at INTEGER NOT NULL,
	UNIQUE (workspace_id, name_key)
) STRICT`

func errRota() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such rota.") }

func errRotaTaken() error {
	return rimewatch.Errorf(rimewatch.CodeConflict, "This rota name is already in use.").With("name", "is taken")
}

var rotaTable = resource[rimewatch.Rota]{
	shape: resourceOf("rota", errRota, errRotaTaken, rotaKey, func(r *rimewatch.Rota) []column {
		return []column{
			col("site_id", number(&r.SiteID)), col("name", text(&r.Name)), nameKey(r.Name), col("shifts", document(&r.Shifts)), col("overrides", document(&r.Overrides)),
			col("tell_hand_over", text(&r.TellHandOver)), col("calendar_at", number(&r.CalendarAt)), col("updated_at", number(&r.UpdatedAt)),
		}
	}),
	created: "rota.created", updated: "rota.updated", deleted: "rota.deleted",
	key:   rotaKey,
	check: (*rimewatch.Rota).Check,
	most:  func(store.Quotas) int { return rimewatch.MaxRotas }, kind: rimewatch.Sentencef("rotas"),
	refers: checkDuty,
	fields: func(r *rimewatch.Rota) store.Fields {
		return store.Fields{"site_id": r.SiteID, "name": r.Name, "shifts": written(r.Shifts), "overrides": written(r.Overrides), "tell_hand_over": r.TellHandOver, "calendar_since": r.CalendarAt}
	},
}

func rotaKey(r *rimewatch.Rota) key {
	return key{&r.ID, &r.WorkspaceID, &r.Revision, &r.CreatedAt, nil}
}

// checkDuty wants the site of a rota to be one of its workspace, and the users on duty to have
// been a member of it: one who is removed stays in the rota, as a gap.
func checkDuty(conn Conn, r *rimewatch.Rota) error {
	if r.SiteID != 0 {
		if err := mustBeSite(conn, r.WorkspaceID, r.SiteID); err != nil {
			return err
		}
	}
	known := make(map[int64]bool)
	err := each(conn, "SELECT user_id FROM member WHERE workspace_id = ?", func(row Row) { known[row.ColumnInt64(0)] = true }, r.WorkspaceID)
	if err == nil && r.ID != 0 {
		var was rimewatch.Rota
		err = conn.Query(func(row Row) error {
			if err := fromJSON(row, 1, &was.Shifts); err != nil {
				return err
			}
			return fromJSON(row, 2, &was.Overrides)
		}, "SELECT id, shifts, overrides FROM rota WHERE id = ?", r.ID)
		for _, id := range was.Members() {
			known[id] = true
		}
	}
	if err != nil {
		return err
	}
	for _, id := range r.Members() {
		if !known[id] {
			return rimewatch.Invalid("shifts", "there is no member %d", id)
		}
	}
	return nil
}

// Rotas implements store.Notifications.
func (t Routing) Rotas() store.Resource[rimewatch.Rota] {
	return handle[rimewatch.Rota]{t.base, &rotaTable, func(conn Conn, r *rimewatch.Rota) error {
		routes, err := namedBy(conn, r.WorkspaceID, rimewatch.Target{Kind: rimewatch.TargetRota, ID: r.ID})
		if err != nil {
			return err
		}
		if routes != "" {
			return rimewatch.Errorf(rimewatch.CodeConflict, "The rota is used by the routes %s.", routes)
		}
		return deleteFrom(conn, "rota", r.ID)
	}}
}
