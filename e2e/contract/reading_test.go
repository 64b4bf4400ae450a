package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// TestReading reads the sentences about POST /v1/readings.
func TestReading(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	n.device(t, `{"serial":"WIF-0001"}`)
	post := func(body string) request {
		return request{method: "POST", path: "/v1/readings", token: n.feed, body: body}
	}
	of := func(members string) request { return post(`{"device_serial":"WIF-0001",` + members + `}`) }
	at := s.ago(time.Hour)
	stored := func(says, members string, want map[string]any) row {
		w := map[string]any{"data.duplicate": false}
		for k, v := range want {
			w["data.reading."+k] = v
		}
		return row{says: says, req: of(members), status: 201, want: w}
	}
	refused := func(says, members string, fields ...string) row {
		return row{says: says, req: of(members), status: 422, code: "validation_failed", fields: fields}
	}
	var all []string
	for f := range rimewatch.NumCore {
		all = append(all, f.String())
	}
	s.recite(t, []row{
		{says: "201 with data.reading and duplicate false", req: of(`"product_zone_temp":-18.5,"compressor_discharge_temp":85.2,"compressor_suction_temp":-5.1,"ambient_temp":24.8,"humidity":45,"voltage":230.4,"amp_draw":8.2,"vibration_level":2.1,"recorded_at":"` + at + `"`), status: 201, want: map[string]any{
			"data": keys{"reading", "duplicate"}, "data.duplicate": false,
			"data.reading":           keys(append([]string{"device_id", "device_serial", "recorded_at", "received_at", "sensor_faults"}, all...)),
			"data.reading.device_id": present{}, "data.reading.device_serial": "WIF-0001", "data.reading.recorded_at": at, "data.reading.received_at": present{},
			"data.reading.product_zone_temp": -18.5, "data.reading.compressor_discharge_temp": 85.2, "data.reading.compressor_suction_temp": -5.1, "data.reading.ambient_temp": 24.8,
			"data.reading.humidity": 45, "data.reading.voltage": 230.4, "data.reading.amp_draw": 8.2, "data.reading.vibration_level": 2.1, "data.reading.sensor_faults": []any{},
		}},
		{says: "the same (device, recorded_at) again: 200, duplicate true, the first value kept", req: of(`"product_zone_temp":3,"recorded_at":"` + at + `"`), status: 200, want: map[string]any{"data.duplicate": true, "data.reading.product_zone_temp": -18.5, "data.reading.humidity": 45}},
		{says: "the same moment in another zone is the same", req: of(`"product_zone_temp":3,"recorded_at":"` + offset(t, at) + `"`), status: 200, want: map[string]any{"data.duplicate": true, "data.reading.recorded_at": at}},
		stored("at least one of the eight measurements; the others may be absent or null", `"humidity":1,"voltage":null,"recorded_at":null,"compressor_on":null,"start_count":null`, map[string]any{"humidity": 1, "voltage": nil, "ambient_temp": nil, "compressor_on": absent{}, "start_count": absent{}}),
		{says: "not one measurement", req: of(`"battery_pct":50`), status: 422, code: "validation_failed", fields: slices.Clone(all)},
		stored("a state alone is a reading", `"door_open":true`, map[string]any{"door_open": true, "product_zone_temp": nil, "clock_unset": absent{}}),
		stored("a time that cannot be is no time", `"humidity":3,"recorded_at":"1970-01-01T00:00:37Z"`, map[string]any{"humidity": 3, "clock_unset": true}),
		stored("nor is an uptime", `"humidity":3,"recorded_at":37`, map[string]any{"humidity": 3, "clock_unset": true}),
		{says: "nothing but nulls", req: of(`"humidity":null`), status: 422, code: "validation_failed", fields: slices.Clone(all)},
		{says: "device_serial is required", req: post(`{"humidity":1}`), status: 422, code: "validation_failed", fields: []string{"device_serial"}},
		{says: "device_serial is not null", req: post(`{"device_serial":null,"humidity":1}`), status: 422, code: "validation_failed", fields: []string{"device_serial"}},
		{says: "device_serial is text", req: post(`{"device_serial":7,"humidity":1}`), status: 422, code: "validation_failed", fields: []string{"device_serial"}},
		{says: "device_serial is a serial", req: post(`{"device_serial":"a/b","humidity":1}`), status: 422, code: "validation_failed", fields: []string{"device_serial"}},
		{says: "device_serial is compared without case, answered as registered", req: post(`{"device_serial":"wif-0001","humidity":1}`), status: 201, want: map[string]any{"data.reading.device_serial": "WIF-0001"}},
		{says: "unknown serial: 202, it waits", req: post(`{"device_serial":"NOBODY","humidity":1}`), status: 202, want: map[string]any{"data": keys{"held", "device_serial", "waiting"}, "data.held": true, "data.device_serial": "NOBODY", "data.waiting.accept.page": "/settings/sources"}},
		{says: "a bearer with the ingest preset may write", req: of(`"humidity":2`), status: 201},
		{says: "a bearer that reads may not", req: request{method: "POST", path: "/v1/readings", token: n.read, body: `{}`}, status: 403, code: "forbidden", fields: []string{"scope"}},

		refused("nothing known is left", `"temperature":3`, "product_zone_temp", "compressor_discharge_temp", "compressor_suction_temp", "ambient_temp", "humidity", "voltage", "amp_draw", "vibration_level"),
		refused("a near miss", `"humidity":1,"product_zone_tmp":3`, "product_zone_tmp"),
		refused("a mis-cased field", `"humidity":1,"Product_Zone_Temp":3`, "Product_Zone_Temp"),
		refused("a camel-cased field", `"humidity":1,"productZoneTemp":3`, "productZoneTemp"),
		refused("numbers only: text that is none", `"humidity":"1 %"`, "humidity"),
		stored("text that is a number without loss", `"product_zone_temp":"-19.1"`, map[string]any{"product_zone_temp": numeral("-19.1")}),
		refused("numbers only: bool", `"humidity":true`, "humidity"),
		refused("numbers only: list", `"humidity":[1]`, "humidity"),
		refused("numbers only: object", `"humidity":{}`, "humidity"),
		refused("every bad field is named", `"humidity":101,"voltage":-1,"amp_draw":"x"`, "humidity", "voltage", "amp_draw"),

		refused("temperatures from -100", `"product_zone_temp":-100.1`, "product_zone_temp"),
		refused("temperatures to 200", `"compressor_discharge_temp":200.1`, "compressor_discharge_temp"),
		refused("suction temperature to 200", `"compressor_suction_temp":201`, "compressor_suction_temp"),
		refused("ambient temperature to 200", `"ambient_temp":201`, "ambient_temp"),
		refused("humidity from 0", `"humidity":-0.1`, "humidity"),
		refused("humidity to 100", `"humidity":100.1`, "humidity"),
		refused("voltage from 0", `"voltage":-1`, "voltage"),
		refused("voltage to 1000", `"voltage":1000.1`, "voltage"),
		refused("amp_draw to 2000", `"amp_draw":2000.1`, "amp_draw"),
		refused("vibration_level to 500", `"vibration_level":500.1`, "vibration_level"),
		stored("the ends of the ranges are within, low", `"product_zone_temp":-100,"compressor_discharge_temp":-100,"compressor_suction_temp":-100,"ambient_temp":-100,"humidity":0,"voltage":0,"amp_draw":0,"vibration_level":0`, map[string]any{"product_zone_temp": -100, "vibration_level": 0, "sensor_faults": []any{}}),
		stored("the ends of the ranges are within, high", `"product_zone_temp":200,"humidity":100,"voltage":1000,"amp_draw":2000,"vibration_level":500`, map[string]any{"product_zone_temp": 200, "amp_draw": 2000}),
		stored("sentinels are stored as null and named, the others are not lost", `"product_zone_temp":-127,"compressor_discharge_temp":999,"compressor_suction_temp":-999,"ambient_temp":998,"humidity":1998,"vibration_level":1999.9,"voltage":231.5`, map[string]any{
			"product_zone_temp": nil, "compressor_discharge_temp": nil, "compressor_suction_temp": nil, "ambient_temp": nil, "humidity": nil, "vibration_level": nil, "voltage": 231.5,
			"sensor_faults": []any{"product_zone_temp", "compressor_discharge_temp", "compressor_suction_temp", "ambient_temp", "humidity", "vibration_level"},
		}),
		stored("a sentinel within the field's range is a measurement", `"voltage":999,"amp_draw":1998.5`, map[string]any{"voltage": 999, "amp_draw": 1998.5, "sensor_faults": []any{}}),
		stored("nothing but sentinels is stored", `"humidity":998`, map[string]any{"humidity": nil, "sensor_faults": []any{"humidity"}}),
		refused("997 is no sentinel", `"humidity":997`, "humidity"),
		refused("1999.95 is no sentinel", `"humidity":1999.95`, "humidity"),

		stored("numbers come back exactly as sent, 15 significant digits", `"product_zone_temp":-18.1234567890123,"humidity":0.000123456789012345,"voltage":123.456789012345,"ambient_temp":0.1,"amp_draw":3`, map[string]any{
			"product_zone_temp": numeral("-18.1234567890123"), "humidity": numeral("0.000123456789012345"), "voltage": numeral("123.456789012345"), "ambient_temp": numeral("0.1"), "amp_draw": numeral("3"),
		}),
		stored("a number may have an exponent", `"product_zone_temp":-1.85e1,"voltage":23E+1`, map[string]any{"product_zone_temp": -18.5, "voltage": 230}),
		stored("minus zero is zero", `"product_zone_temp":-0,"ambient_temp":-0.0`, map[string]any{"product_zone_temp": numeral("0"), "ambient_temp": numeral("0")}),
		stored("what is too small for a number is zero", `"product_zone_temp":1e-400`, map[string]any{"product_zone_temp": numeral("0")}),
		refused("huge numbers", `"product_zone_temp":1e400`, "product_zone_temp"),
		refused("huge negative numbers", `"product_zone_temp":-1e308`, "product_zone_temp"),
		refused("long digit strings", `"product_zone_temp":`+strings.Repeat("9", 4000), "product_zone_temp"),

		stored("optional extras are stored too", `"humidity":1,"compressor_on":true,"defrost_active":false,"door_open":true,"start_count":9007199254740991,"run_seconds":0`, map[string]any{"compressor_on": true, "defrost_active": false, "door_open": true, "start_count": numeral("9007199254740991"), "run_seconds": 0}),
		refused("compressor_on is a bool", `"humidity":1,"compressor_on":1`, "compressor_on"),
		refused("start_count is an integer", `"humidity":1,"start_count":1.5`, "start_count"),
		refused("start_count is not negative", `"humidity":1,"start_count":-1`, "start_count"),
		refused("run_seconds fits a JSON number", `"humidity":1,"run_seconds":9007199254740992`, "run_seconds"),
	})
}

