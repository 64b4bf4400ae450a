package ingest

import (
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/store"
)

const (
	mostStragglers   = 256    // units that catch up between two groups
	fewestStragglers = 64     // of them, however much they have to catch up with
	stragglerInputs  = 32_768 // that these have to catch up with, about: some ten milliseconds

	// inputsADevice is how many logged inputs take as long as reading the state of a
	// device that has none.
	inputsADevice = 10
)

// startsBehind reports whether readings are taken before this many devices have
// caught up with this many logged inputs.
func (c *Config) startsBehind(devices int, inputs int64) bool {
	return devices+int(inputs/inputsADevice) > c.ReadFirst
}

// stragglerSlice returns how many of this many units catch up between two groups, when all
// of them have this many logged inputs to catch up with.
func stragglerSlice(units int, inputs int64) int {
	return min(max(int(stragglerInputs*int64(units)/max(inputs, 1)), fewestStragglers), mostStragglers)
}

// stragglers are the units whose states are not what the log says yet. Of the writer
// goroutine.
type stragglers struct {
	w          *writer
	n          int         // of them
	slice      int         // of them that catch up between two groups
	unreplayed *unreplayed // what they have to catch up with
	next       int         // where in shares.all to look for one
}

// arrival is a unit that has caught up.
type arrival struct {
	unit  *unit
	share health.Share
	due   rimewatch.Time
}

// Loading reports whether states of devices are still being read after a start.
// Readings are taken meanwhile; what people ask for of a fleet is not all known.
func (s *Service) Loading() bool {
	select {
	case <-s.loaded:
		return false
	default:
		return true
	}
}

// Loaded is closed when Loading is over.
func (s *Service) Loaded() <-chan struct{} { return s.loaded }

// loadRest lets all stragglers catch up, between the groups that come meanwhile.
// It returns false when the service is stopping.
func (s *Service) loadRest() bool {
	for s.Loading() {
		var err error
		if !s.call(func(w *writer) { err = w.stragglers.catchUpNext() }) {
			return false
		}
		if err != nil {
			s.troubled("read the states of devices", err)
			select {
			case <-s.stopping:
				return false
			case <-time.After(time.Second):
			}
		}
	}
	return true
}

// catchUpAll lets all stragglers catch up at once.
func (w *stragglers) catchUpAll() error {
	for w.w.s.Loading() {
		if err := w.catchUpNext(); err != nil {
			return err
		}
	}
	return w.w.makeRoom(0)
}

// catchUpNext lets some stragglers catch up.
func (w *stragglers) catchUpNext() error {
	list := make([]*unit, 0, min(w.slice, max(w.w.s.memory.most, fewestStragglers)))
	next := w.next
	for ; next < len(w.w.shares.all) && len(list) < cap(list); next++ {
		if u := w.w.shares.all[next]; u.behind && !u.lost {
			list = append(list, u)
		}
	}
	if err := w.w.makeRoom(len(list)); err != nil {
		return err
	}
	w.w.s.mu.Lock()
	defer w.w.s.mu.Unlock()
	if err := w.catchUp(list); err != nil {
		return err
	}
	w.next = next
	return nil
}

// catchUp brings stragglers into memory and to where the log ended at the start.
// Under mu.
func (w *stragglers) catchUp(list []*unit) error {
	for _, u := range list {
		if u.slot == 0 {
			w.w.s.memory.add(u)
		}
	}
	if err := w.w.s.replay(w.unreplayed, list); err != nil {
		for _, u := range list {
			w.w.s.memory.remove(u)
		}
		return err
	}
	w.arrive(list)
	return nil
}

// arrive hands the store what units know that were behind, counts them and arms
// their deadlines. Under mu.
func (w *stragglers) arrive(list []*unit) {
	now := w.w.s.clock()
	arrivals := make([]arrival, len(list))
	for i, u := range list {
		arrivals[i].unit = u
	}
	_ = inParts(arrivals, func(part []arrival) error {
		live := make([]store.LiveWrite, len(part))
		var touched []store.AlertTouch
		for i := range part {
			a := &part[i]
			u := a.unit
			state := w.w.s.memory.state(u)
			u.mirror(state)
			a.share, a.due = shareOf(u, state, u.cfg, now), earliest(state.Deadline(u.cfg, w.w.s.downtimes), ackEnds(u.alerts))
			live[i] = store.LiveWrite{DeviceID: u.id, Presence: presenceOf(state, u.cfg, &u.vitals)}
			touched = appendTouched(touched, state, u.alerts)
		}
		w.w.s.store.PutLive(live, touched)
		return nil
	})
	for i := range arrivals {
		a := &arrivals[i]
		u := a.unit
		u.behind = false
		w.w.deadlines.Set(u, a.due)
		w.w.rejudging.look(u, w.w.s.memory.state(u))
		w.w.s.total(u.workspaceID).replace(u, tallyOf(u.online, u.alerts), a.share)
		if state := w.w.s.memory.state(u); len(u.alerts) > 0 || state.Verdicts != (engine.Verdicts{}) {
			w.w.findOrphans(u, state)
			for i, n := range state.Verdicts {
				w.w.s.verdicts[i] += int(n)
			}
		}
	}
	if w.n -= len(list); w.n == 0 && w.w.s.Loading() {
		w.unreplayed = nil
		close(w.w.s.loaded)
		if n := w.w.s.unreadable.Load(); n > 1 {
			w.w.s.log.Warn("states were lost", "devices", n)
		}
	}
}

// partition returns the units that are behind apart from the others.
func partition(list []*unit) (here, behind []*unit) {
	for _, u := range list {
		if u.behind {
			behind = append(behind, u)
		} else {
			here = append(here, u)
		}
	}
	return here, behind
}
