package evaluate

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch/internal/lab/detector"
)

// The tuning in use bears noise of every autocorrelation; one that believes anything
// does not.
func TestNoise(t *testing.T) {
	if !passesNoise(detector.DefaultTuning()) {
		t.Error("the tuning in use raises too much on noise")
	}
	rash := detector.DefaultTuning()
	rash.Threshold, rash.Doubt, rash.Effect = 1.5, 0, 0.1
	if passesNoise(rash) {
		t.Error("a rash tuning passes")
	}
}

// Every file is judged by a tuning that was chosen without it.
func TestCrossValidate(t *testing.T) {
	if testing.Short() {
		t.Skip("every tuning judges every file")
	}
	var tables []*table
	for seed := range uint64(8) {
		tables = append(tables, recording(2*seed+1))
	}
	var out bytes.Buffer
	if err := crossValidate(t.Context(), tables, &out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, fmt.Sprintf("%d random splits into %d", foldSplits, folds)) || !strings.Contains(got, "outliers      F1 0.") {
		t.Errorf("printed %s", got)
	}
	order := []int{0, 1, 2, 3, 4, 5, 6, 7}
	good := pair{truth: []bool{true, false}, alarm: []bool{true, false}}
	bad := pair{truth: []bool{true, false}, alarm: []bool{false, true}}
	results := [][]pair{{}, {}}
	for i := range order { // the first tuning is right on the fold that is held out alone
		first, second := bad, good
		if i%folds == 1 {
			first, second = good, bad
		}
		results[0], results[1] = append(results[0], first), append(results[1], second)
	}
	if got := bestTuning(results, order, 1); got != 1 {
		t.Errorf("chose tuning %d by the files that it is judged on", got)
	}
}

// TestHindsight: the least that is missed is that of the tuning within the rate of false
// alarms that is allowed, scored on all files at once.
func TestHindsight(t *testing.T) {
	truth := []bool{false, false, false, false, true, true, true, true}
	scored := func(alarm ...bool) []pair { return []pair{{truth: truth, alarm: alarm}} }
	var out strings.Builder
	printHindsight(&out, [][]pair{
		scored(false, false, false, false, true, true, false, false), // misses half, raises nothing
		scored(true, true, false, false, true, true, true, true),     // misses nothing, raises half
	})
	for _, line := range []string{
		"   4 %        missed 50.0 % at 0.0 %, F1 0.667; 0 miss 20 % or less\n",
		" 100 %        missed 0.0 % at 50.0 %, F1 0.800; 1 miss 20 % or less\n",
	} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("no line %q in\n%s", line, &out)
		}
	}
}
