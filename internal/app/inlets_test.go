package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/inlet"
)

// asOwner makes a request with the owner's session, as the web UI does where page is set, and
// returns the data.
func (h *house) asOwner(method, path, body string, want int) map[string]any {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.URL()+"/api/v1"+path, strings.NewReader(body))
	h.must(err)
	req.Header.Set("Cookie", "rimewatch_session="+h.owner.Secret)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.Header.Set("Content-Type", "application/json")
	if h.page {
		req.Header.Set("Prefer", "respond-async")
	}
	status, text := h.do(req)
	if status != want {
		h.t.Fatalf("%s %s: %d %s, want %d", method, path, status, text, want)
	}
	var envelope struct{ Data map[string]any }
	h.must(json.Unmarshal([]byte(text), &envelope))
	return envelope.Data
}

func (h *house) do(req *http.Request) (int, string) {
	h.t.Helper()
	resp, err := h.http.Do(req)
	h.must(err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	h.must(err)
	return resp.StatusCode, string(b)
}

// newSource makes a source and returns its id and its key.
func (h *house) newSource(body string) (id int64, key string) {
	h.t.Helper()
	data := h.asOwner("POST", "/sources", body, http.StatusCreated)
	return int64(data["source"].(map[string]any)["id"].(float64)), data["key"].(string)
}

// push sends something to a path of the senders.
func (h *house) push(method, path, body string, header ...string) (int, string) {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.URL()+path, strings.NewReader(body))
	h.must(err)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return h.do(req)
}

// outcome is what a webhook answered.
func (h *house) outcome(status int, text string) (n struct{ Accepted, Duplicates, Held, Rejected, Ignored int }) {
	h.t.Helper()
	if status != http.StatusOK {
		h.t.Fatalf("%d %s", status, text)
	}
	var envelope struct{ Data any }
	envelope.Data = &n
	h.must(json.Unmarshal([]byte(text), &envelope))
	return n
}

func (h *house) latest(serial string) float64 {
	h.t.Helper()
	device := h.call("GET", "/devices/"+serial, "")["device"].(map[string]any)
	v, _ := device["current_temp"].(float64)
	return v
}

func chirpStack(eui string, at time.Time, temp float64) string {
	return fmt.Sprintf(`{"deviceInfo":{"devEui":%q,"deviceName":"Walk-in"},"time":%q,"object":{"temperature":%g,"battery":92},"rxInfo":[{"rssi":-61}]}`, eui, at.Format(time.RFC3339Nano), temp)
}

// TestWebhookHeldBoundReplayed is the whole way of a LoRaWAN sensor that nobody
// knew: what it sent before it was accepted is stored with its own times.
func TestWebhookHeldBoundReplayed(t *testing.T) {
	h := newHouse(t)
	id, key := h.newSource(`{"name":"LoRa"}`)
	now := time.Now().UTC().Truncate(time.Millisecond)
	for i := range 3 {
		body := chirpStack("24E1", now.Add(time.Duration(i-3)*time.Minute), float64(-10-i))
		if n := h.outcome(h.push("POST", "/in/"+key+"?event=up", body)); n.Held != 1 || n.Accepted != 0 {
			t.Fatalf("unknown sender: %+v", n)
		}
	}
	if n := h.outcome(h.push("POST", "/in/"+key+"?event=join", `{"deviceInfo":{"devEui":"24E1"}}`)); n.Ignored != 1 {
		t.Fatalf("a join: %+v", n)
	}
	held := h.call("GET", fmt.Sprintf("/sources/%d/held", id), "")["senders"].([]any)
	sender := held[0].(map[string]any)
	if len(held) != 1 || sender["external_id"] != "24E1" || sender["payloads"] != 3.0 || sender["suggested_serial"] != "24E1" || sender["label"] != "Walk-in" {
		t.Fatalf("what waits: %v", held)
	}
	values := sender["preview"].(map[string]any)["items"].([]any)[0].(map[string]any)["values"].(map[string]any)
	if values["item.temperature"] != -12.0 { // the newest
		t.Fatalf("values to tap: %v", values)
	}
	bound := h.call("POST", fmt.Sprintf("/sources/%d/bind", id), `{"bindings":[{"external_id":"24E1","device_serial":"WIF-9","name":"Walk-in 9","equipment_type":"walkin_freezer"}]}`)
	if bound["accepted"] != 3.0 || bound["held"] != 0.0 {
		t.Fatalf("replayed: %v", bound)
	}
	readings := h.call("GET", "/devices/WIF-9/readings", "")["readings"].([]any)
	if len(readings) != 3 || readings[0].(map[string]any)["product_zone_temp"] != -10.0 {
		t.Fatalf("history: %v", readings)
	}
	if left := h.call("GET", fmt.Sprintf("/sources/%d/held", id), "")["senders"].([]any); len(left) != 0 {
		t.Fatalf("still waiting: %v", left)
	}
	// From now on it is stored at once; the same uplink again is a duplicate.
	body := chirpStack("24E1", now, -20)
	if n := h.outcome(h.push("POST", "/in/"+key, body)); n.Accepted != 1 {
		t.Fatalf("bound sender: %+v", n)
	}
	if n := h.outcome(h.push("POST", "/in/"+key, body)); n.Duplicates != 1 || n.Accepted != 0 {
		t.Fatalf("the same again: %+v", n)
	}
	device := h.call("GET", "/devices/WIF-9", "")["device"].(map[string]any)
	if device["current_temp"] != -20.0 || device["battery_pct"] != 92.0 || device["rssi_dbm"] != -61.0 {
		t.Fatalf("device: %v", device)
	}
	// Replaying once more stores nothing twice.
	if again := h.call("POST", fmt.Sprintf("/sources/%d/replay?external_id=24E1", id), ""); again["accepted"] != 0.0 {
		t.Fatalf("again: %v", again)
	}
}