// offset writes a moment with the offset +02:00.
func offset(t *testing.T, at string) string {
	t.Helper()
	m, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		t.Fatal(err)
	}
	return m.In(time.FixedZone("", 2*3600)).Format("2006-01-02T15:04:05.000-07:00")
}

// TestRecordedAt reads the sentences about the time of a reading.
func TestRecordedAt(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	n.device(t, `{"serial":"D-1"}`)
	at := func(v string) request {
		return request{method: "POST", path: "/v1/readings", token: n.feed, body: `{"device_serial":"D-1","humidity":50,"recorded_at":` + v + `}`}
	}
	q := func(v string) request { return at(`"` + v + `"`) }
	refused := func(says string, r request) row {
		return row{says: says, req: r, status: 422, code: "validation_failed", fields: []string{"recorded_at"}}
	}
	day := s.now().UTC().AddDate(0, 0, -2).Format("2006-01-02")
	s.recite(t, []row{
		{says: "RFC 3339, kept to the millisecond", req: q(day + "T01:02:03.1239999Z"), status: 201, want: map[string]any{"data.reading.recorded_at": day + "T01:02:03.123Z"}},
		{says: "below the millisecond it is the same reading", req: q(day + "T01:02:03.1231Z"), status: 200, want: map[string]any{"data.duplicate": true}},
		{says: "any offset", req: q(day + "T09:32:03.123+08:30"), status: 200, want: map[string]any{"data.duplicate": true}},
		{says: "the offset -00:00", req: q(day + "T01:02:04-00:00"), status: 201, want: map[string]any{"data.reading.recorded_at": day + "T01:02:04.000Z"}},
		{says: "less than 5 min ahead", req: q(s.ago(-4*time.Minute - 50*time.Second)), status: 201},
		refused("more than 5 min ahead", q(s.ago(-6*time.Minute))),
		{says: "within the retention window", req: q(s.ago(395 * 24 * time.Hour)), status: 201},
		refused("before the retention window", q(s.ago(397*24*time.Hour))),
		refused("the year 1", q("0001-01-01T00:00:00Z")),
		refused("the year 0", q("0000-01-01T00:00:00Z")),
		refused("the year 9999", q("9999-12-31T23:59:59.999Z")),
		refused("the year 10000", q("10000-01-01T00:00:00Z")),
		refused("the epoch", q("1970-01-01T00:00:00Z")),
		refused("a second 60 amid a month", q("2026-11-20T23:59:60Z")),
		refused("the hour 24", q(day+"T24:00:00Z")),
		refused("the 30th of February", q("2026-02-30T00:00:00Z")),
		refused("no zone", q(day+"T01:02:03")),
		refused("a space for the T", q(day+" 01:02:03Z")),
		refused("an hour of one digit", q(day+"T1:02:03Z")),
		refused("a comma for the point", q(day+"T01:02:03,5Z")),
		refused("an offset of a day", q(day+"T01:02:03+24:00")),
		refused("an offset without a colon", q(day+"T01:02:03+0200")),
		refused("a date", q(day)),
		refused("empty text", q("")),
		refused("a number of seconds before the retention", at("1700000000")),
		refused("a number before 2015", at("1000000000")),
		refused("a list", at("[]")),
	})
}

