package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/tables"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

// open connects, makes the schema where there is none, and takes the shard.
func (d *disk) open(ctx context.Context) error {
	if err := d.connect(ctx); err != nil {
		return err
	}
	if err := d.with(ctx, d.writes, func(c *pgx.Conn) error { return d.prepareDatabase(ctx, c) }); err != nil {
		return explain(err)
	}
	if err := d.with(ctx, d.writes, d.countShards); err != nil {
		return explain(err)
	}
	if d.cfg.ControlOnly {
		return nil
	}
	if d.of > 1 {
		return fmt.Errorf("the database is divided into %d shards: start the server as a node, with --cluster-listen", d.of)
	}
	if err := d.claim(ctx); err != nil {
		return explain(err)
	}
	d.workers.Go(d.beat)
	return nil
}

// prepareDatabase makes the schema in a fresh database, and brings one of an older
// version up to date. One of another program or of a newer version is refused before
// anything is written, and so is an older one by a command beside a server.
func (d *disk) prepareDatabase(ctx context.Context, c *pgx.Conn) error {
	fresh, err := examine(ctx, c, d.cfg.history.Version)
	switch {
	case errors.Is(err, store.ErrOlder) && !d.cfg.ControlOnly:
		return d.upgrade(ctx, c)
	case err != nil || !fresh:
		return err
	}
	tx, err := c.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	_, err = tx.Exec(ctx, schema)
	if err == nil {
		err = divide(ctx, tx, max(d.cfg.Shards, 1))
	}
	if err == nil {
		_, err = tx.Exec(ctx, "INSERT INTO rimewatch VALUES (TRUE, $1)", store.SchemaVersion)
	}
	if err == nil {
		err = tx.Commit(ctx)
	}
	if state := code(err); state == "42P07" || state == "42723" || state == "23505" { // another process was quicker
		_ = tx.Rollback(ctx)
		_, err = examine(ctx, c, d.cfg.history.Version)
	}
	return err
}

// ddlPatience is how long a step waits for a lock on a table: whoever wants the table
// meanwhile waits behind it.
const ddlPatience = "SET LOCAL lock_timeout = '10s'"

// upgrade brings a database of an older version up to date, all of it or nothing. Of
// several nodes one does it, the others wait for it. Unless every step may be done
// beside servers of the version before, none of them may be heard of, and those that
// are silent write nothing any more.
func (d *disk) upgrade(ctx context.Context, c *pgx.Conn) (err error) {
	tx, err := c.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	var found int
	if _, err := tx.Exec(ctx, ddlPatience); err != nil {
		return err
	}
	if err := tx.QueryRow(ctx, "SELECT version FROM rimewatch FOR UPDATE").Scan(&found); err != nil {
		return err
	}
	to := d.cfg.history.Version
	if found == to { // another process was quicker
		return nil
	}
	steps, err := d.cfg.history.Steps(found)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(steps, func(u tables.Upgrade) bool { return !u.Beside }) {
		if err := d.alone(ctx, tx); err != nil {
			return err
		}
	}
	for i := range steps {
		if err := takeStep(ctx, c, &steps[i]); err != nil {
			return fmt.Errorf("bring the database from schema %d to %d (it is as it was): %w", found, to, err)
		}
	}
	if _, err := tx.Exec(ctx, "UPDATE rimewatch SET version = $1", to); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	d.cfg.Logger.Warn("the database was brought up to date; to go back to the program of before, restore a backup of the database: what was stored since is lost then", "from", found, "to", to)
	return nil
}

// takeStep does one step on the connection of a running transaction.
func takeStep(ctx context.Context, c *pgx.Conn, u *tables.Upgrade) error {
	for _, sql := range []string{words.Replace(u.SQL), u.PostgreSQL} {
		if _, err := c.Exec(ctx, sql); err != nil {
			return err
		}
	}
	if u.Rewrite == nil {
		return nil
	}
	s := &session{ctx: ctx, conn: c}
	if err := u.Rewrite(s); err != nil {
		return err
	}
	return s.flush()
}

// alone closes the streams of all shards, and returns an error while a server is heard of.
func (d *disk) alone(ctx context.Context, tx pgx.Tx) error {
	var heard string
	err := tx.QueryRow(ctx, "SELECT name FROM node WHERE beat > "+moment+" - $1 ORDER BY beat DESC LIMIT 1", d.cfg.gone.Milliseconds()).Scan(&heard)
	switch {
	case err == nil:
		return fmt.Errorf("the database is of an older version of Rimewatch, and %s still serves it: stop all servers of that version, then start this one", heard)
	case !errors.Is(err, pgx.ErrNoRows):
		return err
	}
	_, err = tx.Exec(ctx, "UPDATE shard SET open = FALSE")
	return err
}

// oldest is the first version of PostgreSQL that is known to do.
const oldest = 15

// examine looks at a database before anything writes to it and reports whether it
// is fresh. One of another version than the one that is wanted is an error, ErrOlder
// when it can be brought up to date.
func examine(ctx context.Context, c *pgx.Conn, want int) (fresh bool, err error) {
	var server, ours, others int
	err = c.QueryRow(ctx, `SELECT current_setting('server_version_num')::int / 10000, count(*) FILTER (WHERE relname = 'rimewatch'), count(*)
		FROM pg_class r WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
		AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = r.oid AND d.deptype = 'e')`).Scan(&server, &ours, &others)
	switch {
	case err != nil:
		return false, err
	case server < oldest:
		return false, fmt.Errorf("this is PostgreSQL %d; %d or newer is needed", server, oldest)
	case others == 0:
		return true, nil
	case ours == 0:
		return false, ErrNotAStore
	}
	var version int
	err = c.QueryRow(ctx, "SELECT version FROM rimewatch").Scan(&version)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, ErrUnfinished
	case err != nil:
		return false, err
	}
	if version != want {
		err = store.CheckVersion(version)
		if err == nil { // the history is a test's
			err = store.ErrOlder
		}
	}
	return false, err
}

