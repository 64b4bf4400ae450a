package ingest

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/publish"
)

// presenceEvent is the news that a device came online or went offline.
func presenceEvent(u *unit, online bool, now rimewatch.Time) publish.Device {
	kind := publish.DeviceOffline
	if online {
		kind = publish.DeviceOnline
	}
	return publish.Device{Kind: kind, WorkspaceID: u.WorkspaceID, DeviceID: u.ID, At: now}
}

// alertEvent is the news of a transition of the rules or the predictor.
func alertEvent(kind alert.Kind, row *rimewatch.Alert) publish.Alert {
	switch kind {
	case alert.Opened:
		return publish.Alert{Kind: publish.AlertOpened, Alert: row}
	case alert.Resolved:
		return publish.Alert{Kind: publish.AlertResolved, Alert: row}
	default:
		return publish.Alert{Kind: publish.AlertUpdated, Alert: row}
	}
}
