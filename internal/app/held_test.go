package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
)

// post sends a reading as a device does.
func (h *house) post(body string, want int) {
	h.t.Helper()
	if status, text := h.push("POST", "/api/v1/readings", body, "Authorization", "Bearer "+h.token, "Content-Type", "application/json"); status != want {
		h.t.Fatalf("%s: %d %s, want %d", body, status, text, want)
	}
}

func (h *house) history(serial string) []any {
	h.t.Helper()
	return h.call("GET", "/devices/"+serial+"/readings", "")["readings"].([]any)
}

// TestReadingsWait: readings of serials that nobody has registered are stored with
// their own times once the device is there, however it came to be.
func TestReadingsWait(t *testing.T) {
	h := newHouse(t)
	ago := func(minutes int) string {
		return rimewatch.TimeOf(time.Now().Add(-time.Duration(minutes) * time.Minute)).String()
	}
	for _, serial := range []string{"Bound", "Created", "Imported", "Other"} {
		h.post(fmt.Sprintf(`{"device_serial":%q,"product_zone_temp":-1,"recorded_at":%q,"battery_pct":77}`, serial, ago(30)), http.StatusAccepted)
		h.post(fmt.Sprintf(`{"device_serial":%q,"product_zone_temp":-2,"age_s":600}`, serial), http.StatusAccepted)
		batch := fmt.Sprintf(`{"device_serial":%q,"product_zone_temp":-3}`, serial)
		data := h.call("POST", "/readings/batch", `{"readings":[`+batch+`,`+batch+`]}`)
		if data["held"] != 2.0 {
			t.Fatalf("batch: %v", data)
		}
	}
	senders := h.call("GET", "/sources/api/held", "")["senders"].([]any)
	if len(senders) != 4 || waits(senders, "Other") != 4.0 {
		t.Fatalf("what waits: %v", senders)
	}
	if n := h.call("GET", "/sources", "")["waiting_senders"]; n != 4.0 {
		t.Errorf("%v senders wait, by the list of sources", n)
	}
	if done := h.call("POST", "/sources/api/bind", `{"bindings":[{"external_id":"Bound"},{"external_id":"Other","device_serial":"New-9"}]}`); done["accepted"] != 8.0 {
		t.Fatalf("bound: %v", done)
	}
	h.call("POST", "/devices", `{"serial":"Created"}`)
	if status, text := h.push("POST", "/api/v1/devices/import", "serial\nImported\n", "Authorization", "Bearer "+h.token, "Content-Type", "text/csv"); status != http.StatusOK {
		t.Fatalf("import: %d %s", status, text)
	}
	for _, serial := range []string{"Bound", "Created", "Imported", "New-9"} {
		list := h.history(serial)
		if len(list) != 4 {
			t.Fatalf("%s: %d readings, want 4: %v", serial, len(list), list)
		}
		for i, want := range []float64{-1, -2, -3, -3} {
			if got := list[i].(map[string]any)["product_zone_temp"]; got != want {
				t.Errorf("%s: reading %d is %v, want %v", serial, i, got, want)
			}
		}
		if battery := h.call("GET", "/devices/"+serial, "")["device"].(map[string]any)["battery_pct"]; battery != 77.0 {
			t.Errorf("%s: battery %v", serial, battery)
		}
	}
	if left := h.call("GET", "/sources/api/held", "")["senders"].([]any); len(left) != 0 {
		t.Fatalf("still waiting: %v", left)
	}
	// A serial that was bound to another device goes there from now on.
	h.post(`{"device_serial":"Other","product_zone_temp":-4}`, http.StatusCreated)
	if list := h.history("New-9"); len(list) != 5 {
		t.Errorf("after binding: %d readings", len(list))
	}
	list := h.call("GET", "/sources/api/bindings", "")["bindings"].([]any)
	if len(list) != 1 {
		t.Fatalf("bindings: %v", list)
	}
	// What is read as in the template has no fields of its own, as described.
	var described struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ OneOf []struct{ Type string } }
			}
		}
	}
	_, text := h.push("GET", "/api/openapi.json", "")
	h.must(json.Unmarshal([]byte(text), &described))
	as := described.Components.Schemas["BindingJSON"].Properties["fields"].OneOf
	if fields, ok := list[0].(map[string]any)["fields"]; fields != nil || !ok || len(as) != 2 || as[1].Type != "null" {
		t.Errorf("fields %v, described as %v", fields, as)
	}
}

// waits is how many payloads of a sender wait.
func waits(senders []any, id string) (payloads float64) {
	for _, x := range senders {
		if s := x.(map[string]any); s["external_id"] == id {
			payloads, _ = s["payloads"].(float64)
		}
	}
	return payloads
}

