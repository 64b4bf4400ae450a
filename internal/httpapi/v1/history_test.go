package v1

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/trial"
	"github.com/rimewatch/rimewatch/internal/wire"
)

func TestHistory(t *testing.T) {
	r := newRig(t)
	r.device("A", "other")
	r.device("Empty", "other")
	items := make([]string, 0, 60)
	for i := range 60 { // a reading a minute, none from :20 to :39
		if i < 20 || i >= 40 {
			items = append(items, fmt.Sprintf(`{"device_serial":"A","product_zone_temp":%d.25,"humidity":%d,"recorded_at":"2026-11-20T11:%02d:30Z","door_open":true}`, -i, i, i))
		}
	}
	items = append(items, `{"device_serial":"A","product_zone_temp":-127,"voltage":230.4,"recorded_at":"2026-11-18T00:00:00Z"}`)
	if a := r.do(post("/v1/readings/batch", r.feed, batchOf(items...))); a.get("data.accepted") != 41.0 {
		t.Fatal(a.body)
	}
	r.events.take(t, 44)
	const path = "/v1/devices/A/readings"
	columns := rimewatch.AllFields.Names()
	r.run(t, []scenario{
		{name: "the last 24 hours", req: get(path, r.read), status: 200, want: map[string]any{"data.step": "raw", "data.device_serial": "A", "data.readings.0.recorded_at": "2026-11-20T11:00:30.000Z", "data.readings.0.product_zone_temp": 0.25, "data.readings.0.voltage": nil, "data.readings.0.door_open": true, "data.readings.39.humidity": 59, "data.readings.40": nil, "data.pagination.per_page": 1000, "data.pagination.next_cursor": nil}},
		{name: "descending", req: get(path+"?order=desc&per_page=1", r.read), status: 200, want: map[string]any{"data.readings.0.humidity": 59, "data.readings.1": nil}},
		{name: "from is in, to is out", req: get(path+"?from=2026-11-20T11:01:30Z&to=2026-11-20T11:03:30Z", r.read), status: 200, want: map[string]any{"data.readings.0.humidity": 1, "data.readings.1.humidity": 2, "data.readings.2": nil}},
		{name: "from alone", req: get(path+"?from=2026-11-18T00:00:00Z&fields=product_zone_temp,voltage&per_page=1", r.read), status: 200, want: map[string]any{"data.readings.0.voltage": 230.4, "data.readings.0.product_zone_temp": nil, "data.readings.0.sensor_faults.0": "product_zone_temp"}, lacks: []string{"humidity"}},
		{name: "an offset in a query is a space when it is not escaped", req: get(path+"?from=2026-11-20T12:00:00+01:00", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"from"}},
		{name: "an escaped offset", req: get(path+"?from=2026-11-20T12:59:00%2B01:00", r.read), status: 200, want: map[string]any{"data.from": "2026-11-20T11:59:00.000Z", "data.readings.1": nil}},
		{name: "empty span", req: get(path+"?from=2026-11-20T11:00:00Z&to=2026-11-20T11:00:00Z", r.read), status: 200, want: map[string]any{"data.readings": "[]"}},
		{name: "nothing stored", req: get("/v1/devices/Empty/readings?step=auto", r.read), status: 200, want: map[string]any{"data.step": "raw", "data.readings": "[]"}},
		{name: "backwards", req: get(path+"?from=2026-11-20T12:00:00Z&to=2026-11-20T11:00:00Z", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"from"}},
		{name: "bad parameters", req: get(path+"?from=x&to=y&step=2m&order=up&fields=temp,humidity&per_page=0&max_points=-1", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"from", "max_points", "order", "per_page", "step", "to"}},
		{name: "bad field", req: get(path+"?fields=Humidity", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"fields"}},
		{name: "clamped", req: get(path+"?per_page=1000000", r.read), status: 200, want: map[string]any{"data.pagination.per_page": 10000}},
		{name: "unknown device", req: get("/v1/devices/none/readings", r.read), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "of another workspace", req: get(path, r.otherFull), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "without the scope", req: get(path, r.feed), status: 403, code: rimewatch.CodeForbidden, fields: []string{"scope"}},
		{name: "forged cursor", req: get(path+"?cursor=xxx", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"cursor"}},

		{
			name: "buckets", req: get(path+"?step=15m&from=2026-11-20T11:00:00Z&to=2026-11-20T12:00:00Z", r.read), status: 200,
			want: map[string]any{
				"data.step": "15m", "data.buckets.0.at": "2026-11-20T11:00:00.000Z", "data.buckets.0.count": 15, "data.buckets.0.humidity.min": 0, "data.buckets.0.humidity.avg": 7, "data.buckets.0.humidity.max": 14,
				"data.buckets.0.voltage": nil, "data.buckets.1.count": 5, "data.buckets.2.count": 5, "data.buckets.3.humidity.max": 59, "data.buckets.4": nil, "data.readings": nil, "data.pagination": nil,
			},
		},
		{name: "gaps are gaps", req: get(path+"?step=5m&from=2026-11-20T11:10:00Z&to=2026-11-20T11:45:00Z&fields=humidity", r.read), status: 200, want: map[string]any{"data.buckets.2.count": 0, "data.buckets.2.humidity": nil, "data.buckets.5.count": 0, "data.buckets.6.count": 5, "data.buckets.7": nil}, lacks: []string{"voltage"}},
		{name: "buckets descending", req: get(path+"?step=15m&order=desc", r.read), status: 200, want: map[string]any{"data.buckets.0.at": "2026-11-20T11:45:00.000Z"}},
		{name: "an hour", req: get(path+"?step=1h", r.read), status: 200, want: map[string]any{"data.buckets.0.count": 40, "data.buckets.0.product_zone_temp.avg": -29.7375}},
		{name: "a day", req: get(path+"?step=1d&from=2026-11-18T00:00:00Z", r.read), status: 200, want: map[string]any{"data.buckets.0.voltage.max": 230.4, "data.buckets.1.count": 0, "data.buckets.2.count": 40}},
		{name: "auto stays raw", req: get(path+"?step=auto&max_points=40", r.read), status: 200, want: map[string]any{"data.step": "raw", "data.readings.39.humidity": 59, "data.pagination.next_cursor": nil}},
		{name: "auto takes the shortest that fits", req: get(path+"?step=auto&max_points=39&from=2026-11-20T11:00:00Z&to=2026-11-20T12:00:00Z", r.read), status: 200, want: map[string]any{"data.step": "5m"}},
		{name: "auto counts a step at each end", req: get(path+"?step=auto&max_points=12&from=2026-11-20T11:00:30Z&to=2026-11-20T12:00:30Z", r.read), status: 200, want: map[string]any{"data.step": "15m"}},
		{name: "auto of whole steps", req: get(path+"?step=auto&max_points=12&from=2026-11-20T11:00:00Z&to=2026-11-20T12:00:00Z", r.read), status: 200, want: map[string]any{"data.step": "5m"}},
		{name: "auto where no step fits", req: get(path+"?step=auto&max_points=1&from=2026-11-18T00:00:00Z", r.read), status: 200, want: map[string]any{"data.step": "1d"}},
		{name: "auto over a day", req: get(path+"?step=auto&max_points=30", r.read), status: 200, want: map[string]any{"data.step": "1h"}},
		{name: "as many buckets as there may be", req: get(path+"?step=1m&from=2026-10-16T14:40:00Z&to=2026-11-20T08:00:00Z", r.read), status: 200},
		{name: "one bucket too many", req: get(path+"?step=1m&from=2026-10-16T14:40:01Z&to=2026-11-20T08:00:01Z", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"step"}},
		{name: "too many buckets", req: get(path+"?step=1m&from=2025-11-20T00:00:00Z&to=2026-11-20T00:00:00Z", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"step"}},

		{
			name: "CSV", req: get(path+"?from=2026-11-18T00:00:00Z&fields=product_zone_temp,voltage", r.read).with("Accept", "text/csv"), status: 200,
			header:   map[string]string{"Content-Type": "text/csv", "Content-Disposition": `attachment; filename="A.csv"`},
			contains: []string{"recorded_at,received_at,product_zone_temp,voltage,sensor_faults\r\n2026-11-18T00:00:00.000Z,2026-11-20T12:00:00.000Z,,230.4,product_zone_temp\r\n2026-11-20T11:00:30.000Z,2026-11-20T12:00:00.000Z,0.25,,\r\n"},
		},
		{name: "CSV of columns", req: get(path+"?order=desc", r.read).with("Accept", "text/csv"), status: 200, contains: []string{"\r\n2026-11-20T11:59:30.000Z,2026-11-20T12:00:00.000Z,-59.25,,,,59" + strings.Repeat(",", len(columns)-5+3) + "true,,,\r\n", "recorded_at,received_at," + strings.Join(columns, ",") + ",compressor_on,defrost_active,door_open,sensor_faults,clock_unset,imported\r\n"}},
		{name: "CSV of buckets", req: get(path+"?step=1d&from=2026-11-18T00:00:00Z&fields=humidity", r.read).with("Accept", "text/csv, application/json;q=0.5"), status: 200, contains: []string{"at,count,humidity_min,humidity_avg,humidity_max\r\n2026-11-18T00:00:00.000Z,1,,,\r\n2026-11-19T00:00:00.000Z,0,,,\r\n2026-11-20T00:00:00.000Z,40,0,29.5,59\r\n"}},
		{name: "JSON goes before CSV", req: get(path, r.read).with("Accept", "application/json, text/csv"), status: 200, header: map[string]string{"Content-Type": "application/json", "Vary": "Accept"}},
		{name: "an error to who asks for CSV", req: get("/v1/devices/none/readings", r.read).with("Accept", "text/csv"), status: 404, code: rimewatch.CodeDeviceNotFound, header: map[string]string{"Content-Type": "application/json", "Content-Disposition": ""}},
	})
	for _, order := range []string{"asc", "desc"} {
		n, last := 0, ""
		for next := path + "?per_page=7&order=" + order; next != ""; {
			a := r.do(get(next, r.read))
			for i := 0; a.get(fmt.Sprintf("data.readings.%d", i)) != nil; i++ {
				at := a.get(fmt.Sprintf("data.readings.%d.recorded_at", i)).(string)
				if last != "" && (order == "asc") != (at > last) {
					t.Errorf("%s: %s after %s", order, at, last)
				}
				last = at
				n++
			}
			next = ""
			if cursor, ok := a.get("data.pagination.next_cursor").(string); ok {
				next = path + "?per_page=7&order=" + order + "&cursor=" + cursor
				if !strings.Contains(a.header.Get("Link"), cursor) {
					t.Error("no Link")
				}
				if wrong := r.do(get(strings.Replace(next, "="+order, "="+map[string]string{"asc": "desc", "desc": "asc"}[order], 1), r.read)); wrong.status != 422 {
					t.Errorf("a cursor for the other order: %d", wrong.status)
				}
			}
		}
		if n != 40 {
			t.Errorf("%s: %d readings by cursor", order, n)
		}
	}
}

