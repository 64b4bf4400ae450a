package ingest

import (
	"reflect"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/outage"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
)

// evaluate works out the effects of the staged group, upon all groups before it. It reports whether
// there is anything to commit. Readers see values that follow from a device's state (health,
// compliance, its zone, predictions) as evaluated, a moment before they are durable; they see
// alerts, presence and counts when these are durable.
func (e *evaluator) evaluate(g *group) bool {
	e.fleet.Lock()
	defer e.fleet.Unlock()
	now := g.store.Now
	accepted := 0
	for _, r := range g.requests {
		for _, op := range r.devices {
			if op.Err == nil {
				accepted++
				e.applyDevice(op, now)
			}
		}
	}
	for i, held := 0, 0; i < len(g.store.Parts); i++ {
		if i == held {
			if i > 0 {
				e.fleet.Unlock()
				e.fleet.Lock()
			}
			held += store.Together(g.store.Parts[i:])
		}
		e.fleet.AskParts(g.store.Parts, i)
		accepted += e.evaluatePart(g.store.Parts[i], now)
	}
	for _, r := range g.requests {
		r.addRejudged(g)
		if r.alert != nil && r.alert.err == nil {
			accepted++
			e.finishAlertOp(r.alert, now)
		}
	}
	for _, r := range g.requests {
		if r.clock != nil {
			accepted++
			e.applyClock(r.clock, now)
		}
	}
	e.endAcks(now)
	for _, r := range g.requests {
		if r.siteGone != 0 {
			accepted++
			e.applySiteGone(r.siteGone, now)
		}
	}
	accepted += e.applySite(now)
	if accepted == 0 && len(e.orphanedAlerts) == 0 {
		// Nothing is logged, and the next commit gets this number: a checkpoint that
		// bore it would hide that commit from a replay.
		for i := range g.staged {
			g.staged[i].Device.Own.stagedAt = 0
		}
		return false
	}
	e.endOrphanedAlerts(now)
	e.evaluated = fleet.Position{Seq: g.store.Seq, Now: now}
	for i := range g.staged {
		if i+fleet.Ahead < len(g.staged) {
			g.staged[i+fleet.Ahead].AskDevice()
		}
		e.finishUnit(&g.staged[i], now)
	}
	e.noteEvents(now)
	g.events.Seq, g.events.Now, g.events.Parts = g.store.Seq, now, g.store.Parts
	e.fleet.Took(len(g.staged))
	return true
}

// evaluatePart evaluates the inputs of one caller and returns how many were accepted.
func (e *evaluator) evaluatePart(part []store.Input, now rimewatch.Time) (accepted int) {
	e.steppers.stepAhead(e, part, now)
	for i := range part {
		in := &part[i]
		if in.Outcome != store.Accepted {
			continue
		}
		accepted++
		if u := e.fleet.Get(in.DeviceID); u != nil {
			e.apply(u, in, now)
		}
	}
	return accepted
}

// apply lets one input of the group apply to a unit.
func (e *evaluator) apply(u *unit, in *store.Input, now rimewatch.Time) {
	g := e.group
	st := e.stage(u)
	var out []alert.Transition
	var over []health.Excursion
	was := st.Config
	switch {
	case st.quiet > 0: // it was stepped ahead
		st.quiet--
	case st.outcome != nil:
		out, over, st.outcome = st.outcome.transitions, st.outcome.over, nil
	default:
		st.summarized = false
		out, over = e.fleet.Step(&st.Staged, in, now, g.scratch[:0])
		g.scratch = out[:0]
		if st.Config != was {
			g.formerLimits(st, was, now)
		}
	}
	switch in.Kind {
	case store.InputReading:
		g.readings++
		g.excursions(st, over)
	case store.InputDevice:
		if sameButDays(was, st.Config) {
			break // the days by which it is counted are not shown
		}
		g.events.Devices = append(g.events.Devices, publish.Device{Kind: publish.DeviceUpdated, WorkspaceID: u.WorkspaceID, DeviceID: u.ID, At: now})
	case store.InputRejudged:
		e.known.refresh(u, st.State, st.Config, now)
	default: // its transitions say all
	}
	e.transitions(st, out, now)
	if in.Last {
		e.updateTotals(st, now)
	}
}

