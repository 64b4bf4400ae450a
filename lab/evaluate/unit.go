package evaluate

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
)

// event is one transition of an alert of a unit, from the rules or from the
// predictor.
type event struct {
	at       rimewatch.Time
	read     rimewatch.Time // of the reading that brought it, in a life
	what     string         // opened, updated, escalated, deescalated, resolved
	typ      rimewatch.AlertType
	severity rimewatch.Severity
	fault    string
	runnerUp string
	risk     float64
	metric   string
	lead     *float64 // h, with the bounds of its interval; high may be absent
	low      *float64
	high     *float64
	predicts bool
}

// unitJudge is the judge of one unit: the same rules and the same predictor as in the service,
// in event time, as if each reading arrived at once.
type unitJudge struct {
	cfg    engine.Config
	state  engine.State
	alerts []alert.Transition
}

func newUnitJudge(equipment string, limits *rimewatch.LimitOverrides) *unitJudge {
	device := &rimewatch.Device{EquipmentType: equipment, Limits: limits}
	return &unitJudge{cfg: engine.ConfigOf(device)}
}

// take returns the transitions that a reading brings which arrives at once, those of the
// time that passed before it first.
func (u *unitJudge) take(r *rimewatch.Reading, out []event) []event {
	return u.arrived(r, r.At, u.passed(r.At, out))
}

// mostTicks bounds how often time alone is judged between two readings.
const mostTicks = 100

// passed returns the transitions of the time up to a moment. They are in alerts until the
// next reading, too.
func (u *unitJudge) passed(until rimewatch.Time, out []event) []event {
	u.alerts = u.alerts[:0]
	if u.state.Presence.LastSeen == 0 {
		return out
	}
	for range mostTicks {
		due := u.state.Deadline(&u.cfg, nil)
		if due == 0 || due >= until {
			break
		}
		u.alerts, _ = u.state.Step(&u.cfg, nil, &engine.Input{Kind: engine.Tick}, due, u.alerts)
	}
	return appendEvents(out, u.alerts)
}

// arrived returns the transitions that a reading brings which arrives at now. They are
// behind those of passed in alerts.
func (u *unitJudge) arrived(r *rimewatch.Reading, now rimewatch.Time, out []event) []event {
	from := len(u.alerts)
	u.alerts, _ = u.state.Step(&u.cfg, nil, &engine.Input{Kind: engine.Reading, Reading: r, Last: true}, now, u.alerts)
	return appendEvents(out, u.alerts[from:])
}

func appendEvents(out []event, list []alert.Transition) []event {
	for i := range list {
		t := &list[i]
		e := event{at: t.At, what: string(t.Kind), typ: t.Type, severity: t.Severity, metric: t.Metric}
		if p := t.Prediction; p != nil {
			e.low, e.high = p.LeadLowH, p.LeadHighH
			e.predicts, e.fault, e.runnerUp, e.risk, e.lead = true, p.Fault, p.RunnerUp, p.Risk, p.LeadTimeH
		}
		out = append(out, e)
	}
	return out
}
