package ingest

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/deadline"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/fleet"
)

// evaluator works out the effects of a group, upon all groups before it. It belongs to the writer
// goroutine, never waits and commits nothing.
type evaluator struct {
	*base
	known *known
	fleet *fleet.Fleet[about]

	group     *group         // being made
	evaluated fleet.Position // of the last group that was evaluated

	sites          sites
	deadlines      deadline.Queue[*unit]
	contributions  contributions
	rejudging      rejudging
	orphanedAlerts []orphanedAlert

	steppers steppers
	chains   []chained // of the last part that was stepped ahead, kept for the next
	next     []int32
}

func newEvaluator(b *base, k *known, f *fleet.Fleet[about]) *evaluator {
	e := &evaluator{base: b, known: k, fleet: f, contributions: contributions{known: k, fleet: f}}
	e.sites.init()
	e.rejudging.done = make(map[*unit]rimewatch.Time)
	return e
}

// stage returns the unit as the group has it so far.
func (e *evaluator) stage(u *unit) *staged {
	st := e.stagedOf(u)
	st.begin()
	return st
}

// stagedOf returns the group's copy of a unit, made at the first touch.
func (e *evaluator) stagedOf(u *unit) *staged {
	g := e.group
	if u.Own.stagedAt == 0 {
		g.staged = append(g.staged, staged{siteID: u.Own.siteID})
		if err := e.fleet.Stage(u, &g.staged[len(g.staged)-1].Staged); err != nil {
			g.err = err
		}
		u.Own.stagedAt = int32(len(g.staged))
		if e.fleet.HasNews() {
			e.takeNews()
		}
	}
	return &g.staged[u.Own.stagedAt-1]
}

// setDeadline sets when time alone next changes a unit: by its state, or by the
// end of an acknowledgement.
func (e *evaluator) setDeadline(u *unit, state *engine.State) {
	e.deadlines.Set(u, earliest(state.Deadline(u.Config, e.fleet.Downtimes()), ackEnds(u.Alerts)))
}

// due returns when time alone next changes a unit, 0 = never, or its state is not in memory. A
// downtime has moved it since it was set.
func (e *evaluator) due(u *unit) rimewatch.Time {
	state := e.fleet.Current(u)
	if state == nil {
		return 0
	}
	return earliest(state.Deadline(u.Config, e.fleet.Downtimes()), ackEnds(u.Alerts))
}

// earliest returns the earlier of two moments, of which 0 is none.
func earliest(a, b rimewatch.Time) rimewatch.Time {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
