package rimewatch

import (
	"slices"
	"time"
)

// Bounds of maintenance plans.
const (
	MaxMaintenancePlans = 100     // of a workspace
	MaxPlannedMinutes   = 12 * 60 // that a window of a plan lasts: what takes longer is planned by itself
	PlannedAhead        = Day     // for so long ahead the windows of plans are made
)

// MaintenancePlan is work that comes back every week, such as cleaning in the early morning. Ordinary
// maintenance windows are made of it, a day ahead; they alone hold messages back.
type MaintenancePlan struct {
	ID          int64
	WorkspaceID int64
	SiteIDs     []int64 // with DeviceIDs: any of them; both empty = the whole workspace
	DeviceIDs   []int64
	Window      CheckWindow
	Reason      string // of each of its windows, and the name of the plan
	Enabled     bool
	CreatedBy   string
	Revision    int64 // of what people set: 1 at first, grows with every change
	CreatedAt   Time
	UpdatedAt   Time
}

// Check reports why p cannot be stored: CodeValidationFailed with the fields site_ids, device_serials, days,
// from, to, reason, created_by.
func (p *MaintenancePlan) Check() error {
	e := checkIDs(nil, "site_ids", p.SiteIDs)
	e = checkIDs(e, "device_serials", p.DeviceIDs)
	e = CheckText(e, "reason", p.Reason, MaxNameLen)
	if p.Reason == "" {
		e = complain(e, "reason", "must not be empty")
	}
	e = CheckText(e, "created_by", p.CreatedBy, MaxNameLen+MaxEmailLen+3)
	if p.Window.Days == 0 || p.Window.Days > 127 {
		e = complain(e, "days", "must name a day")
	}
	switch {
	case !minuteOfDay(p.Window.From):
		e = complain(e, "from", "must be a time of day")
	case !minuteOfDay(p.Window.To):
		e = complain(e, "to", "must be a time of day")
	case p.Window.minutes() < MinCheckWindow:
		e = complain(e, "to", "must be %d minutes after from at least", MinCheckWindow)
	case p.Window.minutes() > MaxPlannedMinutes:
		e = complain(e, "to", "must be %d hours after from at most", MaxPlannedMinutes/60)
	}
	return result(e)
}

// Clocks are those that the windows of plans go by.
type Clocks struct {
	Workspace *time.Location
	Sites     map[int64]*time.Location
	Devices   func(id int64) (siteID int64, known bool)
}

// Settle compares the windows of a plan that have not begun, as they are (coming), with what they are to be: it
// returns which are to be made, and the ids of those to be withdrawn. A plan that is switched off, and one that was
// deleted (nil), has none. One that a person has ended before it began stays, and is not made again.
//
// Each site goes by its own clock, and a device by that of its site: what begins and ends at the same moments is one
// window. The whole workspace goes by the workspace's clock.
func (p *MaintenancePlan) Settle(c *Clocks, coming []MaintenanceWindow, now Time) (made []MaintenanceWindow, withdrawn []int64) {
	wanted := p.windows(c, now)
	for i := range coming {
		is := &coming[i]
		at := slices.IndexFunc(wanted, func(w MaintenanceWindow) bool {
			return w.StartsAt == is.StartsAt && (w.EndsAt == is.EndsAt || is.EndsAt == is.StartsAt) && w.Reason == is.Reason &&
				slices.Equal(w.SiteIDs, is.SiteIDs) && slices.Equal(w.DeviceIDs, is.DeviceIDs)
		})
		switch {
		case at >= 0:
			wanted = slices.Delete(wanted, at, at+1)
		case is.EndsAt > is.StartsAt:
			withdrawn = append(withdrawn, is.ID)
		}
	}
	return wanted, withdrawn
}

// windows are those of a plan that begin after now, within PlannedAhead of it.
func (p *MaintenancePlan) windows(c *Clocks, now Time) (list []MaintenanceWindow) {
	if p == nil || !p.Enabled {
		return nil
	}
	spans := make(map[string][]CheckSpan)
	each := func(zone *time.Location, add func(w *MaintenanceWindow)) {
		if _, known := spans[zone.String()]; !known {
			spans[zone.String()] = weekly([]CheckWindow{p.Window}, now, now+PlannedAhead, zone)
		}
		for _, s := range spans[zone.String()] {
			at := slices.IndexFunc(list, func(w MaintenanceWindow) bool { return w.StartsAt == s.From && w.EndsAt == s.To })
			if at < 0 {
				at = len(list)
				list = append(list, MaintenanceWindow{
					WorkspaceID: p.WorkspaceID, PlanID: p.ID, StartsAt: s.From, EndsAt: s.To, Reason: p.Reason, CreatedBy: p.Actor(), CreatedAt: now,
				})
			}
			add(&list[at])
		}
	}
	if len(p.SiteIDs)+len(p.DeviceIDs) == 0 {
		each(c.Workspace, func(*MaintenanceWindow) {})
	}
	for _, id := range p.SiteIDs {
		if zone, known := c.Sites[id]; known {
			each(zone, func(w *MaintenanceWindow) { w.SiteIDs = append(w.SiteIDs, id) })
		}
	}
	for _, id := range p.DeviceIDs {
		site, known := c.Devices(id)
		if !known {
			continue
		}
		zone, sited := c.Sites[site]
		if !sited {
			zone = c.Workspace
		}
		each(zone, func(w *MaintenanceWindow) { w.DeviceIDs = append(w.DeviceIDs, id) })
	}
	return list
}

// Actor names the plan as who makes and withdraws its windows.
func (p *MaintenancePlan) Actor() string { return "plan " + p.Reason }
