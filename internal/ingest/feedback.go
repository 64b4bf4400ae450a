package ingest

import (
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/predict"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Feedback takes a person's verdict on a prediction, open or over:
// CodeAlertNotFound, CodeValidationFailed for an alert that predicts nothing. A
// false alarm and a repair end it, and the device is learnt from scratch. A later verdict
// takes the place of an earlier one.
func (s *Service) Feedback(ctx context.Context, workspaceID, id int64, by string, verdict rimewatch.Verdict, note string) (rimewatch.AlertView, error) {
	return s.alertOp(ctx, &alertOp{workspaceID: workspaceID, id: id, does: rimewatch.TransitionFeedback, by: by, note: note, verdict: verdict})
}

// anyTime reports whether the op may be done to an alert that is over.
func (op *alertOp) anyTime() bool {
	return op.does == rimewatch.TransitionNoted || op.does == rimewatch.TransitionFeedback
}

// judges makes the input of feedback.
func (op *alertOp) judges() ([]store.Input, error) {
	a := &op.found.Alert
	if a.Prediction == nil {
		return nil, rimewatch.Invalid("verdict", "can be given on predictions only")
	}
	j := fleet.Judgement{Verdict: op.verdict}
	if a.Status == rimewatch.AlertActive {
		j.Type = a.Type
	}
	if a.Feedback != nil {
		j.Was = a.Feedback.Verdict
	}
	b, err := j.Encode()
	if err != nil {
		return nil, rimewatch.Wrap(rimewatch.CodeInternal, err, "The feedback could not be saved.")
	}
	return []store.Input{{Kind: store.InputFeedback, DeviceID: a.DeviceID, Payload: b}}, nil
}

// judge writes the verdict into the alert, and ends one that is open.
func (op *alertOp) judge(a *rimewatch.Alert, now rimewatch.Time) publish.Kind {
	a.Feedback = &rimewatch.Feedback{Verdict: op.verdict, Note: op.note, By: op.by, At: now}
	if a.Status != rimewatch.AlertActive || !engine.Ends(op.verdict) {
		return publish.AlertUpdated
	}
	a.Status, a.Resolution, a.ResolvedAt, a.ResolvedBy = rimewatch.AlertResolved, rimewatch.ResolvedManual, now, op.by
	return publish.AlertResolved
}

// judgedLate writes feedback on an alert that is over.
func (e *evaluator) judgedLate(op *alertOp, now rimewatch.Time) {
	row := op.found.Alert
	alerts := &e.group.result.Alerts
	i := slices.IndexFunc(*alerts, func(a *rimewatch.Alert) bool { return a.ID == op.id })
	if i >= 0 { // it has ended in this very group
		row = *(*alerts)[i]
	}
	was := row.Feedback
	if row.Status == rimewatch.AlertActive {
		op.err = errNotActive() // its device was deleted meanwhile
		return
	}
	op.judge(&row, now)
	if i >= 0 {
		e.group.events.Replace((*alerts)[i], &row)
		(*alerts)[i] = &row
	} else {
		*alerts = append(*alerts, &row)
	}
	e.group.tell(op.does, &row, now, op.by, op.note)
	e.group.auditAlert(op, &row, now)
	e.group.noteVerdict(op, was)
	e.group.events.Alerts = append(e.group.events.Alerts, publish.Alert{Kind: publish.AlertUpdated, Alert: &row})
}

// noteVerdict counts a verdict once the group is durable.
func (g *group) noteVerdict(op *alertOp, was *rimewatch.Feedback) {
	v := &g.verdicts
	v[slices.Index(rimewatch.Verdicts[:], op.verdict)]++
	if was != nil {
		v[slices.Index(rimewatch.Verdicts[:], was.Verdict)]--
	}
}

// Verdicts counts the feedback on the predictions of all devices, in the order
// of rimewatch.Verdicts.
func (s *Service) Verdicts() [len(rimewatch.Verdicts)]int {
	s.fleet.RLock()
	defer s.fleet.RUnlock()
	return s.known.verdicts
}

// Prediction is what the predictor knows of a device, and how many verdicts
// there were on its predictions, in the order of rimewatch.Verdicts.
func (s *Service) Prediction(deviceID int64) (_ predict.Report, verdicts [len(rimewatch.Verdicts)]int) {
	var nothing engine.State
	report := nothing.Predict.Report(&nothing.Unit)
	s.look(deviceID, func(_ *unit, state *engine.State) {
		for i, n := range state.Verdicts {
			verdicts[i] = int(n)
		}
		report = state.Predict.Report(&state.Unit)
	})
	return report, verdicts
}
