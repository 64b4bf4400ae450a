package ingest

import (
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/store"
)

// fetch brings the states of a group's devices into memory. States that a group needs beyond its
// inputs are loaded one by one by stage.
func (w *writer) fetch(g *group) error {
	if w.fleet.AllHere() {
		return nil
	}
	var need fleet.Needed[about]
	defer need.Done()
	for _, part := range g.store.Parts {
		for i := range part {
			if part[i].Outcome == store.Accepted {
				w.fleet.Need(&need, part[i].DeviceID)
			}
		}
	}
	if err := w.makeRoom(need.Away()); err != nil {
		return err
	}
	err := w.fleet.Load(&need)
	w.fleet.Lock()
	defer w.fleet.Unlock()
	w.eval.takeNews()
	return err
}

// makeRoom takes the coldest states out of memory until n more have their place
// within the budget, or as many as can be.
func (w *writer) makeRoom(n int) error {
	cold := w.fleet.Cold(n)
	if len(cold) == 0 {
		return nil
	}
	if fleet.Dirty(cold) {
		w.drain() // only durable states are saved
		if err := w.watch(w.clock()); err != nil {
			return err
		}
	}
	return w.fleet.Evict(cold, w.known.durable.Seq)
}