// TestWebhookForms: a GET of a Shelly, a form, JSON under a wrong content type,
// and what is refused.
func TestWebhookForms(t *testing.T) {
	h := newHouse(t)
	_, key := h.newSource(`{"name":"in","on_unknown":"register","default_equipment_type":"reach_in_cooler"}`)
	for _, c := range []struct {
		method, path, body, contentType, serial string
		temp                                    float64
	}{
		{"GET", "?id=shellyht-1&temp=4.25&hum=50", "", "", "shellyht-1", 4.25},
		{"POST", "", `{"serial":"curl","temperature":4.5}`, "application/x-www-form-urlencoded", "curl", 4.5},
		{"PUT", "", `{"serial":"plain","temperature":"4.75"}`, "", "plain", 4.75},
		{"POST", "", `serial=form&temperature=5`, "application/x-www-form-urlencoded", "form", 5},
		{"POST", "", `{"id":"text","temperature":5.5}`, "text/plain", "text", 5.5},
	} {
		if n := h.outcome(h.push(c.method, "/in/"+key+c.path, c.body, "Content-Type", c.contentType)); n.Accepted != 1 {
			t.Errorf("%s %s: %+v", c.method, c.body, n)
			continue
		}
		if got := h.latest(c.serial); got != c.temp {
			t.Errorf("%s: %v, want %v", c.serial, got, c.temp)
		}
	}
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", "/in/" + key, `{"temperature":`, 400},
		{"POST", "/in/" + key, "{\"temperature\":\"\xff\"}", 400},
		{"GET", "/in/" + key, "", 400},
		{"POST", "/in/in_wrong", `{}`, 401},
		{"POST", "/in/" + h.token, `{}`, 401},
		{"POST", "/in/" + key, strings.Repeat(" ", 1<<20+1), 413},
		{"DELETE", "/in/" + key, "", 405},
	} {
		if status, text := h.push(c.method, c.path, c.body); status != c.want {
			t.Errorf("%s %.40s: %d %s, want %d", c.method, c.body, status, text, c.want)
		}
	}
	// Readings of a known device are stored although other parts of the payload are bad, and
	// one whose time cannot be at its arrival.
	n := h.outcome(h.push("POST", "/in/"+key, `[{"serial":"D-1","temperature":-18},{"serial":"D-2","temperature":4,"ts":4102444800},{"serial":"D-9","temperature":4,"ts":37}]`))
	if n.Accepted != 2 || n.Held != 1 {
		t.Errorf("mixed: %+v", n)
	}
}

