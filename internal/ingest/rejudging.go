package ingest

import (
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/rejudge"
)

// rejudging are the units with late readings. Of the writer goroutine.
type rejudging struct {
	fresh []*unit
	again []lateUnit // that were judged again less than rejudgeAfter ago
	done  map[*unit]rimewatch.Time
	ended []lateUnit // what done holds, the oldest first
}

type lateUnit struct {
	unit *unit
	at   rimewatch.Time
}

// look adds a unit with late readings whose state was loaded.
func (x *rejudging) look(u *unit, state *engine.State) {
	if state.Health.HasLate() && !u.Own.late {
		x.add(u)
	}
}

// add has a unit judged again.
func (x *rejudging) add(u *unit) {
	u.Own.late = true
	if at, ok := x.done[u]; ok {
		x.again = append(x.again, lateUnit{u, at + rejudgeAfter})
	} else {
		x.fresh = append(x.fresh, u)
	}
}

// take returns some units whose turn has come.
func (x *rejudging) take(now rimewatch.Time) (list []*unit) {
	for len(x.ended) > 0 && x.ended[0].at+rejudgeAfter <= now {
		if d := x.ended[0]; x.done[d.unit] == d.at {
			delete(x.done, d.unit)
		}
		x.ended = x.ended[1:]
	}
	for len(x.again) > 0 && x.again[0].at <= now && len(list) < rejudgeSlice {
		list = append(list, x.again[0].unit)
		x.again = x.again[1:]
	}
	n := min(len(x.fresh), rejudgeSlice-len(list))
	list = append(list, x.fresh[:n]...)
	if x.fresh = x.fresh[n:]; len(x.fresh) == 0 {
		x.fresh = nil
	}
	return list
}

// end notes that a unit has had its turn.
func (x *rejudging) end(u *unit, now rimewatch.Time) {
	u.Own.late = false
	x.done[u] = now
	x.ended = append(x.ended, lateUnit{u, now})
}

const (
	rejudgeTick  = 500 * time.Millisecond
	rejudgeSlice = 16 // devices in one commit
	// rejudgeAfter is how long after it was judged again a device is so once more at the
	// earliest: one may send backwards for good.
	rejudgeAfter = rimewatch.Minute
	// rejudgePause is how many times longer than the reading took nothing is read.
	rejudgePause = 3
)

// rejudged is a unit that is judged again.
type rejudged struct {
	unit   *unit
	cfg    *engine.Config
	siteID int64
	device rejudge.Device
	found  *rejudge.Judgement
	err    error
}

// lateDevice is a unit as it is judged again.
func lateDevice(u *unit, state *engine.State) rejudge.Device {
	return rejudge.Device{
		ID: u.ID, WorkspaceID: u.WorkspaceID, Limits: u.Config.Health.Limits, Offsets: u.Config.Offsets,
		Late: state.Health.Late(), Since: state.Health.Since(), Excluded: excludedOf(u),
		Days: u.Config.Health.Days, Defrosts: state.Defrosts(u.Config),
	}
}

// excludedOf picks a unit's windows from those of its workspace.
func excludedOf(u *unit) func([]rimewatch.MaintenanceWindow) []health.Span {
	workspaceID, siteID, id := u.WorkspaceID, u.Own.siteID, u.ID
	return func(list []rimewatch.MaintenanceWindow) []health.Span {
		return fleet.Spans(maintenance{workspaceID: list}.of(workspaceID, siteID, id))
	}
}
