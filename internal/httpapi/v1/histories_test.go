package v1

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// TestReadingsOfManyDevices: the history of many devices comes by device, then time, page by
// page without a gap, as JSON, lines and CSV, of the devices that are asked for and may be seen.
func TestReadingsOfManyDevices(t *testing.T) {
	r := newRig(t)
	site := rimewatch.Site{WorkspaceID: r.workspace.ID, Name: "Main Street", TimeZone: "UTC"}
	if err := r.store.Sites().Create(t.Context(), &site); err != nil {
		t.Fatal(err)
	}
	for i, serial := range []string{"B", "A", "C", "empty"} {
		body := fmt.Sprintf(`{"serial":%q,"equipment_type":"walkin_freezer","labels":{"zone":"z%d"}}`, serial, i%2)
		if serial == "A" {
			body = fmt.Sprintf(`{"serial":"A","equipment_type":"walkin_freezer","labels":{"zone":"z1"},"site_id":%d}`, site.ID)
		}
		if a := r.do(post("/v1/devices", r.full, body)); a.status != 201 {
			t.Fatal(a.body)
		}
	}
	start := r.now()
	for range 5 {
		for _, serial := range []string{"C", "A", "B"} {
			r.do(post("/v1/readings", r.full, at(serial, -20, r.now())))
		}
		r.advance(10 * time.Minute)
	}
	r.events.take(t, 0)
	_, sited, err := r.accounts.CreateToken(t.Context(), account.Operator(r.workspace.ID), account.TokenRequest{Name: "one site", Scopes: rimewatch.ScopesRead, Sites: rimewatch.Sites{site.ID}}, r.now())
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for cursor, pages := "", 0; pages < 10; pages++ {
		path := "/v1/readings?per_page=4"
		if cursor != "" {
			path += "&cursor=" + cursor
		}
		a := r.do(get(path, r.read))
		list, _ := a.get("data.readings").([]any)
		for i := range list {
			x := fmt.Sprintf("data.readings.%d.", i)
			at, err := rimewatch.ParseTime(a.get(x + "recorded_at").(string))
			if err != nil {
				t.Fatal(err)
			}
			order = append(order, fmt.Sprint(a.get(x+"device_serial"), int64((at-start)/rimewatch.Minute)))
		}
		if cursor, _ = a.get("data.pagination.next_cursor").(string); cursor == "" {
			break
		}
	}
	if got, want := strings.Join(order, " "), "B0 B10 B20 B30 B40 A0 A10 A20 A30 A40 C0 C10 C20 C30 C40"; got != want {
		t.Errorf("page by page: %s", got)
	}
	ndjson := func(path string) request { return get(path, r.read).with("Accept", httpapi.TypeNDJSON) }
	if a := r.do(ndjson("/v1/readings?fields=product_zone_temp")); strings.Count(a.body, "\n") != 15 || !strings.HasPrefix(a.body, `{"device_id":1,"device_serial":"B","recorded_at":"2026-11-20T12:00:00.000Z","received_at":"2026-11-20T12:00:00.000Z","product_zone_temp":-20,"sensor_faults":[]}`+"\n") || a.header.Get("Content-Type") != httpapi.TypeNDJSON {
		t.Errorf("lines: %d %s", strings.Count(a.body, "\n"), a.body)
	}
	if a := r.do(get("/v1/readings?step=1h&fields=product_zone_temp&serials=a,C", r.read).with("Accept", httpapi.TypeCSV)); a.body != "device_id,device_serial,at,count,product_zone_temp_min,product_zone_temp_avg,product_zone_temp_max\r\n"+
		"2,A,2026-11-20T12:00:00.000Z,5,-20,-20,-20\r\n3,C,2026-11-20T12:00:00.000Z,5,-20,-20,-20\r\n" {
		t.Errorf("CSV: %s", a.body)
	}
	first := "data.readings.0.device_serial"
	theirs := r.cursors.Encode(httpapi.CursorHistories, r.other.ID, 1, 0)
	r.run(t, []scenario{
		{name: "by serial", req: get("/v1/readings?serials=C", r.read), status: 200, want: map[string]any{first: "C", "data.readings.5": nil}},
		{name: "by site", req: get(fmt.Sprintf("/v1/readings?site_id=%d", site.ID), r.read), status: 200, want: map[string]any{first: "A", "data.readings.5": nil}},
		{name: "by label", req: get("/v1/readings?label.zone=z0", r.read), status: 200, lacks: []string{`"A"`}, want: map[string]any{first: "B", "data.readings.9.device_serial": "C", "data.readings.10": nil}},
		{name: "by serial and label", req: get("/v1/readings?serials=A,B&label.zone=z0", r.read), status: 200, want: map[string]any{first: "B", "data.readings.5": nil}},
		{name: "aggregates, page by page", req: get("/v1/readings?step=1h&per_page=1", r.read), status: 200, want: map[string]any{"data.buckets.0.device_serial": "B", "data.buckets.0.count": 5, "data.buckets.1": nil, "data.readings": nil}},
		{name: "a span", req: get("/v1/readings?serials=A&from=2026-11-20T12:10:00Z&to=2026-11-20T12:30:00Z", r.read), status: 200, want: map[string]any{"data.readings.1.recorded_at": "2026-11-20T12:20:00.000Z", "data.readings.2": nil}},
		{name: "limited to a site", req: get("/v1/readings", sited), status: 200, want: map[string]any{first: "A", "data.readings.5": nil}},
		{name: "limited to a site, another named", req: get("/v1/readings?serials=B", sited), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"serials"}},
		{name: "an unknown one", req: get("/v1/readings?serials=A,Z", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"serials"}},
		{name: "no serial", req: get("/v1/readings?serials=A,,B", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"serials"}},
		{name: "no field", req: get("/v1/readings?fields=x", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"fields"}},
		{name: "too many steps", req: get("/v1/readings?step=1m&from=2026-01-01T00:00:00Z", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"step"}},
		{name: "a foreign cursor", req: get("/v1/readings?cursor="+theirs, r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"cursor"}},
		{name: "another workspace's", req: get("/v1/readings", r.otherFull), status: 200, want: map[string]any{"data.readings.0": nil}},
		{name: "without the scope", req: get("/v1/readings", r.feed), status: 403, code: rimewatch.CodeForbidden, fields: []string{"scope"}},
	})
}
