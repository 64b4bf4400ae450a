package bench

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	notifyDevices = 1000
	notifyRate    = 10_000                // readings a second beside the alerts
	notifyEvery   = 50 * time.Millisecond // between two alerts
	outageAlerts  = 10_000                // alerts at once
	outageRate    = 2_000                 // readings a second beside them
)

// benchNotify: how soon after the acknowledged reading that completes its
// condition an alert is at its receiver, while other readings come in.
func benchNotify(o *options) error {
	heading("Notifications: %d readings/s beside them", notifyRate)
	s, err := start("child-app", filepath.Join(o.dir, "notify"))
	if err != nil {
		return err
	}
	defer s.kill()
	n := int(o.span() / notifyEvery)
	if err := createDevices(s, notifyDevices, ""); err != nil {
		return err
	}
	if err := createHot(s, "ONE", n); err != nil {
		return err
	}
	box := &box{came: make(map[string]time.Time)}
	receiver := httptest.NewServer(box)
	defer receiver.Close()
	if _, err := s.order("webhook " + receiver.URL + " whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))); err != nil {
		return err
	}
	acked := make(chan map[string]time.Time, 1)
	failed := make(chan error, 1)
	go func() {
		m, err := heat(s, n)
		acked <- m
		failed <- err
	}()
	m, err := paced(s, notifyRate, 32, o.span(), nil)
	if err != nil {
		return err
	}
	at := <-acked
	if err := <-failed; err != nil {
		return err
	}
	lat := box.wait(at, 5*time.Second)
	row(fmt.Sprintf("alerts at %.0f readings/s, of which arrived", m.rate()), fmt.Sprintf("%d of %d", len(lat.times), n), "all", len(lat.times) == n)
	row("acknowledged → at the webhook's receiver, p50 / p99 / worst", fmt.Sprintf("%.1f / %.1f / %.1f ms", ms(lat.quantile(.5)), ms(lat.quantile(.99)), ms(lat.quantile(1))), "worst < 200 ms", lat.quantile(1) < 200*time.Millisecond)
	row("  POST beside it, p50 / p99 / worst", fmt.Sprintf("%.1f / %.1f / %.1f ms", ms(m.quantile(.5)), ms(m.quantile(.99)), ms(m.quantile(1))), "", true)
	return notifyOutage(o, s, box)
}

// benchEvents: how soon after the acknowledged reading that makes it happen an event is at a
// program, while other readings come in.
func benchEvents(o *options) error {
	heading("Events to a webhook: %d readings/s beside them", notifyRate)
	s, err := start("child-app", filepath.Join(o.dir, "events"))
	if err != nil {
		return err
	}
	defer s.kill()
	n := int(o.span() / notifyEvery)
	if err := createDevices(s, notifyDevices, ""); err != nil {
		return err
	}
	if err := createHot(s, "ONE", n); err != nil {
		return err
	}
	box := &box{came: make(map[string]time.Time)}
	receiver := httptest.NewServer(box)
	defer receiver.Close()
	if _, err := s.order("program " + receiver.URL + " whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))); err != nil {
		return err
	}
	acked := make(chan map[string]time.Time, 1)
	failed := make(chan error, 1)
	go func() {
		m, err := heat(s, n)
		acked <- m
		failed <- err
	}()
	m, err := paced(s, notifyRate, 32, o.span(), nil)
	if err != nil {
		return err
	}
	at := <-acked
	if err := <-failed; err != nil {
		return err
	}
	lat := box.wait(at, 10*time.Second)
	row(fmt.Sprintf("events at %.0f readings/s, of which arrived", m.rate()), fmt.Sprintf("%d of %d", len(lat.times), n), "all", len(lat.times) == n)
	row("acknowledged → at the program, p50 / p99 / worst", fmt.Sprintf("%.1f / %.1f / %.1f ms", ms(lat.quantile(.5)), ms(lat.quantile(.99)), ms(lat.quantile(1))), "p99 < 250 ms", lat.quantile(.99) < 250*time.Millisecond)
	row("  POST beside it, p50 / p99 / worst", fmt.Sprintf("%.1f / %.1f / %.1f ms", ms(m.quantile(.5)), ms(m.quantile(.99)), ms(m.quantile(1))), "", true)
	return nil
}

