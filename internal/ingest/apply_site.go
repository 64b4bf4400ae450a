package ingest

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/outage"
)

// applySite carries out a verdict, inside a group. Alerts that changed in this very group are left
// alone: the site is judged again after it.
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
	e.group.addEvent(kind, &row, now)
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
		e.sites.markDirty(x.id)
	}
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
	e.group.addEvent(kind, &row, now)
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
