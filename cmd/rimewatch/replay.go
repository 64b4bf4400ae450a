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
	"github.com/rimewatch/rimewatch/internal/logfile"
)

type replayCmd struct {
	remoteFlags
	File       string            `arg:"" help:"CSV file with a header line; - is standard input."`
	Serial     string            `required:"" placeholder:"SERIAL" help:"Device the data belong to. Created if missing, when the token permits it."`
	Map        map[string]string `mapsep:"," placeholder:"FIELD=COLUMN,…" help:"Which column holds which measurement. Default: by the names of the columns."`
	TimeColumn string            `placeholder:"COLUMN" help:"Column with the time. Default: the first one that contains times."`
	Sensor     string            `placeholder:"NAME" help:"Sensor whose rows count, where the file has several."`
	Zone       string            `default:"UTC" placeholder:"NAME" help:"Time zone of times without one, such as Europe/Berlin."`
	Unit       string            `default:"C" enum:"C,F" help:"Unit of temperatures whose column names none, C or F."`
	Speed      string            `default:"max" placeholder:"60x" help:"Speed relative to the recording: 1x, 60x, or max."`
	KeepTimes  bool              `help:"Keep the recorded times. By default they are shifted so that the last one is now."`
	Type       string            `name:"equipment-type" default:"other" placeholder:"TYPE" help:"Equipment type, if the device is created."`
}

// Help is shown by replay --help.
func (replayCmd) Help() string {
	return `Files of loggers and apps are read as they are: in UTF-8, UTF-16, Shift-JIS or Windows-1252, a table below a report that
states unit and time zone, dates and times of day in two columns, "Temperature(°F)", decimal commas. When several columns could be the product temperature, say which with --map.
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
	file, err := c.read(s, logfile.Options{Map: c.Map, TimeColumn: c.TimeColumn, Entity: c.Sensor, Zone: zone, Unit: c.Unit})
	if err != nil {
		return err
	}
	if first := file.Rows[0].At; c.KeepTimes && first < rimewatch.ClockSet {
		return fmt.Errorf("the recording begins at %s, which the server takes for a clock that was not set: leave out --keep-times", first)
	}
	if err := c.ensureDevice(ctx, api); err != nil {
		return err
	}
	p := newProgress(s.err)
	r := &replay{api: api, serial: c.Serial, speed: speed, keep: c.KeepTimes, file: file}
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

func (c *replayCmd) read(s streams, o logfile.Options) (*logfile.File, error) {
	in := s.in
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	file, err := logfile.Read(text, o)
	var several *logfile.ChoiceError
	if errors.As(err, &several) {
		say := "--map " + rimewatch.ProductZoneTemp.String() + "=…"
		if several.Entity {
			say = "--sensor …"
		}
		return nil, fmt.Errorf("%s %w; say which with %s", c.File, err, say)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %w", c.File, err)
	}
	return file, nil
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
	file   *logfile.File

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
	rows := r.file.Rows
	r.rejected = make(map[string]int)
	r.started = time.Now()
	first, last := rows[0].At, rows[len(rows)-1].At
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
			case <-time.After(max(replayTick, time.Until(r.started.Add(r.pace(rows[0].At-first))))):
			}
			continue
		}
		if err := r.post(calls, rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
		if p.due() {
			p.show("%s of %s rows sent, %s of the recording", grouped(r.sent), grouped(len(r.file.Rows)), r.file.Rows[r.sent-1].At)
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
func (r *replay) due(rows []logfile.Row, first rimewatch.Time) int {
	n := min(len(rows), replayBatch)
	if r.speed == 0 {
		return n
	}
	gone := time.Since(r.started)
	i := slices.IndexFunc(rows[:n], func(x logfile.Row) bool { return r.pace(x.At-first) > gone })
	if i >= 0 {
		return i
	}
	return n
}

func (r *replay) post(ctx context.Context, rows []logfile.Row) error {
	batch := make([]client.Reading, len(rows))
	for i := range rows {
		reading := r.file.Reading(&rows[i])
		batch[i] = client.Reading{DeviceSerial: r.serial, RecordedAt: reading.At + r.shift, Measurements: measured(&reading)}
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

// measured returns the measurements of a file's reading, as they are sent.
func measured(r *rimewatch.Reading) (m client.Measurements) {
	for f, v := range r.All() {
		m.Set(f, v)
	}
	for f := range r.Faults.All() {
		const broken = -127 // which says so of any measurement
		m.Set(f, broken)
	}
	for x, dst := range [...]**bool{rimewatch.CompressorOn: &m.CompressorOn, rimewatch.DefrostActive: &m.DefrostActive, rimewatch.DoorOpen: &m.DoorOpen} {
		if v, ok := r.Flags.Bool(rimewatch.Flag(x)); ok {
			*dst = &v
		}
	}
	return m
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
	f := r.file
	took := time.Since(r.started)
	fmt.Fprintf(w, "%s of %s in %s (%.0f rows/s): %s stored, %s already there\n", plural(r.sent, "row"), grouped(len(f.Rows)),
		short(took), float64(r.sent)/took.Seconds(), grouped(r.accepted), grouped(r.duplicates))
	first, last := f.Rows[0].At, f.Rows[len(f.Rows)-1].At
	fmt.Fprintf(w, "recorded %s to %s (%s)", first, last, f.Form)
	if r.shift != 0 {
		fmt.Fprintf(w, ", moved to %s to %s", first+r.shift, last+r.shift)
	}
	fmt.Fprintln(w)
	for i, c := range f.Columns {
		fmt.Fprintf(w, "%s %q as %s", [...]string{"read", ","}[min(i, 1)], c.Heading, c.Name)
		if c.Unit != "" {
			fmt.Fprintf(w, " in %s", c.Unit)
		}
	}
	fmt.Fprintln(w)
	for _, why := range f.LeftOut {
		fmt.Fprintf(w, "%s left out, such as line %d: it %s\n", plural(why.N, "row"), why.At[0], why.Text)
	}
	for _, why := range f.Cells {
		fmt.Fprintf(w, "%s left out, such as in line %d: %s\n", plural(why.N, "value"), why.At[0], why.Text)
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
