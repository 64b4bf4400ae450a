package contract

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// volatile are the parts of answers that may differ from one moment to the next.
var volatile = regexp.MustCompile(`"(computed_at|server_time|data_coverage|temperature_compliance|strict_compliance|health_score|score)":("[^"]*"|[0-9.]+)`)

// TestRestart: what was answered before a restart is answered after it, and what
// was stored before is still known as a duplicate.
func TestRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, inside(dir))
	n := s.tenant(t, "Alpha")
	n.seeded(t)
	acknowledged := n.warm(t, "A-1")
	resolved := n.warm(t, "A-2")
	for id, what := range map[int]string{acknowledged: "acknowledge", resolved: "resolve"} {
		if a := s.do(t, request{method: "POST", path: fmt.Sprintf("/v1/alerts/%d/%s", id, what), token: n.full, body: `{"note":"seen"}`}); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	n.device(t, `{"serial":"P-1","labels":{"a":"b"},"limits":{"temp_max":7.25},"notes":"é"}`)
	n.device(t, `{"serial":"GONE-1"}`)
	at := s.ago(time.Hour)
	odd := fmt.Sprintf(`{"device_serial":"P-1","humidity":33.333333333333,"compressor_on":true,"start_count":17,"voltage":-999,"recorded_at":%q}`, at)
	n.reading(t, odd)
	n.reading(t, fmt.Sprintf(`{"device_serial":"GONE-1","humidity":1,"recorded_at":%q}`, at))
	for _, q := range []request{
		{method: "DELETE", path: "/v1/devices/GONE-1"},
		{method: "PATCH", path: "/v1/devices/P-1/heartbeat", body: `{"battery_pct":55.5,"rssi_dbm":-61,"uptime_s":7,"firmware_version":"9","heartbeat_interval_s":3600}`},
	} {
		q.token = n.full
		if a := s.do(t, q); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	keyed := []request{
		{method: "POST", path: "/v1/readings", body: `{"device_serial":"P-1","humidity":44,"battery_pct":9}`},
		{method: "POST", path: "/v1/readings/batch", body: `{"readings":[{"device_serial":"P-1","humidity":45},{"device_serial":"NOBODY","humidity":45}]}`},
		{method: "POST", path: "/v1/devices", body: `{"serial":"KEYED-1"}`},
	}
	first := make([]string, len(keyed))
	for i := range keyed {
		keyed[i].token, keyed[i].header = n.full, map[string]string{"Idempotency-Key": fmt.Sprint("key ", i)}
		a := s.do(t, keyed[i])
		if first[i] = string(a.body); a.status/100 != 2 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	span := "?from=" + s.ago(24*time.Hour) + "&to=" + s.ago(-time.Hour)
	paths := []string{
		"/v1/devices", "/v1/devices/A-1", "/v1/devices/P-1", "/v1/readings/latest", "/v1/alerts?status=all", "/v1/alerts/counts", "/v1/devices/health/summary",
		"/v1/devices/D-1/readings" + span, "/v1/devices/D-1/readings" + span + "&step=5m", "/v1/devices/A-1/readings" + span, "/v1/devices/P-1/readings" + span,
	}
	shot := func(n *tenant) map[string]string {
		all := make(map[string]string)
		for _, p := range paths {
			all[p] = volatile.ReplaceAllString(string(n.get(t, p).body), `"$1":…`)
		}
		return all
	}
	before := shot(n)
	s.client.CloseIdleConnections()
	if err := s.halt(); err != nil {
		t.Fatal(err)
	}
	again := start(t, inside(dir), beginning(s.now())) // what is so many seconds old is as old afterwards
	m := &tenant{service: again, id: n.id, full: n.full, feed: n.feed, read: n.read}
	for p, text := range shot(m) {
		if text != before[p] {
			t.Errorf("%s has changed (-before +after):\n%s", p, cmp.Diff(strings.Split(before[p], ","), strings.Split(text, ",")))
		}
	}
	for i, q := range keyed {
		if a := again.do(t, q); string(a.body) != first[i] || a.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%s with its key again: %d %s, not %s", q.path, a.status, a.body, first[i])
		}
		q.body = `{"serial":"ANOTHER-1","device_serial":"P-1","humidity":1}`
		if a := again.do(t, q); a.status != http.StatusUnprocessableEntity {
			t.Errorf("%s, another request with the key: %d %s", q.path, a.status, a.body)
		}
	}
	a := again.do(t, request{method: "POST", path: "/v1/readings", token: n.feed, body: odd})
	if a.status != http.StatusOK || a.at("data.duplicate") != true || !holds(numeral("33.333333333333"), a.at("data.reading.humidity")) || !holds([]any{"voltage"}, a.at("data.reading.sensor_faults")) {
		t.Errorf("the same reading again: %d %s", a.status, a.body)
	}
	if a := again.do(t, request{method: "POST", path: "/v1/devices", token: n.full, body: `{"serial":"gone-1"}`}); a.status != http.StatusCreated {
		t.Errorf("the serial of a deleted device: %d %s", a.status, a.body)
	}
	if a := m.get(t, "/v1/devices/GONE-1/readings"); a.number(t, "data.readings.#") != 0 {
		t.Errorf("the new device has the old one's history: %s", a.body)
	}
}

// TestSideBySide: what many do at the same time to one thing happens once, or in
// some order, and nothing is lost.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	const many = 16
	all := func(q func(i int) request) map[int]int {
		var mu sync.Mutex
		seen := make(map[int]int)
		var wg sync.WaitGroup
		for i := range many {
			wg.Go(func() {
				r := q(i)
				r.token = n.full
				a := s.do(t, r)
				if a.status == 503 && a.header.Get("Retry-After") != "" {
					a = s.do(t, r) // as it was asked to: the device was deleted while this was on its way
				}
				mu.Lock()
				defer mu.Unlock()
				seen[a.status]++
			})
		}
		wg.Wait()
		return seen
	}
	if got := all(func(i int) request {
		return request{method: "POST", path: "/v1/devices", body: fmt.Sprintf(`{"serial":%q}`, []string{"one-1", "ONE-1"}[i%2])}
	}); got[201] != 1 || got[409] != many-1 {
		t.Errorf("creating one device: %v", got)
	}
	if got := all(func(i int) request {
		return request{method: "PATCH", path: "/v1/devices/ONE-1", body: fmt.Sprintf(`{"limits":{%q:%d}}`, []string{"temp_max", "temp_min", "delay_s", "clear_s"}[i%4], []int{20, 2, 60, 30}[i%4])}
	}); got[200] != many {
		t.Errorf("changing one device: %v", got)
	}
	a := n.get(t, "/v1/devices/ONE-1")
	for path, want := range map[string]float64{"temp_max": 20, "temp_min": 2, "delay_s": 60, "clear_s": 30} {
		if got := a.number(t, "data.device.limits."+path); got != want {
			t.Errorf("%s was lost: %v", path, got)
		}
	}
	alert := n.warm(t, "A-1")
	if got := all(func(int) request {
		return request{method: "POST", path: fmt.Sprintf("/v1/alerts/%d/resolve", alert)}
	}); got[200] != 1 || got[409] != many-1 {
		t.Errorf("resolving one alert: %v", got)
	}
	if got := all(func(int) request { return request{method: "DELETE", path: "/v1/devices/ONE-1"} }); got[200] != 1 || got[404] != many-1 {
		t.Errorf("deleting one device: %v", got)
	}
	n.device(t, `{"serial":"TWO-1"}`)
	got := all(func(i int) request {
		switch {
		case i == many/2:
			return request{method: "DELETE", path: "/v1/devices/TWO-1"}
		case i%2 == 0:
			return request{method: "PATCH", path: "/v1/devices/TWO-1/heartbeat"}
		default:
			return request{method: "POST", path: "/v1/readings", body: `{"device_serial":"TWO-1","humidity":1}`}
		}
	})
	if got[200]+got[201]+got[202]+got[404]+got[422] != many || got[200] < 1 {
		t.Errorf("deleting while others report: %v", got)
	}
	if a := n.get(t, "/v1/devices?q=TWO"); a.number(t, "data.pagination.total") != 0 {
		t.Errorf("it is still there: %s", a.body)
	}
}
