package v1

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

func TestDevices(t *testing.T) {
	r := newRig(t)
	site := rimewatch.Site{WorkspaceID: r.workspace.ID, Name: "Back room", TimeZone: "Europe/Berlin"}
	err := r.accounts.Sites(account.Operator(r.workspace.ID)).Create(t.Context(), &site)
	if err != nil {
		t.Fatal(err)
	}
	r.run(t, []scenario{
		{
			name: "empty list", req: get("/v1/devices", r.full), status: 200,
			want: map[string]any{"data.pagination.total": 0, "data.pagination.last_page": 1, "data.pagination.from": nil, "data.pagination.per_page": 15},
		},
		{
			name: "create with the least", req: post("/v1/devices", r.full, `{"serial":"WIF-0001"}`), status: 201,
			want: map[string]any{
				"data.device.serial": "WIF-0001", "data.device.name": "WIF-0001", "data.device.equipment_type": "other", "data.device.status": "offline",
				"data.device.current_temp": nil, "data.device.last_seen_at": nil, "data.device.offline_after_s": 180, "data.device.heartbeat_interval_s": nil,
				"data.device.latest_reading": nil, "data.device.health.score": nil, "data.device.judged": false, "data.device.site": nil,
			},
			header: map[string]string{"Location": "/api/v1/devices/WIF-0001", "Content-Type": "application/json"},
			events: []string{"device.created"},
		},
		{
			name: "create with everything",
			req: post("/v1/devices", r.full, fmt.Sprintf(`{"serial":"wic:2","name":"Cooler ❄","equipment_type":"walkin_cooler","site_id":%d,"labels":{"aisle":"4"},
				"manufacturer":"M","model":"X1","firmware_version":"1.2","notes":"two\nlines","installed_at":"2024-05-01T10:00:00+02:00",
				"heartbeat_interval_s":60,"offline_after_s":600,"limits":{"temp_max":4.5,"delay_s":120}}`, site.ID)),
			status: 201,
			want: map[string]any{
				"data.device.site.name": "Back room", "data.device.site.timezone": "Europe/Berlin", "data.device.labels.aisle": "4", "data.device.installed_at": "2024-05-01T08:00:00.000Z",
				"data.device.limits.temp_max": 4.5, "data.device.limits.delay_s": 120, "data.device.limits.temp_min": 0, "data.device.limits.source": "device",
				"data.device.offline_after_s": 600, "data.device.heartbeat_interval_s": 60,
			},
			events: []string{"device.created"},
		},
		{name: "serial taken in another case", req: post("/v1/devices", r.full, `{"serial":"wif-0001"}`), status: 409, code: rimewatch.CodeSerialTaken},
		{name: "the same serial in another workspace", req: post("/v1/devices", r.otherFull, `{"serial":"WIF-0001"}`), status: 201, events: []string{"device.created"}},
		{name: "a name of two lines", req: post("/v1/devices", r.full, `{"serial":"L","name":"Freezer\r\nAll is well"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"name"}},
		{name: "no serial", req: post("/v1/devices", r.full, `{}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"serial"}},
		{name: "serial ..", req: post("/v1/devices", r.full, `{"serial":".."}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"serial"}},
		{name: "serial with a slash", req: post("/v1/devices", r.full, `{"serial":"a/b"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"serial"}},
		{name: "serial too long", req: post("/v1/devices", r.full, `{"serial":"`+strings.Repeat("x", 65)+`"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"serial"}},
		{
			name: "mass assignment", req: post("/v1/devices", r.full, `{"serial":"X","id":7,"workspace_id":2,"status":"online","created_at":"2020-01-01T00:00:00Z"}`),
			status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"created_at", "id", "status", "workspace_id"},
		},
		{name: "mis-cased field", req: post("/v1/devices", r.full, `{"serial":"X","Name":"x"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"Name"}, contains: []string{"did you mean name?"}},
		{name: "wrong types", req: post("/v1/devices", r.full, `{"serial":1,"name":[],"labels":{"a":1},"heartbeat_interval_s":"60","site_id":1.5}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"heartbeat_interval_s", "labels.a", "name", "serial", "site_id"}},
		{name: "unknown site", req: post("/v1/devices", r.full, `{"serial":"X","site_id":999}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"site_id"}},
		{name: "offline_after_s too short", req: post("/v1/devices", r.full, `{"serial":"X","offline_after_s":9}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"offline_after_s"}},
		{name: "limits that contradict each other", req: post("/v1/devices", r.full, `{"serial":"X","limits":{"temp_min":5,"temp_max":5}}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"limits.temp_min"}},
		{name: "limit out of range", req: post("/v1/devices", r.full, `{"serial":"X","limits":{"temp_min":-101,"clear_delta":1e999}}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"limits.clear_delta", "limits.temp_min"}},
		{name: "unknown limit", req: post("/v1/devices", r.full, `{"serial":"X","limits":{"max":1}}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"limits.max"}},
		{name: "NUL in a name", req: post("/v1/devices", r.full, `{"serial":"X","name":"a\u0000b"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"name"}},
		{name: "empty name", req: post("/v1/devices", r.full, `{"serial":"X","name":""}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"name"}},
		{name: "name too long", req: post("/v1/devices", r.full, `{"serial":"X","name":"`+strings.Repeat("é", 201)+`"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"name"}},
		{name: "too many labels", req: post("/v1/devices", r.full, `{"serial":"X","labels":{`+manyLabels(33)+`}}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"labels"}},
		{name: "as many labels as allowed", req: post("/v1/devices", r.full, `{"serial":"labels","labels":{`+manyLabels(32)+`}}`), status: 201, events: []string{"device.created"}},
		{name: "label key and value too long", req: post("/v1/devices", r.full, `{"serial":"X","labels":{"`+strings.Repeat("k", 65)+`":"v","v":"`+strings.Repeat("v", 257)+`"}}`), status: 422, code: rimewatch.CodeValidationFailed},
		{name: "body an array", req: post("/v1/devices", r.full, `[{"serial":"X"}]`), status: 400, code: rimewatch.CodeInvalidJSON},

		{name: "get in another case", req: get("/v1/devices/wif-0001", r.read), status: 200, want: map[string]any{"data.device.serial": "WIF-0001"}},
		{name: "get unknown", req: get("/v1/devices/none", r.full), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "get of another workspace", req: get("/v1/devices/wic:2", r.otherFull), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "get by what cannot be a serial", req: get("/v1/devices/a%2Fb", r.full), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "get by dots", req: get("/v1/devices/%2e%2e", r.full), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "get by plain dots", req: get("/v1/devices/..", r.full), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "get by NUL", req: get("/v1/devices/%00", r.full), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "get by bad UTF-8", req: get("/v1/devices/%ff", r.full), status: 404, code: rimewatch.CodeDeviceNotFound},

		{
			name: "patch", req: patch("/v1/devices/WIF-0001", r.full, `{"name":"Freezer","equipment_type":"walkin_freezer","limits":{"temp_max":-16},"notes":"n"}`), status: 200,
			want:   map[string]any{"data.device.name": "Freezer", "data.device.limits.temp_max": -16, "data.device.limits.temp_min": -30, "data.device.notes": "n"},
			events: []string{"device.updated"},
		},
		{name: "patch one limit more", req: patch("/v1/devices/WIF-0001", r.full, `{"limits":{"delay_s":60}}`), status: 200, want: map[string]any{"data.device.limits.temp_max": -16, "data.device.limits.delay_s": 60}, events: []string{"device.updated"}},
		{name: "patch a limit away", req: patch("/v1/devices/WIF-0001", r.full, `{"limits":{"temp_max":null}}`), status: 200, want: map[string]any{"data.device.limits.temp_max": -15, "data.device.limits.delay_s": 60}, events: []string{"device.updated"}},
		{name: "patch all limits away", req: patch("/v1/devices/WIF-0001", r.full, `{"limits":null,"notes":null,"name":null}`), status: 200, want: map[string]any{"data.device.limits.source": "equipment_type", "data.device.notes": "", "data.device.name": "WIF-0001"}, events: []string{"device.updated"}},
		{name: "patch the serial", req: patch("/v1/devices/WIF-0001", r.full, `{"serial":"other"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"serial"}},
		{name: "patch unknown", req: patch("/v1/devices/none", r.full, `{"name":"x"}`), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "patch of another workspace", req: patch("/v1/devices/wic:2", r.otherFull, `{"name":"x"}`), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "fields before existence", req: patch("/v1/devices/none", r.full, `{"name":1}`), status: 422, code: rimewatch.CodeValidationFailed},
		{name: "patch without a body", req: patch("/v1/devices/WIF-0001", r.full, ``), status: 400, code: rimewatch.CodeInvalidJSON},

		{name: "heartbeat without a body", req: patch("/v1/devices/WIF-0001/heartbeat", r.feed, ``), status: 200, want: map[string]any{"data.device.status": "online", "data.server_time": "2026-11-20T12:00:00.000Z", "data.device.last_heartbeat_at": "2026-11-20T12:00:00.000Z"}, events: []string{"device.online"}},
		{
			name: "heartbeat with everything",
			req:  patch("/v1/devices/WIF-0001/heartbeat", r.feed, `{"status":"online","sent_at":"2026-11-20T11:59:59Z","firmware_version":"2.0","battery_pct":87.5,"rssi_dbm":-61,"uptime_s":12345,"heartbeat_interval_s":30}`), status: 200,
			want:   map[string]any{"data.device.firmware_version": "2.0", "data.device.battery_pct": 87.5, "data.device.rssi_dbm": -61, "data.device.uptime_s": 12345, "data.device.heartbeat_interval_s": 30, "data.device.offline_after_s": 180},
			events: []string{"device.updated"},
		},
		{name: "heartbeat announces the end", req: patch("/v1/devices/WIF-0001/heartbeat", r.feed, `{"status":"offline"}`), status: 200, want: map[string]any{"data.device.status": "offline"}, events: []string{"device.offline"}},
		{name: "heartbeat with nulls", req: patch("/v1/devices/WIF-0001/heartbeat", r.feed, `{"status":null,"battery_pct":null,"sent_at":null}`), status: 200, want: map[string]any{"data.device.status": "online", "data.device.battery_pct": 87.5}, events: []string{"device.online"}},
		{name: "heartbeat of a bad state", req: patch("/v1/devices/WIF-0001/heartbeat", r.feed, `{"status":"asleep","battery_pct":101,"uptime_s":-1,"heartbeat_interval_s":0}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"battery_pct", "heartbeat_interval_s", "status", "uptime_s"}},
		{name: "heartbeat of unknown", req: patch("/v1/devices/none/heartbeat", r.feed, ``), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "heartbeat of another workspace", req: patch("/v1/devices/wic:2/heartbeat", r.otherFull, ``), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "heartbeat with a body without a type", req: patch("/v1/devices/WIF-0001/heartbeat", r.feed, `{}`).with("Content-Type", ""), status: 200},

		{name: "list", req: get("/v1/devices", r.read), status: 200, want: map[string]any{"data.pagination.total": 3, "data.devices.0.serial": "WIF-0001", "data.devices.1.site.name": "Back room", "data.devices.0.status": "online"}},
		{name: "list by status", req: get("/v1/devices?status=online", r.read), status: 200, want: map[string]any{"data.pagination.total": 1}},
		{name: "list by a bad status", req: get("/v1/devices?status=Online", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"status"}},
		{name: "an empty filter is an absent one", req: get("/v1/devices?status=", r.read), status: 200, want: map[string]any{"data.devices.1.serial": "wic:2"}},
		{name: "list by type", req: get("/v1/devices?equipment_type=walkin_cooler", r.read), status: 200, want: map[string]any{"data.pagination.total": 1, "data.devices.0.serial": "wic:2"}},
		{name: "list by an unknown type", req: get("/v1/devices?equipment_type=zeppelin", r.read), status: 200, want: map[string]any{"data.pagination.total": 0}},
		{name: "list by site", req: get(fmt.Sprintf("/v1/devices?site_id=%d", site.ID), r.read), status: 200, want: map[string]any{"data.pagination.total": 1}},
		{name: "list by a bad site", req: get("/v1/devices?site_id=x", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"site_id"}},
		{name: "list by text", req: get("/v1/devices?q="+url.QueryEscape("COOLER ❄"), r.read), status: 200, want: map[string]any{"data.pagination.total": 1}},
		{name: "list by text of the serial", req: get("/v1/devices?q=0001", r.read), status: 200, want: map[string]any{"data.pagination.total": 1}},
		{name: "list by a wildcard", req: get("/v1/devices?q=%25", r.read), status: 200, want: map[string]any{"data.pagination.total": 0}},
		{name: "list by bad UTF-8", req: get("/v1/devices?q=%ff", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"q"}},
		{name: "list with a malformed query", req: get("/v1/devices?per_page=%zz", r.read), status: 422, code: rimewatch.CodeValidationFailed},
		{name: "unknown parameters are ignored", req: get("/v1/devices?foo=bar&flag", r.read), status: 200},
		{name: "another workspace sees its own", req: get("/v1/devices", r.otherFull), status: 200, want: map[string]any{"data.pagination.total": 1}},

		{name: "delete of another workspace", req: remove("/v1/devices/wic:2", r.otherFull), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "delete", req: remove("/v1/devices/wic:2", r.full), status: 200, want: map[string]any{"data.device.serial": "wic:2"}, events: []string{"device.deleted"}},
		{name: "delete again", req: remove("/v1/devices/wic:2", r.full), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "register again", req: post("/v1/devices", r.full, `{"serial":"WIC:2"}`), status: 201, want: map[string]any{"data.device.serial": "WIC:2", "data.device.labels": map[string]any{}}, events: []string{"device.created"}},
		{name: "equipment types", req: get("/v1/equipment-types", r.read), status: 200, contains: []string{`"slug":"walkin_freezer"`, `"slug":"other"`}},
	})
}

func manyLabels(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`"k%d":"v"`, i)
	}
	return strings.Join(all, ",")
}