// TestReadingsWithoutATime: "default: arrival, moved to the device's next free
// millisecond, so two readings without a time are never taken for duplicates".
func TestReadingsWithoutATime(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	n.device(t, `{"serial":"D-1"}`)
	items := make([]string, 50)
	for i := range items {
		items[i] = fmt.Sprintf(`{"device_serial":"D-1","humidity":%d}`, i)
	}
	before := s.moment()
	a := s.do(t, request{method: "POST", path: "/v1/readings/batch", token: n.feed, body: `{"readings":[` + strings.Join(items, ",") + `]}`})
	if a.status != 200 || a.number(t, "data.accepted") != 50 || a.number(t, "data.duplicates") != 0 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for i := range 20 {
		if got := n.reading(t, fmt.Sprintf(`{"device_serial":"D-1","humidity":%d}`, i)); got.at("data.duplicate") != false {
			t.Errorf("%s", got.body)
		}
	}
	h := n.get(t, "/v1/devices/D-1/readings?from="+before.String()+"&to="+s.ago(-time.Minute))
	if got := h.number(t, "data.readings.#"); got != 70 {
		t.Errorf("%v readings are stored, not 70", got)
	}
}

// TestDuplicatesSideBySide: one reading sent by many at once is stored once,
// and everyone hears of the same value.
func TestDuplicatesSideBySide(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	n.device(t, `{"serial":"D-1"}`)
	const senders = 16
	for round := range 10 {
		at := s.ago(time.Hour + time.Duration(round)*time.Second)
		var mu sync.Mutex
		statuses, values := make(map[int]int), make(map[any]int)
		var wg sync.WaitGroup
		for i := range senders {
			wg.Go(func() {
				a := s.do(t, request{method: "POST", path: "/v1/readings", token: n.feed, body: fmt.Sprintf(`{"device_serial":"D-1","humidity":%d,"recorded_at":%q}`, i, at)})
				mu.Lock()
				defer mu.Unlock()
				statuses[a.status]++
				values[a.at("data.reading.humidity")]++
			})
		}
		wg.Wait()
		if statuses[http.StatusCreated] != 1 || statuses[http.StatusOK] != senders-1 || len(values) != 1 {
			t.Fatalf("statuses %v, values %v", statuses, values)
		}
	}
}

