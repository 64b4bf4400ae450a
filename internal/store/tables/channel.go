package tables

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func errChannel() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such channel.") }

func errChannelTaken() error {
	return rimewatch.Errorf(rimewatch.CodeConflict, "This channel name is already in use.").With("name", "is taken")
}

const channelColumns = "id, workspace_id, name, kind, enabled, addresses, url, secret, fallback_id, created_at, updated_at, last_success_at, last_failure_at, last_error, failures, locale"

func scanChannel(row Row, c *rimewatch.Channel) error {
	*c = rimewatch.Channel{
		ID: row.ColumnInt64(0), WorkspaceID: row.ColumnInt64(1), Name: row.ColumnText(2), Kind: rimewatch.ChannelKind(row.ColumnText(3)),
		Enabled: row.ColumnBool(4), URL: row.ColumnText(6), Secret: row.ColumnText(7), FallbackID: row.ColumnInt64(8),
		CreatedAt: columnTime(row, 9), UpdatedAt: columnTime(row, 10),
		ChannelHealth: rimewatch.ChannelHealth{
			LastSuccessAt: columnTime(row, 11), LastFailureAt: columnTime(row, 12), LastError: row.ColumnText(13), Failures: row.ColumnInt(14),
		},
	}
	return errors.Join(fromJSON(row, 5, &c.To), fromJSON(row, 15, &c.Locale))
}

func findChannel(conn Conn, workspaceID, id int64) (c rimewatch.Channel, err error) {
	list, err := channels(conn, "id = ? AND workspace_id = ? AND deleted = 0", id, workspaceID)
	if err == nil && len(list) == 0 {
		err = errChannel()
	}
	if err != nil {
		return c, err
	}
	return list[0], nil
}

func channels(conn Conn, where string, args ...any) ([]rimewatch.Channel, error) {
	return scanAll(conn, scanChannel, "SELECT "+channelColumns+" FROM channel WHERE "+where, args...)
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
		f["to"] = c.To
	}
	if c.Kind != rimewatch.ChannelEmail {
		f["url"] = c.MaskedURL()
	}
	return f
}

func (t Routing) auditChannel(ctx context.Context, conn Conn, before, after *rimewatch.Channel) error {
	diff := store.Difference(channelFields(before), channelFields(after))
	if before.URL != after.URL {
		diff["url"] = store.Change{From: before.MaskedURL(), To: after.MaskedURL()}
	}
	if before.Secret != after.Secret {
		diff["secret"] = "changed"
	}
	if len(diff) == 0 {
		return nil
	}
	return t.audit(ctx, conn, after.WorkspaceID, "channel.updated", subject("channel", after.ID), diff)
}

func checkFallback(conn Conn, c *rimewatch.Channel) error {
	if c.FallbackID == 0 {
		return nil
	}
	_, err := findChannel(conn, c.WorkspaceID, c.FallbackID)
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
		return rimewatch.Invalid("fallback_channel_id", "must be another channel")
	}
	return err
}

// CreateChannel implements store.Notifications.
func (t Routing) CreateChannel(ctx context.Context, c *rimewatch.Channel) error {
	if err := c.Check(); err != nil {
		return err
	}
	return t.write(ctx, func(conn Conn) error {
		if err := roomFor(conn, "channel", rimewatch.Sentencef("channels"), c.WorkspaceID, rimewatch.MaxChannels); err != nil {
			return err
		}
		if err := checkFallback(conn, c); err != nil {
			return err
		}
		id, err := insert(conn, errChannelTaken(),
			`INSERT INTO channel (workspace_id, name, name_key, kind, enabled, addresses, url, secret, fallback_id, locale, created_at, updated_at)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			c.WorkspaceID, c.Name, rimewatch.TextKey(c.Name), string(c.Kind), c.Enabled, asJSON(c.To), c.URL, c.Secret, c.FallbackID, asJSON(c.Locale),
			int64(c.CreatedAt), int64(c.UpdatedAt))
		if err != nil {
			return err
		}
		c.ID, c.ChannelHealth = id, rimewatch.ChannelHealth{}
		return t.audit(ctx, conn, c.WorkspaceID, "channel.created", subject("channel", id), channelFields(c))
	})
}

// UpdateChannel implements store.Notifications.
func (t Routing) UpdateChannel(ctx context.Context, workspaceID, id int64, change func(*rimewatch.Channel) error) (c rimewatch.Channel, err error) {
	err = t.write(ctx, func(conn Conn) error {
		old, err := findChannel(conn, workspaceID, id)
		if err != nil {
			return err
		}
		c = old
		c.To = slices.Clone(old.To)
		if err := change(&c); err != nil {
			return err
		}
		c.ID, c.WorkspaceID, c.CreatedAt, c.ChannelHealth = old.ID, old.WorkspaceID, old.CreatedAt, old.ChannelHealth
		if err := c.Check(); err != nil {
			return err
		}
		if err := checkFallback(conn, &c); err != nil {
			return err
		}
		_, err = exec(conn, "UPDATE channel SET name = ?, name_key = ?, kind = ?, enabled = ?, addresses = ?, url = ?, secret = ?, fallback_id = ?, locale = ?, updated_at = ? WHERE id = ?",
			c.Name, rimewatch.TextKey(c.Name), string(c.Kind), c.Enabled, asJSON(c.To), c.URL, c.Secret, c.FallbackID, asJSON(c.Locale), int64(c.UpdatedAt), id)
		if err != nil {
			return unique(err, errChannelTaken())
		}
		return t.auditChannel(ctx, conn, &old, &c)
	})
	if err != nil {
		return rimewatch.Channel{}, err
	}
	return c, nil
}

// DeleteChannel implements store.Notifications.
func (t Routing) DeleteChannel(ctx context.Context, workspaceID, id int64) error {
	return t.write(ctx, func(conn Conn) error {
		c, err := findChannel(conn, workspaceID, id)
		if err != nil {
			return err
		}
		if err := notRouted(conn, workspaceID, id); err != nil {
			return err
		}
		if err := notScheduled(conn, workspaceID, id); err != nil {
			return err
		}
		for _, q := range []string{
			"UPDATE channel SET deleted = 1, enabled = 0, addresses = '[]', url = '', secret = '', fallback_id = 0, last_error = '' WHERE id = ?",
			"UPDATE channel SET fallback_id = 0 WHERE fallback_id = ?",
			"UPDATE delivery SET status = 'dropped' WHERE channel_id = ? AND status = 'pending'",
		} {
			if _, err := exec(conn, q, id); err != nil {
				return err
			}
		}
		return t.audit(ctx, conn, workspaceID, "channel.deleted", subject("channel", id), channelFields(&c))
	})
}

// notRouted is CodeConflict when a route uses the channel.
func notRouted(conn Conn, workspaceID, id int64) error {
	list, err := routes(conn, "workspace_id = ? AND deleted = 0 ORDER BY id", workspaceID)
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
func (t Routing) Channel(ctx context.Context, workspaceID, id int64) (c rimewatch.Channel, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		c, err = findChannel(conn, workspaceID, id)
		return err
	})
	return c, err
}

// Channels implements store.Notifications.
func (t Routing) Channels(ctx context.Context, workspaceID int64) (list []rimewatch.Channel, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		list, err = channels(conn, "workspace_id = ? AND deleted = 0 ORDER BY id", workspaceID)
		return err
	})
	return list, err
}
