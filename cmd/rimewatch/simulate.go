package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

type simulateCmd struct {
	remoteFlags
	Devices     int           `default:"10" placeholder:"N" help:"Number of devices."`
	Interval    time.Duration `default:"60s" placeholder:"D" help:"Interval between a device's readings."`
	Duration    time.Duration `placeholder:"D" help:"How long to run. Default: until Ctrl-C."`
	Fault       []string      `placeholder:"NAME" sep:"none" help:"Fault of a device, such as door, leak:0.6 or fouling:0.8:21d. Repeat the flag for further devices."`
	Equipment   []string      `placeholder:"TYPE" help:"Equipment types, assigned in turn. Default: the five that the model was fitted to."`
	Prefix      string        `placeholder:"TEXT" help:"Prefix of the serial numbers, to tell fleets apart."`
	Seed        uint64        `default:"1" placeholder:"N" help:"Random seed. The same seed produces the same fleet."`
	Concurrency int           `default:"64" placeholder:"N" help:"Maximum number of parallel requests."`
}

// Help is shown by simulate --help.
func (simulateCmd) Help() string {
	return `Refrigerators that obey physics report through the public API, each at its own moment within the interval, with
heartbeats. Devices that are missing are created when the token may do that.

Faults, each with a severity from 0 to 1 and a time in which it grows, if wanted:
` + wrapped(simulate.FaultNames(), 100) + `

  rimewatch simulate --devices 200 --interval 10s --duration 5m --fault door --fault leak:0.8:2h`
}

// wrapped lists names in lines of at most width characters.
func wrapped(names []string, width int) string {
	var b strings.Builder
	line := ""
	for _, n := range names {
		if line != "" && len(line)+len(n)+1 > width {
			b.WriteString("  " + line + "\n")
			line = ""
		}
		line += n + " "
	}
	return b.String() + "  " + line
}

// Run lets the fleet report until the time is over.
func (c *simulateCmd) Run(ctx context.Context, s streams) error {
	if err := c.check(); err != nil {
		return err
	}
	api, err := c.connect()
	if err != nil {
		return err
	}
	faults, err := parseFaults(c.Fault)
	if err != nil {
		return err
	}
	p := newProgress(s.err)
	f := &fleet{api: api, interval: c.Interval}
	if err := f.register(ctx, c, p); err != nil {
		return err
	}
	start := rimewatch.TimeOf(time.Now().Add(time.Duration(c.Devices) * preparing))
	if err := f.prepare(c, start, faults, p); err != nil {
		return err
	}
	if c.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Duration)
		defer cancel()
	}
	f.run(ctx, c.Concurrency, p)
	p.clear()
	return f.report(s.out)
}

// preparing is about how long it takes to bring a device to life.
const preparing = 400 * time.Microsecond

func (c *simulateCmd) check() error {
	switch {
	case c.Devices < 1 || c.Devices > 1_000_000:
		return usagef("--devices must be from 1 to 1,000,000")
	case c.Interval < 100*time.Millisecond || c.Interval > 24*time.Hour:
		return usagef("--interval must be from 100ms to 24h")
	case c.Duration < 0:
		return usagef("--duration must not be negative")
	case c.Concurrency < 1 || c.Concurrency > 10_000:
		return usagef("--concurrency must be from 1 to 10,000")
	case len(c.Fault) > c.Devices:
		return usagef("there are more faults than devices")
	case c.Prefix != "" && !rimewatch.ValidSerial(c.Prefix+"WIF-0001"):
		return usagef("--prefix %q: a serial is made of A-Z a-z 0-9 . _ : -", c.Prefix)
	}
	return nil
}

// parseFaults reads faults; a comma also separates them.
func parseFaults(texts []string) ([]simulate.Fault, error) {
	var faults []simulate.Fault
	for _, text := range texts {
		for one := range strings.SplitSeq(text, ",") {
			f, err := simulate.ParseFault(one)
			if err != nil {
				return nil, usagef("--fault: %w", err)
			}
			faults = append(faults, f)
		}
	}
	return faults, nil
}

// members lays out the fleet; nothing of it lives yet.
func (c *simulateCmd) members(start rimewatch.Time) ([]simulate.Member, error) {
	_, offset := time.Now().Zone()
	members, err := simulate.NewFleet(simulate.FleetConfig{
		Seed: c.Seed, Units: c.Devices, Equipment: c.Equipment, Start: start,
		SampleEvery: c.Interval, Step: min(10*time.Second, c.Interval), Offset: time.Duration(offset) * time.Second,
	})
	if err != nil {
		return nil, usagef("%s", strings.TrimPrefix(err.Error(), "simulate: "))
	}
	for i := range members {
		members[i].Serial = c.Prefix + members[i].Serial
	}
	return members, nil
}

// prepare brings the devices to life. Each has been running for some hours when
// it first reports.
func (f *fleet) prepare(c *simulateCmd, start rimewatch.Time, faults []simulate.Fault, p *progress) error {
	members, err := c.members(start)
	if err != nil {
		return err
	}
	configs := make([]simulate.Config, len(members))
	for i := range members {
		configs[i] = members[i].Config
		if i < len(faults) {
			fault := faults[i]
			fault.Onset = start - rimewatch.Minute // units look at their faults once a minute
			configs[i].Faults = []simulate.Fault{fault}
		}
	}
	f.devices = make([]*reporter, len(members))
	ready := 0
	err = simulate.Generate(configs, 0, runtime.GOMAXPROCS(0), func(i int, u *simulate.Unit, _ []rimewatch.Reading) {
		f.devices[i] = &reporter{serial: members[i].Serial, unit: u, due: u.NextAt()}
		if ready++; p.due() {
			p.show("preparing devices: %s of %s", grouped(ready), grouped(len(members)))
		}
	})
	f.order()
	return err
}

// report prints how it went. Readings that were not acknowledged are a failure.
func (f *fleet) report(w io.Writer) error {
	took := time.Since(f.started)
	readings, beats := f.readings.Load(), f.beats.Load()
	fmt.Fprintf(w, "%s, %s, %s\n", plural(len(f.devices), "device"), plural(int(readings), "reading"), plural(int(beats), "heartbeat"))
	fmt.Fprintf(w, "acknowledged in p50 %s, p99 %s, max %s; %.1f readings/s over %s\n",
		short(f.acks.quantile(0.5)), short(f.acks.quantile(0.99)), short(f.acks.max()), float64(readings)/took.Seconds(), took.Round(100*time.Millisecond))
	if n := f.skipped.Load(); n > 0 {
		fmt.Fprintf(w, "%s skipped, because the device's previous report was still in progress\n", plural(int(n), "report"))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	failed := 0
	for _, kind := range sortedKeys(f.failures) {
		x := f.failures[kind]
		failed += x.count
		fmt.Fprintf(w, "%s failed with %s: %s\n", plural(x.count, "request"), kind, x.first)
	}
	if failed > 0 {
		return fmt.Errorf("%s failed", plural(failed, "request"))
	}
	return nil
}