// TestStrictJSON reads the row "malformed JSON, not an object, invalid UTF-8,
// duplicate keys, trailing bytes: 400 invalid_json", on the hand-written decoder
// and on the general one.
func TestStrictJSON(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	n.device(t, `{"serial":"D-1"}`)
	before := n.get(t, "/v1/devices/D-1").body
	documents := map[string]string{
		"malformed":                      `{"FIRST"`,
		"a trailing comma":               `{"FIRST":"D-1","SECOND":1,}`,
		"single quotes":                  `{'FIRST':'D-1'}`,
		"a comment":                      `{"FIRST":"D-1"}//`,
		"a list":                         `[{"FIRST":"D-1","SECOND":1}]`,
		"text":                           `"FIRST"`,
		"null":                           `null`,
		"a number":                       `1`,
		"blanks":                         " \n\t ",
		"trailing bytes":                 `{"FIRST":"D-1","SECOND":1}x`,
		"two documents":                  `{"FIRST":"D-1","SECOND":1}{}`,
		"a NUL at the end":               "{\"FIRST\":\"D-1\",\"SECOND\":1}\x00",
		"a NUL in text":                  "{\"FIRST\":\"D-1\x00\",\"SECOND\":1}",
		"a byte order mark":              "\xef\xbb\xbf{\"FIRST\":\"D-1\",\"SECOND\":1}",
		"UTF-16":                         "{\x00\"\x00F\x00",
		"invalid UTF-8":                  "{\"FIRST\":\"D-1\xff\",\"SECOND\":1}",
		"invalid UTF-8 in a key":         "{\"FIRST\":\"D-1\",\"\xc3\x28\":1}",
		"overlong UTF-8":                 "{\"FIRST\":\"\xc0\xaf\",\"SECOND\":1}",
		"half a surrogate":               `{"FIRST":"\ud800","SECOND":1}`,
		"half a surrogate, raw":          "{\"FIRST\":\"\xed\xa0\x80\",\"SECOND\":1}",
		"duplicate keys":                 `{"FIRST":"D-1","SECOND":1,"SECOND":2}`,
		"duplicate keys, one escaped":    `{"FIRST":"D-1","SECOND":1,"\u0053ECOND":2}`,
		"duplicate keys, unknown":        `{"FIRST":"D-1","SECOND":1,"a":1,"a":2}`,
		"duplicate keys, deep":           `{"FIRST":"D-1","SECOND":{"a":1,"a":2}}`,
		"deep lists":                     `{"FIRST":` + strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000) + `}`,
		"deep objects":                   strings.Repeat(`{"FIRST":`, 30_000) + "1" + strings.Repeat("}", 30_000),
		"deep and open":                  strings.Repeat("[", 1_000_000),
		"a leading zero":                 `{"FIRST":"D-1","SECOND":01}`,
		"a plus":                         `{"FIRST":"D-1","SECOND":+1}`,
		"no digit after the point":       `{"FIRST":"D-1","SECOND":1.}`,
		"no digit before the point":      `{"FIRST":"D-1","SECOND":.5}`,
		"NaN":                            `{"FIRST":"D-1","SECOND":NaN}`,
		"Infinity":                       `{"FIRST":"D-1","SECOND":Infinity}`,
		"a line break in text":           "{\"FIRST\":\"D\n1\",\"SECOND\":1}",
		"an unknown escape":              `{"FIRST":"D\x31","SECOND":1}`,
		"a capital literal":              `{"FIRST":"D-1","SECOND":True}`,
		"a key without quotes":           `{FIRST:"D-1","SECOND":1}`,
		"no comma":                       `{"FIRST":"D-1" "SECOND":1}`,
		"two commas":                     `{"FIRST":"D-1",,"SECOND":1}`,
		"a colon for a comma":            `{"FIRST":"D-1":"SECOND"}`,
		"an end within a literal":        `{"FIRST":"D-1","SECOND":tru`,
		"an end within an escape":        `{"FIRST":"D-1\u00`,
		"a vertical tab between members": "{\"FIRST\":\"D-1\",\v\"SECOND\":1}",
	}
	routes := []struct{ method, path, first, second string }{
		{"POST", "/v1/readings", "device_serial", "humidity"},
		{"POST", "/v1/devices", "serial", "offline_after_s"},
		{"PATCH", "/v1/devices/D-1", "name", "offline_after_s"},
		{"PATCH", "/v1/devices/D-1/heartbeat", "firmware_version", "uptime_s"},
		{"POST", "/v1/sites", "name", "address"},
		{"POST", "/v1/readings/batch", "device_serial", "humidity"},
	}
	for _, r := range routes {
		for name, document := range documents {
			if name == "blanks" && strings.HasSuffix(r.path, "heartbeat") {
				continue // its body is optional
			}
			document = strings.NewReplacer("FIRST", r.first, "SECOND", r.second, `\u0053ECOND`, `\u00`+fmt.Sprintf("%02x", r.second[0])+r.second[1:]).Replace(document)
			a := s.do(t, request{method: r.method, path: r.path, token: n.full, body: document})
			if a.status != http.StatusBadRequest || a.text("error.code") != "invalid_json" {
				t.Errorf("%s %s, %s: %d %q, want 400 invalid_json", r.method, r.path, name, a.status, a.text("error.code"))
			}
		}
	}
	if got := n.get(t, "/v1/devices"); got.number(t, "data.pagination.total") != 1 {
		t.Errorf("something was stored: %s", got.body)
	}
	if after := n.get(t, "/v1/devices/D-1").body; string(after) != string(before) {
		t.Errorf("something was changed:\n%s%s", before, after)
	}
}