// TestZone: who looks at a device sees that it is out of its limits, and when that
// is alerted.
func TestZone(t *testing.T) {
	r := newRig(t)
	r.do(post("/v1/devices", r.full, `{"serial":"A","equipment_type":"walkin_freezer"}`))
	reading := func(v float64) request {
		return post("/v1/readings", r.feed, fmt.Sprintf(`{"device_serial":"A","product_zone_temp":%v}`, v))
	}
	at := func(d time.Duration) string { return r.now().Add(d).String() }
	r.events.take(t, 1)
	zone := func(since, alert, back any, defrosting bool) map[string]any {
		return map[string]any{"data.device.zone.out_of_limits_since": since, "data.device.zone.alert_at": alert, "data.device.zone.back_by": back, "data.device.zone.defrosting": defrosting}
	}
	r.run(t, []scenario{
		{name: "cold", req: reading(-20), status: 201, anyEvents: true},
		{name: "within", req: get("/v1/devices/A", r.read), status: 200, want: zone(nil, nil, nil, false)},
	})
	r.advance(time.Minute)
	r.run(t, []scenario{
		{name: "warm", req: reading(-12), status: 201, anyEvents: true},
		{name: "above its limit", req: get("/v1/devices/A", r.read), status: 200, want: zone(at(0), at(time.Hour), nil, false)},
		{name: "shut down on purpose", req: patch("/v1/devices/A/heartbeat", r.feed, `{"status":"offline"}`), status: 200, anyEvents: true},
		{name: "no alert is to come", req: get("/v1/devices/A", r.read), status: 200, want: zone(at(0), nil, nil, false)},
	})
	r.advance(time.Minute)
	r.run(t, []scenario{
		{
			name: "a declared defrost", req: post("/v1/readings", r.feed, `{"device_serial":"A","product_zone_temp":-12,"defrost_active":true}`),
			status: 201, anyEvents: true,
		},
		{name: "defrosting", req: get("/v1/devices/A", r.read), status: 200, want: map[string]any{"data.device.zone.defrosting": true}},
	})
}

