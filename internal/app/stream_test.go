package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/config"
)

// house is a running server with a workspace, an owner who is signed in, and
// two devices.
type house struct {
	*app.App
	t     *testing.T
	owner account.SignedIn
	token string
	id    int64 // of token
	spec  *jsonschema.Compiler
}

func newHouse(t *testing.T, change ...func(*app.Config)) *house {
	t.Helper()
	cfg := app.Config{Serve: config.Serve{Data: t.TempDir(), Listen: "127.0.0.1:0", HeadMemory: 8, SealAfter: time.Hour, DrainPeriod: 5 * time.Second}}
	for _, f := range change {
		f(&cfg)
	}
	a, err := app.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(); err != nil {
			t.Error(err)
		}
	})
	h := &house{App: a, t: t}
	now := rimewatch.TimeOf(time.Now())
	code, _, err := a.Accounts.SetupCode(t.Context())
	h.must(err)
	h.owner, err = a.Accounts.Setup(t.Context(), account.SetupRequest{Code: code, Workspace: "W", Email: "o@example.com", Name: "O", Password: "correct horse battery"}, now)
	h.must(err)
	h.token, h.id = h.newToken(h.workspace(), rimewatch.ScopesFull)
	for _, serial := range []string{"D-1", "D-2"} {
		h.must(h.create(h.workspace(), serial, "walkin_freezer"))
	}
	h.describe()
	return h
}

// describe fetches the description that every message is held against.
func (h *house) describe() {
	h.t.Helper()
	resp, err := http.Get(h.URL() + "/api/asyncapi.json")
	h.must(err)
	defer resp.Body.Close()
	doc, err := jsonschema.UnmarshalJSON(resp.Body)
	h.must(err)
	closeObjects(doc)
	h.spec = jsonschema.NewCompiler()
	h.must(h.spec.AddResource("http://spec/asyncapi.json", doc))
}

// closeObjects makes a member that is not described a fault.
func closeObjects(v any) {
	switch x := v.(type) {
	case map[string]any:
		if _, ok := x["properties"].(map[string]any); ok && x["type"] == "object" && x["additionalProperties"] == nil {
			x["additionalProperties"] = false
		}
		for _, inner := range x {
			closeObjects(inner)
		}
	case []any:
		for _, inner := range x {
			closeObjects(inner)
		}
	}
}

// check holds a message against a schema of the description.
func (h *house) check(schema string, text []byte) {
	h.t.Helper()
	compiled, err := h.spec.Compile("http://spec/asyncapi.json#/components/schemas/" + schema)
	h.must(err)
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = compiled.Validate(v)
	}
	if err != nil {
		h.t.Errorf("%s\nis not as described: %v", text, err)
	}
}

// schemaOf names the schema of a message.
func schemaOf(m map[string]any) string {
	names := map[any]string{"subscribed": "Subscribed", "unsubscribed": "Unsubscribed", "error": "Error",
		"devices": "DeviceEvent", "readings": "ReadingEvent", "alerts": "AlertEvent", "summary": "SummaryEvent"}
	if m["op"] == "event" {
		return names[m["channel"]]
	}
	return names[m["op"]]
}

func (h *house) workspace() int64 { return h.owner.Principal.WorkspaceID }

func (h *house) must(err error) {
	if err != nil {
		h.t.Helper()
		h.t.Fatal(err)
	}
}

func (h *house) newToken(workspaceID int64, s rimewatch.Scopes) (plain string, id int64) {
	h.t.Helper()
	t, plain, err := h.Accounts.CreateToken(h.t.Context(), account.Operator(workspaceID), account.TokenRequest{Name: "t", Scopes: s}, rimewatch.TimeOf(time.Now()))
	h.must(err)
	return plain, t.ID
}

func (h *house) create(workspaceID int64, serial, kind string) error {
	_, err := h.Ingest.CreateDevice(h.t.Context(), &rimewatch.Device{WorkspaceID: workspaceID, Serial: serial, Name: "Unit " + serial, EquipmentType: kind})
	return err
}

// call makes a request of the REST API and gives its data.
func (h *house) call(method, path, body string) map[string]any {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.URL()+"/api/v1"+path, strings.NewReader(body))
	h.must(err)
	req.Header.Set("Authorization", "Bearer "+h.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	h.must(err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	h.must(err)
	var envelope struct {
		Data map[string]any `json:"data"`
	}
	if err := json.Unmarshal(b, &envelope); err != nil || resp.StatusCode >= 300 {
		h.t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, b)
	}
	return envelope.Data
}

