package v1

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// lines returns an alert's timeline as "kind severity actor note".
func (r *rig) lines(id int) (out []string) {
	r.t.Helper()
	a := r.do(get(fmt.Sprintf("/v1/alerts/%d/timeline", id), r.read))
	list, _ := a.get("data.transitions").([]any)
	for _, x := range list {
		t := x.(map[string]any)
		if t["message"] == "" || t["at"] == nil {
			r.t.Errorf("%v says nothing", t)
		}
		line := fmt.Sprint(t["kind"], " ", t["severity"])
		for _, key := range []string{"actor", "note"} {
			if t[key] != nil {
				line += fmt.Sprint(" ", t[key])
			}
		}
		out = append(out, line)
	}
	return out
}

func TestTimeline(t *testing.T) {
	r := newRig(t)
	r.do(post("/v1/devices", r.full, `{"serial":"A","equipment_type":"walkin_freezer","limits":{"delay_s":0,"critical_delay_s":0}}`))
	r.do(r.browser(patch("/v1/devices/A", "", `{"limits":{"critical_max":-2},"confirm_loosening":true,"name":"Unit A"}`)))
	r.do(patch("/v1/devices/A", r.full, `{"name":"Unit A"}`)) // changes nothing
	feed := func(temp int) {
		r.advance(time.Minute)
		r.do(post("/v1/readings", r.feed, fmt.Sprintf(`{"device_serial":"A","product_zone_temp":%d}`, temp)))
	}
	feed(-6)
	r.do(post("/v1/alerts/1/acknowledge", r.full, `{"note":"on my way"}`))
	feed(-1)
	r.do(r.browser(post("/v1/alerts/1/notes", "", `{"note":"door stood open"}`)))
	r.do(post("/v1/alerts/1/resolve", r.full, `{"note":"shut"}`))
	r.do(r.browser(post("/v1/alerts/1/notes", "", `{"note":"goods checked"}`)))
	want := []string{
		"opened warning", "acknowledged warning token test on my way", "escalated critical", "noted critical Olga door stood open",
		"resolved critical token test shut", "noted critical Olga goods checked",
	}
	if got := r.lines(1); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("timeline:\n%s", strings.Join(got, "\n"))
	}
	r.events.take(t, 0)
	r.run(t, []scenario{
		{name: "unknown", req: get("/v1/alerts/9/timeline", r.read), status: 404, code: rimewatch.CodeAlertNotFound},
		{name: "of another workspace", req: get("/v1/alerts/1/timeline", r.otherFull), status: 404, code: rimewatch.CodeAlertNotFound},
		{name: "a note of another workspace", req: post("/v1/alerts/1/notes", r.otherFull, `{"note":"x"}`), status: 404, code: rimewatch.CodeAlertNotFound},
		{name: "a note by a reader", req: post("/v1/alerts/1/notes", r.read, `{"note":"x"}`), status: 403, code: rimewatch.CodeForbidden},
		{name: "an empty note", req: post("/v1/alerts/1/notes", r.full, `{"note":""}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"note"}},
		{name: "no note", req: post("/v1/alerts/1/notes", r.full, `{}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"note"}},
		{name: "an unknown field", req: post("/v1/alerts/1/notes", r.full, `{"note":"x","status":"active"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"status"}},
		{name: "the note of an alert that is over stays", req: get("/v1/alerts/1", r.read), status: 200, want: map[string]any{"data.alert.note": "shut"}},
		{
			name: "what people did to the alert", req: r.browser(get("/v1/audit?subject=alert%201", "")), status: 200,
			want: map[string]any{
				"data.entries.0.action": "alert.noted", "data.entries.0.actor": "Olga <olga@example.com>", "data.entries.0.detail.note": "goods checked", "data.entries.0.detail.device": "A",
				"data.entries.1.action": "alert.resolved", "data.entries.1.actor": "token test", "data.entries.2.action": "alert.noted",
				"data.entries.3.action": "alert.acknowledged", "data.entries.3.detail.until": "2026-11-20T16:01:00.000Z", "data.entries.4": nil, "data.chain_ok": true,
			},
		},
		{
			name: "and to the device", req: r.browser(get("/v1/audit?subject=device%20A", "")), status: 200,
			want: map[string]any{
				"data.entries.0.action": "device.updated", "data.entries.0.actor": "Olga <olga@example.com>", "data.entries.0.detail.name.from": "A", "data.entries.0.detail.name.to": "Unit A",
				"data.entries.0.detail.limits.to.critical_max": -2, "data.entries.0.detail.serial": nil,
				"data.entries.1.action": "device.created", "data.entries.1.actor": "token test", "data.entries.1.detail.serial": "A", "data.entries.2": nil,
			},
		},
	})
}

// TestSiteAlert: the alert of a site says nothing of a device.
func TestSiteAlert(t *testing.T) {
	r := newRig(t)
	r.do(post("/v1/sites", r.full, `{"name":"Harbour"}`))
	for _, serial := range []string{"A", "B", "C"} {
		r.do(post("/v1/devices", r.full, `{"serial":"`+serial+`","site_id":1,"offline_after_s":10}`))
		r.do(request{method: "PATCH", path: httpapi.Prefix + "/v1/devices/" + serial + "/heartbeat", token: r.full})
	}
	r.events.take(t, 6)
	r.advance(time.Minute)
	r.events.take(t, 4) // the alert of the site, and that it explains those of its three devices
	r.run(t, []scenario{
		{name: "the site's", req: get("/v1/alerts?type=site_offline", r.read), status: 200, want: map[string]any{
			"data.alerts.0.device_id": nil, "data.alerts.0.device_serial": nil, "data.alerts.0.device_name": nil, "data.alerts.0.equipment_type": nil,
			"data.alerts.0.site.name": "Harbour", "data.alerts.0.title": "Site offline", "data.alerts.0.value": 3, "data.alerts.0.id": 4,
		}},
		{name: "a device's", req: get("/v1/alerts?device_serial=A", r.read), status: 200, want: map[string]any{"data.alerts.0.type": "device_offline", "data.alerts.0.suppressed_by": 4}},
		{name: "people work on it", req: post("/v1/alerts/4/acknowledge", r.full, ``), status: 200, want: map[string]any{"data.alert.acknowledged_by": "token test"}, events: []string{"alert.acknowledged"}},
		{name: "the site is given up", req: remove("/v1/sites/1", r.full), status: 200, anyEvents: true},
		{name: "its alert too", req: get("/v1/alerts/4", r.read), status: 200, want: map[string]any{"data.alert.resolution": "superseded", "data.alert.site": nil}},
		{name: "the device's is its own again", req: get("/v1/alerts?device_serial=A", r.read), status: 200, want: map[string]any{"data.alerts.0.suppressed_by": nil}},
	})
	if got := strings.Join(r.lines(1), ", "); got != "opened warning, suppressed warning, moved warning, released warning" {
		t.Errorf("timeline: %s", got)
	}
}
