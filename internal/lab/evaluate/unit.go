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

// take returns the transitions that a reading brings, those of the time that
// passed before it first.
func (u *unitJudge) take(r *rimewatch.Reading, out []event) []event {
	u.alerts = u.alerts[:0]
	if u.state.Presence.LastSeen != 0 {
		for n := 0; n < 100; n++ {
			due := u.state.Deadline(&u.cfg, nil)
			if due == 0 || due >= r.At {
				break
			}
			u.alerts, _ = u.state.Step(&u.cfg, nil, &engine.Input{Kind: engine.Tick}, due, u.alerts)
		}
	}
	u.alerts, _ = u.state.Step(&u.cfg, nil, &engine.Input{Kind: engine.Reading, Reading: r, Last: true}, r.At, u.alerts)
	for i := range u.alerts {
		t := &u.alerts[i]
		e := event{at: t.At, what: t.Kind.String(), typ: t.Type, severity: t.Severity, metric: t.Metric}
		if p := t.Prediction; p != nil {
			e.low, e.high = p.LeadLowH, p.LeadHighH
			e.predicts, e.fault, e.runnerUp, e.risk, e.lead = true, p.Fault, p.RunnerUp, p.Risk, p.LeadTimeH
		}
		out = append(out, e)
	}
	return out
}
