package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
)

// serve starts a server and returns a client for it that does not really wait;
// waits records how long it would have.
func serve(t *testing.T, o Options, h http.HandlerFunc) (c *Client, waits *[]time.Duration) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	waits = new([]time.Duration)
	o.sleep = func(_ context.Context, d time.Duration) error {
		*waits = append(*waits, d)
		return nil
	}
	c, err := New(srv.URL+"/api/", "rw_secret", &o)
	if err != nil {
		t.Fatal(err)
	}
	return c, waits
}

const stored = `{"success":true,"data":{"reading":{"device_id":1,"device_serial":"A","recorded_at":"2026-11-20T19:47:12.000Z","received_at":"2026-11-20T19:47:13.000Z","product_zone_temp":-18.4,"humidity":null,"sensor_faults":["humidity"]},"duplicate":true}}`

func failure(code string, fields string) string {
	return fmt.Sprintf(`{"success":false,"data":{},"error":{"code":%q,"message":"No.","fields":{%s},"request_id":"r1","docs":"/docs/errors#%s"}}`, code, fields, code)
}

var moment = rimewatch.TimeOf(time.Date(2026, 11, 20, 19, 47, 12, 0, time.UTC))

func TestNew(t *testing.T) {
	for in, want := range map[string]string{
		"http://h":             "http://h/api",
		"http://h/":            "http://h/api",
		"https://h:1/api":      "https://h:1/api",
		"https://h/x/api/":     "https://h/x/api",
		"https://h/x":          "https://h/x/api",
		"ftp://h":              "",
		"127.0.0.1:8080":       "",
		"http://":              "",
		"http://[::1%25]:1/\n": "",
	} {
		c, err := New(in, "", nil)
		if (err != nil) != (want == "") {
			t.Errorf("%q: %v", in, err)
		} else if err == nil && c.BaseURL() != want {
			t.Errorf("%q: %q, want %q", in, c.BaseURL(), want)
		}
	}
}

func TestPostReading(t *testing.T) {
	c, _ := serve(t, Options{UserAgent: "me"}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got := []string{r.Method, r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("Content-Type"), r.Header.Get("User-Agent"), string(body)}
		want := []string{"POST", "/api/v1/readings", "Bearer rw_secret", "application/json", "me", `{"device_serial":"A","recorded_at":"2026-11-20T19:47:12.000Z","product_zone_temp":-18.4,"door_open":false}`}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		fmt.Fprint(w, stored)
	})
	got, duplicate, err := c.PostReading(context.Background(), Reading{
		DeviceSerial: "A", RecordedAt: moment, Measurements: Measurements{ProductZoneTemp: Value(-18.4), DoorOpen: Value(false)},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := StoredReading{
		DeviceID: 1, DeviceSerial: "A", RecordedAt: moment, ReceivedAt: moment + 1000,
		Measurements: Measurements{ProductZoneTemp: Value(-18.4)}, SensorFaults: []string{"humidity"},
	}
	if d := cmp.Diff(want, got); d != "" || !duplicate {
		t.Error(d, duplicate)
	}
}

func TestError(t *testing.T) {
	c, _ := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", "r1")
		w.WriteHeader(422)
		_, _ = io.WriteString(w, failure("validation_failed", `"voltage":["is odd","is high"],"humidity":["is low"]`))
	})
	_, err := c.Device(context.Background(), "A")
	var e *Error
	if !errors.As(err, &e) || e.Status != 422 || e.RequestID != "r1" || StatusOf(err) != 422 || !strings.HasPrefix(e.Docs, "http://127.0.0.1:") || !strings.HasSuffix(e.Docs, "/docs/errors#validation_failed") {
		t.Fatalf("%#v", err)
	}
	if got, want := err.Error(), "No; humidity is low; voltage is odd, is high (422 validation_failed, request r1)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var domain *rimewatch.Error
	if !errors.As(err, &domain) || domain.Fields["humidity"][0] != "is low" || rimewatch.CodeOf(err) != rimewatch.CodeValidationFailed {
		t.Errorf("%#v", domain)
	}
	if StatusOf(io.EOF) != 0 {
		t.Error("a network error has a status")
	}
}

func TestNotTheAPI(t *testing.T) {
	for _, body := range []string{"<html>", "[]", "{}", `{"success":false,"data":{}}`, `{"success":true,"data":null}`} {
		c, _ := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
		if _, err := c.Summary(context.Background()); !errors.Is(err, errNotTheAPI) {
			t.Errorf("%s: %v", body, err)
		}
		for _, err := range c.Latest(context.Background()) {
			if err == nil {
				t.Errorf("%s: no error", body)
			}
		}
	}
}

