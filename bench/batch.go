package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/rimewatch/rimewatch"
)

const (
	batchDevices = 1000
	batchItems   = 1000
	batchConns   = 4
)

// benchBatch: JSON and NDJSON batches of 1,000 readings, against the bare
// handler and against SQLite with a row for each reading.
func benchBatch(o *options) error {
	heading("Batches of %d readings, %d connections", batchItems, batchConns)
	ours, err := start("child-app", filepath.Join(o.dir, "batch"))
	if err != nil {
		return err
	}
	defer ours.kill()
	if err := createDevices(ours, batchDevices, ""); err != nil {
		return err
	}
	yard, err := start("child-bare")
	if err != nil {
		return err
	}
	defer yard.kill()
	rows, err := start("child-rows", o.dir)
	if err != nil {
		return err
	}
	defer rows.kill()
	day := rimewatch.TimeOf(time.Now()) - 20*rimewatch.Day
	for i, form := range []string{"application/json", "application/x-ndjson"} {
		bodies := batchBodies(form, day+rimewatch.Time(i)*8*rimewatch.Day, o)
		bare, err := drive(yard.addr, batchConns, o.span()/2, 201, batches(bodies, yard.token, form, false))
		if err != nil {
			return err
		}
		var mine result
		err = o.profiled(ours, "batch"+form[len("application/"):], func() (err error) {
			mine, err = drive(ours.addr, batchConns, time.Hour, 200, batches(bodies, ours.token, form, true))
			return err
		})
		if err != nil {
			return err
		}
		rate := mine.rate() * batchItems
		row(form+", bare handler", fmt.Sprintf("%.0f/s", bare.rate()*batchItems), "", true)
		row(form+", durable", fmt.Sprintf("%.0f/s", rate), "≥ 500000", rate >= 500_000)
		row("  ratio to the bare handler", fmt.Sprintf("%.2f", rate/(bare.rate()*batchItems)), "", true)
		row("  p50 / p99 / worst batch", fmt.Sprintf("%.1f / %.1f / %.1f ms", ms(mine.quantile(.5)), ms(mine.quantile(.99)), ms(mine.quantile(1))), "", true)
		if i == 1 {
			plain, err := drive(rows.addr, batchConns, o.span()/2, 200, batches(bodies, rows.token, form, false))
			if err != nil {
				return err
			}
			row("SQLite, a row for each reading, nothing decoded", fmt.Sprintf("%.0f/s", plain.rate()*batchItems), "", true)
			row("  ours against it", fmt.Sprintf("%.1f ×", rate/(plain.rate()*batchItems)), "", true)
		}
	}
	worst, err := ours.order("worst")
	if err != nil {
		return err
	}
	row("worst commit, sealing beside it", fmt.Sprintf("%.1f ms", float64(worst[0])/1e6), "< 50 ms", worst[0] < 50e6)
	return nil
}

// batchBodies makes the bodies beforehand: the generator must not be what is
// measured. A worker owns a quarter of the devices, as a gateway does, and each
// of its bodies holds their next four minutes.
func batchBodies(form string, from rimewatch.Time, o *options) [][]byte {
	count := 4000
	if o.quick {
		count = 800
	}
	const devices, minutes = batchDevices / batchConns, batchItems * batchConns / batchDevices
	sensors := make([]*sensor, batchDevices)
	for i := range sensors {
		sensors[i] = newSensor(i)
	}
	bodies := make([][]byte, count)
	for n := range bodies {
		b := make([]byte, 0, batchItems*300)
		if form == "application/json" {
			b = append(b, `{"readings":[`...)
		}
		for k := range batchItems {
			i, minute := n%batchConns*devices+k%devices, n/batchConns*minutes+k/devices
			var r rimewatch.Reading
			sensors[i].reading(minute, &r)
			r.At = sensors[i].at(from, minute)
			if k > 0 && form == "application/json" {
				b = append(b, ',')
			}
			b = appendJSON(b, serial(i), &r)
			if form != "application/json" {
				b = append(b, '\n')
			}
		}
		if form == "application/json" {
			b = append(b, `]}`...)
		}
		bodies[n] = b
	}
	return bodies
}

// batches deals the bodies out to the workers; once uses each one time only.
func batches(bodies [][]byte, token, form string, once bool) func(worker, n int, buf []byte) []byte {
	return func(w, n int, buf []byte) []byte {
		i := n*batchConns + w
		if i >= len(bodies) {
			if once {
				return nil
			}
			i %= len(bodies)
		}
		return request(buf, "POST", "/api/v1/readings/batch", token, form, bodies[i])
	}
}

// fill stores n readings of every device, minute by minute, up to now, and
// leaves the last few minutes out so that none lies in the future.
func fill(s *server, devices, n int) (time.Duration, error) {
	const conns, perDevice = 4, 10
	group := batchItems / perDevice // devices in a request
	units, err := simulated(min(devices, 500), n)
	if err != nil {
		return 0, err
	}
	jitter := make([]*rand.Rand, devices) // each is used by one worker
	for i := range jitter {
		jitter[i] = rand.New(rand.NewPCG(uint64(i), 5))
	}
	began := time.Now()
	_, err = drive(s.addr, conns, time.Hour, 200, func(w, k int, buf []byte) []byte {
		// A worker owns every fourth group of devices and walks it through time.
		steps := (n + perDevice - 1) / perDevice
		mine := (k/steps)*conns + w
		if mine*group >= devices {
			return nil
		}
		step := k % steps
		body := make([]byte, 0, batchItems*300)
		for i := mine * group; i < min((mine+1)*group, devices); i++ {
			unit := units[i%len(units)]
			for j := step * perDevice; j < min((step+1)*perDevice, n); j++ {
				r := unit[j]
				r.At += rimewatch.Time(jitter[i].IntN(4001)) - 2000
				body = append(appendJSON(body, serial(i), &r), '\n')
			}
		}
		return request(buf, "POST", "/api/v1/readings/batch", s.token, "application/x-ndjson", body)
	})
	return time.Since(began), err
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
	if err := createDevices(s, devices, ""); err != nil {
		return err
	}
	took, err := fill(s, devices, n)
	if err != nil {
		return err
	}
	row("stored, generator included", fmt.Sprintf("%.0f/s", float64(devices*n)/took.Seconds()), "", true)
	began := time.Now()
	got, err := s.order("rest")
	if err != nil {
		return err
	}
	row("sealing and compacting what was left", fmt.Sprintf("%.1f s", time.Since(began).Seconds()), "", true)
	per := float64(got[0]) / float64(got[1])
	row(fmt.Sprintf("%d readings, %.1f MB", got[1], float64(got[0])/1e6), fmt.Sprintf("%.2f B/reading", per), "≤ 9", per <= 9)
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
