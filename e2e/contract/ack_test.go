package contract

import (
	"fmt"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// TestAcknowledgementEnds: an acknowledgement ends when its time has passed.
func TestAcknowledgementEnds(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	id := n.warm(t, "A-1")
	device := int64(n.get(t, "/v1/devices/A-1").number(t, "data.device.id"))
	if a := s.do(t, request{method: "POST", path: fmt.Sprintf("/v1/alerts/%d/acknowledge", id), token: n.full, body: `{"expires_in_s":120}`}); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	n.reading(t, `{"device_serial":"A-1","product_zone_temp":8}`)
	if got := n.get(t, "/v1/alerts?acknowledged=true").number(t, "data.pagination.total"); got != 1 {
		t.Errorf("%v are acknowledged", got)
	}
	s.events.forget()
	s.advance(125 * time.Second)
	s.events.await(t, event{"alert.updated", device, rimewatch.HighTemperature})
	if got := n.get(t, "/v1/alerts?acknowledged=true").number(t, "data.pagination.total"); got != 0 {
		t.Errorf("after its time it still stands")
	}
}
