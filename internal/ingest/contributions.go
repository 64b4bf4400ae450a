package ingest

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/fleet"
)

// contributions keep the units' contributions to their fleets up to date. Of the writer goroutine.
type contributions struct {
	known *known
	fleet *fleet.Fleet[about]
	stale []*unit // changed since their shares were made
	all   []*unit // refreshed in turn
	next  int
}

// changed notes that a unit's share is older than its state.
func (x *contributions) changed(u *unit) {
	if !u.Own.stale {
		u.Own.stale = true
		x.stale = append(x.stale, u)
	}
}

const (
	// refreshSlice is how many units are refreshed under one hold of the lock.
	refreshSlice = 512
	// turnTicks is how many ticks a turn of all units takes at least: it reads those
	// whose states are not in memory.
	turnTicks = 10
	// shareEvery is how old a share must be to be worked out again with a reading, while
	// the state is at hand; shareAfter when no reading comes.
	shareEvery = 500 * rimewatch.Millisecond
	shareAfter = rimewatch.Second
)

// refreshAll refreshes the units that a commit has changed, and a part of all
// others: a share ages as its window slides, so that each has its turn every
// few minutes.
func (x *contributions) refreshAll(now rimewatch.Time) error {
	kept := x.stale[:0]
	var away []int64
	for stale := x.stale; len(stale) > 0; {
		n := min(len(stale), refreshSlice)
		x.fleet.Lock()
		for i, u := range stale[:n] {
			fleet.AskNext(stale, i)
			state := x.fleet.State(u)
			switch {
			case u.Deleted:
				u.Own.stale = false
			case now-u.Own.sharedAt < shareAfter || state == nil && len(away) == refreshSlice:
				kept = append(kept, u)
			case state == nil:
				u.Own.stale = false
				away = append(away, u.ID)
			default:
				u.Own.stale = false
				x.known.refresh(u, state, u.Config, now)
			}
		}
		x.fleet.Unlock()
		stale = stale[n:]
	}
	clear(x.stale[len(kept):])
	x.stale = kept
	return x.refreshAgeing(away, now)
}

// refreshAgeing takes the next slice of all units in turn, and those that have changed
// and whose states have left memory since.
func (x *contributions) refreshAgeing(away []int64, now rimewatch.Time) error {
	x.fleet.Lock()
	for range min(refreshSlice, len(x.all), len(x.all)/turnTicks+1) {
		if x.next >= len(x.all) {
			x.next = 0
		}
		u := x.all[x.next]
		if u.Deleted {
			last := len(x.all) - 1
			x.all[x.next] = x.all[last]
			x.all[last] = nil
			x.all = x.all[:last]
			if last == 0 {
				break
			}
			continue
		}
		if state := x.fleet.State(u); state != nil {
			x.known.refresh(u, state, u.Config, now)
		} else {
			away = append(away, u.ID)
		}
		x.next++
	}
	x.fleet.Unlock()
	if len(away) == 0 {
		return nil
	}
	return x.fleet.Read(away, func(u *unit, state *engine.State) { x.known.refresh(u, state, u.Config, now) })
}

// refreshShares refreshes them while nothing else happens.
func (e *evaluator) refreshShares(now rimewatch.Time) {
	if err := e.contributions.refreshAll(now); err != nil {
		e.troubled("read the states of devices", err)
	}
}