// TestToldCreated: a gateway that sends again until it gets 201 gets that, also for what
// measures nothing, and what was refused is refused.
func TestToldCreated(t *testing.T) {
	h := newHouse(t)
	_, any := h.newSource(`{"name":"Any","on_unknown":"register"}`)
	_, its := h.newSource(`{"name":"Efento","template":"efento"}`)
	const message = `{"measurements":[{"serial":"282C024FFFB3","response_handle":3,"battery":"ok","signal":-70,"measured_at":"2026-11-20 19:20:10","params":[{"channel":1,"type":"temperature","value":-18.5}]}]}`
	for _, c := range []struct {
		key, body string
		want      int
	}{{any, message, 201}, {its, message, 201}, {its, `{"gateway":{"uptime":7}}`, 201}, {its, `{"gateway":`, 400}, {any, `{"id":"x","temperature":3}`, 200}} {
		if status, text := h.push(http.MethodPost, "/in/"+c.key, c.body); status != c.want {
			t.Errorf("%s: %d %s, want %d", c.body, status, text, c.want)
		}
	}
}

// TestNamelessSenders: payloads that name no sensor, or several, may be of any. They
// wait where unknown senders are registered, too, until somebody binds them as a whole.
func TestNamelessSenders(t *testing.T) {
	h := newHouse(t)
	id, key := h.newSource(`{"name":"in","on_unknown":"register"}`)
	h.call(http.MethodPost, "/devices", `{"serial":"device","name":"Not that one","equipment_type":"walkin_cooler"}`)
	payloads := []string{
		`{"temperature":3}`,
		`{"DS18B20":{"Temperature":3.5},"Time":"2026-11-20T19:20:10Z"}`,
		`{"a":{"b":{"c":{"d":{"serial":"dp","temperature":1.5}}}}}`,
		`{"one":{"serial":"a","humidity":50},"two":{"serial":"b","temperature":1.5}}`,
	}
	for _, body := range payloads {
		status, text := h.push(http.MethodPost, "/in/"+key, body)
		if n := h.outcome(status, text); n.Held != 1 || n.Accepted != 0 || !strings.Contains(text, "does not say which sensor") {
			t.Errorf("%s: %s", body, text)
		}
	}
	if n := h.count("device"); n != 0 {
		t.Errorf("%d readings of a device that has the name of those without one", n)
	}
	for _, name := range []string{"a", "b"} {
		if n := h.outcome(h.push(http.MethodPost, "/in/"+key, `{"mac":"GW","sensors":[{"id":"`+name+`","temperature":1}]}`)); n.Accepted != 1 || h.count("GW-"+name) != 1 {
			t.Errorf("behind a gateway: %+v", n)
		}
	}
	h.asOwner(http.MethodPost, fmt.Sprintf("/sources/%d/bind", id), `{"bindings":[{"external_id":"device","device_serial":"whole"}]}`, http.StatusOK)
	if n := h.outcome(h.push(http.MethodPost, "/in/"+key, payloads[0])); n.Accepted != 1 || h.latest("whole") != 3 {
		t.Errorf("bound as a whole: %+v", n)
	}
}

// TestWebhookHead: what only asks for the head of an answer stores nothing, and no
// answer says that it would.
func TestWebhookHead(t *testing.T) {
	h := newHouse(t)
	_, key := h.newSource(`{"name":"in","on_unknown":"register"}`)
	for method, want := range map[string]struct {
		status int
		allow  string
	}{
		http.MethodHead:    {http.StatusMethodNotAllowed, "GET, POST, PUT"},
		http.MethodDelete:  {http.StatusMethodNotAllowed, "GET, POST, PUT"},
		http.MethodOptions: {http.StatusOK, "GET, POST, PUT, OPTIONS"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), method, h.URL()+"/in/"+key+"?id=h1&temperature=3", nil)
		h.must(err)
		resp, err := http.DefaultClient.Do(req)
		h.must(err)
		h.must(resp.Body.Close())
		if allow := resp.Header.Get("Allow"); resp.StatusCode != want.status || allow != want.allow {
			t.Errorf("%s: %d, Allow %q", method, resp.StatusCode, allow)
		}
	}
	if n := h.outcome(h.push("GET", "/in/"+key+"?id=h1&temperature=4", "")); n.Accepted != 1 || h.count("h1") != 1 {
		t.Errorf("%+v, %d readings after a HEAD and a GET", n, h.count("h1"))
	}
}

