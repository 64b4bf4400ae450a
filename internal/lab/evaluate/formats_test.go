package evaluate

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

func TestRunNAB(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 1))
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	var b strings.Builder
	b.WriteString("timestamp,value\n")
	for i := range 3000 {
		v := 20 + r.NormFloat64()
		if i >= 2000 && i < 2100 {
			v += 8
		}
		fmt.Fprintf(&b, "%s,%f\n", start.Add(time.Duration(i)*time.Hour).Format(time.DateTime), v)
	}
	write(t, filepath.Join(dir, "data", "room.csv"), b.String())
	write(t, filepath.Join(dir, "windows.json"), fmt.Sprintf(`{"known/room.csv": [["%s.000000", "%s.000000"]]}`,
		start.Add(1950*time.Hour).Format(time.DateTime), start.Add(2200*time.Hour).Format(time.DateTime)))
	var report bytes.Buffer
	if err := Run(context.Background(), Options{Format: "nab", Paths: []string{dir}, Out: filepath.Join(dir, "out")}, &report); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(report.String(), "windows found 1 of 1, false alarms 0") {
		t.Error(report.String())
	}
}

func TestRunIMSNamesTheBearingThatFails(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(2, 1))
	var b strings.Builder
	b.WriteString(",Datetime,Bearing 1,Bearing 2,Bearing 3\n")
	start := time.Date(2004, 2, 12, 10, 32, 39, 0, time.UTC)
	for i := range 1000 {
		damage := max(0, float64(i-600)) / 400
		// What the failing bearing radiates reaches its neighbours.
		fmt.Fprintf(&b, "%d,%s,%f,%f,%f\n", i, start.Add(time.Duration(i)*10*time.Minute).Format("2006.01.02.15.04.05"),
			0.060+0.001*r.NormFloat64()+0.02*damage, 0.075+0.001*r.NormFloat64()+0.1*damage, 0.08-0.00001*float64(i)+0.001*r.NormFloat64())
	}
	write(t, filepath.Join(dir, "test.csv"), b.String())
	var report bytes.Buffer
	if err := Run(context.Background(), Options{Format: "ims", Paths: []string{filepath.Join(dir, "test.csv")}, Out: dir}, &report); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Bearing 1 no alarm", "Bearing 2 alarmed", "Bearing 3 no alarm"} {
		if !strings.Contains(report.String(), want) {
			t.Errorf("no %q in\n%s", want, report.String())
		}
	}
}

func TestRunRefuses(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x.csv"), "a;b\n1;2\n")
	for name, o := range map[string]Options{
		"format": {Format: "csv", Paths: []string{dir}, Out: dir},
		"out":    {Format: "skab", Paths: []string{dir}},
		"empty":  {Format: "skab", Paths: []string{t.TempDir()}, Out: dir},
	} {
		if err := Run(context.Background(), o, &bytes.Buffer{}); rimewatch.CodeOf(err) != rimewatch.CodeValidationFailed {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Run(context.Background(), Options{Format: "skab", Paths: []string{dir}, Out: dir}, &bytes.Buffer{}); err == nil {
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
