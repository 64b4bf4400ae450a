package tables

import (
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
	shape: resourceOf("channel", errChannel, errChannelTaken, channelKey, func(c *rimewatch.Channel) []column {
		return []column{
			col("name", text(&c.Name)), nameKey(c.Name), col("kind", text(&c.Kind)), col("enabled", flag(&c.Enabled)), col("addresses", document(&c.To)),
			col("url", text(&c.URL)), col("secret", text(&c.Secret)), col("fallback_id", number(&c.FallbackID)), col("locale", document(&c.Locale)),
			col("owner_id", number(&c.OwnerID)), col("after_s", number(&c.AfterS)), col("quiet", document(&c.Quiet)),
			col("updated_at", number(&c.UpdatedAt)), given("last_success_at", number(&c.LastSuccessAt)), given("last_failure_at", number(&c.LastFailureAt)),
			given("last_error", text(&c.LastError)), given("failures", number(&c.Failures)),
		}
	}),
	created: "channel.created", updated: "channel.updated", deleted: "channel.deleted",
	key: channelKey, alive: "deleted = 0",
	check: (*rimewatch.Channel).Check,
	most:  func(store.Quotas) int { return rimewatch.MaxChannels }, kind: rimewatch.Sentencef("channels"),
	refers: checkChannel,
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

func channelKey(c *rimewatch.Channel) key {
	return key{&c.ID, &c.WorkspaceID, &c.Revision, &c.CreatedAt, nil}
}

// channelFields are a channel's for the audit trail, where credentials are only
// told apart by whether they changed.
func channelFields(c *rimewatch.Channel) store.Fields {
	l := c.Full()
	f := store.Fields{
		"name": c.Name, "kind": c.Kind, "enabled": c.Enabled, "fallback_channel_id": c.FallbackID,
		"language": l.Language, "units": l.Units, "clock": l.Clock, "dates": l.Dates,
	}
	if c.OwnerID != 0 {
		f["owner_id"], f["after_s"], f["quiet_hours"] = c.OwnerID, c.AfterS, written(c.Quiet)
	}
	if c.Kind == rimewatch.ChannelEmail || c.Kind == rimewatch.ChannelPush {
		f["to"] = written(c.To)
	}
	if c.Kind != rimewatch.ChannelEmail {
		f["url"] = c.MaskedURL()
	}
	return f
}

// checkChannel wants the owner of a channel to be a member, or to have been one when it was stored.
func checkChannel(conn Conn, c *rimewatch.Channel) error {
	if c.OwnerID != 0 {
		n, err := queryInt(conn, "SELECT EXISTS (SELECT 1 FROM member WHERE workspace_id = ? AND user_id = ?) OR EXISTS (SELECT 1 FROM channel WHERE id = ? AND owner_id = ?)", c.WorkspaceID, c.OwnerID, c.ID, c.OwnerID)
		if err != nil {
			return err
		}
		if n == 0 {
			return rimewatch.Invalid("owner_id", "there is no member %d", c.OwnerID)
		}
	}
	return checkFallback(conn, c)
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

// reachable reports whether there is such a channel, or such a webhook.
func reachable(conn Conn, workspaceID, id int64) (bool, error) {
	if id < 0 {
		n, err := queryInt(conn, "SELECT EXISTS (SELECT 1 FROM webhook WHERE id = ? AND workspace_id = ?)", -id, workspaceID)
		return n != 0, err
	}
	n, err := queryInt(conn, "SELECT EXISTS (SELECT 1 FROM channel WHERE id = ? AND workspace_id = ? AND deleted = 0)", id, workspaceID)
	return n != 0, err
}

// Channels implements store.Notifications.
func (t Routing) Channels() store.Resource[rimewatch.Channel] {
	return handle[rimewatch.Channel]{t.base, &channelTable, removeChannel}
}

func removeChannel(conn Conn, c *rimewatch.Channel) error {
	if err := notRouted(conn, c.WorkspaceID, c.ID); err != nil {
		return err
	}
	if err := notScheduled(conn, c.WorkspaceID, c.ID); err != nil {
		return err
	}
	return execAll(conn, []any{c.ID},
		"UPDATE channel SET deleted = 1, enabled = 0, addresses = '[]', url = '', secret = '', fallback_id = 0, owner_id = 0, after_s = 0, quiet = 'null', last_error = '' WHERE id = ?",
		"UPDATE channel SET fallback_id = 0 WHERE fallback_id = ?",
		"UPDATE delivery SET status = 'dropped' WHERE channel_id = ? AND status = 'pending'")
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