// TestReadingsWaitInAnyCase: readings that wait are those of a serial, in whatever
// case it was sent and is registered or bound.
func TestReadingsWaitInAnyCase(t *testing.T) {
	h := newHouse(t)
	for _, serial := range []string{"Created", "Imported", "Own", "Other"} {
		now := time.Now()
		for i, spelled := range []string{serial, strings.ToLower(serial), strings.ToUpper(serial)} {
			at := rimewatch.TimeOf(now.Add(-time.Duration(30-i) * time.Minute))
			h.post(fmt.Sprintf(`{"device_serial":%q,"product_zone_temp":%d,"recorded_at":%q}`, spelled, i, at), http.StatusAccepted)
		}
		h.call("POST", "/readings/batch", fmt.Sprintf(`{"readings":[{"device_serial":%q,"humidity":4},{"device_serial":%q,"humidity":5}]}`, strings.ToUpper(serial), serial))
	}
	senders := h.call("GET", "/sources/api/held", "")["senders"].([]any)
	if len(senders) != 4 || waits(senders, "Other") != 5.0 {
		t.Fatalf("what waits: %v", senders)
	}
	h.call("POST", "/devices", `{"serial":"CREATED"}`)
	if status, text := h.push("POST", "/api/v1/devices/import", "serial\nimporteD\n", "Authorization", "Bearer "+h.token, "Content-Type", "text/csv"); status != http.StatusOK {
		t.Fatalf("import: %d %s", status, text)
	}
	if done := h.call("POST", "/sources/api/bind", `{"bindings":[{"external_id":"oWN","device_serial":"Own"},{"external_id":"OTHER","device_serial":"New-9"}]}`); done["accepted"] != 10.0 {
		t.Fatalf("bound: %v", done)
	}
	for _, serial := range []string{"created", "Imported", "OWN", "new-9"} {
		if list := h.history(serial); len(list) != 5 {
			t.Errorf("%s: %d readings, want 5: %v", serial, len(list), list)
		}
	}
	if left := h.call("GET", "/sources/api/held", "")["senders"].([]any); len(left) != 0 {
		t.Errorf("still waiting: %v", left)
	}
	// A serial that is bound goes to its device in any case, with what it says of it.
	h.post(`{"device_serial":"otheR","humidity":6}`, http.StatusCreated)
	h.call("POST", "/readings/batch", `{"readings":[{"device_serial":"other","humidity":7,"battery_pct":55}]}`)
	if list := h.history("New-9"); len(list) != 7 {
		t.Errorf("after binding: %d readings, want 7", len(list))
	}
	if battery := h.call("GET", "/devices/New-9", "")["device"].(map[string]any)["battery_pct"]; battery != 55.0 {
		t.Errorf("battery %v, want 55", battery)
	}
	if list := h.call("GET", "/sources/api/bindings", "")["bindings"].([]any); len(list) != 1 {
		t.Errorf("bindings: %v", list)
	}
	// What an item says of a device that it registers is kept, too.
	h.asOwner("PATCH", "/workspace", `{"on_unknown":"register"}`, 200)
	h.call("POST", "/readings/batch", `{"readings":[{"device_serial":"Fresh","humidity":7,"battery_pct":44}]}`)
	if battery := h.call("GET", "/devices/Fresh", "")["device"].(map[string]any)["battery_pct"]; battery != 44.0 {
		t.Errorf("battery of a new device: %v, want 44", battery)
	}
}

// TestOnUnknownOfTheAPI: the source of the API does what the workspace says, and
// says so.
func TestOnUnknownOfTheAPI(t *testing.T) {
	h := newHouse(t)
	for _, c := range []struct {
		set    string
		status int
	}{{"hold", 202}, {"register", 201}, {"refuse", 422}} {
		h.asOwner("PATCH", "/workspace", `{"on_unknown":"`+c.set+`"}`, 200)
		if got := h.asOwner("GET", "/sources/api", "", 200)["source"].(map[string]any)["on_unknown"]; got != c.set {
			t.Errorf("the source says %v, want %s", got, c.set)
		}
		h.post(`{"device_serial":"N-`+c.set+`","humidity":1}`, c.status)
	}
	h.asOwner("PATCH", "/sources/api", `{"on_unknown":"register"}`, http.StatusUnprocessableEntity)
}