// TestAnyKeyOrder: what a document means does not depend on how it is written.
func TestAnyKeyOrder(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	n.device(t, `{"serial":"D-1"}`)
	for i, body := range []string{
		`{"device_serial":"D-1","humidity":41.5,"recorded_at":"AT"}`,
		`{"recorded_at":"AT","humidity":41.5,"device_serial":"D-1"}`,
		" {\n\t\"humidity\" : 41.5 , \"recorded_at\":\"AT\",\r\n\"device_serial\": \"D-1\" } \n",
		`{"humidity":4.15e1,"recorded_at":"AT","device_serial":"\u0044-1"}`,
		`{"h\u0075midity":41.50,"recorded_at":"AT","device_serial":"D-1"}`,
	} {
		at := s.ago(time.Hour + time.Duration(i)*time.Second)
		a := n.reading(t, strings.Replace(body, "AT", at, 1))
		if !holds(numeral("41.5"), a.at("data.reading.humidity")) || a.text("data.reading.recorded_at") != at {
			t.Errorf("%s gives %s", body, a.body)
		}
	}
}

// TestMediaTypes reads the row "wrong content type or encoding: 415" and "a body
// without Content-Type, or as text/plain, form-urlencoded or …+json, is taken as
// JSON when a Bearer token came with it and it begins with { or [".
func TestMediaTypes(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	n.device(t, `{"serial":"D-1"}`)
	reading := `{"device_serial":"D-1","humidity":1}`
	post := func(kind string, header map[string]string) request {
		return request{method: "POST", path: "/v1/readings", token: n.feed, kind: kind, body: reading, header: header}
	}
	bad := func(says string, q request) row {
		return row{says: says, req: q, status: 415, code: "unsupported_media_type", fields: []string{}}
	}
	s.recite(t, []row{
		{says: "a body without Content-Type", req: post("-", nil), status: 201},
		{says: "plain text", req: post("text/plain", nil), status: 201},
		{says: "a form", req: post("application/x-www-form-urlencoded", nil), status: 201},
		{says: "some +json", req: post("application/ld+json", nil), status: 201},
		bad("plain text that is no JSON", request{method: "POST", path: "/v1/readings", token: n.feed, kind: "text/plain", body: "D-1;4.5"}),
		bad("text/json", post("text/json", nil)),
		bad("NDJSON where one reading is taken", post("application/x-ndjson", nil)),
		bad("another charset", post("application/json; charset=utf-16", nil)),
		bad("an unknown encoding", post("", map[string]string{"Content-Encoding": "br"})),
		bad("two encodings", post("", map[string]string{"Content-Encoding": "gzip, gzip"})),
		bad("deflate", post("", map[string]string{"Content-Encoding": "deflate"})),
		{says: "with a charset", req: post("application/json; charset=UTF-8", nil), status: 201},
		{says: "in capitals", req: post("APPLICATION/JSON", nil), status: 201},
		{says: "identity", req: post("", map[string]string{"Content-Encoding": "identity"}), status: 201},
		{says: "a device without Content-Type", req: request{method: "POST", path: "/v1/devices", token: n.full, kind: "-", body: `{"serial":"X"}`}, status: 201},
		{says: "a heartbeat with a body without Content-Type", req: request{method: "PATCH", path: "/v1/devices/D-1/heartbeat", token: n.full, kind: "-", body: `{}`}, status: 200},
		{says: "a batch without Content-Type", req: request{method: "POST", path: "/v1/readings/batch", token: n.full, kind: "-", body: `{"readings":[` + reading + `]}`}, status: 200},
		bad("an import of JSON", request{method: "POST", path: "/v1/devices/import", token: n.full, body: `{}`}),
		{says: "a gzipped body that is none", req: post("", map[string]string{"Content-Encoding": "gzip"}), status: 400, code: "invalid_json"},
		{says: "a zstd body that is none", req: post("", map[string]string{"Content-Encoding": "zstd"}), status: 400, code: "invalid_json"},
	})
}

