package unit

import (
	"math"
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

// TestThermostatSetWarmer: where a thermostat is set warmer and runs become so short that
// two readings show them, these are no runs that a protector ends, though each leaves the
// zone warmer than usual. Those of a unit that warms up meanwhile are.
func TestThermostatSetWarmer(t *testing.T) {
	for name, warms := range map[string]bool{"set warmer": false, "warming up": true} {
		const turned = 10 * 24 * time.Hour
		set, zone, on, since, tripped, last := -22.2, -22.0, false, time.Duration(0), 0, time.Duration(0)
		s := sampled(2*time.Minute, turned+24*time.Hour, func(at time.Duration, r *rimewatch.Reading) {
			step := (at - last).Minutes()
			last = at
			cools, lasts := 0.06, 8*time.Minute
			if at >= turned {
				set, cools, lasts = -19.75, 0.115, 4*time.Minute
			}
			switch {
			case at >= turned && warms: // its protector opens after four minutes, and closes after six
				cools = 0.02
				if d := at - since; on && d >= 4*time.Minute || !on && d >= 6*time.Minute {
					on, since = !on, at
				}
			case on && (zone <= set || at-since >= 3*lasts):
				on, since = false, at
			case !on && zone >= set+0.4:
				on, since = true, at
			}
			amps := 0.0
			if zone += 0.05 * step; on {
				zone -= (0.05 + cools) * step
				amps = 32
			}
			r.Set(rimewatch.AmpDraw, amps)
			r.Set(rimewatch.ProductZoneTemp, math.Round(10*zone)/10)
		}, func(at time.Duration, s *State, _ *Observation) {
			tripped = max(tripped, s.Trips(45*minute))
		})
		if !warms && (tripped >= 3 || s.phases.cutOut < -20.5) || warms && tripped < 3 {
			t.Errorf("%s: %d runs without result within 45 min, runs are thought to end at %.1f °C", name, tripped, s.phases.cutOut)
		}
	}
}
