package unit

import (
	"math"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// TestAbsentChannelsKeepTheirLevel: a channel that is absent in some hours, the
// first among them, is not learnt lower than it is.
func TestAbsentChannelsKeepTheirLevel(t *testing.T) {
	var m model
	for k := range 100 {
		have := Channels(0).With(Discharge)
		if k > 0 && k%3 != 0 {
			have = have.With(Amps)
		}
		ambient := float64(k % 7)
		m.add(Conditions{covAmbient: ambient}, [NumChannels]float64{Discharge: 60 + ambient, Amps: 280 + ambient}, have, 1000)
		if k%6 == 5 {
			m.solve(&chilledPrior)
		}
	}
	for c, level := range map[Channel]float64{Discharge: 60, Amps: 280} {
		if got := m.expect(c, Conditions{covAmbient: 3}); math.Abs(got-level-3) > 0.3 {
			t.Errorf("channel %d: %.2f expected at 3 K, want %.2f", c, got, level+3)
		}
	}
}

// TestSingleReadingsStray: of current and vibration the median of three readings
// counts while the compressor runs.
func TestSingleReadingsStray(t *testing.T) {
	var strays, readings int
	ampFeed(3*24*60, func(k int) float64 {
		v := cycling(k)
		if k > 600 && k%50 == 10 {
			v *= 6
		}
		return v
	}, func(k int, s *State, o *Observation) {
		if v, ok := s.Calm(o, rimewatch.AmpDraw); ok && s.Running() {
			readings++
			if v > 4 {
				strays++
			}
		}
	})
	if strays > 0 || readings < 1000 {
		t.Errorf("%d of %d readings stray", strays, readings)
	}
}

// TestLightsFirst: lights that are metered with the compressor and seen before it
// do not pass for it.
func TestLightsFirst(t *testing.T) {
	s := ampFeed(4*24*60, func(k int) float64 {
		lights := 0.0
		if k%1440 < 840 {
			lights = 0.5
		}
		if k < 300 {
			return 0.05 + lights
		}
		return cycling(k) + lights
	}, nil)
	if share, ok := s.RunShare(WindowsADay); !ok || share < 35 || share > 45 || s.running.hi < 2.5 {
		t.Errorf("%.0f %% of time running, known %v, running at %.1f A; want 40 %% at 3 A", share, ok, s.running.hi)
	}
}

// TestThermostatSetAnew: a colder setting is seen within a day, a steady one is
// never taken for another.
func TestThermostatSetAnew(t *testing.T) {
	for _, shift := range []float64{0, -2.5, 2.5} {
		var s State
		at, seen := rimewatch.TimeOf(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)), 0
		for k := range 12 * 24 * 60 {
			at += minute
			r := rimewatch.Reading{At: at, ReceivedAt: at}
			phase := k % 50
			zone := 2 + 2*float64(20-phase)/20
			if phase >= 20 {
				zone = 2 + 2*float64(phase-20)/30
			}
			if k >= 10*24*60 {
				zone += shift * min(1, float64(k-10*24*60)/60)
			}
			r.Set(rimewatch.ProductZoneTemp, math.Round(10*zone)/10)
			r.Set(rimewatch.AmpDraw, cycling(k))
			var o Observation
			s.Observe(&Config{}, &r, at, 0, &o)
			if seen == 0 && s.Resettling() {
				seen = k
			}
		}
		if early := seen != 0 && seen < 10*24*60; early || (shift != 0) != (seen != 0) || seen > 11*24*60 {
			t.Errorf("shift %v K on day 10 was seen on day %.1f", shift, float64(seen)/1440)
		}
	}
}
