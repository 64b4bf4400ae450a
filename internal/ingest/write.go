package ingest

import (
	"context"
	"runtime"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
)

// write is the writer goroutine: it alone steps and replaces units.
func (w *writer) write() {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		select {
		case r := <-w.queue:
			w.commit(r, nil)
		case <-tick.C:
			w.passTime()
		case <-w.stopping:
			w.drain()
			return
		}
	}
}

// drain commits what was queued before the stop.
func (w *writer) drain() {
	for {
		select {
		case r := <-w.queue:
			w.commit(r, nil)
		default:
			if err := w.store.MarkAlive(context.Background(), w.clock()); err != nil {
				w.log.Error("mark alive", "err", err)
			}
			return
		}
	}
}

// passTime commits the deadlines that have passed.
func (w *writer) passTime() {
	w.steps.pass()
	now := w.clock()
	defer w.refreshAll(now)
	w.recordDowntime(context.Background(), now)
	if len(w.orphans) > 0 {
		w.commit(nil, nil)
	}
	for {
		ticks := w.ticks[:0]
		for len(ticks) < tickSlice {
			u, ok := w.deadlines.Pop(now)
			if !ok {
				break
			}
			ticks = append(ticks, store.Input{Kind: store.InputTick, DeviceID: u.id})
		}
		w.ticks = ticks
		if len(ticks) == 0 {
			break
		}
		if !w.commit(nil, ticks) {
			// A full disk: the deadlines are tried again at the next tick.
			for i := range ticks {
				w.deadlines.Set(w.units[ticks[i].DeviceID], now+rimewatch.Second)
			}
			return
		}
	}
	w.passSites(now)
	if now-max(w.lastAlive, w.now) >= rimewatch.Time(w.cfg.AliveEvery.Milliseconds()) {
		if err := w.store.MarkAlive(context.Background(), now); err != nil {
			w.troubled("mark alive", err)
		}
		w.lastAlive = now
	}
}

// setDeadline sets when time alone next changes a unit: by its state, or by the
// end of an acknowledgement.
func (w *writer) setDeadline(u *unit, state *engine.State, cfg *engine.Config) {
	w.deadlines.Set(u, earliest(state.Deadline(cfg, w.downtimes), ackEnds(u.alerts)))
}