// TestClockOfADevice: who looks at a device is told that its clock is wrong, and how
// far; a backlog, and a logger that rounds its times up, are no wrong clocks.
func TestClockOfADevice(t *testing.T) {
	r := newRig(t)
	for _, serial := range []string{"BEHIND", "AHEAD", "ROUNDS", "BACKLOG", "TWO"} {
		r.do(post("/v1/devices", r.full, `{"serial":"`+serial+`","equipment_type":"walkin_cooler","offline_after_s":180}`))
	}
	for i := range 10 {
		for serial, off := range map[string]time.Duration{
			"BEHIND": -2 * time.Hour, "AHEAD": 4 * time.Minute, "ROUNDS": 30 * time.Second, "BACKLOG": time.Duration(i-60) * time.Minute,
		} {
			r.do(post("/v1/readings", r.feed, fmt.Sprintf(`{"device_serial":%q,"recorded_at":%q,"product_zone_temp":3}`, serial, r.now().Add(off))))
		}
		for _, off := range []time.Duration{0, 250 * time.Second} {
			r.do(post("/v1/readings", r.feed, fmt.Sprintf(`{"device_serial":"TWO","recorded_at":%q,"product_zone_temp":3}`, r.now().Add(off))))
		}
		r.advance(time.Minute)
	}
	r.run(t, []scenario{
		{name: "two senders", req: get("/v1/devices/TWO", r.read), status: 200, anyEvents: true, want: map[string]any{"data.device.clock.several": true}},
		{name: "behind", req: get("/v1/devices/BEHIND", r.read), status: 200, anyEvents: true, want: map[string]any{"data.device.clock.offset_s": -7200}},
		{name: "ahead", req: get("/v1/devices/AHEAD", r.read), status: 200, want: map[string]any{"data.device.clock.offset_s": 240}},
		{name: "rounds", req: get("/v1/devices/ROUNDS", r.read), status: 200, want: map[string]any{"data.device.clock": nil}},
		{name: "a backlog", req: get("/v1/devices/BACKLOG", r.read), status: 200, want: map[string]any{"data.device.clock": nil}},
	})
}

