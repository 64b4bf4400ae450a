package app_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
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
	if len(senders) != 4 || senders[0].(map[string]any)["external_id"] != "Other" || senders[0].(map[string]any)["payloads"] != 4.0 {
		t.Fatalf("what waits: %v", senders)
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
	if list := h.call("GET", "/sources/api/bindings", "")["bindings"].([]any); len(list) != 1 {
		t.Errorf("bindings: %v", list)
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
