package bench

import (
	"fmt"
	"path/filepath"
	"time"
)

const (
	batchDevices = 1000
	batchItems   = 1000
	batchConns   = 4
)

// benchBatch: JSON and NDJSON batches in the friendliest order, against SQLite
// with a row for each reading.
func benchBatch(o *options) error {
	heading("Batches of %d readings, ten minutes of a device in each, %d connections", batchItems, batchConns)
	ours, err := start("child-app", filepath.Join(o.dir, "batch"))
	if err != nil {
		return err
	}
	defer ours.kill()
	if err := ours.register(batchDevices); err != nil {
		return err
	}
	rows, err := start("child-rows", o.dir)
	if err != nil {
		return err
	}
	defer rows.kill()
	f, err := newFeed()
	if err != nil {
		return err
	}
	f = f.fleet(batchDevices).over(batchConns)
	sent := int64(0)
	for _, form := range []batchForm{asJSON, asNDJSON} {
		name := form.contentType
		var mine result
		err = o.profiled(ours, "batch"+name[len("application/"):], func() (err error) {
			mine, err = drive(ours.addr, batchConns, o.span(), 200, f.bulk(form, batchItems, ours.token, friendly))
			return err
		})
		if err != nil {
			return err
		}
		sent += mine.count * batchItems
		rate := mine.rate() * batchItems
		row(name+", durable", fmt.Sprintf("%.0f/s", rate), "≥ 500000", rate >= 500_000)
		row("  p50 / p99 / worst batch", fmt.Sprintf("%.1f / %.1f / %.1f ms", ms(mine.quantile(.5)), ms(mine.quantile(.99)), ms(mine.quantile(1))), "", true)
		if form.contentType != asNDJSON.contentType {
			continue
		}
		plain, err := drive(rows.addr, batchConns, o.span()/2, 200, f.bulk(form, batchItems, rows.token, friendly))
		if err != nil {
			return err
		}
		row("SQLite, a row for each reading, nothing decoded", fmt.Sprintf("%.0f/s", plain.rate()*batchItems), "", true)
		row("  ours against it", fmt.Sprintf("%.1f ×", rate/(plain.rate()*batchItems)), "", true)
	}
	worst, err := ours.order("worst")
	if err != nil {
		return err
	}
	row("worst commit, sealing beside it", fmt.Sprintf("%.1f ms", float64(worst[0])/1e6), "< 50 ms", worst[0] < 50e6)
	stats, err := ours.order("stats")
	if err != nil {
		return err
	}
	if stats[1] != sent {
		return fmt.Errorf("%d readings are stored, %d were acknowledged", stats[1], sent)
	}
	return nil
}

// benchRest: bytes a reading at rest.
func benchRest(o *options) error {
	devices, n := 10_000, 1000
	if o.quick {
		devices = 1000
	}
	heading("At rest: %d devices × %d readings, one a minute with jitter", devices, n)
	s, err := start("child-app", filepath.Join(o.dir, "rest"))
	if err != nil {
		return err
	}
	defer s.kill()
	if err := s.register(devices); err != nil {
		return err
	}
	f, err := newFeed()
	if err != nil {
		return err
	}
	f = f.fleet(devices).over(batchConns)
	began := time.Now()
	if _, err := drive(s.addr, batchConns, time.Hour, 200, upTo(devices*n/batchItems/batchConns, f.batches(batchItems, s.token, friendly))); err != nil {
		return err
	}
	row("stored, generator included", fmt.Sprintf("%.0f/s", float64(devices*n)/time.Since(began).Seconds()), "", true)
	began = time.Now()
	got, err := s.order("rest")
	if err != nil {
		return err
	}
	row("sealing and compacting what was left", fmt.Sprintf("%.1f s", time.Since(began).Seconds()), "", true)
	per := float64(got[0]) / float64(got[1])
	row(fmt.Sprintf("%d readings, %.1f MB", got[1], float64(got[0])/1e6), fmt.Sprintf("%.2f B/reading", per), "≤ 8", per <= 8)
	if got[1] != int64(devices*n) {
		return fmt.Errorf("%d readings stored, want %d", got[1], devices*n)
	}
	if err := s.stop(); err != nil {
		return err
	}
	again, err := start("child-app", filepath.Join(o.dir, "rest"))
	if err != nil {
		return err
	}
	defer again.kill()
	row(fmt.Sprintf("ready with %d readings stored", devices*n), fmt.Sprintf("%.2f s", again.started.Seconds()), "< 2 s", again.started < 2*time.Second)
	row("  resident memory", fmt.Sprintf("%.0f MB", float64(again.rss())/1e6), "", true)
	return nil
}
