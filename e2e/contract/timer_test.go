package contract

import (
	"fmt"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// TestTimers: "both clocks run on event time and fire by timer without a new
// message; a running delay completes by timer only while the device is online.
// No data never resolves a temperature alert."
func TestTimers(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	ids := make(map[string]int64)
	// After a silence, the first one included, timers wait for a third of
	// offline_after_s: 50 s here.
	for serial, more := range map[string]string{"ALIVE": `,"offline_after_s":150`, "DEAD": `,"offline_after_s":30`, "COLD": `,"offline_after_s":150`} {
		n.device(t, fmt.Sprintf(`{"serial":%q,"limits":{"temp_min":0,"temp_max":5,"critical_max":10,"delay_s":60,"low_delay_s":60,"critical_delay_s":60,"clear_s":60}%s}`, serial, more))
		ids[serial] = int64(n.get(t, "/v1/devices/"+serial).number(t, "data.device.id"))
	}
	post := func(serial string, temp float64) {
		t.Helper()
		n.reading(t, fmt.Sprintf(`{"device_serial":%q,"product_zone_temp":%g}`, serial, temp))
	}
	alerts := func(serial string, kind rimewatch.AlertType, status string) float64 {
		return n.get(t, fmt.Sprintf("/v1/alerts?device_serial=%s&type=%s&status=%s", serial, kind, status)).number(t, "data.pagination.total")
	}
	post("ALIVE", 8)
	post("DEAD", 8)
	post("COLD", -3)
	s.advance(31 * time.Second)
	s.events.await(t, event{kind: "device.offline", device: ids["DEAD"]})
	if got := alerts("ALIVE", rimewatch.HighTemperature, "all"); got != 0 {
		t.Errorf("%v alerts before the delay has passed", got)
	}
	s.advance(35 * time.Second)
	s.events.await(t, event{"alert.opened", ids["ALIVE"], rimewatch.HighTemperature})
	s.events.await(t, event{"alert.opened", ids["COLD"], rimewatch.LowTemperature})
	s.advance(5 * time.Minute)
	if got := alerts("DEAD", rimewatch.HighTemperature, "all"); got != 0 {
		t.Errorf("a delay was completed for a device that is offline: %v alerts", got)
	}
	if got := alerts("DEAD", rimewatch.DeviceOffline, "active"); got != 1 {
		t.Errorf("%v alerts of its silence", got)
	}

	s.advance(6 * time.Minute)
	s.events.await(t, event{kind: "device.offline", device: ids["ALIVE"]})
	s.advance(24 * time.Hour)
	post("DEAD", 3)
	if got := alerts("ALIVE", rimewatch.HighTemperature, "active"); got != 1 {
		t.Errorf("no data has resolved a temperature alert")
	}

	// The clear time completes by timer, too, once a second reading has confirmed it.
	post("COLD", 2)
	s.advance(10 * time.Second)
	post("COLD", 2)
	s.events.forget()
	s.advance(65 * time.Second)
	s.events.await(t, event{"alert.resolved", ids["COLD"], rimewatch.LowTemperature})

	// A manual resolve of a critical one is good for 5 min.
	for range 6 {
		post("ALIVE", 15)
		s.advance(30 * time.Second)
	}
	a := n.get(t, "/v1/alerts?device_serial=ALIVE&type=high_temperature")
	if a.text("data.alerts.0.severity") != "critical" {
		t.Fatalf("%s", a.body)
	}
	if b := s.do(t, request{method: "POST", path: fmt.Sprintf("/v1/alerts/%v/resolve", a.at("data.alerts.0.id")), token: n.full}); b.status != 200 || b.text("data.alert.resolution") != "manual" {
		t.Fatalf("%d %s", b.status, b.body)
	}
	for range 8 {
		post("ALIVE", 15)
		s.advance(30 * time.Second)
	}
	if got := alerts("ALIVE", rimewatch.HighTemperature, "active"); got != 0 {
		t.Errorf("it is back within 4 min")
	}
	s.events.forget()
	for range 4 {
		post("ALIVE", 15)
		s.advance(30 * time.Second)
	}
	s.events.await(t, event{"alert.opened", ids["ALIVE"], rimewatch.HighTemperature})
}

// TestDowntime: "after our own downtime every deadline moves by the length of the
// downtime".
func TestDowntime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, inside(dir))
	n := s.tenant(t, "Alpha")
	n.device(t, `{"serial":"D-1","offline_after_s":60}`)
	id := int64(n.get(t, "/v1/devices/D-1").number(t, "data.device.id"))
	n.reading(t, `{"device_serial":"D-1","humidity":1}`)
	s.client.CloseIdleConnections()
	if err := s.halt(); err != nil {
		t.Fatal(err)
	}
	again := start(t, inside(dir), later(time.Hour))
	m := &tenant{service: again, id: n.id, full: n.full, feed: n.feed, read: n.read}
	if got := m.get(t, "/v1/devices/D-1").text("data.device.status"); got != "online" {
		t.Errorf("after an hour of our own downtime the device is %s", got)
	}
	again.advance(50 * time.Second)
	if got := m.get(t, "/v1/devices/D-1").text("data.device.status"); got != "online" {
		t.Errorf("before its deadline has moved past: %s", got)
	}
	again.advance(15 * time.Second)
	again.events.await(t, event{kind: "device.offline", device: id})
}
