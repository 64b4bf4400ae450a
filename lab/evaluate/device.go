package evaluate

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// runDevice plays recorded units through rules and predictor and writes
// events.csv.
func runDevice(ctx context.Context, o *Options, sources []source, stdout io.Writer) (err error) {
	if _, ok := rimewatch.EquipmentBySlug(o.Equipment); !ok {
		return rimewatch.Invalid("equipment", "%q is not a known equipment type", o.Equipment)
	}
	limits, err := parseLimits(o.Limits)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(o.Out, "events.csv"))
	if err != nil {
		return fmt.Errorf("evaluate: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := csv.NewWriter(f)
	if err := w.Write([]string{"file", "time", "event", "type", "severity", "fault", "runner_up", "risk", "lead_time_h"}); err != nil {
		return fmt.Errorf("evaluate: %w", err)
	}
	for _, src := range sources {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := playFile(o.Equipment, limits, src, w, stdout); err != nil {
			return err
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return fmt.Errorf("evaluate: %w", err)
	}
	return nil
}

// ofRecording reports whether an alert comes from a hole in a recording: it shows nothing of
// whether the unit was heard at the time.
func ofRecording(t rimewatch.AlertType) bool {
	return t == rimewatch.DeviceOffline || t == rimewatch.SensorStale
}

// playFile plays one unit.
func playFile(equipment string, limits *rimewatch.LimitOverrides, src source, w *csv.Writer, stdout io.Writer) error {
	judge := newUnitJudge(equipment, limits)
	var first, last rimewatch.Time
	var out []event
	rows, opened, predicted := 0, 0, 0
	err := eachReading(src.path, func(r *rimewatch.Reading) error {
		if first == 0 {
			first = r.At
		}
		last = max(last, r.At)
		rows++
		out = judge.take(r, out[:0])
		for i := range out {
			e := &out[i]
			if ofRecording(e.typ) {
				continue
			}
			if e.what == "opened" {
				opened++
				if e.predicts {
					predicted++
				}
			}
			risk, lead := "", ""
			if e.predicts {
				risk = strconv.FormatFloat(e.risk, 'f', 2, 64)
			}
			if e.lead != nil {
				lead = strconv.FormatFloat(*e.lead, 'f', 1, 64)
			}
			if err := w.Write([]string{src.name, e.at.String(), e.what, string(e.typ), string(e.severity), e.fault, e.runnerUp, risk, lead}); err != nil {
				return fmt.Errorf("evaluate: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	report := judge.state.Predict.Report(&judge.state.Unit)
	fmt.Fprintf(stdout, "%s: %d readings over %.1f days, %d alerts opened, %d of them predictions; predictor %s, %d of %d hours of steady running learned\n",
		src.name, rows, last.Sub(first).Hours()/24, opened, predicted, report.State, report.LearnedHours, report.NeededHours)
	return nil
}

// eachReading reads a CSV file with the header time (RFC 3339) and any of the
// eight fields in any order. Empty cells are absent values; sentinels and values
// out of the plausible range are faults of their sensor, as at ingest. Columns
// that are no field are left out.
func eachReading(path string, do func(r *rimewatch.Reading) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("evaluate: %w", err)
	}
	defer func() { _ = f.Close() }()
	r := csv.NewReader(f)
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil {
		return fmt.Errorf("evaluate: %s: %w", path, err)
	}
	timeColumn := -1
	fields := make([]rimewatch.Field, len(header))
	known := 0
	for i, name := range header {
		fields[i] = rimewatch.NumCore
		name = strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))
		if field, ok := rimewatch.FieldByName(name); ok {
			fields[i] = field
			known++
		} else if name == "time" {
			timeColumn = i
		}
	}
	if timeColumn < 0 || known == 0 {
		return fmt.Errorf("evaluate: %s: the header needs time and at least one field", path)
	}
	for row := 1; ; row++ {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("evaluate: %s: %w", path, err)
		}
		reading, err := parseReading(record, timeColumn, fields)
		if err != nil {
			return fmt.Errorf("evaluate: %s: row %d: %w", path, row, err)
		}
		if err := do(&reading); err != nil {
			return err
		}
	}
}

func parseReading(record []string, timeColumn int, fields []rimewatch.Field) (rimewatch.Reading, error) {
	at, err := rimewatch.ParseTime(strings.TrimSpace(record[timeColumn]))
	if err != nil {
		return rimewatch.Reading{}, fmt.Errorf("time %w", err)
	}
	r := rimewatch.Reading{At: at, ReceivedAt: at}
	for i, cell := range record {
		cell = strings.TrimSpace(cell)
		if fields[i] == rimewatch.NumCore || cell == "" || strings.EqualFold(cell, "null") || strings.EqualFold(cell, "nan") {
			continue
		}
		v, err := strconv.ParseFloat(cell, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return r, fmt.Errorf("%s: %q is not a number", fields[i], cell)
		}
		if info := fields[i].Info(); rimewatch.Sentinel(fields[i], v) || v < info.Min || v > info.Max {
			r.Faults = r.Faults.With(fields[i])
			continue
		}
		r.Set(fields[i], v)
	}
	return r, nil
}

// parseLimits reads "MIN,MAX" in °C; nil keeps those of the equipment type.
func parseLimits(s string) (*rimewatch.LimitOverrides, error) {
	if s == "" {
		return nil, nil //nolint:nilnil // no overrides are none
	}
	low, high, ok := strings.Cut(s, ",")
	lo, err1 := strconv.ParseFloat(strings.TrimSpace(low), 64)
	hi, err2 := strconv.ParseFloat(strings.TrimSpace(high), 64)
	if !ok || err1 != nil || err2 != nil || !(lo < hi) {
		return nil, rimewatch.Invalid("limits", "must be MIN,MAX in °C")
	}
	return &rimewatch.LimitOverrides{TempMin: &lo, TempMax: &hi}, nil
}
