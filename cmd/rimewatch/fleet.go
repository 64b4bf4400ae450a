package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

// fleet reports through the API.
type fleet struct {
	api      *client.Client
	interval time.Duration
	devices  []*reporter // in the order in which they report
	started  time.Time

	acks            latencies // of readings
	readings, beats atomic.Int64
	skipped         atomic.Int64

	mu       sync.Mutex
	failures map[string]*failure // by kind
}

// failure counts failed requests of one kind.
type failure struct {
	count int
	first string
}

// reporter is one device. busy keeps two workers from being it at once.
type reporter struct {
	serial string
	unit   *simulate.Unit
	due    rimewatch.Time // of its next report; of the dispatcher
	beat   time.Time      // of its last heartbeat
	busy   atomic.Bool
}

// registerBatch is how many devices are created in one request.
const registerBatch = 2_000

// register creates the devices that are missing. A token that may not look or
// create is let go on: the devices may be there.
func (f *fleet) register(ctx context.Context, c *simulateCmd, p *progress) error {
	members, err := c.members(rimewatch.MaxTime / 2)
	if err != nil {
		return err
	}
	known := make(map[string]bool)
	for d, err := range f.api.Devices(ctx, client.DeviceFilter{}) {
		if rimewatch.CodeOf(err) == rimewatch.CodeForbidden {
			return nil
		}
		if err != nil {
			return err
		}
		known[rimewatch.SerialKey(d.Serial)] = true
	}
	missing := slices.DeleteFunc(members, func(m simulate.Member) bool { return known[rimewatch.SerialKey(m.Serial)] })
	for batch := range slices.Chunk(missing, registerBatch) {
		result, err := f.api.ImportDevices(ctx, c.importFile(batch), false)
		if rimewatch.CodeOf(err) == rimewatch.CodeForbidden {
			return fmt.Errorf("%s of %s are missing, and the token does not permit creating devices", grouped(len(missing)), grouped(c.Devices))
		}
		if err != nil {
			return err
		}
		for i := range result.Rows {
			if r := &result.Rows[i]; r.Action == "error" {
				return fmt.Errorf("create %s: %v", r.Serial, r.Errors)
			}
		}
	}
	if len(missing) > 0 {
		p.show("created %s", plural(len(missing), "device"))
	}
	return nil
}

// importFile describes devices in CSV.
func (c *simulateCmd) importFile(members []simulate.Member) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"serial", "name", "equipment_type", "heartbeat_interval_s", "label:source"})
	every := strconv.Itoa(max(1, int(heartbeatEvery(c.Interval).Seconds())))
	for i := range members {
		m := &members[i]
		_ = w.Write([]string{m.Serial, m.Name, m.Config.Equipment, every, "simulation"})
	}
	w.Flush()
	return b.Bytes()
}

// heartbeatEvery is the time between two heartbeats of a device. Together with
// its readings they stay below what the service takes from one device.
func heartbeatEvery(interval time.Duration) time.Duration { return max(interval, 10*time.Second) }

// order sorts the devices by the moment of their first report. They all have
// one interval, so this is their order for ever.
func (f *fleet) order() {
	slices.SortFunc(f.devices, func(a, b *reporter) int { return cmp.Compare(a.due, b.due) })
}

// run lets the devices report until ctx ends and waits for what is under way.
func (f *fleet) run(ctx context.Context, concurrency int, p *progress) {
	f.failures = make(map[string]*failure)
	f.started = time.Now()
	calls, cancel := lingering(ctx)
	defer cancel()
	due := make(chan *reporter)
	var workers sync.WaitGroup
	for range min(concurrency, len(f.devices)) {
		workers.Go(func() {
			for d := range due {
				f.visit(calls, d)
				d.busy.Store(false)
			}
		})
	}
	f.dispatch(ctx, due, p)
	close(due)
	workers.Wait()
}

// dispatch hands out the devices when they are due.
func (f *fleet) dispatch(ctx context.Context, due chan<- *reporter, p *progress) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		for _, d := range f.devices {
			if !f.await(ctx, timer, d.due, p) {
				return
			}
			d.due = d.due.Add(f.interval)
			if d.busy.Swap(true) {
				f.skipped.Add(1)
				continue
			}
			select {
			case due <- d:
			case <-ctx.Done():
				return
			}
		}
	}
}

// await waits for a moment; false when ctx ended first.
func (f *fleet) await(ctx context.Context, timer *time.Timer, at rimewatch.Time, p *progress) bool {
	for {
		if p.due() {
			p.show("%s  %s readings (%.0f/s)  p50 %s  p99 %s  %s failed", time.Since(f.started).Round(time.Second), grouped(int(f.readings.Load())),
				float64(f.readings.Load())/time.Since(f.started).Seconds(), short(f.acks.quantile(0.5)), short(f.acks.quantile(0.99)), grouped(f.failed()))
		}
		wait := time.Until(at.Std())
		if wait <= 0 {
			return ctx.Err() == nil
		}
		timer.Reset(min(wait, terminalEvery))
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
		}
	}
}

// visit has a device send its due reports.
func (f *fleet) visit(ctx context.Context, d *reporter) {
	if now := time.Now(); now.Sub(d.beat) >= heartbeatEvery(f.interval) {
		d.beat = now
		hb := client.Heartbeat{SentAt: rimewatch.TimeOf(now), FirmwareVersion: "sim-1", UptimeS: client.Value(int64(now.Sub(f.started).Seconds()))}
		if _, _, err := f.api.Heartbeat(ctx, d.serial, hb); err != nil {
			f.fail(err)
		} else {
			f.beats.Add(1)
		}
	}
	for d.unit.NextAt() <= rimewatch.TimeOf(time.Now()) {
		m := d.unit.Next()
		start := time.Now()
		_, _, err := f.api.PostReading(ctx, client.Reading{DeviceSerial: d.serial, RecordedAt: m.At, Measurements: client.MeasurementsOf(&m)})
		if err != nil {
			f.fail(err)
			continue
		}
		f.acks.add(time.Since(start))
		f.readings.Add(1)
	}
}

func (f *fleet) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := kindOf(err)
	x := f.failures[kind]
	if x == nil {
		x = &failure{first: oneLine(err)}
		f.failures[kind] = x
	}
	x.count++
}

func (f *fleet) failed() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.failures {
		n += x.count
	}
	return n
}
