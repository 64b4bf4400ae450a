package ingest

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/store"
)

// takeNews takes the units that have caught up, or could not be read, since the last call. Under the lock.
func (e *evaluator) takeNews() {
	news := e.fleet.News()
	e.caughtUp(news.CaughtUp)
	for _, u := range news.Anew {
		e.findOrphanedAlerts(u, e.fleet.State(u))
	}
	if e.fleet.Behind() == 0 && e.known.loading() {
		close(e.known.loaded)
	}
}

// caughtUp writes the presence of units that were behind to the store, counts them and sets their
// deadlines. Under the lock.
func (e *evaluator) caughtUp(list []*unit) {
	now := e.clock()
	arrivals := make([]arrival, len(list))
	for i, u := range list {
		arrivals[i].unit = u
	}
	_ = fleet.InParts(arrivals, func(part []arrival) error {
		live := make([]store.LiveWrite, len(part))
		var touched []store.AlertTouch
		for i := range part {
			a := &part[i]
			u := a.unit
			state := e.fleet.State(u)
			a.share, a.due = shareOf(u, state, u.Config, now), earliest(state.Deadline(u.Config, e.fleet.Downtimes()), ackEnds(u.Alerts))
			live[i] = store.LiveWrite{DeviceID: u.ID, Presence: presenceOf(state, u.Config, &u.Vitals)}
			touched = appendTouched(touched, state, u.Alerts)
		}
		e.store.PutLive(live, touched)
		return nil
	})
	for i := range arrivals {
		a := &arrivals[i]
		u := a.unit
		state := e.fleet.State(u)
		e.deadlines.Set(u, a.due)
		e.rejudging.look(u, state)
		e.known.total(u.WorkspaceID).replace(u, tallyOf(u.Online, u.Alerts), a.share)
		if len(u.Alerts) > 0 || state.Verdicts != (engine.Verdicts{}) {
			e.findOrphanedAlerts(u, state)
			for i, n := range state.Verdicts {
				e.known.verdicts[i] += int(n)
			}
		}
	}
}

// arrival is a unit that has caught up.
type arrival struct {
	unit  *unit
	share health.Share
	due   rimewatch.Time
}

// orphanedAlert is an active alert that its device's state knows nothing of, because
// the state was lost. Nothing would ever resolve it.
type orphanedAlert struct {
	unit    *unit
	alertID int64
}

// findOrphanedAlerts finds them among a unit's alerts.
func (e *evaluator) findOrphanedAlerts(u *unit, state *engine.State) {
	for _, row := range u.Alerts {
		if !state.Knows(row.Type, row.Part) {
			e.orphanedAlerts = append(e.orphanedAlerts, orphanedAlert{u, row.ID})
		}
	}
}

// endOrphanedAlerts resolves them inside a group.
func (e *evaluator) endOrphanedAlerts(now rimewatch.Time) {
	for _, o := range e.orphanedAlerts {
		st := e.stage(o.unit)
		for i, row := range st.Alerts {
			if row.ID == o.alertID && !st.State.Knows(row.Type, row.Part) {
				e.supersede(st, i, now)
				break
			}
		}
	}
}

// appendTouched appends the values of stored alerts that the rules have seen since their rows were
// written.
func appendTouched(touched []store.AlertTouch, state *engine.State, rows []*rimewatch.Alert) []store.AlertTouch {
	if len(rows) == 0 {
		return touched
	}
	note := func(kind rimewatch.AlertType, part string, t store.AlertTouch) {
		for _, row := range rows {
			if row.Type == kind && row.Part == part {
				t.AlertID = row.ID
				touched = append(touched, t)
			}
		}
	}
	for a := range state.Alert.Active(&state.Unit) {
		note(a.Type, a.Part, store.AlertTouch{Value: a.Value, Peak: a.Peak, HasValue: a.HasValue, Evaluated: a.EvaluatedAt})
	}
	if p, ok := state.Predict.Standing(&state.Unit); ok {
		note(p.Type, "", store.AlertTouch{Evaluated: p.EvaluatedAt})
	}
	return touched
}
