package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
)

type replayCmd struct {
	remoteFlags
	File       string            `arg:"" help:"CSV file with a header line; - is standard input."`
	Serial     string            `required:"" placeholder:"SERIAL" help:"Device the data belong to. Created if missing, when the token permits it."`
	Map        map[string]string `mapsep:"," placeholder:"FIELD=COLUMN,…" help:"Which column holds which measurement. Default: by the names of the columns."`
	TimeColumn string            `placeholder:"COLUMN" help:"Column with the time. Default: the first one that contains times."`
	Zone       string            `default:"UTC" placeholder:"NAME" help:"Time zone of times without one, such as Europe/Berlin."`
	Unit       string            `default:"C" enum:"C,F" help:"Unit of temperatures whose column names none, C or F."`
	Speed      string            `default:"max" placeholder:"60x" help:"Speed relative to the recording: 1x, 60x, or max."`
	KeepTimes  bool              `help:"Keep the recorded times. By default they are shifted so that the last one is now."`
	Type       string            `name:"equipment-type" default:"other" placeholder:"TYPE" help:"Equipment type, if the device is created."`
}

// Help is shown by replay --help.
func (replayCmd) Help() string {
	return `Files of loggers and apps are read as they are: lines before the header, dates and times of day in two columns,
"Temperature(°F)", decimal commas. When several columns could be the product temperature, say which with --map.
The delimiter (comma, semicolon, tab) and the format of the times are detected: RFC 3339, 2026-11-20 19:47:12,
20/11/26 19:47, 11/20/2026 7:47, 20.11.2026 19:47, 2026.11.20.19.47.12, seconds or milliseconds since 1970.
A reading that is already stored is not stored again, so a replay with --keep-times may be repeated.

  rimewatch replay cooler.csv --serial WIC-0001 --equipment-type walkin_cooler \
    --map product_zone_temp=Temperature,humidity=RH --time-column DateTime --unit F`
}

// Run reads the file and sends it.
func (c *replayCmd) Run(ctx context.Context, s streams) error {
	speed, err := parseSpeed(c.Speed)
	if err != nil {
		return err
	}
	zone, err := time.LoadLocation(c.Zone)
	if err != nil {
		return usagef("--zone %q is not a time zone such as Europe/Berlin", c.Zone)
	}
	if !rimewatch.ValidSerial(c.Serial) {
		return usagef("--serial %q: 1 to 64 of A-Z a-z 0-9 . _ : -", c.Serial)
	}
	api, err := c.connect()
	if err != nil {
		return err
	}
	rec, err := c.read(s, recordingOptions{Map: c.Map, TimeColumn: c.TimeColumn, Zone: zone, Fahrenheit: c.Unit == "F"})
	if err != nil {
		return err
	}
	if first := rec.rows[0].at; c.KeepTimes && first < rimewatch.ClockSet {
		return fmt.Errorf("the recording begins at %s, which the server takes for a clock that was not set: leave out --keep-times", first)
	}
	if err := c.ensureDevice(ctx, api); err != nil {
		return err
	}
	p := newProgress(s.err)
	r := &replay{api: api, serial: c.Serial, speed: speed, keep: c.KeepTimes, rec: rec}
	err = r.run(ctx, p)
	p.clear()
	return errors.Join(r.report(s.out), err)
}

// parseSpeed reads 60x; 0 stands for max.
func parseSpeed(s string) (float64, error) {
	if s == "max" {
		return 0, nil
	}
	v, err := strconv.ParseFloat(strings.TrimSuffix(s, "x"), 64)
	if err != nil || !(v > 0 && v <= 1e9) {
		return 0, usagef("--speed %q: want max or a factor such as 60x", s)
	}
	return v, nil
}

func (c *replayCmd) read(s streams, o recordingOptions) (*recording, error) {
	in := s.in
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	rec, err := readRecording(in, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.File, err)
	}
	return rec, nil
}

// ensureDevice creates the device when it is missing. A token that may not look
// or create is let go on: sending the readings will show.
func (c *replayCmd) ensureDevice(ctx context.Context, api *client.Client) error {
	_, err := api.Device(ctx, c.Serial)
	switch rimewatch.CodeOf(err) {
	case rimewatch.CodeDeviceNotFound:
		_, err = api.CreateDevice(ctx, c.Serial, client.DeviceFields{EquipmentType: &c.Type, Labels: map[string]string{"source": "replay"}})
		if code := rimewatch.CodeOf(err); code == rimewatch.CodeSerialTaken || code == rimewatch.CodeForbidden {
			return nil
		}
		return err
	case rimewatch.CodeForbidden:
		return nil
	}
	return err
}

