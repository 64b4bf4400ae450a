package tables

import (
	"fmt"

	"github.com/rimewatch/rimewatch/internal/store"
)

// Upgrade is a step from one version of the schema to the next. An engine does all
// steps that a store needs in one transaction.
type Upgrade struct {
	From int
	// SQL changes the tables, in the words of Schema.
	SQL string
	// PostgreSQL is what the step does there alone, after SQL, in its own words: functions,
	// triggers, storage parameters. Triggers of SQLite are made anew after all steps.
	PostgreSQL string
	// Beside marks a step that servers of the version before may run beside, on PostgreSQL:
	// it only adds tables, or columns that are nullable or have a default.
	Beside bool
	// Rewrite changes rows where SQL does not do; nil = nothing to rewrite.
	Rewrite func(Conn) error
}

// History is how a schema became what it is.
type History struct {
	Version  int
	Upgrades []Upgrade // one for each version before it since store.OldestSchema
}

// Current is the history of Schema. CONTRIBUTING.md has what belongs to a step.
var Current = History{Version: store.SchemaVersion, Upgrades: []Upgrade{
	{From: 8, Beside: true, SQL: "ALTER TABLE source ADD COLUMN time_zone TEXT NOT NULL DEFAULT ''"},
	{From: 9, Beside: true, SQL: `ALTER TABLE excursion ADD COLUMN found_late_at INTEGER NOT NULL DEFAULT 0;
CREATE TABLE former_limits (
	workspace_id INTEGER NOT NULL,
	device_id INTEGER NOT NULL,
	until_at INTEGER NOT NULL,
	body TEXT NOT NULL,
	PRIMARY KEY (device_id, until_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX former_limits_by_workspace ON former_limits(workspace_id, until_at)`},
	{From: 10, Beside: true, PostgreSQL: `ALTER TABLE node ADD COLUMN failed TEXT NOT NULL DEFAULT '';
ALTER TABLE checkpoint SET (fillfactor = 50)`},
}}

// Steps returns what brings a store of an older version up to date.
func (h *History) Steps(found int) ([]Upgrade, error) {
	for i := range h.Upgrades {
		if h.Upgrades[i].From == found && len(h.Upgrades)-i == h.Version-found {
			return h.Upgrades[i:], nil
		}
	}
	return nil, fmt.Errorf("the store is of schema %d, and this program does not know the way to %d", found, h.Version)
}
