package contract

import (
	"fmt"
	"testing"
	"time"
)

// TestClockSteps: a clock that is set right, forward or back, locks nobody out
// and loses nothing.
func TestClockSteps(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]time.Duration{"back": -time.Hour, "forward": time.Hour, "far back": -30 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			s := start(t, limited)
			n := s.tenant(t, "Alpha")
			n.device(t, `{"serial":"D-1"}`)
			for i := range 50 {
				n.reading(t, fmt.Sprintf(`{"device_serial":"D-1","humidity":%d}`, i))
			}
			s.statuses(t, 25, request{path: "/v1/devices", token: "rw_bad"})
			s.advance(step)
			for i := range 50 {
				a := s.do(t, request{method: "POST", path: "/v1/readings", token: n.feed, body: fmt.Sprintf(`{"device_serial":"D-1","humidity":%d}`, i)})
				if a.status != 201 || a.at("data.duplicate") != false {
					t.Fatalf("reading %d: %d %s", i, a.status, a.body)
				}
			}
			s.recite(t, []row{
				{says: "requests go on", req: request{path: "/v1/devices/D-1", token: n.full}, status: 200, want: map[string]any{"data.device.status": "online"}},
				{says: "heartbeats go on", req: request{method: "PATCH", path: "/v1/devices/D-1/heartbeat", token: n.feed}, status: 200},
				{says: "nobody is blocked for longer than before", req: request{path: "/v1/devices", token: "rw_bad"}, status: 401, code: "unauthenticated"},
			})
			a := n.get(t, fmt.Sprintf("/v1/devices/D-1/readings?from=%s&to=%s", s.ago(48*time.Hour+max(0, step)), s.ago(-max(0, -step)-time.Hour)))
			if got := a.number(t, "data.readings.#"); got != 100 {
				t.Errorf("%v readings, not 100", got)
			}
		})
	}
}
