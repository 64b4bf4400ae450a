package tables

import (
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// roundSQL makes the tables of rounds.
const roundSQL = `CREATE TABLE check_template (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	site_id INTEGER NOT NULL, -- 0 = every site
	name TEXT NOT NULL,
	name_key TEXT NOT NULL,
	pack TEXT NOT NULL,
	categories TEXT NOT NULL, -- JSON
	device_ids TEXT NOT NULL, -- JSON
	windows TEXT NOT NULL, -- JSON
	ask TEXT NOT NULL, -- JSON
	tell TEXT NOT NULL,
	enabled INTEGER NOT NULL,
	through INTEGER NOT NULL, -- checks of windows that began up to this moment are there
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	revision INTEGER NOT NULL DEFAULT 1,
	UNIQUE (workspace_id, name_key)
) STRICT;
CREATE TABLE site_check (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL,
	template_id INTEGER NOT NULL,
	site_id INTEGER NOT NULL, -- 0 = of devices without a site
	name TEXT NOT NULL, -- of the template then
	pack TEXT NOT NULL,
	ask TEXT NOT NULL, -- JSON
	day TEXT NOT NULL, -- on which the window begins by the clock of the site
	minute INTEGER NOT NULL, -- of that day
	from_at INTEGER NOT NULL,
	to_at INTEGER NOT NULL,
	status TEXT NOT NULL,
	reason TEXT NOT NULL,
	opened_at INTEGER NOT NULL,
	since_at INTEGER NOT NULL,
	completed_at INTEGER NOT NULL, -- 0 = nobody did it
	entered_at INTEGER NOT NULL,
	doer TEXT NOT NULL, -- JSON
	items TEXT NOT NULL, -- JSON
	UNIQUE (template_id, site_id, day, minute)
) STRICT;
CREATE INDEX site_check_by_workspace ON site_check(workspace_id, from_at, id);
CREATE INDEX site_check_due ON site_check(to_at) WHERE status = 'due';
CREATE TABLE check_note (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL,
	check_id INTEGER NOT NULL,
	at INTEGER NOT NULL, -- when it was entered
	body TEXT NOT NULL -- JSON
) STRICT;
CREATE INDEX check_note_by_check ON check_note(check_id)`

func errCheckTemplate() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such round.")
}

func errCheckTemplateTaken() error {
	return rimewatch.Errorf(rimewatch.CodeConflict, "This name of a round is already in use.").With("name", "is taken")
}

func errCheck() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such check.") }

var checkTemplateTable = resource[rimewatch.CheckTemplate]{
	shape: resourceOf("check_template", errCheckTemplate, errCheckTemplateTaken, checkTemplateKey, func(t *rimewatch.CheckTemplate) []column {
		return []column{
			col("site_id", number(&t.SiteID)), col("name", text(&t.Name)), nameKey(t.Name), col("pack", text(&t.Pack)), col("categories", document(&t.Categories)),
			col("device_ids", document(&t.DeviceIDs)), col("windows", document(&t.Windows)), col("ask", document(&t.Ask)), col("tell", text(&t.Tell)),
			col("enabled", flag(&t.Enabled)), col("through", number(&t.Through)), col("updated_at", number(&t.UpdatedAt)),
		}
	}),
	created: "check_template.created", updated: "check_template.updated", deleted: "check_template.deleted",
	key:   checkTemplateKey,
	check: (*rimewatch.CheckTemplate).Check,
	most:  func(store.Quotas) int { return rimewatch.MaxCheckTemplates }, kind: rimewatch.Sentencef("rounds"),
	refers: checkRound,
	fields: func(t *rimewatch.CheckTemplate) store.Fields {
		return store.Fields{
			"site_id": t.SiteID, "name": t.Name, "pack": t.Pack, "categories": written(t.Categories), "device_ids": written(t.DeviceIDs), "windows": written(t.Windows),
			"range": t.Ask.Range, "typed": t.Ask.Typed, "tell": string(t.Tell), "enabled": t.Enabled,
		}
	},
}

