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
