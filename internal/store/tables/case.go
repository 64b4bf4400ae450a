package tables

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/record"
	"github.com/rimewatch/rimewatch/internal/store"
)

// caseSQL makes the tables of cases.
const caseSQL = `CREATE TABLE record_case (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL,
	device_id INTEGER NOT NULL, -- 0 = of an outage of the site
	site_id INTEGER NOT NULL, -- where the device stood
	from_at INTEGER NOT NULL,
	to_at INTEGER NOT NULL, -- 0 while it lasts
	critical INTEGER NOT NULL,
	status TEXT NOT NULL,
	opened_at INTEGER NOT NULL,
	opened_by TEXT NOT NULL
) STRICT;
CREATE INDEX record_case_by_workspace ON record_case(workspace_id, from_at, id);
CREATE INDEX record_case_by_device ON record_case(device_id, site_id, from_at);
CREATE INDEX record_case_open ON record_case(workspace_id, to_at) WHERE status = 'open';
CREATE TABLE case_line (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL,
	case_id INTEGER NOT NULL,
	kind TEXT NOT NULL,
	ref_id INTEGER NOT NULL,
	device_id INTEGER NOT NULL,
	from_at INTEGER NOT NULL,
	to_at INTEGER NOT NULL,
	carries INTEGER NOT NULL, -- the case lasts for as long as this
	withdrawn INTEGER NOT NULL,
	facts TEXT NOT NULL -- JSON
) STRICT;
CREATE INDEX case_line_by_case ON case_line(case_id);
CREATE INDEX case_line_by_device ON case_line(device_id);
CREATE UNIQUE INDEX case_line_by_ref ON case_line(kind, ref_id) WHERE ref_id <> 0`

var caseTable = shapeOf("record_case", store.ErrNoCase, nil, func(c *rimewatch.Case) []column {
	return []column{
		given("id", number(&c.ID)), fixed("workspace_id", number(&c.WorkspaceID)), fixed("device_id", number(&c.DeviceID)), fixed("site_id", number(&c.SiteID)),
		col("from_at", number(&c.From)), col("to_at", number(&c.To)), col("critical", flag(&c.Critical)), fixed("status", text(&c.Status)),
		fixed("opened_at", number(&c.OpenedAt)), fixed("opened_by", text(&c.OpenedBy)),
	}
})

// caseLine is a line as its table keeps it.
type caseLine struct {
	workspaceID int64
	rimewatch.CaseLine
}

var lineTable = shapeOf("case_line", nil, nil, func(l *caseLine) []column {
	return []column{
		given("id", number(&l.ID)), fixed("workspace_id", number(&l.workspaceID)), col("case_id", number(&l.CaseID)), fixed("kind", text(&l.Kind)),
		fixed("ref_id", number(&l.Ref)), fixed("device_id", number(&l.DeviceID)), col("from_at", number(&l.From)), col("to_at", number(&l.To)),
		col("carries", flag(&l.Carries)), col("withdrawn", flag(&l.Withdrawn)), col("facts", document(&l.Facts)),
	}
})

func concernsCases(e *store.Effects) bool {
	return len(e.Alerts)+len(e.Excursions)+len(e.Unfounded) > 0
}