// TestLatest reads GET /v1/readings/latest.
func TestLatest(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	for i := range 30 {
		n.device(t, fmt.Sprintf(`{"serial":"D-%02d","name":"Unit %d","equipment_type":"walkin_cooler"}`, i, i))
	}
	none := n.get(t, "/v1/readings/latest")
	if !holds([]any{}, none.at("data.readings")) {
		t.Errorf("without readings: %s", none.body)
	}
	newest := s.ago(time.Minute)
	for i := range 29 { // the last one stays silent
		n.reading(t, fmt.Sprintf(`{"device_serial":"D-%02d","humidity":%d,"recorded_at":%q}`, i, i, newest))
	}
	n.reading(t, `{"device_serial":"D-00","humidity":99,"recorded_at":"`+s.ago(time.Hour)+`"}`)
	s.recite(t, []row{
		{says: "all devices when no paging parameter is given, those without readings left out", req: request{path: "/v1/readings/latest", token: n.read}, status: 200, want: map[string]any{
			"data": keys{"readings"}, "data.readings.#": 29, "data.readings.0.device_serial": "D-00", "data.readings.28.device_serial": "D-28",
			"data.readings.0.device_name": "Unit 0", "data.readings.0.equipment_type": "walkin_cooler", "data.readings.0.device_status": "online",
		}},
		{says: "the newest by recorded_at, whatever arrived last", req: request{path: "/v1/readings/latest", token: n.read}, status: 200, want: map[string]any{"data.readings.0.recorded_at": newest, "data.readings.0.humidity": 0}},
		{says: "pages as devices", req: request{path: "/v1/readings/latest?per_page=10&page=3", token: n.read}, status: 200, want: map[string]any{
			"data.readings.#": 9, "data.readings.0.device_serial": "D-20", "data.pagination.per_page": 10, "data.pagination.current_page": 3, "data.pagination.next_cursor": nil,
		}},
		{says: "an unknown parameter is no paging parameter", req: request{path: "/v1/readings/latest?frob=1", token: n.read}, status: 200, want: map[string]any{"data.readings.#": 29}},
		{says: "a bad paging value", req: request{path: "/v1/readings/latest?page=0", token: n.read}, status: 422, code: "validation_failed", fields: []string{"page"}},
	})
}

