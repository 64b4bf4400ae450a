package v1

import (
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestFilters: the same filters narrow devices, latest readings and alerts; an
// empty one is absent, and one that is not known is named.
func TestFilters(t *testing.T) {
	r := newRig(t)
	site := r.do(post("/v1/sites", r.full, `{"name":"North"}`))
	if site.get("data.site.id") != 1.0 {
		t.Fatal(site.body)
	}
	const limits = `"limits":{"delay_s":0,"critical_delay_s":0}`
	for _, body := range []string{
		`{"serial":"A","equipment_type":"walkin_freezer","site_id":1,"labels":{"floor":"1","ward":"x"},` + limits + `}`,
		`{"serial":"B","equipment_type":"walkin_freezer","labels":{"floor":"1"},` + limits + `}`,
		`{"serial":"C","equipment_type":"walkin_cooler","site_id":1,` + limits + `}`,
		`{"serial":"D","equipment_type":"walkin_cooler","site_id":1,"labels":{"floor":"1"}}`, // never reported
	} {
		if a := r.do(post("/v1/devices", r.full, body)); a.status != 201 {
			t.Fatal(a.body)
		}
	}
	for _, serial := range []string{"A", "B", "C"} {
		r.advance(1e9)
		if a := r.do(post("/v1/readings", r.feed, `{"device_serial":"`+serial+`","product_zone_temp":30}`)); a.status != 201 {
			t.Fatal(a.body)
		}
	}
	serials := func(path, list, key string) string {
		a := r.do(get(path, r.full))
		if a.status != 200 {
			t.Fatalf("%s: %s", path, a.body)
		}
		var out []string
		for _, x := range a.get("data." + list).([]any) {
			out = append(out, x.(map[string]any)[key].(string))
		}
		return strings.Join(out, "")
	}
	for _, c := range []struct{ query, devices, latest, alerts string }{
		{"", "ABCD", "ABC", "CBA"},
		{"site_id=1", "ACD", "AC", "CA"},
		{"site_id=2", "", "", ""},
		{"equipment_type=walkin_freezer", "AB", "AB", "BA"},
		{"equipment_type=none", "", "", ""},
		{"label.floor=1", "ABD", "AB", "BA"},
		{"label.floor=1&label.ward=x", "A", "A", "A"},
		{"label.floor=2", "", "", ""},
		{"label.floor=1&site_id=1", "AD", "A", "A"},
		{"label.floor=", "ABCD", "ABC", "CBA"},
		{"status=&equipment_type=&site_id=", "ABCD", "ABC", "CBA"},
		{"severity=&since=&type=", "ABCD", "ABC", "CBA"},
	} {
		if got := serials("/v1/devices?"+c.query, "devices", "serial"); got != c.devices {
			t.Errorf("devices?%s: %s, want %s", c.query, got, c.devices)
		}
		if got := serials("/v1/readings/latest?"+c.query, "readings", "device_serial"); got != c.latest {
			t.Errorf("latest?%s: %s, want %s", c.query, got, c.latest)
		}
		if got := serials("/v1/readings/latest?per_page=10&"+c.query, "readings", "device_serial"); got != c.latest {
			t.Errorf("a page of latest?%s: %s, want %s", c.query, got, c.latest)
		}
		if got := serials("/v1/alerts?"+c.query, "alerts", "device_serial"); got != c.alerts {
			t.Errorf("alerts?%s: %s, want %s", c.query, got, c.alerts)
		}
	}
	r.events.take(t, 13)
	foreign := []any{"The parameter page_size is not known and was ignored."}
	r.run(t, []scenario{
		{name: "totals follow", req: get("/v1/alerts?site_id=1", r.full), status: 200, want: map[string]any{"data.pagination.total": 2, "data.warnings": nil}},
		{name: "another workspace's site", req: get("/v1/alerts?site_id=1", r.otherFull), status: 200, want: map[string]any{"data.pagination.total": 0}},
		{name: "named", req: get("/v1/devices?page_size=50&status=online", r.full), status: 200, want: map[string]any{"data.warnings": foreign, "data.devices.0.serial": "A"}},
		{name: "named in a stream", req: get("/v1/readings/latest?page_size=50", r.full), status: 200, want: map[string]any{"data.warnings": foreign, "data.readings.0.device_serial": "A"}},
		{name: "named beside nothing", req: get("/v1/devices/A?page_size=1", r.full), status: 200, want: map[string]any{"data.warnings": foreign}},
		{name: "not of a refusal", req: get("/v1/devices?page_size=50&page=0", r.full), status: 422, code: rimewatch.CodeValidationFailed, lacks: []string{"warnings"}},
		{name: "a label is no parameter of other routes", req: get("/v1/sites?label.x=1", r.full), status: 200, want: map[string]any{"data.warnings.0": "The parameter label.x is not known and was ignored."}},
		{name: "writes too", req: post("/v1/silences?dry=1", r.full, `{}`), status: 422, code: rimewatch.CodeValidationFailed},
		{name: "a slash at the end", req: get("/v1/devices/A/", r.full), status: 200, want: map[string]any{"data.device.serial": "A"}},
		{name: "of a reading too", req: post("/v1/readings/", r.full, `{"device_serial":"A","humidity":1}`), status: 201, anyEvents: true},
		{name: "what a batch says of its devices", req: post("/v1/readings/batch/", r.full, `{"readings":[{"device_serial":"B","humidity":1,"battery_pct":41,"rssi_dbm":-70,"firmware_version":"3"}]}`), status: 200, want: map[string]any{"data.accepted": 1, "data.ignored_fields": nil}, anyEvents: true},
		{name: "is shown", req: get("/v1/devices/B", r.full), status: 200, want: map[string]any{"data.device.battery_pct": 41, "data.device.rssi_dbm": -70, "data.device.firmware_version": "3"}},
	})
}
