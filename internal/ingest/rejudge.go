package ingest

import (
	"context"
	"errors"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/rejudge"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

const (
	rejudgeTick  = 500 * time.Millisecond
	rejudgeSlice = 16 // devices in one commit
	// rejudgeAfter is how long after it was judged again a device is so once more at the
	// earliest: one may send backwards for good.
	rejudgeAfter = rimewatch.Minute
	// rejudgePause is how many times longer than the reading took nothing is read.
	rejudgePause = 3
)

// rejudging are the units with late readings. Of the writer goroutine.
type rejudging struct {
	fresh []*unit
	again []lateUnit // that were judged again less than rejudgeAfter ago
	done  map[*unit]rimewatch.Time
	ended []lateUnit // what done holds, the oldest first
}

type lateUnit struct {
	unit *unit
	at   rimewatch.Time
}

// look adds a unit whose state it was not seen stepping.
func (x *rejudging) look(u *unit, state *engine.State) {
	if state.Health.HasLate() && !u.Own.late {
		x.add(u)
	}
}

// add has a unit judged again.
func (x *rejudging) add(u *unit) {
	u.Own.late = true
	if at, ok := x.done[u]; ok {
		x.again = append(x.again, lateUnit{u, at + rejudgeAfter})
	} else {
		x.fresh = append(x.fresh, u)
	}
}

// take returns some units whose turn has come.
func (x *rejudging) take(now rimewatch.Time) (list []*unit) {
	for len(x.ended) > 0 && x.ended[0].at+rejudgeAfter <= now {
		if d := x.ended[0]; x.done[d.unit] == d.at {
			delete(x.done, d.unit)
		}
		x.ended = x.ended[1:]
	}
	for len(x.again) > 0 && x.again[0].at <= now && len(list) < rejudgeSlice {
		list = append(list, x.again[0].unit)
		x.again = x.again[1:]
	}
	n := min(len(x.fresh), rejudgeSlice-len(list))
	list = append(list, x.fresh[:n]...)
	if x.fresh = x.fresh[n:]; len(x.fresh) == 0 {
		x.fresh = nil
	}
	return list
}

// end notes that a unit has had its turn.
func (x *rejudging) end(u *unit, now rimewatch.Time) {
	u.Own.late = false
	x.done[u] = now
	x.ended = append(x.ended, lateUnit{u, now})
}

// rejudger is the goroutine that judges again what came late.
type rejudger struct{ s *Service }

func (s rejudger) run() {
	select {
	case <-s.s.known.loaded:
	case <-s.s.inbox.stopping:
		return
	}
	for range ticker.Every(s.s.inbox.stopping, rejudgeTick, nil) {
		for s.some() {
		}
	}
}

// rejudged is a unit that is judged again.
type rejudged struct {
	unit   *unit
	cfg    *engine.Config
	siteID int64
	device rejudge.Device
	found  *rejudge.Judgement
	err    error
}

// some judges some devices again, and reports whether there may be others.
func (s rejudger) some() (more bool) {
	var list []*rejudged
	if !s.s.inbox.call(func(w *writer) { list = w.beginRejudging() }) || len(list) == 0 {
		return false
	}
	began := time.Now()
	for _, x := range list {
		if x.found, x.err = rejudge.Read(context.Background(), s.s.store, &x.device, s.s.clock()); x.err != nil {
			s.s.troubled("judge late readings", x.err)
		}
	}
	select {
	case <-time.After(rejudgePause * time.Since(began)):
	case <-s.s.inbox.stopping:
		return false
	}
	return s.s.inbox.call(func(w *writer) { w.finishRejudging(list) })
}

// beginRejudging begins with the units whose turn has come.
func (w *writer) beginRejudging() (list []*rejudged) {
	for _, u := range w.eval.rejudging.take(w.clock()) {
		state, err := w.stateOf(u)
		switch {
		case u.Deleted:
			u.Own.late = false
		case err != nil || w.fleet.Current(u) == nil:
			w.eval.rejudging.end(u, w.clock())
			w.eval.rejudging.add(u)
		case !state.Health.HasLate():
			u.Own.late = false
		default:
			list = append(list, &rejudged{unit: u, cfg: u.Config, siteID: u.Own.siteID, device: lateDevice(u, state)})
		}
	}
	return list
}

// lateDevice is a unit as it is judged again.
func lateDevice(u *unit, state *engine.State) rejudge.Device {
	return rejudge.Device{
		ID: u.ID, WorkspaceID: u.WorkspaceID, Limits: u.Config.Health.Limits, Offsets: u.Config.Offsets,
		Late: state.Health.Late(), Since: state.Health.Since(), Excluded: excludedOf(u),
		Days: u.Config.Health.Days, Defrosts: state.Defrosts(u.Config),
	}
}

// excludedOf picks a unit's windows from those of its workspace.
func excludedOf(u *unit) func([]rimewatch.MaintenanceWindow) []health.Span {
	workspaceID, siteID, id := u.WorkspaceID, u.Own.siteID, u.ID
	return func(list []rimewatch.MaintenanceWindow) []health.Span {
		return fleet.Spans(maintenance{workspaceID: list}.of(workspaceID, siteID, id))
	}
}

// stateOf returns a unit's state, which comes into memory if it is not there.
func (w *writer) stateOf(u *unit) (*engine.State, error) {
	if w.fleet.State(u) == nil && !u.Deleted {
		if err := w.makeRoom(1); err != nil {
			return nil, err
		}
		if err := w.fleet.LoadOne(u); err != nil {
			w.troubled("read the states of devices", err)
			return nil, err
		}
		w.fleet.Lock()
		defer w.fleet.Unlock()
		w.eval.hear()
	}
	return w.fleet.State(u), nil
}

// finishRejudging commits what was found out about some units.
func (w *writer) finishRejudging(list []*rejudged) {
	r := &request{done: make(chan error, 1)}
	for _, one := range list {
		u := one.unit
		w.eval.rejudging.end(u, w.clock())
		if u.Deleted {
			continue
		}
		if one.err == nil {
			one.err = w.concludeRejudged(one, r)
		}
		if one.err != nil && !u.Own.late {
			w.eval.rejudging.add(u)
		}
	}
	if len(r.inputs) > 0 {
		w.inbox.waiting.Add(int64(r.weight()))
		w.commit(r, nil)
	}
}

var errChanged = errors.New("the device has changed meanwhile")

// concludeRejudged adds to a request what was found out about a unit. Everything that was
// committed is in its state and in the store, and nothing else happens now.
func (w *writer) concludeRejudged(one *rejudged, r *request) error {
	u := one.unit
	state, err := w.stateOf(u)
	if err != nil {
		return err
	}
	if w.fleet.Current(u) == nil || u.Config != one.cfg || u.Own.siteID != one.siteID {
		return errChanged
	}
	next, m, err := one.found.Finish(context.Background(), &state.Health, w.clock())
	if err != nil {
		return err
	}
	r.inputs = append(r.inputs, store.Input{Kind: store.InputRejudged, DeviceID: u.ID, Payload: next.AppendBinary(nil)})
	r.rejudged = append(r.rejudged, m)
	return nil
}

// mend adds to the group what its rejudged inputs mean for the record.
func (r *request) mend(g *group) {
	for i := range r.rejudged {
		if r.inputs[i].Outcome == store.Accepted {
			g.result.Excursions = append(g.result.Excursions, r.rejudged[i].Rows...)
			g.result.Unfounded = append(g.result.Unfounded, r.rejudged[i].Unfounded...)
		}
	}
}

// formerLimits notes what a unit was judged by until now, if it is judged by others.
func (g *group) formerLimits(st *staged, was *engine.Config, now rimewatch.Time) {
	if st.Device.Added || st.State.Health.Newest() == 0 || was.Health.Limits.Same(&st.Config.Health.Limits) {
		return
	}
	g.result.Former = append(g.result.Former, &rimewatch.FormerLimits{
		WorkspaceID: st.Device.WorkspaceID, DeviceID: st.Device.ID, Until: now, Limits: was.Health.Limits,
	})
}
