package ingest

import (
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/deadline"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
)

// An outage of a site: when at least siteLeast devices, and at least half of
// those that were online before, fall silent within siteWindow. Devices that
// announced their shutdown or were offline already do not count. The alert is
// over when at least half of those that fell silent have been heard again for
// siteSettle, so that the others have had their turn, or at once when all have.
const (
	siteLeast  = 3
	siteWindow = 2 * rimewatch.Minute
	siteSettle = 2 * rimewatch.Minute
	siteSlice  = 2_000 // devices in one commit of an outage
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

// sites are the places that the service knows.
type sites struct {
	byID    map[int64]*site
	dirty   []*site
	due     deadline.Queue[*site]
	verdict *verdict // that the next commit carries out
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

// quiet reports whether a device should be heard and is not.
func quiet(u *unit) bool { return !u.Online && !u.Announced && u.ChangedAt != 0 }

func offlineAlert(u *unit) *rimewatch.Alert {
	for _, row := range u.Alerts {
		if row.Type == rimewatch.DeviceOffline {
			return row
		}
	}
	return nil
}

// outage finds the latest one: when it began, how many fell silent and how many
// were online before.
func (x *site) outage() (from rimewatch.Time, silent, before int, found bool) {
	if len(x.units) < siteLeast {
		return 0, 0, 0, false
	}
	var at []rimewatch.Time
	online := 0
	for _, u := range x.units {
		switch {
		case u.Online:
			online++
		case quiet(u):
			at = append(at, u.ChangedAt)
		}
	}
	slices.Sort(at)
	for last, first := len(at)-1, len(at)-1; last+1 >= siteLeast; last-- {
		for first = min(first, last); first > 0 && at[first-1] > at[last]-siteWindow; first-- {
		}
		silent, before = last-first+1, len(at)-first+online
		if silent >= siteLeast && 2*silent >= before {
			return at[first], silent, before, true
		}
	}
	return 0, 0, 0, false
}

// verdict is what is to be done about a site.
type verdict struct {
	site              *site
	open, resolve     bool
	superseded        bool // resolve: there is nothing left that could be heard
	update, escalate  bool
	from              rimewatch.Time // of an outage to open
	silent, devices   int
	suppress, release []*unit
	causes            []engine.CommonCause // of predictions, when all else is settled
	unacknowledge     bool                 // the acknowledgement of its alert has ended
	again             rimewatch.Time       // when to judge again, 0 = at the next change
	name              string
	applied           int
}

func (v *verdict) nothing() bool {
	return !v.open && !v.resolve && !v.update && !v.escalate && !v.unacknowledge && len(v.suppress) == 0 && len(v.release) == 0 && len(v.causes) == 0
}

// judge returns what is to be done. What concerns the devices' own alerts comes in
// slices, and only when the site's own is settled.
func (x *site) judge(now rimewatch.Time) verdict {
	v := verdict{site: x}
	inhibits := int64(0) // the alert that inhibits those about silence
	var since rimewatch.Time
	if len(x.alerts) == 0 {
		if v.from, v.silent, v.devices, v.open = x.outage(); v.open && v.from <= x.lastAlertAt {
			v.open = false
		}
	} else {
		x.judgeAlert(&v, now)
		inhibits, since = x.alerts[0].ID, x.alerts[0].ConditionStartedAt
	}
	if !v.nothing() {
		return v
	}
	for _, u := range x.units {
		row := offlineAlert(u)
		switch {
		case len(v.release)+len(v.suppress) >= siteSlice:
			return v
		case row == nil:
		case row.SuppressedBy != 0 && row.SuppressedBy != inhibits:
			v.release = append(v.release, u)
		case row.SuppressedBy == 0 && inhibits != 0 && quiet(u) && u.ChangedAt >= since:
			v.suppress = append(v.suppress, u)
		}
	}
	if v.nothing() {
		v.causes = x.commonCauses()
	}
	return v
}

// judgeAlert returns what becomes of a site's active alert. It turns critical with
// the first of the devices that it inhibits.
func (x *site) judgeAlert(v *verdict, now rimewatch.Time) {
	a := x.alerts[0]
	var back []rimewatch.Time
	critical := false
	for _, u := range x.units {
		switch {
		case quiet(u) && u.ChangedAt >= a.ConditionStartedAt:
			v.silent++
			row := offlineAlert(u)
			critical = critical || row != nil && row.Severity == rimewatch.Critical && row.SuppressedBy == a.ID
		case u.Online && u.ChangedAt > a.ConditionStartedAt:
			back = append(back, u.ChangedAt)
		case u.Online:
			v.devices++
		}
	}
	concerned := v.silent + len(back)
	v.devices += concerned
	v.superseded = concerned == 0
	if v.silent == 0 {
		v.resolve = true
		return
	}
	if 2*len(back) >= concerned {
		slices.Sort(back)
		v.again = back[(concerned+1)/2-1] + siteSettle
		if v.resolve = now >= v.again; v.resolve {
			v.devices = concerned
			return
		}
	}
	v.again = earliest(v.again, a.AckExpiresAt)
	v.unacknowledge = ackEnded(x.alerts, now) >= 0
	v.escalate = critical && a.Severity == rimewatch.Warning
	v.update = a.PeakValue == nil || float64(v.silent) > *a.PeakValue
}

// passSites judges the sites whose devices have changed, and those whose time
// has come.
func (w *writer) passSites(now rimewatch.Time) {
	for x, ok := w.sites.due.Pop(now); ok; x, ok = w.sites.due.Pop(now) {
		w.sites.touch(x.id)
	}
	dirty := w.sites.dirty
	w.sites.dirty = nil
	for i, x := range dirty {
		for w.settleSite(x, now) {
		}
		if x.dirty { // a full disk: it is tried again at the next tick
			w.sites.dirty = append(w.sites.dirty, dirty[i:]...)
			return
		}
	}
}

// settleSite does one step of what is to be done about a site and reports whether
// there may be more.
func (w *writer) settleSite(x *site, now rimewatch.Time) bool {
	v := x.judge(now)
	if v.open {
		if err := w.prepareOutage(x, &v); err != nil {
			w.troubled("look up a site", err)
			return false
		}
		if !v.open {
			return true
		}
	}
	if v.nothing() {
		x.dirty = false
		w.sites.due.Set(x, v.again)
		return false
	}
	w.sites.verdict = &v
	ok := w.commit(nil, nil)
	w.sites.verdict = nil
	if ok && v.applied == 0 {
		x.dirty = false // what was to be done has become void; its cause touches the site again
	}
	return ok && v.applied > 0
}

// prepareOutage asks the store for the name of a site and whether this outage
// was reported before: a person may have resolved its alert.
func (w *writer) prepareOutage(x *site, v *verdict) error {
	ctx := context.Background()
	if !x.asked {
		list, _, err := w.store.Alerts(ctx, x.workspaceID, store.AlertFilter{Status: rimewatch.AlertResolved, Type: rimewatch.SiteOffline, Since: v.from}, store.AlertPage{Limit: 1000})
		if err != nil {
			return err
		}
		for i := range list {
			if list[i].SiteID == x.id {
				x.lastAlertAt = max(x.lastAlertAt, list[i].TriggeredAt)
			}
		}
		x.asked = true
		v.open = v.from > x.lastAlertAt
	}
	if !v.open {
		return nil
	}
	known, err := w.store.Sites().Get(ctx, x.workspaceID, x.id)
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
		x.lastAlertAt, v.open = rimewatch.MaxTime, false
		return nil
	}
	v.name = known.Name
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
func (w *writer) applySite(now rimewatch.Time) int {
	v := w.sites.verdict
	if v == nil {
		return 0
	}
	v.applied = 0
	x := v.site
	staged := w.group.stageSite(x)
	switch {
	case v.unacknowledge && ackEnded(staged.alerts, now) >= 0:
		w.endAck(x.alerts, &staged.alerts, 0, now)
		v.applied++
	case v.open && len(staged.alerts) == 0:
		w.putSite(staged, v, &rimewatch.Alert{
			WorkspaceID: x.workspaceID, SiteID: x.id, Type: rimewatch.SiteOffline, Status: rimewatch.AlertActive, Severity: rimewatch.Warning,
			ConditionStartedAt: v.from, TriggeredAt: now, Metric: "silent_devices", Occurrences: 1,
		}, rimewatch.TransitionOpened, now)
	case (v.resolve || v.update || v.escalate) && len(staged.alerts) > 0:
		row := *staged.alerts[0]
		kind := rimewatch.TransitionKind("")
		switch {
		case v.resolve:
			row.Status, row.Resolution, row.ResolvedAt, kind = rimewatch.AlertResolved, rimewatch.ResolvedAuto, now, rimewatch.TransitionResolved
			row.Ending = rimewatch.EndedReports
			if v.superseded {
				row.Resolution, row.Ending = rimewatch.ResolvedSuperseded, rimewatch.EndedRemoved
			}
		case v.escalate:
			row.Severity, kind = rimewatch.Critical, rimewatch.TransitionEscalated
		}
		w.putSite(staged, v, &row, kind, now)
	}
	for _, u := range v.suppress {
		if len(staged.alerts) > 0 {
			v.applied += w.inhibitSilence(u, staged.alerts[0], now)
		}
	}
	for _, u := range v.release {
		v.applied += w.inhibitSilence(u, nil, now)
	}
	for i := range v.causes {
		v.applied += w.applyCause(&v.causes[i], now)
	}
	return v.applied
}

// putSite writes a site's alert with its numbers and words.
func (w *writer) putSite(staged *stagedSite, v *verdict, row *rimewatch.Alert, kind rimewatch.TransitionKind, now rimewatch.Time) {
	v.applied++
	row.LastEvaluatedAt = now
	value := float64(v.silent)
	peak := value
	if row.PeakValue != nil {
		peak = max(peak, *row.PeakValue)
	}
	row.Value, row.PeakValue = &value, &peak
	row.OutOf = v.devices
	i := len(staged.alerts) - 1
	w.putAlert(staged.site.alerts, &staged.alerts, i, row)
	news := publish.AlertUpdated
	switch kind {
	case rimewatch.TransitionOpened:
		news = publish.AlertOpened
	case rimewatch.TransitionResolved:
		news = publish.AlertResolved
	default: // an update
	}
	if kind != "" {
		w.group.tell(kind, row, now, "", "")
	}
	w.group.events.Alerts = append(w.group.events.Alerts, publish.Alert{Kind: news, Alert: row})
}

// inhibitSilence marks a device's silence as inhibited by an alert, nil = as its own
// again.
func (w *writer) inhibitSilence(u *unit, by *rimewatch.Alert, now rimewatch.Time) int {
	if u.Deleted {
		return 0
	}
	return w.inhibitOffline(w.stage(u), by, now)
}

// inhibitOffline sets what inhibits a device's silence, nil = nothing; it returns
// how many alerts that changes.
func (w *writer) inhibitOffline(st *staged, by *rimewatch.Alert, now rimewatch.Time) int {
	for i, row := range st.Alerts {
		if row.Type == rimewatch.DeviceOffline && !inhibitedBy(row, by) {
			w.inhibit(st, i, by, now)
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
func (w *writer) inhibit(st *staged, i int, by *rimewatch.Alert, now rimewatch.Time) {
	row := *st.Alerts[i]
	row.SuppressedBy = 0
	kind := rimewatch.TransitionReleased
	if by != nil {
		row.SuppressedBy = by.ID
		kind = rimewatch.TransitionSuppressed
	}
	w.putAlert(st.Device.Alerts, &st.Alerts, i, &row)
	w.group.tell(kind, &row, now, "", "")
	w.group.events.Alerts = append(w.group.events.Alerts, publish.Alert{Kind: publish.AlertUpdated, Alert: &row})
}

// committedSites makes the group's changes of sites known.
func (w *writer) committedSites(g *group) {
	for i := range g.sites {
		x, alerts := g.sites[i].site, g.sites[i].alerts
		t := w.known.total(x.workspaceID)
		t.add(alertCounts(x.alerts), -1)
		t.add(alertCounts(alerts), 1)
		if len(x.alerts) > 0 && len(alerts) == 0 {
			x.lastAlertAt = x.alerts[0].TriggeredAt
		}
		x.alerts = alerts
		w.sites.touch(x.id)
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

func (w *writer) applySiteGone(id int64, now rimewatch.Time) {
	x := w.sites.byID[id]
	if x == nil {
		return
	}
	for _, u := range x.units {
		st := w.stage(u)
		if st.siteID == id {
			st.siteID = 0
			w.group.moved(st.Alerts, rimewatch.Place{SiteID: id}, now)
			w.inhibitOffline(st, nil, now)
			w.releasePredictions(st, now)
		}
	}
	if staged := w.group.stageSite(x); len(staged.alerts) > 0 {
		row := *staged.alerts[0]
		v := verdict{site: x, resolve: true, superseded: true}
		row.Status, row.Resolution, row.ResolvedAt = rimewatch.AlertResolved, rimewatch.ResolvedSuperseded, now
		row.Ending = rimewatch.EndedRemoved
		w.putSite(staged, &v, &row, rimewatch.TransitionResolved, now)
	}
}
