package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/rimewatch/rimewatch"
)

// benchQuery: latencies with 10k and 100k devices, one connection at a time.
func benchQuery(o *options) error {
	for _, devices := range []int{10_000, 100_000} {
		if o.quick && devices > 10_000 {
			break
		}
		heading("Queries, %d devices, all with readings", devices)
		s, err := start("child-app", filepath.Join(o.dir, fmt.Sprintf("query%d", devices)))
		if err != nil {
			return err
		}
		if err := queries(s, devices); err != nil {
			s.kill()
			return err
		}
		s.kill()
	}
	return nil
}

func queries(s *server, devices int) error {
	if err := createDevices(s, devices, ""); err != nil {
		return err
	}
	if _, err := fill(s, devices, 10); err != nil {
		return err
	}
	if err := month(s); err != nil {
		return err
	}
	scale := float64(devices) / 100_000
	for _, q := range []struct {
		name, path string
		limit      time.Duration
		p          float64
		n          int
	}{
		{"list, first page", "/api/v1/devices", 10 * time.Millisecond, .99, 300},
		{"list, a page in the middle", fmt.Sprintf("/api/v1/devices?per_page=100&page=%d", devices/200), 10 * time.Millisecond, .99, 300},
		{"list, filtered by status", "/api/v1/devices?status=online&per_page=100", 10 * time.Millisecond, .99, 300},
		{"list, searched", "/api/v1/devices?q=009", 10 * time.Millisecond, .99, 300},
		{"detail", "/api/v1/devices/" + serial(devices/2), 10 * time.Millisecond, .99, 300},
		{"alerts", "/api/v1/alerts", 10 * time.Millisecond, .99, 300},
		{"alert counts", "/api/v1/alerts/counts", 5 * time.Millisecond, .99, 300},
		{"health summary", "/api/v1/devices/health/summary", 5 * time.Millisecond, .99, 300},
		{"latest readings of all", "/api/v1/readings/latest", time.Duration(max(15, 150*scale)) * time.Millisecond, .5, 20},
		{"30 days of one device at 1/min as 500 buckets", monthPath(), 10 * time.Millisecond, .5, 60},
	} {
		r, err := ask(s, q.path, q.n)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		d := r.quantile(q.p)
		row(q.name, fmt.Sprintf("p50 %.2f p99 %.2f ms", ms(r.quantile(.5)), ms(r.quantile(.99))), fmt.Sprintf("p%.0f < %v", q.p*100, q.limit), d < q.limit)
	}
	row("resident memory", fmt.Sprintf("%.0f MB", float64(s.rss())/1e6), "", true)
	return nil
}

func ask(s *server, path string, n int) (result, error) {
	return drive(s.addr, 1, time.Hour, 200, func(_, k int, buf []byte) []byte {
		if k >= n {
			return nil
		}
		return request(buf, "GET", path, s.token, "", nil)
	})
}

// month stores 30 days of the first device.
func month(s *server) error {
	const n = 30 * 1440
	end := rimewatch.TimeOf(time.Now()) - 6*rimewatch.Hour
	sensor := newSensor(0)
	_, err := drive(s.addr, 1, time.Hour, 200, func(_, k int, buf []byte) []byte {
		if k*batchItems >= n {
			return nil
		}
		var body []byte
		for j := k * batchItems; j < min((k+1)*batchItems, n); j++ {
			var r rimewatch.Reading
			sensor.reading(j, &r)
			r.At = sensor.at(end-n*rimewatch.Minute, j)
			body = append(appendJSON(body, serial(0), &r), '\n')
		}
		return request(buf, "POST", "/api/v1/readings/batch", s.token, "application/x-ndjson", body)
	})
	if err != nil {
		return err
	}
	_, err = s.order("rest")
	return err
}

func monthPath() string {
	to := rimewatch.TimeOf(time.Now())
	return fmt.Sprintf("/api/v1/devices/%s/readings?from=%s&to=%s&step=auto&max_points=500", serial(0), to-30*rimewatch.Day, to)
}