// TestBindByList: a file says which sender is which device; one with a mistake
// changes nothing.
func TestBindByList(t *testing.T) {
	h := newHouse(t)
	id, key := h.newSource(`{"name":"LoRa"}`)
	for _, eui := range []string{"24E1", "24E2"} {
		if n := h.outcome(h.push("POST", "/in/"+key, chirpStack(eui, time.Now(), -10))); n.Held != 1 {
			t.Fatalf("%+v", n)
		}
	}
	api, err := client.New(h.URL(), h.token, nil)
	h.must(err)
	ctx, source := t.Context(), fmt.Sprint(id)
	for _, bad := range []string{"", "device_serial\nX\n", "external_id,color\na,red\n", "external_id\n", "external_id,external_id\na,b\n", "external_id,device_serial\n24E1,X Y\n24E2,Z\n",
		"external_id,site_id\n24E1,north\n", "external_id,device_serial\n,X\n", "external_id\n\"24E1\n", "external_id\n24\x00E1\n", "external_id\n\xff\n"} {
		_, _, err := api.Sources().BindCSV(ctx, source, []byte(bad), false)
		if code := rimewatch.CodeOf(err); code != rimewatch.CodeValidationFailed && code != rimewatch.CodeInvalidJSON {
			t.Errorf("%q: %v", bad, err)
		}
	}
	list := []byte("\ufeffexternal_id;device_serial;name;equipment_type\r\n24E1;WIF-1;Walk-in;walkin_freezer\r\n24E2;;;\r\n24E3;WIF-3;;\r\n")
	if rows, _, err := api.Sources().BindCSV(ctx, source, list, true); rows != 3 || err != nil {
		t.Errorf("dry run: %d %v", rows, err)
	}
	if bound, err := api.Sources().Bindings(ctx, source); len(bound) != 0 || err != nil {
		t.Errorf("mistakes and dry runs bind: %v %v", bound, err)
	}
	waiting := 0
	for sender, err := range api.Sources().Held(ctx, source) {
		h.must(err)
		waiting++
		if sender.Payloads != 1 || sender.SuggestedSerial != sender.ExternalID {
			t.Errorf("%+v", sender)
		}
	}
	rows, outcome, err := api.Sources().BindCSV(ctx, source, list, false)
	if err != nil || rows != 3 || outcome.Accepted != 2 || waiting != 2 {
		t.Errorf("%d rows, %+v, %v; %d waited", rows, outcome, err, waiting)
	}
	if h.latest("WIF-1") != -10 || h.latest("24E2") != -10 {
		t.Error("what waited is not stored")
	}
	if d := h.call("GET", "/devices/WIF-3", "")["device"].(map[string]any); d["equipment_type"] != "other" {
		t.Errorf("a sender that has not reported yet: %v", d)
	}
	bound, err := api.Sources().Bindings(ctx, source)
	h.must(err)
	if len(bound) != 3 || bound[0].DeviceSerial != "WIF-1" {
		t.Errorf("%+v", bound)
	}
	h.must(api.Sources().Unbind(ctx, source, "24E3", "WIF-3"))
	if err := api.Sources().Unbind(ctx, source, "24E3", "WIF-3"); rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
		t.Errorf("ended twice: %v", err)
	}
	// The rest of what a client may do with sources.
	all, err := api.Sources().List(ctx)
	h.must(err)
	one, err := api.Sources().Get(ctx, client.SourceOfAPI)
	h.must(err)
	if len(all) != 2 || one.Kind != "api" || one.OnUnknown != "hold" {
		t.Errorf("%+v; %+v", all, one)
	}
	if templates, err := api.Sources().Templates(ctx); len(templates) != 16 || err != nil {
		t.Errorf("%d templates, %v", len(templates), err)
	}
	_, _, err = api.PostReading(ctx, client.Reading{DeviceSerial: "Lost", Measurements: client.Measurements{Humidity: client.Value(1.0)}})
	h.must(err)
	if o, err := api.Sources().Replay(ctx, client.SourceOfAPI, "Lost"); o.Held != 1 || err != nil {
		t.Errorf("%+v %v", o, err)
	}
	if n, err := api.Sources().DropHeld(ctx, client.SourceOfAPI, "Lost"); n != 1 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	if o, err := api.Sources().Bind(ctx, client.SourceOfAPI, []client.SenderBinding{{ExternalID: "Lost"}}); o.Accepted != 0 || err != nil {
		t.Errorf("%+v %v", o, err)
	}
}

