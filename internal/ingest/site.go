package ingest

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/deadline"
	"github.com/rimewatch/rimewatch/internal/outage"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
)

// site is a place with devices. What spans devices is judged here, after the
// commits that changed them, from nothing but their states and the alerts that
// are stored: after a restart it comes to the same. Of the writer goroutine.
type site struct {
	deadline.Entry  // when it is to be judged though nothing changes
	id, workspaceID int64
	units           []*unit
	alerts          []*rimewatch.Alert // its site_offline while active; rows are replaced, never changed
	lastAlertAt     rimewatch.Time     // when its last alert that is over was triggered
	asked           bool               // lastAlertAt is known from the store
	dirty           bool               // devices have changed since it was judged
}

// todo is a verdict on its way.
type todo struct {
	outage.Verdict
	site    *site
	applied int // changes that came of it
}

// sites are the places that the service knows.
type sites struct {
	byID    map[int64]*site
	dirty   []*site
	due     deadline.Queue[*site]
	todo    *todo           // what the next commit carries out
	devices []outage.Device // memory of judge
}

func (m *sites) init() { m.byID = make(map[int64]*site) }

func (m *sites) at(workspaceID, id int64) *site {
	x := m.byID[id]
	if x == nil {
		x = &site{id: id, workspaceID: workspaceID}
		m.byID[id] = x
	}
	return x
}

// assign puts a unit into a site, out of the one where it was; 0 = none.
func (m *sites) assign(u *unit, id int64) {
	if u.Own.siteID != 0 {
		x := m.byID[u.Own.siteID]
		last := x.units[len(x.units)-1]
		x.units[u.Own.siteSlot], last.Own.siteSlot = last, u.Own.siteSlot
		x.units = x.units[:len(x.units)-1]
		m.touch(u.Own.siteID)
	}
	u.Own.siteID = id
	if id != 0 {
		x := m.at(u.WorkspaceID, id)
		u.Own.siteSlot = int32(len(x.units))
		x.units = append(x.units, u)
		m.touch(id)
	}
}

// touch marks a site to be judged again.
func (m *sites) touch(id int64) {
	if x := m.byID[id]; x != nil && !x.dirty {
		x.dirty = true
		m.dirty = append(m.dirty, x)
	}
}

// judge returns what is to be done about a site. The list of its devices is kept for the next
// one that is judged.
func (m *sites) judge(x *site, now rimewatch.Time) outage.Verdict {
	m.devices = m.devices[:0]
	for _, u := range x.units {
		m.devices = append(m.devices, outage.Device{ID: u.ID, ChangedAt: u.ChangedAt, Online: u.Online, Announced: u.Announced, Alerts: u.Alerts})
	}
	all := outage.Site{Devices: m.devices, LastAlertAt: x.lastAlertAt}
	if len(x.alerts) > 0 {
		all.Alert = x.alerts[0]
	}
	v := all.Judge(now)
	clear(m.devices)
	return v
}

// passSites judges the sites whose devices have changed, and those whose time
// has come.
func (w *writer) passSites(now rimewatch.Time) {
	for x, ok := w.eval.sites.due.Pop(now); ok; x, ok = w.eval.sites.due.Pop(now) {
		w.eval.sites.touch(x.id)
	}
	dirty := w.eval.sites.dirty
	w.eval.sites.dirty = nil
	for i, x := range dirty {
		for w.settleSite(x, now) {
		}
		if x.dirty { // a full disk: it is tried again at the next tick
			w.eval.sites.dirty = append(w.eval.sites.dirty, dirty[i:]...)
			return
		}
	}
}

// settleSite does one step of what is to be done about a site and reports whether
// there may be more.
func (w *writer) settleSite(x *site, now rimewatch.Time) bool {
	v := &todo{Verdict: w.eval.sites.judge(x, now), site: x}
	if v.Open {
		if err := w.prepareOutage(v); err != nil {
			w.troubled("look up a site", err)
			return false
		}
		if !v.Open {
			return true
		}
	}
	if v.Nothing() {
		x.dirty = false
		w.eval.sites.due.Set(x, v.Again)
		return false
	}
	w.eval.sites.todo = v
	ok := w.commit(nil, nil)
	w.eval.sites.todo = nil
	if ok && v.applied == 0 {
		x.dirty = false // what was to be done has become void; its cause touches the site again
	}
	return ok && v.applied > 0
}