// earliest returns the earlier of two moments, of which 0 is none.
func earliest(a, b rimewatch.Time) rimewatch.Time {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// group is one commit in the making. Its slices are kept for the next one.
type group struct {
	store    store.Group
	requests []*request
	staged   []staged
	sites    []stagedSite
	events   publish.Commit
	scratch  []alert.Transition
	result   store.Effects
	readings int
	verdicts [len(rimewatch.Verdicts)]int // more, or fewer, by the group
	seq      store.Seq
}

func (g *group) init() {
	g.store.Parts = make([][]store.Input, 0, 256)
}

func (g *group) reset() {
	clear(g.requests)
	clear(g.staged)
	g.requests, g.staged = g.requests[:0], g.staged[:0]
	if cap(g.staged) > stagedKept {
		g.staged = nil
	}
	clear(g.sites)
	g.sites = g.sites[:0]
	clear(g.store.Parts)
	clear(g.store.Devices)
	g.store.Parts, g.store.Devices = g.store.Parts[:0], g.store.Devices[:0]
	g.events.Reset()
	g.verdicts = [len(rimewatch.Verdicts)]int{}
	clear(g.result.Alerts)
	clear(g.result.Transitions)
	clear(g.result.Audit)
	clear(g.result.Excursions)
	g.result = store.Effects{
		Alerts: g.result.Alerts[:0], Touched: g.result.Touched[:0], Live: g.result.Live[:0],
		Transitions: g.result.Transitions[:0], Audit: g.result.Audit[:0], Excursions: g.result.Excursions[:0],
	}
}

// commit takes first (or ticks) and whatever else waits, up to a group.
func (w *writer) commit(first *request, ticks []store.Input) bool {
	g := &w.group
	g.reset()
	n := 0
	if first != nil {
		n = w.take(first)
	}
	if len(ticks) > 0 {
		g.store.Parts = append(g.store.Parts, ticks)
	}
	back := first.setsBack()
	for idle := 0; n < w.cfg.GroupInputs && idle < gatherYields && !back; {
		select {
		case r := <-w.queue:
			n += w.take(r)
			idle = 0
		default:
			// Those who were answered a moment ago are about to send again: letting
			// them run first makes groups several times larger, for microseconds.
			idle++
			runtime.Gosched()
		}
	}
	g.store.Now, g.store.Back = max(w.clock(), w.now), back
	if back {
		g.store.Now += first.clock.by
	}
	began := time.Now()
	err := w.settle()
	if took := time.Since(began).Nanoseconds(); took > w.worst.Load() {
		w.worst.Store(took)
	}
	if err == nil {
		w.orphans = nil
		w.cfg.Publisher.Publish(&g.events)
	} else {
		w.unstage()
		w.troubled("commit", err)
	}
	for _, r := range g.requests {
		r.done <- err
	}
	return err == nil
}

// settle takes the group through the store: staged, evaluated, committed.
func (w *writer) settle() error {
	g := &w.group
	staged, err := w.store.Stage(context.Background(), &g.store)
	if err != nil {
		return err
	}
	if w.evaluate() {
		err = staged.Commit(context.Background(), &g.result)
	} else {
		staged.Discard()
	}
	if err == nil {
		w.committed()
	}
	return err
}

// stagedKept bounds the staged units whose memory is kept for the next group.
const stagedKept = 4096

// gatherYields is how often the writer lets others run before it gives up
// waiting for one more request.
const gatherYields = 3

// take adds a request to the group and gives its weight.
func (w *writer) take(r *request) int {
	g := &w.group
	n := len(r.inputs) + 1
	w.waiting.Add(-int64(n))
	g.requests = append(g.requests, r)
	if r.device != nil {
		g.store.Devices = append(g.store.Devices, &r.device.DeviceOp)
	}
	if r.alert != nil {
		w.prepareAlertOp(r)
	}
	if r.settings != nil {
		r.inputs = w.takeSettings(r.settings)
	}
	if len(r.inputs) > 0 {
		g.store.Parts = append(g.store.Parts, r.inputs)
	}
	return n
}

// staged is a unit's next state on its way through a commit.
type staged struct {
	unit   *unit
	name   string
	state  *engine.State
	cfg    *engine.Config
	alerts []*rimewatch.Alert // active ones; the unit's own slice while unchanged
	vitals vitals
	siteID int64
	was    bool // online before
	gone   bool // deleted
}

// stage gives the unit's place in the group, making one at its first touch.
func (w *writer) stage(u *unit) *staged {
	g := &w.group
	if u.slot == 0 {
		g.staged = append(g.staged, staged{unit: u, name: u.name, cfg: u.cfg, alerts: u.alerts, vitals: u.vitals, siteID: u.siteID, was: u.online, state: w.memory.take()})
		u.slot = int32(len(g.staged))
		st := &g.staged[u.slot-1]
		if state := u.read(st.state); state != st.state {
			*st.state = *state
		}
	}
	return &g.staged[u.slot-1]
}

func (w *writer) unstage() {
	for i := range w.group.staged {
		w.group.staged[i].unit.slot = 0
		w.group.staged[i].unit.pending = 0
		w.memory.giveBack(w.group.staged[i].state)
	}
}

// evaluate says what the staged group means. It reports whether there is
// anything to commit.
func (w *writer) evaluate() bool {
	g := &w.group
	g.seq = g.store.Seq
	now := g.store.Now
	accepted := w.countReadings()
	for _, r := range g.requests {
		if r.device != nil && r.device.Err == nil {
			accepted++
			w.applyDevice(r.device, now)
		}
	}
	for _, part := range g.store.Parts {
		for i := range part {
			in := &part[i]
			if in.Outcome != store.Accepted {
				continue
			}
			if u := w.units[in.DeviceID]; u != nil {
				w.happen(u, in, now)
			}
		}
	}
	for _, r := range g.requests {
		if r.alert != nil && r.alert.err == nil {
			accepted++
			w.finishAlertOp(r.alert, now)
		}
	}
	for _, r := range g.requests {
		if r.clock != nil {
			accepted++
			w.steps.apply(r.clock, now)
		}
	}
	w.endAcks(now)
	for _, r := range g.requests {
		if r.siteGone != 0 {
			accepted++
			w.applySiteGone(r.siteGone, now)
		}
	}
	accepted += w.applySite(now)
	if accepted == 0 && len(w.orphans) == 0 {
		// Nothing is logged, and the next commit gets this number: a checkpoint that
		// bore it would hide that commit from a replay.
		g.seq = w.seq
		return false
	}
	w.endOrphans(now)
	w.conclude(now)
	return true
}

// countReadings counts, for every unit, the readings that were accepted, so
// that the step knows which is the unit's last.
func (w *writer) countReadings() (accepted int) {
	for _, part := range w.group.store.Parts {
		for i := range part {
			in := &part[i]
			if in.Outcome != store.Accepted {
				continue
			}
			accepted++
			if in.Kind != store.InputReading {
				continue
			}
			if u := w.units[in.DeviceID]; u != nil {
				u.pending++
			}
		}
	}
	return accepted
}

// happen lets one input of the group happen to a unit.
func (w *writer) happen(u *unit, in *store.Input, now rimewatch.Time) {
	g := &w.group
	st := w.stage(u)
	out, over := w.step(u, st.state, &st.cfg, &st.vitals, in, now, g.scratch[:0])
	switch in.Kind {
	case store.InputReading:
		g.readings++
		w.group.excursion(st, &over)
	case store.InputDevice:
		g.events.Devices = append(g.events.Devices, publish.Device{Kind: publish.DeviceUpdated, WorkspaceID: u.workspaceID, DeviceID: u.id, At: now})
	default: // its transitions say all
	}
	w.transitions(st, out, now)
}

func (w *writer) transitions(st *staged, out []alert.Transition, now rimewatch.Time) {
	for i := range out {
		w.transition(st, &out[i], now)
	}
	w.group.scratch = out[:0]
}

// conclude gathers what the group's units say to the outside.
func (w *writer) conclude(now rimewatch.Time) {
	g := &w.group
	for i := range g.staged {
		st := &g.staged[i]
		if st.gone {
			continue
		}
		p := &st.state.Presence
		g.result.Live = append(g.result.Live, store.LiveWrite{DeviceID: st.unit.id, Presence: st.presence()})
		if p.Online != st.was {
			g.events.Devices = append(g.events.Devices, presenceEvent(st.unit, p.Online, now))
		}
		g.result.Touched = appendTouched(g.result.Touched, st.state, st.alerts)
	}
	g.events.Seq, g.events.Now, g.events.Parts = g.seq, now, g.store.Parts
}

// appendTouched appends what the rules know of stored alerts since their rows
// were written.
func appendTouched(touched []store.AlertTouch, state *engine.State, rows []*rimewatch.Alert) []store.AlertTouch {
	if len(rows) == 0 {
		return touched
	}
	note := func(kind rimewatch.AlertType, t store.AlertTouch) {
		for _, row := range rows {
			if row.Type == kind {
				t.AlertID = row.ID
				touched = append(touched, t)
			}
		}
	}
	for a := range state.Alert.Active(&state.Unit) {
		note(a.Type, store.AlertTouch{Value: a.Value, Peak: a.Peak, HasValue: a.HasValue, Evaluated: a.EvaluatedAt})
	}
	if p, ok := state.Predict.Standing(&state.Unit); ok {
		note(p.Type, store.AlertTouch{Evaluated: p.EvaluatedAt})
	}
	return touched
}

// committed makes the group's states the units'. It runs once the commit is
// durable, before the next is staged.
func (w *writer) committed() {
	g := &w.group
	w.mu.Lock()
	w.seq, w.now = g.seq, g.store.Now
	w.committedSites()
	w.inputs += int64(len(g.staged))
	w.memory.devices = len(w.units)
	for i, n := range g.verdicts {
		w.verdicts[i] += n
	}
	for i := range g.staged {
		st := &g.staged[i]
		u := st.unit
		u.slot, u.pending = 0, 0
		w.recount(u, st)
		w.sites.watch(u, st)
		u.cfg, u.alerts, u.vitals, u.name, u.online = st.cfg, st.alerts, st.vitals, st.name, st.state.Presence.Online
		_, u.outside = st.state.Health.Excursion()
		w.memory.put(u, st.state)
		if st.gone {
			delete(w.units, u.id)
			u.deleted = true
			continue
		}
		if u.added {
			w.units[u.id] = u
			w.ageing = append(w.ageing, u)
			u.added = false
		}
		if u.dirtySeq == 0 {
			u.dirtySeq = g.seq
			w.dirty = append(w.dirty, dirtyUnit{unit: u, seq: g.seq, since: g.store.Now, inputs: w.inputs})
		}
	}
	w.mu.Unlock()
	for i := range g.events.Alerts {
		a := g.events.Alerts[i].Alert
		u := w.units[a.DeviceID]
		if a.Type == rimewatch.DeviceOffline && u != nil {
			w.sites.touch(u.siteID)
		}
	}
	for i := range g.staged {
		st := &g.staged[i]
		if st.gone {
			w.deadlines.Remove(st.unit)
			continue
		}
		w.setDeadline(st.unit, st.state, st.cfg)
	}
	if g.store.Back {
		w.steps.committed(g.requests[0].clock.by)
	}
}
