package contract

import (
	"encoding/csv"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// seeded stores a reading a minute of one device over three hours that ended at
// a full hour, with a hole of 30 minutes in the second. Humidity counts them.
func (n *tenant) seeded(t *testing.T) (from rimewatch.Time) {
	t.Helper()
	n.device(t, `{"serial":"D-1"}`)
	from = n.moment()/rimewatch.Hour*rimewatch.Hour - 5*rimewatch.Hour
	var items []string
	for i := range 180 {
		if i >= 75 && i < 105 {
			continue
		}
		items = append(items, fmt.Sprintf(`{"device_serial":"D-1","humidity":%g,"product_zone_temp":-18.5,"recorded_at":%q}`, float64(i)/2, from+rimewatch.Time(i)*rimewatch.Minute))
	}
	a := n.do(t, request{method: "POST", path: batchPath, token: n.feed, body: `{"readings":[` + strings.Join(items, ",") + `]}`})
	if a.status != 200 || a.number(t, "data.accepted") != 150 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	return from
}

// TestHistory reads the sentences about GET /v1/devices/{serial}/readings.
func TestHistory(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	from := n.seeded(t)
	span := fmt.Sprintf("from=%s&to=%s", from, from+3*rimewatch.Hour)
	at := func(minute int) string { return (from + rimewatch.Time(minute)*rimewatch.Minute).String() }
	q := func(query string) request { return request{path: "/v1/devices/D-1/readings?" + query, token: n.read} }
	bad := func(says, query string, fields ...string) row {
		return row{says: says, req: q(query), status: 422, code: "validation_failed", fields: fields}
	}
	s.recite(t, []row{
		{says: "default the last 24 h, ascending, per_page default 1,000", req: q(""), status: 200, want: map[string]any{
			"data.readings.#": 150, "data.readings.0.recorded_at": at(0), "data.readings.149.recorded_at": at(179), "data.pagination.per_page": 1000, "data.pagination.next_cursor": nil, "data.device_serial": "D-1", "data.step": "raw",
		}},
		{says: "[from, to): from included, to not", req: q(fmt.Sprintf("from=%s&to=%s", at(10), at(12))), status: 200, want: map[string]any{"data.readings.#": 2, "data.readings.0.recorded_at": at(10), "data.readings.1.recorded_at": at(11)}},
		{says: "order=desc", req: q(span + "&order=desc"), status: 200, want: map[string]any{"data.readings.0.recorded_at": at(179), "data.readings.149.recorded_at": at(0)}},
		{says: "fields", req: q(span + "&fields=humidity"), status: 200, want: map[string]any{"data.readings.0": keys{"recorded_at", "received_at", "humidity", "sensor_faults"}, "data.readings.3.humidity": 1.5}},
		{says: "two fields", req: q(span + "&fields=humidity,product_zone_temp"), status: 200, want: map[string]any{"data.readings.0.product_zone_temp": -18.5, "data.readings.0.humidity": 0}},
		{says: "a measurement that was not sent is null", req: q(span + "&fields=voltage"), status: 200, want: map[string]any{"data.readings.0.voltage": nil}},
		{says: "an empty span", req: q(fmt.Sprintf("from=%s&to=%s", at(0), at(0))), status: 200, want: map[string]any{"data.readings": []any{}, "data.pagination.next_cursor": nil}},
		{says: "an offset in a time", req: q("from=" + url.QueryEscape(offset(t, at(0))) + "&to=" + at(1)), status: 200, want: map[string]any{"data.readings.#": 1, "data.from": at(0)}},
		{says: "per_page at most 10,000", req: q(span + "&per_page=99999"), status: 200, want: map[string]any{"data.pagination.per_page": 10_000}},
		bad("from after to", fmt.Sprintf("from=%s&to=%s", at(2), at(1)), "from"),
		bad("from is a time", "from=yesterday", "from"),
		bad("to is a time", "to=1700000000", "to"),
		bad("the year 1", "from=0001-01-01T00:00:00Z", "from"),
		bad("an unknown field", "fields=temperature", "fields"),
		bad("a mis-cased field", "fields=Humidity", "fields"),
		bad("an unknown step", "step=2m", "step"),
		bad("an unknown order", "order=up", "order"),
		bad("per_page below 1", "per_page=0", "per_page"),
		bad("max_points below 1", "step=auto&max_points=0", "max_points"),
		bad("a forged cursor", "cursor="+strings.Repeat("A", 32), "cursor"),
		{says: "an unknown serial", req: request{path: "/v1/devices/none/readings", token: n.read}, status: 404, code: "device_not_found"},
		{says: "an ingest token may not read", req: request{path: "/v1/devices/D-1/readings", token: n.feed}, status: 403, code: "forbidden"},

		{says: "data.buckets {at, count, <field>: {min, avg, max}}", req: q(span + "&step=1h&fields=humidity"), status: 200, want: map[string]any{
			"data.step": "1h", "data.readings": absent{}, "data.buckets.#": 3, "data.buckets.0": keys{"at", "count", "humidity"}, "data.buckets.0.humidity": keys{"min", "avg", "max"},
			"data.buckets.0.at": at(0), "data.buckets.0.count": 60, "data.buckets.0.humidity.min": 0, "data.buckets.0.humidity.max": 29.5, "data.buckets.0.humidity.avg": 14.75,
			"data.buckets.1.count": 30, "data.buckets.1.humidity.min": 30, "data.buckets.1.humidity.max": 59.5, "data.buckets.2.count": 60,
		}},
		{says: "aligned to UTC, whatever from is", req: q(fmt.Sprintf("from=%s&to=%s&step=15m&fields=humidity", at(7), at(40))), status: 200, want: map[string]any{"data.buckets.#": 3, "data.buckets.0.at": at(0), "data.buckets.0.count": 8, "data.buckets.1.at": at(15), "data.buckets.1.count": 15, "data.buckets.2.count": 10, "data.buckets.0.humidity.min": 3.5}},
		{says: "gaps are gaps (null), never interpolated", req: q(span + "&step=15m&fields=humidity"), status: 200, want: map[string]any{"data.buckets.#": 12, "data.buckets.4.count": 15, "data.buckets.5.count": 0, "data.buckets.5.humidity": nil, "data.buckets.6.humidity": nil, "data.buckets.7.count": 15}},
		{says: "buckets descending", req: q(span + "&step=1h&order=desc"), status: 200, want: map[string]any{"data.buckets.0.at": at(120), "data.buckets.2.at": at(0)}},
		{says: "a day", req: q(span + "&step=1d"), status: 200, want: map[string]any{"data.buckets.0.at": test(func(v any) bool { return strings.HasSuffix(v.(string), "T00:00:00.000Z") })}},
		{says: "auto: raw when all fit into max_points", req: q(span + "&step=auto"), status: 200, want: map[string]any{"data.step": "raw", "data.readings.#": 150}},
		{says: "auto: the shortest step that does", req: q(span + "&step=auto&max_points=40"), status: 200, want: map[string]any{"data.step": "5m", "data.buckets.#": 36}},
		{says: "auto: at max_points exactly", req: q(span + "&step=auto&max_points=36"), status: 200, want: map[string]any{"data.step": "5m"}},
		{says: "no buckets without readings", req: q(fmt.Sprintf("from=%s&to=%s&step=1m", s.ago(50*time.Hour), s.ago(49*time.Hour))), status: 200, want: map[string]any{"data.buckets": []any{}}},
		bad("more buckets than anyone can look at", "from=1990-01-01T00:00:00Z&step=1m", "step"),
	})
	t.Run("raw history pages by per_page and cursor, both ways", func(t *testing.T) {
		for _, order := range []string{"asc", "desc"} {
			var got []string
			query := span + "&per_page=40&order=" + order
			for next := ""; ; {
				a := s.do(t, q(query+next))
				if a.status != 200 || a.number(t, "data.pagination.per_page") != 40 {
					t.Fatalf("%d %s", a.status, a.body)
				}
				for i := range int(a.number(t, "data.readings.#")) {
					got = append(got, a.text(fmt.Sprintf("data.readings.%d.recorded_at", i)))
				}
				cursor := a.text("data.pagination.next_cursor")
				if (cursor == "") != (a.header.Get("Link") == "") {
					t.Errorf("Link is %q", a.header.Get("Link"))
				}
				if cursor == "" {
					break
				}
				next = "&cursor=" + cursor
			}
			if len(got) != 150 {
				t.Errorf("%s: %d readings", order, len(got))
			}
			for i := 1; i < len(got); i++ {
				if (got[i-1] < got[i]) != (order == "asc") {
					t.Fatalf("%s: %s before %s", order, got[i-1], got[i])
				}
			}
		}
		cursor := s.do(t, q(span+"&per_page=40")).text("data.pagination.next_cursor")
		if a := s.do(t, q(span+"&order=desc&cursor="+cursor)); a.status != 422 {
			t.Errorf("a cursor of the other order: %d", a.status)
		}
	})
	t.Run("text/csv by Accept, one header line, without a row cap", func(t *testing.T) {
		r := q(span + "&per_page=10&fields=humidity,voltage")
		r.header = map[string]string{"Accept": "text/csv"}
		a := s.do(t, r)
		if a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/csv") || a.header.Get("X-Request-Id") == "" {
			t.Fatalf("%d %v", a.status, a.header)
		}
		rows, err := csv.NewReader(strings.NewReader(string(a.body))).ReadAll()
		if err != nil || len(rows) != 151 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		column := make(map[string]int)
		for i, name := range rows[0] {
			column[name] = i
		}
		if rows[4][column["recorded_at"]] != at(3) || rows[4][column["humidity"]] != "1.5" || rows[4][column["voltage"]] != "" {
			t.Errorf("%v\n%v", rows[0], rows[4])
		}
		bad := q("step=2m")
		bad.header = r.header
		if a := s.do(t, bad); a.status != 422 || a.text("error.code") != "validation_failed" {
			t.Errorf("an error stays JSON: %d %s", a.status, a.body)
		}
	})
}
