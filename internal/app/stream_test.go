package app_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/config"
	"github.com/rimewatch/rimewatch/internal/store"
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
	http  *http.Client
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
	// The certificate of a test is nobody's.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	h := &house{App: a, t: t, http: &http.Client{Transport: transport}}
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
	resp, err := h.http.Get(h.URL() + "/api/asyncapi.json")
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
	resp, err := h.http.Do(req)
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
		Subprotocols: []string{"rimewatch.v1"}, HTTPHeader: header, HTTPClient: h.http,
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
	h.call("PATCH", "/devices/D-2", `{"limits":{"temp_max":-15,"delay_s":0,"critical_max":20},"confirm_loosening":true}`)
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

// TestStreamScopes: each channel needs its scope, and who may hear nothing is
// sent away.
func TestStreamScopes(t *testing.T) {
	h := newHouse(t)
	for scope, allowed := range map[rimewatch.Scopes]string{
		rimewatch.ScopeDevicesRead:  "devices summary",
		rimewatch.ScopeReadingsRead: "readings",
		rimewatch.ScopeAlertsRead:   "alerts",
	} {
		token, _ := h.newToken(h.workspace(), scope)
		s := h.stream(token)
		for i, channel := range []string{"devices", "readings", "alerts", "summary"} {
			m := s.subscribe(i, channel, "")
			for m["op"] == "event" { // the summary comes by itself
				m = s.next()
			}
			if got, want := m["op"] == "subscribed", strings.Contains(allowed, channel); got != want {
				t.Errorf("%s with %v: %v", channel, scope.Names(), m)
			}
		}
	}
	feed, _ := h.newToken(h.workspace(), rimewatch.ScopesIngest)
	if code := h.stream(feed).ended(); code != 4403 {
		t.Errorf("a token for ingest: %d", code)
	}
}

// TestStreamsOfWorkspaces: nobody hears of another workspace, whatever they ask
// for, not even by an event's id.
func TestStreamsOfWorkspaces(t *testing.T) {
	h := newHouse(t)
	now := rimewatch.TimeOf(time.Now())
	other, err := h.Accounts.FindWorkspace(t.Context(), "Other", true, now)
	h.must(err)
	h.must(h.create(other.ID, "D-1", "other"))
	token, _ := h.newToken(other.ID, rimewatch.ScopesFull)
	mine, theirs := h.stream(h.token), h.stream(token)
	first := mine.subscribe(1, "readings", "")["last_event_id"].(string)
	h.reading("D-1", -18)
	mine.next()
	if m := theirs.subscribe(1, "readings", fmt.Sprintf(`,"filter":{"serials":["D-1"]},"since":%q`, first)); m["recovered"] != false {
		t.Errorf("another workspace's id: %v", m)
	}
	for i, channel := range []string{"devices", "alerts"} {
		theirs.subscribe(i+2, channel, "")
	}
	h.reading("D-1", -17)
	h.call("PATCH", "/devices/D-1", `{"name":"mine"}`)
	h.incident("X")
	h.must(h.create(other.ID, "LAST", "other"))
	if m := theirs.next(); m["event"] != "device.created" {
		t.Errorf("the other workspace hears %v", m)
	}
}

// TestStreamEndsWithRights revokes what streams rest on: they are closed within
// a second, with the code that says why.
func TestStreamEndsWithRights(t *testing.T) {
	h := newHouse(t)
	now := rimewatch.TimeOf(time.Now())
	add := func(name string, role rimewatch.Role) account.SignedIn {
		_, err := h.Accounts.AddUser(t.Context(), h.workspace(), account.UserRequest{Email: name + "@example.com", Name: name, Password: "correct horse battery", Role: role}, now)
		h.must(err)
		in, err := h.Accounts.SignIn(t.Context(), account.Credentials{Email: name + "@example.com", Password: "correct horse battery"}, now)
		h.must(err)
		return in
	}
	asPerson := func(in account.SignedIn) *stream {
		s, _, err := h.dial(http.Header{"Cookie": {"rimewatch_session=" + in.Secret}, "Origin": {h.URL()}}, "")
		h.must(err)
		return s
	}
	elsewhere := account.New(account.Config{Store: h.Store}) // the command line, with a memory of its own
	for _, c := range []struct {
		name string
		open func() (*stream, func() error)
		code websocket.StatusCode
	}{
		{"token revoked here", func() (*stream, func() error) {
			token, id := h.newToken(h.workspace(), rimewatch.ScopesFull)
			return h.stream(token), func() error {
				return h.Accounts.RevokeToken(t.Context(), account.Operator(h.workspace()), id, now)
			}
		}, 4401},
		{"token revoked by another process", func() (*stream, func() error) {
			token, id := h.newToken(h.workspace(), rimewatch.ScopesFull)
			return h.stream(token), func() error {
				return elsewhere.RevokeToken(t.Context(), account.Operator(h.workspace()), id, now)
			}
		}, 4401},
		{"token at its end", func() (*stream, func() error) {
			_, token, err := h.Accounts.CreateToken(t.Context(), account.Operator(h.workspace()), account.TokenRequest{Name: "t", Scopes: rimewatch.ScopesFull, ExpiresAt: rimewatch.TimeOf(time.Now()) + 300}, rimewatch.TimeOf(time.Now()))
			h.must(err)
			return h.stream(token), func() error { return nil }
		}, 4401},
		{"session signed out", func() (*stream, func() error) {
			in := add("ann", rimewatch.RoleViewer)
			return asPerson(in), func() error { return h.Accounts.SignOut(t.Context(), in.Principal) }
		}, 4401},
		{"role changed", func() (*stream, func() error) {
			in := add("bob", rimewatch.RoleViewer)
			return asPerson(in), func() error {
				_, err := h.Accounts.ChangeRole(t.Context(), h.owner.Principal, in.User.ID, rimewatch.RoleAdmin)
				return err
			}
		}, 4403},
		{"member removed", func() (*stream, func() error) {
			in := add("cy", rimewatch.RoleViewer)
			return asPerson(in), func() error { return h.Accounts.RemoveMember(t.Context(), h.owner.Principal, in.User.ID) }
		}, 4403},
	} {
		s, end := c.open()
		if m := s.subscribe(1, "devices", ""); m["op"] != "subscribed" {
			t.Fatalf("%s: %v", c.name, m)
		}
		began := time.Now()
		h.must(end())
		code := s.ended()
		if took := time.Since(began); code != c.code || took > 1500*time.Millisecond {
			t.Errorf("%s: closed with %d after %v", c.name, code, took)
		}
	}
}

