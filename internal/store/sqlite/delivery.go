package sqlite

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"zombiezen.com/go/sqlite"
)

func errDelivery() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such delivery.")
}

const deliveryColumns = "id, workspace_id, key, alert_id, channel_id, route_id, level, kind, status, attempts, next_attempt_at, created_at, sent_at, last_error, body"

func scanDelivery(stmt *sqlite.Stmt) rimewatch.Delivery {
	d := rimewatch.Delivery{
		ID: stmt.ColumnInt64(0), WorkspaceID: stmt.ColumnInt64(1), Key: stmt.ColumnText(2), AlertID: stmt.ColumnInt64(3),
		ChannelID: stmt.ColumnInt64(4), RouteID: stmt.ColumnInt64(5), Level: stmt.ColumnInt(6),
		Kind: rimewatch.DeliveryKind(stmt.ColumnText(7)), Status: rimewatch.DeliveryStatus(stmt.ColumnText(8)), Attempts: stmt.ColumnInt(9),
		NextAttemptAt: columnTime(stmt, 10), CreatedAt: columnTime(stmt, 11), SentAt: columnTime(stmt, 12), LastError: stmt.ColumnText(13),
	}
	if n := stmt.ColumnLen(14); n > 0 {
		d.Body = make([]byte, n)
		stmt.ColumnBytes(14, d.Body)
	}
	return d
}

// PutDeliveries implements store.Notifications.
func (s *Store) PutDeliveries(ctx context.Context, list []*rimewatch.Delivery, through int64) error {
	for _, d := range list {
		if err := d.Check(); err != nil {
			return err
		}
	}
	return s.write(ctx, func(conn *sqlite.Conn) error {
		for _, d := range list {
			if err := putDelivery(conn, d); err != nil {
				return err
			}
		}
		if through == 0 {
			return nil
		}
		_, err := exec(conn, "INSERT INTO meta (key, value) VALUES ('planned_through', ?) ON CONFLICT (key) DO UPDATE SET value = max(value, excluded.value)", through)
		return err
	})
}

func putDelivery(conn *sqlite.Conn, d *rimewatch.Delivery) error {
	known := int64(0)
	err := each(conn, "SELECT id FROM delivery WHERE workspace_id = ? AND key = ?",
		func(stmt *sqlite.Stmt) { known = stmt.ColumnInt64(0) }, d.WorkspaceID, d.Key)
	if err != nil || known != 0 {
		d.ID = known
		return err
	}
	if err := dropUnreachable(conn, d); err != nil {
		return err
	}
	d.ID, err = insert(conn, errDelivery(), "INSERT INTO delivery ("+deliveryColumns+") VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		d.WorkspaceID, d.Key, d.AlertID, d.ChannelID, d.RouteID, d.Level, string(d.Kind), string(d.Status), d.Attempts,
		int64(d.NextAttemptAt), int64(d.CreatedAt), int64(d.SentAt), d.LastError, blob(d.Body))
	return err
}

// blob is b as what a column that is never NULL takes.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// dropUnreachable drops what waits for a channel that is gone.
func dropUnreachable(conn *sqlite.Conn, d *rimewatch.Delivery) error {
	if d.Status != rimewatch.DeliveryPending {
		return nil
	}
	n, err := queryInt(conn, "SELECT EXISTS (SELECT 1 FROM channel WHERE id = ? AND workspace_id = ? AND NOT deleted)", d.ChannelID, d.WorkspaceID)
	if err == nil && n == 0 {
		d.Status = rimewatch.DeliveryDropped
	}
	return err
}

