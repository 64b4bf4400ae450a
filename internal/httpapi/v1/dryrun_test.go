package v1

import (
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// A reading with dry_run is checked like every other, answered with what would become of it, and
// leaves nothing behind.
func TestDryRun(t *testing.T) {
	r := newRig(t)
	r.unknown(r.workspace.ID, rimewatch.HoldUnknown)
	r.device("A", "walkin_freezer")
	r.run(t, []scenario{
		{name: "stored", req: post("/v1/readings", r.feed, `{"device_serial":"A","product_zone_temp":-18,"recorded_at":"2026-11-20T11:00:00Z"}`), status: 201, anyEvents: true},
	})
	dry := func(body string) request { return post("/v1/readings?dry_run=true", r.feed, body) }
	would := func(n int) map[string]any {
		return map[string]any{"data.dry_run": true, "data.would": n, "data.reading": nil}
	}
	before := r.do(get("/v1/devices/A", r.full)).get("data.device.last_seen_at")
	r.advance(90 * time.Second)
	r.run(t, []scenario{
		{name: "a new one", req: dry(`{"device_serial":"A","product_zone_temp":-17,"recorded_at":"2026-11-20T11:30:00Z"}`), status: 200, want: would(201)},
		{name: "one without a time", req: dry(`{"device_serial":"a","product_zone_temp":5,"fridge_mood":1}`), status: 200, want: map[string]any{"data.would": 201, "data.device_serial": "A", "data.ignored_fields": "[fridge_mood]"}},
		{name: "the same", req: dry(`{"device_serial":"A","product_zone_temp":-18,"recorded_at":"2026-11-20T11:00:00Z"}`), status: 200, want: would(200)},
		{name: "another value for it", req: dry(`{"device_serial":"A","product_zone_temp":-11,"recorded_at":"2026-11-20T11:00:00Z"}`), status: 200, want: would(200)},
		{name: "more of it", req: dry(`{"device_serial":"A","product_zone_temp":-18,"humidity":50,"recorded_at":"2026-11-20T11:00:00Z"}`), status: 200, want: would(201)},
		{name: "an unknown device", req: dry(`{"device_serial":"N","product_zone_temp":-18}`), status: 200, want: would(202)},
		{name: "a bad value", req: dry(`{"device_serial":"A","humidity":500}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"humidity"}},
		{name: "a bad time", req: dry(`{"device_serial":"A","humidity":50,"recorded_at":"2026-11-20T13:00:00Z"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"recorded_at"}},
		{name: "neither yes nor no", req: post("/v1/readings?dry_run=maybe", r.feed, `{"device_serial":"A","humidity":50}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"dry_run"}},
		{name: "with a key", req: dry(`{"device_serial":"A","humidity":50}`).with("Idempotency-Key", "k"), status: 200, want: would(201)},
		{name: "a batch", req: post("/v1/readings/batch?dry_run=true", r.feed, `{"readings":[{"device_serial":"A","humidity":50}]}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"dry_run"}},
		{name: "a batch, neither yes nor no", req: post("/v1/readings/batch?dry_run=maybe", r.feed, `{"readings":[{"device_serial":"A","humidity":50}]}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"dry_run"}},
		{name: "nothing was stored", req: get("/v1/devices/A/readings?from=2026-11-20T00:00:00Z", r.full), status: 200, want: map[string]any{"data.readings.1": nil}},
	})
	if after := r.do(get("/v1/devices/A", r.full)).get("data.device.last_seen_at"); before == nil || after != before {
		t.Errorf("it was a sign of life: %v, was %v", after, before)
	}
	r.run(t, []scenario{
		{name: "the key is free", req: post("/v1/readings", r.feed, `{"device_serial":"A","humidity":50}`).with("Idempotency-Key", "k"), status: 201, anyEvents: true},
		{name: "an unknown parameter is named", req: post("/v1/readings?dryrun=true", r.feed, `{"device_serial":"A","humidity":51}`), status: 201, anyEvents: true, want: map[string]any{"data.warnings.1": nil}, contains: []string{"dryrun"}},
	})
}