// TestStreamAndStop: a stop tells the clients to come back, and does not wait
// for those who are deaf.
func TestStreamAndStop(t *testing.T) {
	h := newHouse(t)
	s := h.stream(h.token)
	s.subscribe(1, "readings", "")
	ended := make(chan websocket.StatusCode, 1)
	go func() { ended <- s.ended() }()
	h.stream(h.token) // never reads
	began := time.Now()
	h.must(h.Stop())
	if took := time.Since(began); took > 7*time.Second {
		t.Errorf("the stop took %v", took)
	}
	if code := <-ended; code != websocket.StatusServiceRestart {
		t.Errorf("closed with %d", code)
	}
}

// TestStreamDeaf: clients that take nothing slow nobody down, and one that goes
// on reading gets every alert, and the newest reading.
func TestStreamDeaf(t *testing.T) {
	h := newHouse(t)
	deaf := make([]*stream, 5)
	for i := range deaf {
		deaf[i] = h.stream(h.token)
		deaf[i].subscribe(1, "readings", "")
		deaf[i].subscribe(2, "alerts", "")
	}
	device, _ := h.Store.DeviceID(h.workspace(), []byte("D-1"))
	at := rimewatch.TimeOf(time.Now()) - rimewatch.Hour
	var opened []int64
	worst := time.Duration(0)
	for n := range 60 {
		in := make([]store.Input, 200) // few enough to go out one by one
		for i := range in {
			at++
			in[i] = store.Input{Kind: store.InputReading, DeviceID: device, Reading: rimewatch.Reading{At: at, Values: [rimewatch.NumFields]float64{-18}, Present: 1}}
		}
		began := time.Now()
		h.must(h.Ingest.Submit(t.Context(), h.workspace(), in))
		worst = max(worst, time.Since(began))
		if n%20 == 0 {
			opened = append(opened, h.incident(fmt.Sprint("X-", n)))
		}
	}
	if worst > 500*time.Millisecond {
		t.Errorf("a submit took %v", worst)
	}
	var alerts []int64
	for last := rimewatch.Time(0); last < at || len(alerts) < len(opened); {
		m := deaf[0].next()
		data := m["data"].(map[string]any)
		switch m["event"] {
		case "reading.created":
			r := data["reading"].(map[string]any)
			if r["device_serial"] == "D-1" {
				last, _ = rimewatch.ParseTime(r["recorded_at"].(string))
			}
		case "alert.opened":
			alerts = append(alerts, int64(data["alert"].(map[string]any)["id"].(float64)))
		}
	}
	if fmt.Sprint(alerts) != fmt.Sprint(opened) {
		t.Errorf("alerts %v, opened %v", alerts, opened)
	}
}

// TestStreamTooLarge: a message that no request can need ends the stream.
func TestStreamTooLarge(t *testing.T) {
	h := newHouse(t)
	s := h.stream(h.token)
	// The service may be gone before it has taken all of it; then the reset
	// overtakes the close frame.
	_ = s.Write(s.ctx, websocket.MessageText, []byte(`{"op":"subscribe","id":1,"channel":"`+strings.Repeat("x", 70_000)+`"}`))
	if code := s.ended(); code != websocket.StatusMessageTooBig && code != -1 || s.ctx.Err() != nil {
		t.Errorf("closed with %d", code)
	}
}

// TestStreamLimit: one token may have so many streams, and places are given
// back.
func TestStreamLimit(t *testing.T) {
	h := newHouse(t, func(c *app.Config) { c.StreamLimit = 2 })
	first := h.stream(h.token)
	h.stream(h.token)
	_, resp, err := h.dial(bearer(h.token), "")
	if err == nil || resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" {
		t.Fatalf("a third stream: %v", err)
	}
	h.must(first.Close(websocket.StatusNormalClosure, ""))
	for {
		if s, _, err := h.dial(bearer(h.token), ""); err == nil {
			if m := s.subscribe(1, "devices", ""); m["op"] != "subscribed" {
				t.Error(m)
			}
			break
		} else if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

// TestStreamOnTLS opens a stream over our own TLS, where net/http alone serves.
func TestStreamOnTLS(t *testing.T) {
	cert, key := certificate(t)
	h := newHouse(t, func(c *app.Config) { c.TLSCert, c.TLSKey = cert, key })
	s, _, err := h.dial(bearer(h.token), "")
	h.must(err)
	s.subscribe(1, "readings", "")
	h.reading("D-1", -18)
	if m := s.next(); m["event"] != "reading.created" {
		t.Error(m)
	}
}

// certificate makes a certificate for 127.0.0.1 and gives its files.
func certificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(err)
	certFile, keyFile = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	chain := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	must(os.WriteFile(certFile, chain, 0o600))
	must(os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	return certFile, keyFile
}