// TestRegisteredNames: whatever a sender calls itself, its device has a name that
// the API would have taken, and its first reading; or there is no device.
func TestRegisteredNames(t *testing.T) {
	h := newHouse(t)
	id, key := h.newSource(`{"name":"in","on_unknown":"register"}`)
	for _, c := range []struct{ id, serial, name string }{
		{`a\u0000b`, "a-b", "a b"},
		{`\u001b[31mred\u2028`, "--31mred-", "[31mred"},
		{strings.Repeat("é", 64), strings.Repeat("-", 64), strings.Repeat("é", 64)},
	} {
		for range 2 {
			if n := h.outcome(h.push("POST", "/in/"+key, `{"id":"`+c.id+`","temperature":1}`)); n.Accepted != 1 || n.Held != 0 {
				t.Errorf("%s: %+v", c.id, n)
			}
		}
		if name := h.call("GET", "/devices/"+c.serial, "")["device"].(map[string]any)["name"]; name != c.name || h.count(c.serial) != 2 {
			t.Errorf("%s: name %q, %d readings", c.id, name, h.count(c.serial))
		}
		h.asOwner("PATCH", "/devices/"+c.serial, `{"notes":"in the yard"}`, http.StatusOK)
	}
	status, text := h.push("POST", "/in/"+key, `{"id":"\u0000","temperature":1}`)
	if n := h.outcome(status, text); n.Held != 1 || n.Accepted != 0 || !strings.Contains(text, "no character that can be shown") {
		t.Errorf("no name: %s", text)
	}
	h.asOwner("POST", fmt.Sprintf("/sources/%d/bind", id), `{"bindings":[{"external_id":"x","device_serial":"X","name":"a\u0000b"}]}`, http.StatusUnprocessableEntity)
	line := "weather,device=" + strings.Repeat("x", rimewatch.MaxExternalID+1) + " temperature=1"
	if status, text := h.push("POST", "/api/v2/write", line, "Authorization", "Token "+key); status != http.StatusNoContent {
		t.Errorf("a long name in a line: %d %s", status, text)
	}
	if list := h.call("GET", "/devices", "")["devices"].([]any); len(list) != 2+3 { // those of the house
		t.Errorf("%d devices, want 5: %v", len(list), list)
	}
}

// TestSourceKeys: a source has several keys, each says who was heard by it, and one that is
// replaced or revoked leaves the others alone.
func TestSourceKeys(t *testing.T) {
	h := newHouse(t)
	id, first := h.newSource(`{"name":"Boards","on_unknown":"register"}`)
	send := func(key, sender string, want int) {
		t.Helper()
		if status, text := h.push("POST", "/in/"+key, fmt.Sprintf(`{"id":%q,"temperature":3}`, sender)); status != want {
			t.Fatalf("%s by %.9s: %d %s, want %d", sender, key, status, text, want)
		}
	}
	token, _ := h.newToken(h.workspace(), rimewatch.ScopeSources|rimewatch.ScopeDevicesRead)
	c, err := client.New(h.URL(), token, nil)
	h.must(err)
	ctx, api := t.Context(), c.Sources()
	added, err := api.AddKey(ctx, id, "Board")
	h.must(err)
	second := added.Key
	if want := h.URL() + "/in/" + second; added.URL != want {
		t.Errorf("the address is %v, want %s", added.URL, want)
	}
	_, err = api.NameKey(ctx, added.SourceKey.ID, "Kitchen board")
	h.must(err)
	send(first, "b-1", 200)
	send(first, "b-2", 200)
	send(second, "b-2", 200)
	send(second, "b-3", 200)
	keys := func() []client.SourceKey {
		t.Helper()
		list, err := api.Keys(ctx, id)
		h.must(err)
		return list
	}
	heard := func(k *client.SourceKey, since rimewatch.Time) string {
		var serials []string
		for _, d := range k.Heard {
			if d.At >= since {
				serials = append(serials, d.Serial)
			}
		}
		slices.Sort(serials)
		return fmt.Sprint(k.Name, k.Devices, serials, k.UsedAt != 0)
	}
	list := keys()
	if len(list) != 2 || heard(&list[0], 0) != "2 [b-1 b-2] true" || heard(&list[1], 0) != "Kitchen board2 [b-2 b-3] true" {
		t.Fatalf("heard: %+v", list)
	}

	replaced, err := api.ReplaceKey(ctx, list[0].ID)
	h.must(err)
	third := replaced.Key
	send(first, "b-1", 401)
	send(third, "b-1", 200)
	send(second, "b-2", 200)
	// A sender that has not come back with the new one is still known.
	list = keys()
	if got := heard(&list[0], replaced.SourceKey.MadeAt); got != "2 [b-1] true" {
		t.Errorf("heard by the new key: %s", got)
	}

	h.must(api.RevokeKey(ctx, list[1].ID))
	send(second, "b-2", 401)
	send(third, "b-2", 200)
	last := h.asOwner("PATCH", fmt.Sprintf("/sources/%d", id), `{"rotate_key":true}`, 200)["key"].(string)
	send(third, "b-2", 401)
	send(last, "b-2", 200)
	if list := keys(); len(list) != 1 {
		t.Errorf("%d keys", len(list))
	}
	broker := h.asOwner("POST", "/sources", `{"name":"Broker","kind":"mqtt","enabled":false,"broker":{"url":"mqtt://192.0.2.1:1883","topics":["a/#"]}}`, http.StatusCreated)["source"].(map[string]any)["id"]
	h.asOwner("POST", "/source-keys", fmt.Sprintf(`{"source_id":%v}`, broker), 422)
}