// prepareOutage asks the store whether this outage was reported before (a person may have
// resolved its alert), and whether there is the site.
func (w *writer) prepareOutage(v *todo) error {
	ctx, x := context.Background(), v.site
	if !x.asked {
		list, _, err := w.store.Alerts(ctx, x.workspaceID, store.AlertFilter{Status: rimewatch.AlertResolved, Type: rimewatch.SiteOffline, Since: v.From}, store.AlertPage{Limit: 1000})
		if err != nil {
			return err
		}
		for i := range list {
			if list[i].SiteID == x.id {
				x.lastAlertAt = max(x.lastAlertAt, list[i].TriggeredAt)
			}
		}
		x.asked = true
		v.Open = v.From > x.lastAlertAt
	}
	if !v.Open {
		return nil
	}
	_, err := w.store.Sites().Get(ctx, x.workspaceID, x.id)
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
		x.lastAlertAt, v.Open = rimewatch.MaxTime, false
		return nil
	}
	return err
}

// stagedSite is a site's next alerts on their way through a commit.
type stagedSite struct {
	site   *site
	alerts []*rimewatch.Alert
}

func (g *group) stageSite(x *site) *stagedSite {
	for i := range g.sites {
		if g.sites[i].site == x {
			return &g.sites[i]
		}
	}
	g.sites = append(g.sites, stagedSite{x, x.alerts})
	return &g.sites[len(g.sites)-1]
}

// applySite carries a verdict out, inside a group. What has changed in this very
// group is left alone: the site is judged again after it.
func (e *evaluator) applySite(now rimewatch.Time) int {
	v := e.sites.todo
	if v == nil {
		return 0
	}
	v.applied = 0
	staged := e.group.stageSite(v.site)
	switch {
	case v.Unacknowledge && ackEnded(staged.alerts, now) >= 0:
		e.endAck(v.site.alerts, &staged.alerts, 0, now)
		v.applied++
	case v.Open && len(staged.alerts) == 0, (v.Resolve || v.Update || v.Escalate) && len(staged.alerts) > 0:
		e.putSite(staged, &v.Verdict, now)
		v.applied++
	}
	for _, id := range v.Suppress {
		if len(staged.alerts) > 0 {
			v.applied += e.inhibitSilence(id, staged.alerts[0], now)
		}
	}
	for _, id := range v.Release {
		v.applied += e.inhibitSilence(id, nil, now)
	}
	for i := range v.Causes {
		v.applied += e.applyCause(&v.Causes[i], now)
	}
	return v.applied
}

// putSite writes a site's alert as the verdict has it.
func (e *evaluator) putSite(staged *stagedSite, v *outage.Verdict, now rimewatch.Time) {
	i := len(staged.alerts) - 1
	var was *rimewatch.Alert
	if i >= 0 {
		was = staged.alerts[i]
	}
	row, kind := v.Row(was, now)
	row.WorkspaceID, row.SiteID = staged.site.workspaceID, staged.site.id
	e.putAlert(staged.site.alerts, &staged.alerts, i, &row)
	news := publish.AlertUpdated
	switch kind {
	case rimewatch.TransitionOpened:
		news = publish.AlertOpened
	case rimewatch.TransitionResolved:
		news = publish.AlertResolved
	default: // an update
	}
	if kind != "" {
		e.group.tell(kind, &row, now, "", "")
	}
	e.group.events.Alerts = append(e.group.events.Alerts, publish.Alert{Kind: news, Alert: &row})
}

// inhibitSilence marks a device's silence as inhibited by an alert, nil = as its own
// again.
func (e *evaluator) inhibitSilence(id int64, by *rimewatch.Alert, now rimewatch.Time) int {
	u := e.fleet.Get(id)
	if u == nil {
		return 0
	}
	return e.inhibitOffline(e.stage(u), by, now)
}

