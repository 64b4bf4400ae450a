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
func (s *Service) write() {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		select {
		case r := <-s.queue:
			s.commit(r, nil)
		case <-tick.C:
			s.passTime()
		case <-s.stopping:
			s.drain()
			return
		}
	}
}

// drain commits what was queued before the stop.
func (s *Service) drain() {
	for {
		select {
		case r := <-s.queue:
			s.commit(r, nil)
		default:
			if err := s.store.MarkAlive(context.Background(), s.clock()); err != nil {
				s.log.Error("mark alive", "err", err)
			}
			return
		}
	}
}

// passTime commits the deadlines that have passed.
func (s *Service) passTime() {
	now := s.clock()
	defer s.refreshAll(now)
	s.recordDowntime(context.Background(), now)
	if len(s.orphans) > 0 {
		s.commit(nil, nil)
	}
	for {
		ticks := s.ticks[:0]
		for len(ticks) < tickSlice {
			u, ok := s.deadlines.Pop(now)
			if !ok {
				break
			}
			ticks = append(ticks, store.Input{Kind: store.InputTick, DeviceID: u.id})
		}
		s.ticks = ticks
		if len(ticks) == 0 {
			break
		}
		if !s.commit(nil, ticks) {
			// A full disk: the deadlines are tried again at the next tick.
			for i := range ticks {
				s.deadlines.Set(s.units[ticks[i].DeviceID], now+rimewatch.Second)
			}
			return
		}
	}
	s.passSites(now)
	if now-max(s.lastAlive, s.now) >= rimewatch.Time(s.cfg.AliveEvery.Milliseconds()) {
		if err := s.store.MarkAlive(context.Background(), now); err != nil {
			s.troubled("mark alive", err)
		}
		s.lastAlive = now
	}
}

