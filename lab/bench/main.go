// Package bench measures the service against yardsticks on the same machine in
// the same run and prints ratios: absolute numbers of a small, noisy machine
// say little. The server runs in a process of its own; the load generator here
// shares the cores with it.
//
//	make bench                             everything
//	make bench BENCH='-only growth'        one part: growth, batch, rest, stream, alerts, notify, events, histories, postgres, cluster, mqtt, inlets
//	make bench BENCH='-only growth -devices 1000000 -profile .'
//	                                       as many devices; profiles of the server
//	make bench BENCH=-quick                shorter and smaller, for a first look
package bench

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

type options struct {
	quick bool
	only  string
	dir   string
	keep  bool
	// profile is where CPU profiles of the server go, "" = nowhere.
	profile string

	// Of the part growth.
	devices sizes
	load    time.Duration // of one measurement
	rounds  int           // measurements of which the median counts
	parts   string        // steps to take, "" = all
	doc     string        // Markdown file that takes the table, "" = none
	alone   bool          // without VictoriaMetrics
}

// sizes are numbers of devices, as a flag 1000,10000.
type sizes []int

// allSizes are those that are measured unless others are asked for.
var allSizes = sizes{1000, 10_000, 100_000, 1_000_000}

// String implements flag.Value.
func (s *sizes) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*s), " ", ","), "[]")
}

// Set implements flag.Value.
func (s *sizes) Set(text string) error {
	*s = nil
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1000 || n > 1_000_000 {
			return fmt.Errorf("%q: want numbers of devices from 1000 to 1000000", word)
		}
		*s = append(*s, n)
	}
	return nil
}

// minute is the span in which worst cases are looked for.
func (o *options) minute() time.Duration {
	if o.quick {
		return 5 * time.Second
	}
	return time.Minute
}

// profiled runs f while the server writes a CPU profile, if one is wanted.
func (o *options) profiled(s *server, name string, f func() error) error {
	if o.profile == "" {
		return f()
	}
	if _, err := s.order("profile " + filepath.Join(o.profile, name+".pprof")); err != nil {
		return err
	}
	err := f()
	_, stopErr := s.order("profiled")
	return errors.Join(err, stopErr)
}

func (o *options) wants(part string) bool { return o.only == "" || strings.Contains(o.only, part) }

// span is how long one load is applied.
func (o *options) span() time.Duration {
	if o.quick {
		return 2 * time.Second
	}
	return 8 * time.Second
}

// Run measures what the arguments ask for, or is one of the servers that are measured.
func Run(args []string) error {
	if len(args) > 0 && strings.HasPrefix(args[0], "child-") {
		return child(args[0], args[1:])
	}
	o := options{devices: allSizes}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.BoolVar(&o.quick, "quick", false, "shorter and smaller")
	flags.StringVar(&o.only, "only", "", "parts to run: growth, batch, rest, stream, alerts, notify, events, histories, postgres, cluster, mqtt, inlets")
	flags.StringVar(&o.profile, "profile", "", "directory for CPU and heap profiles of the server")
	flags.Var(&o.devices, "devices", "growth: numbers of devices")
	flags.DurationVar(&o.load, "load", 0, "growth, postgres: length of a measurement; 60s and more has sealing and checkpoints going (default 8s, quick 2s)")
	flags.IntVar(&o.rounds, "rounds", 0, "growth: measurements of which the median counts (default 3, quick 1)")
	flags.StringVar(&o.parts, "steps", "", "growth: of create, warm, batches, memory, single, grounds, worst, queries, recovery, rest, month only these; postgres: of single, batches; cluster: of hop, rate, socket, stop, kill, pause, revoke")
	flags.StringVar(&o.doc, "doc", "", "growth: Markdown file whose table is replaced")
	flags.BoolVar(&o.alone, "alone", false, "growth: without VictoriaMetrics")
	flags.BoolVar(&o.keep, "keep", false, "keep the data directories")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.quick && slices.Equal(o.devices, allSizes) {
		o.devices = allSizes[:3]
	}
	if o.load == 0 {
		o.load = o.span()
	}
	if o.rounds == 0 {
		o.rounds = 3
		if o.quick {
			o.rounds = 1
		}
	}
	runtime.LockOSThread() // children die with the thread that started them
	return run(&o)
}

func run(o *options) (err error) {
	if o.dir, err = os.MkdirTemp("", "rimewatch-bench-"); err != nil {
		return err
	}
	if o.keep {
		fmt.Println("data in", o.dir)
	} else {
		defer os.RemoveAll(o.dir)
	}
	fmt.Printf("%s, %d cores, %s\n", runtime.GOOS+"/"+runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	if info, ok := debug.ReadBuildInfo(); ok {
		fmt.Println(info.Main.Path, time.Now().UTC().Format(time.RFC3339))
	}
	for _, part := range []struct {
		name string
		run  func(*options) error
	}{
		{"growth", benchGrowth}, {"batch", benchBatch}, {"rest", benchRest}, {"stream", benchStream}, {"alerts", benchAlerts}, {"notify", benchNotify}, {"events", benchEvents}, {"histories", benchHistories}, {"postgres", benchDatabase}, {"cluster", benchCluster}, {"mqtt", benchMQTT}, {"inlets", benchInlets},
	} {
		if !o.wants(part.name) {
			continue
		}
		if err := part.run(o); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

func heading(format string, args ...any) { fmt.Printf("\n"+format+"\n", args...) }

// row prints one measurement, with a verdict where there is a target.
func row(what, value, target string, ok bool) {
	verdict := ""
	if target != "" {
		verdict = "target " + target
		if !ok {
			verdict += "  MISSED"
		}
	}
	fmt.Printf("  %-58s %16s  %s\n", what, value, verdict)
}
