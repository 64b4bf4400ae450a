package v1

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// stepping is a clock whose step is not believed yet, and who was heard of time.
type stepping struct {
	gap   rimewatch.Time
	heard map[uint64]rimewatch.Time
}

func (c *stepping) Saw(device uint64, claims, _ rimewatch.Time) { c.heard[device] = claims }
func (c *stepping) Gap() rimewatch.Time                         { return c.gap }

// TestClockStepping: a reading from the time that the service is about to adopt
// comes too early, and is no mistake of the device; what devices say the time is
// is noted, refused or not.
func TestClockStepping(t *testing.T) {
	c := &stepping{gap: rimewatch.Hour, heard: make(map[uint64]rimewatch.Time)}
	r := newRig(t, func(cfg *whole) { cfg.readings.Clock = c })
	reading := func(serial string, ahead rimewatch.Time) string {
		return fmt.Sprintf(`{"device_serial":%q,"product_zone_temp":4,"recorded_at":%q}`, serial, (rigStart + ahead).String())
	}
	r.run(t, []scenario{
		{name: "A", req: post("/v1/devices", r.full, `{"serial":"A"}`), status: 201, anyEvents: true},
		{name: "B", req: post("/v1/devices", r.full, `{"serial":"B"}`), status: 201, anyEvents: true},
		{name: "by the old time", req: post("/v1/readings", r.feed, reading("A", 0)), status: 201, anyEvents: true},
		{name: "by the new time", req: post("/v1/readings", r.feed, reading("A", rimewatch.Hour)), status: 503, code: rimewatch.CodeUnavailable},
		{name: "by neither", req: post("/v1/readings", r.feed, reading("A", 2*rimewatch.Hour)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"recorded_at"}},
		{
			name: "in a batch", req: post("/v1/readings/batch", r.feed, `{"readings":[`+reading("B", 1000)+`,`+reading("B", rimewatch.Hour)+`]}`), status: 200, anyEvents: true,
			want: map[string]any{"data.accepted": 1, "data.results.0.status": 503, "data.results.0.code": "unavailable"},
		},
	})
	if a, b := c.heard[1], c.heard[2]; a != rigStart+2*rimewatch.Hour || b != rigStart+rimewatch.Hour {
		t.Errorf("A said that it is %d, B %d", a, b)
	}
}

// TestSourcesWhileTheClockSteps: nor is what a gateway sends from that time refused
// for good: all of it is sent again.
func TestSourcesWhileTheClockSteps(t *testing.T) {
	r := newRig(t, withSources)
	made := r.do(r.browser(post("/v1/sources", "", `{"name":"Gateway","kind":"push","on_unknown":"register"}`)))
	var created struct{ Data struct{ Key string } }
	if err := json.Unmarshal([]byte(made.body), &created); err != nil || created.Data.Key == "" {
		t.Fatalf("%d %s", made.status, made.body)
	}
	send := func(list ...rimewatch.Time) answer {
		var lines []string
		for i, ahead := range list {
			lines = append(lines, fmt.Sprintf(`{"id":"probe-%d","temperature":4,"timestamp":%q}`, i, (rigStart+ahead).String()))
		}
		return r.do(request{method: "POST", path: "/in/" + created.Data.Key, body: "[" + strings.Join(lines, ",") + "]", header: map[string]string{"Content-Type": "application/json"}})
	}
	r.steps.gap = rimewatch.Hour
	if a := send(0, rimewatch.Hour); a.status != 503 || a.header.Get("Retry-After") != "60" {
		t.Errorf("by the new time: %d %s", a.status, a.body)
	}
	if a := r.do(get("/v1/devices/probe-0/readings", r.read)); a.status == 200 && strings.Contains(a.body, "product_zone_temp") {
		t.Errorf("a part was stored: %s", a.body)
	}
	if a := send(0, 2*rimewatch.Hour); a.status != 200 || !strings.Contains(a.body, `"accepted":2`) { // at its arrival
		t.Errorf("by neither: %d %s", a.status, a.body)
	}
	r.steps.gap = 0
	r.advance(time.Hour)
	if a := send(0, rimewatch.Hour); a.status != 200 || strings.Contains(a.body, `"rejected":1`) {
		t.Errorf("once it is believed: %d %s", a.status, a.body)
	}
	if a, b := r.steps.heard[1], r.steps.heard[2]; a != rigStart || b != rigStart+rimewatch.Hour {
		t.Errorf("the first probe said that it is %d, the second %d", a, b)
	}
	clear(r.steps.heard)
	r.run(t, []scenario{
		{name: "hold", req: r.browser(patch("/v1/workspace", "", `{"on_unknown":"hold"}`)), status: 200, anyEvents: true},
		{name: "held", req: post("/v1/readings", r.feed, `{"device_serial":"late","product_zone_temp":4,"recorded_at":"`+rigStart.String()+`"}`), status: 202, anyEvents: true},
		{name: "accepted", req: post("/v1/devices", r.full, `{"serial":"late"}`), status: 201, anyEvents: true},
	})
	if len(r.steps.heard) != 0 {
		t.Errorf("what had waited said what time it is: %v", r.steps.heard)
	}
}

// TestSourceAfterTheClockWasSetBack: what another process has changed counts within a
// second by whichever clock.
func TestSourceAfterTheClockWasSetBack(t *testing.T) {
	r := newRig(t, withSources)
	made := r.do(r.browser(post("/v1/sources", "", `{"name":"Gateway","kind":"push","on_unknown":"register"}`)))
	var created struct {
		Data struct {
			Key    string
			Source struct{ ID int64 }
		}
	}
	if err := json.Unmarshal([]byte(made.body), &created); err != nil || created.Data.Source.ID == 0 {
		t.Fatalf("%d %s", made.status, made.body)
	}
	send := func() int {
		return r.do(request{method: "POST", path: "/in/" + created.Data.Key, body: `{"id":"probe","temperature":4}`, header: map[string]string{"Content-Type": "application/json"}}).status
	}
	if got := send(); got != 200 {
		t.Fatal(got)
	}
	r.advance(-time.Hour)
	_, err := r.store.Inlets().Sources().Update(t.Context(), r.workspace.ID, created.Data.Source.ID, func(s *rimewatch.Source) error {
		s.Enabled = false
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r.advance(2 * time.Second)
	if got := send(); got != 401 {
		t.Errorf("a source that is disabled answers %d", got)
	}
}
