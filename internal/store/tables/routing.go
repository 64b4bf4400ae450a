package tables

import (
	"context"
	"encoding/json"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func errRoute() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such route.") }

func errRouteTaken() error {
	return rimewatch.Errorf(rimewatch.CodeConflict, "This route name is already in use.").With("name", "is taken")
}

func errSilence() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such silence.") }

// routeBody is what of a route no query asks for.
type routeBody struct {
	Match    rimewatch.Matchers    `json:"match"`
	Steps    []rimewatch.RouteStep `json:"steps"`
	RepeatS  int                   `json:"repeat_s,omitempty"`
	Recovery bool                  `json:"recovery,omitempty"`
	Quiet    *rimewatch.QuietHours `json:"quiet,omitempty"`
	DigestAt *int                  `json:"digest_at,omitempty"`
}

func routeBodyOf(r *rimewatch.Route) routeBody {
	return routeBody{r.Match, r.Steps, r.RepeatS, r.Recovery, r.Quiet, r.DigestAt}
}

const routeColumns = "id, workspace_id, name, enabled, body, created_at, updated_at"

func scanRoute(row Row, r *rimewatch.Route) error {
	var b routeBody
	if err := fromJSON(row, 4, &b); err != nil {
		return err
	}
	*r = rimewatch.Route{
		ID: row.ColumnInt64(0), WorkspaceID: row.ColumnInt64(1), Name: row.ColumnText(2), Enabled: row.ColumnBool(3),
		Match: b.Match, Steps: b.Steps, RepeatS: b.RepeatS, Recovery: b.Recovery, Quiet: b.Quiet, DigestAt: b.DigestAt,
		CreatedAt: columnTime(row, 5), UpdatedAt: columnTime(row, 6),
	}
	return nil
}

func routes(conn Conn, where string, args ...any) ([]rimewatch.Route, error) {
	return scanAll(conn, scanRoute, "SELECT "+routeColumns+" FROM route WHERE "+where, args...)
}

func findRoute(conn Conn, workspaceID, id int64) (rimewatch.Route, error) {
	list, err := routes(conn, "id = ? AND workspace_id = ? AND deleted = 0", id, workspaceID)
	if err == nil && len(list) == 0 {
		err = errRoute()
	}
	if err != nil {
		return rimewatch.Route{}, err
	}
	return list[0], nil
}

// routeFields are a route's for the audit trail, as they are now: change may
// reach into its lists.
func routeFields(r *rimewatch.Route) store.Fields {
	return store.Fields{
		"name": r.Name, "enabled": r.Enabled, "match": json.RawMessage(asJSON(r.Match)), "steps": json.RawMessage(asJSON(r.Steps)),
		"repeat_s": r.RepeatS, "recovery": r.Recovery, "quiet_hours": json.RawMessage(asJSON(r.Quiet)), "digest_at": json.RawMessage(asJSON(r.DigestAt)),
	}
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
	if err := r.Check(); err != nil {
		return err
	}
	return t.write(ctx, func(conn Conn) error {
		if err := roomFor(conn, "route", rimewatch.Sentencef("routes"), r.WorkspaceID, rimewatch.MaxRoutes); err != nil {
			return err
		}
		if err := checkTargets(conn, r); err != nil {
			return err
		}
		id, err := insert(conn, errRouteTaken(), "INSERT INTO route (workspace_id, name, name_key, enabled, body, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
			r.WorkspaceID, r.Name, rimewatch.TextKey(r.Name), r.Enabled, asJSON(routeBodyOf(r)), int64(r.CreatedAt), int64(r.UpdatedAt))
		if err != nil {
			return err
		}
		r.ID = id
		return t.audit(ctx, conn, r.WorkspaceID, "route.created", subject("route", id), routeFields(r))
	})
}

// UpdateRoute implements store.Notifications.
func (t Routing) UpdateRoute(ctx context.Context, workspaceID, id int64, change func(*rimewatch.Route) error) (r rimewatch.Route, err error) {
	err = t.write(ctx, func(conn Conn) error {
		old, err := findRoute(conn, workspaceID, id)
		if err != nil {
			return err
		}
		r = old
		before := routeFields(&old)
		if err := change(&r); err != nil {
			return err
		}
		r.ID, r.WorkspaceID, r.CreatedAt = id, workspaceID, old.CreatedAt
		if err := r.Check(); err != nil {
			return err
		}
		if err := checkTargets(conn, &r); err != nil {
			return err
		}
		_, err = exec(conn, "UPDATE route SET name = ?, name_key = ?, enabled = ?, body = ?, updated_at = ? WHERE id = ?",
			r.Name, rimewatch.TextKey(r.Name), r.Enabled, asJSON(routeBodyOf(&r)), int64(r.UpdatedAt), id)
		if err != nil {
			return unique(err, errRouteTaken())
		}
		return t.auditChange(ctx, conn, workspaceID, "route.updated", subject("route", id), before, routeFields(&r))
	})
	if err != nil {
		return rimewatch.Route{}, err
	}
	return r, nil
}

// DeleteRoute implements store.Notifications.
func (t Routing) DeleteRoute(ctx context.Context, workspaceID, id int64) error {
	return t.write(ctx, func(conn Conn) error {
		r, err := findRoute(conn, workspaceID, id)
		if err != nil {
			return err
		}
		if _, err := exec(conn, "UPDATE route SET deleted = 1, enabled = 0, body = '{}' WHERE id = ?", id); err != nil {
			return err
		}
		return t.audit(ctx, conn, workspaceID, "route.deleted", subject("route", id), routeFields(&r))
	})
}

// Route implements store.Notifications.
func (t Routing) Route(ctx context.Context, workspaceID, id int64) (r rimewatch.Route, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		r, err = findRoute(conn, workspaceID, id)
		return err
	})
	return r, err
}

