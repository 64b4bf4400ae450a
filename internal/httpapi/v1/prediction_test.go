package v1

import (
	"fmt"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/simulate"
	"github.com/rimewatch/rimewatch/internal/store"
)

// worn gives a device the past of a unit whose bearings have been wearing for
// more than a week.
func (r *rig) worn(deviceID int64) {
	r.t.Helper()
	start := r.now() - 17*rimewatch.Day
	r.lives(deviceID, 17, simulate.Fault{Name: "bearing_wear", Severity: 0.9, Onset: start + 9*rimewatch.Day, Profile: simulate.Linear, Ramp: 12 * 24 * time.Hour})
}

// lives feeds a device the past of a cooler of some days, with a fault.
func (r *rig) lives(deviceID int64, days rimewatch.Time, f simulate.Fault) {
	r.t.Helper()
	u, err := simulate.New(simulate.Config{Equipment: "walkin_cooler", Seed: 4, Start: r.now() - days*rimewatch.Day, Step: 10 * time.Second, Faults: []simulate.Fault{f}})
	if err != nil {
		r.t.Fatal(err)
	}
	for u.NextAt() <= r.now() {
		var batch []store.Input
		for len(batch) < 5000 && u.NextAt() <= r.now() {
			batch = append(batch, store.Input{Kind: store.InputReading, DeviceID: deviceID, Reading: u.Next()})
		}
		if err := r.ingest.Submit(r.t.Context(), batch, nil); err != nil {
			r.t.Fatal(err)
		}
	}
}

// TestNormalNow: that a unit which does not cool as it did is normal now ends its alert, after the ten seconds in which that can be taken back.
func TestNormalNow(t *testing.T) {
	r := newRig(t)
	d := r.device("A", "walkin_cooler")
	r.lives(d.ID, 9, simulate.Fault{Name: "thermostat_stuck_off", Severity: 1, Onset: r.now() - 2*rimewatch.Hour})
	a := r.do(get("/v1/alerts?type=not_cooling", r.read))
	if a.get("data.alerts.0.unmet") != "no_current" {
		t.Fatal(a.body)
	}
	at := fmt.Sprintf("/v1/alerts/%v", a.get("data.alerts.0.id"))
	if a := r.do(post(at+"/feedback", r.full, `{"verdict":"fixed"}`)); a.status != 422 {
		t.Errorf("repaired: %d %s", a.status, a.body)
	}
	if a := r.do(r.browser(post(at+"/feedback", "", `{"verdict":"normal","note":"set warmer"}`))); a.status != 202 || a.get("data.act.about") != "Unit A" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := r.do(get(at, r.read)); a.get("data.alert.status") != "active" {
		t.Errorf("before its time: %s", a.body)
	}
	r.advance(rimewatch.UndoTime)
	r.carryOut()
	if a := r.do(get(at, r.read)); a.get("data.alert.status") != "resolved" || a.get("data.alert.feedback.verdict") != "normal" || a.get("data.alert.feedback.note") != "set warmer" || a.get("data.alert.ended_because") != "relearning" {
		t.Errorf("after its time: %s", a.body)
	}
	if a := r.do(get("/v1/devices/A/prediction", r.read)); a.get("data.prediction.relearning") != "normal" || a.get("data.prediction.feedback.normal") != 0.0 {
		t.Errorf("the unit: %s", a.body)
	}
}

