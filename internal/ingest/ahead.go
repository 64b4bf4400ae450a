package ingest

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/store"
)

// aheadSlice is how many units a stepper takes at a time.
const aheadSlice = 32

// ahead steps the units of a part side by side, each through its own inputs in
// their order, before the writer applies the part. Most inputs have no outcome for the
// outside; at the first of a unit that has one, its stepping stops, and the writer goes on
// with it when the turn of that input comes. So the reports and their order are the same as
// if one goroutine did it all.
type ahead struct {
	e      *evaluator
	part   []store.Input
	now    rimewatch.Time
	chains []chained
	next   []int32 // by input: the unit's next one, -1 = none

	cursor atomic.Int32 // chains that were taken
	left   atomic.Int32 // chains that are not done
	done   chan struct{}
}

// chained are the inputs of a part that are one unit's.
type chained struct {
	st          *staged
	stagedAt    int32
	first, last int32
}

// outcome are the transitions and excursions of the first input of a unit that had any.
type outcome struct {
	transitions []alert.Transition
	over        []health.Excursion
}

// steppers are the goroutines that help the writer to step.
type steppers struct {
	work chan *ahead
	all  sync.WaitGroup
}

func (s *steppers) start(n int) {
	s.work = make(chan *ahead, n)
	for range n {
		s.all.Go(func() {
			for a := range s.work {
				a.step()
			}
		})
	}
}

func (s *steppers) stop() {
	close(s.work)
	s.all.Wait()
}

// stepAhead has them step the part that the writer is about to evaluate. Under the lock.
func (s *steppers) stepAhead(e *evaluator, part []store.Input, now rimewatch.Time) {
	if len(part) < e.cfg.SharedInputs || cap(s.work) == 0 || !unitsOnly(part) {
		return
	}
	a := &ahead{e: e, part: part, now: now, chains: e.chains[:0], next: slices.Grow(e.next[:0], len(part))[:len(part)], done: make(chan struct{})}
	for i := range part {
		if i+fleet.Ahead < len(part) {
			e.fleet.Ask(part[i+fleet.Ahead].DeviceID)
		}
		in := &part[i]
		u := e.fleet.Get(in.DeviceID)
		if in.Outcome != store.Accepted || u == nil {
			continue
		}
		a.add(e.stagedOf(u), int32(i))
	}
	e.chains, e.next = a.chains, a.next
	if len(a.chains) == 0 {
		return
	}
	for i := range a.chains {
		c := &a.chains[i]
		c.st = &e.group.staged[c.stagedAt-1]
		c.st.chain = 0
	}
	a.left.Store(int32(len(a.chains)))
	for range cap(s.work) {
		select {
		case s.work <- a:
		default: // they have enough to do
		}
	}
	a.step()
	<-a.done
}

// unitsOnly reports whether nothing in a part changes more than its unit.
func unitsOnly(part []store.Input) bool {
	for i := range part {
		switch part[i].Kind {
		case store.InputReading, store.InputHeartbeat, store.InputTick:
		default:
			return false
		}
	}
	return true
}

// add appends an input to the chain of its unit.
func (a *ahead) add(st *staged, i int32) {
	a.next[i] = -1
	if k := st.chain; k > 0 {
		c := &a.chains[k-1]
		a.next[c.last], c.last = i, i
		return
	}
	a.chains = append(a.chains, chained{stagedAt: st.Device.Own.stagedAt, first: i, last: i})
	st.chain = int32(len(a.chains))
}

// step steps the chains that no other stepper has taken.
func (a *ahead) step() {
	var scratch []alert.Transition
	for {
		to := int(a.cursor.Add(aheadSlice))
		from := to - aheadSlice
		if from >= len(a.chains) {
			return
		}
		mine := a.chains[from:min(to, len(a.chains))]
		mine[0].st.AskState()
		for i := range mine {
			if i+1 < len(mine) {
				mine[i+1].st.AskState()
			}
			scratch = a.stepUnit(&mine[i], scratch)
		}
		if a.left.Add(-int32(len(mine))) == 0 {
			close(a.done)
		}
	}
}

// stepUnit steps a unit to the first of its inputs with an outcome.
func (a *ahead) stepUnit(c *chained, scratch []alert.Transition) []alert.Transition {
	st := c.st
	st.begin()
	for i := c.first; i >= 0; i = a.next[i] {
		in := &a.part[i]
		st.summarized = false
		out, over := a.e.fleet.Step(&st.Staged, in, a.now, scratch[:0])
		scratch = out[:0]
		if len(out) > 0 || len(over) > 0 {
			st.outcome = &outcome{slices.Clone(out), over}
			return scratch
		}
		st.quiet++
		if in.Last {
			st.summarize(a.e.fleet.Downtimes(), a.now)
		}
	}
	return scratch
}
