package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
)

// benchAlerts: how soon silence is noticed with very many devices, and how soon
// an alert is to be seen after the reading that completed its condition, under
// load.
func benchAlerts(o *options) error {
	devices := 100_000
	if o.quick {
		devices = 10_000
	}
	heading("Alerts: %d devices fall silent at once", devices)
	s, err := start("child-app", filepath.Join(o.dir, "alerts"))
	if err != nil {
		return err
	}
	defer s.kill()
	api, err := client.New("http://"+s.addr, s.token, nil)
	if err != nil {
		return err
	}
	if err := benchSilence(o, api, s, devices); err != nil {
		return err
	}
	heading("Alerts: under 10,000 readings a second")
	return benchVisible(o, api)
}

// offlineAfter is the silence after which the devices of benchSilence are
// offline: long enough to hear of all of them once before.
const offlineAfter = 60 * time.Second

func benchSilence(o *options, api *client.Client, s *server, devices int) error {
	ctx := context.Background()
	if err := createDevices(s, devices, fmt.Sprintf(`,"offline_after_s":%d`, int(offlineAfter.Seconds()))); err != nil {
		return err
	}
	const batch = 5000
	sent := make([]rimewatch.Time, devices)
	for from := 0; from < devices; from += batch {
		var rs []client.Reading
		now := rimewatch.TimeOf(time.Now())
		for i := from; i < min(from+batch, devices); i++ {
			sent[i] = now
			rs = append(rs, client.Reading{DeviceSerial: serial(i), Measurements: client.Measurements{ProductZoneTemp: client.Value(-20.0)}})
		}
		if _, err := api.PostBatch(ctx, rs); err != nil {
			return err
		}
	}
	last := time.Now()
	if err := o.profiled(s, "silence", func() error { return allSilent(api, last, devices) }); err != nil {
		return err
	}
	row("all to be seen after the last deadline", fmt.Sprintf("%.2f s", (time.Since(last)-offlineAfter).Seconds()), "", true)
	var late []time.Duration
	for a, err := range api.Alerts(ctx, client.AlertFilter{Status: rimewatch.AlertActive, Type: rimewatch.DeviceOffline}) {
		if err != nil {
			return err
		}
		var i int
		if _, err := fmt.Sscanf(a.DeviceSerial, "BENCH-%d", &i); err != nil {
			return err
		}
		// Counted from before the reading was sent: the true lateness is less.
		late = append(late, a.TriggeredAt.Sub(sent[i].Add(offlineAfter)))
	}
	slices.Sort(late)
	if len(late) != devices {
		return fmt.Errorf("%d alerts of %d devices", len(late), devices)
	}
	row("offline after its deadline, median", fmt.Sprintf("%.2f s", late[len(late)/2].Seconds()), "", true)
	worst := late[len(late)-1]
	row("  worst", fmt.Sprintf("%.2f s", worst.Seconds()), "≤ 5 s", worst <= 5*time.Second)
	return nil
}

// allSilent waits until every device has its alert.
func allSilent(api *client.Client, last time.Time, devices int) error {
	ctx := context.Background()
	for {
		counts, err := api.AlertCounts(ctx, 0)
		if err != nil {
			return err
		}
		if counts.ByStatus.Active >= devices {
			return nil
		}
		if time.Since(last) > 3*offlineAfter {
			return fmt.Errorf("only %d alerts", counts.ByStatus.Active)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// benchVisible measures the time from the acknowledgement of a reading that
// completes a condition to the alert in GET /v1/alerts; benchNotify measures it to
// the receiver of a notification.
func benchVisible(o *options, api *client.Client) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 300
	if o.quick {
		n = 60
	}
	zero := 0
	for i := range n {
		_, err := api.CreateDevice(ctx, fmt.Sprintf("HOT-%04d", i), client.DeviceFields{
			EquipmentType: client.Value("walkin_freezer"), Limits: &rimewatch.LimitOverrides{DelayS: &zero},
		})
		if err != nil {
			return err
		}
	}
	load := make(chan result10k, 1)
	go func() { load <- drizzle(ctx, api) }()
	var seen []time.Duration
	for i := range n {
		name := fmt.Sprintf("HOT-%04d", i)
		if _, _, err := api.PostReading(ctx, client.Reading{DeviceSerial: name, Measurements: client.Measurements{ProductZoneTemp: client.Value(-10.0)}}); err != nil {
			return err
		}
		acked := time.Now()
		for {
			page, _, err := api.AlertPage(ctx, client.AlertFilter{Status: rimewatch.AlertActive, DeviceSerial: name}, client.Page{})
			if err != nil {
				return err
			}
			if len(page) > 0 {
				break
			}
			if time.Since(acked) > 10*time.Second {
				return fmt.Errorf("no alert of %s", name)
			}
		}
		seen = append(seen, time.Since(acked))
		time.Sleep(20 * time.Millisecond)
	}
	cancel()
	r := <-load
	if r.err != nil {
		return r.err
	}
	slices.Sort(seen)
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }
	row("readings meanwhile", fmt.Sprintf("%.0f/s", r.rate), "≥ 9500", r.rate >= 9500)
	row("alert to be seen after the acknowledgement, median", ms(seen[len(seen)/2]), "", true)
	row("  p99", ms(seen[len(seen)*99/100]), "", true)
	row("  worst", ms(seen[len(seen)-1]), "≤ 200 ms", seen[len(seen)-1] <= 200*time.Millisecond)
	return nil
}

type result10k struct {
	rate float64 // readings a second
	err  error
}

// drizzle sends 10,000 readings a second, in batches of 500, until ctx ends.
func drizzle(ctx context.Context, api *client.Client) result10k {
	const batch, every = 500, 50 * time.Millisecond
	began := time.Now()
	sent := 0
	tick := time.NewTicker(every)
	defer tick.Stop()
	for k := 0; ; k++ {
		select {
		case <-ctx.Done():
			return result10k{rate: float64(sent) / time.Since(began).Seconds()}
		case <-tick.C:
		}
		rs := make([]client.Reading, batch)
		for i := range rs {
			rs[i] = client.Reading{DeviceSerial: serial((k*batch + i) % 10_000), Measurements: client.Measurements{ProductZoneTemp: client.Value(-20.0), AmpDraw: client.Value(12.5)}}
		}
		if _, err := api.PostBatch(context.WithoutCancel(ctx), rs); err != nil {
			return result10k{err: err}
		}
		sent += batch
	}
}
