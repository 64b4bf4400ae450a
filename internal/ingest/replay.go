package ingest

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/store"
)

// replayer builds states from checkpoints and the log: for all devices after a
// restart, for some after a group was lost. The store's workers step the units,
// each its own, so that what happens to a device keeps its order. Transitions are
// dropped: the rows of alerts were committed with the inputs.
type replayer struct {
	s      *Service
	unread func(u *unit, err error)           // hears of checkpoints that cannot be read, one at a time
	away   func(u *unit, state *engine.State) // hears of states that do not stay in memory, likewise
	back   func(state *engine.State)          // hears of those that are needed after all, likewise
	down   []presence.Downtime                // changed only while no worker is under way

	mu      sync.RWMutex // guards Service.memory, and is held to call these functions
	workers []*replayWorker
}

// replayWorker steps its units.
type replayWorker struct {
	*replayer
	seq      store.Seq   // of the commit whose inputs come
	jobs     []replayJob // its inputs so far
	payloads []byte
	scratch  engine.State
	out      []alert.Transition

	last  position // of all inputs
	dirty dirtyUnits
}

// replayJob is an input that waits for the others of its commit: only then is it
// known which reading is a unit's last.
type replayJob struct {
	unit  *unit
	state *engine.State
	from  int // in payloads
	entry store.Entry
}

func newReplayer(s *Service, down []presence.Downtime) *replayer {
	re := &replayer{s: s, down: down}
	for range runtime.GOMAXPROCS(0) {
		re.workers = append(re.workers, &replayWorker{replayer: re})
	}
	return re
}

// checkpoint takes a device's checkpoint. stays says whether its state is to stay
// in memory.
func (w *replayWorker) checkpoint(u *unit, stays bool, c *store.Checkpoint) {
	u.savedSeq = c.Seq
	into := &w.scratch
	if stays {
		into = w.state(u)
	} else {
		*into = engine.State{}
	}
	w.read(u, into, c.State)
	if !stays {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.away(u, into)
	}
}

// read reads a checkpoint into a state.
func (w *replayWorker) read(u *unit, into *engine.State, data []byte) {
	was := u.facts
	if err := w.s.readCheckpoint(data, &u.facts, into); err != nil {
		u.facts, *into = was, engine.State{}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.unread(u, err)
	}
}

// state returns the state of a unit, which comes into memory if it is not there.
func (w *replayWorker) state(u *unit) *engine.State {
	w.mu.RLock()
	state := w.s.memory.state(u)
	w.mu.RUnlock()
	if state == nil {
		w.mu.Lock()
		state = w.s.memory.add(u)
		w.mu.Unlock()
	}
	return state
}

// fetch takes a unit back into memory whose checkpoint was taken before.
func (w *replayWorker) fetch(u *unit) error {
	state := w.state(u)
	return w.s.store.Checkpoints(context.Background(), []int64{u.id}, func(c store.Checkpoint) error {
		w.read(u, state, c.State)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.back(state)
		return nil
	})
}

// input takes the next logged input of a device, which its checkpoint does not
// cover. As in the commit itself, a unit's last reading is told apart from those
// before it.
func (w *replayWorker) input(u *unit, e *store.Entry) {
	w.commit(e.Seq)
	w.jobs = append(w.jobs, replayJob{unit: u, state: w.state(u), from: len(w.payloads), entry: *e})
	w.payloads = append(w.payloads, e.Input.Payload...)
	if e.Input.Kind != store.InputReading {
		return
	}
	if u.place > 0 {
		w.jobs[u.place-1].entry.Input.Last = false
	}
	w.jobs[len(w.jobs)-1].entry.Input.Last = true
	u.place = int32(len(w.jobs))
}

// commit says that the inputs of another commit come.
func (w *replayWorker) commit(seq store.Seq) {
	if seq != w.seq {
		w.flush()
		w.seq = seq
	}
}

// flush steps the units of the commit that is complete.
func (w *replayWorker) flush() {
	for i := range w.jobs {
		j := &w.jobs[i]
		j.unit.place = 0
		in := &j.entry.Input
		in.Payload = w.payloads[j.from : j.from+len(in.Payload)]
		w.out, _ = w.s.step(j.state, &j.unit.facts, w.down, in, j.entry.Now, w.out[:0])
	}
	clear(w.jobs)
	w.jobs, w.payloads = w.jobs[:0], w.payloads[:0]
}

// flush steps what waits with all workers. None of them may be under way.
func (re *replayer) flush() {
	for _, w := range re.workers {
		w.flush()
	}
}

// changed notes that an input changes a unit.
func (w *replayWorker) changed(u *unit, seq store.Seq, now rimewatch.Time) {
	w.dirty.inputs++
	w.dirty.add(u, seq, now)
}

// takeDirty adds to the dirty units those of all workers.
func (re *replayer) takeDirty(x *dirtyUnits) {
	base := x.inputs
	for _, w := range re.workers {
		for _, d := range w.dirty.list {
			d.inputs = base + d.inputs*int64(len(re.workers)) // about as far as all were
			x.list = append(x.list, d)
		}
		x.inputs += w.dirty.inputs
		w.dirty = dirtyUnits{}
	}
	slices.SortStableFunc(x.list, func(a, b dirtyUnit) int { return cmp.Compare(a.seq, b.seq) })
}
