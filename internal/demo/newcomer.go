package demo

import (
	"context"
	"math"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

// Newcomer is the serial of a probe that somebody has mounted and nobody has
// registered: what it reports waits until somebody accepts it.
const Newcomer = "NEW-PROBE"

const newcomerEvery = time.Minute

// waiting lets the newcomer report what it has measured in the last ten minutes.
func (d *Demo) waiting(ctx context.Context, now rimewatch.Time) error {
	var batch []client.Reading
	for at := now - 10*rimewatch.Minute; at < now; at += rimewatch.Minute {
		batch = append(batch, newcomerReading(at))
	}
	_, err := d.client.PostBatch(ctx, batch)
	return err
}

// newcomerReading is of a dairy case that works.
func newcomerReading(at rimewatch.Time) client.Reading {
	const cycle = 20 * rimewatch.Minute
	swing := math.Sin(2 * math.Pi * float64(at%cycle) / float64(cycle))
	return client.Reading{DeviceSerial: Newcomer, RecordedAt: at, Measurements: client.Measurements{
		ProductZoneTemp: client.Value(math.Round((3.2+0.8*swing)*100) / 100),
		Humidity:        client.Value(math.Round(70 - 4*swing)),
	}}
}

// arrive lets the newcomer report on until ctx ends, accepted or not.
func (d *Demo) arrive(ctx context.Context) {
	for range ticker.Every(ctx.Done(), newcomerEvery, nil) {
		if _, _, err := d.client.PostReading(ctx, newcomerReading(rimewatch.TimeOf(time.Now()))); err != nil && ctx.Err() == nil {
			d.cfg.Logger.Warn("the demo's new probe could not report", "error", err)
		}
	}
}
