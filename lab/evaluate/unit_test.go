package evaluate

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

// recordUnit writes a simulated unit as a CSV file.
func recordUnit(t *testing.T, path, fault string, days int) {
	t.Helper()
	start := rimewatch.TimeOf(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC))
	cfg := simulate.Config{Equipment: "walkin_freezer", Seed: 4, Start: start, Step: 10 * time.Second}
	if fault != "" {
		f, err := simulate.ParseFault(fault)
		if err != nil {
			t.Fatal(err)
		}
		f.Onset = start + 10*rimewatch.Day
		cfg.Faults = []simulate.Fault{f}
	}
	u, err := simulate.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("time," + strings.Join(rimewatch.CoreFields.Names(), ",") + ",remark\n")
	for i := 0; u.NextAt() < start+rimewatch.Time(days)*rimewatch.Day; i++ {
		r := u.Next()
		if i%400 < 3 || i%9000 > 8650 {
			continue // lost, and every six days for six hours
		}
		fmt.Fprintf(&b, "%s", r.At)
		for f := range rimewatch.NumCore {
			if v, ok := r.Value(f); ok && (i+int(f))%500 != 0 {
				fmt.Fprintf(&b, ",%g", v)
			} else {
				b.WriteString(",")
			}
		}
		b.WriteString(",x\n")
	}
	write(t, path, b.String())
}

func TestRunDevice(t *testing.T) {
	dir := t.TempDir()
	recordUnit(t, filepath.Join(dir, "in", "healthy.csv"), "", 16)
	recordUnit(t, filepath.Join(dir, "in", "shaking.csv"), "bearing:1:14d", 16)
	var report bytes.Buffer
	o := Options{Format: "device", Equipment: "walkin_freezer", Paths: []string{filepath.Join(dir, "in")}, Out: filepath.Join(dir, "out")}
	if err := Run(context.Background(), o, &report); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, "out", "events.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"file", "time", "event", "type", "severity", "fault", "runner_up", "risk", "lead_time_h"}, rows[0]); diff != "" {
		t.Fatal(diff)
	}
	found := false
	for _, row := range rows[1:] {
		if row[0] == "healthy.csv" {
			t.Errorf("an event on the healthy unit: %v", row)
		}
		found = found || row[0] == "shaking.csv" && row[2] == "opened" && row[5] == "bearing_wear" && row[7] != ""
	}
	if !found {
		t.Errorf("the fault is not in the events:\n%v", rows)
	}
}

func TestParseReading(t *testing.T) {
	fields := []rimewatch.Field{rimewatch.NumCore, rimewatch.ProductZoneTemp, rimewatch.AmpDraw, rimewatch.Humidity}
	r, err := parseReading([]string{"2026-01-02T03:04:05+01:00", "-127", "", "45.5"}, 0, fields)
	if err != nil {
		t.Fatal(err)
	}
	if r.At.String() != "2026-01-02T02:04:05.000Z" || r.Present != rimewatch.Fields(0).With(rimewatch.Humidity) || !r.Faults.Has(rimewatch.ProductZoneTemp) {
		t.Errorf("%+v", r)
	}
	for _, record := range [][]string{{"yesterday", "1", "", ""}, {"2026-01-02T03:04:05Z", "warm", "", ""}} {
		if _, err := parseReading(record, 0, fields); err == nil {
			t.Errorf("%v is taken", record)
		}
	}
}

func TestParseLimits(t *testing.T) {
	l, err := parseLimits("-30, -15")
	if err != nil || *l.TempMin != -30 || *l.TempMax != -15 {
		t.Errorf("%+v %v", l, err)
	}
	for _, s := range []string{"5", "5,2", "a,b", "1,2,3"} {
		if _, err := parseLimits(s); rimewatch.CodeOf(err) != rimewatch.CodeValidationFailed {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestSimulatorReport(t *testing.T) {
	var report bytes.Buffer
	o := &Options{Seeds: 1, HealthyYears: 0.5, Workers: 2}
	fast := []trial{trials[9], trials[10]}
	if err := runTrials(context.Background(), o, fast, []string{"reach_in_cooler", "walkin_cooler"}, &report); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| **evaporator_fan_failure** | all | 2/2 |", "| **start_component_failure** | all | 2/2 |", "Predictions before the onset of a fault: 0.", "| **all** | 1.0 | 0 | 0 | 0.000 | 3.037 |"} {
		if !strings.Contains(report.String(), want) {
			t.Errorf("no %q in\n%s", want, report.String())
		}
	}
}

func TestReplaceSection(t *testing.T) {
	doc := filepath.Join(t.TempDir(), "doc.md")
	write(t, doc, "before\n<!-- evaluate real -->\nold\n<!-- end real -->\nafter\n")
	if err := replaceSection(doc, "real", "new\n"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("before\n<!-- evaluate real -->\n```\nnew\n```\n<!-- end real -->\nafter\n", string(b)); diff != "" {
		t.Error(diff)
	}
	if err := replaceSection(doc, "dirty", "new"); err == nil {
		t.Error("a section that does not exist is replaced")
	}
}

func TestQuantile(t *testing.T) {
	v := []float64{4, 1, 3, 2}
	for q, want := range map[float64]float64{0.25: 1, 0.5: 2, 0.75: 3, 0.95: 4, 1: 4} {
		if got := quantile(v, q); got != want {
			t.Errorf("quantile %v: %v, want %v", q, got, want)
		}
	}
	if !math.IsNaN(quantile(nil, 0.5)) {
		t.Error("a quantile of nothing")
	}
}

func TestRunRefuses(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x.csv"), "a;b\n1;2\n")
	for name, o := range map[string]Options{
		"format": {Format: "csv", Paths: []string{dir}, Out: dir},
		"out":    {Format: "device", Paths: []string{dir}},
		"empty":  {Format: "device", Paths: []string{t.TempDir()}, Out: dir},
	} {
		if err := Run(t.Context(), o, &bytes.Buffer{}); rimewatch.CodeOf(err) != rimewatch.CodeValidationFailed {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Run(t.Context(), Options{Format: "device", Paths: []string{dir}, Out: dir}, &bytes.Buffer{}); err == nil {
		t.Error("a file without time is taken")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
