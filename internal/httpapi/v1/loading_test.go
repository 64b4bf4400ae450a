package v1

import (
	"context"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestLoading: while states of devices are still being read after a start, readings
// are taken, and nothing is answered that is not all known.
func TestLoading(t *testing.T) {
	loading := false
	r := newRig(t, func(w *whole) { w.Loading = func(context.Context) bool { return loading } })
	r.device("A", "walkin_freezer")
	loading = true
	var table []scenario
	for _, path := range []string{"/v1/devices", "/v1/devices/A", "/v1/devices/health/summary", "/v1/alerts", "/v1/devices/A/readings"} {
		table = append(table, scenario{name: path, req: get(path, r.full), status: 503, code: rimewatch.CodeUnavailable, anyEvents: true})
	}
	r.run(t, append(table,
		scenario{name: "a change", req: request{method: "PATCH", path: "/api/v1/devices/A", body: `{"name":"B"}`, token: r.full}, status: 503, code: rimewatch.CodeUnavailable},
		scenario{name: "not signed in", req: get("/v1/devices", ""), status: 401, code: rimewatch.CodeUnauthenticated, anyEvents: true},
		scenario{name: "a reading", req: post("/v1/readings", r.feed, strings.Replace(nominalBody, "WIF-0001", "A", 1)), status: 201, anyEvents: true},
		scenario{name: "afterwards", before: func(*rig) { loading = false }, req: get("/v1/devices/A", r.full), status: 200},
	))
}
