package ingest

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/health"
)

// unit is one device as the write path knows it.
type unit = fleet.Device[about]

// about is the write path's own data of a device, besides its state.
type about struct {
	siteID   int64          // 0 = none
	sharedAt rimewatch.Time // when its share was made
	share    health.Share   // what it contributes to its fleet
	counted  tally          // what it counts for in its workspace, which is durable
	stagedAt int32          // where in the group, counted from 1
	siteSlot int32          // its place in its site
	late     bool           // in writer.rejudging, or on its way
	stale    bool           // in shares.stale: its share may be older than its state
}
