package sqlite

import (
	"fmt"
	"os"

	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/tables"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// examine is the function of that name, and returns what brings a file of an older
// version up to date. A command beside a server does not.
func (d *disk) examine(conn *sqlite.Conn) (fresh bool, steps []tables.Upgrade, err error) {
	found, err := versionOf(conn)
	switch {
	case err != nil || found == 0:
		return found == 0, nil, err
	case found == d.cfg.history.Version:
		return false, nil, nil
	case found < d.cfg.history.Version && !d.cfg.ControlOnly:
		if steps, err := d.cfg.history.Steps(found); err == nil {
			return false, steps, nil
		}
	}
	return false, nil, store.CheckVersion(found)
}

// upgrade copies a file of an older version aside and brings it up to date, all of
// it or nothing.
func (d *disk) upgrade(conn *sqlite.Conn, steps []tables.Upgrade) (err error) {
	if len(steps) == 0 {
		return nil
	}
	found := steps[0].From
	aside, err := d.copyAside(conn, found)
	if err != nil {
		return fmt.Errorf("back up the store before it is brought from schema %d to %d, for which the disk needs as much room again: %w", found, d.cfg.history.Version, err)
	}
	// A table that others refer to is replaced by a new one of its name.
	if err := sqlitex.ExecuteTransient(conn, "PRAGMA foreign_keys = OFF", nil); err != nil {
		return err
	}
	if err := d.takeSteps(conn, steps); err != nil {
		return fmt.Errorf("bring the store from schema %d to %d (it is as it was; a copy is %s): %w", found, d.cfg.history.Version, aside, err)
	}
	if err := sqlitex.ExecuteTransient(conn, "PRAGMA foreign_keys = ON", nil); err != nil {
		return err
	}
	d.cfg.Logger.Warn("the store was brought up to date; to go back to the program of before, stop the server, run \"rimewatch restore --force\" of that program with the backup, and start it: what was stored since is lost then",
		"from", found, "to", d.cfg.history.Version, "backup", aside)
	return nil
}

// takeSteps does all steps in one transaction.
func (d *disk) takeSteps(c *sqlite.Conn, steps []tables.Upgrade) (err error) {
	end, err := sqlitex.ImmediateTransaction(c)
	if err != nil {
		return err
	}
	defer end(&err)
	// They name tables that a step may make anew, and guard rows that it may rewrite.
	if err := dropTriggers(c); err != nil {
		return err
	}
	for i := range steps {
		if err := sqlitex.ExecuteScript(c, steps[i].SQL, nil); err != nil {
			return err
		}
		if rewrite := steps[i].Rewrite; rewrite != nil {
			if err := rewrite(conn{c, d}); err != nil {
				return err
			}
		}
		if err := d.cfg.fault("upgrade"); err != nil {
			return err
		}
	}
	dangling, err := queryInt(c, "SELECT count(*) FROM pragma_foreign_key_check")
	if err == nil && dangling > 0 {
		err = fmt.Errorf("%d rows would refer to nothing", dangling)
	}
	if err == nil {
		err = sqlitex.ExecuteScript(c, triggers, nil)
	}
	if err != nil {
		return err
	}
	return sqlitex.ExecuteTransient(c, fmt.Sprintf("PRAGMA user_version = %d", d.cfg.history.Version), nil)
}

func dropTriggers(c *sqlite.Conn) error {
	var names []string
	err := sqlitex.ExecuteTransient(c, "SELECT name FROM sqlite_schema WHERE type = 'trigger'", &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error {
		names = append(names, s.ColumnText(0))
		return nil
	}})
	for _, name := range names {
		if err == nil {
			err = sqlitex.ExecuteTransient(c, "DROP TRIGGER "+name, nil)
		}
	}
	return err
}

// copyAside writes a copy of the file beside it and returns its name. It is whole
// and on stable storage when it has that name.
func (d *disk) copyAside(conn *sqlite.Conn, found int) (path string, err error) {
	path = fmt.Sprintf("%s.schema%d-%s", d.cfg.Path, found, d.cfg.Now().UTC().Format("20060102T150405Z"))
	partial := path + ".partial"
	defer func() {
		if err != nil {
			_ = os.Remove(partial)
		}
	}()
	if err := os.Remove(partial); err != nil && !os.IsNotExist(err) {
		return "", err
	}
	if err := d.cfg.fault("backup"); err != nil {
		return "", err
	}
	if err := copyTo(conn, partial); err != nil {
		return "", err
	}
	return path, Settle(partial, path)
}
