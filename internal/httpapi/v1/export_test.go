package v1

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// unzip exports the workspace and returns its files.
func (r *rig) unzip() map[string]string {
	r.t.Helper()
	a := r.do(r.browser(get("/v1/workspace/export", "")))
	if a.status != 200 || a.header.Get("Content-Type") != "application/zip" || !strings.Contains(a.header.Get("Content-Disposition"), "attachment") {
		r.t.Fatalf("%d %v %s", a.status, a.header, a.body)
	}
	z, err := zip.NewReader(bytes.NewReader([]byte(a.body)), int64(len(a.body)))
	if err != nil {
		r.t.Fatal(err)
	}
	out := make(map[string]string)
	for _, f := range z.File {
		rc, err := f.Open()
		if err != nil {
			r.t.Fatal(err)
		}
		b, err := io.ReadAll(rc)
		if err != nil {
			r.t.Fatal(err)
		}
		_ = rc.Close()
		out[f.Name] = string(b)
	}
	return out
}

func TestExport(t *testing.T) {
	r := newRig(t, withSources)
	r.run(t, []scenario{
		{name: "a token", req: get("/v1/workspace/export", r.full), status: 403, code: rimewatch.CodeForbidden},
		{name: "a device", req: post("/v1/devices", r.full, `{"serial":"A","equipment_type":"walkin_freezer","limits":{"temp_max":-15,"delay_s":0},"confirm_loosening":true}`), status: 201, anyEvents: true},
		{name: "of others", req: post("/v1/devices", r.otherFull, `{"serial":"SECRET-OF-OTHERS","equipment_type":"other"}`), status: 201, anyEvents: true},
		{name: "a site", req: post("/v1/sites", r.full, `{"name":"Main Street"}`), status: 201, anyEvents: true},
		{name: "a channel", req: r.browser(post("/v1/channels", "", `{"name":"hook","kind":"webhook","url":"https://hook.example/very-secret-path"}`)), status: 201, anyEvents: true},
		{name: "a reading", req: post("/v1/readings", r.feed, `{"device_serial":"A","product_zone_temp":-18.5,"recorded_at":"2026-11-20T11:00:00Z"}`), status: 201, anyEvents: true},
		{name: "one that is too warm", req: post("/v1/readings", r.feed, `{"device_serial":"A","product_zone_temp":-5}`), status: 201, anyEvents: true},
	})
	r.run(t, []scenario{
		{name: "a source", req: r.browser(post("/v1/sources", "", `{"name":"gateway"}`)), status: 201, anyEvents: true},
		{name: "a sender of it", req: post("/v1/sources/1/bind", r.full, `{"bindings":[{"external_id":"probe-7","device_serial":"A"}]}`), status: 200, anyEvents: true},
		{name: "one to delete", req: post("/v1/devices", r.full, `{"serial":"Del","equipment_type":"other"}`), status: 201, anyEvents: true},
		{name: "its reading", req: post("/v1/readings", r.feed, `{"device_serial":"Del","product_zone_temp":-17.25,"recorded_at":"2026-11-20T11:00:00Z"}`), status: 201, anyEvents: true},
		{name: "work on it", req: post("/v1/devices/Del/corrective-actions", r.full, `{"performed_by":"Ann","action":"cleaned"}`), status: 201, anyEvents: true},
		{name: "deleted", req: remove("/v1/devices/Del", r.full), status: 200, anyEvents: true},
		{name: "a case", req: r.browser(post("/v1/cases", "", `{"alert_id":1}`)), status: 201},
		{name: "with an attachment", req: r.browser(post("/v1/cases/1/attachments?name=invoice.pdf", "", "%PDF-1.7 invoice").with("Content-Type", "application/pdf")), status: 201},
		{name: "a logo", req: r.browser(put("/v1/workspace/logo", "", tinyPNG).with("Content-Type", "image/png")), status: 200},
		{name: "work ordered for a site", req: r.browser(post("/v1/work-orders", "", `{"site_id":1,"problem":"Door","urgency":"soon"}`)), status: 201, anyEvents: true},
		{name: "with a photo", req: r.browser(post("/v1/work-orders/1/attachments?name=door.pdf", "", "%PDF-1.7 door").with("Content-Type", "application/pdf")), status: 201, anyEvents: true},
		{name: "its second life", req: post("/v1/devices", r.full, `{"serial":"del","equipment_type":"other"}`), status: 201, anyEvents: true},
		{name: "a reading of that", req: post("/v1/readings", r.feed, `{"device_serial":"del","product_zone_temp":-16.75,"recorded_at":"2026-11-20T11:00:00Z"}`), status: 201, anyEvents: true},
	})
	files := r.unzip()
	gone := regexp.MustCompile(`"id":(\d+),"serial":"Del"`).FindStringSubmatch(files["deleted-devices.json"])
	if gone == nil {
		t.Fatalf("deleted devices: %s", files["deleted-devices.json"])
	}
	life := "Del~" + gone[1]
	for file, want := range map[string]string{"readings/" + life + ".csv": "-17.25", "hourly/" + life + ".csv": "-17.25", "readings/del.csv": "-16.75", "deleted-devices.json": `"deleted_at":"2026-`} {
		if !strings.Contains(files[file], want) {
			t.Errorf("%s lacks %s: %s", file, want, files[file])
		}
	}
	history := "/v1/devices/" + life + "/readings"
	r.run(t, []scenario{
		{name: "others ask for the deleted device", req: get(history, r.otherFull), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "another serial", req: get("/v1/devices/A~"+gone[1]+"/readings", r.full), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "one that exists", req: get("/v1/devices/A~1/readings", r.full), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "no id", req: get("/v1/devices/Del~x/readings", r.full), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "itself", req: get(history, r.full), status: 200},
		{name: "its calibrations", req: get("/v1/devices/"+life+"/calibrations", r.full), status: 200},
		{name: "what was done to it", req: get("/v1/devices/"+life+"/corrective-actions", r.full), status: 200, want: map[string]any{"data.corrective_actions.0.action": "cleaned"}},
		{name: "of others", req: get("/v1/devices/"+life+"/corrective-actions", r.otherFull), status: 404, code: rimewatch.CodeDeviceNotFound},
	})
	for file, want := range map[string]string{
		"workspace.json": `"name":"Alpha"`, "sites.json": `"name":"Main Street"`, "contacts.json": "[]", "members.json": `"email":"olga@example.com"`, "tokens.json": `"prefix":"rw_`,
		"devices.json": `"serial":"A"`, "channels.json": `"name":"hook"`, "routes.json": "[]", "rotas.json": "[]", "report-schedules.json": "[]", "silences.json": "[]", "maintenance-windows.json": "[]", "maintenance-plans.json": "[]", "invitations.json": "[]",
		"excursions.json": "[]", "sources.json": `"name":"gateway"`, "source-keys.json": `"prefix":"in_`, "source-bindings.json": `"external_id":"probe-7"`, "audit.json": `"action":"device.created"`, "alerts-active.json": `"type":"high_temperature"`, "alerts-resolved.json": "[]",
		"alert-timelines.json": `"alert_id":1`, "alert-deliveries.json": `"alert_id":1`, "corrective-actions.json": `"alert_id":1`, "calibrations.json": `"device_serial":"A"`, "work.json": `"action":"cleaned"`,
		"check-templates.json": `[]`, "checks.json": `[]`, "logo": "\x89PNG\r\n", "cases.json": `"alert_id":1`, "case-records.json": `"name":"invoice.pdf"`, "attachments/case-1-1.pdf": "%PDF-1.7 invoice", "work-orders.json": `"problem":"Door"`, "attachments/work-order-1-2.pdf": "%PDF-1.7 door",
		"readings/A.csv": "2026-11-20T11:00:00.000Z", "hourly/A.csv": "2026-11-20T11:00:00.000Z",
	} {
		if !strings.Contains(files[file], want) {
			t.Errorf("%s lacks %s: %s", file, want, files[file])
		}
		if strings.HasSuffix(file, ".json") && !json.Valid([]byte(files[file])) {
			t.Errorf("%s is no JSON: %s", file, files[file])
		}
		if n := strings.Count(files[file], "\n"); strings.HasSuffix(file, ".csv") && n != 3 && file == "readings/A.csv" {
			t.Errorf("%s has %d lines, want a head and two readings:\n%s", file, n, files[file])
		}
	}
	if len(files) != 42 {
		t.Errorf("%d files, want 42: what is new needs a row above, and a look at what it may show", len(files))
	}
	for file, text := range files {
		for _, secret := range []string{"SECRET-OF-OTHERS", "very-secret-path", r.full, "argon2id"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %s", file, secret)
			}
		}
	}
}

