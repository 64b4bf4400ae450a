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
	// PostgreSQL is run there only, after SQL, in its own words: functions,
	// triggers, storage parameters. Triggers of SQLite are made anew after all steps.
	PostgreSQL string
	// Beside marks a step that servers of the version before may run beside, on PostgreSQL:
	// it only adds tables, or columns that are nullable or have a default.
	Beside bool
	// Rewrite changes rows where SQL does not do; nil = nothing to rewrite.
	Rewrite func(Conn) error
}

// History are the steps of a schema.
type History struct {
	Version  int
	Upgrades []Upgrade // one for each version before it since store.OldestSchema
}

// Current is the history of Schema. CONTRIBUTING.md says how to add a step.
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
	{From: 10, Beside: true, SQL: providedSQL + ";\n" + exposureSQL + ";\n" + urgentSQL + ";\n" + revisionSQL + ";\n" + contactSQL + ";\n" + partSQL + ";\n" + sourceKeyUpgradeSQL + ";\n" + eventSQL + ";\n" + webhookSQL + ";\n" + actSQL + ";\n" + installationSQL + ";\n" + slugUpgradeSQL + ";\n" + tokenCallSQL + ";\nALTER TABLE delivery ADD COLUMN subject TEXT NOT NULL DEFAULT ''" + ";\n" + sandboxSQL + ";\n" + rotaSQL + ";\n" + wayUpgradeSQL + ";\n" + recordUpgradeSQL + ";\n" + logoUpgradeSQL + ";\n" + planUpgradeSQL, Rewrite: rewrite11, PostgreSQL: `ALTER TABLE node ADD COLUMN failed TEXT NOT NULL DEFAULT '';
ALTER TABLE checkpoint SET (fillfactor = 50)`},
}}

// recordUpgradeSQL is the step by which there are cases. They begin with it: what is older is
// in one when a person asks for it.
const recordUpgradeSQL = `ALTER TABLE corrective_action ADD COLUMN case_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workspace ADD COLUMN require_action TEXT NOT NULL DEFAULT 'none';
` + caseIndexSQL + ";\n" + caseSQL + ";\n" + signatureSQL + ";\n" + attachmentSQL + ";\n" + orderSQL + ";\n" + roundSQL

// caseIndexSQL finds the corrective actions of a case.
const caseIndexSQL = "CREATE INDEX corrective_action_by_case ON corrective_action(case_id) WHERE case_id <> 0"

// wayUpgradeSQL is the step by which a channel may be a member's own, with an order and quiet hours.
const wayUpgradeSQL = `ALTER TABLE channel ADD COLUMN owner_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE channel ADD COLUMN after_s INTEGER NOT NULL DEFAULT 0;
ALTER TABLE channel ADD COLUMN quiet TEXT NOT NULL DEFAULT 'null'`

// sandboxSQL is the step by which a workspace may be the sandbox of another one.
const sandboxSQL = `ALTER TABLE workspace ADD COLUMN test_of INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workspace ADD COLUMN test_devices INTEGER NOT NULL DEFAULT 0`

// providedSQL is the step by which provided memberships count in provided sessions
// alone. Sessions of before are told apart by their length, which was 12 hours by a
// provider and 90 days by a password. Whoever has only provided memberships loses a
// password of their own; the first owner with a password and a membership that a
// person has given becomes the break-glass owner, and has to link the provider anew.
const providedSQL = `ALTER TABLE person ADD COLUMN break_glass INTEGER NOT NULL DEFAULT 0;
ALTER TABLE person ADD COLUMN provided_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE person ADD COLUMN lapse_told INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN provided INTEGER NOT NULL DEFAULT 0;
UPDATE session SET provided = 1 WHERE strong = 1 AND ends_at - created_at <= 43200000;
UPDATE person SET password_hash = '' WHERE id IN (SELECT user_id FROM identity)
	AND id IN (SELECT user_id FROM member WHERE provided = 1) AND id NOT IN (SELECT user_id FROM member WHERE provided = 0);
UPDATE person SET break_glass = 1 WHERE id = (SELECT min(p.id) FROM person p JOIN member m ON m.user_id = p.id
	WHERE m.role = 'owner' AND m.provided = 0 AND p.password_hash <> '');
DELETE FROM identity WHERE user_id IN (SELECT id FROM person WHERE break_glass = 1)`

// exposureSQL is the step by which short times out of range add up by days. Those that began
// before the store was last alive stay counted as they were.
const exposureSQL = `ALTER TABLE excursion ADD COLUMN runs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE excursion ADD COLUMN sum_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workspace ADD COLUMN exposure_since INTEGER NOT NULL DEFAULT 0;
UPDATE workspace SET exposure_since = (SELECT COALESCE(MAX(value), 0) FROM meta WHERE key LIKE 'alive_at%')`

// urgentSQL is the step by which messages of critical alerts are sent first, and by which
// deliveries that may have been received are known.
const urgentSQL = `ALTER TABLE delivery ADD COLUMN urgent INTEGER NOT NULL DEFAULT 0;
ALTER TABLE delivery ADD COLUMN in_doubt INTEGER NOT NULL DEFAULT 0;
UPDATE delivery SET urgent = 1 WHERE status = 'pending' AND alert_id > 0 AND kind <> 'recovery' AND alert_id IN (SELECT id FROM alert WHERE severity = 'critical')`

// partSQL is the step by which each measurement has a sensor alert of its own. Those that are active
// stay what they are, about all that they were about.
const partSQL = `ALTER TABLE alert ADD COLUMN part TEXT NOT NULL DEFAULT '';
DROP INDEX alert_active;
CREATE UNIQUE INDEX alert_active ON alert(device_id, site_id, type, part) WHERE status = 'active'`

// Steps returns the steps that bring a store of an older version up to date.
func (h *History) Steps(found int) ([]Upgrade, error) {
	for i := range h.Upgrades {
		if h.Upgrades[i].From == found && len(h.Upgrades)-i == h.Version-found {
			return h.Upgrades[i:], nil
		}
	}
	return nil, fmt.Errorf("the store is of schema %d, and this program does not know the way to %d", found, h.Version)
}

// revisionSQL is the step by which every resource has a revision.
const revisionSQL = `ALTER TABLE workspace ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
ALTER TABLE site ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
ALTER TABLE channel ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
ALTER TABLE route ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
ALTER TABLE silence ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
ALTER TABLE report_schedule ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
ALTER TABLE maintenance_window ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
ALTER TABLE source ADD COLUMN revision INTEGER NOT NULL DEFAULT 1`