// inhibitOffline sets what inhibits a device's silence, nil = nothing; it returns
// how many alerts that changes.
func (e *evaluator) inhibitOffline(st *staged, by *rimewatch.Alert, now rimewatch.Time) int {
	for i, row := range st.Alerts {
		if row.Type == rimewatch.DeviceOffline && !inhibitedBy(row, by) {
			e.inhibit(st, i, by, now)
			return 1
		}
	}
	return 0
}

// inhibitedBy reports whether an alert says already what inhibits it, nil =
// nothing.
func inhibitedBy(row, by *rimewatch.Alert) bool {
	if by == nil {
		return row.SuppressedBy == 0
	}
	return row.SuppressedBy == by.ID
}

// inhibit sets what inhibits the i-th alert of a device, nil = nothing any more.
func (e *evaluator) inhibit(st *staged, i int, by *rimewatch.Alert, now rimewatch.Time) {
	row := *st.Alerts[i]
	row.SuppressedBy = 0
	kind := rimewatch.TransitionReleased
	if by != nil {
		row.SuppressedBy = by.ID
		kind = rimewatch.TransitionSuppressed
	}
	e.putAlert(st.Device.Alerts, &st.Alerts, i, &row)
	e.group.tell(kind, &row, now, "", "")
	e.group.events.Alerts = append(e.group.events.Alerts, publish.Alert{Kind: publish.AlertUpdated, Alert: &row})
}

// committedSites makes the group's changes of sites known.
func (e *evaluator) committedSites(g *group) {
	for i := range g.sites {
		x, alerts := g.sites[i].site, g.sites[i].alerts
		t := e.known.total(x.workspaceID)
		t.add(alertCounts(x.alerts), -1)
		t.add(alertCounts(alerts), 1)
		if len(x.alerts) > 0 && len(alerts) == 0 {
			x.lastAlertAt = x.alerts[0].TriggeredAt
		}
		x.alerts = alerts
		e.sites.touch(x.id)
	}
}

// SiteDeleted is called when a site is deleted: its devices are without one, its
// alert is over, and their own count again.
func (s *Service) SiteDeleted(ctx context.Context, id int64) error {
	if err := s.inbox.send(ctx, &request{siteGone: id, done: make(chan error, 1)}); err != nil {
		return err
	}
	s.known.lagging.Store(true) // windows of the site are theirs no more
	return s.RefreshSettings(ctx)
}

func (e *evaluator) applySiteGone(id int64, now rimewatch.Time) {
	x := e.sites.byID[id]
	if x == nil {
		return
	}
	for _, u := range x.units {
		st := e.stage(u)
		if st.siteID == id {
			st.siteID = 0
			e.group.moved(st.Alerts, rimewatch.Place{SiteID: id}, now)
			e.inhibitOffline(st, nil, now)
			e.releasePredictions(st, now)
		}
	}
	if staged := e.group.stageSite(x); len(staged.alerts) > 0 {
		e.putSite(staged, &outage.Verdict{Resolve: true, Superseded: true}, now)
	}
}

// applyCause writes a common cause into the alert, if that is still there, and
// returns how many alerts that changes.
func (e *evaluator) applyCause(c *outage.Cause, now rimewatch.Time) int {
	u := e.fleet.Get(c.Alert.DeviceID)
	if u == nil {
		return 0
	}
	st := e.stage(u)
	i := alertAt(st.Alerts, c.Alert.ID)
	if i < 0 {
		return 0
	}
	row, kind, ok := c.Row(st.Alerts[i])
	if !ok {
		return 0
	}
	e.putAlert(u.Alerts, &st.Alerts, i, &row)
	e.group.tell(kind, &row, now, "", "")
	e.group.events.Alerts = append(e.group.events.Alerts, publish.Alert{Kind: publish.AlertUpdated, Alert: &row})
	return 1
}

// releasePredictions lets the predictions of a device that leaves its site stand
// for themselves.
func (e *evaluator) releasePredictions(st *staged, now rimewatch.Time) {
	for _, a := range st.Alerts {
		if outage.Drifts(a) && a.SuppressedBy != 0 {
			e.applyCause(&outage.Cause{Alert: a}, now)
		}
	}
}
