package tables

import (
	"context"
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Hold implements store.Inlets.
func (t Inlets) Hold(ctx context.Context, workspaceID int64, list []*rimewatch.Held) error {
	return t.write(ctx, func(conn Conn) error {
		senders, bytes, err := heldTotal(conn, workspaceID)
		if err != nil {
			return err
		}
		sources := make(map[int64]*rimewatch.Source)
		for _, h := range list {
			h.ID = 0
			src := sources[h.SourceID]
			if src == nil {
				found, err := sourceTable.of(ctx, conn, workspaceID, h.SourceID)
				if err != nil {
					return err
				}
				src = &found
				sources[h.SourceID] = src
			}
			key := src.SenderKey(h.ExternalID)
			known, err := queryInt(conn, "SELECT 1 FROM held_sender WHERE source_id = ? AND external_key = ?", h.SourceID, key)
			if err != nil {
				return err
			}
			if bytes+h.Size() > rimewatch.MaxHeldBytes || known == 0 && senders >= rimewatch.MaxHeldSenders {
				continue
			}
			if err := hold(conn, workspaceID, key, h); err != nil {
				return err
			}
			senders += 1 - known
			bytes += h.Size()
			if err := addHeld(conn, workspaceID, 1-known, h.Size()); err != nil {
				return err
			}
			if known == 0 {
				if err := t.senderWaits(conn, src, h); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// senderWaits writes that an unknown sender waits.
func (t Inlets) senderWaits(conn Conn, src *rimewatch.Source, h *rimewatch.Held) error {
	return t.happened(conn, src.WorkspaceID, src.SiteID, rimewatch.EventSenderWaiting, rimewatch.EventSubject("source", src.ID), map[string]any{
		"source": map[string]any{"id": src.ID, "name": src.Name, "kind": src.Kind},
		"sender": map[string]any{"external_id": h.ExternalID, "label": h.Label, "reason": h.Reason},
	})
}

func hold(conn Conn, workspaceID int64, key string, h *rimewatch.Held) (err error) {
	h.ID, err = insert(conn, nil,
		"INSERT INTO held (workspace_id, source_id, external_id, external_key, received_at, topic, query, body, reason, label, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		workspaceID, h.SourceID, h.ExternalID, key, int64(h.ReceivedAt), h.Topic, h.Query, blob(h.Body), h.Reason, h.Label, h.Size())
	if err != nil {
		return err
	}
	_, err = exec(conn,
		`INSERT INTO held_sender (source_id, external_id, external_key, label, reason, payloads, bytes, first_at, last_at) VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?)
			ON CONFLICT (source_id, external_key) DO UPDATE SET label = excluded.label, reason = excluded.reason, payloads = held_sender.payloads + 1,
				bytes = held_sender.bytes + excluded.bytes, last_at = excluded.last_at`,
		h.SourceID, h.ExternalID, key, h.Label, h.Reason, h.Size(), int64(h.ReceivedAt), int64(h.ReceivedAt))
	return err
}

// addHeld changes the totals of a workspace's held payloads.
func addHeld(conn Conn, workspaceID, senders, bytes int64) error {
	_, err := exec(conn,
		`INSERT INTO held_total (workspace_id, senders, bytes) VALUES (?, ?, ?)
			ON CONFLICT (workspace_id) DO UPDATE SET senders = held_total.senders + excluded.senders, bytes = held_total.bytes + excluded.bytes`,
		workspaceID, senders, bytes)
	return err
}

func heldTotal(conn Conn, workspaceID int64) (senders, bytes int64, err error) {
	err = each(conn, "SELECT senders, bytes FROM held_total WHERE workspace_id = ?",
		func(row Row) { senders, bytes = row.ColumnInt64(0), row.ColumnInt64(1) }, workspaceID)
	return senders, bytes, err
}

// HeldTotal implements store.Inlets.
func (t Inlets) HeldTotal(ctx context.Context, workspaceID int64) (senders, bytes int64, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		senders, bytes, err = heldTotal(conn, workspaceID)
		return err
	})
	return senders, bytes, err
}

// HeldSenders implements store.Inlets.
func (t Inlets) HeldSenders(ctx context.Context, workspaceID, sourceID int64, p store.Page) (list []rimewatch.HeldSender, total int, err error) {
	err = t.read(ctx, func(conn Conn) error {
		if _, err := sourceTable.of(ctx, conn, workspaceID, sourceID); err != nil {
			return err
		}
		n, err := queryInt(conn, "SELECT COUNT(*) FROM held_sender WHERE source_id = ?", sourceID)
		if err != nil {
			return err
		}
		total = int(n)
		return each(conn, `SELECT source_id, external_id, label, reason, payloads, bytes, first_at, last_at FROM held_sender
				WHERE source_id = ? ORDER BY last_at DESC, external_id LIMIT ? OFFSET ?`,
			func(row Row) {
				list = append(list, rimewatch.HeldSender{SourceID: row.ColumnInt64(0), ExternalID: row.ColumnText(1), Label: row.ColumnText(2), Reason: row.ColumnText(3),
					Count: row.ColumnInt64(4), Bytes: row.ColumnInt64(5), FirstAt: columnTime(row, 6), LastAt: columnTime(row, 7)})
			}, sourceID, p.Limit, p.Offset)
	})
	return list, total, err
}

// Held implements store.Inlets.
func (t Inlets) Held(ctx context.Context, workspaceID, sourceID int64, externalID string, after int64, limit int) ([]rimewatch.Held, error) {
	return t.heldOf(ctx, workspaceID, sourceID, externalID, "id > ? ORDER BY id LIMIT ?", after, limit)
}

// NewestHeld implements store.Inlets.
func (t Inlets) NewestHeld(ctx context.Context, workspaceID, sourceID int64, externalID string, before int64, limit int) ([]rimewatch.Held, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	return t.heldOf(ctx, workspaceID, sourceID, externalID, "id < ? ORDER BY id DESC LIMIT ?", before, limit)
}

func (t Inlets) heldOf(ctx context.Context, workspaceID, sourceID int64, externalID, where string, id int64, limit int) (list []rimewatch.Held, err error) {
	err = t.read(ctx, func(conn Conn) error {
		src, err := sourceTable.of(ctx, conn, workspaceID, sourceID)
		if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
			return nil
		}
		if err != nil {
			return err
		}
		return each(conn, `SELECT id, source_id, external_id, received_at, topic, query, body, reason, label FROM held
				WHERE source_id = ? AND external_key = ? AND workspace_id = ? AND `+where,
			func(row Row) {
				list = append(list, rimewatch.Held{ID: row.ColumnInt64(0), SourceID: row.ColumnInt64(1), ExternalID: row.ColumnText(2), ReceivedAt: columnTime(row, 3),
					Topic: row.ColumnText(4), Query: row.ColumnText(5), Body: columnBlob(row, 6), Reason: row.ColumnText(7), Label: row.ColumnText(8)})
			}, sourceID, src.SenderKey(externalID), workspaceID, id, limit)
	})
	return list, err
}

// ReleaseHeld implements store.Inlets.
func (t Inlets) ReleaseHeld(ctx context.Context, workspaceID int64, ids []int64) error {
	return t.write(ctx, func(conn Conn) error {
		for _, id := range ids {
			if err := release(conn, workspaceID, id); err != nil {
				return err
			}
		}
		return nil
	})
}

func release(conn Conn, workspaceID, id int64) error {
	var sourceID, bytes int64
	var key string
	err := each(conn, "DELETE FROM held WHERE id = ? AND workspace_id = ? RETURNING source_id, external_key, bytes",
		func(row Row) { sourceID, key, bytes = row.ColumnInt64(0), row.ColumnText(1), row.ColumnInt64(2) }, id, workspaceID)
	if err != nil || sourceID == 0 {
		return err
	}
	_, err = exec(conn, "UPDATE held_sender SET payloads = payloads - 1, bytes = bytes - ? WHERE source_id = ? AND external_key = ?", bytes, sourceID, key)
	if err != nil {
		return err
	}
	gone, err := exec(conn, "DELETE FROM held_sender WHERE source_id = ? AND external_key = ? AND payloads = 0", sourceID, key)
	if err != nil {
		return err
	}
	return addHeld(conn, workspaceID, -int64(gone), -bytes)
}

// AllHeldBefore implements store.Everywhere.
func (t Everywhere) AllHeldBefore(ctx context.Context, before rimewatch.Time, limit int) (n int, err error) {
	type old struct{ workspaceID, id int64 }
	err = t.write(ctx, func(conn Conn) error {
		var list []old
		err := each(conn, "SELECT workspace_id, id FROM held WHERE received_at < ?"+t.and("workspace_id")+" ORDER BY received_at LIMIT ?",
			func(row Row) { list = append(list, old{row.ColumnInt64(0), row.ColumnInt64(1)}) }, int64(before), limit)
		if err != nil {
			return err
		}
		for _, x := range list {
			if err := release(conn, x.workspaceID, x.id); err != nil {
				return err
			}
		}
		n = len(list)
		return nil
	})
	return n, err
}

// FoldSenders renames senders to the form in which they are compared now, where a version before
// told them apart, such as by the case of a hardware address: two become one.
func FoldSenders(conn Conn) error {
	type sender struct {
		workspace, source int64
		was, is           string
	}
	var list []sender
	err := each(conn, `SELECT s.workspace_id, s.id, s.kind, b.external_key FROM binding b JOIN source s ON s.id = b.source_id
			UNION SELECT s.workspace_id, s.id, s.kind, h.external_key FROM held_sender h JOIN source s ON s.id = h.source_id`, func(row Row) {
		src := rimewatch.Source{Kind: rimewatch.SourceKind(row.ColumnText(2))}
		if was := row.ColumnText(3); src.SenderKey(was) != was {
			list = append(list, sender{row.ColumnInt64(0), row.ColumnInt64(1), was, src.SenderKey(was)})
		}
	})
	for i := 0; i < len(list) && err == nil; i++ {
		x := &list[i]
		if err = foldBindings(conn, x.source, x.was, x.is); err == nil {
			err = foldHeld(conn, x.workspace, x.source, x.was, x.is)
		}
	}
	return err
}

// foldBindings has bindings of one name be of another one, where that has none for the device.
func foldBindings(conn Conn, sourceID int64, was, is string) error {
	_, err := exec(conn, `INSERT INTO binding (source_id, external_id, external_key, serial, serial_key, fields, created_at)
		SELECT source_id, external_id, ?, serial, serial_key, fields, created_at FROM binding WHERE source_id = ? AND external_key = ?
		ON CONFLICT (source_id, external_key, serial_key) DO NOTHING`, is, sourceID, was)
	if err != nil {
		return err
	}
	return execAll(conn, []any{sourceID, was}, "DELETE FROM binding WHERE source_id = ? AND external_key = ?")
}

// foldHeld moves the held payloads of one name to another.
func foldHeld(conn Conn, workspaceID, sourceID int64, was, is string) error {
	senders := func() (int64, error) {
		return queryInt(conn, "SELECT COUNT(*) FROM held_sender WHERE source_id = ?", sourceID)
	}
	before, err := senders()
	if err != nil {
		return err
	}
	_, err = exec(conn, `INSERT INTO held_sender (source_id, external_id, external_key, label, reason, payloads, bytes, first_at, last_at)
		SELECT source_id, external_id, ?, label, reason, payloads, bytes, first_at, last_at FROM held_sender WHERE source_id = ? AND external_key = ?
		ON CONFLICT (source_id, external_key) DO UPDATE SET payloads = held_sender.payloads + excluded.payloads, bytes = held_sender.bytes + excluded.bytes,
			first_at = CASE WHEN excluded.first_at < held_sender.first_at THEN excluded.first_at ELSE held_sender.first_at END,
			last_at = CASE WHEN excluded.last_at > held_sender.last_at THEN excluded.last_at ELSE held_sender.last_at END`, is, sourceID, was)
	if err == nil {
		err = execAll(conn, []any{sourceID, was}, "DELETE FROM held_sender WHERE source_id = ? AND external_key = ?")
	}
	if err == nil {
		_, err = exec(conn, "UPDATE held SET external_key = ? WHERE source_id = ? AND external_key = ?", is, sourceID, was)
	}
	if err != nil {
		return err
	}
	after, err := senders()
	if err == nil && after != before {
		err = addHeld(conn, workspaceID, after-before, 0)
	}
	return err
}
