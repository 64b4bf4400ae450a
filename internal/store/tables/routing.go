package tables

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func errRoute() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such route.") }

func errRouteTaken() error {
	return rimewatch.Errorf(rimewatch.CodeConflict, "This route name is already in use.").With("name", "is taken")
}

func errSilence() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such silence.") }

// bodyCell is what of a route no query asks for.
type bodyCell struct{ r *rimewatch.Route }

func (c bodyCell) keep(cell)                 { panic("a body is never fixed") }
func (c bodyCell) arg() any                  { return asJSON(c.r) }
func (c bodyCell) scan(row Row, i int) error { return fromJSON(row, i, c.r) }

var routeTable = resource[rimewatch.Route]{
	shape: shapeOf("route", errRoute, errRouteTaken, func(r *rimewatch.Route) []column {
		return []column{
			given("id", number(&r.ID)), fixed("workspace_id", number(&r.WorkspaceID)), col("name", text(&r.Name)), nameKey(r.Name), col("enabled", flag(&r.Enabled)),
			col("body", bodyCell{r}), fixed("created_at", number(&r.CreatedAt)), col("updated_at", number(&r.UpdatedAt)),
		}
	}),
	created: "route.created", updated: "route.updated", deleted: "route.deleted",
	where: "id = ? AND workspace_id = ? AND deleted = 0",
	ids:   func(r *rimewatch.Route) (id, workspaceID *int64) { return &r.ID, &r.WorkspaceID },
	check: (*rimewatch.Route).Check,
	room: func(_ *base, conn Conn, r *rimewatch.Route) error {
		return roomFor(conn, "route", rimewatch.Sentencef("routes"), r.WorkspaceID, rimewatch.MaxRoutes)
	},
	refers: checkTargets,
	fields: func(r *rimewatch.Route) store.Fields {
		return store.Fields{
			"name": r.Name, "enabled": r.Enabled, "match": written(r.Match), "steps": written(r.Steps),
			"repeat_s": r.RepeatS, "recovery": r.Recovery, "quiet_hours": written(r.Quiet), "digest_at": written(r.DigestAt),
		}
	},
}

// checkTargets wants every channel of a route to be one of its workspace.
func checkTargets(conn Conn, r *rimewatch.Route) error {
	known := make(map[int64]bool)
	err := each(conn, "SELECT id FROM channel WHERE workspace_id = ? AND deleted = 0",
		func(row Row) { known[row.ColumnInt64(0)] = true }, r.WorkspaceID)
	if err != nil {
		return err
	}
	for _, step := range r.Steps {
		for _, id := range step.ChannelIDs {
			if !known[id] {
				return rimewatch.Invalid("steps", "there is no channel %d", id)
			}
		}
	}
	return nil
}

// CreateRoute implements store.Notifications.
func (t Routing) CreateRoute(ctx context.Context, r *rimewatch.Route) error {
	return routeTable.create(ctx, t.base, r)
}

// UpdateRoute implements store.Notifications.
func (t Routing) UpdateRoute(ctx context.Context, workspaceID, id int64, change func(*rimewatch.Route) error) (rimewatch.Route, error) {
	return routeTable.change(ctx, t.base, workspaceID, id, change)
}

// DeleteRoute implements store.Notifications.
func (t Routing) DeleteRoute(ctx context.Context, workspaceID, id int64) error {
	return routeTable.delete(ctx, t.base, workspaceID, id, func(conn Conn, _ *rimewatch.Route) error {
		return execAll(conn, []any{id}, "UPDATE route SET deleted = 1, enabled = 0, body = '{}' WHERE id = ?")
	})
}

// Route implements store.Notifications.
func (t Routing) Route(ctx context.Context, workspaceID, id int64) (rimewatch.Route, error) {
	return routeTable.get(ctx, t.base, workspaceID, id)
}

// Routes implements store.Notifications.
func (t Routing) Routes(ctx context.Context, workspaceID int64) ([]rimewatch.Route, error) {
	return routeTable.all(ctx, t.base, "workspace_id = ? AND deleted = 0 ORDER BY id", workspaceID)
}

var silenceTable = resource[rimewatch.Silence]{
	shape: shapeOf("silence", errSilence, nil, func(x *rimewatch.Silence) []column {
		return []column{
			given("id", number(&x.ID)), fixed("workspace_id", number(&x.WorkspaceID)), col("match", document(&x.Match)), col("starts_at", number(&x.StartsAt)),
			col("ends_at", number(&x.EndsAt)), col("comment", text(&x.Comment)), col("created_by", text(&x.CreatedBy)), fixed("created_at", number(&x.CreatedAt)),
		}
	}),
	created: "silence.created", updated: "silence.updated", other: "silence.ended",
	ids:   func(x *rimewatch.Silence) (id, workspaceID *int64) { return &x.ID, &x.WorkspaceID },
	check: (*rimewatch.Silence).Check,
	room: func(_ *base, conn Conn, x *rimewatch.Silence) error {
		return roomForSpan(conn, "silence", rimewatch.Sentencef("silences that are active, planned or ended within the last week"), x.WorkspaceID, x.CreatedAt, rimewatch.MaxSilences)
	},
	fields: func(x *rimewatch.Silence) store.Fields {
		return store.Fields{"match": written(x.Match), "starts_at": x.StartsAt, "ends_at": x.EndsAt, "comment": x.Comment}
	},
	changed: func(old, x *rimewatch.Silence, _ store.Fields) bool { return x.EndsAt < old.EndsAt },
}

// CreateSilence implements store.Notifications.
func (t Routing) CreateSilence(ctx context.Context, x *rimewatch.Silence) error {
	return silenceTable.create(ctx, t.base, x)
}

// UpdateSilence implements store.Notifications.
func (t Routing) UpdateSilence(ctx context.Context, workspaceID, id int64, change func(*rimewatch.Silence) error) (rimewatch.Silence, error) {
	return silenceTable.change(ctx, t.base, workspaceID, id, change)
}

// Silence implements store.Notifications.
func (t Routing) Silence(ctx context.Context, workspaceID, id int64) (rimewatch.Silence, error) {
	return silenceTable.get(ctx, t.base, workspaceID, id)
}

// Silences implements store.Notifications.
func (t Routing) Silences(ctx context.Context, workspaceID int64, endAfter rimewatch.Time) ([]rimewatch.Silence, error) {
	return silenceTable.all(ctx, t.base, "workspace_id = ? AND ends_at > ? ORDER BY id", workspaceID, int64(endAfter))
}