func checkTemplateKey(t *rimewatch.CheckTemplate) key {
	return key{&t.ID, &t.WorkspaceID, &t.Revision, &t.CreatedAt, &t.SiteID}
}

// checkRound wants the site and the devices of a round to be its workspace's. A device that was deleted
// since may stay in its list.
func checkRound(conn Conn, t *rimewatch.CheckTemplate) error {
	if err := checkSite(conn, t.WorkspaceID, t.SiteID); err != nil || len(t.DeviceIDs) == 0 {
		return err
	}
	ids := slices.Compact(slices.Sorted(slices.Values(t.DeviceIDs)))
	n, err := queryInt(conn, "SELECT count(*) FROM device WHERE workspace_id = ? AND id IN ("+numbers(ids)+")", t.WorkspaceID)
	if err == nil && int(n) != len(ids) {
		err = rimewatch.Invalid("device_ids", "must be devices")
	}
	return err
}

// CheckTemplates implements store.Rounds.
func (t Records) CheckTemplates() store.Resource[rimewatch.CheckTemplate] {
	return handle[rimewatch.CheckTemplate]{t.base, &checkTemplateTable, func(conn Conn, x *rimewatch.CheckTemplate) error {
		return deleteFrom(conn, "check_template", x.ID)
	}}
}

// AllCheckTemplates implements store.Everywhere.
func (t Everywhere) AllCheckTemplates(ctx context.Context) ([]rimewatch.CheckTemplate, error) {
	return checkTemplateTable.all(ctx, t.base, "enabled <> 0"+t.and("workspace_id")+" ORDER BY id")
}

var checkTable = shapeOf("site_check", errCheck, nil, func(c *rimewatch.Check) []column {
	return []column{
		given("id", number(&c.ID)), fixed("workspace_id", number(&c.WorkspaceID)), fixed("template_id", number(&c.TemplateID)), fixed("site_id", number(&c.SiteID)),
		fixed("name", text(&c.Name)), fixed("pack", text(&c.Pack)), fixed("ask", document(&c.Ask)), fixed("day", text(&c.Day)), fixed("minute", number(&c.Minute)),
		fixed("from_at", number(&c.From)), fixed("to_at", number(&c.To)), col("status", text(&c.Status)), col("reason", text(&c.Reason)),
		fixed("opened_at", number(&c.OpenedAt)), col("since_at", number(&c.Since)), col("completed_at", number(&c.CompletedAt)), col("entered_at", number(&c.EnteredAt)),
		col("doer", document(&c.By)), col("items", document(&c.Items)),
	}
})

// checkEvent is the data of an event of a check.
type checkEvent struct {
	Check checkFacts `json:"check"`
}

type checkFacts struct {
	ID          int64                 `json:"id"`
	TemplateID  int64                 `json:"template_id"`
	Name        string                `json:"name"`
	Day         string                `json:"day"`
	DueFrom     rimewatch.Time        `json:"due_from"`
	DueUntil    rimewatch.Time        `json:"due_until"`
	Status      rimewatch.CheckStatus `json:"status"`
	Reason      string                `json:"reason,omitempty"`
	CompletedAt rimewatch.Time        `json:"completed_at"`
	Devices     int                   `json:"devices"`
	OutOfLimits int                   `json:"out_of_limits"`
}

// recordStatus writes a check's change of status: an event, and an entry in the audit trail unless it is only due.
func (t *base) recordStatus(ctx context.Context, conn Conn, c *rimewatch.Check) error {
	what := map[rimewatch.CheckStatus]rimewatch.EventType{
		rimewatch.CheckDue: rimewatch.EventCheckDue, rimewatch.CheckMissed: rimewatch.EventCheckMissed, rimewatch.CheckCompleted: rimewatch.EventCheckCompleted,
	}[c.Status]
	facts := checkFacts{
		ID: c.ID, TemplateID: c.TemplateID, Name: c.Name, Day: c.Day, DueFrom: c.From, DueUntil: c.To, Status: c.Status, Reason: string(c.Reason), CompletedAt: c.CompletedAt, Devices: len(c.Items),
	}
	for i := range c.Items {
		if c.Items[i].Out {
			facts.OutOfLimits++
		}
	}
	if err := t.happened(conn, c.WorkspaceID, c.SiteID, what, rimewatch.EventSubject("check", c.ID), checkEvent{facts}); err != nil || c.Status == rimewatch.CheckDue {
		return err
	}
	detail := store.Fields{"name": c.Name, "day": c.Day}
	if c.Reason != "" {
		detail["reason"] = string(c.Reason)
	}
	return t.sealed(ctx, conn, sealedChecks, c.WorkspaceID, c.ID, "check."+string(c.Status), subject("check", c.ID), detail)
}

