package tables

import (
	"context"
	"encoding/json"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// eventSQL makes the table of events: a row holds those of a commit in one workspace.
const eventSQL = `CREATE TABLE event (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL,
	number INTEGER NOT NULL, -- of the last of them, counted within the workspace
	n INTEGER NOT NULL, -- how many they are
	at INTEGER NOT NULL,
	body TEXT NOT NULL -- JSON
) STRICT;
CREATE UNIQUE INDEX event_by_number ON event(workspace_id, number);
CREATE INDEX event_by_time ON event(workspace_id, at, number)`

// eventItem is an event as its row keeps it.
type eventItem struct {
	Type     rimewatch.EventType      `json:"type"`
	Subject  string                   `json:"subject"`
	Site     int64                    `json:"site,omitempty"`
	Data     json.RawMessage          `json:"data,omitempty"`
	Alert    int64                    `json:"alert,omitempty"`
	Kind     rimewatch.TransitionKind `json:"kind,omitempty"`
	Severity rimewatch.Severity       `json:"severity,omitempty"`
	Actor    string                   `json:"actor,omitempty"`
	Note     string                   `json:"note,omitempty"`
	Facts    string                   `json:"facts,omitempty"`
}

func itemOf(e *rimewatch.Event) (x eventItem, err error) {
	x = eventItem{Type: e.Type, Subject: e.Subject, Site: e.SiteID, Data: e.Data}
	if t := e.Alert; t != nil {
		x.Alert, x.Kind, x.Severity, x.Actor, x.Note = t.AlertID, t.Kind, t.Severity, t.Actor, t.Note
		x.Facts, err = encodeFacts(t)
	}
	return x, err
}

// appendEvents writes the events of a transaction, a row for each workspace, in order.
func appendEvents(conn Conn, list []rimewatch.Event) error {
	for len(list) > 0 {
		workspaceID := list[0].WorkspaceID
		var own []*rimewatch.Event
		var items []eventItem
		var others []rimewatch.Event
		for i := range list {
			e := &list[i]
			if e.WorkspaceID != workspaceID {
				others = append(others, *e)
				continue
			}
			x, err := itemOf(e)
			if err != nil {
				return wrap(err, "event of workspace", workspaceID)
			}
			own, items = append(own, e), append(items, x)
		}
		if err := insertEvents(conn, own, items); err != nil {
			return err
		}
		list = others
	}
	return nil
}

func insertEvents(conn Conn, list []*rimewatch.Event, items []eventItem) error {
	e := list[0]
	body, err := json.Marshal(items)
	if err != nil {
		return wrap(err, "events of workspace", e.WorkspaceID)
	}
	if c, ok := conn.(turner); ok {
		if err := c.TakeTurn(e.WorkspaceID); err != nil {
			return err
		}
	}
	return conn.Later(nil, `INSERT INTO event (workspace_id, number, n, at, body)
		VALUES (?, coalesce((SELECT max(number) FROM event WHERE workspace_id = ?), 0) + ?, ?, ?, ?)`,
		e.WorkspaceID, e.WorkspaceID, len(list), len(list), int64(e.At), string(body))
}

// scanEvents reads the events of a row that have greater numbers than after.
func scanEvents(row Row, after int64) (list []rimewatch.Event, err error) {
	var items []eventItem
	workspaceID, last, at := row.ColumnInt64(0), row.ColumnInt64(1), columnTime(row, 2)
	if err := json.Unmarshal([]byte(row.ColumnText(3)), &items); err != nil {
		return nil, nil //nolint:nilerr // one damaged row does not keep the others from being read
	}
	for i := range items {
		x := &items[i]
		e := rimewatch.Event{WorkspaceID: workspaceID, Number: last - int64(len(items)-1-i), At: at, Type: x.Type, Subject: x.Subject, SiteID: x.Site, Data: x.Data}
		if e.Number <= after {
			continue
		}
		if x.Alert != 0 {
			e.Alert = &rimewatch.AlertTransition{WorkspaceID: workspaceID, AlertID: x.Alert, Kind: x.Kind, At: at, Severity: x.Severity, Actor: x.Actor, Note: x.Note}
			if err := decodeFacts(x.Facts, e.Alert); err != nil {
				return nil, err
			}
		}
		list = append(list, e)
	}
	return list, nil
}

// Events implements store.Events.
func (t Outbox) Events(ctx context.Context, workspaceID, after int64, limit int) (list []rimewatch.Event, err error) {
	err = t.readLong(ctx, func(conn Conn) error {
		return conn.Query(func(row Row) error {
			some, err := scanEvents(row, after)
			list = append(list, some...)
			return err
		}, "SELECT workspace_id, number, at, body FROM event WHERE workspace_id = ? AND number > ? ORDER BY number LIMIT ?", workspaceID, after, limit)
	})
	return list, err
}

// EventRange implements store.Events.
func (t Outbox) EventRange(ctx context.Context, workspaceID int64) (first, newest int64, err error) {
	first = 1
	err = t.read(ctx, func(conn Conn) error {
		return each(conn, `SELECT number - n + 1, (SELECT max(number) FROM event WHERE workspace_id = ?) FROM event WHERE workspace_id = ? ORDER BY number LIMIT 1`,
			func(row Row) { first, newest = row.ColumnInt64(0), row.ColumnInt64(1) }, workspaceID, workspaceID)
	})
	return first, newest, err
}

// EventsSince implements store.Events.
func (t Outbox) EventsSince(ctx context.Context, workspaceID int64, at rimewatch.Time) (after int64, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		after, err = queryInt(conn, `SELECT coalesce((SELECT number - n FROM event WHERE workspace_id = ? AND at >= ? ORDER BY at, number LIMIT 1), (SELECT max(number) FROM event WHERE workspace_id = ?), 0)`,
			workspaceID, int64(at), workspaceID)
		return err
	})
	return after, err
}

