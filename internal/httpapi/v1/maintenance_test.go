package v1

import (
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

func TestMaintenanceWindows(t *testing.T) {
	r := newRig(t)
	r.device("A", "walkin_freezer")
	r.device("B", "walkin_freezer")
	r.do(post("/v1/sites", r.full, `{"name":"Harbour"}`))
	r.do(post("/v1/sites", r.otherFull, `{"name":"Foreign"}`))
	windows := func(query string) request { return get("/v1/maintenance-windows"+query, r.read) }
	make := func(body string) request { return post("/v1/maintenance-windows", r.full, body) }
	invalid := func(name, body string, fields ...string) scenario {
		return scenario{name: name, req: make(body), status: 422, code: rimewatch.CodeValidationFailed, fields: fields}
	}
	r.events.take(t, 2)
	r.run(t, []scenario{
		{name: "none", req: windows(""), status: 200, want: map[string]any{"data.maintenance_windows": "[]"}},
		{name: "the device is in none", req: get("/v1/devices/A", r.read), status: 200, want: map[string]any{"data.device.maintenance": nil}},
		invalid("no end", `{"reason":"x"}`, "ends_at"),
		invalid("no reason", `{"ends_at":"2026-11-20T13:00:00Z"}`, "reason"),
		invalid("a blank reason", `{"reason":" ","ends_at":"2026-11-20T13:00:00Z"}`, "reason"),
		invalid("an end in the past", `{"reason":"x","ends_at":"2026-11-20T12:00:00Z"}`, "ends_at"),
		invalid("an end before the start", `{"reason":"x","starts_at":"2026-11-21T12:00:00Z","ends_at":"2026-11-20T13:00:00Z"}`, "ends_at"),
		invalid("too long", `{"reason":"x","ends_at":"2026-12-21T12:00:00Z"}`, "ends_at"),
		invalid("an unknown field", `{"reason":"x","ends_at":"2026-11-20T13:00:00Z","created_by":"me"}`, "created_by"),
		invalid("another workspace's site", `{"reason":"x","ends_at":"2026-11-20T13:00:00Z","site_ids":[2]}`, "site_ids"),
		{name: "an unknown device", req: make(`{"reason":"x","ends_at":"2026-11-20T13:00:00Z","device_serials":["Z"]}`), status: 422, code: rimewatch.CodeUnknownDevice, fields: []string{"device_serials"}},
		{name: "by a reader", req: post("/v1/maintenance-windows", r.read, `{"reason":"x","ends_at":"2026-11-20T13:00:00Z"}`), status: 403, code: rimewatch.CodeForbidden},
		{name: "nothing was stored", req: windows("?ended=true"), status: 200, want: map[string]any{"data.maintenance_windows": "[]"}},
		{
			name: "one device", req: r.browser(post("/v1/maintenance-windows", "", `{"reason":"new gaskets","ends_at":"2026-11-20T13:00:00Z","device_serials":["a"],"starts_at":"2020-01-01T00:00:00Z"}`)), status: 201,
			header: map[string]string{"Location": "/api/v1/maintenance-windows/1"}, anyEvents: true,
			want: map[string]any{
				"data.maintenance_window.id": 1, "data.maintenance_window.device_serials": "[A]", "data.maintenance_window.site_ids": "[]", "data.maintenance_window.active": true,
				"data.maintenance_window.starts_at": "2026-11-20T12:00:00.000Z", "data.maintenance_window.created_by": "Olga <olga@example.com>", "data.maintenance_window.reason": "new gaskets",
			},
		},
		{name: "the device is in it", req: get("/v1/devices/A", r.read), status: 200, want: map[string]any{"data.device.maintenance.id": 1, "data.device.maintenance.reason": "new gaskets", "data.device.maintenance.ends_at": "2026-11-20T13:00:00.000Z"}},
		{name: "the other is not", req: get("/v1/devices/B", r.read), status: 200, want: map[string]any{"data.device.maintenance": nil}},
		{name: "a site, tomorrow", req: make(`{"reason":"x","starts_at":"2026-11-21T12:00:00Z","ends_at":"2026-11-21T13:00:00Z","site_ids":[1]}`), status: 201, anyEvents: true, want: map[string]any{"data.maintenance_window.active": false, "data.maintenance_window.site_ids": "[1]"}},
		{name: "list", req: windows(""), status: 200, want: map[string]any{"data.maintenance_windows.0.id": 1, "data.maintenance_windows.1.id": 2, "data.maintenance_windows.2": nil}},
		{name: "of another workspace", req: get("/v1/maintenance-windows", r.otherFull), status: 200, want: map[string]any{"data.maintenance_windows": "[]"}},
		{name: "one of another workspace", req: get("/v1/maintenance-windows/1", r.otherFull), status: 404, code: rimewatch.CodeNotFound},
		{name: "end one of another workspace", req: post("/v1/maintenance-windows/1/end", r.otherFull, ``), status: 404, code: rimewatch.CodeNotFound},
		{name: "end by a reader", req: post("/v1/maintenance-windows/1/end", r.read, ``), status: 403, code: rimewatch.CodeForbidden},
		{name: "end early", req: post("/v1/maintenance-windows/1/end", r.full, ``), before: func(r *rig) { r.advance(time.Minute) }, status: 200, anyEvents: true, want: map[string]any{"data.maintenance_window.ends_at": "2026-11-20T12:01:00.000Z", "data.maintenance_window.active": false}},
		{name: "the device is out of it", req: get("/v1/devices/A", r.read), status: 200, want: map[string]any{"data.device.maintenance": nil}},
		{name: "end again", req: post("/v1/maintenance-windows/1/end", r.full, ``), status: 409, code: rimewatch.CodeConflict},
		{name: "end what has not begun", req: post("/v1/maintenance-windows/2/end", r.full, ``), status: 200, anyEvents: true, want: map[string]any{"data.maintenance_window.ends_at": "2026-11-21T12:00:00.000Z"}},
		{name: "one", req: get("/v1/maintenance-windows/1", r.read), status: 200, want: map[string]any{"data.maintenance_window.reason": "new gaskets"}},
		{name: "those that are over, too", req: windows("?ended=true"), status: 200, want: map[string]any{"data.maintenance_windows.0.id": 1}},
		{name: "who did it", req: r.browser(get("/v1/audit?action=maintenance.ended", "")), status: 200, want: map[string]any{"data.entries.0.actor": "token test", "data.entries.1.subject": "maintenance 1", "data.entries.2": nil}},
	})
}

// TestMaintenancePlans: a plan makes ordinary windows, by the clocks of its sites, and takes back those that have not begun.
func TestMaintenancePlans(t *testing.T) {
	r := newRig(t)
	r.device("A", "walkin_freezer")
	r.do(post("/v1/sites", r.full, `{"name":"Harbour","timezone":"Europe/Berlin"}`))
	r.do(post("/v1/sites", r.full, `{"name":"Quay","timezone":"Asia/Tokyo"}`))
	ben, vera := r.person(t, "Ben", rimewatch.RoleTechnician), r.person(t, "Vera", rimewatch.RoleViewer)
	token := r.token(r.workspace.ID, rimewatch.ScopeNotifications)
	const path = "/v1/maintenance-plans"
	windows := get("/v1/maintenance-windows", r.read)
	invalid := func(name, body string, fields ...string) scenario {
		return scenario{name: name, req: post(path, token, body), status: 422, code: rimewatch.CodeValidationFailed, fields: fields}
	}
	at := func(site string) string {
		return `{"reason":"Cleaning",` + site + `"days":["fri","sat"],"from":"05:30","to":"07:00"}`
	}
	r.events.take(t, 1)
	r.run(t, []scenario{
		{name: "none", req: vera(get(path, "")), status: 200, want: map[string]any{"data.maintenance_plans": "[]"}},
		invalid("no day", `{"reason":"x","days":[],"from":"05:30","to":"07:00"}`, "days"),
		invalid("no time of day", `{"reason":"x","days":["mon"],"from":"24:00","to":"07:00"}`, "from"),
		invalid("more than half a day", `{"reason":"x","days":["mon"],"from":"05:30","to":"05:30"}`, "to"),
		invalid("a blank reason", `{"reason":" ","days":["mon"],"from":"05:30","to":"07:00"}`, "reason"),
		invalid("no such site", at(`"site_ids":[9],`), "site_ids"),
		{name: "no such device", req: post(path, token, at(`"device_serials":["Z"],`)), status: 422, code: rimewatch.CodeUnknownDevice, fields: []string{"device_serials"}},
		{name: "by a person who has not said what it is about", req: ben(post(path, "", at(""))), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"site_ids"}},
		{name: "by a viewer", req: vera(post(path, "", at(`"site_ids":[1],`))), status: 403, code: rimewatch.CodeForbidden},
		{name: "without the scope", req: post(path, r.full, at(`"site_ids":[1],`)), status: 403, code: rimewatch.CodeForbidden},
		{name: "two sites", req: ben(post(path, "", at(`"site_ids":[1,2],`))), status: 201, anyEvents: true, header: map[string]string{"Location": "/api/v1/maintenance-plans/1"}, want: map[string]any{
			"data.maintenance_plan.site_ids": "[1 2]", "data.maintenance_plan.device_serials": "[]", "data.maintenance_plan.days": "[fri sat]", "data.maintenance_plan.from": "05:30", "data.maintenance_plan.to": "07:00",
			"data.maintenance_plan.enabled": true, "data.maintenance_plan.created_by": "Ben <ben@example.com>",
		}},
		{name: "its windows", req: windows, status: 200, want: map[string]any{
			"data.maintenance_windows.0.site_ids": "[1]", "data.maintenance_windows.0.starts_at": "2026-11-21T04:30:00.000Z", "data.maintenance_windows.0.ends_at": "2026-11-21T06:00:00.000Z",
			"data.maintenance_windows.0.plan_id": 1, "data.maintenance_windows.0.created_by": "plan Cleaning", "data.maintenance_windows.0.reason": "Cleaning",
			"data.maintenance_windows.1.site_ids": "[2]", "data.maintenance_windows.1.starts_at": "2026-11-20T20:30:00.000Z", "data.maintenance_windows.2": nil,
		}},
		{name: "ended by hand", req: post("/v1/maintenance-windows/1/end", r.full, ""), status: 200, anyEvents: true, want: map[string]any{"data.maintenance_window.ends_at": "2026-11-21T04:30:00.000Z"}},
		{name: "changed where that does not matter", req: patch(path+"/1", token, `{"enabled":true}`), status: 200, want: map[string]any{"data.maintenance_plan.reason": "Cleaning"}},
		{name: "what was ended is not made again", req: windows, status: 200, want: map[string]any{"data.maintenance_windows.0.id": 1, "data.maintenance_windows.1.id": 2, "data.maintenance_windows.2": nil}},
		{name: "on another day", req: patch(path+"/1", token, `{"days":["sun"]}`), status: 200, anyEvents: true, want: map[string]any{"data.maintenance_plan.days": "[sun]"}},
		{name: "they are withdrawn", req: windows, status: 200, want: map[string]any{"data.maintenance_windows.1": nil}},
		{name: "a device without a site, and switched off", req: post(path, token, `{"reason":"Ice","device_serials":["a"],"days":["fri","sat"],"from":"13:00","to":"14:00","enabled":false}`), status: 201, want: map[string]any{"data.maintenance_plan.device_serials": "[A]"}},
		{name: "switched on", req: patch(path+"/2", token, `{"enabled":true}`), status: 200, anyEvents: true, want: map[string]any{"data.maintenance_plan.enabled": true}},
		{name: "its window", req: get("/v1/maintenance-windows?ended=true", r.read), status: 200, want: map[string]any{
			"data.maintenance_windows.0.id": 1, "data.maintenance_windows.1.device_serials": "[A]", "data.maintenance_windows.1.starts_at": "2026-11-20T13:00:00.000Z", "data.maintenance_windows.1.plan_id": 2, "data.maintenance_windows.2": nil,
		}},
		{name: "deleted while it runs", req: remove(path+"/2", token), before: func(r *rig) { r.advance(90 * time.Minute) }, status: 200, anyEvents: true},
		{name: "what runs stays", req: get("/v1/devices/A", r.read), status: 200, want: map[string]any{"data.device.maintenance.reason": "Ice"}},
		{name: "of another workspace", req: get(path+"/1", r.token(r.other.ID, rimewatch.ScopeNotifications)), status: 404, code: rimewatch.CodeNotFound},
		{name: "who withdrew it", req: r.browser(get("/v1/audit?action=maintenance.withdrawn", "")), status: 200, want: map[string]any{"data.entries.0.actor": "plan Cleaning", "data.entries.1": nil}},
	})
}