// replay sends a recording through the API.
type replay struct {
	api    *client.Client
	serial string
	speed  float64 // 0 = as fast as it goes
	keep   bool
	rec    *recording

	shift                      rimewatch.Time
	started                    time.Time
	sent, accepted, duplicates int
	rejected                   map[string]int // by reason
}

// The size of requests and the time between them.
const (
	replayBatch = 5_000
	replayTick  = 200 * time.Millisecond
)

// run sends all rows, in order of time, at the pace that is wanted.
func (r *replay) run(ctx context.Context, p *progress) error {
	rows := r.rec.rows
	r.rejected = make(map[string]int)
	r.started = time.Now()
	first, last := rows[0].at, rows[len(rows)-1].at
	if !r.keep {
		// The last row is sent when the replay ends; that moment is its time.
		r.shift = rimewatch.TimeOf(r.started.Add(r.pace(last-first))) - last
	}
	calls, cancel := lingering(ctx)
	defer cancel()
	for len(rows) > 0 {
		n := r.due(rows, first)
		if n == 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(max(replayTick, time.Until(r.started.Add(r.pace(rows[0].at-first))))):
			}
			continue
		}
		if err := r.post(calls, rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
		if p.due() {
			p.show("%s of %s rows sent, %s of the recording", grouped(r.sent), grouped(len(r.rec.rows)), r.rec.rows[r.sent-1].at)
		}
		if ctx.Err() != nil && len(rows) > 0 {
			return ctx.Err()
		}
	}
	return nil
}

// pace is how long a span of the recording takes.
func (r *replay) pace(span rimewatch.Time) time.Duration {
	if r.speed == 0 {
		return 0
	}
	return time.Duration(float64(span) / r.speed * float64(time.Millisecond))
}

// due is how many of the rows are to be sent now, at most a batch.
func (r *replay) due(rows []row, first rimewatch.Time) int {
	n := min(len(rows), replayBatch)
	if r.speed == 0 {
		return n
	}
	gone := time.Since(r.started)
	i := slices.IndexFunc(rows[:n], func(x row) bool { return r.pace(x.at-first) > gone })
	if i >= 0 {
		return i
	}
	return n
}

func (r *replay) post(ctx context.Context, rows []row) error {
	batch := make([]client.Reading, len(rows))
	for i := range rows {
		batch[i] = client.Reading{DeviceSerial: r.serial, RecordedAt: rows[i].at + r.shift, Measurements: rows[i].values}
	}
	result, err := r.api.PostNDJSON(ctx, batch)
	if err != nil {
		return err
	}
	r.sent += len(rows)
	r.accepted += result.Accepted
	r.duplicates += result.Duplicates
	if result.Held > 0 {
		return fmt.Errorf("there is no device %s, and the token does not permit creating it; the readings wait until somebody accepts the device", r.serial)
	}
	for i := range result.Results {
		x := &result.Results[i]
		if x.Code == rimewatch.CodeUnknownDevice {
			return fmt.Errorf("there is no device %s, and the token does not permit creating it", r.serial)
		}
		r.rejected[reasonOf(x)]++
	}
	return nil
}

// reasonOf returns why a row was rejected, without its number.
func reasonOf(x *client.BatchRejected) string {
	text := string(x.Code)
	for _, f := range sortedKeys(x.Fields) {
		text += fmt.Sprintf(", %s %s", f, strings.Join(x.Fields[f], ", "))
	}
	return text
}

// report prints how it went. Rows that were rejected are a failure.
func (r *replay) report(w io.Writer) error {
	rec := r.rec
	took := time.Since(r.started)
	fmt.Fprintf(w, "%s of %s in %s (%.0f rows/s): %s stored, %s already there\n", plural(r.sent, "row"), grouped(len(rec.rows)),
		short(took), float64(r.sent)/took.Seconds(), grouped(r.accepted), grouped(r.duplicates))
	first, last := rec.rows[0].at, rec.rows[len(rec.rows)-1].at
	fmt.Fprintf(w, "recorded %s to %s (%s)", first, last, rec.format)
	if r.shift != 0 {
		fmt.Fprintf(w, ", moved to %s to %s", first+r.shift, last+r.shift)
	}
	fmt.Fprintf(w, "\nread %s\n", strings.Join(rec.read, ", "))
	if rec.skipped > 0 {
		fmt.Fprintf(w, "%s left out: %s\n", plural(rec.skipped, "row"), strings.Join(rec.complaints, "; "))
	}
	n := 0
	for _, why := range sortedKeys(r.rejected) {
		n += r.rejected[why]
		fmt.Fprintf(w, "%s rejected: %s\n", plural(r.rejected[why], "row"), why)
	}
	if n > 0 {
		return fmt.Errorf("%s rejected", plural(n, "row"))
	}
	return nil
}
