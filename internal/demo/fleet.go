package demo

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

// resident is a device that lives in the market.
type resident struct {
	*fixture
	serial string
	unit   *simulate.Unit
	since  time.Time
}

// moveIn registers the devices and sends their past.
func (d *Demo) moveIn(ctx context.Context, sites []int64) error {
	zone, err := time.LoadLocation(timeZone)
	if err != nil {
		return err
	}
	now := d.now()
	_, offset := now.Std().In(zone).Zone()
	for i := range fixtures {
		f := &fixtures[i]
		r := &resident{fixture: f, serial: f.serial(), since: time.Now()}
		d.residents = append(d.residents, r)
		if f.trouble != healthy {
			d.Troubles = append(d.Troubles, Trouble{r.serial, f.name, places[f.place].name, f.trouble.story()})
		}
	}
	if err := d.register(ctx, sites, now); err != nil {
		return err
	}
	return d.past(ctx, func(i int) simulate.Config {
		return fixtures[i].config(d.cfg.Seed+uint64(i), now, d.cfg.Every, time.Duration(offset)*time.Second)
	}, now)
}

func (d *Demo) register(ctx context.Context, sites []int64, now rimewatch.Time) error {
	each := func(i int) error {
		r := d.residents[i]
		kind := r.registered()
		_, err := d.client.CreateDevice(ctx, r.serial, client.DeviceFields{
			Name: &r.name, EquipmentType: &kind, SiteID: &sites[r.place],
			Manufacturer: &r.manufacturer, Model: &r.model,
			InstalledAt: client.Value(now - now%rimewatch.Day - rimewatch.Time(400+37*i)*rimewatch.Day),
			Labels:      map[string]string{"source": "demo"},
			// So that the devices count as online between two readings.
			HeartbeatIntervalS: client.Value(60),
		})
		return err
	}
	return parallel(len(d.residents), len(d.residents), each)
}

// parallel runs f for 0 to n-1 on some goroutines and returns the first error.
func parallel(n, workers int, f func(int) error) error {
	var (
		wg    sync.WaitGroup
		next  atomic.Int64
		once  sync.Once
		first error
	)
	for range min(n, workers) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := f(i); err != nil {
					once.Do(func() { first = err })
					next.Store(int64(n))
				}
			}
		})
	}
	wg.Wait()
	return first
}

// pastBatch is how many readings of the past go into one request.
const pastBatch = 5_000

// past simulates what was and sends it, the longest past first so that all
// processors have work to the end.
func (d *Demo) past(ctx context.Context, config func(int) simulate.Config, now rimewatch.Time) error {
	order := make([]int, len(d.residents))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(fixtures[b].past() - fixtures[a].past()) })
	var sent atomic.Int64
	err := parallel(len(order), runtime.GOMAXPROCS(0), func(k int) error {
		i := order[k]
		n, err := d.residents[i].past(ctx, d.client, config(i), now)
		sent.Add(int64(n))
		return err
	})
	d.Readings = int(sent.Load())
	return err
}

// past simulates a resident's past and sends one reading a minute of it. It returns
// the number of readings.
func (r *resident) past(ctx context.Context, c *client.Client, config simulate.Config, now rimewatch.Time) (n int, err error) {
	if r.unit, err = simulate.New(config); err != nil {
		return 0, err
	}
	batch := make([]client.Reading, 0, pastBatch)
	next := config.Start
	for r.unit.NextAt() <= now {
		reading := r.unit.Next()
		if reading.At < next {
			continue
		}
		next += pastEvery
		batch = append(batch, r.reading(&reading))
		if len(batch) == pastBatch {
			if err := r.send(ctx, c, batch); err != nil {
				return n, err
			}
			n += len(batch)
			batch = batch[:0]
		}
	}
	return n + len(batch), r.send(ctx, c, batch)
}

func (r *resident) reading(m *rimewatch.Reading) client.Reading {
	return client.Reading{DeviceSerial: r.serial, RecordedAt: m.At, Measurements: client.MeasurementsOf(m)}
}

func (r *resident) send(ctx context.Context, c *client.Client, batch []client.Reading) error {
	if len(batch) == 0 {
		return nil
	}
	result, err := c.PostNDJSON(ctx, batch)
	if err == nil && result.Rejected > 0 {
		err = &result.Results[0]
	}
	if err == nil && result.Held > 0 {
		err = errDeleted(r.serial)
	}
	if err != nil {
		return fmt.Errorf("send readings of %s: %w", r.serial, err)
	}
	return nil
}

// live lets all residents report until ctx ends.
func (d *Demo) live(ctx context.Context) {
	var wg sync.WaitGroup
	for _, r := range d.residents {
		wg.Go(func() { r.live(ctx, d.client, d.cfg.Logger) })
	}
	wg.Wait()
}

// heartbeatEvery is the interval between a resident's heartbeats.
const heartbeatEvery = time.Minute

// live reports a reading whenever one is due. After a sleep of the machine the
// readings that were missed come together.
func (r *resident) live(ctx context.Context, c *client.Client, log *slog.Logger) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var beat time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		err := r.report(ctx, c)
		if err == nil && time.Since(beat) >= heartbeatEvery {
			beat = time.Now()
			err = r.heartbeat(ctx, c)
		}
		switch {
		case err == nil || ctx.Err() != nil:
		case over(err):
			log.Info("a demo device has stopped reporting", "serial", r.serial, "error", err)
			return
		default:
			log.Warn("a demo device could not report", "serial", r.serial, "error", err)
		}
		timer.Reset(time.Until(r.unit.NextAt().Std()))
	}
}

// over reports whether somebody has deleted the device or revoked its token.
func over(err error) bool {
	switch rimewatch.CodeOf(err) {
	case rimewatch.CodeUnknownDevice, rimewatch.CodeDeviceNotFound, rimewatch.CodeUnauthenticated:
		return true
	}
	return false
}

// report sends the readings that are due.
func (r *resident) report(ctx context.Context, c *client.Client) error {
	var due []client.Reading
	for now := rimewatch.TimeOf(time.Now()); r.unit.NextAt() <= now && len(due) < pastBatch; {
		reading := r.unit.Next()
		due = append(due, r.reading(&reading))
	}
	if len(due) != 1 {
		return r.send(ctx, c, due)
	}
	stored, _, err := c.PostReading(ctx, due[0])
	if err == nil && stored.Held {
		return errDeleted(r.serial)
	}
	return err
}

// errDeleted is the error of a device of the demo that somebody has deleted.
func errDeleted(serial string) error {
	return rimewatch.Errorf(rimewatch.CodeUnknownDevice, "The device %s does not exist.", serial)
}

func (r *resident) heartbeat(ctx context.Context, c *client.Client) error {
	_, _, err := c.Heartbeat(ctx, r.serial, client.Heartbeat{
		SentAt: rimewatch.TimeOf(time.Now()), FirmwareVersion: "2.4.1",
		RSSIdBm: client.Value(-58 - float64(r.place)*7), UptimeS: client.Value(int64(time.Since(r.since).Seconds()) + 86400*9),
	})
	return err
}
