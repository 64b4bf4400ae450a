package tables

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func errDelivery() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such delivery.")
}

const deliveryColumns = "id, workspace_id, key, alert_id, channel_id, route_id, level, kind, status, attempts, next_attempt_at, created_at, sent_at, last_error, body"

func scanDelivery(row Row) rimewatch.Delivery {
	d := rimewatch.Delivery{
		ID: row.ColumnInt64(0), WorkspaceID: row.ColumnInt64(1), Key: row.ColumnText(2), AlertID: row.ColumnInt64(3),
		ChannelID: row.ColumnInt64(4), RouteID: row.ColumnInt64(5), Level: row.ColumnInt(6),
		Kind: rimewatch.DeliveryKind(row.ColumnText(7)), Status: rimewatch.DeliveryStatus(row.ColumnText(8)), Attempts: row.ColumnInt(9),
		NextAttemptAt: columnTime(row, 10), CreatedAt: columnTime(row, 11), SentAt: columnTime(row, 12), LastError: row.ColumnText(13),
	}
	d.Body = columnBlob(row, 14)
	return d
}

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
	d.ID, err = insert(conn, errDelivery(), "INSERT INTO delivery (workspace_id, key, alert_id, channel_id, route_id, level, kind, status, attempts, next_attempt_at, created_at, sent_at, last_error, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		d.WorkspaceID, d.Key, d.AlertID, d.ChannelID, d.RouteID, d.Level, string(d.Kind), string(d.Status), d.Attempts,
		int64(d.NextAttemptAt), int64(d.CreatedAt), int64(d.SentAt), d.LastError, blob(d.Body))
	return err
}

// dropUnreachable drops what waits for a channel that is gone.
func dropUnreachable(conn Conn, d *rimewatch.Delivery) error {
	if d.Status != rimewatch.DeliveryPending {
		return nil
	}
	n, err := queryInt(conn, "SELECT EXISTS (SELECT 1 FROM channel WHERE id = ? AND workspace_id = ? AND deleted = 0)", d.ChannelID, d.WorkspaceID)
	if err == nil && n == 0 {
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
		_, err := exec(conn, "UPDATE channel SET last_success_at = ?, last_failure_at = ?, last_error = ?, failures = ? WHERE id = ? AND workspace_id = ? AND deleted = 0",
			int64(health.LastSuccessAt), int64(health.LastFailureAt), health.LastError, health.Failures, list[0].ChannelID, list[0].WorkspaceID)
		return err
	})
}

func updateDelivery(conn Conn, d *rimewatch.Delivery) error {
	if err := dropUnreachable(conn, d); err != nil {
		return err
	}
	n, err := exec(conn, "UPDATE delivery SET status = ?, attempts = ?, next_attempt_at = ?, sent_at = ?, last_error = ? WHERE id = ? AND workspace_id = ?",
		string(d.Status), d.Attempts, int64(d.NextAttemptAt), int64(d.SentAt), d.LastError, d.ID, d.WorkspaceID)
	if err == nil && n == 0 {
		return errDelivery()
	}
	return err
}

// deliveries runs a query for deliveries.
func (t Outbox) deliveries(ctx context.Context, where string, args ...any) (list []rimewatch.Delivery, err error) {
	err = t.read(ctx, func(conn Conn) error {
		return each(conn, "SELECT "+deliveryColumns+" FROM delivery WHERE "+where,
			func(row Row) { list = append(list, scanDelivery(row)) }, args...)
	})
	return list, err
}

// AllPendingDeliveries implements store.Everywhere.
func (t Outbox) AllPendingDeliveries(ctx context.Context, yield func(*rimewatch.Delivery) error) error {
	return t.readLong(ctx, func(conn Conn) error {
		return conn.Query(func(row Row) error {
			d := scanDelivery(row)
			return yield(&d)
		}, "SELECT "+deliveryColumns+" FROM delivery WHERE status = 'pending'"+t.and("workspace_id")+" ORDER BY next_attempt_at, id")
	})
}

// PendingDeliveries implements store.Notifications. The plus signs keep engines from
// reading and sorting all that a channel was ever sent: few wait but for a channel that
// asks.
func (t Outbox) PendingDeliveries(ctx context.Context, workspaceID, channelID int64, limit int) ([]rimewatch.Delivery, error) {
	return t.deliveries(ctx, "status = 'pending' AND +workspace_id = ? AND +channel_id = ? ORDER BY next_attempt_at, id LIMIT ?", workspaceID, channelID, limit)
}

// AlertDeliveries implements store.Notifications.
func (t Outbox) AlertDeliveries(ctx context.Context, workspaceID, alertID int64) ([]rimewatch.Delivery, error) {
	return t.deliveries(ctx, "alert_id > 0 AND alert_id = ? AND workspace_id = ? ORDER BY id", alertID, workspaceID)
}

// Delivery implements store.Notifications.
func (t Outbox) Delivery(ctx context.Context, workspaceID, id int64) (d rimewatch.Delivery, err error) {
	err = t.read(ctx, func(conn Conn) error {
		return one(conn, errDelivery(), "SELECT "+deliveryColumns+" FROM delivery WHERE id = ? AND workspace_id = ?",
			func(row Row) { d = scanDelivery(row) }, id, workspaceID)
	})
	return d, err
}

// Deliveries implements store.Notifications.
func (t Outbox) Deliveries(ctx context.Context, workspaceID, channelID int64, p store.Page) (list []rimewatch.Delivery, total int, err error) {
	where, args := "workspace_id = ?", []any{workspaceID}
	if channelID != 0 {
		where, args = "workspace_id = ? AND channel_id = ?", []any{workspaceID, channelID}
	}
	err = t.read(ctx, func(conn Conn) error {
		n, err := queryInt(conn, "SELECT coalesce(sum(n), 0) FROM delivery_count WHERE "+where, args...)
		if err != nil {
			return err
		}
		total = int(n)
		// What is skipped is skipped in the index alone.
		query := "SELECT " + deliveryColumns + " FROM delivery WHERE id IN (SELECT id FROM delivery WHERE " + where
		if p.After != 0 {
			query += " AND id < ?"
			args = append(args, p.After)
			p.Offset = 0
		}
		return each(conn, query+" ORDER BY id DESC LIMIT ? OFFSET ?) ORDER BY id DESC",
			func(row Row) { list = append(list, scanDelivery(row)) }, append(args, p.Limit, p.Offset)...)
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
