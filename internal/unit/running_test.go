package unit

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
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
	if s.Broken() != 0 {
		t.Errorf("sensors %v, which it does not have, are broken", s.Broken())
	}
}

// TestSmallCompressor: a household unit of 25 W, of which only the current is measured, is
// past learning after four days, by a fine meter or a coarse one; a level of its
// current that a coarse one shows is no departure. Beside pipes a current as small is no
// compressor's.
func TestSmallCompressor(t *testing.T) {
	for _, resolution := range []float64{0.001, 0.01} {
		s := ampFeed(20*24*60, func(k int) float64 {
			if k%50 >= 12 {
				return 0
			}
			v := 0.11 + 0.001*math.Sin(float64(k))
			if k > 10*24*60 {
				v -= 0.012 // 11 %: one step of the coarse meter and what another ambient may make
			}
			return resolution * math.Round(v/resolution)
		}, func(k int, s *State, _ *Observation) {
			if k == 4*24*60 && s.Learning() {
				t.Errorf("resolution %g A: still learning after four days, %d of %d h", resolution, s.LearntHours(), s.NeededHours())
			}
		})
		if s.Modulated() || s.Runs() < 400 {
			t.Errorf("resolution %g A: %d runs, varies %v", resolution, s.Runs(), s.Modulated())
		}
		if now, _, _ := s.Departure(Amps); (now < -3) != (resolution == 0.001) {
			t.Errorf("resolution %g A: departs by %.1f %%", resolution, now)
		}
	}
	var s State
	at := rimewatch.TimeOf(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC))
	for k := range 4 * 24 * 60 {
		at += minute
		r := rimewatch.Reading{At: at, ReceivedAt: at}
		r.Set(rimewatch.AmpDraw, 0.12*float64(k/20%2))
		r.Set(rimewatch.CompressorDischargeTemp, 30)
		var o Observation
		s.Observe(&Config{}, &r, at, 0, &o)
	}
	if s.RunningKnown() || s.NeededHours() != LearnHours {
		t.Errorf("beside a discharge line: running known %v, %d h needed", s.RunningKnown(), s.NeededHours())
	}
}

