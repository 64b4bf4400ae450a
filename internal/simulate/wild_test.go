package simulate

import (
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Of what units in the field measure most arrives, single readings are lost, and
// somewhere nothing comes for an hour and more.
func TestArrives(t *testing.T) {
	start := rimewatch.TimeOf(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))
	end := start + 60*rimewatch.Day
	lost, n, longest := 0, 0, 0
	for seed := range uint64(5) {
		w, err := Draw("walkin_freezer", seed, start, end, false)
		if err != nil {
			t.Fatal(err)
		}
		silent := 0
		for at := start; at < end; at += rimewatch.Minute {
			n++
			if w.Arrives(at) {
				silent = 0
				continue
			}
			lost++
			silent++
			longest = max(longest, silent)
		}
	}
	if share := float64(lost) / float64(n); share == 0 || share > 0.1 || longest < 60 {
		t.Errorf("%.3f are lost, at most %d min in a row", share, longest)
	}
}
