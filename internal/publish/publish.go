// Package publish defines the effects of a commit of the write path for its listeners:
// the stream and the notifications.
package publish

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Kind names what happened, as on the stream.
type Kind string

// The events.
const (
	DeviceCreated     Kind = "device.created"
	DeviceUpdated     Kind = "device.updated"
	DeviceDeleted     Kind = "device.deleted"
	DeviceOnline      Kind = "device.online"
	DeviceOffline     Kind = "device.offline"
	AlertOpened       Kind = "alert.opened"
	AlertUpdated      Kind = "alert.updated"
	AlertAcknowledged Kind = "alert.acknowledged"
	AlertResolved     Kind = "alert.resolved"
)

// Device is news of a device.
type Device struct {
	Kind        Kind
	WorkspaceID int64
	DeviceID    int64
	At          rimewatch.Time
	// Device is what a deleted device was; nil for the other events, whose
	// device can be looked up. It is never changed afterwards.
	Device *rimewatch.Device
	// Left is the site that a device has moved away from, 0 = none of them;
	// nil where it stays.
	Left *int64
}

// Alert is news of an alert. The alert is never changed afterwards.
type Alert struct {
	Kind  Kind
	Alert *rimewatch.Alert
}

// AlertOf is the news that something happened to an alert, which is row since then.
func AlertOf(what rimewatch.TransitionKind, row *rimewatch.Alert) Alert {
	switch what {
	case rimewatch.TransitionOpened:
		return Alert{AlertOpened, row}
	case rimewatch.TransitionAcknowledged:
		return Alert{AlertAcknowledged, row}
	case rimewatch.TransitionResolved:
		return Alert{AlertResolved, row}
	default:
		return Alert{AlertUpdated, row}
	}
}

// Commit is one commit as listeners hear of it: the readings whose outcome is
// Accepted are new (reading.created). Its slices are only valid in the call.
type Commit struct {
	Seq     store.Seq
	Now     rimewatch.Time
	Parts   [][]store.Input
	Devices []Device
	Alerts  []Alert
	// Happened says that there are events for programs, which are in the store.
	Happened bool
	// SetBack is by how much the clock was set back to Now, 0 = it was not.
	SetBack rimewatch.Time
}

// Reset empties the commit and keeps its room.
func (c *Commit) Reset() {
	clear(c.Devices)
	clear(c.Alerts)
	*c = Commit{Devices: c.Devices[:0], Alerts: c.Alerts[:0]}
}

// Replace makes earlier events carry the final row of an alert: there is only
// one row to be seen.
func (c *Commit) Replace(old, row *rimewatch.Alert) {
	for i := range c.Alerts {
		if c.Alerts[i].Alert == old {
			c.Alerts[i].Alert = row
		}
	}
}
