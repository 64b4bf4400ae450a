package app_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/store"
)

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
	cookie := "__Host-rimewatch_session=" + h.owner.Secret // the name of a service that people reach by TLS
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

// TestStreamsOfSites: who is limited to sites hears of nothing else, live or after
// the fact, and not how the workspace is as a whole.
func TestStreamsOfSites(t *testing.T) {
	h := newHouse(t)
	now := rimewatch.TimeOf(time.Now())
	site := rimewatch.Site{WorkspaceID: h.workspace(), Name: "Here", TimeZone: "UTC"}
	err := h.Accounts.Sites(account.Operator(h.workspace())).Create(t.Context(), &site)
	h.must(err)
	h.must(h.create(h.workspace(), "THERE", "other"))
	h.must(h.create(h.workspace(), "HERE", "other"))
	h.call("PATCH", "/devices/HERE", fmt.Sprintf(`{"site_id":%d}`, site.ID))
	_, limited, err := h.Accounts.CreateToken(t.Context(), account.Operator(h.workspace()), account.TokenRequest{Name: "t", Scopes: rimewatch.ScopesFull, Sites: rimewatch.Sites{site.ID}}, now)
	h.must(err)
	all := h.stream(h.token)
	since := make(map[string]string)
	for i, channel := range []string{"readings", "alerts", "devices"} {
		since[channel] = fmt.Sprintf(`,"since":%q`, all.subscribe(i, channel, "")["last_event_id"])
	}
	few := h.stream(limited)
	if m := few.subscribe(9, "summary", ""); m["op"] != "error" {
		t.Errorf("summary: %v", m)
	}
	for i, channel := range []string{"readings", "alerts", "devices"} {
		few.subscribe(i, channel, "")
	}
	happen := func() {
		h.reading("THERE", -18)
		h.call("PATCH", "/devices/THERE", `{"name":"there"}`)
	}
	happen()
	h.incident("X") // at no site
	h.reading("HERE", -17)
	for range 2 { // online, and the reading
		m := few.next()
		if text := fmt.Sprint(m["data"]); !strings.Contains(text, "HERE") || strings.Contains(text, "THERE") {
			t.Errorf("it hears %v", m)
		}
	}
	for all.next()["event"] != "alert.opened" { // all of it is out
	}
	late := h.stream(limited)
	replayed := 0
	for i, channel := range []string{"alerts", "readings", "devices"} {
		if m := late.subscribe(i, channel, since[channel]); m["recovered"] != true {
			t.Errorf("%s: %v", channel, m)
		}
		for replayed < i { // one of readings, one of devices
			replayed++
			if m := late.next(); !strings.Contains(fmt.Sprint(m["data"]), "HERE") || strings.Contains(fmt.Sprint(m["data"]), "THERE") {
				t.Errorf("it hears %v", m)
			}
		}
	}
	h.call("PATCH", "/devices/HERE", `{"name":"last"}`)
	if m := late.next(); m["event"] != "device.updated" || !strings.Contains(fmt.Sprint(m["data"]), "last") {
		t.Errorf("it hears %v", m)
	}
}

