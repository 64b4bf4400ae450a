package ingest

import (
	"context"
	"runtime"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/store"
)

// writer is the state of the writer goroutine; only recovery touches it before that runs.
//
// Two groups may be under way: while one is written and synced by the committer,
// the next is gathered, staged and evaluated upon it. Groups are made durable,
// shown and answered in order.
type writer struct {
	*base
	inbox *inbox
	known *known
	fleet *fleet.Fleet[about]
	eval  *evaluator

	underway *group   // with the committer, nil = none
	spare    []*group // to be used again
	handOver chan *group
	ended    chan *group
	ticks    []store.Input // of passTime, kept for the next slice

	pending   pendingReplay
	away      bool // the store did not take a group, and nothing was written since
	steps     clockSteps
	watched   rimewatch.Time // up to when devices could be heard, but for the downtimes
	lastAlive rimewatch.Time // when that was recorded last
}

func newWriter(b *base, in *inbox, k *known, f *fleet.Fleet[about]) *writer {
	w := &writer{base: b, inbox: in, known: k, fleet: f, eval: newEvaluator(b, k, f), handOver: make(chan *group), ended: make(chan *group, 1)}
	w.steps.w, w.pending.w = w, w
	return w
}

const (
	// gatherYields is how often the writer lets others run before it gives up
	// waiting for one more request.
	gatherYields = 3
	// eagerInputs is what makes a group worth evaluating while another is synced.
	// Smaller ones wait for it and grow: a sync costs more than they do.
	eagerInputs = 1000
)

// write is the writer goroutine: it alone evaluates groups and changes units, with the
// steppers' help; the committer that it starts makes groups durable.
func (w *writer) write() {
	committer := make(chan struct{})
	w.eval.steppers.start(w.cfg.Steppers)
	go func() {
		defer close(committer)
		for g := range w.handOver {
			w.commitGroup(g)
			w.ended <- g
		}
	}()
	defer func() {
		w.drain()
		close(w.handOver)
		<-committer
		w.eval.steppers.stop()
	}()
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		select {
		case r := <-w.inbox.queue:
			w.commit(r, nil)
		case g := <-w.ended:
			w.end(g)
		case f := <-w.inbox.calls:
			w.drain()
			f(w)
		case <-tick.C:
			w.drain()
			w.passTime()
		case <-w.inbox.stopping:
			w.finish()
			return
		}
	}
}

// finish commits the requests that were queued before the stop.
func (w *writer) finish() {
	for {
		select {
		case r := <-w.inbox.queue:
			w.commit(r, nil)
		case f := <-w.inbox.calls:
			w.drain()
			f(w)
		default:
			w.drain()
			now := w.clock()
			err := w.watch(now)
			if err == nil {
				err = w.markAlive(now)
			}
			if err != nil {
				w.log.Error("mark alive", "err", err)
			}
			return
		}
	}
}

// drain waits for the group under way.
func (w *writer) drain() {
	if w.underway != nil {
		w.end(<-w.ended)
	}
}

// end takes the outcome of the group under way.
func (w *writer) end(g *group) {
	w.underway = nil
	if g.err != nil {
		w.rollBack(g.err, g)
		return
	}
	recycle(&w.spare, g)
}

// recycle keeps a group that has ended for another one.
func recycle(spare *[]*group, g *group) {
	g.reset()
	*spare = append(*spare, g)
}

// commit takes first (or ticks) and whatever else waits, up to a group. It
// reports whether a group that is alone was committed; others are still under way.
func (w *writer) commit(first *request, ticks []store.Input) bool {
	g := newGroupOr(&w.spare)
	w.eval.group = g
	n := 0
	if first != nil {
		n = w.take(first)
	}
	if len(ticks) > 0 {
		g.store.Parts = append(g.store.Parts, ticks)
	}
	if first == nil || len(w.eval.orphanedAlerts) > 0 { // time, a site or an orphaned alert
		w.drain()
		g.alone = true
	}
	if !first.solitary() {
		w.gather(n)
	}
	return w.process(g)
}

func newGroupOr(spare *[]*group) *group {
	if n := len(*spare); n > 0 {
		g := (*spare)[n-1]
		*spare = (*spare)[:n-1]
		return g
	}
	return newGroup()
}

// gather takes what waits beside the first n inputs.
func (w *writer) gather(n int) {
	for idle := 0; n < w.cfg.GroupInputs && idle < gatherYields; {
		select {
		case r := <-w.inbox.queue:
			n += w.take(r)
			idle = 0
			continue
		default:
		}
		if w.underway != nil && n < eagerInputs {
			select {
			case r := <-w.inbox.queue:
				n += w.take(r)
			case g := <-w.ended:
				w.end(g)
			}
			idle = 0
			continue
		}
		// Those who were answered a moment ago are about to send again: letting
		// them run first makes groups several times larger, for microseconds.
		idle++
		runtime.Gosched()
	}
}

