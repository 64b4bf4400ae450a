package ingest

import (
	"context"
	"sync"

	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/store"
)

// takeBack undoes groups that are lost, given from the newest to the oldest, and
// refuses their callers. States were stepped in place and no copy was kept, which
// every reading would pay for: they are built again from what is durable.
func (w *writer) takeBack(err error, groups ...*group) {
	w.s.mu.Lock()
	for _, g := range groups {
		for i := len(g.staged) - 1; i >= 0; i-- {
			st := &g.staged[i]
			u := st.unit
			u.stagedAt = 0
			if st.concluded {
				u.facts = st.facts
			}
			switch {
			case u.added:
				w.s.memory.remove(u)
				u.deleted = true
			case !u.lost:
				u.lost = true
				w.lost = append(w.lost, u)
			}
		}
	}
	w.evaluated = w.s.durable
	w.s.mu.Unlock()
	w.away = true
	w.s.troubled("commit", err)
	if err := w.rebuild(); err != nil {
		w.s.troubled("build lost states again", err)
	}
	for i := len(groups) - 1; i >= 0; i-- {
		groups[i].answer(err)
		recycle(&w.spare, groups[i])
	}
}

// rebuild builds the states of lost units from their checkpoints and the log
// after them. It reads the whole log: a second for some million inputs, once for
// a disk that fails.
func (w *writer) rebuild() error {
	if len(w.lost) == 0 {
		return nil
	}
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	was := make([]facts, len(w.lost))
	for i, u := range w.lost {
		was[i] = u.facts
		if u.slot == 0 {
			w.s.memory.add(u)
		}
		*w.s.memory.state(u) = engine.State{}
		u.vitals, u.savedSeq, u.missed = vitals{}, 0, chain{}
	}
	err := (&recovery{w}).replayLost()
	for i, u := range w.lost {
		u.facts = was[i] // they were put back before; a replay comes to the same
	}
	if err != nil {
		return err
	}
	_, behind := partition(w.lost)
	for _, u := range w.lost {
		u.lost = false
		state := w.s.memory.state(u)
		u.mirror(state)
		w.rejudging.look(u, state)
		w.setDeadline(u, state)
		w.sites.touch(u.siteID)
		w.shares.refresh(u, state, u.cfg, w.s.clock())
	}
	w.lost = nil
	w.stragglers.arrive(behind)
	return nil
}

// replayLost replays what is durable of the lost units, whose states are zero.
// Under mu.
func (w *recovery) replayLost() error {
	if err := w.w.s.readCheckpoints(w.w.lost); err != nil {
		return err
	}
	x := newUnreplayed()
	x.read = true
	var first sync.Once
	err := w.w.s.store.Logged(context.Background(), len(x.workers), func(worker int, e *store.Entry) error {
		first.Do(func() { x.down = w.w.steps.downtimesAt(e.Seq) })
		if e.Input.Kind == store.InputClock {
			return w.rebuildClock(x, e)
		}
		if u := w.w.s.units.Get(e.Input.DeviceID); u != nil && u.lost && e.Seq > u.savedSeq {
			x.add(worker, u, e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.w.s.replay(x, w.w.lost)
}

// rebuildClock sets the clock of lost units back once more.
func (w *recovery) rebuildClock(x *unreplayed, e *store.Entry) error {
	by, err := decodeClock(e.Input.Payload)
	if err != nil {
		return err
	}
	if err := w.w.s.replay(x, w.w.lost); err != nil {
		return err
	}
	x.down = moved(x.down, by)
	for _, u := range w.w.lost {
		if u.savedSeq < e.Seq {
			w.w.s.memory.state(u).SetBack(by, e.Now)
		}
	}
	return nil
}
