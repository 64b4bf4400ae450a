package v1

import (
	"context"
	"fmt"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
)

func warm(serial string) string {
	return fmt.Sprintf(`{"device_serial":%q,"product_zone_temp":-5}`, serial)
}

func TestAlerts(t *testing.T) {
	r := newRig(t)
	for _, serial := range []string{"A", "B"} {
		a := r.do(post("/v1/devices", r.full, `{"serial":"`+serial+`","equipment_type":"walkin_freezer","limits":{"delay_s":0,"critical_delay_s":0}}`))
		if a.status != 201 {
			t.Fatal(a.body)
		}
	}
	r.do(patch("/v1/devices/B", r.full, `{"limits":{"critical_max":100},"confirm_loosening":true}`))
	r.events.take(t, 3)
	opens := []string{"reading.created", "device.online", "alert.opened"}
	r.run(t, []scenario{
		{name: "nothing yet", req: get("/v1/alerts/counts", r.read), status: 200, want: map[string]any{"data.total": 0, "data.by_status.active": 0, "data.by_severity.critical": 0, "data.by_status_and_severity.resolved.warning": 0}},
		{name: "a critical one", req: post("/v1/readings", r.feed, warm("A")), status: 201, events: opens},
		{name: "a warning", req: post("/v1/readings", r.feed, warm("B")), status: 201, before: func(r *rig) { r.advance(1e9) }, events: opens},
		{
			name: "list, newest first", req: get("/v1/alerts", r.read), status: 200,
			want: map[string]any{
				"data.pagination.total": 2, "data.alerts.0.device_serial": "B", "data.alerts.0.severity": "warning", "data.alerts.1.severity": "critical", "data.alerts.1.type": "high_temperature",
				"data.alerts.0.device_name": "B", "data.alerts.0.equipment_type": "walkin_freezer", "data.alerts.0.status": "active", "data.alerts.0.metric": "product_zone_temp", "data.alerts.0.value": -5,
				"data.alerts.0.threshold": -15, "data.alerts.0.acknowledged_at": nil, "data.alerts.0.resolution": nil, "data.alerts.0.prediction": nil, "data.alerts.0.suppressed_by": nil, "data.alerts.0.site": nil,
			},
		},
		{name: "by severity", req: get("/v1/alerts?severity=critical", r.read), status: 200, want: map[string]any{"data.pagination.total": 1, "data.alerts.0.device_serial": "A"}},
		{name: "by device", req: get("/v1/alerts?device_serial=b", r.read), status: 200, want: map[string]any{"data.pagination.total": 1, "data.alerts.0.device_serial": "B"}},
		{name: "by an unknown device", req: get("/v1/alerts?device_serial=none", r.read), status: 200, want: map[string]any{"data.pagination.total": 0}},
		{name: "by type", req: get("/v1/alerts?type=high_temperature", r.read), status: 200, want: map[string]any{"data.pagination.total": 2}},
		{name: "by an unknown type", req: get("/v1/alerts?type=haunted", r.read), status: 200, want: map[string]any{"data.pagination.total": 0}},
		{name: "since", req: get("/v1/alerts?since=2026-11-20T12:00:01Z", r.read), status: 200, want: map[string]any{"data.pagination.total": 1}},
		{name: "bad filters", req: get("/v1/alerts?status=open&severity=high&acknowledged=maybe&since=now", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"acknowledged", "severity", "since", "status"}},
		{name: "one page and the next by cursor", req: get("/v1/alerts?per_page=1", r.read), status: 200, want: map[string]any{"data.alerts.0.device_serial": "B", "data.alerts.1": nil, "data.pagination.last_page": 2}},
		{name: "forged cursor", req: get("/v1/alerts?cursor="+r.cursors.Encode(httpapi.CursorDevices, r.workspace.ID, 1, 1), r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"cursor"}},
		{name: "counts", req: get("/v1/alerts/counts", r.read), status: 200, want: map[string]any{"data.total": 2, "data.by_status.active": 2, "data.by_status_and_severity.active.critical": 1, "data.by_status_and_severity.active.warning": 1}},
		{name: "counts since", req: get("/v1/alerts/counts?since=2026-11-20T12:00:01Z", r.read), status: 200, want: map[string]any{"data.total": 1}},
		{name: "counts since nonsense", req: get("/v1/alerts/counts?since=x", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"since"}},
		{name: "summary", req: get("/v1/devices/health/summary", r.read), status: 200, want: map[string]any{"data.total_devices": 2, "data.online_devices": 2, "data.offline_devices": 0, "data.active_alerts": 2, "data.critical_alerts": 1, "data.warning_alerts": 1}},
		{name: "summary of another workspace", req: get("/v1/devices/health/summary", r.otherFull), status: 200, want: map[string]any{"data.total_devices": 0, "data.health_score": 100, "data.temperature_compliance": 100}},
		{name: "the device counts its alerts", req: get("/v1/devices/A", r.read), status: 200, want: map[string]any{"data.device.active_alerts": 1}},
		{name: "one", req: get("/v1/alerts/1", r.read), status: 200, want: map[string]any{"data.alert.id": 1}},
		{name: "unknown", req: get("/v1/alerts/99", r.read), status: 404, code: rimewatch.CodeAlertNotFound},
		{name: "of another workspace", req: get("/v1/alerts/1", r.otherFull), status: 404, code: rimewatch.CodeAlertNotFound},
		{name: "no id", req: get("/v1/alerts/one", r.read), status: 404, code: rimewatch.CodeAlertNotFound},
		{name: "another form of the id", req: get("/v1/alerts/01", r.read), status: 404, code: rimewatch.CodeAlertNotFound},
		{name: "a huge id", req: get("/v1/alerts/99999999999999999999", r.read), status: 404, code: rimewatch.CodeAlertNotFound},

		{name: "acknowledge", req: post("/v1/alerts/1/acknowledge", r.full, `{"note":"on my way","expires_in_s":3600}`), status: 200, want: map[string]any{"data.alert.status": "active", "data.alert.acknowledged_at": "2026-11-20T12:00:01.000Z", "data.alert.note": "on my way", "data.alert.acknowledgement_expires_at": "2026-11-20T13:00:01.000Z"}, events: []string{"alert.acknowledged"}},
		{name: "acknowledge as a person, without a body", req: r.browser(post("/v1/alerts/2/acknowledge", "", ``)), status: 200, want: map[string]any{"data.alert.acknowledged_by": "Olga"}, events: []string{"alert.acknowledged"}},
		{name: "only acknowledged", req: get("/v1/alerts?acknowledged=true", r.read), status: 200, want: map[string]any{"data.pagination.total": 2}},
		{name: "only others", req: get("/v1/alerts?acknowledged=false", r.read), status: 200, want: map[string]any{"data.pagination.total": 0}},
		{name: "acknowledge for too short", req: post("/v1/alerts/1/acknowledge", r.full, `{"expires_in_s":59}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"expires_in_s"}},
		{name: "acknowledge unknown", req: post("/v1/alerts/99/acknowledge", r.full, ``), status: 404, code: rimewatch.CodeAlertNotFound},
		{name: "acknowledge of another workspace", req: post("/v1/alerts/1/acknowledge", r.otherFull, ``), status: 404, code: rimewatch.CodeAlertNotFound},
		{name: "resolve with an unknown field", req: post("/v1/alerts/1/resolve", r.full, `{"status":"resolved"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"status"}},
		{name: "resolve", req: post("/v1/alerts/1/resolve", r.full, `{"note":"door closed"}`), status: 200, want: map[string]any{"data.alert.status": "resolved", "data.alert.resolution": "manual", "data.alert.note": "door closed", "data.alert.resolved_at": "2026-11-20T12:00:01.000Z"}, events: []string{"alert.resolved"}},
		{name: "resolve again", req: post("/v1/alerts/1/resolve", r.full, ``), status: 409, code: rimewatch.CodeAlertNotActive},
		{name: "acknowledge a resolved one", req: post("/v1/alerts/1/acknowledge", r.full, ``), status: 409, code: rimewatch.CodeAlertNotActive},
		{name: "only active by default", req: get("/v1/alerts", r.read), status: 200, want: map[string]any{"data.pagination.total": 1}},
		{name: "resolved", req: get("/v1/alerts?status=resolved", r.read), status: 200, want: map[string]any{"data.pagination.total": 1, "data.alerts.0.id": 1}},
		{name: "all", req: get("/v1/alerts?status=all", r.read), status: 200, want: map[string]any{"data.pagination.total": 2}},
		{name: "counts include the resolved", req: get("/v1/alerts/counts", r.read), status: 200, want: map[string]any{"data.total": 2, "data.by_status.resolved": 1, "data.by_severity.critical": 1, "data.by_status_and_severity.resolved.critical": 1}},
		{name: "delete the device", req: remove("/v1/devices/B", r.full), status: 200, events: []string{"device.deleted", "alert.resolved"}},
		{name: "its alert is superseded", req: get("/v1/alerts/2", r.read), status: 200, want: map[string]any{"data.alert.status": "resolved", "data.alert.resolution": "superseded", "data.alert.device_serial": "B"}},
	})
}

// fixedAlerts is a store with so many alerts, all triggered at one moment.
type fixedAlerts struct {
	alertReader
	list []rimewatch.AlertView
}

type alertReader = Alerts

func (f fixedAlerts) Alerts(_ context.Context, _ int64, _ store.AlertFilter, p store.AlertPage) ([]rimewatch.AlertView, int, error) {
	list := f.list
	if p.BeforeAt != 0 {
		for len(list) > 0 && list[0].ID >= p.BeforeID {
			list = list[1:]
		}
	} else {
		list = list[min(p.Offset, len(list)):]
	}
	return list[:min(p.Limit, len(list))], len(f.list), nil
}

// TestAlertsOfDeletedDevices: alerts are found by the serial that their device had,
// also once another one has it.
func TestAlertsOfDeletedDevices(t *testing.T) {
	r := newRig(t)
	create := post("/v1/devices", r.full, `{"serial":"A","equipment_type":"walkin_freezer","limits":{"delay_s":0,"critical_delay_s":0}}`)
	of := func(token string, want int) scenario {
		return scenario{name: "alerts of A", req: get("/v1/alerts?status=all&device_serial=a", token), status: 200, want: map[string]any{"data.pagination.total": want}}
	}
	r.run(t, []scenario{
		{name: "a device", req: create, status: 201, anyEvents: true},
		{name: "too warm", req: post("/v1/readings", r.feed, warm("A")), status: 201, anyEvents: true},
		of(r.read, 1),
		{name: "deleted", req: remove("/v1/devices/A", r.full), status: 200, anyEvents: true},
		of(r.read, 1),
		of(r.otherFull, 0),
		{name: "its second life", req: create, status: 201, anyEvents: true},
		{name: "too warm again", req: post("/v1/readings", r.feed, warm("A")), status: 201, anyEvents: true},
		of(r.read, 2),
	})
}

func TestPredictionsAndCursors(t *testing.T) {
	risk, lead := 0.73, 96.5
	v := rimewatch.AlertView{DeviceSerial: "A", DeviceName: "A", EquipmentType: "other", Site: &rimewatch.Site{ID: 3, Name: "S", TimeZone: "UTC"}}
	v.Status, v.Severity, v.Type, v.TriggeredAt, v.SuppressedBy = rimewatch.AlertActive, rimewatch.Critical, rimewatch.CompressorFailurePredicted, rigStart, 7
	v.Prediction = &rimewatch.Prediction{Fault: "bearing_wear", Risk: risk, HorizonH: 168, FailureExpectedAt: rigStart + rimewatch.Day, LeadTimeH: &lead, Model: "m", Evidence: []rimewatch.Evidence{{Metric: "vibration_level", Observed: 6, Expected: 2, Unit: "mm/s", Text: "t"}}}
	fixed := fixedAlerts{}
	for id := int64(7); id > 0; id-- {
		v.ID = id
		fixed.list = append(fixed.list, v)
		v.Prediction = nil
	}
	r := newRig(t, func(c *whole) { c.Alerts = fixed })
	a := r.do(get("/v1/alerts?per_page=3", r.read))
	if a.get("data.alerts.0.prediction.evidence.0.expected") != 2.0 || a.get("data.alerts.0.suppressed_by") != 7.0 || a.get("data.alerts.0.site.id") != 3.0 {
		t.Errorf("%s", a.body)
	}
	var ids []any
	for path := "/v1/alerts?per_page=3"; path != ""; {
		a := r.do(get(path, r.read))
		for i := 0; a.get(fmt.Sprintf("data.alerts.%d", i)) != nil; i++ {
			ids = append(ids, a.get(fmt.Sprintf("data.alerts.%d.id", i)))
		}
		path = ""
		if next, ok := a.get("data.pagination.next_cursor").(string); ok {
			path = "/v1/alerts?per_page=3&cursor=" + next
		}
	}
	if fmt.Sprint(ids) != "[7 6 5 4 3 2 1]" {
		t.Errorf("by cursor: %v", ids)
	}
}
