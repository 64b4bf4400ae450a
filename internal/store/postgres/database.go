package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/core"
	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// Database is a database whose shards the nodes of a cluster share out among
// themselves, with the connections of one node.
type Database struct {
	*tables.Tables // of all workspaces, for looking things up
	disk           *disk
}

// Writers of a node: each shard commits by itself.
const nodeWriters = 16

// Connect connects as a node, makes the schema where there is none, divided into
// cfg.Shards, and brings one of an older version up to date.
func Connect(ctx context.Context, cfg Config) (*Database, error) {
	cfg.defaults()
	cfg.writers = nodeWriters
	d := newDisk(cfg)
	d.node = nodeName()
	d.tables = tables.New(d, func() rimewatch.Time { return rimewatch.TimeOf(cfg.Now()) }, store.Shard{}, cfg.Quotas)
	err := d.connect(ctx)
	if err == nil {
		err = d.with(ctx, d.writes, func(c *pgx.Conn) error { return d.prepareDatabase(ctx, c) })
	}
	if err == nil {
		err = d.with(ctx, d.writes, d.countShards)
	}
	if err != nil {
		_ = d.close()
		return nil, fmt.Errorf("open store: %w", explain(err))
	}
	return &Database{d.tables, d}, nil
}

// Name returns this node's name; no other process has or had it.
func (db *Database) Name() string { return db.disk.node }

// Shards is how many shards the database is divided into.
func (db *Database) Shards() int64 { return db.disk.of }

// Close ends all waiting and lets go of the connections. The stores of shards are
// closed before.
func (db *Database) Close() error {
	return db.disk.close()
}

// Open takes a shard over from the owner of a stream, who writes nothing from then
// on, and loads it. ErrTaken when somebody else has done so.
func (db *Database) Open(ctx context.Context, shard, stream int64, cfg Config) (*Store, error) {
	d := db.shard(shard, cfg)
	if err := d.take(ctx, stream); err != nil {
		return nil, d.untaken(err)
	}
	return load(ctx, d)
}

// shard is the disk of a shard, with the connections of the node.
func (db *Database) shard(shard int64, cfg Config) *disk {
	cfg.URL = db.disk.cfg.URL
	cfg.defaults()
	d := newDisk(cfg)
	own := db.disk
	d.reads, d.accounts, d.writes, d.borrowed = own.reads, own.accounts, own.writes, true
	d.of, d.shard, d.node = own.of, shard, own.node
	part := store.Shard{}
	if d.of > 1 {
		part = store.Shard{Number: shard, Of: d.of}
	}
	d.tables = tables.New(d, func() rimewatch.Time { return rimewatch.TimeOf(cfg.Now()) }, part, cfg.Quotas)
	return d
}

// untaken is the error of a shard that could not be taken: CodeUnavailable where the
// database cannot be used, which says nothing about the shard.
func (d *disk) untaken(err error) error {
	if errors.Is(err, store.ErrTaken) || errors.Is(err, store.ErrMoved) {
		return err
	}
	return d.failure(err, "take a shard")
}

// load makes the store of a shard.
func load(ctx context.Context, d *disk) (*Store, error) {
	s := newStore(d)
	if err := s.Load(ctx); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("open shard %d: %w", d.shard, err)
	}
	return s, nil
}

// take closes a stream of the shard and opens the next one.
func (d *disk) take(ctx context.Context, stream int64) error {
	return d.with(ctx, d.writes, func(c *pgx.Conn) error {
		tx, err := c.Begin(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback(ctx) }()
		var now int64
		// The lock waits for what the owner is writing. The first ids come along: a commit of
		// their own would be two more for which all wait who send to the shard.
		err = tx.QueryRow(ctx, "SELECT stream, nextval('device_block') * $2, nextval('alert_block') * $3 FROM shard WHERE id = $1 FOR UPDATE",
			d.shard, int64(deviceBlock), int64(alertBlock)).Scan(&now, &d.first.DeviceID, &d.first.AlertID)
		if err != nil {
			return err
		}
		if now != stream {
			return store.ErrTaken
		}
		if d.follows != nil {
			if err := d.follows.unmoved(ctx, tx, d.shard); err != nil {
				return err
			}
		}
		b := &pgx.Batch{}
		b.Queue("UPDATE shard SET node = $2, stream = $3, open = TRUE, since = "+moment+" WHERE id = $1", d.shard, d.node, stream+1)
		b.Queue("DELETE FROM stream WHERE shard = $1", d.shard)
		b.Queue("INSERT INTO stream VALUES ($1, $2, 0)", d.shard, stream+1)
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		if err := tx.Commit(ctx); err != nil {
			return err
		}
		d.stream = stream + 1
		return nil
	})
}

// Stream is the number of the stream that this server has opened.
func (s *Store) Stream() int64 { return s.disk.stream }

// countShards finds out how many shards the database is divided into.
func (d *disk) countShards(c *pgx.Conn) error {
	return c.QueryRow(context.Background(), "SELECT count(*) FROM shard").Scan(&d.of)
}

// The ids in a block: one of devices is taken whenever a shard is opened, and
// another when it is used up.
const (
	deviceBlock = 1 << 14
	alertBlock  = 1 << 20
)

// divide makes the rows of so many shards, without owners.
func divide(ctx context.Context, tx pgx.Tx, shards int64) error {
	b := &pgx.Batch{}
	b.Queue("INSERT INTO shard SELECT i, '', 0, FALSE FROM generate_series(0, $1::bigint - 1) i", shards)
	b.Queue("INSERT INTO turn SELECT * FROM generate_series($1::bigint, $2::bigint - 1)", everybody, shards)
	return tx.SendBatch(ctx, b).Close()
}

