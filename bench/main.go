// Command bench measures the service against yardsticks on the same machine in
// the same run and prints ratios: absolute numbers of a small, noisy machine
// say little. The server runs in a process of its own; the load generator here
// shares the cores with it.
//
//	go run ./bench                 everything
//	go run ./bench -only single    one part: single, batch, rest, query, memory, stream, alerts, notify
//	go run ./bench -quick          shorter and smaller, for a first look
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
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

func main() {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "child-") {
		if err := child(os.Args[1], os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	var o options
	flag.BoolVar(&o.quick, "quick", false, "shorter and smaller")
	flag.StringVar(&o.only, "only", "", "parts to run: single, batch, rest, query, memory, stream, alerts, notify")
	flag.StringVar(&o.profile, "profile", "", "directory for CPU profiles of the server")
	flag.BoolVar(&o.keep, "keep", false, "keep the data directories")
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
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
		{"single", benchSingle}, {"batch", benchBatch}, {"rest", benchRest}, {"query", benchQuery}, {"memory", benchMemory}, {"stream", benchStream}, {"alerts", benchAlerts}, {"notify", benchNotify},
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
