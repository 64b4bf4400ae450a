package ingest

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/store"
)

// EventKind names what happened, as on the stream.
type EventKind string

// The events.
const (
	DeviceCreated     EventKind = "device.created"
	DeviceUpdated     EventKind = "device.updated"
	DeviceDeleted     EventKind = "device.deleted"
	DeviceOnline      EventKind = "device.online"
	DeviceOffline     EventKind = "device.offline"
	AlertOpened       EventKind = "alert.opened"
	AlertUpdated      EventKind = "alert.updated"
	AlertAcknowledged EventKind = "alert.acknowledged"
	AlertResolved     EventKind = "alert.resolved"
)

// DeviceEvent is news of a device.
type DeviceEvent struct {
	Kind        EventKind
	WorkspaceID int64
	DeviceID    int64
	At          rimewatch.Time
	// Device is what a deleted device was; nil for the other events, whose
	// device can be looked up. It is never changed afterwards.
	Device *rimewatch.Device
}

// AlertEvent is news of an alert. The alert is never changed afterwards.
type AlertEvent struct {
	Kind  EventKind
	Alert *rimewatch.Alert
}

// Published is one commit as the hub hears of it: the readings whose outcome is
// Accepted are new (reading.created). Its slices are only valid in the call.
type Published struct {
	Seq     store.Seq
	Now     rimewatch.Time
	Parts   [][]store.Input
	Devices []DeviceEvent
	Alerts  []AlertEvent
}

func (p *Published) reset() {
	clear(p.Devices)
	clear(p.Alerts)
	*p = Published{Devices: p.Devices[:0], Alerts: p.Alerts[:0]}
}

func (p *Published) presence(u *unit, online bool, now rimewatch.Time) {
	kind := DeviceOffline
	if online {
		kind = DeviceOnline
	}
	p.Devices = append(p.Devices, DeviceEvent{Kind: kind, WorkspaceID: u.workspaceID, DeviceID: u.id, At: now})
}

func (p *Published) alert(kind alert.Kind, row *rimewatch.Alert) {
	name := AlertUpdated
	switch kind {
	case alert.Opened:
		name = AlertOpened
	case alert.Resolved:
		name = AlertResolved
	default: // an update
	}
	p.Alerts = append(p.Alerts, AlertEvent{name, row})
}

// replace makes earlier events of the same commit carry the final row: there
// is only one row to be seen.
func (p *Published) replace(old, row *rimewatch.Alert) {
	for i := range p.Alerts {
		if p.Alerts[i].Alert == old {
			p.Alerts[i].Alert = row
		}
	}
}