// lastOfShard is Last where there are several shards.
func (d *disk) lastOfShard(ctx context.Context) (last core.Last, err error) {
	last = core.Last{
		DeviceID: d.first.DeviceID, DeviceEnd: d.first.DeviceID + deviceBlock,
		AlertID: d.first.AlertID, AlertEnd: d.first.AlertID + alertBlock, More: d.moreIDs,
	}
	err = d.read(ctx, d.reads, func(s *session) error {
		return s.Query(func(row tables.Row) error { last.Seq = store.Seq(row.ColumnInt64(0)); return nil },
			"SELECT coalesce(max(seq), 0) FROM commit_log WHERE shard = ?", d.shard)
	})
	return last, err
}

// moreIDs takes the next block of ids.
func (d *disk) moreIDs(ctx context.Context, alerts bool) (after, end int64, err error) {
	size, of := int64(deviceBlock), "device_block"
	if alerts {
		size, of = alertBlock, "alert_block"
	}
	err = d.transact(ctx, false, func(s *session) error {
		return s.Query(func(row tables.Row) error { after = row.ColumnInt64(0) * size; return nil }, "SELECT nextval(?::text::regclass)", of)
	})
	return after, after + size, d.failure(err, "take ids")
}

// and is the condition that a column is of a device of the shard, after others.
func (d *disk) and(column string) string {
	if d.of <= 1 {
		return ""
	}
	return fmt.Sprintf(" AND EXISTS (SELECT 1 FROM device o WHERE o.id = %s AND o.workspace_id %% %d = %d)", column, d.of, d.shard)
}

// applicationName is how the connections of a node are called in the database.
func applicationName(node string) string {
	const most = 63 // PostgreSQL cuts off longer names
	name := "rimewatch " + node
	return name[max(0, len(name)-most):]
}

// Beat records that this node is alive, and returns how things stand.
func (db *Database) Beat(ctx context.Context, self *store.Member) (v store.ClusterState, err error) {
	return db.look(ctx, self)
}

// Look looks how things stand.
func (db *Database) Look(ctx context.Context) (store.ClusterState, error) { return db.look(ctx, nil) }

func (db *Database) look(ctx context.Context, self *store.Member) (v store.ClusterState, err error) {
	d := db.disk
	failed := ""
	if self != nil && len(self.Failed) > 0 {
		text, err := json.Marshal(self.Failed)
		if err != nil {
			return v, err
		}
		failed = string(text)
	}
	err = d.with(ctx, d.accounts, func(c *pgx.Conn) error {
		s := &session{ctx: ctx, conn: c, disk: d}
		if self != nil {
			// It need not outlive the database, nor wait for its standby.
			_ = s.Later(nil, "SELECT set_config('synchronous_commit', 'off', TRUE)")
			_ = s.Later(nil, `INSERT INTO node (name, beat, url, since, version, secret, leaving, failed) VALUES (?, `+moment+`, ?, `+moment+`, ?, ?, ?::bigint <> 0, ?)
				ON CONFLICT (name) DO UPDATE SET beat = excluded.beat, leaving = excluded.leaving, failed = excluded.failed`,
				db.Name(), self.URL, self.Version, self.Secret, self.Leaving, failed)
		}
		_ = s.Later(func(row tables.Row) error { v.Now = rimewatch.Time(row.ColumnInt64(0)); return nil }, "SELECT "+moment)
		_ = s.Later(func(row tables.Row) error {
			m := store.Member{
				Name: row.ColumnText(0), URL: row.ColumnText(1), Version: row.ColumnText(2), Secret: row.ColumnText(3), Leaving: row.ColumnBool(4),
				Beat: row.ColumnInt64(5), Since: rimewatch.Time(row.ColumnInt64(6)),
			}
			if failed := row.ColumnText(7); failed != "" {
				if err := json.Unmarshal([]byte(failed), &m.Failed); err != nil {
					return fmt.Errorf("what %s could not open: %w", m.Name, err)
				}
			}
			v.Members = append(v.Members, m)
			return nil
		}, "SELECT name, url, version, secret, leaving, beat, since, failed FROM node ORDER BY name")
		return s.Query(func(row tables.Row) error {
			v.Holdings = append(v.Holdings, store.Holding{
				Shard: row.ColumnInt64(0), Stream: row.ColumnInt64(1), Node: row.ColumnText(2), Open: row.ColumnBool(3), Since: rimewatch.Time(row.ColumnInt64(4)),
			})
			return nil
		}, "SELECT id, stream, node, open, since FROM shard ORDER BY id")
	})
	return v, err
}

// RemoveMember takes a member off the list that was last heard of at beat, and breaks its
// connections to the database: what it has begun ends. One that lives after all
// comes back with its next beat, without its shards.
func (db *Database) RemoveMember(ctx context.Context, name string, beat int64) error {
	d := db.disk
	return d.with(ctx, d.accounts, func(c *pgx.Conn) error {
		tag, err := c.Exec(ctx, "DELETE FROM node WHERE name = $1 AND beat = $2", name, beat)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		_, err = c.Exec(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND usename = current_user", applicationName(name))
		return err
	})
}

// Leave takes this node off the list.
func (db *Database) Leave(ctx context.Context) error {
	d := db.disk
	return d.with(ctx, d.accounts, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, "DELETE FROM node WHERE name = $1", d.node)
		return err
	})
}
