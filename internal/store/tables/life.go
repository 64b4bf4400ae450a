package tables

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// aliveAt is the key of the last moment at which a node is known to have watched.
const aliveAt = "alive_at"

// MarkAlive implements store.Log.
func (t Places) MarkAlive(ctx context.Context, now rimewatch.Time) error {
	return t.write(ctx, func(conn Conn) error { return setMeta(conn, t.key(aliveAt), int64(now)) })
}

// Lived returns the last moment that MarkAlive or NoteLog recorded, and how far
// the log was by then.
func (t Places) Lived(ctx context.Context) (at rimewatch.Time, seq store.Seq, err error) {
	err = t.read(ctx, func(conn Conn) error {
		alive, err := meta(conn, t.key(aliveAt))
		if err != nil {
			return err
		}
		n, err := meta(conn, t.key("seq"))
		at, seq = rimewatch.Time(alive), store.Seq(n)
		return err
	})
	return at, seq, err
}

// NoteLog records how far the log is, in the transaction that deletes its rows.
func (t Places) NoteLog(conn Conn, at rimewatch.Time, seq store.Seq) error {
	if err := raiseMeta(conn, t.key("seq"), int64(seq)); err != nil {
		return err
	}
	return raiseMeta(conn, t.key(aliveAt), int64(at))
}

// retainedAt is the key of the moment from which the newest pass of retention
// reckoned.
const retainedAt = "retained_at"

// RetainedAt returns the moment that NoteRetained recorded, 0 = none.
func (t Places) RetainedAt(ctx context.Context) (at rimewatch.Time, err error) {
	err = t.read(ctx, func(conn Conn) error {
		v, err := meta(conn, t.key(retainedAt))
		at = rimewatch.Time(v)
		return err
	})
	return at, err
}

// NoteRetained records the moment from which a pass of retention reckoned.
func (t Places) NoteRetained(ctx context.Context, at rimewatch.Time) error {
	return t.write(ctx, func(conn Conn) error { return setMeta(conn, t.key(retainedAt), int64(at)) })
}

// AddDowntime implements store.Log.
func (t Places) AddDowntime(ctx context.Context, d store.Downtime) error {
	if d.To <= d.From {
		return nil
	}
	return t.write(ctx, func(conn Conn) error {
		_, err := exec(conn, `INSERT INTO downtime (shard, from_at, to_at) VALUES (?, ?, ?)
			ON CONFLICT (shard, from_at) DO UPDATE SET to_at = excluded.to_at WHERE downtime.to_at < excluded.to_at`, t.shard.Number, int64(d.From), int64(d.To))
		return err
	})
}

// Downtimes implements store.Log.
func (t Places) Downtimes(ctx context.Context) (all []store.Downtime, err error) {
	err = t.read(ctx, func(conn Conn) error {
		return each(conn, "SELECT from_at, to_at FROM downtime WHERE shard = ? ORDER BY from_at", func(row Row) {
			all = append(all, store.Downtime{From: columnTime(row, 0), To: columnTime(row, 1)})
		}, t.shard.Number)
	})
	return all, err
}

// AllSites lists the sites of all workspaces of the shard.
func (t Everywhere) AllSites(ctx context.Context) ([]rimewatch.Site, error) {
	return siteTable.all(ctx, t.base, "TRUE"+t.and("workspace_id"))
}

// Expire deletes the rows that a workspace keeps no longer than its rollups: excursions, and the
// deliveries of alerts that are over.
func (t Places) Expire(ctx context.Context, workspaceID int64, before rimewatch.Time) error {
	if err := t.expireExcursions(ctx, workspaceID, before); err != nil {
		return err
	}
	return t.pruneNotifications(ctx, workspaceID, before)
}
