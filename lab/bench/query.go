package bench

import (
	"fmt"
	"time"

	"github.com/rimewatch/rimewatch"
)

// queries asks what people look at, with nothing else going on.
func (x *fleet) queries() error {
	x.only(x.ours)
	const goal = "p99 < 10, < 30 at 1,000,000"
	for _, q := range []struct {
		name, path, goal string
		n                int
	}{
		{"list", "/api/v1/devices", goal, 300},
		{"list, a page in the middle", fmt.Sprintf("/api/v1/devices?per_page=100&page=%d", max(x.n/200, 1)), goal, 200},
		{"list by status", "/api/v1/devices?status=online&per_page=100", goal, 200},
		{"search", "/api/v1/devices?q=009", goal, 200},
		{"detail", "/api/v1/devices/" + serial(x.n/2), goal, 300},
		{"alerts", "/api/v1/alerts", "p99 < 10", 300},
		{"counts of alerts", "/api/v1/alerts/counts", "p99 < 5", 300},
		{"summary", "/api/v1/devices/health/summary", "p99 < 5", 300},
		{"latest of all", "/api/v1/readings/latest", "", max(10, min(100, 1_000_000/x.n))},
	} {
		if err := x.query(q.name, q.path, q.goal, q.n); err != nil {
			return err
		}
	}
	return nil
}

func (x *fleet) query(name, path, goal string, n int) error {
	r, err := ask(x.ours, path, n)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	x.set(name+", p50 / p99, ms", goal, "%.1f / %.1f", ms(r.quantile(.5)), ms(r.quantile(.99)))
	return nil
}

// month asks for 30 days of one device, sealed and beside everything else.
func (x *fleet) month() error {
	const n = 30 * 1440
	x.only(x.ours)
	f := x.feed.over(1)
	from := f.start + f.next[0]
	ofOne := func(*feed, int, int) (int, rimewatch.Time) { return 0, rimewatch.Minute }
	r, err := x.load(x.ours, 1, time.Hour, growthBatch, upTo(n/growthBatch, f.batches(growthBatch, x.ours.token, ofOne)))
	if err != nil {
		return err
	}
	if _, err := x.ours.order("rest"); err != nil {
		return err
	}
	path := fmt.Sprintf("/api/v1/devices/%s/readings?from=%s&to=%s&step=auto&max_points=500", serial(0), from, from+rimewatch.Time(r.count)*rimewatch.Minute)
	return x.query("30 days of a device in 500 steps", path, "p50 < 10", 60)
}

func ask(s *server, path string, n int) (result, error) {
	return drive(s.addr, 1, time.Hour, 200, upTo(n, func(_, _ int, buf []byte) []byte {
		return request(buf, "GET", path, s.token, "", nil)
	}))
}