// TestSourceRules: keys, roles and workspaces.
func TestSourceRules(t *testing.T) {
	h := newHouse(t)
	id, key := h.newSource(`{"name":"LoRa","template":"chirpstack-v4"}`)
	path := fmt.Sprintf("/sources/%d", id)
	if status, _ := h.push("POST", "/api/v1/sources", `{"name":"x"}`, "Authorization", "Bearer "+h.token, "Content-Type", "application/json"); status != http.StatusForbidden {
		t.Errorf("a token makes a source: %d", status)
	}
	// The key is good for its inlet alone.
	for _, p := range []string{"/api/v1/devices", "/api/v1/readings/latest"} {
		if status, _ := h.push("GET", p, "", "Authorization", "Bearer "+key); status != http.StatusUnauthorized {
			t.Errorf("the key opens %s: %d", p, status)
		}
	}
	rotated := h.asOwner("PATCH", path, `{"rotate_key":true}`, 200)["key"].(string)
	if status, _ := h.push("POST", "/in/"+key, chirpStack("a", time.Now(), 1)); status != http.StatusUnauthorized {
		t.Errorf("the old key: %d", status)
	}
	if n := h.outcome(h.push("POST", "/in/"+rotated, chirpStack("a", time.Now(), 1))); n.Held != 1 {
		t.Errorf("the new key: %+v", n)
	}
	h.asOwner("PATCH", path, `{"enabled":false}`, 200)
	if status, _ := h.push("POST", "/in/"+rotated, chirpStack("a", time.Now(), 1)); status != http.StatusUnauthorized {
		t.Errorf("a disabled source: %d", status)
	}
	h.asOwner("PATCH", path, `{"template":"no such"}`, 422)
	h.asOwner("POST", "/sources", `{"name":"bad","template_document":{"version":1,"id":"map(payload, #)"}}`, 422)
	h.asOwner("POST", "/sources", `{"name":"lora"}`, 409)

	other, err := h.Accounts.FindWorkspace(t.Context(), "Other", true, rimewatch.TimeOf(time.Now()))
	h.must(err)
	token, _ := h.newToken(other.ID, rimewatch.ScopesFull)
	for _, p := range []string{path, path + "/held", path + "/bindings"} {
		if status, text := h.push("GET", "/api/v1"+p, "", "Authorization", "Bearer "+token); status != http.StatusNotFound {
			t.Errorf("another workspace: %s: %d %s", p, status, text)
		}
	}
	h.asOwner("DELETE", path, "", 200)
	h.asOwner("GET", path, "", 404)
	if status, _ := h.push("POST", "/in/"+rotated, chirpStack("a", time.Now(), 1)); status != http.StatusUnauthorized {
		t.Errorf("a deleted source: %d", status)
	}
	audit := fmt.Sprint(h.asOwner("GET", "/audit?per_page=100", "", 200))
	for _, action := range []string{"source.created", "source.updated", "source.deleted"} {
		if !strings.Contains(audit, action) {
			t.Errorf("no %s in the audit trail", action)
		}
	}
	if strings.Contains(audit, key) || strings.Contains(audit, rotated) {
		t.Error("the audit trail holds a key")
	}
}

