package evaluate

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/predict"
)

// event is one transition of an alert of a unit, from the rules or from the
// predictor.
type event struct {
	at       rimewatch.Time
	what     string // opened, updated, escalated, deescalated, resolved
	typ      rimewatch.AlertType
	severity rimewatch.Severity
	fault    string
	runnerUp string
	risk     float64
	lead     *float64 // h
	predicts bool
}

// judge of one unit: the same rules and the same predictor as in the service,
// in event time, as if each reading arrived at once.
type unitJudge struct {
	rules  engine.Config
	model  predict.Config
	state  engine.State
	device predict.State
	site   engine.Site
	alerts []alert.Transition
	trends []predict.Transition
}

func newUnitJudge(equipment string, limits *rimewatch.LimitOverrides) *unitJudge {
	device := &rimewatch.Device{EquipmentType: equipment, Limits: limits}
	e, _ := rimewatch.EquipmentBySlug(equipment)
	return &unitJudge{rules: engine.ConfigOf(device), model: predict.Config{Equipment: e, Limits: limits.Apply(e.Limits)}}
}

// take gives the transitions that a reading brings, those of the time that
// passed before it first.
func (u *unitJudge) take(r *rimewatch.Reading, out []event) []event {
	u.alerts, u.trends = u.alerts[:0], u.trends[:0]
	if u.state.Presence.LastSeen != 0 {
		for n := 0; n < 100; n++ {
			due := u.state.Deadline(&u.rules, &u.site)
			if due == 0 || due >= r.At {
				break
			}
			u.alerts = u.state.Tick(&u.rules, &u.site, due, u.alerts)
		}
	}
	u.alerts, _ = u.state.Reading(&u.rules, &u.site, r, r.At, true, u.alerts)
	u.trends = u.device.Observe(&u.model, r, r.At, u.trends)
	for i := range u.alerts {
		t := &u.alerts[i]
		out = append(out, event{at: t.At, what: t.Kind.String(), typ: t.Type, severity: t.Severity})
	}
	for i := range u.trends {
		t := &u.trends[i]
		out = append(out, event{
			at: t.At, what: t.Kind.String(), typ: t.Type, severity: t.Severity, predicts: true,
			fault: t.Prediction.Fault, runnerUp: t.RunnerUp, risk: t.Prediction.Risk, lead: t.Prediction.LeadTimeH,
		})
	}
	return out
}
