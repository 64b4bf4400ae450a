package ingest

import (
	"github.com/rimewatch/rimewatch"
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
