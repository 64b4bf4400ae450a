package demo

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

// Newcomer is the serial of a probe that somebody has mounted and nobody has
// registered: what it reports waits until somebody accepts it.
const Newcomer = "NEW-PROBE"

const newcomerEvery = time.Minute

// Board is the name of a board with two probes, which waits likewise.
const Board = "island-board"

// waiting lets the newcomer and the board report what they have measured in the last ten
// minutes.
func (d *Demo) waiting(ctx context.Context, now rimewatch.Time) error {
	var batch []client.Reading
	for at := now - 10*rimewatch.Minute; at < now; at += rimewatch.Minute {
		batch = append(batch, newcomerReading(at))
		if err := d.sendBoard(ctx, at); err != nil {
			return err
		}
	}
	_, err := d.client.PostBatch(ctx, batch)
	return err
}

// sendBoard sends the measurements of the board's probes, in a freezer and in a cooler.
func (d *Demo) sendBoard(ctx context.Context, at rimewatch.Time) error {
	body := fmt.Sprintf(`{"device":%q,"time":%q,"DS18B20-1":{"Id":"0316A2794C21","Temperature":%.1f},"DS18B20-2":{"Id":"0416C17B2E55","Temperature":%.1f}}`,
		Board, at, swinging(at, -19.4, 0.9), swinging(at, 3.4, 0.6))
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL+"/in/"+d.Key, strings.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := d.board.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the board is answered %s", answer.Status)
	}
	return nil
}

// swinging is a temperature of a unit that works, in °C.
func swinging(at rimewatch.Time, mean, by float64) float64 {
	const cycle = 20 * rimewatch.Minute
	return mean + by*math.Sin(2*math.Pi*float64(at%cycle)/float64(cycle))
}

// newcomerReading is of a dairy case that works.
func newcomerReading(at rimewatch.Time) client.Reading {
	return client.Reading{DeviceSerial: Newcomer, RecordedAt: at, Measurements: client.Measurements{
		ProductZoneTemp: client.Value(math.Round(swinging(at, 3.2, 0.8)*100) / 100),
		Humidity:        client.Value(math.Round(swinging(at, 70, -4))),
	}}
}

// arrive lets the newcomer and the board report on until ctx ends, accepted or not.
func (d *Demo) arrive(ctx context.Context) {
	for range ticker.Every(ctx.Done(), newcomerEvery, nil) {
		if err := d.sendBoard(ctx, rimewatch.TimeOf(time.Now())); err != nil && ctx.Err() == nil {
			d.cfg.Logger.Warn("the demo's board could not report", "error", err)
		}
		if _, _, err := d.client.PostReading(ctx, newcomerReading(rimewatch.TimeOf(time.Now()))); err != nil && ctx.Err() == nil {
			d.cfg.Logger.Warn("the demo's new probe could not report", "error", err)
		}
	}
}
