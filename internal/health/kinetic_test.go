package health_test

import (
	"math"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/health"
)

func TestKinetic(t *testing.T) {
	if _, ok := new(health.Kinetic).Mean(); ok {
		t.Error("nothing has a mean")
	}
	for _, tc := range []struct {
		temps, hours []float64
		want         float64
	}{
		{[]float64{5}, []float64{24}, 5.000},
		{[]float64{5, 14}, []float64{18, 6}, 8.285},
		{[]float64{5, 15}, []float64{23, 1}, 5.764},
		{[]float64{2, 8}, []float64{12, 12}, 5.536},
		{[]float64{-20, -10}, []float64{22, 2}, -18.355},
		{[]float64{22, 35}, []float64{29 * 24, 24}, 22.879},
	} {
		var k health.Kinetic
		for i := range tc.temps {
			k.Add(tc.temps[i], tc.hours[i])
		}
		if got, ok := k.Mean(); !ok || math.Abs(got-tc.want) > 0.0005 {
			t.Errorf("%v °C for %v h: %.4f, want %.3f", tc.temps, tc.hours, got, tc.want)
		}
	}
}

// TestSlowLoggers: whatever the interval up to an hour, the time is covered, and
// a missed reading or two leaves the gap that it is.
func TestSlowLoggers(t *testing.T) {
	for _, every := range []rimewatch.Time{minute, 5 * minute, 15 * minute, 30 * minute, hour} {
		for _, missed := range []rimewatch.Time{0, 1, 3} {
			c, s := cooler(), &health.State{}
			end := noon + 48*hour
			for t := noon; t < end; t += every {
				if gone := end - 12*hour; t > gone && t <= gone+missed*every {
					continue
				}
				s.Observe(c, at(t, 3))
			}
			got := s.Compliance(c, end, noon)
			// A reading holds for twice the interval: one that is missed is covered,
			// of three in a row two are not.
			want := 1 - float64(max(missed-1, 0)*every)/float64(24*hour)
			if share := float64(got.Covered) / float64(got.Window); math.Abs(share-want) > 0.002 {
				t.Errorf("every %v, %d missed: %.4f covered, want %.4f", every, missed, share, want)
			}
		}
	}
}
