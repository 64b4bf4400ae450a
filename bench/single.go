package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/rimewatch/rimewatch"
)

const singleDevices = 10_000

// benchSingle: durable POST /v1/readings against a handler that only reads and
// answers, alternating, so that both see the same machine.
func benchSingle(o *options) error {
	heading("Single durable POST /api/v1/readings, against a handler that only reads and answers")
	ours, err := start("child-app", filepath.Join(o.dir, "single"))
	if err != nil {
		return err
	}
	defer ours.kill()
	yard, err := start("child-bare")
	if err != nil {
		return err
	}
	defer yard.kill()
	if err := createDevices(ours, singleDevices, ""); err != nil {
		return err
	}
	for _, conns := range []int{64, 256} {
		var mine, bare result
		rounds := 3
		if o.quick {
			rounds = 1
		}
		for range rounds {
			before := yard.cpu()
			b, err := drive(yard.addr, conns, o.span()/2, 201, singles(yard.token))
			if err != nil {
				return fmt.Errorf("bare: %w", err)
			}
			b.cpu = yard.cpu() - before
			before = ours.cpu()
			var m result
			err = o.profiled(ours, fmt.Sprintf("single%d", conns), func() (err error) {
				m, err = drive(ours.addr, conns, o.span(), 201, singles(ours.token))
				return err
			})
			if err != nil {
				return err
			}
			m.cpu = ours.cpu() - before
			if mine.elapsed == 0 || m.rate() > mine.rate() {
				mine = m
			}
			if bare.elapsed == 0 || b.rate() > bare.rate() {
				bare = b
			}
		}
		row(fmt.Sprintf("bare handler, %d connections", conns), fmt.Sprintf("%.0f/s", bare.rate()), "", true)
		row(fmt.Sprintf("durable POST, %d connections", conns), fmt.Sprintf("%.0f/s", mine.rate()), "", true)
		row("  p50 / p99 / worst", fmt.Sprintf("%.1f / %.1f / %.1f ms", ms(mine.quantile(.5)), ms(mine.quantile(.99)), ms(mine.quantile(1))), "", true)
		row("  server CPU a request, bare / durable", fmt.Sprintf("%.1f / %.1f µs", bare.cpuEach(), mine.cpuEach()), "", true)
		ratio := mine.rate() / bare.rate()
		row("  ratio", fmt.Sprintf("%.2f", ratio), "≥ 0.60", ratio >= 0.60)
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// singles makes each worker post for its own devices, a reading a time.
func singles(token string) func(worker, n int, buf []byte) []byte {
	base := rimewatch.TimeOf(time.Now())
	return func(w, n int, buf []byte) []byte {
		r := rimewatch.Reading{At: base - 24*rimewatch.Hour + rimewatch.Time(n)}
		for f := range rimewatch.NumFields {
			r.Values[f] = float64((n*7+int(f)*13)%400)/10 - 0.5*float64(f%2)
		}
		r.Values[rimewatch.Humidity], r.Values[rimewatch.Voltage], r.Values[rimewatch.AmpDraw], r.Values[rimewatch.VibrationLevel] = 45.5, 229.8, 14.02, 1.1
		body := appendJSON(make([]byte, 0, 400), serial((w*37+n*256)%singleDevices), &r)
		return request(buf, "POST", "/api/v1/readings", token, "application/json", body)
	}
}