// AllEventsAfter implements store.Everywhere.
func (t Everywhere) AllEventsAfter(ctx context.Context, id int64, limit int) (list []store.EventRow, err error) {
	err = t.read(ctx, func(conn Conn) error {
		return each(conn, "SELECT id, workspace_id, number - n + 1, number FROM event WHERE id > ?"+t.and("workspace_id")+" ORDER BY id LIMIT ?", func(row Row) {
			list = append(list, store.EventRow{ID: row.ColumnInt64(0), WorkspaceID: row.ColumnInt64(1), First: row.ColumnInt64(2), Last: row.ColumnInt64(3)})
		}, id, limit)
	})
	return list, err
}

// LastEventRow implements store.Everywhere.
func (t Everywhere) LastEventRow(ctx context.Context) (id int64, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		id, err = queryInt(conn, "SELECT coalesce(max(id), 0) FROM event WHERE TRUE"+t.and("workspace_id"))
		return err
	})
	return id, err
}

// ExpireEvents deletes what a workspace keeps no longer of its events: what happened before a
// moment, and all but the newest so many. The newest commit's stay: the next number follows theirs.
func (t Places) ExpireEvents(ctx context.Context, workspaceID int64, before rimewatch.Time, most int64) error {
	cut := int64(0)
	err := t.read(ctx, func(conn Conn) error {
		return each(conn, `SELECT max(number), coalesce((SELECT number FROM event WHERE workspace_id = ? AND at < ? ORDER BY at DESC, number DESC LIMIT 1), 0)
			FROM event WHERE workspace_id = ?`, func(row Row) {
			newest := row.ColumnInt64(0)
			cut = min(max(row.ColumnInt64(1), newest-most), newest-1)
		}, workspaceID, int64(before), workspaceID)
	})
	if err != nil || cut <= 0 {
		return err
	}
	return t.prune(ctx, "event WHERE id IN (SELECT id FROM event WHERE workspace_id = ? AND number <= ? ORDER BY number LIMIT ?)", workspaceID, rimewatch.Time(cut))
}

// happened writes one event with other changes.
func (t *base) happened(conn Conn, workspaceID, siteID int64, what rimewatch.EventType, subject string, data any) error {
	return appendEvents(conn, []rimewatch.Event{{WorkspaceID: workspaceID, At: t.now(), Type: what, Subject: subject, SiteID: siteID, Data: []byte(asJSON(data))}})
}
