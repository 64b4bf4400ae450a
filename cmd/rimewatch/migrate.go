package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/config"
	"github.com/rimewatch/rimewatch/internal/store/migrate"
	"github.com/rimewatch/rimewatch/internal/store/postgres"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
)

type migrateCmd struct {
	dataFlag
	Back  bool `help:"Copy the database into a file in the data directory."`
	Check bool `help:"Copy nothing: compare the file and the database."`
	Again bool `help:"Discard an unfinished copy in the target and start over."`
}

// Help is shown by migrate --help.
func (migrateCmd) Help() string {
	return `Copies everything: readings, alerts, people, tokens, settings, the audit trail. Ids stay as they are, so links,
cursors and tokens go on working. No server may run. A copy that broke off is continued by the same command. Before
the target can be used, it is compared with the source, which is only read.

  rimewatch migrate --data /var/lib/rimewatch --store postgres://rimewatch@db/rimewatch

Start the server with the same --data afterwards: the key that protects second factors stays there.`
}

// Run copies or compares.
func (c *migrateCmd) Run(ctx context.Context, s streams) (err error) {
	switch {
	case c.Store == "":
		return usagef("--store is missing: the database to copy into")
	case c.Check && (c.Back || c.Again):
		return usagef("--check copies nothing: it goes without --back and --again")
	}
	if err := config.CheckStore(c.Store); err != nil {
		return usageError{err}
	}
	if !c.Back {
		if _, err := os.Stat(c.file()); err != nil {
			return fmt.Errorf("there is no store in %s", c.Data)
		}
	}
	if err := os.MkdirAll(c.Data, 0o750); err != nil {
		return err
	}
	release, err := app.Lock(c.Data)
	if err != nil {
		return err
	}
	defer release()
	run := c.forth
	switch {
	case c.Check:
		run = c.compare
	case c.Back:
		run = c.back
	}
	report, err := run(ctx, printProgress(s.err))
	for _, text := range report.Differences {
		fmt.Fprintln(s.err, "DIFFERENT", text)
	}
	if err != nil {
		for _, text := range report.Damage {
			fmt.Fprintln(s.err, "DAMAGED  ", text)
		}
		return err
	}
	if _, err = fmt.Fprintf(s.out, "The file and the database hold the same: %s in %s, %s of %s in chunks, %s audit entries.\n",
		plural(int(report.Rows), "row"), plural(report.Tables, "table"), plural(int(report.Readings), "reading"), plural(report.Devices, "device"), grouped(int(report.Entries))); err != nil {
		return err
	}
	return damageOf("the source, and now the copy,", report.Damage) // a script must not delete the source
}

func (c *migrateCmd) compare(ctx context.Context, progress migrate.Progress) (r migrate.Report, err error) {
	file, err := sqlite.OpenSource(ctx, c.file())
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	database, err := postgres.OpenSource(ctx, c.Store)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, database.Close()) }()
	return migrate.Compare(ctx, file, database, progress)
}

func (c *migrateCmd) forth(ctx context.Context, progress migrate.Progress) (r migrate.Report, err error) {
	path, err := filepath.Abs(c.file())
	if err != nil {
		return r, err
	}
	file, err := sqlite.OpenSource(ctx, path)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	database, err := postgres.OpenTarget(ctx, c.Store, path, c.Again)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, database.Close()) }()
	return migrate.Copy(ctx, file, database, progress)
}

func (c *migrateCmd) back(ctx context.Context, progress migrate.Progress) (r migrate.Report, err error) {
	if _, err := os.Stat(c.file()); err == nil {
		return r, fmt.Errorf("there is a store in %s: compare it with --check, name another directory, or move %s away", c.Data, sqlite.FileName)
	}
	partial := c.file() + ".copy"
	if c.Again {
		if err := errors.Join(removeFile(partial), removeFile(partial+"-wal"), removeFile(partial+"-shm")); err != nil {
			return r, err
		}
	}
	if whole, err := sqlite.OpenSource(ctx, partial); err == nil { // it broke off before it had its name
		if err := errors.Join(whole.Close(), sqlite.Rest(ctx, partial), sqlite.Settle(partial, c.file())); err != nil {
			return r, err
		}
		return c.compare(ctx, progress)
	}
	database, err := postgres.OpenSource(ctx, c.Store)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, database.Close()) }()
	file, err := sqlite.OpenTarget(ctx, partial, database.Place())
	if err != nil {
		return r, err
	}
	r, err = migrate.Copy(ctx, database, file, progress)
	if err := errors.Join(err, file.Close()); err != nil {
		return r, err
	}
	return r, sqlite.Settle(partial, c.file())
}

// printProgress prints how far things are, once a second.
func printProgress(w io.Writer) migrate.Progress {
	last := time.Now()
	return func(what, table string, rows, all int64) {
		if now := time.Now(); now.Sub(last) >= time.Second {
			last = now
			fmt.Fprintf(w, "%s %s: %s of %s rows (%d %%)\n", what, table, grouped(int(rows)), grouped(int(all)), 100*rows/max(all, 1))
		}
	}
}
