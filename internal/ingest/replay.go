package ingest

import (
	"context"
	"sync"

	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/store"
)

// replayer builds states from checkpoints and the log: for all devices after a
// restart, for some after a group was lost. Workers step the units, each its own,
// so that what happens to a device keeps its order. Transitions are dropped: the
// rows of alerts were committed with the inputs.
type replayer struct {
	s       *Service
	unread  func(u *unit, err error)           // hears of checkpoints that cannot be read, one at a time
	away    func(u *unit, state *engine.State) // hears of states that do not stay in memory, likewise
	back    func(state *engine.State)          // hears of those that are needed after all, likewise
	down    []presence.Downtime                // changed only while the workers wait
	mu      sync.Mutex
	seq     store.Seq // of the commit whose inputs come
	workers []*replayWorker
	err     error // of a worker; under mu
}

const (
	replayWorkers = 4 // more than small machines have cores: units are not spread evenly over a commit
	replayBatch   = 512
)

// replayWorker steps its units.
type replayWorker struct {
	batch *replayJobs // being filled
	jobs  chan *replayJobs
	spare chan *replayJobs
	done  sync.WaitGroup
}

// replayJobs is what a worker is handed at a time.
type replayJobs struct {
	jobs     []replayJob
	payloads []byte
	current  int // the first job of the commit whose inputs come
}

// replayJob is one thing to do with a unit.
type replayJob struct {
	kind  replayKind
	unit  *unit
	state *engine.State // nil: it does not stay in memory
	from  int           // in payloads
	entry store.Entry
}

type replayKind uint8

const (
	replayInput replayKind = iota
	replayCheckpoint
	replayFetch // read the checkpoint once more: its state is needed after all
)

func newReplayer(s *Service, down []presence.Downtime) *replayer {
	re := &replayer{s: s, down: down}
	for range replayWorkers {
		w := &replayWorker{batch: &replayJobs{}, jobs: make(chan *replayJobs, 2), spare: make(chan *replayJobs, 3)}
		w.spare <- &replayJobs{}
		w.spare <- &replayJobs{}
		w.done.Go(func() {
			var scratch engine.State
			var out []alert.Transition
			for b := range w.jobs {
				for i := range b.jobs {
					out = re.do(b, &b.jobs[i], &scratch, out[:0])
				}
				clear(b.jobs)
				*b = replayJobs{jobs: b.jobs[:0], payloads: b.payloads[:0]}
				w.spare <- b
			}
		})
		re.workers = append(re.workers, w)
	}
	return re
}

func (re *replayer) worker(u *unit) *replayWorker { return re.workers[u.id%replayWorkers] }

// push adds a job with a copy of its bytes.
func (w *replayWorker) push(j replayJob, payload []byte) {
	b := w.batch
	j.from = len(b.payloads)
	b.payloads = append(b.payloads, payload...)
	b.jobs = append(b.jobs, j)
}

// hand gives the batch to the worker once it is worth it.
func (w *replayWorker) hand(least int) {
	w.batch.current = len(w.batch.jobs)
	if len(w.batch.jobs) >= least {
		w.jobs <- w.batch
		w.batch = <-w.spare
	}
}

// checkpoint takes a device's checkpoint. state is where it goes, nil = it does
// not stay in memory.
func (re *replayer) checkpoint(u *unit, state *engine.State, c *store.Checkpoint) {
	u.savedSeq = c.Seq
	w := re.worker(u)
	w.push(replayJob{kind: replayCheckpoint, unit: u, state: state, entry: store.Entry{Seq: c.Seq, Input: store.Input{Payload: c.State}}}, c.State)
	w.hand(replayBatch)
}

// fetch takes a device back into memory whose checkpoint was taken before.
func (re *replayer) fetch(u *unit, state *engine.State) {
	re.worker(u).push(replayJob{kind: replayFetch, unit: u, state: state}, nil)
}

// input takes the next logged input of a device, unless its checkpoint covers it.
// As in the commit itself, a unit's last reading is told apart from those before
// it.
func (re *replayer) input(u *unit, state *engine.State, e *store.Entry) {
	w := re.worker(u)
	w.push(replayJob{unit: u, state: state, entry: *e}, e.Input.Payload)
	b := w.batch
	if e.Input.Kind != store.InputReading {
		return
	}
	if u.place > 0 {
		b.jobs[u.place-1].entry.Input.Last = false
	}
	b.jobs[len(b.jobs)-1].entry.Input.Last = true
	u.place = int32(len(b.jobs))
}

// commit says that the inputs of another commit come.
func (re *replayer) commit(seq store.Seq) {
	if seq == re.seq {
		return
	}
	re.seq = seq
	re.flush(replayBatch)
}

func (re *replayer) flush(least int) {
	for _, w := range re.workers {
		for i := range w.batch.jobs[w.batch.current:] {
			w.batch.jobs[w.batch.current+i].unit.place = 0
		}
		w.hand(least)
	}
}

// wait returns when the workers have done what was handed over until now.
func (re *replayer) wait() {
	re.flush(1)
	for _, w := range re.workers {
		a, b := <-w.spare, <-w.spare
		w.spare <- a
		w.spare <- b
	}
}

// finish waits until everything is done.
func (re *replayer) finish() error {
	re.flush(1)
	for _, w := range re.workers {
		close(w.jobs)
		w.done.Wait()
	}
	return re.err
}

func (re *replayer) do(b *replayJobs, j *replayJob, scratch *engine.State, out []alert.Transition) []alert.Transition {
	u := j.unit
	switch j.kind {
	case replayCheckpoint:
		size := len(j.entry.Input.Payload)
		re.read(u, j.state, b.payloads[j.from:j.from+size], scratch)
	case replayFetch:
		err := re.s.store.Checkpoints(context.Background(), []int64{u.id}, func(c store.Checkpoint) error {
			re.read(u, j.state, c.State, scratch)
			re.mu.Lock()
			re.back(j.state)
			re.mu.Unlock()
			return nil
		})
		if err != nil {
			re.mu.Lock()
			re.err = err
			re.mu.Unlock()
		}
	case replayInput:
		in := &j.entry.Input
		in.Payload = b.payloads[j.from : j.from+len(in.Payload)]
		out, _ = re.s.step(j.state, &u.facts, re.down, in, j.entry.Now, out)
	}
	return out
}

// read reads a checkpoint into state, or into scratch when it is not to stay.
func (re *replayer) read(u *unit, state *engine.State, data []byte, scratch *engine.State) {
	into := state
	if into == nil {
		*scratch = engine.State{}
		into = scratch
	}
	was := u.facts
	if err := re.s.readCheckpoint(data, &u.facts, into); err != nil {
		u.facts, *into = was, engine.State{}
		re.mu.Lock()
		defer re.mu.Unlock()
		re.unread(u, err)
	}
	if state == nil {
		re.mu.Lock()
		defer re.mu.Unlock()
		re.away(u, into)
	}
}
