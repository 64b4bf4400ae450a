package tables

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func errDelivery() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such delivery.")
}

var deliveryTable = shapeOf("delivery", errDelivery, nil, func(d *rimewatch.Delivery) []column {
	return []column{
		given("id", number(&d.ID)), col("workspace_id", number(&d.WorkspaceID)), col("key", text(&d.Key)), col("alert_id", number(&d.AlertID)),
		col("channel_id", number(&d.ChannelID)), col("route_id", number(&d.RouteID)), col("level", number(&d.Level)), col("kind", text(&d.Kind)),
		col("status", text(&d.Status)), col("attempts", number(&d.Attempts)), col("next_attempt_at", number(&d.NextAttemptAt)), col("created_at", number(&d.CreatedAt)),
		col("sent_at", number(&d.SentAt)), col("last_error", text(&d.LastError)), col("body", bytes(&d.Body)),
		col("urgent", flag(&d.Urgent)), col("in_doubt", flag(&d.InDoubt)),
		col("subject", text(&d.Subject)),
	}
})

// PutDeliveries implements store.Notifications.
func (t Outbox) PutDeliveries(ctx context.Context, list []*rimewatch.Delivery, through int64) error {
	for _, d := range list {
		if err := d.Check(); err != nil {
			return err
		}
	}
	return t.write(ctx, func(conn Conn) error {
		for _, d := range list {
			if err := putDelivery(conn, d); err != nil {
				return err
			}
		}
		if through == 0 {
			return nil
		}
		return raiseMeta(conn, t.key("planned_through"), through)
	})
}

func putDelivery(conn Conn, d *rimewatch.Delivery) error {
	known := int64(0)
	err := each(conn, "SELECT id FROM delivery WHERE workspace_id = ? AND key = ?",
		func(row Row) { known = row.ColumnInt64(0) }, d.WorkspaceID, d.Key)
	if err != nil || known != 0 {
		d.ID = known
		return err
	}
	if err := dropUnreachable(conn, d); err != nil {
		return err
	}
	d.ID, err = deliveryTable.insert(conn, d)
	return err
}

// dropUnreachable drops deliveries that wait for a channel that is gone.
func dropUnreachable(conn Conn, d *rimewatch.Delivery) error {
	if d.Status != rimewatch.DeliveryPending {
		return nil
	}
	there, err := reachable(conn, d.WorkspaceID, d.ChannelID)
	if err == nil && !there {
		d.Status = rimewatch.DeliveryDropped
	}
	return err
}

// UpdateDeliveries implements store.Notifications.
func (t Outbox) UpdateDeliveries(ctx context.Context, list []*rimewatch.Delivery, health *rimewatch.ChannelHealth) error {
	for _, d := range list {
		if err := d.Check(); err != nil {
			return err
		}
	}
	if health != nil {
		if err := health.Check(); err != nil {
			return err
		}
	}
	return t.write(ctx, func(conn Conn) error {
		for _, d := range list {
			if err := updateDelivery(conn, d); err != nil {
				return err
			}
		}
		if len(list) == 0 || health == nil {
			return nil
		}
		if to := list[0].ChannelID; to < 0 {
			return noteHook(conn, list[0].WorkspaceID, -to, health)
		}
		_, err := exec(conn, "UPDATE channel SET last_success_at = ?, last_failure_at = ?, last_error = ?, failures = ? WHERE id = ? AND workspace_id = ? AND deleted = 0",
			int64(health.LastSuccessAt), int64(health.LastFailureAt), health.LastError, health.Failures, list[0].ChannelID, list[0].WorkspaceID)
		return err
	})
}

func updateDelivery(conn Conn, d *rimewatch.Delivery) error {
	if err := dropUnreachable(conn, d); err != nil {
		return err
	}
	return execOne(conn, errDelivery(), "UPDATE delivery SET status = ?, attempts = ?, next_attempt_at = ?, sent_at = ?, last_error = ?, in_doubt = ? WHERE id = ? AND workspace_id = ?",
		string(d.Status), d.Attempts, int64(d.NextAttemptAt), int64(d.SentAt), d.LastError, d.InDoubt, d.ID, d.WorkspaceID)
}