// TestChangedTemplate: a template that is put right while payloads fly, and what
// waited because of the old one.
func TestChangedTemplate(t *testing.T) {
	h := newHouse(t)
	id, key := h.newSource(`{"name":"own","template_document":{"version":1,"id":"payload.who","time":"payload.at","fields":{"product_zone_temp":"payload.missing"}}}`)
	h.call("POST", fmt.Sprintf("/sources/%d/bind", id), `{"bindings":[{"external_id":"x","device_serial":"D-1"}]}`)
	at := time.Now().Add(-time.Minute).UnixMilli()
	send := func(i int64) (int, string) {
		return h.push("POST", "/in/"+key, fmt.Sprintf(`{"who":"y","at":%d,"t":-18.5}`, at+i))
	}
	for i := range int64(5) {
		if n := h.outcome(send(i)); n.Held != 1 {
			t.Fatalf("%+v", n)
		}
	}
	preview := h.call("POST", fmt.Sprintf("/sources/%d/preview", id), `{"payload":{"who":"y","at":1795202410,"t":-18.5},"template_document":{"version":1,"id":"payload.who","fields":{"product_zone_temp":"payload.t"}}}`)
	if got := preview["items"].([]any)[0].(map[string]any)["readings"].([]any)[0].(map[string]any)["measurements"].(map[string]any)["product_zone_temp"]; got != -18.5 {
		t.Fatalf("preview: %v", preview)
	}
	var wg sync.WaitGroup
	for i := range int64(8) {
		wg.Go(func() {
			for j := range int64(10) {
				h.outcome(send(100 + i*10 + j))
			}
		})
	}
	h.asOwner("PATCH", fmt.Sprintf("/sources/%d", id), `{"template_document":{"version":1,"id":"payload.who","time":"payload.at","fields":{"product_zone_temp":"payload.t"}}}`, 200)
	wg.Wait()
	h.call("POST", fmt.Sprintf("/sources/%d/bind", id), `{"bindings":[{"external_id":"y","device_serial":"D-2"}]}`)
	if n := len(h.call("GET", "/devices/D-2/readings?per_page=1000", "")["readings"].([]any)); n != 85 {
		t.Errorf("%d readings, want all 85", n)
	}
}