// TestEverythingIsExported: a route that lists what belongs to a workspace is part
// of the export, or says here why not.
func TestEverythingIsExported(t *testing.T) {
	r := newRig(t, withSources)
	source, err := os.ReadFile("../export/export.go")
	if err != nil {
		t.Fatal(err)
	}
	asked := regexp.MustCompile(`"/v1/[^"]*"`).FindAllString(string(source), -1)
	not := map[string]string{
		"/v1/stream": "a stream", "/v1/acts": "over in ten seconds, and in the audit trail", "/v1/events": "said by the rest", "/v1/webhooks/{id}/deliveries": "events that were sent", "/v1/tokens/{id}/requests": "of a week, for who looks for a fault", "/v1/workspace/export": "itself", "/v1/reports/temperature-log": "made from the rest", "/v1/reports/sites": "counted", "/v1/cases/{id}/report.pdf": "made from the rest", "/v1/sites/{id}/called": "made from the rest", "/v1/check-packs": "of the program",
		"/v1/readings/latest": "part of readings", "/v1/readings": "in readings, by device", "/v1/alerts/counts": "counted", "/v1/metrics": "counted, and part of readings", "/v1/sensors": "in devices", "/v1/devices/health/summary": "counted", "/v1/notifications/coverage": "made from the rest", "/v1/rotas/{id}/on-duty": "made from the rest", "/v1/devices/{serial}/prediction": "made from the rest", "/v1/predictions/quality": "counted", "/v1/status": "made from the rest",
		"/v1/equipment-types": "the same for all", "/v1/address": "the installation's", "/v1/me": "the person's", "/v1/token": "in tokens", "/v1/me/workspaces": "the person's", "/v1/me/sessions": "the person's", "/v1/me/channels": "in channels", "/v1/me/second-factor": "the person's",
		"/v1/reports/jobs/{id}/file": "made from the rest", "/v1/source-templates": "the same for all", "/v1/sources/{id}/held": "not data of the workspace before somebody accepts the sender", "/v1/channels/{id}/deliveries": "in alert-deliveries, but for tests of a channel",
	}
	for _, rt := range r.api.Routes() {
		one := strings.HasSuffix(rt.Path, "}") // in its list
		if rt.Method != "GET" || rt.Access.Public || one || rt.Listed != "" || not[rt.Path] != "" {
			continue
		}
		if !slices.Contains(asked, `"`+rt.Path+`"`) {
			t.Errorf("%s is not exported", rt.Path)
		}
	}
}