// placeCases puts the alerts and excursions of a commit into cases.
func placeCases(conn Conn, e *store.Effects, now rimewatch.Time) error {
	if !concernsCases(e) {
		return nil
	}
	x := caseRoom{conn: conn, now: now, devices: make(map[int64]int64)}
	sites := make(map[int64]bool)
	for _, a := range e.Alerts {
		if a.DeviceID != 0 {
			x.devices[a.DeviceID] = 0
		}
		if a.SiteID != 0 {
			sites[a.SiteID] = true
		}
	}
	for _, r := range e.Excursions {
		x.devices[r.DeviceID] = 0
	}
	if err := x.place(); err != nil {
		return err
	}
	events := make([]record.Event, 0, len(e.Alerts)+len(e.Excursions))
	for _, a := range e.Alerts {
		events = append(events, record.OfAlert(a, x.devices[a.DeviceID]))
	}
	for _, r := range e.Excursions {
		events = append(events, record.OfExcursion(r, x.devices[r.DeviceID]))
	}
	for _, site := range x.devices {
		sites[site] = true
	}
	delete(sites, 0)
	if err := x.load(events, slices.Collect(maps.Keys(sites)), e.Unfounded); err != nil {
		return err
	}
	if err := x.settle(events); err != nil {
		return err
	}
	for _, id := range e.Unfounded {
		if c := record.Withdraw(x.known, id); c != nil {
			if err := x.save(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// caseRoom is a transaction's view of the cases that it may change.
type caseRoom struct {
	conn    Conn
	now     rimewatch.Time
	devices map[int64]int64 // the sites of the devices that it is about, 0 = none
	known   []*rimewatch.Case
}

// place finds out where the devices stand.
func (x *caseRoom) place() error {
	if len(x.devices) == 0 {
		return nil
	}
	return each(x.conn, "SELECT id, site_id FROM device WHERE id IN ("+numbers(slices.Sorted(maps.Keys(x.devices)))+")",
		func(row Row) { x.devices[row.ColumnInt64(0)] = row.ColumnInt64(1) })
}

// load reads the cases that events may concern: those that have them as lines, and those of
// their devices and sites that they may join.
func (x *caseRoom) load(events []record.Event, sites, unfounded []int64) error {
	var alerts, excursions []int64
	excursions = append(excursions, unfounded...)
	from, to := rimewatch.MaxTime, rimewatch.Time(0)
	for i := range events {
		l := &events[i].Line
		switch l.Kind {
		case rimewatch.CaseAlert:
			alerts = append(alerts, l.Ref)
			if by := events[i].InhibitedBy; by != 0 {
				alerts = append(alerts, by)
			}
		case rimewatch.CaseExcursion:
			excursions = append(excursions, l.Ref)
		case rimewatch.CaseSpan:
		}
		from = min(from, l.From)
		if to = max(to, l.To); l.To == 0 {
			to = rimewatch.MaxTime
		}
	}
	ids := make(map[int64]bool)
	note := func(row Row) { ids[row.ColumnInt64(0)] = true }
	for _, q := range []struct {
		kind rimewatch.CaseLineKind
		refs []int64
	}{{rimewatch.CaseAlert, alerts}, {rimewatch.CaseExcursion, excursions}} {
		if len(q.refs) == 0 {
			continue
		}
		if err := each(x.conn, "SELECT case_id FROM case_line WHERE kind = '"+string(q.kind)+"' AND ref_id <> 0 AND ref_id IN ("+numbers(q.refs)+")", note); err != nil {
			return err
		}
	}
	const joinable = " AND status <> 'signed' AND from_at <= ? AND (to_at = 0 OR to_at >= ?)"
	span := []any{int64(min(to, rimewatch.MaxTime-record.JoinWithin) + record.JoinWithin), int64(from - record.JoinWithin)}
	if len(x.devices) > 0 {
		if err := each(x.conn, "SELECT id FROM record_case WHERE device_id IN ("+numbers(slices.Sorted(maps.Keys(x.devices)))+")"+joinable, note, span...); err != nil {
			return err
		}
	}
	if len(sites) > 0 {
		slices.Sort(sites)
		if err := each(x.conn, "SELECT id FROM record_case WHERE device_id = 0 AND site_id IN ("+numbers(sites)+")"+joinable, note, span...); err != nil {
			return err
		}
	}
	return x.read(slices.Sorted(maps.Keys(ids)))
}

// read adds cases with their lines to those that are known.
func (x *caseRoom) read(ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	list, err := caseTable.list(x.conn, "id IN ("+numbers(ids)+") ORDER BY id")
	if err != nil {
		return err
	}
	byID := make(map[int64]*rimewatch.Case, len(list))
	for i := range list {
		x.known = append(x.known, &list[i])
		byID[list[i].ID] = &list[i]
	}
	lines, err := lineTable.list(x.conn, "case_id IN ("+numbers(ids)+") ORDER BY from_at, kind, ref_id, id")
	for i := range lines {
		if c := byID[lines[i].CaseID]; c != nil {
			c.Lines = append(c.Lines, lines[i].CaseLine)
		}
	}
	return err
}

// filed marks the cases that files or orders are about: they are not taken into an outage.
func (x *caseRoom) filed() error {
	ids := make([]int64, len(x.known))
	for i, c := range x.known {
		ids[i] = c.ID
	}
	if len(ids) == 0 {
		return nil
	}
	in := "(" + numbers(ids) + ")"
	return each(x.conn, "SELECT case_id FROM attachment WHERE case_id IN "+in+" UNION SELECT case_id FROM work_order WHERE case_id IN "+in, func(row Row) {
		for _, c := range x.known {
			c.Filed = c.Filed || c.ID == row.ColumnInt64(0)
		}
	})
}

// settle puts events into cases, and into those that are opened the earlier events of their
// devices before.
func (x *caseRoom) settle(events []record.Event) error {
	if slices.ContainsFunc(events, func(e record.Event) bool { return e.InhibitedBy != 0 }) {
		if err := x.filed(); err != nil {
			return err
		}
	}
	changed := record.Settle(x.known, events, x.now)
	for _, c := range changed {
		if c.ID != 0 {
			continue
		}
		before, err := x.around(c)
		if err != nil {
			return err
		}
		x.known = append(x.known, c)
		for _, other := range record.Settle([]*rimewatch.Case{c}, before, x.now) {
			if !slices.Contains(changed, other) {
				changed = append(changed, other)
			}
		}
	}
	for _, c := range changed {
		if err := x.save(c); err != nil {
			return err
		}
	}
	return nil
}

// around returns the alerts and excursions of a new case's device at its time that are in no
// case. They open none.
func (x *caseRoom) around(c *rimewatch.Case) (events []record.Event, err error) {
	if c.DeviceID == 0 {
		return nil, nil
	}
	to := int64(rimewatch.MaxTime)
	if c.To != 0 {
		to = int64(c.To)
	}
	const free = " AND NOT EXISTS (SELECT 1 FROM case_line l WHERE l.ref_id <> 0 AND l.ref_id = "
	alerts, err := scanAll(x.conn, scanAlert, "SELECT "+alertColumns+" FROM alert WHERE device_id = ? AND triggered_at <= ? AND (resolved_at = 0 OR resolved_at >= ?)"+
		free+"alert.id AND l.kind = 'alert') ORDER BY id", c.DeviceID, to, int64(c.From))
	if err != nil {
		return nil, err
	}
	excursions, err := excursionTable.list(x.conn, "device_id = ? AND to_at >= ? AND from_at <= ?"+free+"excursion.id AND l.kind = 'excursion') ORDER BY id", c.DeviceID, int64(c.From), to)
	if err != nil {
		return nil, err
	}
	for i := range alerts {
		if a := &alerts[i]; !c.Has(rimewatch.CaseAlert, a.ID) {
			e := record.OfAlert(a, c.SiteID)
			e.Opens, e.InhibitedBy = false, 0
			events = append(events, e)
		}
	}
	for i := range excursions {
		if !c.Has(rimewatch.CaseExcursion, excursions[i].ID) {
			e := record.OfExcursion(&excursions[i], c.SiteID)
			e.Opens = false
			events = append(events, e)
		}
	}
	return events, nil
}

// save writes a case and its lines. One without lines was taken into another one.
func (x *caseRoom) save(c *rimewatch.Case) (err error) {
	switch {
	case len(c.Lines) == 0 && c.ID != 0:
		return x.conn.Later(nil, "DELETE FROM record_case WHERE id = ?", c.ID)
	case len(c.Lines) == 0:
		return nil
	case c.ID == 0:
		c.ID, err = caseTable.insert(x.conn, c)
	default:
		err = caseTable.updateLater(x.conn, c, c.ID)
	}
	for i := range c.Lines {
		if err != nil {
			return wrap(err, "case of device", c.DeviceID)
		}
		l := &caseLine{c.WorkspaceID, c.Lines[i]}
		l.CaseID, c.Lines[i].CaseID = c.ID, c.ID
		if l.ID != 0 {
			err = lineTable.updateLater(x.conn, l, l.ID)
		} else {
			c.Lines[i].ID, err = lineTable.insert(x.conn, l)
		}
	}
	return err
}

// DocumentCase implements store.Cases.
func (t Records) DocumentCase(ctx context.Context, workspaceID int64, about rimewatch.CaseLine, by string, now rimewatch.Time) (c rimewatch.Case, err error) {
	err = t.write(ctx, func(conn Conn) error {
		x := caseRoom{conn: conn, now: now, devices: make(map[int64]int64)}
		e, err := x.eventOf(workspaceID, about)
		if err != nil {
			return err
		}
		e.WorkspaceID, e.Opens, e.By = workspaceID, true, by
		if !store.SitesOf(ctx).Has(e.SiteID) {
			return store.ErrNoCase()
		}
		events := []record.Event{e}
		var sites []int64
		if e.SiteID != 0 {
			sites = []int64{e.SiteID}
		}
		if err := x.load(events, sites, nil); err != nil {
			return err
		}
		held := func(c *rimewatch.Case) bool {
			return slices.ContainsFunc(c.Lines, func(l rimewatch.CaseLine) bool {
				return l.Kind == e.Line.Kind && l.Ref == e.Line.Ref && (l.Ref != 0 || l.DeviceID == e.Line.DeviceID && l.From == e.Line.From && l.To == e.Line.To)
			})
		}
		if i := slices.IndexFunc(x.known, held); i >= 0 {
			c = *x.known[i]
			return nil
		}
		if err := x.settle(events); err != nil {
			return err
		}
		c = *x.known[slices.IndexFunc(x.known, held)]
		actions, err := caseActions(conn, &c)
		if err != nil {
			return err
		}
		if len(actions) > 0 {
			if err := documented(conn, &c); err != nil {
				return err
			}
		}
		return t.audit(ctx, conn, workspaceID, "case.opened", subject("case", c.ID), store.Fields{"from": c.From, "to": c.To})
	})
	return c, err
}

// eventOf looks up the subject of a case.
func (x *caseRoom) eventOf(workspaceID int64, about rimewatch.CaseLine) (e record.Event, err error) {
	switch about.Kind {
	case rimewatch.CaseAlert:
		list, err := scanAll(x.conn, scanAlert, "SELECT "+alertColumns+" FROM alert WHERE id = ? AND workspace_id = ?", about.Ref, workspaceID)
		if err == nil && len(list) == 0 {
			err = ErrAlert()
		}
		if err != nil {
			return e, err
		}
		e = record.OfAlert(&list[0], 0)
	case rimewatch.CaseExcursion:
		list, err := excursionTable.list(x.conn, "id = ? AND workspace_id = ?", about.Ref, workspaceID)
		if err == nil && len(list) == 0 {
			err = rimewatch.Invalid("excursion_id", "is no excursion that has ended")
		}
		if err != nil {
			return e, err
		}
		e = record.OfExcursion(&list[0], 0)
	case rimewatch.CaseSpan:
		about.Ref, about.Carries = 0, true
		e = record.Event{Line: about}
	}
	if id := e.Line.DeviceID; id != 0 {
		x.devices[id] = 0
		if err := x.place(); err != nil {
			return e, err
		}
		e.SiteID = x.devices[id]
	}
	return e, nil
}

// documented notes that an action is on record. Earlier signatures do not
// cover it.
func documented(conn Conn, c *rimewatch.Case) error {
	c.Status = rimewatch.CaseDocumented
	return conn.Later(nil, "UPDATE record_case SET status = ? WHERE id = ?", string(c.Status), c.ID)
}

// caseWhere builds the conditions of a list of cases.
func caseWhere(ctx context.Context, workspaceID int64, f *store.CaseFilter) (where string, args []any) {
	where, args = "workspace_id = ?", []any{workspaceID}
	add := func(cond string, of ...any) {
		where += " AND " + cond
		args = append(args, of...)
	}
	if f.Status != "" {
		add("status = ?", string(f.Status))
	}
	if f.ID != 0 {
		add("id = ?", f.ID)
	}
	if f.SiteID != 0 {
		add("site_id = ?", f.SiteID)
	}
	if f.Before != 0 {
		add("(from_at, id) < (?, ?)", int64(f.Before), f.BeforeID)
	}
	if f.DeviceID != 0 {
		add("(device_id = ? OR id IN (SELECT case_id FROM case_line WHERE device_id = ?))", f.DeviceID, f.DeviceID)
	}
	switch f.Waiting {
	case rimewatch.RequireAll:
		add(waits)
	case rimewatch.RequireCritical:
		add(waits + " AND critical <> 0")
	case rimewatch.RequireNone:
		add("FALSE")
	}
	if sites := store.SitesOf(ctx); sites != nil {
		add("site_id IN (" + numbers(sites) + ")")
	}
	return where, args
}

// waits is the condition that a case is over and nothing that was done is on record, although
// it was not withdrawn.
const waits = "status = 'open' AND to_at <> 0 AND EXISTS (SELECT 1 FROM case_line l WHERE l.case_id = record_case.id AND l.carries <> 0 AND l.withdrawn = 0)"

// Cases implements store.Cases.
func (t Records) Cases(ctx context.Context, workspaceID int64, f store.CaseFilter, p store.Page) (list []rimewatch.Case, total int, err error) {
	where, args := caseWhere(ctx, workspaceID, &f)
	err = t.readLong(ctx, func(conn Conn) error {
		n, err := queryInt(conn, "SELECT count(*) FROM record_case WHERE "+where, args...)
		if err != nil {
			return err
		}
		total = int(n)
		ids := []int64{}
		err = each(conn, "SELECT id FROM record_case WHERE "+where+" ORDER BY from_at DESC, id DESC LIMIT ? OFFSET ?", func(row Row) { ids = append(ids, row.ColumnInt64(0)) }, append(args, p.Limit, p.Offset)...)
		if err != nil {
			return err
		}
		x := caseRoom{conn: conn}
		err = x.read(ids)
		for _, c := range x.known {
			list = append(list, *c)
		}
		slices.SortFunc(list, func(a, b rimewatch.Case) int {
			return cmp.Or(cmp.Compare(b.From, a.From), cmp.Compare(b.ID, a.ID))
		})
		return err
	})
	return list, total, err
}

// Paperwork implements store.Cases.
func (t Records) Paperwork(ctx context.Context, workspaceID int64, rule rimewatch.RequireAction) (p rimewatch.Paperwork, err error) {
	where, args := caseWhere(ctx, workspaceID, &store.CaseFilter{Waiting: cmp.Or(rule, rimewatch.RequireNone)})
	err = t.readLong(ctx, func(conn Conn) error {
		return each(conn, "SELECT count(*), coalesce(min(from_at), 0) FROM record_case WHERE "+where, func(row Row) {
			p = rimewatch.Paperwork{Cases: row.ColumnInt(0), Oldest: columnTime(row, 1)}
		}, args...)
	})
	return p, err
}

// oneCase finds a case that the caller may see, with its lines.
func oneCase(ctx context.Context, conn Conn, workspaceID, id int64) (rimewatch.Case, error) {
	x := caseRoom{conn: conn}
	if err := x.read([]int64{id}); err != nil {
		return rimewatch.Case{}, err
	}
	if len(x.known) == 0 || x.known[0].WorkspaceID != workspaceID || !store.SitesOf(ctx).Has(x.known[0].SiteID) {
		return rimewatch.Case{}, store.ErrNoCase()
	}
	return *x.known[0], nil
}

// Case implements store.Cases.
func (t Records) Case(ctx context.Context, workspaceID, id int64) (c rimewatch.Case, err error) {
	err = t.readLong(ctx, func(conn Conn) (err error) {
		c, err = oneCase(ctx, conn, workspaceID, id)
		return err
	})
	return c, err
}

// CasesOf implements store.Cases.
func (t Records) CasesOf(ctx context.Context, workspaceID int64, kind rimewatch.CaseLineKind, refs []int64) (of map[int64]int64, err error) {
	of = make(map[int64]int64)
	if len(refs) == 0 {
		return of, nil
	}
	query, args := "SELECT l.ref_id, l.case_id FROM case_line l JOIN record_case c ON c.id = l.case_id WHERE l.kind = ? AND l.ref_id <> 0 AND l.ref_id IN ("+numbers(refs)+") AND l.workspace_id = ?", []any{string(kind), workspaceID}
	if sites := store.SitesOf(ctx); sites != nil {
		query += " AND c.site_id IN (" + numbers(sites) + ")"
	}
	err = t.readLong(ctx, func(conn Conn) error {
		return each(conn, query, func(row Row) { of[row.ColumnInt64(0)] = row.ColumnInt64(1) }, args...)
	})
	return of, err
}

// caseActions reads the corrective actions that a case owns.
func caseActions(conn Conn, c *rimewatch.Case) (list []rimewatch.CorrectiveAction, err error) {
	ids := []int64{}
	for i := range c.Lines {
		if c.Lines[i].Kind == rimewatch.CaseAlert {
			ids = append(ids, c.Lines[i].Ref)
		}
	}
	query, args := actionColumns+" AND (case_id = ? OR case_id = 0 AND alert_id IN ("+numbers(ids)+")", []any{c.WorkspaceID, c.ID}
	if c.DeviceID != 0 {
		query, args = query+" OR case_id = 0 AND device_id = ? AND alert_id = 0", append(args, c.DeviceID)
	}
	var damaged error
	err = each(conn, query+") ORDER BY performed_at, id", func(row Row) {
		a, err := readAction(row)
		damaged = cmp.Or(damaged, err)
		if c.Owns(&a) {
			list = append(list, a)
		}
	}, args...)
	return list, cmp.Or(err, damaged)
}

// CaseActions implements store.Cases.
func (t Records) CaseActions(ctx context.Context, c *rimewatch.Case) (list []rimewatch.CorrectiveAction, err error) {
	err = t.readLong(ctx, func(conn Conn) (err error) {
		list, err = caseActions(conn, c)
		return err
	})
	return list, err
}

// caseOfAction finds the case that owns a corrective action, which is set in it: the one that
// it names, which must be there, or that of its alert or excursion.
func caseOfAction(ctx context.Context, conn Conn, a *rimewatch.CorrectiveAction) (c rimewatch.Case, found bool, err error) {
	if a.CaseID != 0 {
		c, err = oneCase(ctx, conn, a.WorkspaceID, a.CaseID)
		return c, err == nil, err
	}
	for _, of := range []struct {
		kind rimewatch.CaseLineKind
		ref  int64
	}{{rimewatch.CaseAlert, a.AlertID}, {rimewatch.CaseExcursion, a.ExcursionID}} {
		if of.ref == 0 {
			continue
		}
		id, err := queryInt(conn, "SELECT case_id FROM case_line WHERE kind = ? AND ref_id <> 0 AND ref_id = ?", string(of.kind), of.ref)
		if err != nil || id == 0 {
			return c, false, err
		}
		// Of a case at a site that the caller does not see, the action still is about the alert.
		if c, err = oneCase(ctx, conn, a.WorkspaceID, id); rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
			return c, false, nil
		}
		a.CaseID = c.ID
		return c, err == nil, err
	}
	return c, false, nil
}