// sameButDays reports whether two configurations differ at most in the days that short times
// out of range add up by.
func sameButDays(a, b *engine.Config) bool {
	x, y := *a, *b
	x.Health.Days, y.Health.Days = health.Days{}, health.Days{}
	return a != b && reflect.DeepEqual(x, y)
}

// updateTotals has the unit and its fleet updateTotals the state.
func (e *evaluator) updateTotals(st *staged, now rimewatch.Time) {
	if !st.summarized {
		st.summarize(e.fleet.Downtimes(), now)
	}
	if st.shared {
		e.known.replace(st.Device, st.share, now)
	} else {
		e.contributions.changed(st.Device)
	}
}

// finishUnit gathers the effects and events of one of the group's units, and makes the group's
// changes of it the unit's own.
func (e *evaluator) finishUnit(st *staged, now rimewatch.Time) {
	g, u := e.group, st.Device
	if !st.summarized {
		e.updateTotals(st, now)
	}
	u.Own.stagedAt = 0
	g.count(st)
	predictions := outage.Sum(u.Alerts) != outage.Sum(st.Alerts)
	e.fleet.Commit(&st.Staged, g.store.Seq, now)
	if st.gone {
		return
	}
	if st.after.late && !u.Own.late {
		e.rejudging.add(u)
	}
	if u.Online != st.before.online || st.before.frozen != st.after.frozen || !slices.Equal(u.Alerts, st.Alerts) {
		e.known.refresh(u, st.State, u.Config, now) // its score, and whether it is judged, do not wait for their turn
	}
	if st.before != st.after.shown || u.Vitals != st.Vitals || u.Added {
		g.result.Live = append(g.result.Live, store.LiveWrite{DeviceID: u.ID, Presence: presenceOf(st.State, u.Config, &u.Vitals)})
	}
	if u.Outside && !st.outside {
		g.opened = append(g.opened, st)
	}
	if u.Online != st.before.online {
		g.events.Devices = append(g.events.Devices, presenceEvent(u, u.Online, now))
	}
	if u.Online != st.before.online || u.ChangedAt != st.before.changedAt || u.Announced != st.before.announced || predictions {
		e.sites.markDirty(u.Own.siteID)
	}
	if len(u.Alerts) > 0 {
		g.result.Touched = appendTouched(g.result.Touched, st.State, u.Alerts)
	}
	if !u.Added {
		e.deadlines.Set(u, earliest(st.after.deadline, ackEnds(u.Alerts)))
	}
}

// committedAlone makes the group's devices and sites known, now that it is
// durable. Under the lock.
func (e *evaluator) committedAlone(g *group) {
	e.committedSites(g)
	for i := range g.staged {
		st := &g.staged[i]
		u := st.Device
		if st.gone {
			e.sites.assign(u, 0)
			e.deadlines.Remove(u)
			e.known.total(u.WorkspaceID).replace(u, tally{}, health.Share{})
			e.fleet.Remove(u)
			continue
		}
		if u.Added {
			e.fleet.Put(u)
			e.contributions.all = append(e.contributions.all, u)
			e.deadlines.Set(u, earliest(st.after.deadline, ackEnds(u.Alerts)))
		}
		if st.siteID != u.Own.siteID {
			e.sites.assign(u, st.siteID)
		}
	}
}

// markSites has the sites judged again whose devices' silence the group changed.
func (e *evaluator) markSites(g *group) {
	for i := range g.events.Alerts {
		a := g.events.Alerts[i].Alert
		if u := e.fleet.Get(a.DeviceID); a.Type == rimewatch.DeviceOffline && u != nil {
			e.sites.markDirty(u.Own.siteID)
		}
	}
}