// TestOnUnknown: by the workspace's on_unknown a reading of an unknown serial
// waits, creates the device, or is refused.
func TestOnUnknown(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	owner := n.signIn(t, "olga@example.com", rimewatch.RoleOwner)
	on := request{method: "PATCH", path: "/v1/workspace", cookie: owner, body: `{"auto_register":true}`}
	earlier := s.ago(time.Hour)
	s.recite(t, []row{
		{says: "default off", req: request{path: "/v1/workspace", cookie: owner}, status: 200, want: map[string]any{"data.workspace.on_unknown": "hold", "data.workspace.auto_register": false, "data.workspace.name": "Alpha"}},
		{says: "hold: 202, held", req: request{method: "POST", path: "/v1/readings", token: n.feed, body: `{"device_serial":"NEW-1","humidity":7,"recorded_at":"` + earlier + `"}`}, status: 202, want: map[string]any{"data": keys{"held", "device_serial", "waiting"}, "data.held": true, "data.device_serial": "NEW-1"}},
		{says: "it waits under the source api", req: request{path: "/v1/sources/api/held", token: n.full}, status: 200, want: map[string]any{"data.senders.#": 1, "data.senders.0.external_id": "NEW-1", "data.senders.0.payloads": 1}},
		{says: "PATCH /v1/workspace turns it on", req: on, status: 200, want: map[string]any{"data.workspace.auto_register": true}},
		{says: "on: the device is created, with an ingest token too", req: request{method: "POST", path: "/v1/readings", token: n.feed, body: `{"device_serial":"NEW-1","humidity":1}`}, status: 201, want: map[string]any{"data.reading.device_serial": "NEW-1"}},
		{says: "what waited is stored with its own time", req: request{path: "/v1/devices/NEW-1/readings", token: n.full}, status: 200, want: map[string]any{"data.readings.#": 2, "data.readings.0.recorded_at": earlier, "data.readings.0.humidity": 7}},
		{says: "it is like one registered with nothing but a serial", req: request{path: "/v1/devices/NEW-1", token: n.full}, status: 200, want: map[string]any{"data.device.name": "NEW-1", "data.device.equipment_type": "other", "data.device.status": "online"}},
		{says: "a bad reading creates nothing", req: request{method: "POST", path: "/v1/readings", token: n.feed, body: `{"device_serial":"NEW-2","humidity":101}`}, status: 422, code: "validation_failed"},
		{says: "no such device", req: request{path: "/v1/devices/NEW-2", token: n.full}, status: 404, code: "device_not_found"},
		{says: "a batch creates devices too, once each", req: request{method: "POST", path: "/v1/readings/batch", token: n.feed, body: `{"readings":[{"device_serial":"B-1","humidity":1},{"device_serial":"b-1","humidity":2},{"device_serial":"B-2","humidity":3},{"device_serial":"B/3","humidity":3}]}`}, status: 200,
			want: map[string]any{"data.accepted": 3, "data.rejected": 1}},
		{says: "three devices in all", req: request{path: "/v1/devices", token: n.full}, status: 200, want: map[string]any{"data.pagination.total": 3}},
		{says: "auto_register false means refuse", req: request{method: "PATCH", path: "/v1/workspace", cookie: owner, body: `{"auto_register":false}`}, status: 200, want: map[string]any{"data.workspace.on_unknown": "refuse", "data.workspace.auto_register": false}},
		{says: "refuse: 422 unknown_device", req: request{method: "POST", path: "/v1/readings", token: n.feed, body: `{"device_serial":"NEW-3","humidity":1}`}, status: 422, code: "unknown_device", fields: []string{"device_serial"}},
	})
}