// reading posts a reading of a device.
func (h *house) reading(serial string, temp float64) map[string]any {
	h.t.Helper()
	data := h.call("POST", "/readings", fmt.Sprintf(`{"device_serial":%q,"product_zone_temp":%g}`, serial, temp))
	return data["reading"].(map[string]any)
}

// stream is a WebSocket of a test.
type stream struct {
	*websocket.Conn
	h   *house
	ctx context.Context
}

func (h *house) dial(header http.Header, query string) (*stream, *http.Response, error) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 20*time.Second)
	h.t.Cleanup(cancel)
	c, resp, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(h.URL(), "http")+"/api/v1/stream"+query, &websocket.DialOptions{
		Subprotocols: []string{"rimewatch.v1"}, HTTPHeader: header,
	})
	if err == nil {
		c.SetReadLimit(1 << 20)
		h.t.Cleanup(func() { _ = c.CloseNow() })
	}
	return &stream{c, h, ctx}, resp, err
}

func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

func (h *house) stream(token string) *stream {
	h.t.Helper()
	s, _, err := h.dial(bearer(token), "")
	h.must(err)
	if s.Subprotocol() != "rimewatch.v1" {
		h.t.Errorf("subprotocol %q", s.Subprotocol())
	}
	return s
}

func (s *stream) say(text string) {
	s.h.t.Helper()
	s.h.must(s.Write(s.ctx, websocket.MessageText, []byte(text)))
}

// next reads one message.
func (s *stream) next() map[string]any {
	s.h.t.Helper()
	_, b, err := s.Read(s.ctx)
	s.h.must(err)
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		s.h.t.Fatalf("%s: %v", b, err)
	}
	s.h.check(schemaOf(m), b)
	return m
}

// subscribe subscribes and gives the answer.
func (s *stream) subscribe(id int, channel, more string) map[string]any {
	s.h.t.Helper()
	text := fmt.Sprintf(`{"op":"subscribe","id":%d,"channel":%q%s}`, id, channel, more)
	s.h.check("Subscribe", []byte(text))
	s.say(text)
	return s.next()
}

