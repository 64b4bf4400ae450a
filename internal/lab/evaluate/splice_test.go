package evaluate

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// The second fault holds the rows of the first and begins as long after it as it is said
// to, whether or not the recording goes on for so long.
func TestSpliced(t *testing.T) {
	for _, cut := range []int{1200, 0} { // rows that are kept after the fault
		whole := recording(4)
		from := slices.Index(whole.labels["anomaly"], true)
		end := from + slices.Index(whole.labels["anomaly"][from:], false)
		n := min(len(whole.rows), end+cut+40)
		whole.rows, whole.times, whole.labels["anomaly"] = whole.rows[:n], whole.times[:n], whole.labels["anomaly"][:n]
		twice, first, second, ok := spliced(whole)
		if !ok || first != [2]int{from, end} || second[0] != end+spliceAfter || second[1]-second[0] != end-from || second[1] != len(twice.rows) {
			t.Fatalf("%v: first %v, second %v of %d rows", ok, first, second, len(twice.rows))
		}
		for i := range end - from {
			if !slices.Equal(twice.rows[from+i], twice.rows[second[0]+i]) {
				t.Fatalf("row %d of the fault differs", i)
			}
		}
		if len(twice.times) != len(twice.rows) || !slices.IsSortedFunc(twice.times, time.Time.Compare) {
			t.Error("times go back")
		}
	}
	healthy := recording(5)
	if _, _, _, ok := spliced(healthy); ok {
		t.Error("spliced what holds no fault")
	}
	early := recording(4)
	early.labels["anomaly"][10] = true
	if _, _, _, ok := spliced(early); ok {
		t.Error("spliced a fault of the learning")
	}
}

// A fault that comes again after as long as it lasted is found again.
func TestSplicedIsFound(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	var tables []*table
	for range 3 {
		rec := recording(4)
		from := slices.Index(rec.labels["anomaly"], true)
		for i := range rec.rows {
			rec.labels["anomaly"][i] = i >= from && i < from+150
			for k := range rec.rows[i] {
				rec.rows[i][k] = r.NormFloat64()
				if rec.labels["anomaly"][i] {
					rec.rows[i][k] += 6
				}
			}
		}
		tables = append(tables, rec)
	}
	var out bytes.Buffer
	printSpliced(&out, tables)
	if got := out.String(); !strings.Contains(got, "3 files") || !strings.Contains(got, "3 found the first time") || !strings.Contains(got, "; 3 the second time") {
		t.Error(got)
	}
	out.Reset()
	if printSpliced(&out, []*table{recording(5)}); out.Len() > 0 {
		t.Errorf("of nothing: %s", out.String())
	}
}
