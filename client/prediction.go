package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/rimewatch/rimewatch"
)

// DevicePrediction is the prediction for a device, with its reasons.
type DevicePrediction struct {
	State             string                `json:"state"` // learning, watching, alarmed or not_judged
	Phase             string                `json:"phase"` // of the unit's cycle
	LearningSince     rimewatch.Time        `json:"learning_since"`
	Relearning        rimewatch.Relearning  `json:"relearning"`    // why learning began again, "" for a new unit
	LearnedHours      int                   `json:"learned_hours"` // with steady running
	NeededHours       int                   `json:"needed_hours"`  // before it is judged by its own history
	LearnedCycles     int                   `json:"learned_cycles"`
	Risk              float64               `json:"risk"`        // 0–1
	LeadTimeH         *float64              `json:"lead_time_h"` // nil when no trend supports one
	Defrost           *DefrostCourse        `json:"defrost"`     // nil when none is recognised
	Prediction        *rimewatch.Prediction `json:"prediction"`  // the open one, nil when none is
	Candidates        []FaultCandidate      `json:"candidates"`  // best first
	Drivers           []Departure           `json:"drivers"`
	Baselines         []Baseline            `json:"baselines"`
	WhatWouldChangeIt string                `json:"what_would_change_it"`
	Model             string                `json:"model"`
	Feedback          FeedbackCounts        `json:"feedback"`
}

// DefrostCourse is how a defrost that goes on usually ends.
type DefrostCourse struct {
	Since  rimewatch.Time `json:"since"`
	BackBy rimewatch.Time `json:"back_by"` // the zone is usually cold again
	Latest rimewatch.Time `json:"latest"`  // an alert that waits for it is raised by then
	Known  int            `json:"known"`   // such defrosts that were seen
}

// FaultCandidate is a fault and how well it fits, 0–1.
type FaultCandidate struct {
	Fault string  `json:"fault"`
	Fit   float64 `json:"fit"`
}

// Departure is a measure and how far it is from the unit's own baseline.
type Departure struct {
	Metric    string  `json:"metric"`
	Unit      string  `json:"unit"` // of Departure and Threshold
	Departure float64 `json:"departure"`
	Threshold float64 `json:"threshold"` // least departure that counts
	Certainty float64 `json:"certainty"` // standard normal deviates
	Observed  float64 `json:"observed"`
	Expected  float64 `json:"expected"`
}

// Baseline is a measure's usual course on a healthy unit.
type Baseline struct {
	Metric    string  `json:"metric"`
	Unit      string  `json:"unit"`
	Level     float64 `json:"level"`      // at 25 °C ambient, usual zone temperature, nominal supply
	PerKelvin float64 `json:"per_kelvin"` // change per K of ambient, in DriftUnit
	Scatter   float64 `json:"scatter"`    // standard deviation of six healthy hours, in DriftUnit
	DriftUnit string  `json:"drift_unit"`
	Windows   int     `json:"windows"` // six-hour windows behind Scatter
}

// FeedbackCounts counts verdicts on a device's predictions.
type FeedbackCounts struct {
	Useful     int `json:"useful"`
	FalseAlarm int `json:"false_alarm"`
	Fixed      int `json:"fixed"`
	Normal     int `json:"normal"`
}

// Prediction returns the prediction for a device: rimewatch.CodeDeviceNotFound.
func (c *Client) Prediction(ctx context.Context, serial string) (DevicePrediction, error) {
	return one[DevicePrediction](ctx, c, get(devicePath(serial)+"/prediction", nil), "prediction")
}

// VerdictCounts are predictions by people's verdicts.
type VerdictCounts struct {
	Predictions int `json:"predictions"` // the sum of the others
	Useful      int `json:"useful"`
	Fixed       int `json:"fixed"`
	FalseAlarm  int `json:"false_alarm"`
	Normal      int `json:"normal"`     // not as it was, and that is how it ought to be
	Open        int `json:"open"`       // not over, without a verdict
	Unanswered  int `json:"unanswered"` // over, without a verdict
}

// QualityCounts are the predictions of one fault on one type of equipment by one
// version of the predictor.
type QualityCounts struct {
	Fault         string `json:"fault"`
	EquipmentType string `json:"equipment_type"`
	Model         string `json:"model"`
	VerdictCounts
}

// PredictionQuality counts people's verdicts on all predictions.
type PredictionQuality struct {
	Total  VerdictCounts   `json:"total"`
	Counts []QualityCounts `json:"counts"` // those with the most predictions first
}

// PredictionQuality counts the verdicts on all retained predictions, or on those
// that opened since a moment.
func (c *Client) PredictionQuality(ctx context.Context, since rimewatch.Time) (PredictionQuality, error) {
	q := url.Values{}
	setText(q, "since", since.String())
	return fetch[PredictionQuality](ctx, c, get("/predictions/quality", q))
}

// Feedback judges a prediction, open or over. All verdicts but Useful end it,
// and the device is learnt from scratch. rimewatch.CodeAlertNotFound, and
// rimewatch.CodeValidationFailed for an alert that
// predicts nothing, but for NormalNow on an active NotCooling.
func (c *Client) Feedback(ctx context.Context, id int64, verdict rimewatch.Verdict, note string) (Alert, error) {
	call := send(http.MethodPost, alertPath(id)+"/feedback", struct {
		Verdict rimewatch.Verdict `json:"verdict"`
		Note    string            `json:"note,omitempty"`
	}{verdict, note}, true)
	return one[Alert](ctx, c, call, "alert")
}