// AllPendingDeliveries implements store.Everywhere.
func (t Everywhere) AllPendingDeliveries(ctx context.Context, yield func(*rimewatch.Delivery) error) error {
	return t.readLong(ctx, func(conn Conn) error {
		read := deliveryTable.reader()
		return conn.Query(func(row Row) error {
			d, err := read(row)
			if err != nil {
				return err
			}
			return yield(&d)
		}, deliveryTable.selects+"status = 'pending'"+t.and("workspace_id")+" ORDER BY next_attempt_at, id")
	})
}

// PendingDeliveries implements store.Notifications. The plus signs keep engines from
// reading and sorting all that a channel was ever sent: few wait but for a channel that
// asks.
func (t Outbox) PendingDeliveries(ctx context.Context, workspaceID, channelID int64, urgent bool, limit int) ([]rimewatch.Delivery, error) {
	return deliveryTable.all(ctx, t.base, "status = 'pending' AND +workspace_id = ? AND +channel_id = ? AND +urgent = ? ORDER BY next_attempt_at, id LIMIT ?", workspaceID, channelID, urgent, limit)
}

// AlertDeliveries implements store.Notifications.
func (t Outbox) AlertDeliveries(ctx context.Context, workspaceID, alertID int64) ([]rimewatch.Delivery, error) {
	return deliveryTable.all(ctx, t.base, "alert_id > 0 AND alert_id = ? AND workspace_id = ? ORDER BY id", alertID, workspaceID)
}

// Delivery implements store.Notifications.
func (t Outbox) Delivery(ctx context.Context, workspaceID, id int64) (rimewatch.Delivery, error) {
	return deliveryTable.first(ctx, t.base, "id = ? AND workspace_id = ?", id, workspaceID)
}

// Deliveries implements store.Notifications.
func (t Outbox) Deliveries(ctx context.Context, workspaceID, channelID int64, p store.Page) (list []rimewatch.Delivery, total int, err error) {
	where, args := "workspace_id = ? AND channel_id > 0", []any{workspaceID}
	if channelID != 0 {
		where, args = "workspace_id = ? AND channel_id = ?", []any{workspaceID, channelID}
	}
	err = t.read(ctx, func(conn Conn) error {
		n, err := queryInt(conn, "SELECT coalesce(sum(n), 0) FROM delivery_count WHERE "+where, args...)
		if err != nil {
			return err
		}
		total = int(n)
		// Skipped rows are skipped in the index alone.
		query := "id IN (SELECT id FROM delivery WHERE " + where
		if p.After != 0 {
			query += " AND id < ?"
			args = append(args, p.After)
			p.Offset = 0
		}
		list, err = deliveryTable.list(conn, query+" ORDER BY id DESC LIMIT ? OFFSET ?) ORDER BY id DESC", append(args, p.Limit, p.Offset)...)
		return err
	})
	return list, total, err
}

// DeliveryNames implements store.Notifications.
func (t Outbox) DeliveryNames(ctx context.Context, workspaceID int64) (store.DeliveryNames, error) {
	names := store.DeliveryNames{Channels: make(map[int64]store.ChannelName), Routes: make(map[int64]string)}
	err := t.read(ctx, func(conn Conn) error {
		err := each(conn, "SELECT id, name, kind FROM channel WHERE workspace_id = ?", func(row Row) {
			names.Channels[row.ColumnInt64(0)] = store.ChannelName{Name: row.ColumnText(1), Kind: rimewatch.ChannelKind(row.ColumnText(2))}
		}, workspaceID)
		if err != nil {
			return err
		}
		return each(conn, "SELECT id, name FROM route WHERE workspace_id = ?",
			func(row Row) { names.Routes[row.ColumnInt64(0)] = row.ColumnText(1) }, workspaceID)
	})
	return names, err
}
