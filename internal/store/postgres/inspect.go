package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// Inspection is the result of looking at a database.
type Inspection struct {
	Place    string   // host, port and database
	Server   string   // PostgreSQL's version
	Fresh    bool     // there is no store yet
	Store    error    // why the store there cannot be used
	Nodes    []string // the servers that were heard of last
	Census   tables.Census
	Stats    store.Stats
	Warnings []string // for an operator to repair
	Problems []string // that keep a server from serving
	Damage   []string // rows that differ from the written ones, where they were checked
	Aside    []string // damaged rows that were set aside before
}

// Inspect looks at a database and at how its server keeps what it commits and, with
// check, at every row with a checksum and at the chains of the audit trails for damage.
// It changes nothing and works while a server runs.
func Inspect(ctx context.Context, url string, check bool) (in Inspection, err error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return in, badURL(err)
	}
	prepare(cfg)
	in.Place = fmt.Sprintf("%s:%d/%s", cfg.Host, cfg.Port, cfg.Database)
	whole := ctx // to read every row takes as long as it takes
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return in, explain(err)
	}
	defer func() { err = errors.Join(err, c.Close(whole)) }()
	if err := in.judgeServer(ctx, c); err != nil {
		return in, explain(err)
	}
	if text := rivals(survey(ctx, newPrimary("", slog.New(slog.DiscardHandler)), servers(&cfg.Config))); text != "" {
		in.Problems = append(in.Problems, text)
	}
	if in.Fresh, in.Store = examine(ctx, c, store.SchemaVersion); in.Fresh || in.Store != nil {
		return in, nil
	}
	s := &session{ctx: ctx, conn: c}
	if in.Census, err = tables.Count(s); err == nil {
		err = sizes(s, &in.Stats)
	}
	if err == nil {
		err = s.Query(func(row tables.Row) error { in.Nodes = append(in.Nodes, row.ColumnText(0)); return nil },
			"SELECT DISTINCT node FROM shard WHERE open")
	}
	if err == nil && check {
		err = in.verify(&session{ctx: whole, conn: c})
	}
	return in, err
}

// judgeServer asks the server for the settings that a store's promises rest on.
func (in *Inspection) judgeServer(ctx context.Context, c *pgx.Conn) error {
	var commit, standbys string
	var recovery, readOnlyNow, fsync, pages, create, sees bool
	var attached int
	err := c.QueryRow(ctx, `SELECT current_setting('server_version'), pg_is_in_recovery(), current_setting('transaction_read_only')::boolean,
		current_setting('synchronous_commit'), current_setting('synchronous_standby_names'), current_setting('fsync')::boolean, current_setting('full_page_writes')::boolean,
		coalesce(has_schema_privilege(current_schema(), 'CREATE'), FALSE), (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')),
		pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')`).
		Scan(&in.Server, &recovery, &readOnlyNow, &commit, &standbys, &fsync, &pages, &create, &attached, &sees)
	if err != nil {
		return err
	}
	switch {
	case recovery:
		in.Problems = append(in.Problems, "the server is a standby: it takes no writes (name all hosts and target_session_attrs=read-write to find the primary)")
	case readOnlyNow:
		in.Problems = append(in.Problems, "the server is read-only: it was the primary before a fail-over, or default_transaction_read_only is on")
	}
	if !create && !recovery {
		in.Problems = append(in.Problems, "the user may not create tables in the schema: make it the owner of the database, or GRANT CREATE")
	}
	warn := func(bad bool, text string) {
		if bad {
			in.Warnings = append(in.Warnings, text)
		}
	}
	warn(commit == "off", "synchronous_commit is off: the service sets it to on for its own connections; whatever else writes here may be lost in a crash")
	warn(!fsync, "fsync is off: a power cut destroys the database")
	warn(!pages, "full_page_writes is off: a power cut may damage pages")
	warn(standbys == "", "there is no synchronous standby: what was acknowledged is lost with the primary's disk")
	warn(standbys != "" && !sees, "whether a synchronous standby is connected cannot be seen: GRANT pg_monitor to the user")
	warn(standbys != "" && sees && attached == 0, "no synchronous standby is connected: commits wait for one")
	warn(standbys != "" && commit == "local", "synchronous_commit is local: commits do not wait for the standby")
	return nil
}