func TestPredictions(t *testing.T) {
	r := newRig(t)
	r.do(post("/v1/devices", r.full, `{"serial":"cold","equipment_type":"walkin_freezer","limits":{"delay_s":0,"critical_delay_s":0}}`))
	r.worn(r.device("A", "walkin_cooler").ID)
	r.events.take(t, 1)
	r.run(t, []scenario{
		{
			name: "nothing is known yet", req: get("/v1/devices/cold/prediction", r.read), status: 200,
			want: map[string]any{
				"data.prediction.state": "learning", "data.prediction.phase": "unknown", "data.prediction.learning_since": nil, "data.prediction.relearning": "", "data.prediction.learned_hours": 0,
				"data.prediction.risk": 0, "data.prediction.prediction": nil, "data.prediction.candidates": []any{}, "data.prediction.drivers": []any{}, "data.prediction.feedback.fixed": 0,
			},
		},
		{
			name: "why, what and what would change its mind", req: get("/v1/devices/a/prediction", r.read), status: 200,
			want: map[string]any{
				"data.prediction.state": "alarmed", "data.prediction.needed_hours": 120, "data.prediction.prediction.fault": "bearing_wear",
				"data.prediction.candidates.0.fault": "bearing_wear", "data.prediction.drivers.3.metric": "vibration_level", "data.prediction.drivers.3.threshold": 15,
				"data.prediction.baselines.0.metric": "compressor_discharge_temp", "data.prediction.baselines.0.unit": "°C",
			},
			contains: []string{`"what_would_change_it":"Ends by itself`},
		},
		{
			name: "its alert", req: get("/v1/alerts?type=compressor_failure_predicted", r.read), status: 200,
			want: map[string]any{
				"data.pagination.total": 1, "data.alerts.0.id": 1, "data.alerts.0.prediction.fault": "bearing_wear", "data.alerts.0.prediction.model": "rimewatch-drift-1",
				"data.alerts.0.prediction.evidence.0.metric": "vibration_level", "data.alerts.0.metric": "vibration_level", "data.alerts.0.feedback": nil,
			},
		},
		{name: "of an unknown device", req: get("/v1/devices/none/prediction", r.read), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "of another workspace's device", req: get("/v1/devices/A/prediction", r.otherFull), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "without the scope", req: get("/v1/devices/A/prediction", r.feed), status: 403, code: rimewatch.CodeForbidden, fields: []string{"scope"}},
		{name: "feedback without the scope", req: post("/v1/alerts/1/feedback", r.read, `{"verdict":"useful"}`), status: 403, code: rimewatch.CodeForbidden, fields: []string{"scope"}},
		{name: "no verdict", req: post("/v1/alerts/1/feedback", r.full, `{}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"verdict"}},
		{name: "no such verdict", req: post("/v1/alerts/1/feedback", r.full, `{"verdict":"nonsense"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"verdict"}},
		{name: "more than asked for", req: post("/v1/alerts/1/feedback", r.full, `{"verdict":"useful","risk":0}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"risk"}},
		{name: "feedback on an unknown alert", req: post("/v1/alerts/99/feedback", r.full, `{"verdict":"useful"}`), status: 404, code: rimewatch.CodeAlertNotFound},
		{name: "feedback on another workspace's alert", req: post("/v1/alerts/1/feedback", r.otherFull, `{"verdict":"fixed"}`), status: 404, code: rimewatch.CodeAlertNotFound},
		{
			name: "useful", req: post("/v1/alerts/1/feedback", r.full, `{"verdict":"useful","note":null}`), status: 200,
			want: map[string]any{"data.alert.status": "active", "data.alert.feedback.verdict": "useful"}, events: []string{"alert.updated"},
		},
		{name: "counted", req: get("/v1/devices/A/prediction", r.read), status: 200, want: map[string]any{"data.prediction.feedback.useful": 1, "data.prediction.state": "alarmed"}},
		{
			name: "fixed", req: r.browser(post("/v1/alerts/1/feedback", "", `{"verdict":"fixed","note":"new compressor"}`)), status: 200,
			want: map[string]any{"data.act.does": "give-feedback", "data.act.about": "Unit A"}, events: []string{"alert.resolved"},
		},
		{
			name: "it is over", req: get("/v1/alerts/1", r.read), status: 200,
			want: map[string]any{
				"data.alert.status": "resolved", "data.alert.resolution": "manual", "data.alert.resolved_by": "Olga", "data.alert.note": "new compressor",
				"data.alert.feedback.verdict": "fixed", "data.alert.feedback.by": "Olga", "data.alert.feedback.at": r.now().String(),
			},
		},
		{
			name: "learnt anew", req: get("/v1/devices/A/prediction", r.read), status: 200,
			want: map[string]any{"data.prediction.state": "learning", "data.prediction.prediction": nil, "data.prediction.feedback.useful": 0, "data.prediction.feedback.fixed": 1},
		},
		{
			name: "a verdict after the end", req: post("/v1/alerts/1/feedback", r.full, `{"verdict":"useful"}`), status: 200,
			want: map[string]any{"data.alert.status": "resolved", "data.alert.resolution": "manual", "data.alert.feedback.verdict": "useful"}, events: []string{"alert.updated"},
		},
		{name: "counted once", req: get("/v1/devices/A/prediction", r.read), status: 200, want: map[string]any{"data.prediction.feedback.useful": 1, "data.prediction.feedback.fixed": 0}},
		{name: "counts of alerts stay", req: get("/v1/alerts/counts", r.read), status: 200, want: map[string]any{"data.total": 1, "data.by_status.resolved": 1}},
		{name: "an alert that predicts nothing", req: post("/v1/readings", r.feed, warm("cold")), status: 201, anyEvents: true},
		{
			name: "what people said of all predictions", req: get("/v1/predictions/quality", r.read), status: 200,
			want: map[string]any{
				"data.total.predictions": 1, "data.total.useful": 1, "data.total.unanswered": 0, "data.total.open": 0, "data.counts.0.fault": "bearing_wear",
				"data.counts.0.equipment_type": "walkin_cooler", "data.counts.0.model": "rimewatch-drift-1", "data.counts.0.useful": 1, "data.counts.1": nil,
			},
		},
		{name: "none since", req: get("/v1/predictions/quality?since="+(r.now()+rimewatch.Day).String(), r.read), status: 200, want: map[string]any{"data.total.predictions": 0, "data.counts": "[]"}},
		{name: "none of others", req: get("/v1/predictions/quality", r.otherFull), status: 200, want: map[string]any{"data.total.predictions": 0, "data.counts": "[]"}},
		{name: "quality without the scope", req: get("/v1/predictions/quality", r.feed), status: 403, code: rimewatch.CodeForbidden, fields: []string{"scope"}},
		{name: "no moment", req: get("/v1/predictions/quality?since=yesterday", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"since"}},
		{name: "takes no feedback", req: post("/v1/alerts/2/feedback", r.full, `{"verdict":"useful"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"verdict"}},
		{name: "nor that it is normal", req: r.browser(post("/v1/alerts/2/feedback", "", `{"verdict":"normal"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"verdict"}},
	})
}