func TestDevicePaging(t *testing.T) {
	r := newRig(t)
	for i := range 32 {
		r.device(fmt.Sprintf("D-%02d", i), "other")
	}
	r.events.take(t, 32)
	r.run(t, []scenario{
		{
			name: "first page", req: get("/v1/devices", r.read), status: 200,
			want:   map[string]any{"data.pagination.current_page": 1, "data.pagination.per_page": 15, "data.pagination.total": 32, "data.pagination.last_page": 3, "data.pagination.from": 1, "data.pagination.to": 15},
			header: map[string]string{"Link": `</api/v1/devices?page=2>; rel="next"`},
		},
		{name: "last page", req: get("/v1/devices?page=3", r.read), status: 200, want: map[string]any{"data.pagination.from": 31, "data.pagination.to": 32, "data.pagination.next_cursor": nil, "data.devices.1.serial": "D-31", "data.devices.2": nil}, header: map[string]string{"Link": ""}},
		{name: "past the end", req: get("/v1/devices?page=4", r.read), status: 200, want: map[string]any{"data.pagination.current_page": 4, "data.pagination.from": nil, "data.pagination.to": nil, "data.pagination.total": 32, "data.devices.0": nil}},
		{name: "far past the end", req: get("/v1/devices?page=9223372036854775807&per_page=100", r.read), status: 200, want: map[string]any{"data.devices.0": nil}},
		{name: "farther than numbers go", req: get("/v1/devices?page=99999999999999999999999999", r.read), status: 200, want: map[string]any{"data.devices.0": nil}},
		{name: "all on one page", req: get("/v1/devices?per_page=32", r.read), status: 200, want: map[string]any{"data.pagination.last_page": 1, "data.devices.31.serial": "D-31", "data.pagination.next_cursor": nil}},
		{name: "clamped", req: get("/v1/devices?per_page=1001", r.read), status: 200, want: map[string]any{"data.pagination.per_page": 1000}},
		{name: "clamped from far", req: get("/v1/devices?per_page=99999999999999999999", r.read), status: 200, want: map[string]any{"data.pagination.per_page": 1000}},
		{name: "per_page 0", req: get("/v1/devices?per_page=0", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"per_page"}},
		{name: "per_page negative", req: get("/v1/devices?per_page=-5", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"per_page"}},
		{name: "per_page very negative", req: get("/v1/devices?per_page=-99999999999999999999", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"per_page"}},
		{name: "page 0", req: get("/v1/devices?page=0", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"page"}},
		{name: "per_page empty", req: get("/v1/devices?per_page=", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"per_page"}},
		{name: "not integers", req: get("/v1/devices?per_page=1.5&page=two", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"page", "per_page"}},
		{name: "hexadecimal", req: get("/v1/devices?page=0x1", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"page"}},
		{name: "plus sign", req: get("/v1/devices?page=%2B1", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"page"}},
		{name: "forged cursor", req: get("/v1/devices?cursor=AAAA", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"cursor"}},
		{name: "cursor of another list", req: get("/v1/devices?cursor="+r.cursors.Encode(httpapi.CursorAlerts, r.workspace.ID, 5, 0), r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"cursor"}},
		{name: "cursor of another workspace", req: get("/v1/devices?cursor="+r.cursors.Encode(httpapi.CursorDevices, r.other.ID, 5, 0), r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"cursor"}},
		{name: "the filters stay in the link", req: get("/v1/devices?per_page=10&q=D-&x=%26", r.read), status: 200, header: map[string]string{"Link": `</api/v1/devices?page=2&per_page=10&q=D-&x=%26>; rel="next"`}},
	})
	var serials []string
	path := "/v1/devices?per_page=7"
	for path != "" {
		a := r.do(get(path, r.read))
		for i := 0; a.get(fmt.Sprintf("data.devices.%d.serial", i)) != nil; i++ {
			serials = append(serials, a.get(fmt.Sprintf("data.devices.%d.serial", i)).(string))
		}
		if strings.Contains(path, "cursor") && a.get("data.pagination.current_page") != nil {
			t.Error("a page number with a cursor")
		}
		path = ""
		if next, ok := a.get("data.pagination.next_cursor").(string); ok {
			path = "/v1/devices?per_page=7&cursor=" + next
			if link := a.header.Get("Link"); link == "" {
				t.Error("no Link")
			}
		}
	}
	if len(serials) != 32 || serials[0] != "D-00" || serials[31] != "D-31" {
		t.Errorf("by cursor: %v", serials)
	}
}
