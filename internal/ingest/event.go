package ingest

import (
	"maps"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// noteEvents adds the group's events for programs: first the devices that
// came or changed, then alerts, excursions and presence, then the devices that are gone.
// Readings alone are no events.
func (e *evaluator) noteEvents(now rimewatch.Time) {
	g := e.group
	var gone []*deviceOp
	for _, r := range g.requests {
		for _, op := range r.devices {
			switch {
			case op.Err != nil:
			case op.Delete:
				gone = append(gone, op)
			case op.Create != nil:
				g.deviceEvent(rimewatch.EventDeviceCreated, &op.Device, nil, now)
			case op.who != "":
				if changes := store.Difference(detailOf(op.Was), detailOf(&op.Device)); len(changes) > 0 {
					g.deviceEvent(rimewatch.EventDeviceUpdated, &op.Device, changes, now)
				}
			}
		}
	}
	for i := range g.result.Transitions {
		t := &g.result.Transitions[i]
		if what := t.Kind.Event(); what != "" {
			g.result.Events = append(g.result.Events, rimewatch.Event{
				WorkspaceID: t.WorkspaceID, At: now, Type: what, Subject: rimewatch.EventSubject("alert", t.AlertID), SiteID: e.siteOfAlert(t.Facts), Alert: t,
			})
		}
	}
	for _, x := range g.result.Excursions {
		what := rimewatch.EventExcursionClosed
		if x.ID != 0 || x.FoundLateAt != 0 {
			what = rimewatch.EventExcursionCorrected
		}
		e.excursionEvent(what, x.WorkspaceID, x.DeviceID, excursionData{Excursion: wire.NewEventExcursion(x)}, now)
	}
	for _, r := range g.requests {
		for i := range r.rejudged {
			if in := &r.inputs[i]; in.Outcome == store.Accepted && len(r.rejudged[i].Unfounded) > 0 {
				u := e.fleet.Get(in.DeviceID)
				for _, id := range r.rejudged[i].Unfounded {
					e.excursionEvent(rimewatch.EventExcursionCorrected, u.WorkspaceID, u.ID, excursionData{Withdrawn: id}, now)
				}
			}
		}
	}
	for _, st := range g.opened {
		e.openedExcursion(st, now)
	}
	for i := range g.events.Devices {
		x := &g.events.Devices[i]
		if x.Kind != publish.DeviceOnline && x.Kind != publish.DeviceOffline {
			continue
		}
		d := e.deviceData(x.DeviceID)
		what, status := rimewatch.EventDeviceOffline, rimewatch.Offline
		if x.Kind == publish.DeviceOnline {
			what, status = rimewatch.EventDeviceOnline, rimewatch.Online
		}
		d.Status = string(status)
		g.event(x.WorkspaceID, d.SiteID, what, rimewatch.EventSubject("device", x.DeviceID), deviceData{Device: d}, now)
	}
	for _, op := range gone {
		g.deviceEvent(rimewatch.EventDeviceDeleted, &op.Device, nil, now)
	}
	g.events.Happened = len(g.result.Events) > 0
}

// deviceData is the data of an event of a device.
type deviceData struct {
	Device  any      `json:"device"`
	Changed []string `json:"changed,omitempty"`
}

// excursionData is the data of an event of an excursion.
type excursionData struct {
	Device    wire.EventDevice     `json:"device"`
	Excursion *wire.EventExcursion `json:"excursion"`
	Withdrawn int64                `json:"withdrawn,omitempty"` // id of one that never was
}

func (g *group) event(workspaceID int64, siteID *int64, what rimewatch.EventType, subject string, data any, now rimewatch.Time) {
	text, err := wire.AppendJSON(nil, data)
	if err != nil { // numbers that JSON cannot write do not get past the API
		text = []byte("{}")
	}
	e := rimewatch.Event{WorkspaceID: workspaceID, At: now, Type: what, Subject: subject, Data: text}
	if siteID != nil {
		e.SiteID = *siteID
	}
	g.result.Events = append(g.result.Events, e)
}

// deviceEvent adds the event of a device that was created, changed or deleted, with all its settings.
func (g *group) deviceEvent(what rimewatch.EventType, d *rimewatch.Device, changes store.Fields, now rimewatch.Time) {
	fields := detailOf(d)
	fields["id"] = d.ID
	if d.SiteID == 0 {
		fields["site_id"] = nil
	}
	data := deviceData{Device: fields}
	data.Changed = slices.Sorted(maps.Keys(changes))
	g.event(d.WorkspaceID, wire.OrNull(d.SiteID), what, rimewatch.EventSubject("device", d.ID), data, now)
}

func (e *evaluator) excursionEvent(what rimewatch.EventType, workspaceID, deviceID int64, data excursionData, now rimewatch.Time) {
	data.Device = e.deviceData(deviceID)
	e.group.event(workspaceID, data.Device.SiteID, what, rimewatch.EventSubject("device", deviceID), data, now)
}

// openedExcursion notes that an excursion of a unit has begun to count.
func (e *evaluator) openedExcursion(st *staged, now rimewatch.Time) {
	x, ok := st.State.Health.Excursion()
	if !ok {
		x, ok = st.State.Health.Day()
	}
	if ok {
		row := excursionOf(&x, st.Device, st.Config)
		e.excursionEvent(rimewatch.EventExcursionOpened, row.WorkspaceID, row.DeviceID, excursionData{Excursion: wire.NewEventExcursion(&row)}, now)
	}
}

// deviceData returns an event's description of a device: as the group leaves it, or as it is.
func (e *evaluator) deviceData(id int64) wire.EventDevice {
	for _, op := range e.group.store.Devices {
		if d := &op.Device; op.Err == nil && d.ID == id {
			return wire.EventDevice{ID: d.ID, Serial: d.Serial, Name: d.Name, EquipmentType: d.EquipmentType, SiteID: wire.OrNull(d.SiteID)}
		}
	}
	if d := e.store.Identity(id); d != nil {
		return wire.EventDevice{ID: d.ID, Serial: d.Serial, Name: d.Name, EquipmentType: d.EquipmentType, SiteID: wire.OrNull(d.SiteID)}
	}
	return wire.EventDevice{ID: id}
}

// siteOfAlert returns the site of an alert or its device, 0 = none.
func (e *evaluator) siteOfAlert(a *rimewatch.Alert) int64 {
	if a.DeviceID == 0 {
		return a.SiteID
	}
	if site := e.deviceData(a.DeviceID).SiteID; site != nil {
		return *site
	}
	return 0
}