// OpenChecks implements store.Rounds.
func (t Records) OpenChecks(ctx context.Context, x *rimewatch.CheckTemplate, through rimewatch.Time, list []*rimewatch.Check) error {
	return t.write(ctx, func(conn Conn) error {
		n, err := exec(conn, "UPDATE check_template SET through = ? WHERE id = ? AND workspace_id = ? AND revision = ? AND through < ?", int64(through), x.ID, x.WorkspaceID, x.Revision, int64(through))
		if err != nil || n == 0 {
			return err
		}
		for _, c := range list {
			found, err := queryInt(conn, "SELECT count(*) FROM site_check WHERE template_id = ? AND site_id = ? AND day = ? AND minute = ?", c.TemplateID, c.SiteID, c.Day, c.Minute)
			if err != nil {
				return err
			}
			if found != 0 {
				continue
			}
			if c.ID, err = checkTable.insert(conn, c); err != nil {
				return err
			}
			if err := t.recordStatus(ctx, conn, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// ChangeCheck implements store.Rounds.
func (t Records) ChangeCheck(ctx context.Context, workspaceID, id int64, change func(*rimewatch.Check) (rimewatch.CheckNote, bool, error)) (c rimewatch.Check, err error) {
	err = t.write(ctx, func(conn Conn) error {
		if c, err = oneCheck(ctx, conn, workspaceID, id); err != nil {
			return err
		}
		was := c.Status
		note, late, err := change(&c)
		switch {
		case err != nil:
			return err
		case late:
			return t.addNote(ctx, conn, &note)
		case c.Status == was:
			return nil
		}
		if err := checkTable.update(conn, &c, c.ID); err != nil {
			return err
		}
		return t.recordStatus(ctx, conn, &c)
	})
	return c, err
}

// oneCheck finds a check that the caller may see.
func oneCheck(ctx context.Context, conn Conn, workspaceID, id int64) (rimewatch.Check, error) {
	c, err := checkTable.find(conn, "id = ? AND workspace_id = ?", id, workspaceID)
	if err == nil && !store.SitesOf(ctx).Has(c.SiteID) {
		return rimewatch.Check{}, errCheck()
	}
	return c, err
}

// SiteCheck implements store.Rounds.
func (t Records) SiteCheck(ctx context.Context, workspaceID, id int64) (c rimewatch.Check, err error) {
	err = t.readLong(ctx, func(conn Conn) (err error) {
		c, err = oneCheck(ctx, conn, workspaceID, id)
		return err
	})
	return c, err
}

// Checks implements store.Rounds.
func (t Records) Checks(ctx context.Context, workspaceID int64, f store.CheckFilter, p store.Page) (list []rimewatch.Check, total int, err error) {
	where, args := "workspace_id = ?", []any{workspaceID}
	add := func(cond string, of ...any) { where, args = where+" AND "+cond, append(args, of...) }
	if f.Status != "" {
		add("status = ?", string(f.Status))
	}
	if f.TemplateID != 0 {
		add("template_id = ?", f.TemplateID)
	}
	if f.SiteID != 0 {
		add("site_id = ?", f.SiteID)
	}
	if f.From != 0 {
		add("from_at >= ?", int64(f.From))
	}
	if f.To != 0 {
		add("from_at < ?", int64(f.To))
	}
	if f.Before != 0 {
		add("(from_at, id) < (?, ?)", int64(f.Before), f.BeforeID)
	}
	if sites := store.SitesOf(ctx); sites != nil {
		add("site_id IN (" + numbers(sites) + ")")
	}
	err = t.readLong(ctx, func(conn Conn) error {
		n, err := queryInt(conn, "SELECT count(*) FROM site_check WHERE "+where, args...)
		if err != nil {
			return err
		}
		total = int(n)
		list, err = checkTable.list(conn, where+" ORDER BY from_at DESC, id DESC LIMIT ? OFFSET ?", append(args, p.Limit, p.Offset)...)
		return err
	})
	return list, total, err
}

// AllChecksOver implements store.Everywhere.
func (t Everywhere) AllChecksOver(ctx context.Context, now rimewatch.Time, limit int) ([]rimewatch.Check, error) {
	return checkTable.all(ctx, t.base, "status = 'due' AND to_at <= ?"+t.and("workspace_id")+" ORDER BY to_at, id LIMIT ?", int64(now), limit)
}

// LastCheck implements store.Rounds.
func (t Records) LastCheck(ctx context.Context, workspaceID, templateID, siteID int64, before rimewatch.Time) (at rimewatch.Time, err error) {
	if !store.SitesOf(ctx).Has(siteID) {
		return 0, nil
	}
	err = t.readLong(ctx, func(conn Conn) error {
		v, err := queryInt(conn, "SELECT coalesce(max(completed_at), 0) FROM site_check WHERE workspace_id = ? AND template_id = ? AND site_id = ? AND completed_at < ?", workspaceID, templateID, siteID, int64(before))
		at = rimewatch.Time(v)
		return err
	})
	return at, err
}

// checkNote is a note as its table keeps it.
type checkNote struct {
	rimewatch.CheckNote
}

var noteTable = shapeOf("check_note", nil, nil, func(n *checkNote) []column {
	return []column{given("id", number(&n.ID)), col("workspace_id", number(&n.WorkspaceID)), col("check_id", number(&n.CheckID)), col("at", number(&n.At)), col("body", document(&n.CheckNote))}
})

// AddCheckNote implements store.Rounds.
func (t Records) AddCheckNote(ctx context.Context, n *rimewatch.CheckNote) error {
	return t.write(ctx, func(conn Conn) error {
		if _, err := oneCheck(ctx, conn, n.WorkspaceID, n.CheckID); err != nil {
			return err
		}
		return t.addNote(ctx, conn, n)
	})
}

func (t *base) addNote(ctx context.Context, conn Conn, n *rimewatch.CheckNote) error {
	err := room(conn, rimewatch.Sentencef("notes of a check"), rimewatch.MaxCheckNotes, "SELECT count(*) FROM check_note WHERE check_id = ?", n.CheckID)
	if err != nil {
		return err
	}
	if n.ID, err = noteTable.insert(conn, &checkNote{*n}); err != nil {
		return err
	}
	return t.sealed(ctx, conn, sealedCheckNotes, n.WorkspaceID, n.ID, "check.noted", subject("check", n.CheckID), store.Fields{})
}

// CheckNotes implements store.Rounds.
func (t Records) CheckNotes(ctx context.Context, workspaceID int64, checks []int64) (map[int64][]rimewatch.CheckNote, error) {
	out := make(map[int64][]rimewatch.CheckNote)
	if len(checks) == 0 {
		return out, nil
	}
	query := "workspace_id = ? AND check_id IN (" + numbers(checks) + ")"
	if sites := store.SitesOf(ctx); sites != nil {
		query += " AND check_id IN (SELECT id FROM site_check WHERE site_id IN (" + numbers(sites) + "))"
	}
	err := t.readLong(ctx, func(conn Conn) error {
		list, err := noteTable.list(conn, query+" ORDER BY id", workspaceID)
		for i := range list {
			out[list[i].CheckID] = append(out[list[i].CheckID], list[i].CheckNote)
		}
		return err
	})
	return out, err
}
