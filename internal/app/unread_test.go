package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch/internal/source"
)

// TestNothingToRead: who sends no number is told so while it waits, and the one who
// accepts it is shown the first message that had one.
func TestNothingToRead(t *testing.T) {
	h := newHouse(t)
	id, key := h.newSource(`{"name":"in"}`)
	shown := func() map[string]any {
		t.Helper()
		return h.call("GET", fmt.Sprintf("/sources/%d/held", id), "")["senders"].([]any)[0].(map[string]any)
	}
	measured := func() any {
		t.Helper()
		reading := shown()["preview"].(map[string]any)["items"].([]any)[0].(map[string]any)["readings"].([]any)[0].(map[string]any)
		return reading["measurements"].(map[string]any)["product_zone_temp"]
	}
	for _, c := range []struct {
		temperature string
		unreadable  int
		problem     string
		shown       any // at the sender that waits
	}{
		{`"abc"`, 1, `phone: no device is bound to this sender, and product_zone_temp is "abc", not a number`, nil},
		{`500`, 1, `phone: no device is bound to this sender, and product_zone_temp is 500, not between −100 and 200 °C`, nil},
		{`3.5`, 0, `phone: no device is bound to this sender`, 3.5},
		{`"abc"`, 1, `phone: no device is bound to this sender, and product_zone_temp is "abc", not a number`, 3.5},
		{`4.5`, 0, `phone: no device is bound to this sender`, 4.5},
	} {
		status, text := h.push("POST", "/in/"+key, `{"id":"phone","temperature":`+c.temperature+`,"unit":"°C","battery":100}`)
		var answer struct{ Data source.Outcome }
		if err := json.Unmarshal([]byte(text), &answer); err != nil || status != 200 {
			t.Fatal(status, text)
		}
		if o := answer.Data; o.Held != 1 || o.Unreadable != c.unreadable || len(o.Problems) != 1 || o.Problems[0] != c.problem {
			t.Errorf("%s: %s", c.temperature, text)
		}
		if got := measured(); got != c.shown {
			t.Errorf("after %s it is shown with %v, want %v", c.temperature, got, c.shown)
		}
	}
	// What was kept in facts is read in Spanish, and so is the answer.
	const spanish = `ningún equipo está asignado a este emisor, y product_zone_temp es \"abc\", no un número`
	if _, text := h.push("POST", "/in/"+key, `{"id":"phone","temperature":"abc"}`, "Accept-Language", "es"); !strings.Contains(text, spanish) {
		t.Error(text)
	}
	if _, text := h.push("GET", fmt.Sprintf("/api/v1/sources/%d/held", id), "", "Accept-Language", "es", "Authorization", "Bearer "+h.token); !strings.Contains(text, spanish) {
		t.Error(text)
	}
	if sample := shown()["sample"].(string); !strings.Contains(sample, "4.5") {
		t.Errorf("sample %s", sample)
	}
	// A gateway that decodes nothing is told so, too.
	if _, text := h.push("POST", "/in/"+key, `{"id":"gateway","data":"A2fqAARoTwUAAA=="}`); !strings.Contains(text, "gateway: no device is bound to this sender, and no measurement was recognised") {
		t.Error(text)
	}
}