// take adds a request to the group and returns its weight.
func (w *writer) take(r *request) int {
	g := w.eval.group
	n := r.weight()
	w.inbox.waiting.Add(-int64(n))
	g.requests = append(g.requests, r)
	if len(r.devices) > 0 || r.alert != nil || r.settings != nil || r.clock != nil || r.siteGone != 0 {
		w.drain() // the request depends on the effects of earlier groups
		g.alone = true
	}
	for _, op := range r.devices {
		g.store.Devices = append(g.store.Devices, &op.DeviceOp)
	}
	if r.alert != nil {
		w.eval.prepareAlertOp(r)
	}
	if r.settings != nil {
		r.inputs = w.eval.takeSettings(r.settings)
	}
	if len(r.inputs) > 0 {
		g.store.Parts = append(g.store.Parts, r.inputs)
	}
	if len(r.beats) > 0 {
		g.store.Parts = append(g.store.Parts, r.beats)
	}
	return n
}

// process stages and evaluates a group, and hands it to the committer; one that
// is alone it commits by itself.
func (w *writer) process(g *group) bool {
	g.began = time.Now()
	g.store.Now = max(w.clock(), w.eval.evaluated.Now)
	if len(g.requests) > 0 && g.requests[0].setsBack() {
		g.store.Now, g.store.Back = g.store.Now+g.requests[0].clock.by, true
	}
	for _, r := range g.requests { // by the settings in force once all of them have been taken
		for _, op := range r.devices {
			op.encode(w.eval)
		}
	}
	err := w.watch(w.clock())
	if err == nil {
		g.commit, err = w.store.Stage(context.Background(), &g.store)
	}
	if err != nil {
		w.drain()
		w.refuse(g, err)
		return false
	}
	meaning := false
	if err = w.fetch(g); err == nil {
		meaning = w.eval.evaluate(g)
		g.keepAnswers()
	}
	lost := g.err
	// Groups end in the order in which they were staged.
	if before := w.underway; before != nil {
		<-w.ended
		w.underway = nil
		if before.err != nil {
			g.commit.Discard()
			w.rollBack(before.err, g, before)
			return false
		}
		recycle(&w.spare, before)
	}
	switch {
	case err != nil:
		g.commit.Discard()
		w.refuse(g, err)
	case lost != nil:
		g.commit.Discard()
		w.rollBack(lost, g)
		return false
	case !meaning:
		g.commit.Discard()
		g.answer(nil)
		recycle(&w.spare, g)
	case g.alone:
		if w.commitGroup(g); g.err != nil {
			w.rollBack(g.err, g)
			return false
		}
		w.eval.orphanedAlerts = nil
		recycle(&w.spare, g)
	default:
		w.underway = g
		w.handOver <- g
	}
	return err == nil
}

// refuse ends a group of which nothing was evaluated.
func (w *writer) refuse(g *group, err error) {
	w.away = true
	w.troubled("commit", err)
	g.answer(err)
	recycle(&w.spare, g)
}

// commitGroup makes a group durable, publishes it and answers its callers. The
// committer calls it, and the writer for a group that is alone.
func (w *writer) commitGroup(g *group) {
	g.err = g.commit.Commit(context.Background(), &g.result)
	if took := time.Since(g.began).Nanoseconds(); took > w.known.worst.Load() {
		w.known.worst.Store(took)
	}
	if g.err != nil {
		return
	}
	w.fleet.Lock()
	w.known.durable = fleet.Position{Seq: g.store.Seq, Now: g.store.Now}
	for _, c := range g.counts {
		w.known.total(c.unit.WorkspaceID).replace(c.unit, c.tally, c.unit.Own.share)
	}
	for i, n := range g.verdicts {
		w.known.verdicts[i] += n
	}
	if g.alone {
		w.eval.committedAlone(g)
		if g.store.Back {
			w.steps.committed(g)
		}
		w.eval.markSites(g)
	}
	w.fleet.Unlock()
	w.cfg.Publisher.Publish(&g.events)
	g.answer(nil)
}

// passTime commits the deadlines that have passed.
func (w *writer) passTime() {
	w.steps.pass()
	now := w.clock()
	if w.fleet.Behind() == 0 {
		defer w.eval.refreshShares(now)
	}
	if err := w.watch(now); err != nil {
		w.troubled("write to the store", err)
		return
	}
	if len(w.eval.orphanedAlerts) > 0 {
		w.commit(nil, nil)
	}
	for {
		ticks := w.ticks[:0]
		for len(ticks) < tickSlice {
			u, ok := w.eval.deadlines.Pop(now)
			if !ok {
				break
			}
			if due := w.eval.due(u); due > now {
				w.eval.deadlines.Set(u, due)
				continue
			}
			ticks = append(ticks, store.Input{Kind: store.InputTick, DeviceID: u.ID})
		}
		w.ticks = ticks
		if len(ticks) == 0 {
			break
		}
		if !w.commit(nil, ticks) {
			// A full disk: the deadlines are tried again at the next tick.
			for i := range ticks {
				w.eval.deadlines.Set(w.fleet.Get(ticks[i].DeviceID), now+rimewatch.Second)
			}
			return
		}
	}
	if w.fleet.Behind() == 0 {
		w.passSites(now)
	}
	if now-max(w.lastAlive, w.eval.evaluated.Now) >= rimewatch.Time(w.cfg.AliveEvery.Milliseconds()) {
		if err := w.markAlive(now); err != nil {
			w.troubled("mark alive", err)
		}
	}
}
