package v1

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// everything is a reading of the device A with all measurements of the table;
// counters have counted a little since the minute before.
func everything(minute int) string {
	b := []byte(fmt.Sprintf(`{"device_serial":"A","recorded_at":"2026-11-20T11:%02d:00Z"`, minute))
	for f := range rimewatch.AllFields.All() {
		b = fmt.Appendf(b, `,"%s":%s`, f, number(f, minute))
	}
	return string(append(b, '}'))
}

func number(f rimewatch.Field, minute int) string {
	v := f.Info().Example
	if f.Info().Kind == rimewatch.Counter {
		v += float64(minute)
	}
	text, _ := json.Marshal(v)
	return string(text)
}

// TestEveryMeasurement walks the table of measurements: whatever has a row there
// is taken in, stored, answered, aggregated, exported and described. A new row
// needs no line here.
func TestEveryMeasurement(t *testing.T) {
	r := newRig(t)
	r.device("A", "other")
	stored := r.do(post("/v1/readings", r.feed, everything(0)))
	batch := r.do(post("/v1/readings/batch", r.feed, batchOf(everything(5))))
	lines := r.do(post("/v1/readings/batch", r.feed, everything(20)+"\n"+everything(25)).with("Content-Type", "application/x-ndjson"))
	if stored.status != 201 || batch.get("data.accepted") != 1.0 || lines.get("data.accepted") != 2.0 {
		t.Fatal(stored.body, batch.body, lines.body)
	}
	latest := r.do(get("/v1/readings/latest", r.read))
	raw := r.do(get("/v1/devices/A/readings", r.read))
	buckets := r.do(get("/v1/devices/A/readings?step=15m", r.read))
	table := r.do(get("/v1/devices/A/readings", r.read).with("Accept", "text/csv"))
	for f := range rimewatch.AllFields.All() {
		name := f.String()
		for where, a := range map[string]struct {
			answer
			path   string
			minute int
		}{
			"stored": {stored, "data.reading.", 0}, "latest": {latest, "data.readings.0.", 25},
			"raw": {raw, "data.readings.1.", 5}, "alone": {r.do(get("/v1/devices/A/readings?order=desc&fields="+name, r.read)), "data.readings.0.", 25},
		} {
			if text, _ := json.Marshal(a.get(a.path + name)); string(text) != number(f, a.minute) {
				t.Errorf("%s, %s: %s, want %s", where, name, text, number(f, a.minute))
			}
		}
		part, want := "avg", f.Info().Example
		if f.Info().Kind == rimewatch.Counter {
			part, want = "increase", 20
		}
		if got := buckets.get("data.buckets.1." + name + "." + part); got != want {
			t.Errorf("%s of the bucket of %s: %v, want %v", part, name, got, want)
		}
		cells := r.do(get("/v1/devices/A/readings?step=15m&fields="+name, r.read).with("Accept", "text/csv"))
		if !strings.Contains(cells.body, "_"+part) || !slices.Contains(strings.Split(strings.SplitN(table.body, "\r\n", 2)[0], ","), name) {
			t.Errorf("%s is not exported: %s", name, cells.body)
		}
	}
	checkDescribed(t, r)
}

func checkDescribed(t *testing.T, r *rig) {
	t.Helper()
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Required   []string
				Properties map[string]*struct {
					Type             any
					Minimum, Maximum *float64
					Description      string
				}
			}
		}
	}
	if err := json.Unmarshal(r.api.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	schemas := doc.Components.Schemas
	for f := range rimewatch.AllFields.All() {
		info := f.Info()
		sent := schemas["ReadingBody"].Properties[f.String()]
		if sent == nil || *sent.Minimum != info.Min || *sent.Maximum != info.Max || !strings.Contains(fmt.Sprint(sent.Type), "null") || sent.Description != info.Doc {
			t.Errorf("%s as it is sent is described as %+v", f, sent)
		}
		for _, name := range []string{"Reading", "LatestReading", "HistoryReading", "HistoryBucket"} {
			s := schemas[name]
			if s.Properties[f.String()] == nil {
				t.Errorf("%s is not in %s", f, name)
			} else if required := slices.Contains(s.Required, f.String()); required != (f.Core() && strings.HasSuffix(name, "Reading") && name != "HistoryReading") {
				t.Errorf("%s required in %s: %v", f, name, required)
			}
		}
	}
}

