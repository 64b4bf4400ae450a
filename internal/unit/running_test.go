package unit

import (
	"math"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// ampFeed plays the current of a compressor, one reading a minute, and nothing else.
func ampFeed(minutes int, amps func(k int) float64, each func(k int, s *State, o *Observation)) *State {
	var s State
	at := rimewatch.TimeOf(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC))
	for k := range minutes {
		at += minute
		r := rimewatch.Reading{At: at, ReceivedAt: at}
		r.Set(rimewatch.AmpDraw, math.Round(1000*amps(k))/1000)
		var o Observation
		s.Observe(&Config{}, &r, at, 0, &o)
		if each != nil {
			each(k, &s, &o)
		}
	}
	return &s
}

// cycling runs 20 minutes of every 50.
func cycling(k int) float64 {
	if k%50 < 20 {
		return 3 + 0.02*math.Sin(float64(k))
	}
	return 0.05
}

// TestCurrentAloneLearns: a unit without a zone probe is past learning after a week.
func TestCurrentAloneLearns(t *testing.T) {
	s := ampFeed(7*24*60, cycling, nil)
	if s.Learning() || s.Runs() < 150 {
		t.Errorf("%d hours learnt, %d runs, still learning %v", s.LearntHours(), s.Runs(), s.Learning())
	}
	if s.Modulated() {
		t.Error("a compressor of one speed is taken for a modulated one")
	}
}

// TestNeverStops: a current that has shown one level only is a compressor that
// never stops, and its share of running time is known within a day.
func TestNeverStops(t *testing.T) {
	s := ampFeed(24*60, func(int) float64 { return 0.343 }, nil)
	if share, ok := s.RunShare(WindowsADay); !ok || share < 99 {
		t.Errorf("share of running time %.0f %%, known %v", share, ok)
	}
	idle := ampFeed(24*60, func(int) float64 { return 0.08 }, nil)
	if idle.Running() {
		t.Error("a current of 0.08 A is taken for a compressor")
	}
}

// TestSpikesAreNoStarts: single readings several times too high while the
// compressor runs are no failed starts, wherever in a run they come.
func TestSpikesAreNoStarts(t *testing.T) {
	failed := 0
	ampFeed(14*24*60, func(k int) float64 {
		v := cycling(k)
		if k > 600 && k%50 == 19-(k/50)%20 { // also in the last minute of a run
			v *= 5
		}
		return v
	}, func(_ int, _ *State, o *Observation) {
		if o.FailedStart {
			failed++
		}
	})
	if failed > 0 {
		t.Errorf("%d failed starts of a compressor that started every time", failed)
	}
	real := 0
	ampFeed(24*60, func(k int) float64 {
		if k > 600 && k%50 == 45 {
			return 18
		}
		return cycling(k)
	}, func(_ int, _ *State, o *Observation) {
		if o.FailedStart {
			real++
		}
	})
	if real < 10 {
		t.Errorf("%d failed starts seen of 16", real)
	}
}

// TestModulated: an inverter and a digital scroll are told from one speed, also
// with a lamp on the meter.
func TestModulated(t *testing.T) {
	for name, c := range map[string]struct {
		amps func(k int) float64
		want bool
	}{
		"inverter": {func(k int) float64 {
			if k%180 < 150 {
				return 1 + 2*math.Abs(math.Sin(float64(k)/97))
			}
			return 0.05
		}, true},
		"digital scroll": {func(k int) float64 {
			switch {
			case k%180 >= 120:
				return 0.05
			case (k*7919)%100 < 55:
				return 3
			default:
				return 1.1
			}
		}, true},
		"one speed with a lamp": {func(k int) float64 {
			if k%300 < 15 {
				return cycling(k) + 0.4
			}
			return cycling(k)
		}, false},
		"one speed that falls in a run": {func(k int) float64 {
			if k%50 < 20 {
				return 2 + 0.7*math.Exp(-float64(k%50)/5)
			}
			return 0.05
		}, false},
	} {
		if got := ampFeed(5*24*60, c.amps, nil).Modulated(); got != c.want {
			t.Errorf("%s: modulated %v, want %v", name, got, c.want)
		}
	}
}
