package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
)

// bearers are all kinds of those who may come, by name, with what each may do: write to
// and read of which devices, by the API, as a sender, and as an assistant.
type bearers []struct {
	name, secret         string
	session              bool
	api, sender, readers string // the devices, by initial: h(ere) t(here); readers by the API and its stream
	assistant, status    string // likewise, of the tools and of the status page
}

const inside = "correct horse battery"

// person makes somebody of a role who is limited to sites, and returns the session.
func (h *house) person(role rimewatch.Role, sites rimewatch.Sites) string {
	h.t.Helper()
	now := rimewatch.TimeOf(time.Now())
	email := string(role) + "@example.com"
	_, err := h.Accounts.AddUser(h.t.Context(), h.workspace(), account.UserRequest{Email: email, Name: "P", Password: inside, Role: role}, now)
	h.must(err)
	in, err := h.Accounts.SignIn(h.t.Context(), account.Credentials{Email: email, Password: inside}, now)
	h.must(err)
	_, err = h.Accounts.ChangeMember(h.t.Context(), account.Operator(h.workspace()), in.User.ID, account.MemberPatch{Sites: sites})
	h.must(err)
	return in.Secret
}

func newBearers(h *house, sites rimewatch.Sites) bearers {
	token := func(s rimewatch.Scopes, limit rimewatch.Sites) string {
		_, plain, err := h.Accounts.CreateToken(h.t.Context(), account.Operator(h.workspace()), account.TokenRequest{Name: "t", Scopes: s, Sites: limit}, rimewatch.TimeOf(time.Now()))
		h.must(err)
		return plain
	}
	_, key := h.newSource(`{"name":"senders"}`)
	return bearers{
		{name: "full", secret: token(rimewatch.ScopesFull, nil), api: "ht", sender: "ht", readers: "ht", assistant: "ht"},
		{name: "ingest", secret: token(rimewatch.ScopesIngest, nil), api: "ht", sender: "ht"},
		{name: "read", secret: token(rimewatch.ScopesRead, nil), readers: "ht", assistant: "ht"},
		{name: "status link", secret: token(rimewatch.ScopeStatusRead, nil), status: "ht"},
		{name: "status link of a site", secret: token(rimewatch.ScopeStatusRead, sites), status: "h"},
		{name: "limited to a site", secret: token(rimewatch.ScopesFull, sites), api: "h", sender: "h", readers: "h", assistant: "h"},
		{name: "ingest of a site", secret: token(rimewatch.ScopesIngest, sites), api: "h", sender: "h"},
		{name: "source key", secret: key, sender: "ht"},
		{name: "viewer of a site", secret: h.person(rimewatch.RoleViewer, sites), session: true, readers: "h"},
		{name: "technician of a site", secret: h.person(rimewatch.RoleTechnician, sites), session: true, api: "h", readers: "h"},
		{name: "nobody", secret: "rw_x"},
	}
}

// TestRightsAreCarried: however somebody comes in, as a client of the API, by line protocol, a
// webhook, MQTT, as an assistant or by the stream, there is no right more than their own: neither to write to
// a device, and so to hide what it is about to show, nor to see one, nor to have anything wait
// in the workspace.
func TestRightsAreCarried(t *testing.T) {
	h := newHouse(t, listening)
	site := rimewatch.Site{WorkspaceID: h.workspace(), Name: "Here", TimeZone: "UTC"}
	err := h.Accounts.Sites(account.Operator(h.workspace())).Create(t.Context(), &site)
	h.must(err)
	serials := map[string]string{"h": "HERE", "t": "THERE"}
	for _, serial := range serials {
		h.must(h.create(h.workspace(), serial, "walkin_freezer"))
	}
	h.call("PATCH", "/devices/HERE", fmt.Sprintf(`{"site_id":%d}`, site.ID))
	for _, who := range newBearers(h, rimewatch.Sites{site.ID}) {
		auth := []string{"Authorization", "Bearer " + who.secret, "Content-Type", "application/json", "Accept", "application/json, text/event-stream"}
		if who.session {
			auth[0], auth[1] = "Cookie", "rimewatch_session="+who.secret
		}
		for way, write := range map[string]func(serial string){
			"a reading": func(serial string) { h.push("POST", "/api/v1/readings", oneReading(serial), auth...) },
			"with a key": func(serial string) {
				h.push("POST", "/api/v1/readings", oneReading(serial), append(auth, "Idempotency-Key", who.name+serial)...)
			},
			"a batch": func(serial string) {
				h.push("POST", "/api/v1/readings/batch", `{"readings":[`+oneReading(serial)+`]}`, auth...)
			},
			"influx 1": func(serial string) { h.push("POST", "/write?p="+who.secret, "x,device="+serial+" temperature=-18") },
			"influx 2": func(serial string) {
				h.push("POST", "/api/v2/write", "x,device="+serial+" temperature=-18", "Authorization", "Token "+who.secret)
			},
			"a webhook":   func(serial string) { h.push("POST", "/in/"+who.secret, `{"id":"`+serial+`","temperature":-18}`) },
			"MQTT":        func(serial string) { h.publish(who.secret, serial, `{"temperature":-18}`) },
			"MQTT, by id": func(serial string) { h.publish(who.secret, "x", `{"id":"`+serial+`","temperature":-18}`) },
		} {
			may := who.sender
			switch {
			case way == "a reading" || way == "with a key" || way == "a batch":
				may = who.api
			case way == "a webhook" && who.name != "source key": // tokens do not open it
				may = ""
			}
			for initial, serial := range serials {
				before := h.count(serial)
				write(serial)
				if wrote := h.count(serial) > before; wrote != strings.Contains(may, initial) {
					t.Errorf("%s, %s to %s: wrote %v", who.name, way, serial, wrote)
				}
			}
			waits := h.waiting()
			write("UNKNOWN")
			if limited := strings.Contains(who.name, "site"); limited && h.waiting() > waits {
				t.Errorf("%s, %s: something waits in the workspace", who.name, way)
			}
		}
		call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_devices","arguments":{}}}`
		for way, x := range map[string]struct{ method, path, body, sees string }{
			"the list": {"GET", "/api/v1/devices", "", who.readers}, "the newest": {"GET", "/api/v1/readings/latest", "", who.readers},
			"a tool": {"POST", "/mcp", call, who.assistant}, "the status page": {"GET", "/api/v1/status", "", who.status},
		} {
			_, text := h.push(x.method, x.path, x.body, auth...)
			for initial, serial := range serials {
				if sees := strings.Contains(text, "Unit "+serial) || strings.Contains(text, `"`+serial) || strings.Contains(text, `\"`+serial); sees != strings.Contains(x.sees, initial) {
					t.Errorf("%s, %s: sees %s: %v\n%.300s", who.name, way, serial, sees, text)
				}
			}
		}
		h.hears(who.name, who.readers, auth)
	}
}