// notifyOutage: thousands of alerts in one request hold neither readings nor
// each other up for long.
func notifyOutage(o *options, s *server, box *box) error {
	n := outageAlerts
	if o.quick {
		n /= 10
	}
	if err := createHot(s, "ALL", n); err != nil {
		return err
	}
	var batch []byte
	for i := range n {
		batch = fmt.Appendf(batch, `{"device_serial":%q,"product_zone_temp":9}`+"\n", hot("ALL", i))
	}
	c, err := dial(s.addr)
	if err != nil {
		return err
	}
	defer c.c.Close()
	var m result
	done := make(chan error, 1)
	go func() {
		var err error
		m, err = paced(s, outageRate, 8, o.span(), nil)
		done <- err
	}()
	status, err := c.do(request(nil, "POST", "/api/v1/readings/batch", s.token, "application/x-ndjson", batch), nil)
	if err != nil || status != http.StatusOK {
		return fmt.Errorf("status %d: %w", status, err)
	}
	began := time.Now()
	at := make(map[string]time.Time, n)
	for i := range n {
		at[hot("ALL", i)] = began
	}
	lat := box.wait(at, time.Minute)
	if err := <-done; err != nil {
		return err
	}
	row(fmt.Sprintf("%d alerts at once, of which arrived", n), fmt.Sprint(len(lat.times)), "all", len(lat.times) == n)
	row("  all but one percent after / the last after", fmt.Sprintf("%.1f / %.1f s", lat.quantile(.99).Seconds(), lat.quantile(1).Seconds()), "", true)
	row(fmt.Sprintf("  POST beside it at %d/s, p50 / p99 / worst", outageRate), fmt.Sprintf("%.1f / %.1f / %.1f ms", ms(m.quantile(.5)), ms(m.quantile(.99)), ms(m.quantile(1))), "worst < 100 ms", m.quantile(1) < 100*time.Millisecond)
	return nil
}

func hot(kind string, i int) string { return fmt.Sprintf("%s-%05d", kind, i) }

// createHot makes devices of which one warm reading is an alert.
func createHot(s *server, kind string, n int) error {
	const conns = 16
	_, err := drive(s.addr, conns, time.Hour, http.StatusCreated, func(w, k int, buf []byte) []byte {
		i := k*conns + w
		if i >= n {
			return nil
		}
		body := fmt.Appendf(nil, `{"serial":%q,"equipment_type":"other","limits":{"temp_min":0,"temp_max":5,"delay_s":0}}`, hot(kind, i))
		return request(buf, "POST", "/api/v1/devices", s.token, "application/json", body)
	})
	return err
}

// heat makes one device after the other too warm, and returns when each reading
// was acknowledged.
func heat(s *server, n int) (map[string]time.Time, error) {
	acked := make(map[string]time.Time, n)
	c, err := dial(s.addr)
	if err != nil {
		return acked, err
	}
	defer c.c.Close()
	tick := time.NewTicker(notifyEvery)
	defer tick.Stop()
	var answer []byte
	for i := range n {
		<-tick.C
		body := fmt.Appendf(nil, `{"device_serial":%q,"product_zone_temp":9}`, hot("ONE", i))
		status, err := c.do(request(nil, "POST", "/api/v1/readings", s.token, "application/json", body), &answer)
		if err != nil || status != http.StatusCreated {
			return acked, fmt.Errorf("status %d: %w", status, err)
		}
		acked[hot("ONE", i)] = time.Now()
	}
	return acked, nil
}

// box is a webhook's receiver.
type box struct {
	mu   sync.Mutex
	came map[string]time.Time
}

func (b *box) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	now := time.Now()
	var m struct {
		Data struct {
			Device struct{ Serial string } // of a message
			Alert  struct {
				Serial string `json:"device_serial"` // of an event
			}
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &m) != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if serial := cmp.Or(m.Data.Device.Serial, m.Data.Alert.Serial); b.came[serial].IsZero() {
		b.came[serial] = now
	}
}

// wait returns how long after their readings the messages came.
func (b *box) wait(acked map[string]time.Time, patience time.Duration) (lat result) {
	missing := func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		for serial := range acked {
			if _, ok := b.came[serial]; !ok {
				return true
			}
		}
		return false
	}
	for began := time.Now(); missing() && time.Since(began) < patience; {
		time.Sleep(20 * time.Millisecond)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for serial, at := range acked {
		if came, ok := b.came[serial]; ok {
			lat.times = append(lat.times, max(0, came.Sub(at)))
		}
	}
	slices.Sort(lat.times)
	return lat
}