// setDeadline sets when time alone next changes a unit: by its state, or by the
// end of an acknowledgement.
func (s *Service) setDeadline(u *unit, state *engine.State, cfg *engine.Config) {
	s.deadlines.Set(u, earliest(state.Deadline(cfg, s.downtimes), ackEnds(u.alerts)))
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
func (s *Service) commit(first *request, ticks []store.Input) bool {
	g := &s.group
	g.reset()
	n := 0
	if first != nil {
		n = s.take(first)
	}
	if len(ticks) > 0 {
		g.store.Parts = append(g.store.Parts, ticks)
	}
	for idle := 0; n < s.cfg.GroupInputs && idle < gatherYields; {
		select {
		case r := <-s.queue:
			n += s.take(r)
			idle = 0
		default:
			// Those who were answered a moment ago are about to send again: letting
			// them run first makes groups several times larger, for microseconds.
			idle++
			runtime.Gosched()
		}
	}
	g.store.Now = max(s.clock(), s.now)
	began := time.Now()
	err := s.settle()
	if took := time.Since(began).Nanoseconds(); took > s.worst.Load() {
		s.worst.Store(took)
	}
	if err == nil {
		s.orphans = nil
		s.cfg.Publisher.Publish(&g.events)
	} else {
		s.unstage()
		s.troubled("commit", err)
	}
	for _, r := range g.requests {
		r.done <- err
	}
	return err == nil
}

// settle takes the group through the store: staged, evaluated, committed.
func (s *Service) settle() error {
	g := &s.group
	staged, err := s.store.Stage(context.Background(), &g.store)
	if err != nil {
		return err
	}
	if s.evaluate() {
		err = staged.Commit(context.Background(), &g.result)
	} else {
		staged.Discard()
	}
	if err == nil {
		s.committed()
	}
	return err
}

// stagedKept bounds the staged units whose memory is kept for the next group.
const stagedKept = 4096

// gatherYields is how often the writer lets others run before it gives up
// waiting for one more request.
const gatherYields = 3

// take adds a request to the group and gives its weight.
func (s *Service) take(r *request) int {
	g := &s.group
	n := len(r.inputs) + 1
	s.waiting.Add(-int64(n))
	g.requests = append(g.requests, r)
	if r.device != nil {
		g.store.Devices = append(g.store.Devices, &r.device.DeviceOp)
	}
	if r.alert != nil {
		s.prepareAlertOp(r)
	}
	if r.settings != nil {
		r.inputs = s.takeSettings(r.settings)
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
func (s *Service) stage(u *unit) *staged {
	g := &s.group
	if u.slot == 0 {
		g.staged = append(g.staged, staged{unit: u, name: u.name, cfg: u.cfg, alerts: u.alerts, vitals: u.vitals, siteID: u.siteID, was: u.online, state: s.memory.take()})
		u.slot = int32(len(g.staged))
		st := &g.staged[u.slot-1]
		if state := u.read(st.state); state != st.state {
			*st.state = *state
		}
	}
	return &g.staged[u.slot-1]
}

func (s *Service) unstage() {
	for i := range s.group.staged {
		s.group.staged[i].unit.slot = 0
		s.group.staged[i].unit.pending = 0
		s.memory.giveBack(s.group.staged[i].state)
	}
}

// evaluate says what the staged group means. It reports whether there is
// anything to commit.
func (s *Service) evaluate() bool {
	g := &s.group
	g.seq = g.store.Seq
	now := g.store.Now
	accepted := s.countReadings()
	for _, r := range g.requests {
		if r.device != nil && r.device.Err == nil {
			accepted++
			s.applyDevice(r.device, now)
		}
	}
	for _, part := range g.store.Parts {
		for i := range part {
			in := &part[i]
			if in.Outcome != store.Accepted {
				continue
			}
			if u := s.units[in.DeviceID]; u != nil {
				s.happen(u, in, now)
			}
		}
	}
	for _, r := range g.requests {
		if r.alert != nil && r.alert.err == nil {
			accepted++
			s.finishAlertOp(r.alert, now)
		}
	}
	s.endAcks(now)
	for _, r := range g.requests {
		if r.siteGone != 0 {
			accepted++
			s.applySiteGone(r.siteGone, now)
		}
	}
	accepted += s.applySite(now)
	if accepted == 0 && len(s.orphans) == 0 {
		// Nothing is logged, and the next commit gets this number: a checkpoint that
		// bore it would hide that commit from a replay.
		g.seq = s.seq
		return false
	}
	s.endOrphans(now)
	s.conclude(now)
	return true
}

// countReadings counts, for every unit, the readings that were accepted, so
// that the step knows which is the unit's last.
func (s *Service) countReadings() (accepted int) {
	for _, part := range s.group.store.Parts {
		for i := range part {
			in := &part[i]
			if in.Outcome != store.Accepted {
				continue
			}
			accepted++
			if in.Kind != store.InputReading {
				continue
			}
			if u := s.units[in.DeviceID]; u != nil {
				u.pending++
			}
		}
	}
	return accepted
}

// happen lets one input of the group happen to a unit.
func (s *Service) happen(u *unit, in *store.Input, now rimewatch.Time) {
	g := &s.group
	st := s.stage(u)
	out, over := s.step(u, st.state, &st.cfg, &st.vitals, in, now, g.scratch[:0])
	switch in.Kind {
	case store.InputReading:
		g.readings++
		s.excursion(st, &over)
	case store.InputDevice:
		g.events.Devices = append(g.events.Devices, publish.Device{Kind: publish.DeviceUpdated, WorkspaceID: u.workspaceID, DeviceID: u.id, At: now})
	default: // its transitions say all
	}
	s.transitions(st, out, now)
}

func (s *Service) transitions(st *staged, out []alert.Transition, now rimewatch.Time) {
	for i := range out {
		s.transition(st, &out[i], now)
	}
	s.group.scratch = out[:0]
}

// conclude gathers what the group's units say to the outside.
func (s *Service) conclude(now rimewatch.Time) {
	g := &s.group
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
func (s *Service) committed() {
	g := &s.group
	s.mu.Lock()
	s.seq, s.now = g.seq, g.store.Now
	s.committedSites()
	s.inputs += int64(len(g.staged))
	s.memory.devices = len(s.units)
	for i, n := range g.verdicts {
		s.verdicts[i] += n
	}
	for i := range g.staged {
		st := &g.staged[i]
		u := st.unit
		u.slot, u.pending = 0, 0
		s.recount(u, st)
		s.sites.watch(u, st)
		u.cfg, u.alerts, u.vitals, u.name, u.online = st.cfg, st.alerts, st.vitals, st.name, st.state.Presence.Online
		_, u.outside = st.state.Health.Excursion()
		s.memory.put(u, st.state)
		if st.gone {
			delete(s.units, u.id)
			u.deleted = true
			continue
		}
		if u.added {
			s.units[u.id] = u
			s.ageing = append(s.ageing, u)
			u.added = false
		}
		if u.dirtySeq == 0 {
			u.dirtySeq = g.seq
			s.dirty = append(s.dirty, dirt{unit: u, seq: g.seq, since: g.store.Now, inputs: s.inputs})
		}
	}
	s.mu.Unlock()
	for i := range g.events.Alerts {
		a := g.events.Alerts[i].Alert
		u := s.units[a.DeviceID]
		if a.Type == rimewatch.DeviceOffline && u != nil {
			s.sites.touch(u.siteID)
		}
	}
	for i := range g.staged {
		st := &g.staged[i]
		if st.gone {
			s.deadlines.Remove(st.unit)
			continue
		}
		s.setDeadline(st.unit, st.state, st.cfg)
	}
}