// Errors of a database that cannot be opened.
var (
	ErrNotAStore  = errors.New("the database holds tables of something else: give Rimewatch a database, or a schema (search_path), of its own")
	ErrUnfinished = errors.New("a migration into this database did not end: run rimewatch migrate again")
)

// beatEvery is how often a server is heard of.
const beatEvery = time.Second

// moment is the database's time.
const moment = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

const sayBeat = `INSERT INTO node (name, beat) VALUES ($1, ` + moment + `)
	ON CONFLICT (name) DO UPDATE SET beat = excluded.beat`

// nodeName is a name that no other process has or had.
func nodeName() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:6])
}

// claim opens a stream of the shard. A server that is still heard of keeps it; one
// that is silent for store.GoneAfter loses it.
func (d *disk) claim(ctx context.Context) error {
	name := nodeName()
	first := int64(-1)
	for {
		owner, beat, err := d.tryClaim(ctx, name)
		switch {
		case err != nil || owner == "":
			return err
		case first >= 0 && beat != first:
			return fmt.Errorf("another server uses the database: %s", owner)
		}
		first = beat
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(beatEvery / 4):
		}
	}
}

// tryClaim opens a stream unless somebody is heard of: then it returns who and
// when.
func (d *disk) tryClaim(ctx context.Context, name string) (owner string, beat int64, err error) {
	err = d.with(ctx, d.writes, func(c *pgx.Conn) error {
		tx, err := c.Begin(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback(ctx) }()
		var stream, age int64
		var open bool
		// The lock waits for what the owner is writing.
		err = tx.QueryRow(ctx, "SELECT node, stream, open FROM shard WHERE id = $1 FOR UPDATE", d.shard).Scan(&owner, &stream, &open)
		if err == nil {
			err = tx.QueryRow(ctx, `SELECT name, beat, (extract(epoch FROM clock_timestamp()) * 1000)::bigint - beat FROM node
				WHERE name = $1 AND $2 OR url <> '' ORDER BY beat DESC LIMIT 1`, owner, open).Scan(&owner, &beat, &age)
		}
		switch {
		case err != nil && !errors.Is(err, pgx.ErrNoRows):
			return err
		case err == nil && !d.cfg.takeOver && age < d.cfg.gone.Milliseconds():
			return nil
		}
		owner, d.stream = "", stream+1
		b := &pgx.Batch{}
		b.Queue("UPDATE shard SET node = $2, stream = $3, open = TRUE, since = "+moment+" WHERE id = $1", d.shard, name, d.stream)
		b.Queue("DELETE FROM stream WHERE shard = $1", d.shard)
		b.Queue("INSERT INTO stream VALUES ($1, $2, 0)", d.shard, d.stream)
		b.Queue("DELETE FROM node WHERE url = ''")
		b.Queue(sayBeat, name)
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		d.node = name
		return tx.Commit(ctx)
	})
	return owner, beat, err
}

// beat records that this server is alive, until the store is closed or lost.
func (d *disk) beat() {
	for range ticker.Every(d.closing.Done(), beatEvery, d.lostC) {
		if d.lostErr() != nil {
			return
		}
		err := d.transact(d.closing, false, func(s *session) error {
			s.start()
			s.later.Queue(sayBeat, d.node)
			return nil
		})
		if code(err) == fencedState {
			_ = d.lose(errFenced)
		}
	}
}

// release closes the stream, so that the next owner need not wait for its last beat.
func (d *disk) release() error {
	if d.stream == 0 || d.lostErr() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), d.cfg.patience)
	defer cancel()
	if !d.borrowed {
		d.writes.Reset() // none that broke while it lay idle
	}
	c, err := d.writes.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	_, err = c.Exec(ctx, `WITH closed AS (UPDATE shard SET open = FALSE WHERE id = $1 AND stream = $2 RETURNING id)
		UPDATE stream SET change = $3 WHERE shard = (SELECT id FROM closed) AND id = $2`, d.shard, d.stream, closedAfter(d.moved))
	if err == nil && !d.borrowed {
		_, err = c.Exec(ctx, "DELETE FROM node WHERE name = $1", d.node)
	}
	return err
}

// explain returns an error that says how an operator can repair it.
func explain(err error) error {
	switch code(err) {
	case noPrivilege, "3F000":
		return fmt.Errorf("the database user lacks privileges (make it the owner of the database, or grant CREATE on the schema): %w", err)
	case readOnly:
		return fmt.Errorf("the server is read-only: it is a standby, or was the primary before a fail-over (several hosts with target_session_attrs=read-write find the primary): %w", err)
	case "42704":
		return fmt.Errorf("the connection string has a parameter that PostgreSQL does not know: %w", err)
	}
	var connecting *pgconn.ConnectError
	if errors.As(err, &connecting) { // a line for each address that was tried
		return errors.New(strings.Join(strings.Fields(err.Error()), " "))
	}
	return err
}

var _ tables.DB = (*disk)(nil)
