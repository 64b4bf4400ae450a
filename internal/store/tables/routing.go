package tables

import (
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func errRoute() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such route.") }

func errRouteTaken() error {
	return rimewatch.Errorf(rimewatch.CodeConflict, "This route name is already in use.").With("name", "is taken")
}

func errSilence() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such silence.") }

// bodyCell are the members of a route that no query asks for.
type bodyCell struct{ r *rimewatch.Route }

func (c bodyCell) keep(cell)                 { panic("a body is never fixed") }
func (c bodyCell) arg() any                  { return asJSON(c.r) }
func (c bodyCell) scan(row Row, i int) error { return fromJSON(row, i, c.r) }

var routeTable = resource[rimewatch.Route]{
	shape: resourceOf("route", errRoute, errRouteTaken, routeKey, func(r *rimewatch.Route) []column {
		return []column{
			col("name", text(&r.Name)), nameKey(r.Name), col("enabled", flag(&r.Enabled)), col("body", bodyCell{r}), col("updated_at", number(&r.UpdatedAt)),
		}
	}),
	created: "route.created", updated: "route.updated", deleted: "route.deleted",
	key: routeKey, alive: "deleted = 0",
	check: (*rimewatch.Route).Check,
	most:  func(store.Quotas) int { return rimewatch.MaxRoutes }, kind: rimewatch.Sentencef("routes"),
	refers: checkTargets,
	fields: func(r *rimewatch.Route) store.Fields {
		return store.Fields{
			"name": r.Name, "enabled": r.Enabled, "match": written(r.Match), "steps": written(r.Steps),
			"repeat_s": r.RepeatS, "recovery": r.Recovery, "quiet_hours": written(r.Quiet), "digest_at": written(r.DigestAt),
		}
	},
}

func routeKey(r *rimewatch.Route) key {
	return key{&r.ID, &r.WorkspaceID, &r.Revision, &r.CreatedAt, nil}
}

// checkTargets wants every channel and target of a route to be one of its workspace. A member who was
// removed and a contact that is gone may stay where they were.
func checkTargets(conn Conn, r *rimewatch.Route) error {
	known := make(map[rimewatch.Target]bool)
	for kind, query := range map[rimewatch.TargetKind]string{
		"":                      "SELECT id FROM channel WHERE workspace_id = ? AND deleted = 0",
		rimewatch.TargetMember:  "SELECT user_id FROM member WHERE workspace_id = ?",
		rimewatch.TargetRota:    "SELECT id FROM rota WHERE workspace_id = ?",
		rimewatch.TargetContact: "SELECT id FROM contact WHERE workspace_id = ?",
	} {
		if err := each(conn, query, func(row Row) { known[rimewatch.Target{Kind: kind, ID: row.ColumnInt64(0)}] = true }, r.WorkspaceID); err != nil {
			return err
		}
	}
	if r.ID != 0 {
		var was rimewatch.Route
		if err := conn.Query(func(row Row) error { return fromJSON(row, 1, &was) }, "SELECT id, body FROM route WHERE id = ?", r.ID); err != nil {
			return err
		}
		for _, step := range was.Steps {
			for _, t := range step.Targets {
				known[t] = true
			}
		}
	}
	for _, step := range r.Steps {
		for _, id := range step.ChannelIDs {
			if !known[rimewatch.Target{ID: id}] {
				return rimewatch.Invalid("steps", "there is no channel %d", id)
			}
		}
		for _, t := range step.Targets {
			if !known[t] {
				return rimewatch.Invalid("steps", "there is no %s %d", t.Kind, t.ID)
			}
		}
	}
	return nil
}

// namedBy returns the names of the routes that have a target, "" = none has.
func namedBy(conn Conn, workspaceID int64, t rimewatch.Target) (string, error) {
	routes, err := routeTable.list(conn, "workspace_id = ? AND deleted = 0", workspaceID)
	var names []string
	for i := range routes {
		if slices.ContainsFunc(routes[i].Steps, func(s rimewatch.RouteStep) bool { return slices.Contains(s.Targets, t) }) {
			names = append(names, "“"+routes[i].Name+"”")
		}
	}
	return strings.Join(names, ", "), err
}

// Routes implements store.Notifications.
func (t Routing) Routes() store.Resource[rimewatch.Route] {
	return handle[rimewatch.Route]{t.base, &routeTable, func(conn Conn, r *rimewatch.Route) error {
		return execAll(conn, []any{r.ID}, "UPDATE route SET deleted = 1, enabled = 0, body = '{}' WHERE id = ?")
	}}
}

var silenceTable = resource[rimewatch.Silence]{
	shape: resourceOf("silence", errSilence, nil, silenceKey, func(x *rimewatch.Silence) []column {
		return []column{
			col("match", document(&x.Match)), col("starts_at", number(&x.StartsAt)), col("ends_at", number(&x.EndsAt)), col("comment", text(&x.Comment)),
			col("created_by", text(&x.CreatedBy)),
		}
	}),
	created: "silence.created", updated: "silence.updated", other: "silence.ended",
	key: silenceKey, span: true,
	check: (*rimewatch.Silence).Check,
	most:  func(store.Quotas) int { return rimewatch.MaxSilences },
	kind:  rimewatch.Sentencef("silences that are active, planned or ended within the last week"),
	fields: func(x *rimewatch.Silence) store.Fields {
		return store.Fields{"match": written(x.Match), "starts_at": x.StartsAt, "ends_at": x.EndsAt, "comment": x.Comment}
	},
	changed: func(old, x *rimewatch.Silence, _ store.Fields) bool { return x.EndsAt < old.EndsAt },
}

func silenceKey(x *rimewatch.Silence) key {
	return key{&x.ID, &x.WorkspaceID, &x.Revision, &x.CreatedAt, nil}
}

// Silences implements store.Notifications.
func (t Routing) Silences() store.Resource[rimewatch.Silence] {
	return handle[rimewatch.Silence]{t.base, &silenceTable, nil}
}
