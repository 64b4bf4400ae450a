package v1

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/httpapi/submit"
	"github.com/rimewatch/rimewatch/internal/ingest"
	"github.com/rimewatch/rimewatch/internal/limit"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

func TestReadings(t *testing.T) {
	r := newRig(t)
	r.device("A", "walkin_freezer")
	r.events.take(t, 1)
	accepted := []string{"reading.created"}
	const other = `"device_serial":"A","humidity":1`
	r.run(t, []scenario{
		{
			name: "without a time", req: post("/v1/readings", r.feed, strings.Replace(nominalBody, "WIF-0001", "A", 1)), status: 201,
			want: map[string]any{
				"data.duplicate": false, "data.reading.device_id": 1, "data.reading.device_serial": "A", "data.reading.recorded_at": "2026-11-20T12:00:00.000Z", "data.reading.received_at": "2026-11-20T12:00:00.000Z",
				"data.reading.product_zone_temp": -18.5, "data.reading.vibration_level": 2.1, "data.reading.sensor_faults": "[]",
			},
			events: []string{"reading.created", "device.online"},
		},
		{name: "without a time again", req: post("/v1/readings", r.feed, `{`+other+`}`), status: 201, want: map[string]any{"data.duplicate": false, "data.reading.recorded_at": "2026-11-20T12:00:00.001Z", "data.reading.product_zone_temp": nil}, events: accepted},
		{name: "with a time", req: post("/v1/readings", r.feed, `{`+other+`,"recorded_at":"2026-11-20T12:30:00.1239+01:00"}`), status: 201, want: map[string]any{"data.reading.recorded_at": "2026-11-20T11:30:00.123Z"}, events: accepted},
		{name: "again: the first value is kept", req: post("/v1/readings", r.feed, `{"device_serial":"a","humidity":99,"recorded_at":"2026-11-20T11:30:00.123Z"}`), status: 200, want: map[string]any{"data.reading.device_serial": "A", "data.duplicate": true, "data.reading.humidity": 1}},
		{
			name: "extras and numbers as sent", req: post("/v1/readings", r.feed, `{"device_serial":"A","humidity":45.123456789012,"voltage":0.000001,"amp_draw":1.5e3,"recorded_at":"2026-11-20T11:00:00Z","compressor_on":true,"door_open":false,"start_count":9007199254740991,"run_seconds":0}`), status: 201,
			want:     map[string]any{"data.reading.compressor_on": true, "data.reading.door_open": false, "data.reading.defrost_active": nil},
			contains: []string{`"humidity":45.123456789012,`, `"voltage":0.000001,`, `"amp_draw":1500,`, `"start_count":9007199254740991`, `"run_seconds":0`}, lacks: []string{"defrost_active"}, events: accepted,
		},
		{
			name: "broken sensors", req: post("/v1/readings", r.feed, `{"device_serial":"A","product_zone_temp":-127,"ambient_temp":999,"humidity":50,"recorded_at":"2026-11-20T11:01:00Z"}`), status: 201,
			want: map[string]any{"data.reading.product_zone_temp": nil, "data.reading.sensor_faults": "[product_zone_temp ambient_temp]", "data.reading.humidity": 50}, events: accepted,
		},
		{name: "the current temperature is the newest by recorded_at", req: get("/v1/devices/A", r.read), status: 200, want: map[string]any{"data.device.current_temp": -18.5, "data.device.current_temp_at": "2026-11-20T12:00:00.000Z"}},
		{name: "latest, paged: total counts those that are there", req: get("/v1/readings/latest?per_page=1", r.read), status: 200, want: map[string]any{"data.readings.1": nil, "data.pagination.total": 1, "data.pagination.last_page": 1, "data.pagination.next_cursor": nil}},
		{name: "latest", req: get("/v1/readings/latest", r.read), status: 200, want: map[string]any{"data.readings.0.device_name": "Unit A", "data.readings.0.equipment_type": "walkin_freezer", "data.readings.0.device_status": "online", "data.readings.0.humidity": 1, "data.readings.1": nil, "data.pagination": nil}},

		{name: "unknown serial", req: post("/v1/readings", r.feed, `{"device_serial":"none","humidity":1}`), status: 422, code: rimewatch.CodeUnknownDevice, fields: []string{"device_serial"}},
		{name: "another workspace's serial", req: post("/v1/readings", r.otherFull, `{`+other+`}`), status: 422, code: rimewatch.CodeUnknownDevice},
		{name: "5 minutes ahead", req: post("/v1/readings", r.feed, `{`+other+`,"recorded_at":"2026-11-20T12:05:00Z"}`), status: 201, events: accepted},
		{name: "more than 5 minutes ahead", req: post("/v1/readings", r.feed, `{`+other+`,"recorded_at":"2026-11-20T12:05:00.001Z"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"recorded_at"}},
		{name: "before the retention", req: post("/v1/readings", r.feed, `{`+other+`,"recorded_at":"2025-10-01T12:05:00Z"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"recorded_at"}},
		{name: "within the retention", req: post("/v1/readings", r.feed, `{`+other+`,"recorded_at":"2025-10-21T12:05:00Z"}`), status: 201, events: accepted},
		{name: "no measurement", req: post("/v1/readings", r.feed, `{"device_serial":"A"}`), status: 422, code: rimewatch.CodeValidationFailed},
		{name: "bad fields", req: post("/v1/readings", r.feed, `{"device_serial":"A","humidity":101,"Voltage":1,"door_open":"yes"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"Voltage", "door_open", "humidity"}},
		{name: "malformed", req: post("/v1/readings", r.feed, `{"device_serial":"A",`), status: 400, code: rimewatch.CodeInvalidJSON},
		{name: "no body", req: post("/v1/readings", r.feed, ``), status: 400, code: rimewatch.CodeInvalidJSON},
		{name: "white space", req: post("/v1/readings", r.feed, `   `), status: 400, code: rimewatch.CodeInvalidJSON},
		{name: "wrong content type", req: post("/v1/readings", r.feed, nominalBody).with("Content-Type", "text/csv"), status: 415, code: rimewatch.CodeUnsupportedMedia},
		{name: "text that is not JSON", req: post("/v1/readings", r.feed, "A,1").with("Content-Type", "text/plain"), status: 415, code: rimewatch.CodeUnsupportedMedia},
		{name: "NDJSON for one", req: post("/v1/readings", r.feed, nominalBody).with("Content-Type", httpapi.TypeNDJSON), status: 415, code: rimewatch.CodeUnsupportedMedia},
		{name: "with a charset", req: post("/v1/readings", r.feed, `{`+other+`}`).with("Content-Type", "application/json; charset=UTF-8"), status: 201, events: accepted},
		{name: "with a wrong charset", req: post("/v1/readings", r.feed, `{`+other+`}`).with("Content-Type", "application/json; charset=latin1"), status: 415, code: rimewatch.CodeUnsupportedMedia},
		{name: "unknown encoding", req: post("/v1/readings", r.feed, `{`+other+`}`).with("Content-Encoding", "br"), status: 415, code: rimewatch.CodeUnsupportedMedia},
		{name: "not really gzip", req: post("/v1/readings", r.feed, `{`+other+`}`).with("Content-Encoding", "gzip"), status: 400, code: rimewatch.CodeInvalidJSON},
		{name: "too large", req: post("/v1/readings", r.feed, `{`+other+strings.Repeat(" ", httpapi.MaxSingleBody)+`}`), status: 413, code: rimewatch.CodePayloadTooLarge},
		{name: "bomb", req: post("/v1/readings", r.feed, zipped(t, strings.Repeat(" ", 64<<20))).with("Content-Encoding", "gzip"), status: 413, code: rimewatch.CodePayloadTooLarge},
		{name: "nothing of the refused was stored", req: get("/v1/devices/A/readings?from=2025-10-01T00:00:00Z&per_page=100", r.read), status: 200, want: map[string]any{"data.readings.7.humidity": 1, "data.readings.8": nil}},
	})
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstandard(t *testing.T, text string) string {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(z.EncodeAll([]byte(text), nil))
}

func reading(serial string, minute int) string {
	return fmt.Sprintf(`{"device_serial":%q,"humidity":%d,"recorded_at":"2026-11-20T11:%02d:00Z"}`, serial, minute, minute)
}

// TestLenient: clients that know little more than a serial and a temperature.
func TestLenient(t *testing.T) {
	r := newRig(t)
	r.device("A", "walkin_freezer")
	r.do(patch("/v1/devices/A/heartbeat", r.feed, ""))
	r.events.take(t, 2)
	body := func(minute int) string {
		return fmt.Sprintf(`{"device_serial":"A","product_zone_temp":"-19.1","battery":87,"ts":%d}`, 1795176000+60*minute-3600)
	}
	created := []string{"reading.created"}
	var tests []scenario
	for i, ct := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/senml+json", "text/plain; charset=utf-8"} {
		tests = append(tests, scenario{
			name: "as " + ct, req: post("/v1/readings", r.feed, body(i)).with("Content-Type", ct), status: 201, events: created,
			want: map[string]any{"data.reading.product_zone_temp": -19.1, "data.ignored_fields.0": "battery", "data.ignored_fields.1": nil, "data.reading.recorded_at": fmt.Sprintf("2026-11-20T11:%02d:00.000Z", i)},
		})
	}
	tests = append(tests,
		scenario{name: "again", req: post("/v1/readings", r.feed, body(0)), status: 200, want: map[string]any{"data.duplicate": true, "data.ignored_fields.0": "battery"}},
		scenario{name: "an age", req: post("/v1/readings", r.feed, `{"device_serial":"A","humidity":50,"age_s":90}`), status: 201, events: created, want: map[string]any{"data.reading.recorded_at": "2026-11-20T11:58:30.000Z", "data.ignored_fields": nil}},
		scenario{name: "a near miss", req: post("/v1/readings", r.feed, `{"device_serial":"A","product_zone_tmp":1}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"product_zone_tmp"}},
		scenario{name: "too old by its number", req: post("/v1/readings", r.feed, `{"device_serial":"A","humidity":1,"ts":1420070401}`), status: 422, code: rimewatch.CodeValidationFailed},
		scenario{name: "a cookie is no token", req: post("/v1/workspace", "", `{}`).with("Content-Type", "text/plain"), status: 405, code: rimewatch.CodeMethodNotAllowed},
		scenario{name: "another route", req: post("/v1/devices", r.full, `{"serial":"B"}`).with("Content-Type", ""), status: 201, events: []string{"device.created"}},
	)
	r.run(t, tests)
}

func batchOf(items ...string) string { return `{"readings":[` + strings.Join(items, ",") + `]}` }

func events(n int) []string { return strings.Fields(strings.Repeat("reading.created ", n)) }

func TestBatch(t *testing.T) {
	r := newRig(t)
	r.device("A", "other")
	r.device("B", "other")
	r.do(patch("/v1/devices/A/heartbeat", r.feed, ""))
	r.do(patch("/v1/devices/B/heartbeat", r.feed, ""))
	r.events.take(t, 4)
	send := func(body string) request { return post("/v1/readings/batch", r.feed, body) }
	lines := func(body string) request { return send(body).with("Content-Type", httpapi.TypeNDJSON) }
	many := make([]string, wire.MaxBatch+1)
	for i := range many {
		many[i] = `{"device_serial":"A"}`
	}
	r.run(t, []scenario{
		{name: "two", req: send(batchOf(reading("A", 1), reading("B", 1))), status: 200, want: map[string]any{"data.accepted": 2, "data.duplicates": 0, "data.rejected": 0, "data.results": "[]"}, events: events(2)},
		{name: "again and one more", req: send(batchOf(reading("A", 1), reading("A", 2))), status: 200, want: map[string]any{"data.accepted": 1, "data.duplicates": 1}, events: events(1)},
		{name: "the same twice in one", req: send(batchOf(reading("A", 3), reading("a", 3))), status: 200, want: map[string]any{"data.accepted": 1, "data.duplicates": 1}, events: events(1)},
		{
			name: "good and bad", status: 200,
			req: send(batchOf(reading("none", 1), reading("A", 4), `{"device_serial":"A","humidity":101}`, `5`, `null`, `[]`, `{"device_serial":"A","humidity":1,"recorded_at":"2030-01-01T00:00:00Z"}`, reading("B", 4), `{"device_serial":"A","humidity":1,"extra":{"deep":[1]},"recorded_at":"2026-11-20T11:59:59Z"}`)),
			want: map[string]any{
				"data.accepted": 3, "data.rejected": 6, "data.ignored_fields.0": "extra",
				"data.results.0.index": 0, "data.results.0.status": 422, "data.results.0.code": "unknown_device",
				"data.results.1.index": 2, "data.results.1.code": "validation_failed", "data.results.1.fields.humidity.0": "must be between 0 and 100",
				"data.results.2.index": 3, "data.results.2.status": 422, "data.results.2.fields.reading.0": "must be an object",
				"data.results.3.fields.reading.0": "must be an object", "data.results.4.fields.reading.0": "must be an object",
				"data.results.5.index": 6, "data.results.5.fields.recorded_at.0": "must not be more than 5 minutes in the future", "data.results.6": nil,
			},
			events: events(3),
		},
		{name: "two without a time", req: send(batchOf(`{"device_serial":"A","humidity":1}`, `{"device_serial":"A","humidity":1}`)), status: 200, want: map[string]any{"data.accepted": 2}, events: events(2)},
		{name: "NDJSON", req: lines(reading("A", 5) + "\n\n  \r\n" + reading("B", 5) + "\r\n" + reading("A", 6)), status: 200, want: map[string]any{"data.accepted": 3, "data.rejected": 0}, events: events(3)},
		{
			name: "NDJSON with bad lines", req: lines(reading("A", 7) + "\n{oops\n[]\n" + `{"device_serial":"A"}` + "\n" + reading("B", 7) + `{}` + "\n"), status: 200,
			want: map[string]any{
				"data.accepted": 1, "data.rejected": 4, "data.results.0.index": 1, "data.results.0.status": 400, "data.results.0.code": "invalid_json",
				"data.results.1.status": 400, "data.results.2.status": 422, "data.results.3.index": 4, "data.results.3.status": 400,
			},
			events: events(1),
		},
		{name: "gzip", req: send(zipped(t, batchOf(reading("A", 8)))).with("Content-Encoding", "gzip"), status: 200, want: map[string]any{"data.accepted": 1}, events: events(1)},
		{name: "zstd", req: lines(zstandard(t, reading("A", 9))).with("Content-Encoding", "zstd"), status: 200, want: map[string]any{"data.accepted": 1}, events: events(1)},
		{name: "unusual form", req: send(` { "\u0072eadings" : [ ` + reading("A", 10) + ` ] } `), status: 200, want: map[string]any{"data.accepted": 1}, events: events(1)},
		{name: "malformed at the end: nothing is stored", req: send(`{"readings":[` + reading("A", 11) + `]`), status: 400, code: rimewatch.CodeInvalidJSON},
		{name: "malformed in an item", req: send(batchOf(reading("A", 11), `{"device_serial":"A","humidity":01}`)), status: 400, code: rimewatch.CodeInvalidJSON},
		{name: "duplicate key in an item", req: send(batchOf(reading("A", 11), `{"device_serial":"A","humidity":1,"humidity":2}`)), status: 400, code: rimewatch.CodeInvalidJSON},
		{name: "trailing bytes", req: send(batchOf(reading("A", 11)) + `x`), status: 400, code: rimewatch.CodeInvalidJSON},
		{name: "readings twice", req: send(`{"readings":[` + reading("A", 11) + `],"readings":[]}`), status: 400, code: rimewatch.CodeInvalidJSON},
		{name: "another member", req: send(`{"readings":[` + reading("A", 11) + `],"source":"x"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"source"}},
		{name: "another member first", req: send(`{"source":"x","readings":[` + reading("A", 11) + `]}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"source"}},
		{name: "no readings", req: send(`{}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"readings"}},
		{name: "readings no array", req: send(`{"readings":{}}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"readings"}},
		{name: "readings null", req: send(`{"readings":null}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"readings"}},
		{name: "no items", req: send(`{"readings":[]}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"readings"}},
		{name: "no lines", req: lines("\n\n"), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"readings"}},
		{name: "an array", req: send(`[` + reading("A", 11) + `]`), status: 400, code: rimewatch.CodeInvalidJSON},
		{name: "as many as allowed", req: send(batchOf(many[:wire.MaxBatch]...)), status: 200, want: map[string]any{"data.rejected": wire.MaxBatch}},
		{name: "too many", req: send(batchOf(many...)), status: 413, code: rimewatch.CodePayloadTooLarge},
		{name: "too many lines", req: lines(strings.Join(many, "\n")), status: 413, code: rimewatch.CodePayloadTooLarge},
		{name: "too large", req: lines(strings.Repeat(" ", 16<<20+1)), status: 413, code: rimewatch.CodePayloadTooLarge},
		{name: "bomb", req: lines(zstandard(t, strings.Repeat("\n", 200<<20))).with("Content-Encoding", "zstd"), status: 413, code: rimewatch.CodePayloadTooLarge},
		{name: "no content type", req: send(batchOf(reading("A", 4))).with("Content-Type", ""), status: 200, want: map[string]any{"data.duplicates": 1}},
		{name: "CSV", req: send(batchOf(reading("A", 11))).with("Content-Type", httpapi.TypeCSV), status: 415, code: rimewatch.CodeUnsupportedMedia},
		{name: "without the scope", req: post("/v1/readings/batch", r.read, batchOf(reading("A", 11))), status: 403, code: rimewatch.CodeForbidden, fields: []string{"scope"}},
		{name: "what was refused is not there", req: get("/v1/devices/A/readings?from=2026-11-20T11:11:00Z&to=2026-11-20T11:12:00Z", r.read), status: 200, want: map[string]any{"data.readings": "[]"}},
	})
}

func TestAutoRegister(t *testing.T) {
	r := newRig(t)
	r.unknown(r.workspace.ID, rimewatch.RegisterUnknown)
	r.advance(time.Second)
	serials := make([]string, 150)
	for i := range serials {
		serials[i] = reading(fmt.Sprintf("N-%03d", i/2), i%2)
	}
	r.run(t, []scenario{
		{name: "single", req: post("/v1/readings", r.feed, `{"device_serial":"New-1","humidity":1}`), status: 201, want: map[string]any{"data.reading.device_serial": "New-1"}, events: []string{"device.created", "reading.created", "device.online"}},
		{name: "it is there", req: get("/v1/devices/new-1", r.full), status: 200, want: map[string]any{"data.device.serial": "New-1", "data.device.equipment_type": "other", "data.device.status": "online"}},
		{name: "still no bad serials", req: post("/v1/readings", r.feed, `{"device_serial":"a b","humidity":1}`), status: 422, code: rimewatch.CodeValidationFailed},
	})
	a := r.do(post("/v1/readings/batch", r.feed, batchOf(serials...)))
	if a.status != 200 || a.get("data.accepted") != 150.0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.do(get("/v1/devices?per_page=1", r.full)); a.get("data.pagination.total") != 76.0 {
		t.Errorf("devices: %v", a.get("data.pagination.total"))
	}
}

// TestRegistrationsAreLimited: unknown serials create so many devices an hour and
// no more: readings of further ones wait.
func TestRegistrationsAreLimited(t *testing.T) {
	r := newRig(t, func(c *whole) { c.hourly = limit.ByKey(limit.PerHour(10)) })
	r.unknown(r.workspace.ID, rimewatch.RegisterUnknown)
	r.device("Known", "other")
	r.advance(time.Second)
	items := []string{reading("Known", 0)}
	for i := range 12 {
		items = append(items, reading(fmt.Sprintf("N-%03d", i), 0), reading(fmt.Sprintf("N-%03d", i), 1))
	}
	items = append(items, reading("Known", 1))
	a := r.do(post("/v1/readings/batch", r.feed, batchOf(items...)))
	if a.status != 200 || a.get("data.accepted") != 22.0 || a.get("data.held") != 4.0 || a.get("data.rejected") != 0.0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.do(post("/v1/readings", r.feed, `{"device_serial":"New-1","humidity":1}`)); a.status != 202 || a.get("data.held") != true {
		t.Errorf("one more: %d %s", a.status, a.body)
	}
	if a := r.do(post("/v1/readings", r.feed, `{"device_serial":"Known","humidity":1}`)); a.status != 201 {
		t.Errorf("a known one: %d %s", a.status, a.body)
	}
	r.advance(7 * time.Minute)
	if a := r.do(post("/v1/readings", r.feed, `{"device_serial":"New-1","humidity":1}`)); a.status != 201 {
		t.Errorf("after a tenth of an hour: %d %s", a.status, a.body)
	}
}

func TestDeviceLimit(t *testing.T) {
	r := newRig(t, func(c *whole) { c.readings.Writer = instantWriter{c.readings.Writer} })
	r.device("A", "other")
	r.device("B", "other")
	const burst = 1000
	var last answer
	for i := range burst + 1 {
		q := post("/v1/readings", r.feed, `{"device_serial":"A","humidity":1}`)
		if i%50 == 1 {
			q = patch("/v1/devices/a/heartbeat", r.feed, "")
		}
		last = r.do(q)
		if i < burst && last.status >= 300 {
			t.Fatalf("request %d: %d %s", i, last.status, last.body)
		}
		if want := fmt.Sprintf(`"device";r=%d;t=%d`, max(0, burst-1-i), min(500, (i+2)/2)); last.header.Get("RateLimit") != want {
			t.Fatalf("request %d: RateLimit %s, want %s", i, last.header.Get("RateLimit"), want)
		}
	}
	if last.status != 429 || last.code() != "rate_limited" || last.header.Get("Retry-After") != "1" || last.header.Get("RateLimit-Policy") != `"device";q=1000;w=500` {
		t.Errorf("%d %v %s", last.status, last.header, last.body)
	}
	r.run(t, []scenario{
		{name: "batches do not count", req: post("/v1/readings/batch", r.feed, batchOf(reading("A", 1))), status: 200, anyEvents: true},
		{name: "other devices do not suffer", req: post("/v1/readings", r.feed, `{"device_serial":"B","humidity":1}`), status: 201, anyEvents: true},
		{name: "after a while", req: post("/v1/readings", r.feed, `{"device_serial":"A","humidity":1}`), before: func(r *rig) { r.advance(500 * time.Millisecond) }, status: 201, anyEvents: true},
		{name: "and no more", req: post("/v1/readings", r.feed, `{"device_serial":"A","humidity":1}`), status: 429, code: rimewatch.CodeRateLimited},
	})
}

// TestUnknownSerial: by the workspace's setting a reading of an unknown serial
// waits, creates the device or is refused, alone and in batches.
func TestUnknownSerial(t *testing.T) {
	r := newRig(t)
	set := func(body string) request { return r.browser(patch("/v1/workspace", "", body)) }
	send := func(serial string) request {
		return post("/v1/readings", r.feed, `{"device_serial":"`+serial+`","humidity":1,"door":2}`)
	}
	batch := func(serial string) request {
		return post("/v1/readings/batch", r.feed, batchOf(reading(serial, 1), reading(serial, 2)))
	}
	next := func(r *rig) { r.advance(time.Second) }
	r.run(t, []scenario{
		{name: "hold", req: set(`{"on_unknown":"hold"}`), status: 200, want: map[string]any{"data.workspace.on_unknown": "hold", "data.workspace.auto_register": false}},
		{name: "waits", before: next, req: send("New-1"), status: 202, want: map[string]any{"data": map[string]any{"held": true, "device_serial": "New-1", "ignored_fields": []any{"door"}, "waiting": map[string]any{
			"reason": "No device has this serial, and the workspace keeps what unknown devices send until somebody accepts them.", "kept_until": "2026-11-27T12:00:01.000Z",
			"accept": map[string]any{"page": "/settings/sources", "method": "POST", "path": "/api/v1/sources/api/bind", "scope": "devices:write"},
		}}}},
		{name: "two wait", req: batch("New-1"), status: 200, want: map[string]any{"data.held": 2, "data.accepted": 0, "data.rejected": 0, "data.waiting.kept_until": "2026-11-27T12:00:01.001Z", "data.waiting.accept.path": "/api/v1/sources/api/bind"}},
		{name: "a bad one does not", req: post("/v1/readings", r.feed, `{"device_serial":"New-1","humidity":101}`), status: 422, code: rimewatch.CodeValidationFailed},
		{name: "nor one of the future", req: post("/v1/readings", r.feed, `{"device_serial":"New-1","humidity":1,"recorded_at":"2030-01-01T00:00:00Z"}`), status: 422, code: rimewatch.CodeValidationFailed},
		{name: "register", req: set(`{"auto_register":true}`), status: 200, want: map[string]any{"data.workspace.on_unknown": "register", "data.workspace.auto_register": true}},
		{name: "is created", before: next, req: send("New-2"), status: 201, anyEvents: true},
		{name: "refuse", req: set(`{"auto_register":false}`), status: 200, want: map[string]any{"data.workspace.on_unknown": "refuse"}},
		{name: "is refused", before: next, req: send("New-3"), status: 422, code: rimewatch.CodeUnknownDevice, fields: []string{"device_serial"}},
		{name: "both are refused", req: batch("New-3"), status: 200, want: map[string]any{"data.held": 0, "data.waiting": nil, "data.rejected": 2, "data.results.0.code": "unknown_device"}},
		{name: "nothing to turn off", req: set(`{"auto_register":false}`), status: 200, want: map[string]any{"data.workspace.on_unknown": "refuse"}},
		{name: "both settings: on_unknown", req: set(`{"on_unknown":"hold","auto_register":true}`), status: 200, want: map[string]any{"data.workspace.on_unknown": "hold"}},
		{name: "what was read is sent back", req: set(`{"auto_register":false}`), status: 200, want: map[string]any{"data.workspace.on_unknown": "hold"}},
		{name: "no such setting", req: set(`{"on_unknown":"keep"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"on_unknown"}},
	})
}

// deleter deletes the device of whatever is submitted first.
type deleter struct {
	submit.Writer
	workspace int64
	serial    string
}

func (d *deleter) Submit(ctx context.Context, inputs []store.Input, said []store.Vitals) error {
	if serial := d.serial; serial != "" {
		d.serial = ""
		if _, err := d.Writer.(*ingest.Service).DeleteDevice(ctx, d.workspace, serial); err != nil {
			return err
		}
	}
	return d.Writer.Submit(ctx, inputs, said)
}

// TestDeletedOnTheWay: a reading whose device is deleted while it is on its way is to
// be sent again, and waits then as that of any unknown device.
func TestDeletedOnTheWay(t *testing.T) {
	var d deleter
	r := newRig(t, func(w *whole) { d.Writer, w.readings.Writer = w.readings.Writer, &d })
	d.workspace = r.workspace.ID
	r.unknown(r.workspace.ID, rimewatch.HoldUnknown)
	const reading = `{"device_serial":"A","product_zone_temp":-18}`
	for _, c := range []struct{ path, body string }{{"/v1/readings", reading}, {"/v1/readings/batch", `{"readings":[` + reading + `]}`}} {
		r.device("A", "walkin_freezer")
		d.serial = "A"
		a := r.do(post(c.path, r.feed, c.body))
		if a.status != 503 && a.get("data.results.0.status") != 503.0 {
			t.Errorf("%s: %d %s", c.path, a.status, a.body)
		}
		if a := r.do(post(c.path, r.feed, c.body)); a.get("data.held") != true && a.get("data.held") != 1.0 {
			t.Errorf("%s again: %d %s", c.path, a.status, a.body)
		}
	}
}