// TestOptionalIsAnsweredWhenSent: the core measurements are null where they are
// absent, the others are left out unless they were asked for.
func TestOptionalIsAnsweredWhenSent(t *testing.T) {
	r := newRig(t)
	r.device("A", "other")
	r.events.take(t, 1)
	r.run(t, []scenario{
		{
			name: "stored", req: post("/v1/readings", r.feed, `{"device_serial":"A","power":1250.5,"co2":-127,"recorded_at":"2026-11-20T11:00:00Z"}`), status: 201,
			want:  map[string]any{"data.reading.power": 1250.5, "data.reading.product_zone_temp": nil, "data.reading.sensor_faults": "[co2]"},
			lacks: []string{"energy", "setpoint_temp", "start_count"}, events: []string{"reading.created", "device.online"},
		},
		{name: "raw", req: get("/v1/devices/A/readings", r.read), status: 200, want: map[string]any{"data.readings.0.power": 1250.5}, lacks: []string{"energy"}},
		{name: "asked for", req: get("/v1/devices/A/readings?fields=power,energy", r.read), status: 200, contains: []string{`"power":1250.5,"energy":null`}, lacks: []string{"voltage"}},
		{name: "buckets", req: get("/v1/devices/A/readings?step=1h", r.read), status: 200, contains: []string{`"power":{"min":1250.5,"avg":1250.5,"max":1250.5}`, `"voltage":null`}, lacks: []string{"energy"}},
		{name: "buckets asked for", req: get("/v1/devices/A/readings?step=1h&fields=energy", r.read), status: 200, contains: []string{`"energy":null`}, lacks: []string{"power", "voltage"}},
		{name: "latest", req: get("/v1/readings/latest", r.read), status: 200, want: map[string]any{"data.readings.0.power": 1250.5}, lacks: []string{"energy"}},
		{name: "a probe of it", req: post("/v1/devices/A/calibrations", r.full, `{"field":"discharge_pressure","method":"reference_probe","reference":1500,"as_found":1480,"offset":20,"pass_limit":30,"performed_by":"Ada"}`), status: 201, want: map[string]any{"data.calibration.field": "discharge_pressure"}, events: []string{"device.updated"}},
		{name: "a counter has no probe", req: post("/v1/devices/A/calibrations", r.full, `{"field":"energy","method":"other","reference":1,"as_found":1,"pass_limit":1,"performed_by":"Ada"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"field"}},
	})
}

// TestIncrease: a step tells what was counted in it, however many readings and restarts it holds.
func TestIncrease(t *testing.T) {
	r := newRig(t)
	r.device("A", "other")
	sent := r.do(post("/v1/readings/batch", r.feed, batchOf(
		`{"device_serial":"A","energy":1000,"start_count":1000,"recorded_at":"2026-11-20T10:00:00Z"}`, `{"device_serial":"A","energy":1015,"start_count":1015,"recorded_at":"2026-11-20T10:10:00Z"}`,
		`{"device_serial":"A","energy":0,"start_count":0,"recorded_at":"2026-11-20T10:20:00Z"}`, `{"device_serial":"A","energy":2,"start_count":2,"recorded_at":"2026-11-20T10:30:00Z"}`)))
	if sent.get("data.accepted") != 4.0 {
		t.Fatal(sent.body)
	}
	for step, want := range map[string][]float64{"5m": {0, 0, 15, 0, 0, 0, 2}, "15m": {15, 0, 2}, "1h": {17}, "1d": {17}} {
		a := r.do(get("/v1/devices/A/readings?fields=energy,start_count&step="+step, r.read))
		for i, n := range want {
			for _, f := range []string{"energy", "start_count"} {
				got := a.get(fmt.Sprintf("data.buckets.%d.%s.increase", i, f))
				if i%2 == 1 && step == "5m" { // nothing came
					n, got = 0, 0.0
				}
				if got != n {
					t.Errorf("step=%s: %s of bucket %d is %v, want %v", step, f, i, got, n)
				}
			}
		}
	}
}