// UpdateDelivery implements store.Notifications.
func (s *Store) UpdateDelivery(ctx context.Context, d *rimewatch.Delivery, health *rimewatch.ChannelHealth) error {
	if err := d.Check(); err != nil {
		return err
	}
	if health != nil {
		if err := health.Check(); err != nil {
			return err
		}
	}
	return s.write(ctx, func(conn *sqlite.Conn) error {
		if err := dropUnreachable(conn, d); err != nil {
			return err
		}
		n, err := exec(conn, "UPDATE delivery SET status = ?, attempts = ?, next_attempt_at = ?, sent_at = ?, last_error = ? WHERE id = ? AND workspace_id = ?",
			string(d.Status), d.Attempts, int64(d.NextAttemptAt), int64(d.SentAt), d.LastError, d.ID, d.WorkspaceID)
		if err == nil && n == 0 {
			return errDelivery()
		}
		if err != nil || health == nil {
			return err
		}
		_, err = exec(conn, "UPDATE channel SET last_success_at = ?, last_failure_at = ?, last_error = ?, failures = ? WHERE id = ? AND workspace_id = ? AND NOT deleted",
			int64(health.LastSuccessAt), int64(health.LastFailureAt), health.LastError, health.Failures, d.ChannelID, d.WorkspaceID)
		return err
	})
}

// deliveries runs a query for deliveries.
func (s *Store) deliveries(ctx context.Context, where string, args ...any) (list []rimewatch.Delivery, err error) {
	err = s.readControl(ctx, func(conn *sqlite.Conn) error {
		return each(conn, "SELECT "+deliveryColumns+" FROM delivery WHERE "+where,
			func(stmt *sqlite.Stmt) { list = append(list, scanDelivery(stmt)) }, args...)
	})
	return list, err
}

// PendingDeliveries implements store.Notifications.
func (s *Store) PendingDeliveries(ctx context.Context, limit int) ([]rimewatch.Delivery, error) {
	return s.deliveries(ctx, "status = 'pending' ORDER BY next_attempt_at, id LIMIT ?", limit)
}

// AlertDeliveries implements store.Notifications.
func (s *Store) AlertDeliveries(ctx context.Context, workspaceID, alertID int64) ([]rimewatch.Delivery, error) {
	return s.deliveries(ctx, "alert_id > 0 AND alert_id = ? AND workspace_id = ? ORDER BY id", alertID, workspaceID)
}

// Delivery implements store.Notifications.
func (s *Store) Delivery(ctx context.Context, workspaceID, id int64) (d rimewatch.Delivery, err error) {
	err = s.readControl(ctx, func(conn *sqlite.Conn) error {
		return one(conn, errDelivery(), "SELECT "+deliveryColumns+" FROM delivery WHERE id = ? AND workspace_id = ?",
			func(stmt *sqlite.Stmt) { d = scanDelivery(stmt) }, id, workspaceID)
	})
	return d, err
}

// Deliveries implements store.Notifications.
func (s *Store) Deliveries(ctx context.Context, workspaceID, channelID int64, p store.Page) (list []rimewatch.Delivery, total int, err error) {
	where, args := "workspace_id = ?", []any{workspaceID}
	if channelID != 0 {
		where, args = "workspace_id = ? AND channel_id = ?", []any{workspaceID, channelID}
	}
	err = s.readControl(ctx, func(conn *sqlite.Conn) error {
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
			func(stmt *sqlite.Stmt) { list = append(list, scanDelivery(stmt)) }, append(args, p.Limit, p.Offset)...)
	})
	return list, total, err
}

// DeliveryNames implements store.Notifications.
func (s *Store) DeliveryNames(ctx context.Context, workspaceID int64) (store.DeliveryNames, error) {
	names := store.DeliveryNames{Channels: make(map[int64]store.ChannelName), Routes: make(map[int64]string)}
	err := s.readControl(ctx, func(conn *sqlite.Conn) error {
		err := each(conn, "SELECT id, name, kind FROM channel WHERE workspace_id = ?", func(stmt *sqlite.Stmt) {
			names.Channels[stmt.ColumnInt64(0)] = store.ChannelName{Name: stmt.ColumnText(1), Kind: rimewatch.ChannelKind(stmt.ColumnText(2))}
		}, workspaceID)
		if err != nil {
			return err
		}
		return each(conn, "SELECT id, name FROM route WHERE workspace_id = ?",
			func(stmt *sqlite.Stmt) { names.Routes[stmt.ColumnInt64(0)] = stmt.ColumnText(1) }, workspaceID)
	})
	return names, err
}
