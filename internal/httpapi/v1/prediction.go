package v1

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/predict"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Predictor returns the prediction for a device.
type Predictor interface {
	// Prediction returns the predictor's report and counts the verdicts on the
	// device's predictions, in the order of rimewatch.Verdicts.
	Prediction(deviceID int64) (predict.Report, [len(rimewatch.Verdicts)]int)
}

// DevicePrediction is the predictor's view of a device.
type DevicePrediction struct {
	predict.Report
	WouldChange string                            `json:"what_would_change_it" doc:"What would change the verdict."`
	Defrost     wire.Maybe[predict.DefrostCourse] `json:"defrost" doc:"The defrost that warms the zone at present and how it usually goes on; null when none is recognised."`
	Prediction  wire.Maybe[rimewatch.Prediction]  `json:"prediction" doc:"The open prediction, as in its alert but up to date; null when none is open."`
	Feedback    FeedbackCounts                    `json:"feedback" doc:"Feedback on this device's predictions."`
}

// FeedbackCounts counts verdicts on predictions.
type FeedbackCounts struct {
	Useful     int `json:"useful"`
	FalseAlarm int `json:"false_alarm"`
	Fixed      int `json:"fixed"`
	Normal     int `json:"normal"`
}

// PredictionData is the data of the answer about a device's prediction.
type PredictionData struct {
	Prediction DevicePrediction `json:"prediction"`
}

func (a devices) devicePrediction(ctx context.Context, in *httpapi.SerialInput) (PredictionData, error) {
	serial, err := in.Known()
	if err != nil {
		return PredictionData{}, err
	}
	v, err := a.cfg.Fleet.Device(ctx, httpapi.CallOf(ctx).Workspace(), serial)
	if err != nil {
		return PredictionData{}, err
	}
	report, n := a.cfg.Predictor.Prediction(v.ID)
	out := DevicePrediction{Report: report, Feedback: FeedbackCounts{Useful: n[0], FalseAlarm: n[1], Fixed: n[2], Normal: n[3]}}
	out.Defrost.Value = report.Defrost
	words := httpapi.CallOf(ctx).Words()
	if v.Site != nil {
		words = words.On(v.Site.TimeZone)
	}
	out.Prediction.Value = words.Prediction(report.Prediction)
	out.WouldChange = words.WouldChangeVerdict(report.State, report.Prediction, v.Judged(httpapi.CallOf(ctx).Now))
	return PredictionData{out}, nil
}

// FeedbackBody is a person's verdict on a prediction, or that what a unit does is normal now.
type FeedbackBody struct {
	Verdict rimewatch.Verdict `json:"verdict" enum:"useful,false_alarm,fixed,normal"`
	Note    *string           `json:"note,omitempty" nullable:"true" maxLength:"2000"`
}

func (a devices) giveFeedback(ctx context.Context, in *httpapi.AlertBody[FeedbackBody]) (AlertData, error) {
	c := httpapi.CallOf(ctx)
	var note string
	if in.Body.Note != nil {
		note = *in.Body.Note
	}
	by, err := a.Actor(ctx, c.Principal)
	if err != nil {
		return AlertData{}, err
	}
	return a.alertData(ctx)(a.cfg.Writer.Feedback(ctx, c.Workspace(), in.Number(), by, in.Body.Verdict, note))
}

// judgement finds what a verdict is about. One that ends nothing does not wait.
func (a devices) judgement(c *httpapi.Call) (d httpapi.Delay, err error) {
	in := httpapi.AlertIDInput{ID: c.R.PathValue("id")}
	v, err := a.cfg.Alerts.Alert(c.R.Context(), c.Workspace(), in.Number())
	if err != nil {
		return d, err
	}
	var body FeedbackBody
	if err := json.Unmarshal(c.JSON(), &body); err != nil {
		return d, err
	}
	return httpapi.Delay{About: v.DeviceName, Now: v.Status != rimewatch.AlertActive || body.Verdict == rimewatch.Useful || !v.Takes(body.Verdict)}, nil
}

func (a devices) predictionRoutes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/v1/devices/{serial}/prediction", Sited: true, ID: "get-prediction", Tag: "Devices", Summary: "Get what is predicted for a device",
			Access:      httpapi.Scope(rimewatch.ScopeDevicesRead),
			Description: "How well the unit is known, how far it is from its own baselines, which faults match, and what would change the verdict. While the unit is not yet known, `state` is `learning`.",
			Bind:        httpapi.Handle(a.devicePrediction),
		},
		{
			Method: http.MethodGet, Path: "/v1/predictions/quality", Sited: true, ID: "get-prediction-quality", Tag: "Alerts", Summary: "Count what people said of predictions",
			Access:      httpapi.Scope(rimewatch.ScopeAlertsRead),
			Description: "The verdicts on all retained predictions, by fault, equipment type, and the method and version that predicted it.",
			Bind:        httpapi.Handle(a.predictionQuality),
		},
		{
			Method: http.MethodPost, Path: "/v1/alerts/{id}/feedback", Sited: true, ID: "give-feedback", Tag: "Alerts", Summary: "Judge a prediction",
			Access: httpapi.Scope(rimewatch.ScopeAlertsWrite), Body: httpapi.JSONBody, Also: []rimewatch.Code{rimewatch.CodeAlertNotActive},
			Description: "Records whether a prediction was right, while it is active or afterwards. `false_alarm`, `fixed` and `normal` (it is not as it was, and that is how it ought to be) resolve an active one, and the unit is learned again. `normal` can be said of an active `not_cooling`, too. A later verdict replaces an earlier one; verdicts are counted in the device's prediction.",
			Undo:        a.judgement,
			Bind:        httpapi.Handle(a.giveFeedback),
		},
	}
}
