package contract

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

var (
	itemKeys   = []string{"id", "serial", "name", "equipment_type", "status", "current_temp", "current_temp_at", "site", "last_seen_at", "active_alerts", "judged", "limits", "labels"}
	detailKeys = []string{
		"manufacturer", "model", "firmware_version", "notes", "installed_at", "last_heartbeat_at", "status_changed_at", "heartbeat_interval_s",
		"offline_after_s", "health", "latest_reading", "created_at", "updated_at",
	}
	limitKeys = []string{"temp_min", "temp_max", "delay_s", "low_delay_s", "critical_min", "critical_max", "critical_delay_s", "clear_delta", "clear_s", "exposure_min_per_day", "offline_after_s", "source"}
)

// hasKeys reports whether an object has all of the keys, and maybe others.
func hasKeys(names ...[]string) test {
	return func(v any) bool {
		o, ok := v.(map[string]any)
		for _, list := range names {
			for _, name := range list {
				if _, has := o[name]; !has {
					return false
				}
			}
		}
		return ok
	}
}

// TestDevices reads the sentences about devices.
func TestDevices(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	q := func(method, path, body string) request {
		return request{method: method, path: path, body: body, token: n.full}
	}
	bad := func(says, body string, fields ...string) row {
		return row{says: says, req: q("POST", "/v1/devices", body), status: 422, code: "validation_failed", fields: fields}
	}
	unchanged := func(says, body string, fields ...string) row {
		return row{says: says, req: q("PATCH", "/v1/devices/D-1", body), status: 422, code: "validation_failed", fields: fields}
	}
	longSerial := strings.Repeat("aZ0._:-x", 8)
	s.recite(t, []row{
		{says: "POST 201, only serial required; type other, name = serial by default", req: q("POST", "/v1/devices", `{"serial":"D-1"}`), status: 201, want: map[string]any{
			"data": keys{"device"}, "data.device": hasKeys(itemKeys, detailKeys), "data.device.serial": "D-1", "data.device.name": "D-1", "data.device.equipment_type": "other",
			"data.device.status": "offline", "data.device.last_seen_at": nil, "data.device.current_temp": nil, "data.device.active_alerts": 0, "data.device.site": nil,
			"data.device.labels": map[string]any{}, "data.device.latest_reading": nil, "data.device.limits": keys(limitKeys), "data.device.limits.source": "equipment_type",
			"data.device.health": hasKeys([]string{"score", "drivers"}), "data.device.offline_after_s": 180, "data.device.heartbeat_interval_s": nil, "data.device.created_at": present{}, "data.device.updated_at": present{},
		}, header: map[string]string{"Location": "/api/v1/devices/D-1"}},
		{says: "already there: 409 serial_taken", req: q("POST", "/v1/devices", `{"serial":"D-1"}`), status: 409, code: "serial_taken", fields: []string{"serial"}},
		{says: "already there in another case", req: q("POST", "/v1/devices", `{"serial":"d-1"}`), status: 409, code: "serial_taken"},
		{says: "a serial of 64 of [A-Za-z0-9._:-]", req: q("POST", "/v1/devices", fmt.Sprintf(`{"serial":%q}`, longSerial)), status: 201, want: map[string]any{"data.device.serial": longSerial}},
		bad("a serial of 65", fmt.Sprintf(`{"serial":%q}`, longSerial+"x"), "serial"),
		bad("an empty serial", `{"serial":""}`, "serial"),
		bad("no serial", `{}`, "serial"),
		bad("a serial that is null", `{"serial":null}`, "serial"),
		bad("a serial that is a number", `{"serial":1}`, "serial"),
		bad("the serial .", `{"serial":"."}`, "serial"),
		bad("the serial ..", `{"serial":".."}`, "serial"),
		bad("a serial with a slash", `{"serial":"a/b"}`, "serial"),
		bad("a serial with a space", `{"serial":"a b"}`, "serial"),
		bad("a serial in other letters", `{"serial":"Тест"}`, "serial"),
		bad("a mis-cased key", `{"Serial":"D-2"}`, "Serial", "serial"),
		bad("no mass assignment: id", `{"serial":"D-2","id":7}`, "id"),
		bad("no mass assignment: workspace", `{"serial":"D-2","workspace_id":7}`, "workspace_id"),
		bad("no mass assignment: status", `{"serial":"D-2","status":"online"}`, "status"),
		bad("no mass assignment: current_temp", `{"serial":"D-2","current_temp":1}`, "current_temp"),
		bad("an empty name", `{"serial":"D-2","name":""}`, "name"),
		bad("a name with NUL", `{"serial":"D-2","name":"a\u0000"}`, "name"),
		bad("a name that is too long", `{"serial":"D-2","name":"`+strings.Repeat("x", 201)+`"}`, "name"),
		bad("an unknown site", `{"serial":"D-2","site_id":999}`, "site_id"),
		bad("labels are text", `{"serial":"D-2","labels":{"a":1}}`, "labels.a"),
		bad("limits in disorder", `{"serial":"D-2","limits":{"temp_min":5,"temp_max":1}}`, "limits.temp_min"),
		bad("a limit out of range", `{"serial":"D-2","limits":{"temp_max":1e400}}`, "limits.temp_max"),
		bad("an unknown limit", `{"serial":"D-2","limits":{"max":1}}`, "limits.max"),
		bad("limits of the wrong type", `{"serial":"D-2","limits":5}`, "limits"),
		bad("offline_after_s is at least 10", `{"serial":"D-2","offline_after_s":9}`, "offline_after_s"),
		bad("offline_after_s is an integer", `{"serial":"D-2","offline_after_s":10.5}`, "offline_after_s"),
		bad("installed_at is a time", `{"serial":"D-2","installed_at":"yesterday"}`, "installed_at"),
		bad("every bad field is named", `{"serial":"D-2","name":1,"notes":2,"labels":3}`, "name", "notes", "labels"),
		{says: "none of them is there", req: q("GET", "/v1/devices/D-2", ""), status: 404, code: "device_not_found"},
		{says: "POST with everything", req: q("POST", "/v1/devices", `{"serial":"D-3","name":"Freezer ❄","equipment_type":"walkin_freezer","labels":{"Floor":"2","rack":"é"},"manufacturer":"M","model":"X","firmware_version":"1","notes":"n","installed_at":"2025-01-02T03:04:05+01:00","heartbeat_interval_s":30,"offline_after_s":10,"limits":{"temp_max":-16}}`), status: 201, want: map[string]any{
			"data.device.name": "Freezer ❄", "data.device.equipment_type": "walkin_freezer", "data.device.labels": map[string]any{"Floor": "2", "rack": "é"}, "data.device.manufacturer": "M", "data.device.model": "X",
			"data.device.firmware_version": "1", "data.device.notes": "n", "data.device.installed_at": "2025-01-02T02:04:05.000Z", "data.device.heartbeat_interval_s": 30, "data.device.offline_after_s": 10,
			"data.device.limits.temp_max": -16, "data.device.limits.temp_min": -30, "data.device.limits.source": "device",
		}},
		{says: "null is the default", req: q("POST", "/v1/devices", `{"serial":"D-4","name":null,"equipment_type":null,"site_id":null,"labels":null,"limits":null,"installed_at":null,"heartbeat_interval_s":null,"offline_after_s":null}`), status: 201, want: map[string]any{"data.device.name": "D-4", "data.device.equipment_type": "other", "data.device.labels": map[string]any{}}},
		{says: "a time may be written with escapes", req: q("POST", "/v1/devices", `{"serial":"D-5","installed_at":"2025\u002d01-02T03:04:05Z"}`), status: 201, want: map[string]any{"data.device.installed_at": "2025-01-02T03:04:05.000Z"}},
		{says: "an unknown type is taken: the set is open", req: q("POST", "/v1/devices", `{"serial":"D-6","equipment_type":"wine_cave"}`), status: 201, want: map[string]any{"data.device.equipment_type": "wine_cave"}},

		{says: "PATCH changes what it names", req: q("PATCH", "/v1/devices/d-1", `{"name":"N","labels":{"a":"b"},"notes":"hello","limits":{"temp_max":8,"delay_s":60},"offline_after_s":25}`), status: 200, want: map[string]any{
			"data.device.serial": "D-1", "data.device.name": "N", "data.device.labels": map[string]any{"a": "b"}, "data.device.notes": "hello", "data.device.limits.temp_max": 8, "data.device.limits.delay_s": 60, "data.device.offline_after_s": 25, "data.device.equipment_type": "other",
		}},
		{says: "and leaves the rest", req: q("PATCH", "/v1/devices/D-1", `{"limits":{"temp_min":2}}`), status: 200, want: map[string]any{"data.device.name": "N", "data.device.limits.temp_max": 8, "data.device.limits.temp_min": 2, "data.device.limits.delay_s": 60}},
		{says: "nothing is a change too", req: q("PATCH", "/v1/devices/D-1", `{}`), status: 200, want: map[string]any{"data.device.name": "N"}},
		{says: "null goes back to the default", req: q("PATCH", "/v1/devices/D-1", `{"name":null,"limits":{"temp_min":null},"offline_after_s":null}`), status: 200, want: map[string]any{"data.device.name": "D-1", "data.device.limits.temp_min": nil, "data.device.limits.temp_max": 8, "data.device.offline_after_s": 180}},
		{says: "null for all limits", req: q("PATCH", "/v1/devices/D-1", `{"limits":null}`), status: 200, want: map[string]any{"data.device.limits.temp_max": nil, "data.device.limits.source": "equipment_type"}},
		unchanged("a serial cannot be changed", `{"serial":"X"}`, "serial"),
		unchanged("nor the id", `{"id":9}`, "id"),
		unchanged("unknown body fields", `{"nmae":"x"}`, "nmae"),
		unchanged("limits must fit those of the type", `{"limits":{"critical_max":5,"temp_max":8}}`, "limits.critical_max"),
		{says: "nothing of it was stored", req: q("GET", "/v1/devices/D-1", ""), status: 200, want: map[string]any{"data.device.limits.temp_max": nil, "data.device.name": "D-1"}},
		{says: "PATCH of an unknown serial", req: q("PATCH", "/v1/devices/none", `{"name":"x"}`), status: 404, code: "device_not_found"},

		{says: "DELETE 200", req: q("DELETE", "/v1/devices/D-3", ""), status: 200},
		{says: "it is gone", req: q("GET", "/v1/devices/D-3", ""), status: 404, code: "device_not_found"},
		{says: "gone twice", req: q("DELETE", "/v1/devices/D-3", ""), status: 404, code: "device_not_found"},
		{says: "a reading of it waits", req: q("POST", "/v1/readings", `{"device_serial":"D-3","humidity":1}`), status: 202},
		{says: "the serial may be registered again", req: q("POST", "/v1/devices", `{"serial":"d-3"}`), status: 201, want: map[string]any{"data.device.serial": "d-3", "data.device.name": "d-3", "data.device.latest_reading": nil}},
	})
}

