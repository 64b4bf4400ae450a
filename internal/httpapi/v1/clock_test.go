package v1

import (
	"fmt"
	"testing"

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
