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
	"github.com/rimewatch/rimewatch/internal/lab/detector"
)

// Options say what to evaluate. Format, Out and, but for the simulator, Paths
// are required.
type Options struct {
	Format    string   // skab, nab, ims, device, real, simulator, dirty or spoilt
	Paths     []string // CSV files or folders of them
	Out       string   // folder for verdicts.csv or events.csv, created when absent; the simulator writes none
	Equipment string   // slug of the recorded units' type, for device
	Limits    string   // "MIN,MAX" in °C instead of the type's, for device

	Doc string // Markdown file whose section of the format is replaced by the report; "" = none

	SeedSet      string  // known or fresh, of dirty and spoilt; "" = both
	Part         string  // of dirty, healthy, faults or sensors alone; "" = all
	First        uint64  // first of the fresh seeds of dirty and spoilt; 0 = drawn
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
	}
	formats := map[string]func(context.Context, []source, *verdictWriter, io.Writer) error{
		"skab": runSKAB, "nab": runNAB, "ims": runIMS,
	}
	format, ok := formats[o.Format]
	if !ok && o.Format != "device" && o.Format != "real" {
		return rimewatch.Invalid("format", "must be skab, nab, ims, device, real, simulator, dirty or spoilt")
	}
	if o.Format == "real" {
		sources, err := findSources(o.Paths)
		if err != nil {
			return err
		}
		return runReal(ctx, sources, stdout)
	}
	if o.Out == "" {
		return rimewatch.Invalid("out", "must name a folder")
	}
	sources, err := findSources(o.Paths)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return fmt.Errorf("evaluate: %w", err)
	}
	if o.Format == "device" {
		return runDevice(ctx, &o, sources, stdout)
	}
	w, err := createVerdicts(filepath.Join(o.Out, "verdicts.csv"))
	if err != nil {
		return err
	}
	if err := format(ctx, sources, w, stdout); err != nil {
		_ = w.close()
		return err
	}
	return w.close()
}

// source is one CSV file and the name by which reports call it.
type source struct {
	path string
	name string // relative to the folder given, with slashes
}

// findSources lists the CSV files below the paths in the order of their names.
// Recordings of healthy operation that SKAB ships for training carry no labels
// and are left out, as its scorer does.
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
			if name = filepath.ToSlash(name); !strings.Contains(name, "anomaly-free") && name != "verdicts.csv" && name != "events.csv" {
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

// judged is what the detector said of each row of a table.
type judged struct {
	score       []float64
	alarm       []bool
	changepoint []bool
	named       []int // channel that the running alarm names, -1 without alarm
}

// judge runs the detector over a table. The alarm names the channel that had
// the greatest shift so far in it. After a gap of half its learning it learns the
// levels anew.
func judge(t *table, tuning detector.Tuning, learn int, directions []detector.Direction) judged {
	d := detector.New(tuning, learn, directions...)
	n := len(t.rows)
	j := judged{score: make([]float64, n), alarm: make([]bool, n), changepoint: make([]bool, n), named: make([]int, n)}
	named, greatest := -1, 0.0
	gap := t.times[min(learn, n-1)].Sub(t.times[0]) / 2
	for i, row := range t.rows {
		if i > learn && t.times[i].Sub(t.times[i-1]) > gap {
			d.Resume()
		}
		v := d.Observe(row)
		j.score[i], j.alarm[i], j.changepoint[i] = v.Score, v.Alarm, v.Changepoint
		if !v.Alarm {
			named, greatest = -1, 0
		} else if score, effect, _ := d.Channel(v.Leader); abs(effect) > greatest && abs(score) >= tuning.Threshold {
			named, greatest = v.Leader, abs(effect)
		}
		j.named[i] = named
	}
	return j
}

func abs(v float64) float64 { return max(v, -v) }

// either is the direction of channels of which nothing is known.
func either(n int) []detector.Direction { return make([]detector.Direction, n) }