// TestLongText: what a client sends comes back only in part.
func TestLongText(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	a := s.do(t, request{method: "POST", path: "/v1/readings", token: n.feed, body: `{"` + strings.Repeat("k", 900_000) + `":1}`})
	if a.status != 422 || len(a.body) > 2000 {
		t.Errorf("a long key: %d, %d bytes", a.status, len(a.body))
	}
	var many []string
	for i := range 9_000 {
		many = append(many, fmt.Sprintf(`"k%d":1`, i))
	}
	a = s.do(t, request{method: "POST", path: "/v1/readings", token: n.feed, body: "{" + strings.Join(many, ",") + "}"})
	if fields, _ := a.at("error.fields").(map[string]any); a.status != 422 || len(fields) == 0 || len(fields) > 25 {
		t.Errorf("many keys: %d, %d of them named", a.status, len(fields))
	}
	html, err := json.Marshal(`<script>alert(1)</script>`)
	if err != nil {
		t.Fatal(err)
	}
	a = s.do(t, request{method: "POST", path: "/v1/devices", token: n.full, body: `{"serial":"X-1","name":` + string(html) + `}`})
	if a.status != 201 || a.text("data.device.name") != `<script>alert(1)</script>` || a.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("markup in a name: %d %s", a.status, a.body)
	}
}
