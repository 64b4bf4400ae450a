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
	w.mu.Lock()
	for _, g := range groups {
		for i := len(g.staged) - 1; i >= 0; i-- {
			st := &g.staged[i]
			u := st.unit
			u.place = 0
			if st.concluded {
				u.facts = st.facts
			}
			switch {
			case u.added:
				w.memory.remove(u)
				u.deleted = true
			case !u.lost:
				u.lost = true
				w.lost = append(w.lost, u)
			}
		}
	}
	w.evaluated = w.durable
	w.mu.Unlock()
	w.suspect = true
	w.troubled("commit", err)
	if err := w.rebuild(); err != nil {
		w.troubled("build lost states again", err)
	}
	for i := len(groups) - 1; i >= 0; i-- {
		groups[i].answer(err)
		w.recycle(groups[i])
	}
}

// mend makes sure, after a group was lost, that the store takes writes again and
// that no state is ahead of what is durable.
func (w *writer) mend() error {
	if !w.suspect {
		return nil
	}
	if err := w.store.MarkAlive(context.Background(), w.clock()); err != nil {
		return err
	}
	if err := w.rebuild(); err != nil {
		return err
	}
	w.suspect = false
	return nil
}

// rebuild builds the states of lost units from their checkpoints and the log
// after them. It reads the whole log: a second for some million inputs, once for
// a disk that fails.
func (w *writer) rebuild() error {
	if len(w.lost) == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	ids := make([]int64, len(w.lost))
	was := make([]facts, len(w.lost))
	for i, u := range w.lost {
		ids[i], was[i] = u.id, u.facts
		if u.slot == 0 {
			w.memory.add(u)
		}
		*w.memory.state(u) = engine.State{}
		u.vitals, u.savedSeq = vitals{}, 0
	}
	err := (&recovery{w}).replayLost(ids)
	for i, u := range w.lost {
		u.facts = was[i] // they were put back before; a replay comes to the same
	}
	if err != nil {
		return err
	}
	for _, u := range w.lost {
		u.lost = false
		state := w.memory.state(u)
		u.mirror(state)
		w.setDeadline(u, state)
		w.sites.touch(u.siteID)
		w.shares.refresh(u, state, u.cfg, w.clock())
	}
	w.lost = nil
	return nil
}

// replayLost replays what is durable of some units. Under mu.
func (w *recovery) replayLost(ids []int64) error {
	re := newReplayer(w.Service, nil)
	re.unread = func(u *unit, err error) {
		w.log.Warn("the state of a device was lost; it is built anew", "device", u.id, "err", err)
		u.savedSeq = 0
	}
	err := w.store.Checkpoints(context.Background(), ids, func(c store.Checkpoint) error {
		re.workers[0].checkpoint(w.units.Get(c.DeviceID), true, &c)
		return nil
	})
	if err != nil {
		return err
	}
	var first sync.Once
	err = w.store.Logged(context.Background(), len(re.workers), func(worker int, e *store.Entry) error {
		first.Do(func() { re.down = w.steps.downtimesAt(e.Seq) })
		if e.Input.Kind == store.InputClock {
			return w.rebuildClock(re, e)
		}
		if u := w.units.Get(e.Input.DeviceID); u != nil && u.lost && e.Seq > u.savedSeq {
			re.workers[worker].input(u, e)
		}
		return nil
	})
	re.flush()
	return err
}

// rebuildClock sets the clock of lost units back once more.
func (w *recovery) rebuildClock(re *replayer, e *store.Entry) error {
	by, err := decodeClock(e.Input.Payload)
	if err != nil {
		return err
	}
	re.flush()
	re.down = moved(re.down, by)
	for _, u := range w.lost {
		if u.savedSeq < e.Seq {
			w.memory.state(u).SetBack(by, e.Now)
		}
	}
	return nil
}
