package ingest

import (
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/fleet"
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
	w     *writer
	slice int // of them that catch up between two groups
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
	return s.known.loading()
}

func (k *known) loading() bool {
	select {
	case <-k.loaded:
		return false
	default:
		return true
	}
}

// Loaded is closed when Loading is over.
func (s *Service) Loaded() <-chan struct{} { return s.known.loaded }

// loadRest lets all stragglers catch up, between the groups that come meanwhile.
// It returns false when the service is stopping.
func (s *Service) loadRest() bool {
	for s.Loading() {
		var err error
		if !s.inbox.call(func(w *writer) { err = w.stragglers.catchUpNext() }) {
			return false
		}
		if err != nil {
			s.troubled("read the states of devices", err)
			select {
			case <-s.inbox.stopping:
				return false
			case <-time.After(time.Second):
			}
		}
	}
	return true
}

// catchUpAll lets all stragglers catch up at once.
func (x *stragglers) catchUpAll() error {
	for x.w.known.loading() {
		if err := x.catchUpNext(); err != nil {
			return err
		}
	}
	return x.w.makeRoom(0)
}

// catchUpNext lets some stragglers catch up.
func (x *stragglers) catchUpNext() error {
	list := x.w.fleet.NextBehind(x.slice, fewestStragglers)
	if err := x.w.makeRoom(len(list)); err != nil {
		return err
	}
	if err := x.w.fleet.CatchUp(list); err != nil {
		return err
	}
	x.w.fleet.Lock()
	defer x.w.fleet.Unlock()
	x.w.eval.hear()
	return nil
}

// hear takes note of the units that came to be known. Under the lock.
func (e *evaluator) hear() {
	news := e.fleet.News()
	e.arrive(news.CaughtUp)
	for _, u := range news.Anew {
		e.findOrphans(u, e.fleet.State(u))
	}
	if e.fleet.Behind() == 0 && e.known.loading() {
		close(e.known.loaded)
	}
}

// arrive hands the store what units know that were behind, counts them and arms
// their deadlines. Under the lock.
func (e *evaluator) arrive(list []*unit) {
	now := e.clock()
	arrivals := make([]arrival, len(list))
	for i, u := range list {
		arrivals[i].unit = u
	}
	_ = fleet.InParts(arrivals, func(part []arrival) error {
		live := make([]store.LiveWrite, len(part))
		var touched []store.AlertTouch
		for i := range part {
			a := &part[i]
			u := a.unit
			state := e.fleet.State(u)
			a.share, a.due = shareOf(u, state, u.Config, now), earliest(state.Deadline(u.Config, e.fleet.Downtimes()), ackEnds(u.Alerts))
			live[i] = store.LiveWrite{DeviceID: u.ID, Presence: presenceOf(state, u.Config, &u.Vitals)}
			touched = appendTouched(touched, state, u.Alerts)
		}
		e.store.PutLive(live, touched)
		return nil
	})
	for i := range arrivals {
		a := &arrivals[i]
		u := a.unit
		state := e.fleet.State(u)
		e.deadlines.Set(u, a.due)
		e.rejudging.look(u, state)
		e.known.total(u.WorkspaceID).replace(u, tallyOf(u.Online, u.Alerts), a.share)
		if len(u.Alerts) > 0 || state.Verdicts != (engine.Verdicts{}) {
			e.findOrphans(u, state)
			for i, n := range state.Verdicts {
				e.known.verdicts[i] += int(n)
			}
		}
	}
}