// TestNeverStops: a current that has shown one level only is a compressor that
// never stops, and its share of running time is known within a day.
func TestNeverStops(t *testing.T) {
	s := ampFeed(24*60, func(int) float64 { return 0.343 }, nil)
	if share, ok := s.RunShare(WindowsADay); !ok || share < 99 {
		t.Errorf("share of running time %.0f %%, known %v", share, ok)
	}
	small := ampFeed(24*60, func(k int) float64 { return 0.1 + 0.001*float64(k%3) }, nil)
	if share, ok := small.RunShare(WindowsADay); !ok || share < 99 {
		t.Errorf("of a small one: share of running time %.0f %%, known %v", share, ok)
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
	ampFeed(14*24*60, func(k int) float64 { // lights or a heater behind the same meter, which strays now and then
		v := cycling(k)
		if k > 600 && k%700 >= 20 && k%700 < 50 && v < 1 {
			v = 1.4
			if k%700 == 30 || k%700 == 31 {
				v *= 10
			}
		}
		return v
	}, func(_ int, _ *State, o *Observation) {
		if o.FailedStart {
			failed++
		}
	})
	if failed > 0 {
		t.Errorf("%d failed starts amid another load", failed)
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

// TestSlowestMostly: an inverter that runs at its slowest nearly all the time shows
// by its rare highest what it is.
func TestSlowestMostly(t *testing.T) {
	s := ampFeed(7*24*60, func(k int) float64 {
		switch k := k % 240; {
		case k >= 200:
			return 0.05
		case k >= 180:
			return 2.4
		default:
			return 1
		}
	}, nil)
	if !s.Modulated() || s.SteadyLoad() {
		t.Errorf("modulated %v, steady load %v", s.Modulated(), s.SteadyLoad())
	}
	if steady := ampFeed(7*24*60, cycling, nil); !steady.SteadyLoad() {
		t.Error("the load of one speed is not known to be steady after a week")
	}
}

// TestOverloadIsNoSpeed: a current that rises by half while nothing shakes more is
// not taken for another speed of the compressor.
func TestOverloadIsNoSpeed(t *testing.T) {
	s := shakingFeed(6*24*60, func(k int) (amps, vib float64) {
		if v := cycling(k); v < 1 || k < 4*24*60 {
			return v, shaking(v)
		}
		return 4.6, 0.9
	}, nil)
	if s.Modulated() || !s.SteadyLoad() {
		t.Errorf("modulated %v, steady load %v", s.Modulated(), s.SteadyLoad())
	}
}

func shaking(amps float64) float64 {
	if amps < 1 {
		return 0.05
	}
	return 0.9
}

// shakingFeed is ampFeed with vibration.
func shakingFeed(minutes int, both func(k int) (amps, vib float64), each func(k int, s *State, o *Observation)) *State {
	var s State
	at := rimewatch.TimeOf(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC))
	for k := range minutes {
		at += minute
		r := rimewatch.Reading{At: at, ReceivedAt: at}
		amps, vib := both(k)
		r.Set(rimewatch.AmpDraw, math.Round(1000*amps)/1000)
		r.Set(rimewatch.VibrationLevel, vib)
		var o Observation
		s.Observe(&Config{}, &r, at, 0, &o)
		if each != nil {
			each(k, &s, &o)
		}
	}
	return &s
}

// TestHeaterAsStrongAsTheCompressor: a heater behind the same meter that draws what
// the compressor does is not taken for a run, since nothing shakes; a vibration
// sensor that is dead does not hide the runs for longer than a heater lasts.
func TestHeaterAsStrongAsTheCompressor(t *testing.T) {
	heater := func(k int) bool { return k > 24*60 && k%360 >= 25 && k%360 < 45 } // the pause of cycling
	wrong, seen := 0, 0
	shakingFeed(6*24*60, func(k int) (amps, vib float64) {
		if heater(k) {
			return 2.9, 0.05
		}
		return cycling(k), shaking(cycling(k))
	}, func(k int, s *State, _ *Observation) {
		if heater(k) && k > 2*24*60 {
			seen++
			if s.Running() {
				wrong++
			}
		}
	})
	if wrong > 0 || seen < 100 {
		t.Errorf("running in %d of %d minutes of a heater", wrong, seen)
	}
	hidden := 0
	shakingFeed(6*24*60, func(k int) (amps, vib float64) {
		if k < 3*24*60 {
			return cycling(k), shaking(cycling(k))
		}
		return cycling(k), 0.05
	}, func(k int, s *State, _ *Observation) {
		if k > 3*24*60 && cycling(k) > 1 && !s.Running() {
			hidden++
		}
	})
	if hidden > int(stillFor)/60+20 {
		t.Errorf("%d minutes of running hidden by a dead vibration sensor", hidden)
	}
}

// TestStrayRuns: single readings too high while the compressor stands are no runs
// where the meter is known to stray.
func TestStrayRuns(t *testing.T) {
	s := ampFeed(3*24*60, func(k int) float64 {
		if k > 600 && (k%50 == 10 || k%50 == 30 || k%50 == 40) {
			return max(2.4, 4*cycling(k))
		}
		return cycling(k)
	}, nil)
	if run, ok := s.MedianRun(); !ok || run < 15 {
		t.Errorf("median run %.0f min, known %v, of runs of 20 min", run, ok)
	}
	if starts := s.StartsPerHour(); starts > 3 {
		t.Errorf("%d starts an hour", starts)
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

// TestSlowSpeedIsNoContradiction: a discharge line hardly warmer than the suction line
// contradicts a compressor of one speed, not one that turns slowly.
func TestSlowSpeedIsNoContradiction(t *testing.T) {
	r := rimewatch.Reading{At: hour}
	r.Set(rimewatch.CompressorDischargeTemp, 20)
	r.Set(rimewatch.CompressorSuctionTemp, 12)
	o := Observation{Reading: &r, At: hour, Sane: r.Present}
	var s State
	s.gap, s.running.known, s.running.on, s.running.since = 60, true, true, state.StampOf(minute)
	if !s.contradictions(&Config{}, &o).Has(rimewatch.CompressorDischargeTemp) {
		t.Error("8 K between the lines do not contradict a compressor of one speed")
	}
	s.running.modulated = true
	if found := s.contradictions(&Config{}, &o); found != 0 {
		t.Errorf("%v contradicts a compressor that turns slowly", found)
	}
	r.Set(rimewatch.CompressorDischargeTemp, 5)
	if !s.contradictions(&Config{}, &o).Has(rimewatch.CompressorDischargeTemp) {
		t.Error("a discharge line colder than the suction line contradicts nothing")
	}
}

// TestOtherSpeed: current and vibration that move together in two windows are another speed
// of the compressor, unless the unit is suspected to be failing.
func TestOtherSpeed(t *testing.T) {
	for _, tc := range []struct {
		name      string
		low       float32 // of the load, of a highest of 1
		amps, vib float64
		suspected bool
		want      bool
	}{
		{"another speed", 0.9, -20, -12, false, true},
		{"a fan that stands, of a fixed speed", 0.9, 30, 20, true, false},
		{"suspected, of a load that was never quite steady", 0.65, 30, 20, true, false},
		{"a fault that moves the current alone", 0.9, -20, -2, false, false},
	} {
		w := running{seen: loadKnown, low: tc.low, high: 1}
		for range speedKnown {
			w.followSpeed(tc.amps, tc.vib, tc.suspected)
		}
		if got := w.Modulated(); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
	w := running{seen: loadKnown, low: 0.9, high: 1, speeds: speedKnown}
	if w.followSpeed(0, 0, true); !w.Modulated() {
		t.Error("a speed that is known to vary is forgotten")
	}
}

// TestLoadOfSuspectedUnit: a current that is spread, as by a fan that stands, makes a load vary unless
// the unit is suspected to be failing.
func TestLoadOfSuspectedUnit(t *testing.T) {
	for suspected, want := range map[bool]bool{false: true, true: false} {
		w := running{source: fromAmps, hi: 5, lo: 0.1, seen: loadKnown, high: 5, low: 3.5}
		for k := range 24 * 60 {
			amps := float32(5)
			if k%2 == 0 {
				amps = 2.4
			}
			w.followLoad(amps, &Observation{Gap: minute, suspected: suspected})
		}
		if w.Modulated() != want {
			t.Errorf("suspected %v: varies %v", suspected, w.Modulated())
		}
	}
}

// TestFailedStartsDrawAlike: two currents amid stops of one compressor that differ by more than
// failed starts do are readings that are wrong; what draws alike has failed, the first as well.
// A meter whose single readings are known to stray has to show three.
func TestFailedStartsDrawAlike(t *testing.T) {
	for _, tc := range []struct {
		name   string
		strays bool
		peaks  []float64 // A, one an hour, each in a stop
		counts []int     // failed starts of two hours after each
	}{
		{"one", false, []float64{18}, []int{0}},
		{"two that differ", false, []float64{18, 12}, []int{0, 0}},
		{"two alike", false, []float64{18, 16.2}, []int{0, 2}},
		{"alike after another", false, []float64{18, 12, 13}, []int{0, 0, 2}},
		{"two alike of a meter that strays", true, []float64{18, 17}, []int{0, 0}},
		{"three alike of a meter that strays", true, []float64{18, 17, 18}, []int{0, 0, 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			const first = 2000 // min, at the start of a run
			var got []int
			ampFeed(first+50*(len(tc.peaks)+1), func(k int) float64 {
				i, in := (k-first)/50, (k-first)%50
				switch {
				case tc.strays && k == first-240:
					return 18 // amid a run
				case k >= first && in == 35 && i < len(tc.peaks):
					return tc.peaks[i]
				}
				return cycling(k)
			}, func(k int, s *State, _ *Observation) {
				if i := (k - first) / 50; k >= first && (k-first)%50 == 37 && i < len(tc.peaks) {
					got = append(got, s.FailedStarts(3))
				}
			})
			if !slices.Equal(got, tc.counts) {
				t.Errorf("%v failed starts, want %v", got, tc.counts)
			}
		})
	}
}
