package v1

import (
	"fmt"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

func at(serial string, temp float64, at rimewatch.Time) string {
	return fmt.Sprintf(`{"device_serial":%q,"product_zone_temp":%v,"recorded_at":%q}`, serial, temp, at)
}

func TestExcursions(t *testing.T) {
	r := newRig(t)
	for _, serial := range []string{"A", "B"} {
		r.do(post("/v1/devices", r.full, `{"serial":"`+serial+`","equipment_type":"walkin_freezer","limits":{"delay_s":0,"clear_s":60}}`))
	}
	r.do(post("/v1/devices", r.otherFull, `{"serial":"A","equipment_type":"walkin_freezer"}`))
	for i, temp := range []float64{-20, -10, -9.5, -20, -20, -20} {
		r.do(post("/v1/readings", r.feed, at("A", temp, rigStart+rimewatch.Time(i)*rimewatch.Minute)))
		r.advance(time.Minute)
	}
	r.do(post("/v1/readings", r.feed, at("B", -10, r.now())))
	r.advance(30 * time.Second)
	r.events.take(t, 0)
	r.run(t, []scenario{
		{
			name: "ended and lasting", req: get("/v1/excursions", r.read), status: 200,
			want: map[string]any{
				"data.excursions.0.device_serial": "A", "data.excursions.0.from": "2026-11-20T12:01:00.000Z", "data.excursions.0.to": "2026-11-20T12:03:00.000Z", "data.excursions.0.duration_s": 120,
				"data.excursions.0.limit": -15, "data.excursions.0.peak": -9.5, "data.excursions.0.low": false, "data.excursions.0.cause": "unknown", "data.excursions.0.degree_minutes": 10.5,
				"data.excursions.1.device_name": "B", "data.excursions.1.id": nil, "data.excursions.1.to": nil, "data.excursions.1.duration_s": 30, "data.excursions.2": nil,
			},
		},
		{name: "of one device", req: get("/v1/excursions?device_serial=b", r.read), status: 200, want: map[string]any{"data.excursions.0.device_serial": "B", "data.excursions.1": nil}},
		{name: "of an unknown device", req: get("/v1/excursions?device_serial=none", r.read), status: 200, want: map[string]any{"data.excursions.0": nil}},
		{name: "of a span", req: get("/v1/excursions?from=2026-11-20T12:03:00Z&to=2026-11-20T12:05:00Z", r.read), status: 200, want: map[string]any{"data.excursions.0": nil}},
		{name: "of another workspace", req: get("/v1/excursions", r.otherFull), status: 200, want: map[string]any{"data.excursions.0": nil}},
		{name: "turned around", req: get("/v1/excursions?from=2026-11-20T12:03:00Z&to=2026-11-20T12:00:00Z", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"from"}},
		{name: "nonsense", req: get("/v1/excursions?from=yesterday", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"from"}},
		{
			name: "after the device was deleted", req: get("/v1/excursions", r.read), status: 200, before: func(r *rig) { r.do(request{method: "DELETE", path: "/api/v1/devices/A", token: r.full}) },
			want: map[string]any{"data.excursions.0.device_serial": nil, "data.excursions.0.device_name": nil, "data.excursions.0.peak": -9.5},
		},
	})
}

// TestDoers: the person who is signed in did something, unless somebody else is named; another person, signed in, verifies it,
// once and for all. Nothing that a program says reads as done by a person.
func TestDoers(t *testing.T) {
	r := newRig(t)
	r.do(post("/v1/devices", r.full, `{"serial":"A","equipment_type":"walkin_freezer"}`))
	const path, verify = "/v1/devices/A/corrective-actions", "/v1/corrective-actions/%d/verify"
	is := func(kind, name, firm string) map[string]any {
		return map[string]any{"data.corrective_action.performed.kind": kind, "data.corrective_action.performed.name": name, "data.corrective_action.performed.firm": firm, "data.corrective_action.performed_by": name}
	}
	r.run(t, []scenario{
		{name: "oneself", req: r.browser(post(path, "", `{"action":"a"}`)), status: 201, want: is("person", "Olga", ""), anyEvents: true},
		{name: "oneself, by name", req: r.browser(post(path, "", `{"action":"a","performed_by":"olga "}`)), status: 201, want: is("person", "Olga", ""), anyEvents: true},
		{name: "oneself, by address", req: r.browser(post(path, "", `{"action":"a","performed_by":"Olga@example.com"}`)), status: 201, want: is("person", "Olga", ""), anyEvents: true},
		{name: "somebody else", req: r.browser(post(path, "", `{"action":"a","performed_by":"Bo"}`)), status: 201, want: is("external", "Bo", ""), anyEvents: true},
		{name: "with a firm", req: r.browser(post(path, "", `{"action":"a","external":{"name":"Bo","firm":"Polar"}}`)), status: 201, want: is("external", "Bo", "Polar"), anyEvents: true},
		{name: "both", req: r.browser(post(path, "", `{"action":"a","performed_by":"Bo","external":{"name":"Bo"}}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"external"}},
		{name: "a program names nobody", req: post(path, r.full, `{"action":"a"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"performed_by"}},
		{name: "a program says Olga", req: post(path, r.full, `{"action":"a","performed_by":"Olga"}`), status: 201, want: is("token", "Olga", ""), anyEvents: true},
		{name: "a calibration by oneself", req: r.browser(post("/v1/devices/A/calibrations", "", `{"method":"ice_point","reference":0,"as_found":0.1}`)), status: 201, want: map[string]any{"data.calibration.performed.kind": "person", "data.calibration.performed_by": "Olga"}, anyEvents: true},
		{name: "a calibration by a program", req: post("/v1/devices/A/calibrations", r.full, `{"method":"ice_point","reference":0,"as_found":0.1,"performed_by":"Ana"}`), status: 201, want: map[string]any{"data.calibration.performed.kind": "token", "data.calibration.performed.token": "test"}, anyEvents: true},
		{name: "one's own work", req: r.browser(post(fmt.Sprintf(verify, 1), "", "")), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"verified_by"}},
		{name: "what a program says that one did", req: r.browser(post(fmt.Sprintf(verify, 6), "", "")), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"verified_by"}},
		{name: "a program verifies", req: post(fmt.Sprintf(verify, 4), r.full, ""), status: 403, code: rimewatch.CodeForbidden},
		{name: "another's work", req: r.browser(post(fmt.Sprintf(verify, 4), "", "")), status: 200, want: map[string]any{"data.corrective_action.verified_by": "Olga", "data.corrective_action.verified.kind": "person", "data.corrective_action.verified_at": "2026-11-20T12:00:00.000Z"}, anyEvents: true},
		{name: "once more", req: r.browser(post(fmt.Sprintf(verify, 4), "", "")), status: 200, want: map[string]any{"data.corrective_action.verified_at": "2026-11-20T12:00:00.000Z"}, anyEvents: true},
		{name: "nothing", req: r.browser(post(fmt.Sprintf(verify, 99), "", "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "in the audit trail", req: r.browser(get("/v1/audit?action=corrective_action.verified", "")), status: 200, want: map[string]any{"data.pagination.total": 1, "data.entries.0.actor": "Olga <olga@example.com>", "data.chain_ok": true}},
	})
}

func TestCorrectiveActions(t *testing.T) {
	r := newRig(t)
	r.do(post("/v1/devices", r.full, `{"serial":"A","equipment_type":"walkin_freezer","limits":{"delay_s":0,"critical_delay_s":0}}`))
	r.do(post("/v1/readings", r.feed, warm("A")))
	r.events.take(t, 0)
	const path = "/v1/alerts/1/corrective-action"
	full := `{"performed_at":"2026-11-20T11:30:00Z","performed_by":"Ana Silva","verified_by":"Bo Lind","cause":"Door left open","action":"Moved 12 kg to F-2",` +
		`"preventive_action":"New door closer","disposition":"discard","product":"Lot 7, 3 kg","repair_reference":"WO-9"}`
	least := `{"performed_by":"Ana","cause":"c","action":"a"}`
	r.run(t, []scenario{
		{
			name: "in full", req: r.browser(post(path, "", full)), status: 201,
			want: map[string]any{
				"data.corrective_action.id": 1, "data.corrective_action.alert_id": 1, "data.corrective_action.device_serial": "A", "data.corrective_action.performed_at": "2026-11-20T11:30:00.000Z",
				"data.corrective_action.verified_by": "Bo Lind", "data.corrective_action.disposition": "discard", "data.corrective_action.recorded_by": "Olga <olga@example.com>", "data.corrective_action.at": "2026-11-20T12:00:00.000Z",
			},
		},
		{name: "the least, by a token", req: post(path, r.full, least), status: 201, want: map[string]any{"data.corrective_action.verified_by": nil, "data.corrective_action.verified": nil, "data.corrective_action.disposition": nil, "data.corrective_action.performed.kind": "token", "data.corrective_action.performed.token": "test", "data.corrective_action.performed_at": "2026-11-20T12:00:00.000Z", "data.corrective_action.recorded_by": "token test"}},
		{name: "a program knows nobody who verified", req: post(path, r.full, `{"performed_by":"Ana","verified_by":"Bo","cause":"c","action":"a"}`), status: 422, code: rimewatch.CodePersonRequired, fields: []string{"verified_by"}},
		{name: "verified by oneself", req: r.browser(post(path, "", `{"performed_by":"Ana","verified_by":" ANA ","cause":"c","action":"a"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"verified_by"}},
		{name: "blank and to come", req: post(path, r.full, `{"performed_by":" ","cause":" ","action":" ","performed_at":"2026-11-21T00:00:00Z"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"action", "cause", "performed_at", "performed_by"}},
		{name: "unknown fields", req: post(path, r.full, `{"performed_by":"A","cause":"c","action":"a","disposition":"eat","lot":1}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"disposition", "lot"}},
		{name: "of another workspace", req: post(path, r.otherFull, least), status: 404, code: rimewatch.CodeAlertNotFound},
		{name: "of no alert", req: post("/v1/alerts/9/corrective-action", r.full, least), status: 404, code: rimewatch.CodeAlertNotFound},
		{name: "by a reader", req: post(path, r.read, least), status: 403, code: rimewatch.CodeForbidden},
		{name: "list", req: get("/v1/alerts/1/corrective-actions", r.read), status: 200, want: map[string]any{"data.corrective_actions.0.performed_by": "Ana Silva", "data.corrective_actions.1.performed_by": "Ana", "data.corrective_actions.2": nil}},
		{name: "list of another workspace", req: get("/v1/alerts/1/corrective-actions", r.otherFull), status: 404, code: rimewatch.CodeAlertNotFound},
		{name: "in the audit trail", req: r.browser(get("/v1/audit?action=corrective_action", "")), status: 200, want: map[string]any{"data.entries.1.actor": "Olga <olga@example.com>", "data.entries.1.subject": "alert 1", "data.chain_ok": true, "data.pagination.total": 2}},
	})
	timeline, err := r.store.Outbox().AlertTransitions(t.Context(), r.workspace.ID, 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(timeline); n != 3 || timeline[1].Kind != rimewatch.TransitionCorrective || timeline[1].Note != "Moved 12 kg to F-2" || timeline[1].Actor != "Olga <olga@example.com>" {
		t.Errorf("timeline: %+v", timeline)
	}
}

// TestLateExcursion: one that late readings show is listed, nobody is told, and what was done about it stands below it
// in the temperature log.
func TestLateExcursion(t *testing.T) {
	r := newRig(t)
	for _, serial := range []string{"A", "B"} {
		r.do(post("/v1/devices", r.full, `{"serial":"`+serial+`","equipment_type":"walkin_freezer","limits":{"delay_s":60,"clear_s":60}}`))
	}
	r.do(post("/v1/readings", r.feed, at("A", -20, rigStart)))
	for _, ago := range []rimewatch.Time{10, 11, 12, 13, 20, 30, 40} {
		temp := -20.0
		if ago >= 20 {
			temp = -9
		}
		r.do(post("/v1/readings", r.feed, at("A", temp, rigStart-ago*rimewatch.Minute)))
	}
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if list, _ := r.store.Records().Excursions(t.Context(), r.workspace.ID, 0, 0, rimewatch.MaxTime, 9); len(list) > 0 {
			break
		}
		if r.advance(time.Second); time.Since(begun) > patience {
			t.Fatal("it is not found")
		}
	}
	const path = "/v1/devices/A/corrective-actions"
	log := "/v1/reports/temperature-log?device_serial=A&from=2026-11-20&to=2026-11-21&format=json"
	r.run(t, []scenario{
		{name: "listed", req: get("/v1/excursions", r.read), status: 200, want: map[string]any{
			"data.excursions.0.from": "2026-11-20T11:20:00.000Z", "data.excursions.0.to": "2026-11-20T11:47:00.000Z", "data.excursions.0.peak": -9, "data.excursions.1": nil}, anyEvents: true},
		{name: "nobody is told", req: get("/v1/alerts?status=all", r.read), status: 200, want: map[string]any{"data.alerts.0": nil}, anyEvents: true},
		{name: "in full", req: r.browser(post(path, "", `{"performed_by":"Ana","verified_by":"Bo","cause":"Door left open","action":"Moved 12 kg","disposition":"discard","excursion_id":1}`)), status: 201,
			want: map[string]any{"data.corrective_action.excursion_id": 1, "data.corrective_action.alert_id": nil, "data.corrective_action.verified_by": "Bo", "data.corrective_action.disposition": "discard"}, anyEvents: true},
		{name: "of another device", req: post("/v1/devices/B/corrective-actions", r.full, `{"performed_by":"Ana","action":"a","excursion_id":1}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"excursion_id"}, anyEvents: true},
		{name: "verified by oneself", req: r.browser(post(path, "", `{"performed_by":"Ana","verified_by":"ana","action":"a"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"verified_by"}, anyEvents: true},
		{name: "below it", req: get(log, r.full), status: 200, want: map[string]any{
			"data.report.devices.0.excursions.0.corrective_actions.0.action": "Moved 12 kg", "data.report.devices.0.corrective_actions.0": nil}, anyEvents: true},
	})
}

func TestCalibrations(t *testing.T) {
	r := newRig(t)
	r.device("V", "vaccine_refrigerator")
	r.device("F", "walkin_freezer")
	r.do(post("/v1/readings", r.feed, at("V", 5, rigStart)))
	r.advance(time.Hour)
	r.events.take(t, 0)
	const path = "/v1/devices/V/calibrations"
	field := func(name, rest string) string {
		return `{"method":"reference_probe","reference":5,"as_found":5.4,"performed_by":"Ana"` + name + rest + `}`
	}
	r.run(t, []scenario{
		{name: "never calibrated", req: get("/v1/devices/V", r.read), status: 200, want: map[string]any{"data.device.calibration": nil, "data.device.offsets.0": nil}},
		{name: "none", req: get(path, r.read), status: 200, want: map[string]any{"data.calibrations.0": nil}},
		{
			name: "with an offset", req: r.browser(post(path, "", field(`,"offset":-0.4`, `,"reference_id":"NIST-7","uncertainty":0.1`))), status: 201, anyEvents: true,
			want: map[string]any{
				"data.calibration.field": "product_zone_temp", "data.calibration.offset": -0.4, "data.calibration.pass_limit": 0.5, "data.calibration.passed": true, "data.calibration.performed_at": "2026-11-20T13:00:00.000Z",
				"data.calibration.applied_from": "2026-11-20T13:00:00.000Z", "data.calibration.due_at": "2027-11-20T13:00:00.000Z", "data.calibration.recorded_by": "Olga <olga@example.com>", "data.calibration.as_left": nil,
			},
		},
		{name: "what was measured before stays", req: get("/v1/devices/V", r.read), status: 200, want: map[string]any{"data.device.current_temp": 5, "data.device.calibration.overdue": false, "data.device.offsets.0.add": -0.4, "data.device.offsets.0.field": "product_zone_temp"}},
		{name: "the answer to a reading is what was sent", req: post("/v1/readings", r.feed, at("V", 5.1, rigStart+rimewatch.Hour)), status: 201, want: map[string]any{"data.reading.product_zone_temp": 5.1}, anyEvents: true},
		{name: "and to a retry", req: post("/v1/readings", r.feed, at("V", 5.1, rigStart+rimewatch.Hour)), status: 200, want: map[string]any{"data.reading.product_zone_temp": 5.1, "data.duplicate": true}},
		{name: "detail", req: get("/v1/devices/V", r.read), status: 200, want: map[string]any{"data.device.current_temp": 4.7, "data.device.latest_reading.product_zone_temp": 4.7}},
		{name: "list", req: get("/v1/devices", r.read), status: 200, want: map[string]any{"data.devices.0.current_temp": 4.7}},
		{name: "latest", req: get("/v1/readings/latest", r.read), status: 200, want: map[string]any{"data.readings.0.product_zone_temp": 4.7}},
		{name: "history", req: get("/v1/devices/V/readings", r.read), status: 200, want: map[string]any{"data.readings.0.product_zone_temp": 5, "data.readings.1.product_zone_temp": 4.7}},
		{name: "buckets", req: get("/v1/devices/V/readings?step=1d&from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z", r.read), status: 200, want: map[string]any{
			"data.buckets.0.count": 2, "data.buckets.0.product_zone_temp.min": 4.7, "data.buckets.0.product_zone_temp.avg": 4.85, "data.buckets.0.product_zone_temp.max": 5,
		}},
		{name: "as CSV", req: get("/v1/devices/V/readings?fields=product_zone_temp", r.read).with("Accept", httpapi.TypeCSV), status: 200, contains: []string{"2026-11-20T13:00:00.000Z,2026-11-20T13:00:00.000Z,4.7,"}},
		{name: "a later one keeps the offset", req: post(path, r.full, field(``, `,"performed_at":"2026-11-20T13:00:00Z"`)), status: 201, want: map[string]any{"data.calibration.offset": -0.4}, events: []string{"device.updated"}},
		{name: "one that fails", req: post(path, r.full, field(`,"pass_limit":0.3`, `,"due_at":"2026-11-20T13:30:00Z"`)), status: 201, want: map[string]any{"data.calibration.passed": false}, events: []string{"device.updated"}},
		{name: "food is given a degree", req: post("/v1/devices/F/calibrations", r.full, field(``, ``)), status: 201, want: map[string]any{"data.calibration.pass_limit": 1}, events: []string{"device.updated"}},
		{name: "humidity needs a pass limit", req: post(path, r.full, field(`,"field":"humidity"`, ``)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"pass_limit"}},
		{name: "times that cannot be", req: post(path, r.full, field(`,"performed_at":"2026-11-20T12:30:00Z","applied_from":"2026-11-20T12:00:00Z"`, `,"due_at":"2026-11-20T12:00:00Z"`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"applied_from", "due_at"}},
		{name: "times to come", req: post(path, r.full, field(`,"performed_at":"2026-11-22T12:30:00Z"`, ``)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"applied_from", "performed_at"}},
		{name: "a broken probe", req: post(path, r.full, field(`,"offset":11`, `,"method2":1`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"method2"}},
		{name: "too large an offset", req: post(path, r.full, field(`,"offset":11`, ``)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"offset"}},
		{name: "of another workspace", req: post(path, r.otherFull, field(``, ``)), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "list of another workspace", req: get(path, r.otherFull), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "by a reader", req: post(path, r.read, field(``, ``)), status: 403, code: rimewatch.CodeForbidden},
		{name: "overdue", req: get("/v1/devices/V", r.read), status: 200, before: func(r *rig) { r.advance(time.Hour) }, want: map[string]any{"data.device.calibration.overdue": true, "data.device.calibration.due_at": "2026-11-20T13:30:00.000Z"}},
		{name: "newest first", req: get(path, r.read), status: 200, want: map[string]any{"data.calibrations.0.passed": false, "data.calibrations.2.reference_id": "NIST-7", "data.calibrations.3": nil}},
		{name: "in the audit trail", req: r.browser(get("/v1/audit?action=calibration", "")), status: 200, want: map[string]any{"data.pagination.total": 4, "data.chain_ok": true, "data.entries.3.actor": "Olga <olga@example.com>"}},
	})
}
