package tables

import (
	"context"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func errChannel() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such channel.") }

func errChannelTaken() error {
	return rimewatch.Errorf(rimewatch.CodeConflict, "This channel name is already in use.").With("name", "is taken")
}

var channelTable = resource[rimewatch.Channel]{
	shape: shapeOf("channel", errChannel, errChannelTaken, func(c *rimewatch.Channel) []column {
		return []column{
			given("id", number(&c.ID)), fixed("workspace_id", number(&c.WorkspaceID)), col("name", text(&c.Name)), nameKey(c.Name), col("kind", text(&c.Kind)),
			col("enabled", flag(&c.Enabled)), col("addresses", document(&c.To)), col("url", text(&c.URL)), col("secret", text(&c.Secret)),
			col("fallback_id", number(&c.FallbackID)), col("locale", document(&c.Locale)),
			fixed("created_at", number(&c.CreatedAt)), col("updated_at", number(&c.UpdatedAt)),
			given("last_success_at", number(&c.LastSuccessAt)), given("last_failure_at", number(&c.LastFailureAt)),
			given("last_error", text(&c.LastError)), given("failures", number(&c.Failures)),
		}
	}),
	created: "channel.created", updated: "channel.updated", deleted: "channel.deleted",
	where: "id = ? AND workspace_id = ? AND deleted = 0",
	ids:   func(c *rimewatch.Channel) (id, workspaceID *int64) { return &c.ID, &c.WorkspaceID },
	check: (*rimewatch.Channel).Check,
	room: func(_ *base, conn Conn, c *rimewatch.Channel) error {
		return roomFor(conn, "channel", rimewatch.Sentencef("channels"), c.WorkspaceID, rimewatch.MaxChannels)
	},
	refers: checkFallback,
	fields: channelFields,
	changed: func(old, c *rimewatch.Channel, diff store.Fields) bool {
		if old.URL != c.URL {
			diff["url"] = store.Change{From: old.MaskedURL(), To: c.MaskedURL()}
		}
		if old.Secret != c.Secret {
			diff["secret"] = "changed"
		}
		return false
	},
}

// roomFor refuses one more row of a table, in which things of a kind are, than a
// workspace may have.
func roomFor(conn Conn, table string, kind rimewatch.Sentence, workspaceID int64, most int) error {
	return room(conn, kind, most, "SELECT count(*) FROM "+table+" WHERE workspace_id = ? AND deleted = 0", workspaceID)
}

// roomForSpan is the same of a table of spans, of those that were not over long
// before a moment.
func roomForSpan(conn Conn, table string, kind rimewatch.Sentence, workspaceID int64, now rimewatch.Time, most int) error {
	return room(conn, kind, most,
		"SELECT count(*) FROM "+table+" WHERE workspace_id = ? AND ends_at > ?", workspaceID, int64(now-rimewatch.SpansKept))
}

// channelFields are a channel's for the audit trail, where credentials are only
// told apart by whether they changed.
func channelFields(c *rimewatch.Channel) store.Fields {
	l := c.Full()
	f := store.Fields{
		"name": c.Name, "kind": c.Kind, "enabled": c.Enabled, "fallback_channel_id": c.FallbackID,
		"language": l.Language, "units": l.Units, "clock": l.Clock, "dates": l.Dates,
	}
	if c.Kind == rimewatch.ChannelEmail || c.Kind == rimewatch.ChannelPush {
		f["to"] = written(c.To)
	}
	if c.Kind != rimewatch.ChannelEmail {
		f["url"] = c.MaskedURL()
	}
	return f
}

func checkFallback(conn Conn, c *rimewatch.Channel) error {
	if c.FallbackID == 0 {
		return nil
	}
	there, err := reachable(conn, c.WorkspaceID, c.FallbackID)
	if err == nil && !there {
		err = rimewatch.Invalid("fallback_channel_id", "must be another channel")
	}
	return err
}

// reachable reports whether there is such a channel.
func reachable(conn Conn, workspaceID, id int64) (bool, error) {
	n, err := queryInt(conn, "SELECT EXISTS (SELECT 1 FROM channel WHERE id = ? AND workspace_id = ? AND deleted = 0)", id, workspaceID)
	return n != 0, err
}

// CreateChannel implements store.Notifications.
func (t Routing) CreateChannel(ctx context.Context, c *rimewatch.Channel) error {
	return channelTable.create(ctx, t.base, c)
}

// UpdateChannel implements store.Notifications.
func (t Routing) UpdateChannel(ctx context.Context, workspaceID, id int64, change func(*rimewatch.Channel) error) (rimewatch.Channel, error) {
	return channelTable.change(ctx, t.base, workspaceID, id, change)
}

// DeleteChannel implements store.Notifications.
func (t Routing) DeleteChannel(ctx context.Context, workspaceID, id int64) error {
	return channelTable.delete(ctx, t.base, workspaceID, id, func(conn Conn, _ *rimewatch.Channel) error {
		if err := notRouted(conn, workspaceID, id); err != nil {
			return err
		}
		if err := notScheduled(conn, workspaceID, id); err != nil {
			return err
		}
		return execAll(conn, []any{id},
			"UPDATE channel SET deleted = 1, enabled = 0, addresses = '[]', url = '', secret = '', fallback_id = 0, last_error = '' WHERE id = ?",
			"UPDATE channel SET fallback_id = 0 WHERE fallback_id = ?",
			"UPDATE delivery SET status = 'dropped' WHERE channel_id = ? AND status = 'pending'")
	})
}

// notRouted is CodeConflict when a route uses the channel.
func notRouted(conn Conn, workspaceID, id int64) error {
	list, err := routeTable.list(conn, "workspace_id = ? AND deleted = 0 ORDER BY id", workspaceID)
	if err != nil {
		return err
	}
	var users []string
	for i := range list {
		if slices.ContainsFunc(list[i].Steps, func(step rimewatch.RouteStep) bool { return slices.Contains(step.ChannelIDs, id) }) {
			users = append(users, list[i].Name)
		}
	}
	if len(users) == 0 {
		return nil
	}
	return rimewatch.Errorf(rimewatch.CodeConflict, "Routes use this channel: %s.", strings.Join(users, ", "))
}

// Channel implements store.Notifications.
func (t Routing) Channel(ctx context.Context, workspaceID, id int64) (rimewatch.Channel, error) {
	return channelTable.get(ctx, t.base, workspaceID, id)
}

// Channels implements store.Notifications.
func (t Routing) Channels(ctx context.Context, workspaceID int64) ([]rimewatch.Channel, error) {
	return channelTable.all(ctx, t.base, "workspace_id = ? AND deleted = 0 ORDER BY id", workspaceID)
}