// TestStreamEndsWithRights revokes what streams rest on: they are closed
// with the code that says why.
func TestStreamEndsWithRights(t *testing.T) {
	var ahead atomic.Int64
	h := newHouse(t, func(c *app.Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
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
		{"session signed out", func() (*stream, func() error) {
			in := add("ann", rimewatch.RoleViewer)
			return asPerson(in), func() error { return h.Accounts.SignOut(t.Context(), in.Principal) }
		}, 4401},
		{"role changed", func() (*stream, func() error) {
			in := add("bob", rimewatch.RoleViewer)
			return asPerson(in), func() error {
				_, err := h.Accounts.ChangeMember(t.Context(), h.owner.Principal, in.User.ID, account.MemberPatch{Role: rimewatch.RoleAdmin})
				return err
			}
		}, 4403},
		{"member removed", func() (*stream, func() error) {
			in := add("cy", rimewatch.RoleViewer)
			return asPerson(in), func() error {
				return h.Accounts.RemoveMember(t.Context(), h.owner.Principal, in.User.ID, rimewatch.TimeOf(time.Now()))
			}
		}, 4403},
		{"token at its end", func() (*stream, func() error) {
			ends := now + rimewatch.Hour
			_, token, err := h.Accounts.CreateToken(t.Context(), account.Operator(h.workspace()), account.TokenRequest{Name: "t", Scopes: rimewatch.ScopesFull, ExpiresAt: ends}, now)
			h.must(err)
			return h.stream(token), func() error { ahead.Store(int64(2 * time.Hour)); return nil }
		}, 4401},
	} {
		s, end := c.open()
		if m := s.subscribe(1, "devices", ""); m["op"] != "subscribed" {
			t.Fatalf("%s: %v", c.name, m)
		}
		h.must(end())
		if code := s.ended(); code != c.code { // how soon is shown where the time is simulated, in internal/realtime
			t.Errorf("%s: closed with %d", c.name, code)
		}
	}
}

// TestStreamAndStop: a stop asks the clients to come back, and does not wait
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
	// The library waits 5 s for the answer to a close frame. Who waits for the deaf one waits for ever.
	if took := time.Since(began); took >= patience/2 {
		t.Errorf("the stop took %v", took)
	}
	if code := <-ended; code != websocket.StatusServiceRestart {
		t.Errorf("closed with %d", code)
	}
}

// writeTimeout is how long internal/realtime tries to write to a client that
// takes nothing.
const writeTimeout = 20 * time.Second

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
	device := h.Store.Identify(h.workspace(), []byte("D-1")).ID
	at := rimewatch.TimeOf(time.Now()) - rimewatch.Hour
	var opened []int64
	worst := time.Duration(0)
	for n := range 60 {
		in := make([]store.Input, 200) // few enough to go out one by one
		for i := range in {
			at++
			in[i] = store.Input{Kind: store.InputReading, DeviceID: device, Reading: rimewatch.Reading{At: at, Values: [rimewatch.NumCore]float64{-18}, Present: 1}}
		}
		began := time.Now()
		h.must(h.Ingest.Submit(t.Context(), in, nil))
		worst = max(worst, time.Since(began))
		if n%20 == 0 {
			opened = append(opened, h.incident(fmt.Sprint("X-", n)))
		}
	}
	if worst >= writeTimeout { // as one that waited for a deaf client would
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

// TestStreamBadFrames: frames that no message can be end the stream at once.
func TestStreamBadFrames(t *testing.T) {
	h := newHouse(t)
	for name, tt := range map[string]struct {
		frame []byte
		code  uint16
	}{
		"2^62 bytes":           {[]byte{0x81, 0x80 | 127, 0x40, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}, 1009},
		"a ping of 2^62 bytes": {[]byte{0x89, 0x80 | 127, 0x40, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}, 1009},
		"not UTF-8":            {[]byte{0x81, 0x80 | 2, 0, 0, 0, 0, 0xc3, 0x28}, 1007},
	} {
		for _, early := range []bool{false, true} { // with the handshake
			c, err := net.Dial("tcp", h.Addr())
			h.must(err)
			defer c.Close()
			h.must(c.SetDeadline(time.Now().Add(patience)))
			shake := fmt.Appendf(nil, "GET /api/v1/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
				"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", h.token)
			if early {
				shake = append(shake, tt.frame...)
			}
			_, err = c.Write(shake)
			h.must(err)
			r := bufio.NewReader(c)
			resp, err := http.ReadResponse(r, nil)
			if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
				t.Fatalf("%s: %v %v", name, resp, err)
			}
			if !early {
				_, err = c.Write(tt.frame)
				h.must(err)
			}
			var head [4]byte
			if _, err := io.ReadFull(r, head[:]); err != nil || head[0] != 0x88 || binary.BigEndian.Uint16(head[2:]) != tt.code {
				t.Errorf("%s, early %v: %x, %v; want a close frame with %d", name, early, head, err, tt.code)
			}
		}
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
