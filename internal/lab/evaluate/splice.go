package evaluate

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch/internal/lab/detector"
)

// A recording with one fault flatters the aftermath of an alarm, in which a fault that is
// no worse raises nothing. So the same fault is spliced in once more, soon after the first.

// spliceAfter is how many rows lie between the two.
const spliceAfter = 300

// spliced returns a recording in which its only fault comes a second time, and the rows of
// both; ok is false where it does not hold one fault after its learning.
func spliced(t *table) (twice *table, first, second [2]int, ok bool) {
	truth := t.labels["anomaly"]
	from := slices.Index(truth, true)
	if from < skabLearn {
		return nil, first, second, false
	}
	end := from
	for end < len(truth) && truth[end] {
		end++
	}
	if slices.Contains(truth[end:], true) {
		return nil, first, second, false
	}
	after := min(len(t.rows), end+spliceAfter)
	missing := spliceAfter - (after - end) // made up for by what came before the fault
	rows := slices.Concat(t.rows[:after], t.rows[max(0, from-missing):from], t.rows[from:end])
	twice = &table{channels: t.channels, rows: rows, times: slices.Clone(t.times[:after])}
	for len(twice.times) < len(rows) {
		twice.times = append(twice.times, twice.times[len(twice.times)-1].Add(time.Second))
	}
	return twice, [2]int{from, end}, [2]int{len(rows) - (end - from), len(rows)}, true
}

// printSpliced prints how a second fault is found.
func printSpliced(stdout io.Writer, tables []*table) {
	files := 0
	var found, missed, rows [2]int
	for _, t := range tables {
		twice, first, second, ok := spliced(t)
		if !ok {
			continue
		}
		files++
		j := judge(twice, detector.DefaultTuning(), skabLearn, either(len(t.channels)))
		for k, of := range [2][2]int{first, second} {
			alarm := j.alarm[of[0]:of[1]]
			if slices.Contains(alarm, true) {
				found[k]++
			}
			for _, yes := range alarm {
				rows[k]++
				if !yes {
					missed[k]++
				}
			}
		}
	}
	if files == 0 {
		return
	}
	share := func(k int) float64 { return 100 * float64(missed[k]) / float64(rows[k]) }
	fmt.Fprintf(stdout, "\nspliced       the fault of each of %d files once more, %d rows after it: %d found the first time, %.1f %% of rows missed; %d the second time, %.1f %%\n",
		files, spliceAfter, found[0], share(0), found[1], share(1))
}
