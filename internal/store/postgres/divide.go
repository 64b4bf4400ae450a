package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rimewatch/rimewatch/internal/store"
)

// LookAt looks how things stand in a database, without becoming a member.
func LookAt(ctx context.Context, url string) (v store.ClusterState, err error) {
	in, err := Inspect(ctx, url, false)
	if err != nil {
		return v, err
	}
	if in.Fresh {
		return v, errors.New("there is no store in this database")
	}
	if in.Store != nil {
		return v, in.Store
	}
	db, err := Connect(ctx, Config{URL: url})
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Look(ctx)
}

// Divide divides the database into so many shards. No server may run, and everything
// in the log must have been sealed: its rows are of devices of all shards.
func (db *Database) Divide(ctx context.Context, shards int64) error {
	d := db.disk
	return d.with(ctx, d.writes, func(c *pgx.Conn) error {
		tx, err := c.Begin(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback(ctx) }()
		var open, logged, unplanned int64
		err = tx.QueryRow(ctx, "SELECT count(*) FILTER (WHERE open) FROM (SELECT open FROM shard FOR UPDATE) s").Scan(&open)
		if err == nil {
			err = tx.QueryRow(ctx, "SELECT count(*) FROM commit_log").Scan(&logged)
		}
		if err == nil {
			err = tx.QueryRow(ctx, `SELECT count(*) FROM alert_transition t LEFT JOIN meta m
				ON m.key = 'planned_through' || CASE $1::bigint WHEN 1 THEN '' ELSE '/' || t.workspace_id % $1::bigint END WHERE t.id > coalesce(m.value, 0)`, d.of).Scan(&unplanned)
		}
		switch {
		case err != nil:
			return err
		case unplanned > 0:
			return fmt.Errorf("of %d changes of alerts nobody was notified yet: start the server once more, and stop it in order", unplanned)
		case open > 0:
			return fmt.Errorf("%d shards are served: stop all servers", open)
		case logged > 0:
			return fmt.Errorf("%d commits are not sealed", logged)
		}
		for _, statement := range divideStatements(d.of, shards) {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		if err := divide(ctx, tx, shards); err != nil {
			return err
		}
		if err := tx.Commit(ctx); err != nil {
			return err
		}
		d.of = shards
		return nil
	})
}

// divideStatements bring the numbers of the log from so many shards to others.
// Each begins where the one that was furthest ended: positions in the log only grow,
// and seals and checkpoints bear them.
func divideStatements(from, to int64) []string {
	names := func(of int64, key string) string {
		if of == 1 {
			return "key = '" + key + "'"
		}
		return "key LIKE '" + key + "/%'"
	}
	var list []string
	for _, key := range []string{"alive_at", "seq", "retained_at", "planned_through"} {
		pick := "max"
		if key == "retained_at" {
			pick = "min" // work that one has not done yet is to be done
		}
		list = append(list, fmt.Sprintf("CREATE TEMP TABLE was_%s ON COMMIT DROP AS SELECT %s(value) AS value FROM meta WHERE %s", key, pick, names(from, key)),
			fmt.Sprintf("DELETE FROM meta WHERE %s", names(from, key)))
		if to == 1 {
			list = append(list, fmt.Sprintf("INSERT INTO meta SELECT '%s', value FROM was_%s WHERE value IS NOT NULL", key, key))
		} else {
			list = append(list, fmt.Sprintf("INSERT INTO meta SELECT '%s/' || i, value FROM was_%s, generate_series(0, %d) i WHERE value IS NOT NULL", key, key, to-1))
		}
	}
	return append(list,
		// In a downtime of some, the others are taken to have been unwatched, too: nobody goes offline falsely.
		"CREATE TEMP TABLE was_down ON COMMIT DROP AS SELECT from_at, max(to_at) AS to_at FROM downtime GROUP BY from_at", "DELETE FROM downtime",
		fmt.Sprintf("INSERT INTO downtime SELECT i, from_at, to_at FROM was_down, generate_series(0, %d) i", to-1),
		fmt.Sprintf("SELECT setval('device_block', (SELECT greatest(max(id), (SELECT last_value FROM device_id_seq)) / %d + 1 FROM device))", deviceBlock),
		fmt.Sprintf("SELECT setval('alert_block', (SELECT greatest(max(id), (SELECT last_value FROM alert_id_seq)) / %d + 1 FROM alert))", alertBlock),
		"SELECT setval('device_id_seq', (SELECT greatest(max(id), (SELECT last_value FROM device_id_seq)) FROM device))",
		"SELECT setval('alert_id_seq', (SELECT greatest(max(id), (SELECT last_value FROM alert_id_seq)) FROM alert))",
		"DELETE FROM shard", "DELETE FROM turn", "DELETE FROM stream", "DELETE FROM node")
}
