package tables

import (
	"context"
	"strconv"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// webhookSQL makes the table of webhooks.
const webhookSQL = `CREATE TABLE webhook (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	description TEXT NOT NULL,
	url TEXT NOT NULL,
	types TEXT NOT NULL, -- JSON
	site_ids TEXT NOT NULL, -- ids between commas, empty = all
	headers TEXT NOT NULL, -- JSON
	secret TEXT NOT NULL,
	old_secret TEXT NOT NULL,
	old_secret_until INTEGER NOT NULL,
	enabled INTEGER NOT NULL,
	off_reason TEXT NOT NULL,
	through INTEGER NOT NULL, -- number of the last event that was planned
	run INTEGER NOT NULL DEFAULT 0, -- grows when events are planned anew
	failing_since INTEGER NOT NULL DEFAULT 0,
	last_success_at INTEGER NOT NULL DEFAULT 0,
	last_failure_at INTEGER NOT NULL DEFAULT 0,
	last_error TEXT NOT NULL DEFAULT '',
	failures INTEGER NOT NULL DEFAULT 0,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	revision INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX webhook_by_workspace ON webhook(workspace_id)`

func errWebhook() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such webhook.") }

var webhookTable = resource[rimewatch.Webhook]{
	shape: resourceOf("webhook", errWebhook, nil, webhookKey, func(w *rimewatch.Webhook) []column {
		return []column{
			col("description", text(&w.Description)), col("url", text(&w.URL)), col("types", document(&w.Types)), col("site_ids", sites(&w.SiteIDs)),
			col("headers", document(&w.Headers)), col("secret", text(&w.Secret)), col("old_secret", text(&w.OldSecret)),
			col("old_secret_until", number(&w.OldSecretUntil)), col("enabled", flag(&w.Enabled)), col("off_reason", text(&w.OffReason)),
			fixed("through", number(&w.Through)), given("run", number(&w.Run)), given("failing_since", number(&w.FailingSince)),
			given("last_success_at", number(&w.LastSuccessAt)), given("last_failure_at", number(&w.LastFailureAt)),
			given("last_error", text(&w.LastError)), given("failures", number(&w.Failures)), col("updated_at", number(&w.UpdatedAt)),
		}
	}),
	created: "webhook.created", updated: "webhook.updated", deleted: "webhook.deleted",
	key:   webhookKey,
	check: (*rimewatch.Webhook).Check,
	most:  func(store.Quotas) int { return rimewatch.MaxWebhooks }, kind: rimewatch.Sentencef("webhooks"),
	refers: func(conn Conn, w *rimewatch.Webhook) error {
		for _, id := range w.SiteIDs {
			if err := mustBeSite(conn, w.WorkspaceID, id); err != nil {
				return rimewatch.Invalid("site_ids", "must be sites of this workspace")
			}
		}
		return nil
	},
	fields: func(w *rimewatch.Webhook) store.Fields {
		return store.Fields{
			"description": w.Description, "url": w.MaskedURL(), "types": written(w.Types), "site_ids": written(w.SiteIDs), "headers": written(w.HeaderNames()), "enabled": w.Enabled,
		}
	},
	changed: func(old, w *rimewatch.Webhook, diff store.Fields) bool {
		if old.URL != w.URL {
			diff["url"] = store.Change{From: old.MaskedURL(), To: w.MaskedURL()}
		}
		if old.Secret != w.Secret {
			diff["secret"] = "changed"
		}
		return false
	},
}

func webhookKey(w *rimewatch.Webhook) key {
	return key{&w.ID, &w.WorkspaceID, &w.Revision, &w.CreatedAt, nil}
}

// Webhooks implements store.Webhooks.
func (t Outbox) Webhooks() store.Resource[rimewatch.Webhook] {
	return handle[rimewatch.Webhook]{t.base, &webhookTable, func(conn Conn, w *rimewatch.Webhook) error {
		if _, err := exec(conn, "DELETE FROM delivery WHERE workspace_id = ? AND channel_id = ?", w.WorkspaceID, -w.ID); err != nil {
			return err
		}
		return deleteFrom(conn, "webhook", w.ID)
	}}
}

// AllWebhooks implements store.Everywhere.
func (t Everywhere) AllWebhooks(ctx context.Context) ([]rimewatch.Webhook, error) {
	return webhookTable.all(ctx, t.base, "enabled = 1"+t.and("workspace_id")+" ORDER BY id")
}

// PutEventDeliveries implements store.Webhooks.
func (t Outbox) PutEventDeliveries(ctx context.Context, w *rimewatch.Webhook, list []*rimewatch.Delivery, through int64) error {
	for _, d := range list {
		if err := d.Check(); err != nil {
			return err
		}
	}
	return t.write(ctx, func(conn Conn) error {
		n, err := exec(conn, "UPDATE webhook SET through = ? WHERE id = ? AND workspace_id = ? AND enabled = 1 AND run = ? AND through = ?", through, w.ID, w.WorkspaceID, w.Run, w.Through)
		if err == nil && n == 0 {
			err = rimewatch.Errorf(rimewatch.CodeConflict, "The webhook has changed meanwhile.")
		}
		for _, d := range list {
			if err == nil {
				err = deliveryTable.insertLater(conn, &d.ID, d)
			}
		}
		return err
	})
}

// RewindWebhook implements store.Webhooks.
func (t Outbox) RewindWebhook(ctx context.Context, workspaceID, id, after int64) (w rimewatch.Webhook, err error) {
	err = t.write(ctx, func(conn Conn) error {
		if w, err = webhookTable.of(ctx, conn, workspaceID, id); err != nil {
			return err
		}
		if err := rewind(conn, &w, after); err != nil {
			return err
		}
		return t.audit(ctx, conn, workspaceID, "webhook.replayed", subject("webhook", id), store.Fields{"from": rimewatch.EventID(workspaceID, after+1)})
	})
	return w, err
}

// rewind drops a webhook's waiting deliveries, and has the events after a number planned anew.
func rewind(conn Conn, w *rimewatch.Webhook, after int64) error {
	w.Through, w.Run = after, w.Run+1
	if _, err := exec(conn, "UPDATE webhook SET through = ?, run = ? WHERE id = ?", w.Through, w.Run, w.ID); err != nil {
		return err
	}
	_, err := exec(conn, "UPDATE delivery SET status = 'dropped' WHERE workspace_id = ? AND channel_id = ? AND status = 'pending'", w.WorkspaceID, -w.ID)
	return err
}

// NoteWebhook implements store.Webhooks.
func (t Outbox) NoteWebhook(ctx context.Context, workspaceID, id int64, h *rimewatch.ChannelHealth) error {
	if err := h.Check(); err != nil {
		return err
	}
	return t.write(ctx, func(conn Conn) error { return noteHook(conn, workspaceID, id, h) })
}

// StopWebhook implements store.Webhooks.
func (t Outbox) StopWebhook(ctx context.Context, workspaceID, id int64, why string) error {
	return t.write(ctx, func(conn Conn) error {
		w, err := webhookTable.of(ctx, conn, workspaceID, id)
		if err != nil || !w.Enabled {
			return err
		}
		after := w.Through
		err = each(conn, "SELECT key FROM delivery WHERE workspace_id = ? AND channel_id = ? AND status = 'pending'", func(row Row) {
			if n, ok := rimewatch.EventOfKey(row.ColumnText(0)); ok {
				after = min(after, n-1)
			}
		}, workspaceID, -id)
		if err != nil {
			return err
		}
		if err := rewind(conn, &w, after); err != nil {
			return err
		}
		if _, err := exec(conn, "UPDATE webhook SET enabled = 0, off_reason = ?, revision = revision + 1 WHERE id = ?", why, id); err != nil {
			return err
		}
		return t.audit(ctx, conn, workspaceID, "webhook.stopped", subject("webhook", id), store.Fields{"reason": why})
	})
}

// noteHook records the result of an attempt for a webhook.
func noteHook(conn Conn, workspaceID, id int64, h *rimewatch.ChannelHealth) error {
	_, err := exec(conn, `UPDATE webhook SET last_success_at = ?, last_failure_at = ?, last_error = ?, failures = ?,
		failing_since = CASE WHEN CAST(? AS INTEGER) = 0 THEN 0 WHEN failing_since = 0 THEN ? ELSE failing_since END WHERE id = ? AND workspace_id = ?`,
		int64(h.LastSuccessAt), int64(h.LastFailureAt), h.LastError, h.Failures, h.Failures, int64(h.LastFailureAt), id, workspaceID)
	return err
}

// ExpireWebhookLog deletes the deliveries to webhooks that are no longer kept.
func (t Places) ExpireWebhookLog(ctx context.Context, workspaceID int64, before rimewatch.Time) error {
	list, err := Outbox(t).Webhooks().List(ctx, workspaceID)
	for i := range list {
		if err != nil {
			return err
		}
		cut, channel := int64(0), strconv.FormatInt(-list[i].ID, 10)
		err = t.read(ctx, func(conn Conn) (err error) {
			cut, err = queryInt(conn, "SELECT id FROM delivery WHERE workspace_id = ? AND channel_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?", workspaceID, -list[i].ID, rimewatch.WebhookLog)
			return err
		})
		if err == nil {
			err = t.prune(ctx, "delivery WHERE id IN (SELECT id FROM delivery WHERE workspace_id = ? AND channel_id = "+channel+
				" AND status <> 'pending' AND (created_at < ? OR id <= "+strconv.FormatInt(cut, 10)+") ORDER BY id LIMIT ?)", workspaceID, before)
		}
	}
	return err
}
