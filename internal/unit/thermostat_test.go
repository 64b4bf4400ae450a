package unit

import (
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// TestUnevenThermostatSetAnew: however unevenly the runs end, a thermostat that is turned is
// followed, and what its runs show can be compared again.
func TestUnevenThermostatSetAnew(t *testing.T) {
	const span = 2.0
	for _, by := range []float64{-3, -1.6, -1, 1, 1.6, 3} {
		for _, uneven := range []float64{0, 0.3, 0.6} {
			var s State
			at := rimewatch.TimeOf(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC))
			zone, on, set, runs, cools, compares := 5.0, false, 3.0, 0, 0, 0
			for k := range 40 * 24 * 60 {
				if k == 10*24*60 {
					set += by
				}
				stop := set + uneven*float64(runs%3-1)
				switch {
				case on && zone <= stop:
					on = false
				case !on && zone >= set+span:
					on = true
					runs++
				}
				amps := 0.05
				if zone += 0.08; on {
					zone -= 0.2
					amps = 3
				}
				at += minute
				r := rimewatch.Reading{At: at, ReceivedAt: at}
				r.Set(rimewatch.AmpDraw, amps)
				r.Set(rimewatch.ProductZoneTemp, zone)
				var o Observation
				s.Observe(&Config{}, &r, at, 0, &o)
				if on && k > 25*24*60 {
					cools++
					if s.Comparable() && s.Phase() == Running {
						compares++
					}
				}
			}
			if p := &s.phases; 10*compares < 9*cools || p.cutIn < p.cutOut {
				t.Errorf("set %+.1f K, runs end unevenly by %.1f K: %d of %d readings can be compared; runs are thought to begin at %.1f °C and to end at %.1f", by, uneven, compares, cools, p.cutIn, p.cutOut)
			}
		}
	}
}
