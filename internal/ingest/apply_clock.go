package ingest

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// applyClock evaluates a clockOp.
func (e *evaluator) applyClock(op *clockOp, now rimewatch.Time) {
	for _, id := range op.workspaces {
		e.group.audit(id, now, "service", op.action, "clock", store.Fields{"seconds": seconds(op.by)})
	}
	if !op.back {
		return
	}
	e.group.result.Back, e.group.events.SetBack = now, op.by
	for u := range e.fleet.All() {
		for i, a := range u.Alerts {
			e.putAlert(u.Alerts, &e.stage(u).Alerts, i, movedAlert(a, op.by, now))
		}
	}
	for _, x := range e.sites.byID {
		for i, a := range x.alerts {
			e.putAlert(x.alerts, &e.group.stageSite(x).alerts, i, movedAlert(a, op.by, now))
		}
	}
}

// movedAlert returns an active alert when the clock is set back to now: moments that would lie in
// the future keep their distance, and so does the end of an acknowledgement.
func movedAlert(a *rimewatch.Alert, by, now rimewatch.Time) *rimewatch.Alert {
	row := *a
	for _, t := range []*rimewatch.Time{&row.ConditionStartedAt, &row.TriggeredAt, &row.LastEvaluatedAt, &row.AcknowledgedAt} {
		if *t > now {
			*t += by
		}
	}
	if row.AckExpiresAt != 0 {
		row.AckExpiresAt += by
	}
	return &row
}

func seconds(t rimewatch.Time) float64 { return float64(t) / float64(rimewatch.Second) }