// TestDeviceList reads the list of devices: the seed document's row, filters and
// order.
func TestDeviceList(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	site := s.do(t, request{method: "POST", path: "/v1/sites", token: n.full, body: `{"name":"Mitte","timezone":"Europe/Berlin"}`})
	for i := range 20 {
		kind := "walkin_cooler"
		if i%2 == 1 {
			kind = "walkin_freezer"
		}
		where := ""
		if i < 3 {
			where = fmt.Sprintf(`,"site_id":%v`, site.at("data.site.id"))
		}
		n.device(t, fmt.Sprintf(`{"serial":"D-%02d","name":"Unit %d","equipment_type":%q%s}`, i, i, kind, where))
	}
	n.device(t, `{"serial":"P-1","name":"100% _full_ \\ Ünit"}`)
	n.reading(t, `{"device_serial":"D-00","product_zone_temp":3.5,"recorded_at":"`+s.ago(time.Minute)+`"}`)
	n.reading(t, `{"device_serial":"D-00","product_zone_temp":9.5,"recorded_at":"`+s.ago(time.Hour)+`"}`)
	n.reading(t, `{"device_serial":"D-00","humidity":50}`)
	list := func(query string) request { return request{path: "/v1/devices" + query, token: n.read} }
	size := func(says, query string, total int) row {
		return row{says: says, req: list("?" + query), status: 200, want: map[string]any{"data.pagination.total": total, "data.devices.#": min(total, 15)}}
	}
	s.recite(t, []row{
		{says: "per_page default 15, order id, the six seed fields and site, last_seen_at, active_alerts, limits", req: list(""), status: 200, want: map[string]any{
			"data": keys{"devices", "pagination"}, "data.devices.#": 15, "data.devices.0": keys(itemKeys), "data.devices.0.serial": "D-00", "data.devices.14.serial": "D-14",
			"data.pagination":              keys{"current_page", "per_page", "total", "last_page", "from", "to", "next_cursor"},
			"data.pagination.current_page": 1, "data.pagination.per_page": 15, "data.pagination.total": 21, "data.pagination.last_page": 2, "data.pagination.from": 1, "data.pagination.to": 15, "data.pagination.next_cursor": present{},
		}},
		{says: "site is {id, name, timezone} or null", req: list(""), status: 200, want: map[string]any{"data.devices.0.site": keys{"id", "name", "timezone"}, "data.devices.0.site.name": "Mitte", "data.devices.0.site.timezone": "Europe/Berlin", "data.devices.3.site": nil}},
		{says: "current_temp is the newest product_zone_temp by recorded_at", req: list(""), status: 200, want: map[string]any{"data.devices.0.current_temp": 3.5, "data.devices.1.current_temp": nil, "data.devices.0.last_seen_at": present{}, "data.devices.1.last_seen_at": nil}},
		size("status online", "status=online", 1),
		size("status offline", "status=offline", 20),
		size("equipment_type", "equipment_type=walkin_freezer", 10),
		size("equipment_type unknown: 200, empty", "equipment_type=nothing", 0),
		size("filters together", "equipment_type=walkin_cooler&status=online", 1),
		size("site_id", fmt.Sprintf("site_id=%v", site.at("data.site.id")), 3),
		size("site_id of no site", "site_id=999999", 0),
		size("q: name contains, without case", "q=UNIT+1", 11),
		size("q: serial contains", "q=d-1", 10),
		size("q: nothing", "q=zzz", 0),
		size("q: a percent sign is one", "q="+url.QueryEscape("%"), 1),
		size("q: an underscore is one", "q=_", 1),
		size("q: a backslash is one", "q="+url.QueryEscape(`\`), 1),
		size("q: beyond ASCII", "q="+url.QueryEscape("Ünit"), 1),
		size("q: a quote is no harm", "q="+url.QueryEscape(`' OR 1=1 --`), 0),
		size("unknown query parameters are ignored", "frob=1&Status=online&filter[x]=y", 21),
		{says: "status of a closed set", req: list("?status=broken"), status: 422, code: "validation_failed", fields: []string{"status"}},
		{says: "status all is no status of a device", req: list("?status=all"), status: 422, code: "validation_failed", fields: []string{"status"}},
		{says: "status has a case", req: list("?status=Online"), status: 422, code: "validation_failed", fields: []string{"status"}},
		{says: "an empty filter is an absent one", req: list("?status="), status: 200, want: map[string]any{"data.devices.1.status": "offline"}},
		{says: "site_id is an integer", req: list("?site_id=x"), status: 422, code: "validation_failed", fields: []string{"site_id"}},
		{says: "NUL in q", req: list("?q=%00"), status: 422, code: "validation_failed", fields: []string{"q"}},
		{says: "invalid UTF-8 in q", req: list("?q=%ff"), status: 422, code: "validation_failed", fields: []string{"q"}},
		{says: "a very long q", req: list("?q=" + strings.Repeat("x", 8000)), status: 422, code: "validation_failed", fields: []string{"q"}},
	})
}

// TestPaging reads the page about paging.
func TestPaging(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	for i := range 7 {
		n.device(t, fmt.Sprintf(`{"serial":"D-%d"}`, i))
	}
	page := func(query string) request { return request{path: "/v1/devices?" + query, token: n.read} }
	bad := func(says, query, field string) row {
		return row{says: says, req: page(query), status: 422, code: "validation_failed", fields: []string{field}}
	}
	empty := map[string]any{"data.devices": []any{}, "data.pagination.total": 7, "data.pagination.from": nil, "data.pagination.to": nil, "data.pagination.next_cursor": nil}
	s.recite(t, []row{
		{says: "page is 1-based", req: page("page=1&per_page=3"), status: 200, want: map[string]any{"data.devices.0.serial": "D-0", "data.devices.#": 3, "data.pagination.from": 1, "data.pagination.to": 3, "data.pagination.last_page": 3}, header: map[string]string{"Link": `</api/v1/devices?page=2&per_page=3>; rel="next"`}},
		{says: "the second page", req: page("per_page=3&page=2"), status: 200, want: map[string]any{"data.devices.0.serial": "D-3", "data.pagination.from": 4, "data.pagination.to": 6, "data.pagination.current_page": 2}},
		{says: "the last page has no next one", req: page("per_page=3&page=3"), status: 200, want: map[string]any{"data.devices.#": 1, "data.pagination.from": 7, "data.pagination.to": 7, "data.pagination.next_cursor": nil}, header: map[string]string{"Link": ""}},
		{says: "past the end: 200, empty", req: page("per_page=3&page=4"), status: 200, want: empty, header: map[string]string{"Link": ""}},
		{says: "far past the end", req: page("page=1000000000"), status: 200, want: empty},
		{says: "absurdly far past the end", req: page("page=99999999999999999999999999"), status: 200, want: empty},
		{says: "per_page larger than 1,000 is clamped, the used value reported", req: page("per_page=1001"), status: 200, want: map[string]any{"data.pagination.per_page": 1000, "data.devices.#": 7}},
		{says: "absurdly large per_page is clamped", req: page("per_page=99999999999999999999999999"), status: 200, want: map[string]any{"data.pagination.per_page": 1000}},
		{says: "page beyond what a float holds", req: page("page=9223372036854775807"), status: 200, want: empty},
		{says: "per_page beyond what a float holds", req: page("per_page=9007199254740993"), status: 200, want: map[string]any{"data.pagination.per_page": 1000}},
		{says: "both absurd", req: page("per_page=4611686018427&page=4611686018427"), status: 200, want: empty},
		bad("page below 1", "page=0", "page"),
		bad("a negative page", "page=-1", "page"),
		bad("an absurdly negative page", "page=-99999999999999999999999999", "page"),
		bad("page with a point", "page=1.0", "page"),
		bad("page with an exponent", "page=1e3", "page"),
		bad("page is not a word", "page=two", "page"),
		bad("page in other digits", "page=%D9%A1", "page"),
		bad("an empty page", "page=", "page"),
		bad("per_page below 1", "per_page=0", "per_page"),
		bad("a negative per_page", "per_page=-5", "per_page"),
		bad("per_page is not a word", "per_page=all", "per_page"),
		bad("a malformed cursor", "cursor=abc", "cursor"),
		bad("a forged cursor", "cursor="+strings.Repeat("A", 32), "cursor"),
		bad("a long cursor", "cursor="+strings.Repeat("A", 5000), "cursor"),
		bad("NUL in a cursor", "cursor=%00", "cursor"),
	})

	t.Run("cursor: opaque, keyset; the pages join without gap or overlap", func(t *testing.T) {
		var serials []string
		next := s.do(t, page("per_page=2")).text("data.pagination.next_cursor")
		a := s.do(t, page("per_page=2"))
		for {
			for i := 0; a.at(fmt.Sprintf("data.devices.%d", i)) != missing; i++ {
				serials = append(serials, a.text(fmt.Sprintf("data.devices.%d.serial", i)))
			}
			if next == "" {
				break
			}
			if len(serials) == 2 { // between two pages, one comes and one goes
				n.device(t, `{"serial":"D-7"}`)
				if d := s.do(t, request{method: "DELETE", path: "/v1/devices/D-0", token: n.full}); d.status != http.StatusOK {
					t.Fatal(d.status)
				}
			}
			a = s.do(t, page("per_page=2&cursor="+next))
			if a.status != http.StatusOK || a.at("data.pagination.per_page") == missing {
				t.Fatalf("%d %s", a.status, a.body)
			}
			next = a.text("data.pagination.next_cursor")
			if link := a.header.Get("Link"); (next != "") != strings.Contains(link, "cursor="+next) || (next == "") != (link == "") {
				t.Errorf("Link is %q, next_cursor %q", link, next)
			}
		}
		if got := strings.Join(serials, " "); got != "D-0 D-1 D-2 D-3 D-4 D-5 D-6 D-7" {
			t.Errorf("the pages hold %s", got)
		}
	})
	t.Run("a cut or changed cursor is refused", func(t *testing.T) {
		cursor := s.do(t, page("per_page=2")).text("data.pagination.next_cursor")
		for i := range cursor {
			other := byte('A')
			if cursor[i] == 'A' {
				other = 'B'
			}
			for _, forged := range []string{cursor[:i] + string(other) + cursor[i+1:], cursor[:i]} {
				if forged == "" {
					continue // none at all
				}
				if a := s.do(t, page("cursor="+forged)); a.status != 422 {
					t.Errorf("%s (of %s): %d", forged, cursor, a.status)
				}
			}
		}
	})
}

// TestHeartbeat reads the sentences about heartbeats.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	n.device(t, `{"serial":"D-1"}`)
	beat := func(body string) request {
		return request{method: "PATCH", path: "/v1/devices/D-1/heartbeat", token: n.feed, body: body}
	}
	bad := func(says, body string, fields ...string) row {
		return row{says: says, req: beat(body), status: 422, code: "validation_failed", fields: fields}
	}
	s.recite(t, []row{
		{says: "body optional: 200, data.device (detail) and server_time", req: beat(""), status: 200, want: map[string]any{
			"data": keys{"device", "server_time"}, "data.device": hasKeys(itemKeys, detailKeys), "data.device.status": "online", "data.device.last_seen_at": present{}, "data.device.last_heartbeat_at": present{}, "data.device.status_changed_at": present{},
		}},
		{says: "all fields optional", req: beat(`{}`), status: 200},
		{says: "every field may be null", req: beat(`{"status":null,"sent_at":null,"firmware_version":null,"battery_pct":null,"rssi_dbm":null,"uptime_s":null,"heartbeat_interval_s":null}`), status: 200},
		{says: "every field", req: beat(`{"status":"online","sent_at":"` + s.ago(0) + `","firmware_version":"2.1","battery_pct":87.5,"rssi_dbm":-70,"uptime_s":86400,"heartbeat_interval_s":60}`), status: 200, want: map[string]any{
			"data.device.firmware_version": "2.1", "data.device.heartbeat_interval_s": 60, "data.device.offline_after_s": 180,
		}},
		{says: "a declared heartbeat_interval_s: offline after max(3 × interval, 180 s)", req: beat(`{"heartbeat_interval_s":300}`), status: 200, want: map[string]any{"data.device.heartbeat_interval_s": 300, "data.device.offline_after_s": 900}},
		{says: "status offline announces a planned shutdown: offline at once", req: beat(`{"status":"offline"}`), status: 200, want: map[string]any{"data.device.status": "offline"}},
		{says: "it is offline for everyone", req: request{path: "/v1/devices?status=offline", token: n.read}, status: 200, want: map[string]any{"data.pagination.total": 1}},
		{says: "online on any heartbeat", req: beat(""), status: 200, want: map[string]any{"data.device.status": "online"}},
		bad("status of a closed set", `{"status":"broken"}`, "status"),
		bad("status has a case", `{"status":"ONLINE"}`, "status"),
		{says: "foreign fields are left out", req: beat(`{"frob":{"a":[1]},"uptime_s":5}`), status: 200, want: map[string]any{"data.device.uptime_s": 5}},
		bad("a mis-cased field", `{"Uptime_s":1}`, "Uptime_s"),
		bad("a mis-cased field", `{"Status":"online"}`, "Status"),
		bad("sent_at is a time", `{"sent_at":"now"}`, "sent_at"),
		bad("battery_pct to 100", `{"battery_pct":101}`, "battery_pct"),
		bad("battery_pct from 0", `{"battery_pct":-1}`, "battery_pct"),
		bad("huge numbers", `{"battery_pct":1e400}`, "battery_pct"),
		bad("uptime_s is an integer", `{"uptime_s":1.5}`, "uptime_s"),
		bad("uptime_s is not negative", `{"uptime_s":-1}`, "uptime_s"),
		bad("heartbeat_interval_s is positive", `{"heartbeat_interval_s":0}`, "heartbeat_interval_s"),
		bad("firmware_version is bounded", `{"firmware_version":"`+strings.Repeat("x", 300)+`"}`, "firmware_version"),
		{says: "unknown serial", req: request{method: "PATCH", path: "/v1/devices/none/heartbeat", token: n.feed}, status: 404, code: "device_not_found"},
		{says: "a body that is no object", req: beat("null"), status: 400, code: "invalid_json"},
	})
}

// TestImport reads the sentences about POST /v1/devices/import.
func TestImport(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	n.device(t, `{"serial":"OLD-1","name":"Old"}`)
	q := func(path, kind, body string) request {
		return request{method: "POST", path: "/v1/devices/import" + path, token: n.full, kind: kind, body: body}
	}
	file := "serial,name,equipment_type,temp_max,label:floor\nNEW-1,New,walkin_freezer,-16,2\nold-1,Older,,,\nBAD 1,x,,,\nNEW-2,,,hot,\nNEW-1,Twice,,,\n"
	counts := func(created, updated, skipped, errors int) map[string]any {
		return map[string]any{"data": keys{"rows", "created", "updated", "skipped", "errors"}, "data.created": created, "data.updated": updated, "data.skipped": skipped, "data.errors": errors, "data.rows.#": created + updated + skipped + errors}
	}
	first := counts(1, 1, 0, 3)
	first["data.rows.0"] = keys{"row", "serial", "action", "errors", "warnings", "suggested_type"}
	for i, action := range []string{"create", "update", "error", "error", "error"} {
		first[fmt.Sprintf("data.rows.%d.action", i)] = action
		first[fmt.Sprintf("data.rows.%d.row", i)] = i + 2
	}
	form := "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\nserial;name\nNEW-3;Three\n\r\n--x--\r\n"
	s.recite(t, []row{
		{says: "?dry_run=true tells and does nothing", req: q("?dry_run=true", "text/csv", file), status: 200, want: first},
		{says: "nothing was created", req: request{path: "/v1/devices/NEW-1", token: n.full}, status: 404, code: "device_not_found"},
		{says: "text/csv: per row {row, serial, action, errors}", req: q("", "text/csv", file), status: 200, want: first},
		{says: "created as it says", req: request{path: "/v1/devices/NEW-1", token: n.full}, status: 200, want: map[string]any{"data.device.name": "New", "data.device.equipment_type": "walkin_freezer", "data.device.limits.temp_max": -16, "data.device.labels": map[string]any{"floor": "2"}}},
		{says: "updated as it says", req: request{path: "/v1/devices/OLD-1", token: n.full}, status: 200, want: map[string]any{"data.device.name": "Older", "data.device.serial": "OLD-1"}},
		{says: "an idempotent upsert by serial: skip", req: q("", "text/csv", file), status: 200, want: counts(0, 0, 2, 3)},
		{says: "a multipart file", req: q("", "multipart/form-data; boundary=x", form), status: 200, want: counts(1, 0, 0, 0)},
		{says: "with a byte order mark, CR LF and quotes", req: q("", "text/csv", "\xef\xbb\xbf\"serial\",\"name\"\r\n\"NEW-4\",\"a, \"\"b\"\"\"\r\n"), status: 200, want: counts(1, 0, 0, 0)},
		{says: "no serial column", req: q("", "text/csv", "name\nx\n"), status: 422, code: "validation_failed", fields: []string{"serial"}},
		{says: "an unknown column", req: q("", "text/csv", "serial,colour\nX,red\n"), status: 422, code: "validation_failed", fields: []string{"colour"}},
		{says: "no rows", req: q("", "text/csv", "serial\n"), status: 422, code: "validation_failed"},
		{says: "not text", req: q("", "text/csv", "\x89PNG\r\n\x1a\n\x00\x00"), status: 400, code: "invalid_json"},
		{says: "invalid UTF-8", req: q("", "text/csv", "serial,name\nX-1,\xff\n"), status: 400, code: "invalid_json"},
		{says: "dry_run of a closed set", req: q("?dry_run=maybe", "text/csv", file), status: 422, code: "validation_failed", fields: []string{"dry_run"}},
		{says: "a malformed form", req: q("", "multipart/form-data; boundary=x", "--y\r\n"), status: 400, code: "invalid_json"},
		{says: "a form without a boundary", req: q("", "multipart/form-data", form), status: 400, code: "invalid_json"},
		{says: "a quote that never ends", req: q("", "text/csv", "serial,name\nX-9,\"open\n"), status: 200, want: counts(0, 0, 0, 1)},
		{says: "more cells than the header", req: q("", "text/csv", "serial\nX-9,1,2\n"), status: 200, want: counts(0, 0, 0, 1)},
	})
}

// TestEquipmentTypes reads GET /v1/equipment-types.
func TestEquipmentTypes(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	a := n.get(t, "/v1/equipment-types")
	list, _ := a.at("data.equipment_types").([]any)
	if len(list) != len(rimewatch.EquipmentTypes()) {
		t.Errorf("%d types", len(list))
	}
	freezer := false
	for _, e := range list {
		if !hasKeys([]string{"slug", "label", "category", "limits", "defrost"})(e) {
			t.Errorf("%v lacks a field", e)
		}
		freezer = freezer || e.(map[string]any)["slug"] == "walkin_freezer"
	}
	if !freezer {
		t.Error("walkin_freezer is not one")
	}
}

// TestSites reads the sentences about sites.
func TestSites(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	q := func(method, path, body string) request {
		return request{method: method, path: path, body: body, token: n.full}
	}
	made := s.do(t, q("POST", "/v1/sites", `{"name":"Mitte","timezone":"Europe/Berlin","address":"Here 1"}`))
	path := fmt.Sprintf("/v1/sites/%v", made.at("data.site.id"))
	n.device(t, fmt.Sprintf(`{"serial":"D-1","site_id":%v}`, made.at("data.site.id")))
	s.recite(t, []row{
		{says: "name, IANA time zone, address", req: q("GET", path, ""), status: 200, want: map[string]any{"data.site.name": "Mitte", "data.site.timezone": "Europe/Berlin", "data.site.address": "Here 1", "data.site.id": made.at("data.site.id")}},
		{says: "list", req: q("GET", "/v1/sites", ""), status: 200, want: map[string]any{"data.sites.#": 1}},
		{says: "PATCH", req: q("PATCH", path, `{"name":"Mitte 2"}`), status: 200, want: map[string]any{"data.site.name": "Mitte 2", "data.site.timezone": "Europe/Berlin"}},
		{says: "a bad time zone", req: q("PATCH", path, `{"timezone":"Mars/Olympus"}`), status: 422, code: "validation_failed", fields: []string{"timezone"}},
		{says: "a traversal for a time zone", req: q("PATCH", path, `{"timezone":"../../etc/passwd"}`), status: 422, code: "validation_failed", fields: []string{"timezone"}},
		{says: "no name", req: q("POST", "/v1/sites", `{}`), status: 422, code: "validation_failed", fields: []string{"name"}},
		{says: "a name of spaces", req: q("POST", "/v1/sites", `{"name":"  "}`), status: 422, code: "validation_failed", fields: []string{"name"}},
		{says: "unknown fields", req: q("POST", "/v1/sites", `{"name":"x","colour":"red"}`), status: 422, code: "validation_failed", fields: []string{"colour"}},
		{says: "DELETE", req: q("DELETE", path, ""), status: 200},
		{says: "gone", req: q("GET", path, ""), status: 404, code: "not_found"},
		{says: "its devices stay, without a site", req: q("GET", "/v1/devices/D-1", ""), status: 200, want: map[string]any{"data.device.site": nil}},
	})
}