func TestCSVHasNoRowCap(t *testing.T) {
	trial.NeedsLong(t)
	r := newRig(t)
	r.device("A", "other")
	const batches = 3
	for b := range batches {
		items := make([]string, wire.MaxBatch)
		for i := range items {
			at := rigStart - rimewatch.Time(b*wire.MaxBatch+i+1)*rimewatch.Second
			items[i] = fmt.Sprintf(`{"device_serial":"A","humidity":1,"recorded_at":%q}`, at)
		}
		if a := r.do(post("/v1/readings/batch", r.feed, batchOf(items...))); a.get("data.accepted") != float64(wire.MaxBatch) {
			t.Fatal(clip(a.body))
		}
	}
	a := r.do(get("/v1/devices/A/readings?from=2026-11-01T00:00:00Z&fields=humidity", r.read).with("Accept", "text/csv"))
	if n := strings.Count(a.body, "\r\n"); n != batches*wire.MaxBatch+1 {
		t.Errorf("%d lines", n)
	}
}

// TestReceivedIsTheSame: all answers about a reading say the same moment of arrival, before
// and after it was sealed.
func TestReceivedIsTheSame(t *testing.T) {
	r := newRig(t)
	r.device("A", "other")
	r.advance(405 * time.Millisecond)
	for _, tc := range []struct{ recorded, received string }{
		{"2026-11-20T11:00:00.123Z", "2026-11-20T12:00:00.000Z"},
		{"2026-11-20T11:59:58.900Z", "2026-11-20T11:59:59.900Z"},
		{"2026-11-20T12:00:00.100Z", "2026-11-20T12:00:00.100Z"},
		{"2026-11-20T12:00:00.406Z", "2026-11-20T12:00:00.406Z"}, // as what was moved to the next free millisecond
		{"2026-11-20T12:00:02.000Z", "2026-11-20T12:00:01.000Z"},
	} {
		body := `{"device_serial":"A","humidity":5,"recorded_at":"` + tc.recorded + `"}`
		same := func(where string) {
			t.Helper()
			if got := r.do(post("/v1/readings", r.feed, body)).get("data.reading.received_at"); got != tc.received {
				t.Errorf("%s: recorded at %s, answered %s, want %s", where, tc.recorded, got, tc.received)
			}
			if got := r.do(get("/v1/readings/latest", r.read)).get("data.readings.0.received_at"); got != tc.received {
				t.Errorf("%s: recorded at %s, latest %s, want %s", where, tc.recorded, got, tc.received)
			}
			history := get("/v1/devices/A/readings?order=desc&to=2026-11-20T12:05:00Z", r.read)
			if got := r.do(history).get("data.readings.0.received_at"); got != tc.received {
				t.Errorf("%s: recorded at %s, history %s, want %s", where, tc.recorded, got, tc.received)
			}
			if csv := r.do(history.with("Accept", "text/csv")).body; !strings.Contains(csv, "\r\n"+tc.recorded+","+tc.received+",") {
				t.Errorf("%s: recorded at %s, not received at %s in the CSV %s", where, tc.recorded, tc.received, csv)
			}
		}
		same("stored")
		same("sent again")
		if err := r.store.Rest(t.Context()); err != nil {
			t.Fatal(err)
		}
		same("sealed")
	}
}

// TestBucketsAreBounded: what the description says of the bound is the bound.
func TestBucketsAreBounded(t *testing.T) {
	bound := strconv.Itoa(maxBuckets/1000) + ",000"
	if text := string(newRig(t).api.OpenAPI()); !strings.Contains(text, "A span of which more than "+bound+" lie between from and to is 422.") {
		t.Error("the description does not say that", bound, "buckets are the most")
	}
}
