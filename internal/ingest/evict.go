package ingest

import (
	"context"
	"errors"

	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/store"
)

// evictLeast is how many states leave memory at a time, so that their checkpoints
// share a transaction.
const evictLeast = 256

// Memory is what the states of the devices take.
type Memory struct {
	States int   // in memory
	OnDisk int   // on the disk alone, because of the budget
	Bytes  int64 // of memory
	Read   int64 // states that came back from the disk since the start
}

// Memory returns what the states of the devices take now.
func (s *Service) Memory() Memory {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n := s.memory.used()
	return Memory{
		States: n, OnDisk: s.units.Len() - n, Bytes: int64(len(s.memory.slabs)) * slabStates * StateBytes, Read: s.fetched.Load(),
	}
}

// fetch brings the states of a group's devices into memory. What a group needs
// beyond its inputs, stage brings in one by one.
func (w *writer) fetch(g *group) error {
	if w.s.memory.used() == w.s.units.Len() && w.stragglers.n == 0 {
		return nil
	}
	var here, away []*unit
	for _, part := range g.store.Parts {
		for i := range part {
			u := w.s.units.Get(part[i].DeviceID)
			if u == nil || u.needed || part[i].Outcome != store.Accepted {
				continue
			}
			u.needed = true
			if u.slot == 0 || u.behind {
				away = append(away, u)
			} else {
				here = append(here, u)
			}
		}
	}
	err := w.makeRoom(len(away))
	if err == nil {
		w.s.mu.Lock()
		err = w.load(away)
		w.s.mu.Unlock()
	}
	for _, list := range [][]*unit{here, away} {
		for _, u := range list {
			u.needed = false
		}
	}
	return err
}

// makeRoom takes the coldest states out of memory until n more have their place
// within the budget, or as many as can be.
func (w *writer) makeRoom(n int) error {
	over := w.s.memory.used() + n - w.s.memory.most
	if over <= 0 {
		return nil
	}
	w.s.mu.Lock()
	cold := w.s.memory.coldest(max(over, evictLeast), nil)
	w.s.mu.Unlock()
	if err := w.saveNow(cold); err != nil {
		return err
	}
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	for _, u := range cold {
		u.recent = false
		w.s.memory.remove(u)
	}
	return nil
}

// saveNow writes the checkpoints of those units that have changed.
func (w *writer) saveNow(list []*unit) error {
	var dirty []copied
	for _, u := range list {
		if u.dirtySeq != 0 {
			dirty = append(dirty, copied{dirtyUnit: dirtyUnit{unit: u, seq: u.dirtySeq}})
		}
	}
	if len(dirty) == 0 {
		return nil
	}
	w.drain() // only what is durable is saved
	if err := w.watch(w.s.clock()); err != nil {
		return err
	}
	for i := range dirty {
		u := dirty[i].unit
		dirty[i].facts, dirty[i].state = u.facts, *w.s.memory.state(u)
	}
	if err := w.s.save(dirty, w.s.durable.seq, 0); err != nil {
		return err
	}
	for i := range dirty {
		dirty[i].unit.dirtySeq = 0
	}
	return nil
}

// load reads the states of units from their checkpoints, and brings stragglers
// to where the log ends. Under mu.
func (w *writer) load(list []*unit) error {
	if w.stragglers.n > 0 {
		var behind []*unit
		list, behind = partition(list)
		if err := w.stragglers.catchUp(behind); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		return nil
	}
	ids := make([]int64, len(list))
	for i, u := range list {
		ids[i] = u.id
	}
	w.s.fetched.Add(int64(len(list)))
	err := w.s.store.Checkpoints(context.Background(), ids, func(c store.Checkpoint) error {
		u := w.s.units.Get(c.DeviceID)
		f := u.facts
		state := w.s.memory.add(u)
		if err := w.s.readCheckpoint(c.State, &f, state); err != nil {
			w.s.unread(u, err)
			if !errors.Is(err, engine.ErrAnew) {
				*state = engine.State{}
			}
			w.findOrphans(u, state)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, u := range list {
		if u.slot == 0 {
			w.s.memory.add(u)
		}
	}
	return nil
}

// bring makes room for the state of a new device, or reads one that the group
// needs beyond its inputs. An error is the group's. Under mu.
func (w *writer) bring(u *unit) *engine.State {
	if !u.added {
		if err := w.load([]*unit{u}); err != nil {
			w.group.err = err
		}
	}
	if u.slot == 0 {
		w.s.memory.add(u)
	}
	return w.s.memory.state(u)
}

// look calls f with a unit and its state, under mu; not at all when there is no
// such device.
func (s *Service) look(deviceID int64, f func(u *unit, state *engine.State)) {
	s.mu.RLock()
	u := s.units.Get(deviceID)
	if u == nil || u.slot != 0 {
		defer s.mu.RUnlock()
		if u != nil {
			f(u, s.memory.state(u))
		}
		return
	}
	s.mu.RUnlock()
	var state engine.State
	err := s.store.Checkpoints(context.Background(), []int64{deviceID}, func(c store.Checkpoint) error {
		return s.readCheckpoint(c.State, &facts{}, &state)
	})
	if err != nil && !errors.Is(err, engine.ErrAnew) {
		s.troubled("read the state of a device", err)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if u.slot != 0 { // it came back meanwhile, and may have changed
		f(u, s.memory.state(u))
		return
	}
	f(u, &state)
}