func TestDevicesFollowsCursors(t *testing.T) {
	var queries []string
	c, _ := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		queries = append(queries, r.URL.RawQuery)
		n := len(queries)
		next := `null`
		if n < 3 {
			next = fmt.Sprintf(`"c%d"`, n)
		}
		fmt.Fprintf(w, `{"success":true,"data":{"devices":[{"id":%d,"serial":"A","current_temp":null},{"id":%d,"serial":"B","current_temp":1.5,"site":{"id":3,"name":"S","timezone":"UTC"}}],"pagination":{"current_page":null,"per_page":100,"total":null,"next_cursor":%s}}}`, 2*n-1, 2*n, next)
	})
	var ids []int64
	for d, err := range c.Devices(context.Background(), DeviceFilter{Status: rimewatch.Online, Query: "a b", SiteID: 3, EquipmentType: "x"}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, d.ID)
	}
	if d := cmp.Diff([]int64{1, 2, 3, 4, 5, 6}, ids); d != "" {
		t.Error(d)
	}
	want := []string{
		"equipment_type=x&per_page=100&q=a+b&site_id=3&status=online",
		"cursor=c1&equipment_type=x&per_page=100&q=a+b&site_id=3&status=online",
		"cursor=c2&equipment_type=x&per_page=100&q=a+b&site_id=3&status=online",
	}
	if d := cmp.Diff(want, queries); d != "" {
		t.Error(d)
	}
	queries = nil
	for _, err := range c.Devices(context.Background(), DeviceFilter{}) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if len(queries) != 1 {
		t.Errorf("%d pages were read for one device", len(queries))
	}
}

func TestDevicesStopsAtAnError(t *testing.T) {
	c, _ := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(401)
		_, _ = io.WriteString(w, failure("unauthenticated", ""))
	})
	n := 0
	for _, err := range c.Devices(context.Background(), DeviceFilter{}) {
		if n++; rimewatch.CodeOf(err) != rimewatch.CodeUnauthenticated {
			t.Error(err)
		}
	}
	if n != 1 {
		t.Errorf("%d turns", n)
	}
}