// hears opens streams by a header, or a cookie of our page, and by a ticket, and checks of which
// devices somebody hears who may hear of some; who may hear of none subscribes to nothing.
func (h *house) hears(name, of string, auth []string) {
	h.t.Helper()
	header := http.Header{auth[0]: {auth[1]}, "Origin": {h.URL()}}
	ticket := func() (*stream, *http.Response, error) {
		status, text := h.push("POST", "/api/v1/stream/tickets", "", append(auth, "Origin", h.URL())...)
		var answer struct{ Data struct{ Ticket string } }
		if status == http.StatusCreated {
			h.must(json.Unmarshal([]byte(text), &answer))
		}
		return h.dial(nil, "?ticket="+answer.Data.Ticket)
	}
	for way, open := range map[string]func() (*stream, *http.Response, error){
		"the stream": func() (*stream, *http.Response, error) { return h.dial(header, "") }, "the stream by a ticket": ticket,
	} {
		s, resp, err := open()
		if err != nil {
			if resp == nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden || of != "" {
				h.t.Errorf("%s, %s: %v", name, way, err)
			}
			continue
		}
		if of == "" {
			if code := s.ended(); code != 4403 {
				h.t.Errorf("%s, %s: ends by %d", name, way, code)
			}
			continue
		}
		for i, channel := range []string{"readings", "devices", "alerts"} {
			if m := s.subscribe(i, channel, ""); m["op"] != "subscribed" {
				h.t.Errorf("%s, %s: %s: %v", name, way, channel, m)
			}
		}
		h.reading("THERE", -18)
		h.call("PATCH", "/devices/THERE", `{"notes":"`+name+way+`"}`)
		h.reading("HERE", -18)
		there := false
		for m := s.next(); ; m = s.next() { // what happens last ends it: nobody limited to a site hears of the others
			text := fmt.Sprint(m["data"])
			there = there || strings.Contains(text, "THERE")
			if m["event"] == "reading.created" && strings.Contains(text, "HERE") && !strings.Contains(text, "THERE") {
				break
			}
		}
		if there != strings.Contains(of, "t") {
			h.t.Errorf("%s, %s: hears of THERE: %v", name, way, there)
		}
		_ = s.CloseNow()
	}
}

func oneReading(serial string) string {
	return `{"device_serial":"` + serial + `","product_zone_temp":-18}`
}

// waiting is how many payloads wait in the workspace.
func (h *house) waiting() (n int) {
	h.t.Helper()
	for _, x := range h.asOwner("GET", "/sources", "", http.StatusOK)["sources"].([]any) {
		id := x.(map[string]any)["id"]
		for _, s := range h.asOwner("GET", fmt.Sprintf("/sources/%v/held", id), "", http.StatusOK)["senders"].([]any) {
			n += int(s.(map[string]any)["payloads"].(float64))
		}
	}
	return n
}

// publish sends a message over MQTT and waits for its answer.
func (h *house) publish(secret, topic, payload string) {
	h.t.Helper()
	d := h.thing(5)
	defer d.Close()
	if a := d.connect("c", secret, true); a == nil || a.ReasonCode != 0 {
		return
	}
	d.sendAll(publication(1, 1, topic, payload))
	for pk := d.next(); pk != nil && pk.FixedHeader.Type != packets.Puback; pk = d.next() {
	}
}

// TestClientsOfOthers: who has one token does not take over the connection, or the messages, of
// a client that has another.
func TestClientsOfOthers(t *testing.T) {
	h := newHouse(t, listening)
	other, _ := h.newToken(h.workspace(), rimewatch.ScopesIngest)
	first, second := h.thing(5), h.thing(5)
	for d, secret := range map[*thing]string{first: h.token, second: other} {
		if a := d.connect("gateway", secret, false); a == nil || a.ReasonCode != 0 {
			t.Fatalf("%+v", a)
		}
	}
	for _, d := range []*thing{first, second} {
		d.sendAll(publication(1, 1, "D-1", `{"temperature":-18}`))
		d.expect(packets.Puback, 1, 0)
	}
}
