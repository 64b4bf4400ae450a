package ingest

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/predict"
)

// Feedback takes a person's verdict on a prediction, open or over:
// CodeAlertNotFound, CodeValidationFailed for an alert that does not take it. All
// verdicts but Useful end it, and the device is learnt from scratch. A later verdict
// takes the place of an earlier one.
func (s *Service) Feedback(ctx context.Context, workspaceID, id int64, by string, verdict rimewatch.Verdict, note string) (rimewatch.AlertView, error) {
	return s.alertOp(ctx, &alertOp{workspaceID: workspaceID, id: id, does: rimewatch.TransitionFeedback, by: by, note: note, verdict: verdict})
}

// Verdicts counts the feedback on the predictions of all devices, in the order
// of rimewatch.Verdicts.
func (s *Service) Verdicts() [len(rimewatch.Verdicts)]int {
	s.fleet.RLock()
	defer s.fleet.RUnlock()
	return s.known.verdicts
}

// Prediction returns the predictor's view of a device, and the numbers of verdicts on its
// predictions, in the order of rimewatch.Verdicts.
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