func TestLatestStreams(t *testing.T) {
	const item = `{"device_id":%d,"device_serial":"A","recorded_at":"2026-11-20T19:47:12.000Z","received_at":"2026-11-20T19:47:12.000Z","voltage":230,"sensor_faults":[],"device_name":"N","equipment_type":"other","device_status":"online"}`
	whole := true
	c, _ := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"success":true,"data":{"other":[1,{"readings":2}],"readings":[`)
		fmt.Fprintf(w, item+","+item, 1, 2)
		if whole {
			_, _ = io.WriteString(w, "]}}\n")
		}
	})
	read := func() (ids []int64, err error) {
		for r, err := range c.Latest(context.Background()) {
			if err != nil {
				return ids, err
			}
			if *r.Voltage != 230 || r.DeviceName != "N" || r.DeviceStatus != rimewatch.Online {
				t.Errorf("%+v", r)
			}
			ids = append(ids, r.DeviceID)
		}
		return ids, nil
	}
	if ids, err := read(); err != nil || len(ids) != 2 {
		t.Error(ids, err)
	}
	whole = false
	if ids, err := read(); err == nil || len(ids) != 2 {
		t.Error("an answer that broke off was taken for whole:", ids, err)
	}
}

func TestBatch(t *testing.T) {
	var gotType, gotEncoding, gotBody string
	c, _ := serve(t, Options{Encoding: Gzip()}, func(w http.ResponseWriter, r *http.Request) {
		gotType, gotEncoding = r.Header.Get("Content-Type"), r.Header.Get("Content-Encoding")
		body := io.Reader(r.Body)
		if gotEncoding == "gzip" {
			z, err := gzip.NewReader(body)
			if err != nil {
				t.Error(err)
				return
			}
			body = z
		}
		b, _ := io.ReadAll(body)
		gotBody = string(b)
		_, _ = io.WriteString(w, `{"success":true,"data":{"accepted":1,"duplicates":0,"rejected":1,"results":[{"index":1,"status":422,"code":"validation_failed","fields":{"humidity":["is odd"]}}]}}`)
	})
	one := Reading{DeviceSerial: "A", RecordedAt: moment, Measurements: Measurements{Humidity: Value(1.0)}}
	result, err := c.PostNDJSON(context.Background(), []Reading{one, one})
	if err != nil {
		t.Fatal(err)
	}
	line := `{"device_serial":"A","recorded_at":"2026-11-20T19:47:12.000Z","humidity":1}` + "\n"
	if gotBody != line+line || gotType != "application/x-ndjson" || gotEncoding != "" {
		t.Errorf("%q %q %q", gotType, gotEncoding, gotBody)
	}
	if result.Accepted != 1 || result.Rejected != 1 || result.Results[0].Error() != "reading 1: validation_failed; humidity is odd" {
		t.Errorf("%+v", result)
	}
	many := make([]Reading, 100)
	for i := range many {
		many[i] = one
	}
	if _, err := c.PostBatch(context.Background(), many); err != nil {
		t.Fatal(err)
	}
	var document struct{ Readings []Reading }
	if err := json.Unmarshal([]byte(gotBody), &document); err != nil || gotEncoding != "gzip" || gotType != "application/json" {
		t.Error(err, gotEncoding, gotType)
	}
	if d := cmp.Diff(many, document.Readings); d != "" {
		t.Error(d)
	}
}

func TestDeviceFields(t *testing.T) {
	var method, path, body string
	c, _ := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		method, path, body = r.Method, r.URL.EscapedPath(), string(b)
		_, _ = io.WriteString(w, `{"success":true,"data":{"device":{"serial":"A:1","labels":{"a":"b"},"limits":{"temp_max":5},"latest_reading":null}}}`)
	})
	ctx := context.Background()
	check := func(wantMethod, wantPath, wantBody string, d Device, err error) {
		t.Helper()
		if err != nil || method != wantMethod || path != wantPath || body != wantBody || d.Serial != "A:1" || *d.Limits.TempMax != 5 {
			t.Errorf("%v: %s %s %s", err, method, path, body)
		}
	}
	f := DeviceFields{Name: Value("n"), Limits: &rimewatch.LimitOverrides{TempMax: Value(5.0)}}
	d, err := c.CreateDevice(ctx, "A:1", f)
	check("POST", "/api/v1/devices", `{"serial":"A:1","name":"n","limits":{"temp_max":5}}`, d, err)
	d, err = c.UpdateDevice(ctx, "A:1", DeviceFields{Name: Value(""), Reset: []string{"limits", "notes"}})
	check("PATCH", "/api/v1/devices/A:1", `{"limits":null,"name":"","notes":null}`, d, err)
	d, err = c.DeleteDevice(ctx, "A/1")
	check("DELETE", "/api/v1/devices/A%2F1", "", d, err)
	d, _, err = c.Heartbeat(ctx, "A:1", Heartbeat{Status: rimewatch.Offline, UptimeS: Value(int64(3))})
	check("PATCH", "/api/v1/devices/A:1/heartbeat", `{"status":"offline","uptime_s":3}`, d, err)
}

func TestHistory(t *testing.T) {
	var queries []string
	c, _ := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		queries = append(queries, r.URL.RawQuery)
		switch {
		case r.Header.Get("Accept") == "text/csv":
			_, _ = io.WriteString(w, "recorded_at\r\n")
		case r.URL.Query().Get("step") != "":
			_, _ = io.WriteString(w, `{"success":true,"data":{"step":"1h","from":"2026-11-20T19:47:12.000Z","to":"2026-11-20T19:47:12.000Z","buckets":[{"at":"2026-11-20T19:47:12.000Z","count":2,"voltage":{"min":1,"avg":2,"max":3},"humidity":null},{"at":"2026-11-20T19:47:12.000Z","count":0,"voltage":null}]}}`)
		default:
			_, _ = io.WriteString(w, `{"success":true,"data":{"device_id":4,"device_serial":"A","readings":[{"recorded_at":"2026-11-20T19:47:12.000Z","received_at":"2026-11-20T19:47:12.000Z","voltage":230,"sensor_faults":[]}],"pagination":{"per_page":10000,"next_cursor":null}}}`)
		}
	})
	ctx := context.Background()
	q := HistoryQuery{From: moment, To: moment + 1, Fields: rimewatch.Fields(0).With(rimewatch.Voltage), Descending: true}
	n := 0
	for r, err := range c.History(ctx, "A", q) {
		if err != nil || r.DeviceID != 4 || r.DeviceSerial != "A" || *r.Voltage != 230 {
			t.Errorf("%+v %v", r, err)
		}
		n++
	}
	b, err := c.Buckets(ctx, "A", HistoryQuery{}, "auto", 500)
	if err != nil || b.Step != "1h" || len(b.Buckets) != 2 || b.Buckets[0].Fields[rimewatch.Voltage].Avg != 2 || b.Buckets[1].Fields[rimewatch.Voltage] != nil || b.Buckets[0].Count != 2 {
		t.Errorf("%+v %v", b, err)
	}
	var csv bytes.Buffer
	if err := c.HistoryCSV(ctx, "A", HistoryQuery{}, &csv); err != nil || csv.String() != "recorded_at\r\n" {
		t.Error(err, csv.String())
	}
	want := []string{
		"fields=voltage&from=2026-11-20T19%3A47%3A12.000Z&order=desc&per_page=10000&to=2026-11-20T19%3A47%3A12.001Z",
		"max_points=500&step=auto", "",
	}
	if d := cmp.Diff(want, queries); d != "" || n != 1 {
		t.Error(d, n)
	}
}

func TestMeasurementsOf(t *testing.T) {
	var r rimewatch.Reading
	r.Set(rimewatch.Voltage, 230)
	r.Faults = rimewatch.Fields(0).With(rimewatch.AmbientTemp).With(rimewatch.Humidity)
	r.Flags = r.Flags.WithBool(rimewatch.DoorOpen, true)
	r.Set(rimewatch.StartCount, 7)
	m := MeasurementsOf(&r)
	want := Measurements{Voltage: Value(230.0), AmbientTemp: Value(-127.0), Humidity: Value(-127.0), DoorOpen: Value(true), StartCount: Value(int64(7))}
	if d := cmp.Diff(want, m); d != "" {
		t.Error(d)
	}
	for f := range rimewatch.AllFields.All() {
		var m Measurements
		m.Set(f, 1)
		b, _ := json.Marshal(m)
		if v, ok := m.Value(f); v != 1 || !ok || string(b) != fmt.Sprintf(`{"%s":1}`, f) {
			t.Errorf("%s: %v %v %s", f, v, ok, b)
		}
	}
}

func TestProbes(t *testing.T) {
	c, waits := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz":
			_, _ = io.WriteString(w, "ok")
		case "/readyz":
			w.WriteHeader(503)
		case "/api/openapi.json":
			_, _ = io.WriteString(w, "{}")
		}
	})
	ctx := context.Background()
	if err := c.Alive(ctx); err != nil {
		t.Error(err)
	}
	if err := c.Ready(ctx); StatusOf(err) != 503 || len(*waits) != 0 || !strings.Contains(err.Error(), "not by Rimewatch") {
		t.Error(err, *waits)
	}
	if b, err := c.OpenAPI(ctx); string(b) != "{}" || err != nil {
		t.Error(string(b), err)
	}
}

func TestNotifications(t *testing.T) {
	var asked []string
	c, _ := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		const silence = `{"id":4,"match":{"severities":[],"types":[],"site_ids":[],"equipment_types":[],"device_serials":["A"]},"starts_at":"2026-11-20T19:47:12.000Z","ends_at":"2026-11-20T20:47:12.000Z","comment":"ice","created_by":"token 1","created_at":"2026-11-20T19:47:12.000Z","active":true}`
		switch {
		case strings.HasSuffix(r.URL.Path, "/deliveries"):
			fmt.Fprint(w, `{"success":true,"data":{"deliveries":[{"id":9,"key":"k","alert_id":7,"kind":"opened","level":0,"status":"sent","attempts":1,"channel":{"id":1,"name":"Kitchen","kind":"email"},"route":null,"created_at":"2026-11-20T19:47:12.000Z","next_attempt_at":null,"sent_at":"2026-11-20T19:47:12.000Z","last_error":null}]}}`)
		case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/silences"):
			fmt.Fprint(w, `{"success":true,"data":{"silences":[`+silence+`]}}`)
		default:
			fmt.Fprint(w, `{"success":true,"data":{"silence":`+silence+`}}`)
		}
	})
	ctx := context.Background()
	deliveries, err := c.AlertDeliveries(ctx, 7)
	want := []Delivery{{ID: 9, Key: "k", AlertID: 7, Kind: rimewatch.DeliveryOpened, Status: rimewatch.DeliverySent, Attempts: 1,
		Channel: DeliveryChannel{1, "Kitchen", rimewatch.ChannelEmail}, CreatedAt: moment, SentAt: moment}}
	if d := cmp.Diff(want, deliveries); d != "" || err != nil {
		t.Error(err, d)
	}
	made, err := c.Silences().Create(ctx, NewSilence{Match: AlertMatch{DeviceSerials: []string{"A"}}, EndsAt: moment + rimewatch.Hour, Comment: "ice"})
	if err != nil || made.ID != 4 || made.EndsAt != moment+rimewatch.Hour || !made.Active || len(made.Match.DeviceSerials) != 1 {
		t.Errorf("%+v %v", made, err)
	}
	got, err := c.Silences().Get(ctx, 4)
	if d := cmp.Diff(made, got); d != "" || err != nil {
		t.Error(err, d)
	}
	list, err := c.Silences().List(ctx, true)
	if d := cmp.Diff([]Silence{made}, list); d != "" || err != nil {
		t.Error(err, d)
	}
	if _, err := c.Silences().End(ctx, 4); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff([]string{
		"GET /api/v1/alerts/7/deliveries",
		`POST /api/v1/silences {"match":{"device_serials":["A"]},"ends_at":"2026-11-20T20:47:12.000Z","comment":"ice"}`,
		"GET /api/v1/silences/4",
		"GET /api/v1/silences?ended=true",
		"POST /api/v1/silences/4/end",
	}, asked); d != "" {
		t.Error(d)
	}
}