// TestInflux: the clients of InfluxDB 1 and 2, with a source's key or a token.
func TestInflux(t *testing.T) {
	h := newHouse(t)
	id, key := h.newSource(`{"name":"telegraf"}`)
	at := time.Now().Add(-time.Minute).Unix()
	line := func(name string, temp float64, i int64) string {
		return fmt.Sprintf("modbus,host=pi,name=%s temperature=%g,setpoint_temp=-20 %d\n", name, temp, at+i)
	}
	ways := []struct {
		path   string
		header []string
	}{
		{"/api/v2/write?org=o&bucket=b&precision=s", []string{"Authorization", "Token " + key}},
		{"/api/v2/write?precision=s", []string{"Authorization", "Bearer " + key}},
		{"/api/v2/write?precision=s", []string{"Authorization", "Token " + h.token}},
		{"/write?db=x&precision=s&u=any&p=" + key, nil},
	}
	for i, w := range ways {
		body := line("D-1", float64(-i), int64(i)) + "cpu,host=pi usage_idle=97\n"
		if status, text := h.push("POST", w.path, body, w.header...); status != http.StatusNoContent || text != "" {
			t.Errorf("%s: %d %s", w.path, status, text)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", h.URL()+"/write?precision=s", strings.NewReader(line("D-1", -4, 4)))
	h.must(err)
	req.SetBasicAuth("any", key)
	if status, text := h.do(req); status != http.StatusNoContent {
		t.Errorf("basic: %d %s", status, text)
	}
	readings := h.call("GET", "/devices/D-1/readings", "")["readings"].([]any)
	if len(readings) != 5 || readings[4].(map[string]any)["setpoint_temp"] != -20.0 {
		t.Fatalf("%d readings: %v", len(readings), readings)
	}
	for _, c := range []struct {
		path, key, body string
		want            int
		says            string
	}{
		{"/api/v2/write?precision=s", key, "", 204, ""},
		{"/api/v2/write", key, line("D-1", 1, 50), 400, "looks like seconds"},
		{"/api/v2/write?precision=d", key, line("D-1", 1, 50), 400, "precision"},
		{"/api/v2/write?precision=s", key, line("D-1", 1, 60) + "nonsense\n", 400, "partial write"},
		{"/api/v2/write?precision=s", "in_nobody", line("D-1", 1, 50), 401, "unauthorized"},
	} {
		status, text := h.push("POST", c.path, c.body, "Authorization", "Token "+c.key)
		if status != c.want || !strings.Contains(text, c.says) {
			t.Errorf("%q: %d %s, want %d", c.body, status, text, c.want)
		}
	}
	if got := h.latest("D-1"); got != 1 {
		t.Errorf("the good line beside a bad one: %v", got)
	}
	for _, p := range []string{"/ping", "/health"} {
		if status, _ := h.push("GET", p, ""); status != http.StatusNoContent && status != http.StatusOK {
			t.Errorf("%s: %d", p, status)
		}
	}
	// A sender that waits keeps its own lines alone, and they are replayed.
	h.push("POST", "/api/v2/write?precision=s", line("NEW", -7, 0)+line("D-1", 2, 70)+line("NEW", -8, 1), "Authorization", "Token "+key)
	sender := h.call("GET", fmt.Sprintf("/sources/%d/held", id), "")["senders"].([]any)[0].(map[string]any)
	if sample := sender["sample"].(string); sender["external_id"] != "NEW" || strings.Contains(sample, "D-1") || strings.Count(sample, "\n") != 2 {
		t.Fatalf("what waits: %v", sender)
	}
	bound := h.call("POST", fmt.Sprintf("/sources/%d/bind", id), `{"bindings":[{"external_id":"NEW","device_serial":"N-1","fields":{"product_zone_temp":{"from":"payload.fields.temperature"}}}]}`)
	if bound["accepted"] != 2.0 || h.latest("N-1") != -8 {
		t.Fatalf("replayed: %v, latest %v", bound, h.latest("N-1"))
	}
}

// TestBindingGone: a device that was deleted makes its sender wait again.
func TestBindingGone(t *testing.T) {
	h := newHouse(t)
	id, key := h.newSource(`{"name":"LoRa"}`)
	h.call("POST", fmt.Sprintf("/sources/%d/bind", id), `{"bindings":[{"external_id":"a","device_serial":"D-1"}]}`)
	if n := h.outcome(h.push("POST", "/in/"+key, `{"id":"a","temperature":1}`)); n.Accepted != 1 {
		t.Fatalf("%+v", n)
	}
	h.call("DELETE", "/devices/D-1", "")
	if n := h.outcome(h.push("POST", "/in/"+key, `{"id":"a","temperature":1}`)); n.Held != 1 {
		t.Fatalf("after its device is gone: %+v", n)
	}
	h.call("DELETE", fmt.Sprintf("/sources/%d/bindings?%s", id, url.Values{"external_id": {"a"}, "device_serial": {"d-1"}}.Encode()), "")
	if n := h.call("DELETE", fmt.Sprintf("/sources/%d/held?external_id=a", id), ""); n["deleted"] != 1.0 {
		t.Errorf("dropped: %v", n)
	}
}

// TestNewSenderAtOnce: messages of a new sender that come at the same time over
// several connections all belong to the device that the first of them makes.
func TestNewSenderAtOnce(t *testing.T) {
	h := newHouse(t)
	_, key := h.newSource(`{"name":"shop","on_unknown":"register"}`)
	const together = 8
	for i := range 10 {
		start := make(chan struct{})
		var all sync.WaitGroup
		for n := range together {
			all.Go(func() {
				<-start
				src, err := h.Sources.ByKey(t.Context(), key)
				if err != nil {
					t.Error(err)
					return
				}
				body := fmt.Sprintf(`{"temperature":%d}`, n)
				o, err := h.Sources.Receive(t.Context(), src, &inlet.Payload{Body: []byte(body), Topic: fmt.Sprintf("shop/probe %d", i)})
				if err != nil || o.Accepted != 1 {
					t.Errorf("%+v, %v", o, err)
				}
			})
		}
		close(start)
		all.Wait()
		if n := h.count(fmt.Sprintf("shop-probe-%d", i)); n != together {
			t.Errorf("%d readings, want %d", n, together)
		}
	}
}
