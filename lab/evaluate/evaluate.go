package evaluate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// Options say what to evaluate. Format, Out and, but for the simulator, Paths
// are required.
type Options struct {
	Format    string   // device, real, simulator, dirty, spoilt or families
	Paths     []string // CSV files or folders of them
	Out       string   // folder for events.csv of device, created when absent
	Equipment string   // slug of the recorded units' type, for device
	Limits    string   // "MIN,MAX" in °C instead of the type's, for device

	Doc string // Markdown file whose section of the format is replaced by the report; "" = none

	SeedSet      string  // known or fresh, of dirty, spoilt and families; "" = both
	Part         string  // of dirty and families, healthy, faults, (of dirty) sensors or (of families) machine, cold or people alone; "" = all
	First        uint64  // first of the fresh seeds of dirty, spoilt and families; 0 = drawn
	Seeds        int     // simulated units a fault and type, default 8; of spoilt a type
	HealthyYears float64 // simulated device-years of healthy units, default 100
	Workers      int     // simulations at a time, default 1
}

// Run evaluates the predictor and prints the report. Invalid options give a
// rimewatch.Error with CodeValidationFailed, unreadable data a plain error.
func Run(ctx context.Context, o Options, stdout io.Writer) error {
	if o.Doc == "" {
		return run(ctx, o, stdout)
	}
	var report bytes.Buffer
	if err := run(ctx, o, io.MultiWriter(stdout, &report)); err != nil {
		return err
	}
	return replaceSection(o.Doc, o.Format, report.String())
}

func run(ctx context.Context, o Options, stdout io.Writer) error {
	switch o.Format {
	case "simulator":
		return runSimulator(ctx, &o, stdout)
	case "dirty":
		return runDirty(ctx, &o, stdout)
	case "spoilt":
		return runSpoilt(ctx, &o, stdout)
	case "families":
		return runFamilies(ctx, &o, stdout)
	}
	if o.Format != "device" && o.Format != "real" {
		return rimewatch.Invalid("format", "must be device, real, simulator, dirty, spoilt or families")
	}
	sources, err := findSources(o.Paths)
	if err != nil {
		return err
	}
	if o.Format == "real" {
		return runReal(ctx, sources, stdout)
	}
	if o.Out == "" {
		return rimewatch.Invalid("out", "must name a folder")
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return fmt.Errorf("evaluate: %w", err)
	}
	return runDevice(ctx, &o, sources, stdout)
}

// source is one CSV file and the name by which reports call it.
type source struct {
	path string
	name string // relative to the folder given, with slashes
}

// findSources lists the CSV files below the paths in the order of their names.
func findSources(paths []string) ([]source, error) {
	var found []source
	for _, root := range paths {
		err := filepath.WalkDir(root, func(p string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.EqualFold(filepath.Ext(p), ".csv") {
				return err
			}
			name, _ := filepath.Rel(root, p)
			if name == "." {
				name = filepath.Base(p)
			}
			if name = filepath.ToSlash(name); name != "events.csv" {
				found = append(found, source{p, name})
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("evaluate: %w", err)
		}
	}
	if len(found) == 0 {
		return nil, rimewatch.Invalid("path", "contains no CSV file")
	}
	slices.SortFunc(found, func(a, b source) int { return strings.Compare(a.name, b.name) })
	return found, nil
}
