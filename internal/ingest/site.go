package ingest

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/deadline"
	"github.com/rimewatch/rimewatch/internal/outage"
)

// site is a place with devices. Outages and common causes are judged here, after the commits that
// changed its devices, from their states and the stored alerts alone: after a restart the result is
// the same. Of the writer goroutine.
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
	todo    *todo           // for the next commit
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
		m.markDirty(u.Own.siteID)
	}
	u.Own.siteID = id
	if id != 0 {
		x := m.at(u.WorkspaceID, id)
		u.Own.siteSlot = int32(len(x.units))
		x.units = append(x.units, u)
		m.markDirty(id)
	}
}

// markDirty marks a site to be judged again.
func (m *sites) markDirty(id int64) {
	if x := m.byID[id]; x != nil && !x.dirty {
		x.dirty = true
		m.dirty = append(m.dirty, x)
	}
}

// judge returns the verdict on a site. The list of its devices is kept for the next one.
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