// ended reads until the service closes and gives the code.
func (s *stream) ended() websocket.StatusCode {
	s.h.t.Helper()
	for {
		if _, _, err := s.Read(s.ctx); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

func TestStreamOfReadings(t *testing.T) {
	h := newHouse(t)
	s := h.stream(h.token)
	ok := s.subscribe(1, "readings", "")
	if ok["op"] != "subscribed" || ok["id"] != 1.0 || ok["channel"] != "readings" || ok["recovered"] != false || ok["last_event_id"] == "" {
		t.Fatal(ok)
	}
	want := h.reading("D-1", -18.5)
	got := s.next()
	if got["op"] != "event" || got["channel"] != "readings" || got["event"] != "reading.created" || got["id"] == ok["last_event_id"] {
		t.Fatal(got)
	}
	if fmt.Sprint(got["data"]) != fmt.Sprint(map[string]any{"reading": want}) {
		t.Errorf("%v, but the REST API said %v", got["data"], want)
	}
}

// TestStreamOfAll subscribes to every channel and lets everything happen.
func TestStreamOfAll(t *testing.T) {
	h := newHouse(t)
	s := h.stream(h.token)
	for i, channel := range []string{"devices", "alerts", "summary"} {
		if m := s.subscribe(i, channel, ""); m["op"] != "subscribed" {
			t.Fatal(m)
		}
	}
	seen := make(map[string]map[string]any)
	until := func(event string) map[string]any {
		t.Helper()
		for seen[event] == nil {
			m := s.next()
			seen[m["event"].(string)] = m["data"].(map[string]any)
		}
		return seen[event]
	}
	field := func(data map[string]any, object, name string) any {
		return data[object].(map[string]any)[name]
	}
	if n := field(until("summary.updated"), "summary", "total_devices"); n != 2.0 {
		t.Errorf("%v devices", n)
	}
	h.call("PATCH", "/devices/D-2/heartbeat", "")
	if status := field(until("device.online"), "device", "status"); status != "online" {
		t.Errorf("online: %v", status)
	}
	h.call("PATCH", "/devices/D-2", `{"limits":{"temp_max":-15,"delay_s":0,"critical_max":20}}`)
	if name := field(until("device.updated"), "device", "name"); name != "Unit D-2" {
		t.Errorf("updated: %v", name)
	}
	now := time.Now()
	h.call("POST", "/readings/batch", fmt.Sprintf(`{"readings":[{"device_serial":"D-2","product_zone_temp":2,"recorded_at":%q},{"device_serial":"D-2","product_zone_temp":3,"recorded_at":%q}]}`,
		now.Add(-time.Minute).Format(time.RFC3339Nano), now.Format(time.RFC3339Nano)))
	opened := until("alert.opened")
	id := field(opened, "alert", "id")
	if field(opened, "alert", "device_serial") != "D-2" || field(opened, "alert", "status") != "active" {
		t.Errorf("opened: %v", opened)
	}
	h.call("POST", fmt.Sprintf("/alerts/%v/acknowledge", id), `{"note":"on it"}`)
	if field(until("alert.acknowledged"), "alert", "note") != "on it" {
		t.Error(seen["alert.acknowledged"])
	}
	delete(seen, "summary.updated")
	h.call("POST", fmt.Sprintf("/alerts/%v/resolve", id), "")
	if field(until("alert.resolved"), "alert", "resolution") != "manual" {
		t.Error(seen["alert.resolved"])
	}
	h.must(h.create(h.workspace(), "D-3", "other"))
	until("device.created")
	h.call("DELETE", "/devices/D-3", "")
	if field(until("device.deleted"), "device", "serial") != "D-3" {
		t.Error(seen["device.deleted"])
	}
	until("summary.updated")
}

// TestStreamAuthentication opens streams in every way that is allowed, and in
// those that are not.
func TestStreamAuthentication(t *testing.T) {
	h := newHouse(t, func(c *app.Config) { c.PublicURL = "https://cold.example.com" })
	cookie := "rimewatch_session=" + h.owner.Secret
	ticket := func() string { return "?ticket=" + h.call("POST", "/stream/tickets", "")["ticket"].(string) }
	used := ticket()
	for _, c := range []struct {
		name   string
		header http.Header
		query  string
		status int // 101 = it opens
	}{
		{name: "nothing", status: 401},
		{name: "token", header: bearer(h.token), status: 101},
		{name: "bad token", header: bearer("rw_x"), status: 401},
		{name: "token in the URL", query: "?token=" + h.token, status: 401},
		{name: "access_token in the URL", query: "?access_token=" + h.token, status: 401},
		{name: "cookie of our page", header: http.Header{"Cookie": {cookie}, "Origin": {h.URL()}}, status: 101},
		{name: "cookie of our page, as people reach it", header: http.Header{"Cookie": {cookie}, "Origin": {"https://cold.example.com"}}, status: 101},
		{name: "cookie of our page without TLS", header: http.Header{"Cookie": {cookie}, "Origin": {"http://cold.example.com"}}, status: 403},
		{name: "cookie without a page", header: http.Header{"Cookie": {cookie}}, status: 403},
		{name: "cookie of another page", header: http.Header{"Cookie": {cookie}, "Origin": {"https://evil.example.com"}}, status: 403},
		{name: "cookie of a page without a name", header: http.Header{"Cookie": {cookie}, "Origin": {"null"}}, status: 403},
		{name: "bad cookie", header: http.Header{"Cookie": {cookie + "x"}, "Origin": {h.URL()}}, status: 401},
		{name: "ticket", query: used, status: 101},
		{name: "ticket again", query: used, status: 401},
		{name: "no ticket", query: "?ticket=x", status: 401},
		{name: "ticket of any page", query: ticket(), header: http.Header{"Origin": {"https://wall.example.com"}}, status: 101},
		{name: "bad token and good ticket", query: ticket(), header: bearer("rw_x"), status: 401},
	} {
		s, resp, err := h.dial(c.header, c.query)
		if resp == nil || resp.StatusCode != c.status {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if c.status == 101 {
			if m := s.subscribe(1, "devices", ""); m["op"] != "subscribed" {
				t.Errorf("%s: %v", c.name, m)
			}
		}
	}
}
