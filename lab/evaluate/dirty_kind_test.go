package evaluate

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch/internal/simulate"
)

// Every unit counts once, by what makes it hardest.
func TestKinds(t *testing.T) {
	unit := func(d simulate.Drive, every time.Duration) *simulate.Wild {
		return &simulate.Wild{Config: simulate.Config{SampleEvery: every, Params: &simulate.Params{Build: simulate.Build{Drive: d}}}}
	}
	nan := math.NaN()
	var slow, sum wildTally
	for _, tc := range []struct {
		of             *simulate.Wild
		iced, learning bool
		found, end     float64
	}{
		{unit(simulate.VariableSpeed, time.Minute), true, true, nan, 3},
		{unit(simulate.VariableSpeed, time.Minute), false, true, 4, nan},
		{unit(simulate.DigitalScroll, 5*time.Minute), false, false, 4, 5},
		{unit(simulate.FixedSpeed, 5*time.Minute), false, false, 6, 5},
		{unit(simulate.FixedSpeed, time.Minute), false, false, 4, 5},
		{unit(simulate.FixedSpeed, 30*time.Second), false, false, nan, nan},
	} {
		slow.add(&wildOutcome{outcome: outcome{found: tc.found, end: tc.end}, lead: nan, kind: kindOf(tc.of, tc.iced, tc.learning)}, &wildTrials[0])
	}
	sum.merge(slow)
	var out bytes.Buffer
	sum.printKinds(&out)
	const want = `| units with a slow fault | found | before the product alarm |
|---|---|---|
| iced up before the fault began | 0/1 | 0/1 |
| learning to the end | 1/1 | 0/0 |
| load that varies by itself | 1/1 | 1/1 |
| a reading every five minutes | 1/1 | 0/1 |
| all others | 1/2 | 1/1 |

`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
