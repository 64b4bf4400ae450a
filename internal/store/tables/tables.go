// Package tables implements the tables of every engine: workspaces, people,
// devices, alerts, notifications, records and the audit trail. Each statement
// stands here once, in the SQL that SQLite and PostgreSQL share; an engine brings
// a Conn, which runs statements, and the schema.
package tables

import (
	"context"
	"errors"
	"fmt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Errors that a Conn wraps its engine's own in.
var (
	ErrUnique     = errors.New("a unique key is taken")
	ErrForeignKey = errors.New("a reference leads nowhere")
)

// Conn runs statements. Parameters are written ? and numbered from the left.
type Conn interface {
	// Query calls row for each row of the result until it returns an error.
	Query(row func(Row) error, statement string, args ...any) error
	// Exec returns the number of rows that the statement changed. Its errors wrap
	// ErrUnique and ErrForeignKey.
	Exec(statement string, args ...any) (int, error)
	// Later runs a statement before the next Query or Exec, or before the
	// transaction is committed: several may travel together. row is called for
	// each row of the result by then; nil = none is wanted. A failure of the
	// statement is one of the transaction.
	Later(row func(Row) error, statement string, args ...any) error
}

// Row is a row of a result. Columns count from 0; NULL is the zero value.
type Row interface {
	ColumnBool(i int) bool
	ColumnInt(i int) int
	ColumnInt64(i int) int64
	ColumnFloat(i int) float64
	ColumnText(i int) string
	ColumnLen(i int) int // of ColumnBytes
	ColumnBytes(i int, into []byte) int
	ColumnName(i int) string
}

// DB lends connections. The functions may not keep them. Errors of the engine
// come back as rimewatch.Error; others come back as they are.
type DB interface {
	// Read is for the reads of every request.
	Read(ctx context.Context, f func(Conn) error) error
	// ReadLong is for lists and counts that may take long: Read does not wait for
	// it.
	ReadLong(ctx context.Context, f func(Conn) error) error
	// Write runs f in one transaction, which is durable when Write returns nil.
	Write(ctx context.Context, f func(Conn) error) error
}

// Tables are all of them, in rooms. Those that a store hands out one by one are methods.
type Tables struct {
	*base
	Places
	Alerts
	Devices
}

type (
	// Places are the statements about workspaces, sites, and the store as a whole.
	Places struct{ *base }
	// People are those about users, members and invitations.
	People struct{ *base }
	// Access is about sessions and tokens.
	Access struct{ *base }
	// Routing is about channels, routes, rotas, silences, scheduled reports and maintenance.
	Routing struct{ *base }
	// Outbox is about transitions, events, webhooks and deliveries.
	Outbox struct{ *base }
	// Records are about excursions, cases, rounds, corrective actions and calibrations.
	Records struct{ *base }
	// Audit is the audit trail.
	Audit struct{ *base }
	// Everywhere are the statements that reach across workspaces.
	Everywhere struct{ *base }
	// Alerts are the statements about alerts.
	Alerts struct{ *base }
	// Devices are those about devices.
	Devices struct{ *base }
	// Inlets are sources, bindings and held payloads.
	Inlets struct{ *base }
)

// base is shared by all groups of tables.
type base struct {
	db    DB
	now   func() rimewatch.Time // for the audit trail
	shard store.Shard

	quotas store.Quotas
}

// New makes the tables of a database that has the schema. What reaches across
// workspaces, and what is known of the log, is of those in shard alone.
func New(db DB, now func() rimewatch.Time, shard store.Shard, quotas store.Quotas) *Tables {
	b := &base{db, now, shard, quotas}
	return &Tables{b, Places{b}, Alerts{b}, Devices{b}}
}

// Routing implements store.Store.
func (t *Tables) Routing() store.Routing { return Routing{t.base} }

// Outbox implements store.Store.
func (t *Tables) Outbox() store.Outbox { return Outbox{t.base} }

// Records implements store.Store.
func (t *Tables) Records() store.Records { return Records{t.base} }

// Inlets implements store.Store.
func (t *Tables) Inlets() store.Inlets { return Inlets{t.base} }

// Audit implements store.Store.
func (t *Tables) Audit() store.Audit { return Audit{t.base} }

// Everywhere are the statements that reach across workspaces.
func (t *Tables) Everywhere() Everywhere { return Everywhere{t.base} }

// People implements store.Control.
func (t Places) People() store.People { return whoComesIn{People(t), Access(t)} }

// whoComesIn are the tables of people and their credentials.
type whoComesIn struct {
	People
	Access
}

func (t *base) read(ctx context.Context, f func(Conn) error) error     { return t.db.Read(ctx, f) }
func (t *base) readLong(ctx context.Context, f func(Conn) error) error { return t.db.ReadLong(ctx, f) }

// write runs f in a transaction. The answer that it belongs to is kept with it.
func (t *base) write(ctx context.Context, f func(Conn) error) error {
	a := store.AnswerOf(ctx)
	if a == nil {
		return t.db.Write(ctx, f)
	}
	return t.db.Write(ctx, func(conn Conn) error {
		if err := f(conn); err != nil {
			return err
		}
		return saveAnswer(conn, a)
	})
}

// write of what concerns people is one at a time in all shards: of two owners of a
// workspace, one stays.
func (t People) write(ctx context.Context, f func(Conn) error) error {
	return t.db.Write(context.WithValue(ctx, ofAll{}, true), f)
}

type ofAll struct{}

// OfAllShards reports whether a Write has to wait for others of its kind in other
// shards.
func OfAllShards(ctx context.Context) bool { return ctx.Value(ofAll{}) != nil }

// and is the condition that a column is of a workspace of the shard, after others.
func (t *base) and(column string) string {
	if t.shard.Whole() {
		return ""
	}
	return fmt.Sprintf(" AND %s %% %d = %d", column, t.shard.Of, t.shard.Number)
}

// key is under what the shard keeps one of the numbers of its log.
func (t *base) key(name string) string {
	if t.shard.Whole() {
		return name
	}
	return fmt.Sprintf("%s/%d", name, t.shard.Number)
}

// Writes reports whether Commit has anything to write.
func Writes(ops []*store.DeviceOp, e *store.Effects) bool {
	return e.Back != 0 || len(ops)+len(e.Alerts)+len(e.Transitions)+len(e.Audit)+len(e.Excursions)+len(e.Unfounded)+len(e.Former)+len(e.Answers)+len(e.Events) > 0
}

// Asks reports whether Commit has to read stored rows: the end of an audit trail, or cases.
func Asks(ops []*store.DeviceOp, e *store.Effects) bool {
	asks := len(e.Audit) > 0 || concernsCases(e)
	for _, op := range ops {
		asks = asks || op.Calibration != nil
	}
	return asks
}

// Commit writes, in a transaction, the devices and effects of a group.
func (t *Tables) Commit(conn Conn, ops []*store.DeviceOp, e *store.Effects) error {
	trails := make(map[int64][32]byte)
	if e.Back != 0 {
		err := conn.Later(nil, "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", t.key(aliveAt), int64(e.Back))
		if err != nil {
			return err
		}
	}
	for _, op := range ops {
		if op.Err != nil {
			continue
		}
		if !t.shard.Holds(op.Device.WorkspaceID) {
			return fmt.Errorf("device %d of workspace %d does not belong to shard %d", op.Device.ID, op.Device.WorkspaceID, t.shard.Number)
		}
		if err := saveDevice(conn, &op.Device); err != nil {
			return wrap(err, "device", op.Device.ID)
		}
		if op.Calibration != nil {
			if err := saveCalibration(conn, trails, &op.Device, op.Calibration); err != nil {
				return wrap(err, "calibration of device", op.Device.ID)
			}
		}
	}
	for _, a := range e.Alerts {
		if err := saveAlert(conn, a); err != nil {
			return wrap(err, "alert of device", a.DeviceID)
		}
	}
	for i := range e.Transitions {
		if err := insertTransition(conn, &e.Transitions[i]); err != nil {
			return wrap(err, "transition of alert", e.Transitions[i].AlertID)
		}
	}
	for _, a := range e.Audit {
		if err := appendAudit(conn, trails, a); err != nil {
			return wrap(err, "audit of workspace", a.WorkspaceID)
		}
	}
	for _, x := range e.Excursions {
		if err := saveExcursion(conn, x); err != nil {
			return wrap(err, "excursion of device", x.DeviceID)
		}
	}
	for _, id := range e.Unfounded {
		if err := conn.Later(nil, "DELETE FROM excursion WHERE id = ?", id); err != nil {
			return wrap(err, "excursion", id)
		}
	}
	if err := placeCases(conn, e, t.now()); err != nil {
		return err
	}
	for _, f := range e.Former {
		if err := saveFormerLimits(conn, f); err != nil {
			return wrap(err, "limits of device", f.DeviceID)
		}
	}
	if err := appendEvents(conn, e.Events); err != nil {
		return err
	}
	for _, a := range e.Answers {
		if err := saveAnswer(conn, a); err != nil {
			return wrap(err, "answer to caller", a.Caller)
		}
	}
	return nil
}
