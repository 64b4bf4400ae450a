package contract

import (
	"fmt"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

var alertKeys = []string{
	"id", "status", "severity", "type", "device_id", "device_serial", "device_name", "equipment_type", "site", "title", "message", "advice", "metric", "value", "peak_value", "threshold", "unit",
	"condition_started_at", "triggered_at", "last_evaluated_at", "acknowledged_at", "acknowledged_by", "resolved_at", "resolved_by", "resolution", "note", "occurrences", "flapping", "suppressed_by", "prediction",
}

// warm makes a device with a quick limit and lets it be too warm for long
// enough. It returns the alert's id.
func (n *tenant) warm(t *testing.T, serial string) int {
	t.Helper()
	n.device(t, fmt.Sprintf(`{"serial":%q,"name":"Unit %s","equipment_type":"walkin_cooler","limits":{"temp_min":0,"temp_max":5,"critical_max":12,"delay_s":60,"critical_delay_s":60,"clear_s":60}}`, serial, serial))
	id := n.get(t, "/v1/devices/"+serial).number(t, "data.device.id")
	for ago := 5 * time.Minute; ago >= 0; ago -= 30 * time.Second {
		n.reading(t, fmt.Sprintf(`{"device_serial":%q,"product_zone_temp":8.25,"recorded_at":%q}`, serial, n.ago(ago)))
	}
	n.events.await(t, event{"alert.opened", int64(id), rimewatch.HighTemperature})
	return int(n.get(t, "/v1/alerts?device_serial="+serial).number(t, "data.alerts.0.id"))
}

// TestAlerts reads the sentences about listing alerts.
func TestAlerts(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	q := func(query string) request { return request{path: "/v1/alerts" + query, token: n.read} }
	none := s.do(t, request{path: "/v1/alerts/counts", token: n.read})
	zeros := map[string]any{
		"total": 0, "by_status": map[string]any{"active": 0, "resolved": 0}, "by_severity": map[string]any{"warning": 0, "critical": 0},
		"by_status_and_severity": map[string]any{"active": map[string]any{"warning": 0, "critical": 0}, "resolved": map[string]any{"warning": 0, "critical": 0}},
	}
	if !holds(zeros, none.at("data")) {
		t.Errorf("zeros always present: %s", none.body)
	}
	first := n.warm(t, "A-1")
	second := n.warm(t, "A-2")
	path := func(id int, what string) string { return fmt.Sprintf("/v1/alerts/%d%s", id, what) }
	post := func(id int, what, body string) request {
		return request{method: "POST", path: path(id, what), token: n.full, body: body}
	}
	since := s.ago(-time.Minute)
	size := func(says, query string, total int) row {
		return row{says: says, req: q(query), status: 200, want: map[string]any{"data.pagination.total": total, "data.alerts.#": total}}
	}
	bad := func(says, query, field string) row {
		return row{says: says, req: q(query), status: 422, code: "validation_failed", fields: []string{field}}
	}
	s.recite(t, []row{
		{says: "newest first by triggered_at, then id; every field", req: q(""), status: 200, want: map[string]any{
			"data": keys{"alerts", "pagination"}, "data.alerts.#": 2, "data.alerts.0": hasKeys(alertKeys), "data.alerts.0.id": second, "data.alerts.1.id": first,
			"data.alerts.1.status": "active", "data.alerts.1.severity": "warning", "data.alerts.1.type": "high_temperature", "data.alerts.1.device_serial": "A-1", "data.alerts.1.device_name": "Unit A-1", "data.alerts.1.equipment_type": "walkin_cooler",
			"data.alerts.1.metric": "product_zone_temp", "data.alerts.1.value": 8.25, "data.alerts.1.peak_value": 8.25, "data.alerts.1.threshold": 5, "data.alerts.1.unit": "°C", "data.alerts.1.title": present{}, "data.alerts.1.message": present{},
			"data.alerts.1.condition_started_at": present{}, "data.alerts.1.triggered_at": present{}, "data.alerts.1.last_evaluated_at": present{},
			"data.alerts.1.acknowledged_at": nil, "data.alerts.1.acknowledged_by": nil, "data.alerts.1.resolved_at": nil, "data.alerts.1.resolved_by": nil, "data.alerts.1.resolution": nil, "data.alerts.1.note": nil,
			"data.alerts.1.flapping": false, "data.alerts.1.suppressed_by": nil, "data.alerts.1.prediction": nil, "data.alerts.1.site": nil,
			"data.pagination": keys{"current_page", "per_page", "total", "last_page", "from", "to", "next_cursor"}, "data.pagination.per_page": 15,
		}},
		{says: "GET /v1/alerts/{id}", req: request{path: path(first, ""), token: n.read}, status: 200, want: map[string]any{"data.alert": hasKeys(alertKeys), "data.alert.id": first}},
		{says: "the device counts its active alerts", req: request{path: "/v1/devices/A-1", token: n.read}, status: 200, want: map[string]any{"data.device.active_alerts": 1}},
		size("status=active", "?status=active", 2),
		size("status=resolved", "?status=resolved", 0),
		size("status=all", "?status=all", 2),
		size("severity", "?severity=warning", 2),
		size("severity critical", "?severity=critical", 0),
		size("type", "?type=high_temperature", 2),
		size("type is an open set", "?type=frobnication", 0),
		size("device_serial", "?device_serial=a-1", 1),
		size("device_serial of nobody", "?device_serial=none", 0),
		size("acknowledged=false", "?acknowledged=false", 2),
		size("acknowledged=true", "?acknowledged=true", 0),
		size("since", "?since="+s.ago(time.Hour), 2),
		size("since later", "?since="+since, 0),
		bad("status of a closed set", "?status=open", "status"),
		bad("severity of a closed set", "?severity=info", "severity"),
		bad("severity all is none", "?severity=all", "severity"),
		bad("acknowledged of a closed set", "?acknowledged=1", "acknowledged"),
		bad("since is a time", "?since=today", "since"),
		bad("paging as devices", "?per_page=0", "per_page"),
		{says: "a page of one", req: q("?per_page=1"), status: 200, want: map[string]any{"data.alerts.#": 1, "data.alerts.0.id": second, "data.pagination.last_page": 2, "data.pagination.next_cursor": present{}}, then: func(t *testing.T, a answer) {
			b := s.do(t, q("?per_page=1&cursor="+a.text("data.pagination.next_cursor")))
			if b.number(t, "data.alerts.0.id") != float64(first) || b.at("data.pagination.next_cursor") != nil {
				t.Errorf("%s", b.body)
			}
		}},
		{says: "counts", req: request{path: "/v1/alerts/counts", token: n.read}, status: 200, want: map[string]any{"data.total": 2, "data.by_status.active": 2, "data.by_severity.warning": 2, "data.by_status_and_severity.active.warning": 2}},
		{says: "counts since", req: request{path: "/v1/alerts/counts?since=" + since, token: n.read}, status: 200, want: map[string]any{"data": zeros}},
		{says: "counts since is a time", req: request{path: "/v1/alerts/counts?since=x", token: n.read}, status: 422, code: "validation_failed", fields: []string{"since"}},

		{says: "acknowledge: 200 data.alert; it is not a status", req: post(first, "/acknowledge", `{"note":"on my way","expires_in_s":3600}`), status: 200, want: map[string]any{"data.alert.status": "active", "data.alert.acknowledged_at": present{}, "data.alert.acknowledged_by": present{}, "data.alert.note": "on my way"}},
		size("acknowledged=true after it", "?acknowledged=true", 1),
		{says: "acknowledge without a body", req: post(second, "/acknowledge", ""), status: 200, want: map[string]any{"data.alert.acknowledged_at": present{}}},
		{says: "acknowledge with nulls", req: post(second, "/acknowledge", `{"note":null,"expires_in_s":null}`), status: 200},
		{says: "unknown body fields", req: post(second, "/acknowledge", `{"until":1}`), status: 422, code: "validation_failed", fields: []string{"until"}},
		{says: "expires_in_s is an integer", req: post(second, "/acknowledge", `{"expires_in_s":"1h"}`), status: 422, code: "validation_failed", fields: []string{"expires_in_s"}},
		{says: "a read token may not acknowledge", req: request{method: "POST", path: path(first, "/acknowledge"), token: n.read}, status: 403, code: "forbidden"},
		{says: "resolve: 200 data.alert, manual", req: post(first, "/resolve", `{"note":"door shut"}`), status: 200, want: map[string]any{"data.alert.status": "resolved", "data.alert.resolution": "manual", "data.alert.resolved_at": present{}, "data.alert.resolved_by": present{}, "data.alert.note": "door shut", "data.alert.severity": "warning"}},
		{says: "on a resolved one 409 alert_not_active", req: post(first, "/resolve", ""), status: 409, code: "alert_not_active"},
		{says: "acknowledge a resolved one", req: post(first, "/acknowledge", ""), status: 409, code: "alert_not_active"},
		{says: "notes join the timeline, of a resolved one too", req: post(first, "/notes", `{"note":"goods checked"}`), status: 200, want: map[string]any{"data.alert.status": "resolved"}},
		{says: "the timeline, oldest first", req: request{path: path(first, "/timeline"), token: n.read}, status: 200, want: map[string]any{
			"data.transitions.#": 4, "data.transitions.0": keys{"id", "kind", "at", "severity", "actor", "note", "message", "prediction"}, "data.transitions.0.kind": "opened", "data.transitions.0.actor": nil,
			"data.transitions.1.kind": "acknowledged", "data.transitions.1.note": "on my way", "data.transitions.2.kind": "resolved", "data.transitions.2.actor": present{}, "data.transitions.3.kind": "noted",
		}},
		{says: "the timeline of an unknown alert", req: request{path: path(987654, "/timeline"), token: n.read}, status: 404, code: "alert_not_found"},
		{says: "an unknown alert", req: post(987654, "/resolve", ""), status: 404, code: "alert_not_found"},
		{says: "default status=active", req: q(""), status: 200, want: map[string]any{"data.alerts.#": 1, "data.alerts.0.id": second}},
		size("status=resolved after it", "?status=resolved", 1),
		size("status=all after it", "?status=all", 2),
		{says: "by_severity and total count active and resolved ones", req: request{path: "/v1/alerts/counts", token: n.read}, status: 200, want: map[string]any{
			"data.total": 2, "data.by_status": map[string]any{"active": 1, "resolved": 1}, "data.by_severity": map[string]any{"warning": 2, "critical": 0}, "data.by_status_and_severity.active.warning": 1, "data.by_status_and_severity.resolved.warning": 1,
		}},
		{says: "a deleted device's active alerts resolve as superseded", req: request{method: "DELETE", path: "/v1/devices/A-2", token: n.full}, status: 200},
		{says: "and are kept", req: request{path: path(second, ""), token: n.read}, status: 200, want: map[string]any{"data.alert.status": "resolved", "data.alert.resolution": "superseded", "data.alert.device_serial": "A-2"}},
	})
}

// TestAlertLife: one active alert per device and type; severity rises on the
// same id; a condition must hold for its delay, and be past the clear value for
// its clear time; a manual resolve whose condition holds opens a new alert.
func TestAlertLife(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	id := n.warm(t, "A-1")
	device := int64(n.get(t, "/v1/devices/A-1").number(t, "data.device.id"))
	feed := func(temp float64, minutes int) {
		t.Helper()
		for range minutes * 2 {
			s.advance(30 * time.Second)
			n.reading(t, fmt.Sprintf(`{"device_serial":"A-1","product_zone_temp":%g}`, temp))
		}
	}
	alert := func() answer { return n.get(t, fmt.Sprintf("/v1/alerts/%d", id)) }
	total := func(query string) float64 { return n.get(t, "/v1/alerts"+query).number(t, "data.pagination.total") }

	feed(15, 12)
	if a := alert(); a.text("data.alert.severity") != "critical" || a.number(t, "data.alert.peak_value") != 15 {
		t.Errorf("severity rises on the same id: %s", a.body)
	}
	if got := total("?status=all&type=high_temperature"); got != 1 {
		t.Errorf("%v alerts of one type", got)
	}
	if got := n.get(t, "/v1/devices/health/summary"); got.number(t, "data.critical_alerts") != 1 {
		t.Errorf("the summary shows it within a second: %s", got.body)
	}
	feed(3, 5)
	if a := alert(); a.text("data.alert.status") != "resolved" || a.text("data.alert.resolution") != "auto" || a.at("data.alert.resolved_by") != nil {
		t.Errorf("past the clear value for its clear time: %s", a.body)
	}
	s.events.forget()
	feed(8, 5)
	s.events.await(t, event{"alert.opened", device, rimewatch.HighTemperature})
	again := n.get(t, "/v1/alerts?device_serial=A-1&type=high_temperature")
	second := int(again.number(t, "data.alerts.0.id"))
	if second == id || total("?status=all&type=high_temperature") != 2 {
		t.Errorf("a new excursion is a new alert: %s", again.body)
	}
	if a := s.do(t, request{method: "POST", path: fmt.Sprintf("/v1/alerts/%d/resolve", second), token: n.full}); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	s.events.forget()
	feed(8, 20)
	if got := s.events.count("alert.opened", device); got != 0 {
		t.Errorf("%d alerts within 30 min of a manual resolve", got)
	}
	feed(8, 15)
	s.events.await(t, event{"alert.opened", device, rimewatch.HighTemperature})
}

// TestLateReadings: late and out-of-order readings are stored, but never open an
// alert; a backlog opens one only if the condition still holds at its newest
// reading and that is recent.
func TestLateReadings(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	n.device(t, `{"serial":"A-1","limits":{"temp_max":5,"delay_s":60}}`)
	n.reading(t, `{"device_serial":"A-1","product_zone_temp":3}`)
	for i := range 60 {
		n.reading(t, fmt.Sprintf(`{"device_serial":"A-1","product_zone_temp":20,"recorded_at":%q}`, s.ago(3*time.Hour-time.Duration(i)*time.Minute)))
	}
	if got := n.get(t, "/v1/alerts?status=all&type=high_temperature"); got.number(t, "data.pagination.total") != 0 {
		t.Errorf("late readings opened an alert: %s", got.body)
	}
	if got := n.get(t, "/v1/devices/A-1"); got.number(t, "data.device.current_temp") != 3 {
		t.Errorf("current_temp is not the newest by recorded_at: %s", got.body)
	}
	if got := n.get(t, "/v1/devices/A-1/readings"); got.number(t, "data.readings.#") != 61 {
		t.Errorf("they are not all in the history: %v", got.at("data.readings.#"))
	}
	n.device(t, `{"serial":"A-2","limits":{"temp_max":5,"delay_s":60}}`)
	for i := range 60 {
		n.reading(t, fmt.Sprintf(`{"device_serial":"A-2","product_zone_temp":20,"recorded_at":%q}`, s.ago(3*time.Hour-time.Duration(i)*time.Minute)))
	}
	if got := n.get(t, "/v1/alerts?status=all&device_serial=A-2&type=high_temperature"); got.number(t, "data.pagination.total") != 0 {
		t.Errorf("an old backlog opened an alert: %s", got.body)
	}
}

// TestPresence reads the sentences about online and offline.
func TestPresence(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	ids := make(map[string]int64)
	for serial, more := range map[string]string{"NEVER": "", "QUIET": `,"offline_after_s":60`, "PLANNED": "", "DEFAULT": ""} {
		n.device(t, fmt.Sprintf(`{"serial":%q%s}`, serial, more))
		ids[serial] = int64(n.get(t, "/v1/devices/"+serial).number(t, "data.device.id"))
	}
	status := func(serial string) string { return n.get(t, "/v1/devices/"+serial).text("data.device.status") }
	beat := func(serial, body string) {
		t.Helper()
		if a := s.do(t, request{method: "PATCH", path: "/v1/devices/" + serial + "/heartbeat", token: n.feed, body: body}); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	n.reading(t, `{"device_serial":"QUIET","humidity":1,"recorded_at":"`+s.ago(48*time.Hour)+`"}`)
	if status("QUIET") != "online" {
		t.Error("a backfill is a sign of life: arrival counts")
	}
	beat("DEFAULT", "")
	beat("PLANNED", "")
	beat("PLANNED", `{"status":"offline"}`)
	if status("PLANNED") != "offline" || status("NEVER") != "offline" {
		t.Error("a planned shutdown is offline at once, one never seen is offline")
	}
	s.advance(50 * time.Second)
	if status("QUIET") != "online" {
		t.Error("offline before offline_after_s")
	}
	s.advance(15 * time.Second)
	s.events.await(t, event{kind: "device.offline", device: ids["QUIET"]})
	s.events.await(t, event{"alert.opened", ids["QUIET"], rimewatch.DeviceOffline})
	if status("QUIET") != "offline" || status("DEFAULT") != "online" {
		t.Error("timer-driven, by offline_after_s")
	}
	s.advance(3 * time.Minute)
	s.events.await(t, event{kind: "device.offline", device: ids["DEFAULT"]})
	a := n.get(t, "/v1/alerts?type=device_offline&device_serial=QUIET")
	if a.text("data.alerts.0.severity") != "warning" {
		t.Errorf("device_offline opens as a warning: %s", a.body)
	}
	s.advance(time.Hour + 5*time.Minute)
	s.events.await(t, event{"alert.updated", ids["QUIET"], rimewatch.DeviceOffline})
	if a := n.get(t, "/v1/alerts?type=device_offline&device_serial=QUIET"); a.text("data.alerts.0.severity") != "critical" {
		t.Errorf("critical after an hour: %s", a.body)
	}
	beat("QUIET", "")
	s.events.await(t, event{kind: "device.online", device: ids["QUIET"]})
	if a := n.get(t, "/v1/alerts?status=resolved&type=device_offline&device_serial=QUIET"); a.text("data.alerts.0.resolution") != "auto" {
		t.Errorf("it resolves when the device is back: %s", a.body)
	}
	for _, serial := range []string{"NEVER", "PLANNED"} {
		if a := n.get(t, "/v1/alerts?status=all&device_serial="+serial); a.number(t, "data.pagination.total") != 0 {
			t.Errorf("%s raised an alert: %s", serial, a.body)
		}
	}
}

// TestSummary reads GET /v1/devices/health/summary: the five seed fields and the
// extra ones.
func TestSummary(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	get := request{path: "/v1/devices/health/summary", token: n.read}
	s.recite(t, []row{
		{says: "without devices: 100 and zeros", req: get, status: 200, want: map[string]any{
			"data":               keys{"total_devices", "online_devices", "health_score", "active_alerts", "temperature_compliance", "offline_devices", "critical_alerts", "warning_alerts", "data_coverage", "strict_compliance", "unjudged_devices", "conditions", "computed_at", "coverage", "paperwork"},
			"data.total_devices": 0, "data.online_devices": 0, "data.health_score": 100, "data.active_alerts": 0, "data.temperature_compliance": 100, "data.offline_devices": 0, "data.critical_alerts": 0, "data.warning_alerts": 0,
		}},
	})
	n.warm(t, "A-1")
	n.device(t, `{"serial":"B-1"}`)
	a := s.do(t, get)
	// An open warning caps a device's score at 75, and the only device that was
	// ever heard of is the fleet.
	for end := time.Now().Add(patience); a.number(t, "data.health_score") > 75 && time.Now().Before(end); {
		a = s.do(t, get)
	}
	for path, want := range map[string]float64{"total_devices": 2, "online_devices": 1, "offline_devices": 1, "active_alerts": 1, "warning_alerts": 1, "critical_alerts": 0} {
		if got := a.number(t, "data."+path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	for _, path := range []string{"health_score", "temperature_compliance", "data_coverage"} {
		if v := a.number(t, "data."+path); v < 0 || v > 100 || v*10 != float64(int(v*10+0.5)) {
			t.Errorf("%s is %v: not 0–100 with one decimal", path, v)
		}
	}
	if a.number(t, "data.temperature_compliance") >= 100 || a.number(t, "data.health_score") > 75 {
		t.Errorf("five minutes too warm cost nothing within a second: %s", a.body)
	}
}
