package unit

import (
	"math"
	"testing"
)

// learnedBetween is what a model makes of a month of hours at ambient temperatures between
// two, K above RefAmbient, at which a unit shows shown.
func learnedBetween(lo, hi float64, shown func(ambient float64) [NumChannels]float64) *model {
	m := new(model)
	for k := range 30 * 24 {
		ambient := (lo+hi)/2 + (hi-lo)/2*math.Sin(float64(k)*math.Pi/12)
		m.add(Conditions{covAmbient: ambient}, shown(ambient), whileRunning, memoryHours)
	}
	m.solve(&chilledPrior)
	return m
}

// TestHeatAfterTheCold: a unit whose head pressure is held up in the cold that it was learnt
// in follows the heat; that is no fouled condenser. Without heat as much is one.
func TestHeatAfterTheCold(t *testing.T) {
	held := func(ambient float64) (y [NumChannels]float64) {
		over := max(0, ambient+4)
		y[Discharge], y[Suction], y[Amps] = 70+1.6*over, 8+0.45*ambient, 200+0.8*over
		return y
	}
	m := learnedBetween(-14, -4, held)
	for ambient := -4.0; ambient <= 8; ambient += 2 {
		for _, c := range [...]Channel{Discharge, Suction, Amps} {
			off := held(ambient)[c] - m.expect(c, Conditions{covAmbient: ambient})
			if left := shrink(off, m.airDoubted(c, ambient)); math.Abs(left) > 0.6*floors[c] {
				t.Errorf("channel %d departs by %.1f at %+.0f K, of %.1f", c, left, ambient, off)
			}
		}
	}
	if doubt := m.airDoubted(Discharge, -8); doubt > 0.3*floors[Discharge] {
		t.Errorf("%.1f K of the discharge line are doubted at an ambient that was met", doubt)
	}
}

// TestWhatTheZoneHardlyShows: where the probe lags so much that a run hardly shows, one
// that the thermostat ends soon is not without result; one that leaves the zone warm is.
func TestWhatTheZoneHardlyShows(t *testing.T) {
	p := phases{cutIn: -19.2, cutOut: -19.4, runMin: 16, beganAt: -19.2}
	if p.fruitless(8, -19.1, 0.1) {
		t.Error("a short run of a unit whose runs hardly show")
	}
	p.beganAt = -17
	if !p.fruitless(3, -16.95, 0.1) {
		t.Error("a short run that leaves the zone warm")
	}
	p = phases{cutIn: -19, cutOut: -21, runMin: 16, beganAt: -19}
	if !p.fruitless(3, -19.1, 0.1) {
		t.Error("a short run of a unit whose runs show")
	}
}
