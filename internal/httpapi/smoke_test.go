package httpapi

import "testing"

func TestSmoke(t *testing.T) {
	r := newRig(t)
	for _, q := range []request{
		{method: "GET", path: "/api/v1/devices", token: r.full},
		{method: "POST", path: "/api/v1/devices", token: r.full, body: `{"serial":"WIF-1","equipment_type":"walkin_freezer","limits":{"temp_max":-14.5},"labels":{"a":"b"}}`},
		{method: "POST", path: "/api/v1/readings", token: r.full, body: `{"device_serial":"WIF-1","product_zone_temp":-18.5,"humidity":45,"voltage":230.25}`},
		{method: "GET", path: "/api/v1/devices", token: r.full},
		{method: "GET", path: "/api/v1/devices/WIF-1", token: r.full},
		{method: "PATCH", path: "/api/v1/devices/WIF-1/heartbeat", token: r.full},
		{method: "GET", path: "/api/v1/readings/latest", token: r.full},
		{method: "GET", path: "/api/v1/readings/latest?per_page=3", token: r.full},
		{method: "GET", path: "/api/v1/devices/WIF-1/readings?to=2027-01-01T00:00:00Z", token: r.full},
		{method: "GET", path: "/api/v1/devices/WIF-1/readings?step=1h&to=2026-11-21T00:00:00Z", token: r.full},
		{method: "GET", path: "/api/v1/alerts", token: r.full},
		{method: "GET", path: "/api/v1/alerts/counts", token: r.full},
		{method: "GET", path: "/api/v1/devices/health/summary", token: r.full},
		{method: "GET", path: "/api/v1/equipment-types", token: r.full},
		{method: "GET", path: "/api/v1/policies/privacy"},
		{method: "GET", path: "/api/v1/nothing"},
		{method: "PUT", path: "/api/v1/devices"},
		{method: "GET", path: "/api/v1/me", header: map[string]string{"Cookie": sessionCookie + "=" + r.owner}},
		{method: "GET", path: "/api/openapi.json"},
	} {
		a := r.do(q)
		body := a.body
		if len(body) > 1500 {
			body = body[:1500]
		}
		t.Logf("%s %s\n%d %v\n%s", q.method, q.path, a.status, a.header, body)
	}
	t.Log(r.log)
}