// TestTimesWithoutZone: what a sender says in the time of its wall clock waits until
// somebody says which zone that is, and is stored then with its own time.
func TestTimesWithoutZone(t *testing.T) {
	h := newHouse(t)
	id, key := h.newSource(`{"name":"rtl_433","on_unknown":"register"}`)
	zone := rimewatch.ZoneOf("Asia/Kathmandu") // where no hour of a clock comes twice
	at := time.Now().Add(-10 * time.Minute).Truncate(time.Second)
	send := func(back time.Duration) (accepted, held int) {
		n := h.outcome(h.push("POST", "/in/"+key, fmt.Sprintf(`{"time":%q,"model":"LaCrosse-TX","id":12,"temperature_C":3.5}`, at.Add(-back).In(zone).Format(time.DateTime))))
		return n.Accepted, n.Held
	}
	if accepted, held := send(0); accepted != 0 || held != 1 {
		t.Fatalf("without a zone: %d accepted, %d held", accepted, held)
	}
	senders := h.call("GET", fmt.Sprintf("/sources/%d/held", id), "")["senders"].([]any)
	if !strings.Contains(fmt.Sprint(senders), "has no time zone: set") {
		t.Errorf("nobody is told why it waits: %s", senders)
	}
	sender, path := senders[0].(map[string]any), fmt.Sprintf("/sources/%d", id)
	for _, wrong := range []string{"Mars/Olympus", "Local", "posix/Europe/Berlin"} {
		h.asOwner("PATCH", path, fmt.Sprintf(`{"timezone":%q}`, wrong), http.StatusUnprocessableEntity)
	}
	h.asOwner("PATCH", "/sources/api", `{"timezone":"Asia/Kathmandu"}`, http.StatusUnprocessableEntity)
	source := h.asOwner("PATCH", path, `{"timezone":"Asia/Kathmandu"}`, http.StatusOK)["source"].(map[string]any)
	if source["timezone"] != zone.String() {
		t.Errorf("the zone that was set: %v", source["timezone"])
	}
	if done := h.call("POST", path+"/replay?external_id="+url.QueryEscape(sender["external_id"].(string)), ""); done["accepted"] != 1.0 {
		t.Errorf("what waited: %v", done)
	}
	if accepted, _ := send(time.Minute); accepted != 1 {
		t.Errorf("what comes: %d accepted", accepted)
	}
	list := h.history(sender["suggested_serial"].(string))
	if len(list) != 2 {
		t.Fatalf("history: %v", list)
	}
	for i, back := range []time.Duration{time.Minute, 0} {
		if got, want := list[i].(map[string]any)["recorded_at"], rimewatch.TimeOf(at.Add(-back)).String(); got != want {
			t.Errorf("reading %d is of %v, want %s", i, got, want)
		}
	}
	h.asOwner("PATCH", path, `{"timezone":""}`, http.StatusOK)
	if accepted, held := send(2 * time.Minute); accepted != 0 || held != 1 {
		t.Errorf("the zone is taken back: %d accepted, %d held", accepted, held)
	}
}

// TestOneAddress: one hardware address is one sender, however it is written, also of one that was
// bound as it was written then; of what waits the newest value is shown.
func TestOneAddress(t *testing.T) {
	h := newHouse(t)
	id, key := h.newSource(`{"name":"LoRa","template":"chirpstack-v4"}`)
	at := time.Now().Add(-time.Minute)
	for i, eui := range []string{"24E124136B502217", "24e124136b502217", "JOEkE2tQIhc="} {
		if n := h.outcome(h.push("POST", "/in/"+key, chirpStack(eui, at.Add(time.Duration(i)*time.Second), -10-float64(i)))); n.Held != 1 {
			t.Fatalf("%s: %+v", eui, n)
		}
	}
	held := h.asOwner("GET", fmt.Sprintf("/sources/%d/held", id), "", 200)["senders"].([]any)
	if len(held) != 1 {
		t.Fatalf("%d senders wait", len(held))
	}
	item := held[0].(map[string]any)["preview"].(map[string]any)["items"].([]any)[0].(map[string]any)
	if temp := item["readings"].([]any)[0].(map[string]any)["measurements"].(map[string]any)["product_zone_temp"]; temp != -12.0 {
		t.Errorf("shown is %v", temp)
	}
	h.asOwner("POST", fmt.Sprintf("/sources/%d/bind", id), `{"bindings":[{"external_id":"24e124136b502217","device_serial":"ONE"}]}`, 200)
	if n := h.latest("ONE"); n != -12 {
		t.Errorf("the newest is %v", n)
	}
	id2, key2 := h.newSource(`{"name":"other"}`)
	h.must(h.Store.Inlets().PutBindings(t.Context(), 1, id2, []rimewatch.Binding{{ExternalID: "AASjCwAcBTA=", Serial: "ONE"}})) // 00-04-A3-0B-00-1C-05-30
	for i, eui := range []string{"AASjCwAcBTA=", "0004A30B001C0530", "00:04:a3:0b:00:1c:05:30"} {
		if n := h.outcome(h.push("POST", "/in/"+key2, chirpStack(eui, at.Add(time.Duration(10+i)*time.Second), 1))); n.Accepted != 1 {
			t.Errorf("%s: %+v", eui, n)
		}
	}
}