// Routes implements store.Notifications.
func (t Routing) Routes(ctx context.Context, workspaceID int64) (list []rimewatch.Route, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		list, err = routes(conn, "workspace_id = ? AND deleted = 0 ORDER BY id", workspaceID)
		return err
	})
	return list, err
}

const silenceColumns = "id, workspace_id, match, starts_at, ends_at, comment, created_by, created_at"

func scanSilence(row Row, x *rimewatch.Silence) error {
	*x = rimewatch.Silence{
		ID: row.ColumnInt64(0), WorkspaceID: row.ColumnInt64(1), StartsAt: columnTime(row, 3), EndsAt: columnTime(row, 4),
		Comment: row.ColumnText(5), CreatedBy: row.ColumnText(6), CreatedAt: columnTime(row, 7),
	}
	return fromJSON(row, 2, &x.Match)
}

func silences(conn Conn, where string, args ...any) ([]rimewatch.Silence, error) {
	return scanAll(conn, scanSilence, "SELECT "+silenceColumns+" FROM silence WHERE "+where, args...)
}

func findSilence(conn Conn, workspaceID, id int64) (rimewatch.Silence, error) {
	list, err := silences(conn, "id = ? AND workspace_id = ?", id, workspaceID)
	if err == nil && len(list) == 0 {
		err = errSilence()
	}
	if err != nil {
		return rimewatch.Silence{}, err
	}
	return list[0], nil
}

func silenceFields(x *rimewatch.Silence) store.Fields {
	return store.Fields{"match": json.RawMessage(asJSON(x.Match)), "starts_at": x.StartsAt, "ends_at": x.EndsAt, "comment": x.Comment}
}

// CreateSilence implements store.Notifications.
func (t Routing) CreateSilence(ctx context.Context, x *rimewatch.Silence) error {
	if err := x.Check(); err != nil {
		return err
	}
	return t.write(ctx, func(conn Conn) error {
		if err := roomForSpan(conn, "silence", rimewatch.Sentencef("silences that are active, planned or ended within the last week"), x.WorkspaceID, x.CreatedAt, rimewatch.MaxSilences); err != nil {
			return err
		}
		id, err := insert(conn, errSilence(), "INSERT INTO silence (workspace_id, match, starts_at, ends_at, comment, created_by, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
			x.WorkspaceID, asJSON(x.Match), int64(x.StartsAt), int64(x.EndsAt), x.Comment, x.CreatedBy, int64(x.CreatedAt))
		if err != nil {
			return err
		}
		x.ID = id
		return t.audit(ctx, conn, x.WorkspaceID, "silence.created", subject("silence", id), silenceFields(x))
	})
}

// UpdateSilence implements store.Notifications.
func (t Routing) UpdateSilence(ctx context.Context, workspaceID, id int64, change func(*rimewatch.Silence) error) (x rimewatch.Silence, err error) {
	err = t.write(ctx, func(conn Conn) error {
		old, err := findSilence(conn, workspaceID, id)
		if err != nil {
			return err
		}
		x = old
		before := silenceFields(&old)
		if err := change(&x); err != nil {
			return err
		}
		x.ID, x.WorkspaceID, x.CreatedAt = id, workspaceID, old.CreatedAt
		if err := x.Check(); err != nil {
			return err
		}
		_, err = exec(conn, "UPDATE silence SET match = ?, starts_at = ?, ends_at = ?, comment = ?, created_by = ? WHERE id = ?",
			asJSON(x.Match), int64(x.StartsAt), int64(x.EndsAt), x.Comment, x.CreatedBy, id)
		if err != nil {
			return err
		}
		action := "silence.updated"
		if x.EndsAt < old.EndsAt {
			action = "silence.ended"
		}
		return t.auditChange(ctx, conn, workspaceID, action, subject("silence", id), before, silenceFields(&x))
	})
	if err != nil {
		return rimewatch.Silence{}, err
	}
	return x, nil
}

// Silence implements store.Notifications.
func (t Routing) Silence(ctx context.Context, workspaceID, id int64) (x rimewatch.Silence, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		x, err = findSilence(conn, workspaceID, id)
		return err
	})
	return x, err
}

// Silences implements store.Notifications.
func (t Routing) Silences(ctx context.Context, workspaceID int64, endAfter rimewatch.Time) (list []rimewatch.Silence, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		list, err = silences(conn, "workspace_id = ? AND ends_at > ? ORDER BY id", workspaceID, int64(endAfter))
		return err
	})
	return list, err
}
