package unit

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// sampled plays a unit that sends every so often, with what a reading holds at a time since
// the first of them.
func sampled(every, lasts time.Duration, fill func(at time.Duration, r *rimewatch.Reading), each func(at time.Duration, s *State, o *Observation)) *State {
	var s State
	begin := rimewatch.TimeOf(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC))
	for at := time.Duration(0); at < lasts; at += every {
		now := begin + rimewatch.Time(at.Milliseconds())
		r := rimewatch.Reading{At: now, ReceivedAt: now}
		fill(at, &r)
		var o Observation
		s.Observe(&Config{}, &r, now, 0, &o)
		if each != nil {
			each(at, &s, &o)
		}
	}
	return &s
}

// TestRunsOfOneReading: a unit with its fans behind the meter, whose runs are so short that
// one reading in five shows them, is no compressor that never stops. Where nothing but a
// meter that strays shows another level, nothing is learnt of it.
func TestRunsOfOneReading(t *testing.T) {
	const every = 5 * time.Minute
	for name, heats := range map[string]bool{"runs": true, "strays": false} {
		wrong, ran := 0, 0
		sampled(every, 5*24*time.Hour, func(at time.Duration, r *rimewatch.Reading) {
			k := int(at/every+2) % 5
			amps, pipe := 0.38, 44-5*float64(k-1)
			if k == 0 {
				amps, pipe = 3.3, 50
			}
			if !heats {
				pipe = 13
			}
			r.Set(rimewatch.AmpDraw, amps)
			r.Set(rimewatch.CompressorDischargeTemp, pipe)
			r.Set(rimewatch.AmbientTemp, 12)
		}, func(at time.Duration, s *State, _ *Observation) {
			if at < 12*time.Hour {
				return
			}
			if high := int(at/every+2)%5 == 0; s.Running() && !high || heats && high && !s.Running() {
				wrong++
			} else if s.Running() {
				ran++
			}
		})
		if wrong > 0 || heats != (ran > 200) {
			t.Errorf("%s: %d readings of a run are known, %d are taken for the other state", name, ran, wrong)
		}
	}
}

// TestStrayEverySecond: of a meter of which one reading in a hundred strays no start has
// failed, also where readings come every second; a rotor that is locked for seconds is told.
func TestStrayEverySecond(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	failed, locked, told := 0, 0, 0
	sampled(time.Second, 36*time.Hour, func(at time.Duration, r *rimewatch.Reading) {
		amps := 0.4
		minute := int(at/time.Minute) % 50
		switch {
		case minute < 20:
			amps = 5
		case at > 30*time.Hour && minute == 45 && at%time.Minute < 7*time.Second:
			amps = 26
			if at%time.Minute == 0 {
				locked++
			}
		}
		if draw.IntN(100) == 0 {
			amps = 20 + 20*draw.Float64()
		}
		r.Set(rimewatch.AmpDraw, amps)
	}, func(at time.Duration, _ *State, o *Observation) {
		switch {
		case !o.FailedStart:
		case at > 30*time.Hour && int(at/time.Minute)%50 == 45:
			told++
		default:
			failed++
		}
	})
	if failed > 0 || told < locked-2 { // two show what such a start draws
		t.Errorf("%d starts failed that never were, %d of %d that were are told", failed, told, locked)
	}
}

// TestScrollEverySecond: a digital scroll is one also where every second is seen: while it
// is unloaded it does not stand.
func TestScrollEverySecond(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	s := sampled(time.Second, 3*24*time.Hour, func(at time.Duration, r *rimewatch.Reading) {
		amps := 0.0
		if int(at/time.Minute)%60 < 30 {
			amps = 1.5
			if draw.IntN(100) < 55 {
				amps = 4.6
			}
		}
		r.Set(rimewatch.AmpDraw, amps)
	}, nil)
	if !s.Modulated() {
		t.Error("a digital scroll is taken for a compressor of one speed")
	}
}

// TestFansAlone: a compressor that is never seen to run, since readings come when it stands,
// is taken for one that never stops as long as its discharge line is hot, and no longer.
func TestFansAlone(t *testing.T) {
	s := sampled(5*time.Minute, 6*time.Hour, func(at time.Duration, r *rimewatch.Reading) {
		pipe := 45.0
		if at > 5*time.Hour {
			pipe = max(18, 45-27*(at-5*time.Hour).Minutes()/40)
		}
		r.Set(rimewatch.AmpDraw, 0.47)
		r.Set(rimewatch.CompressorDischargeTemp, pipe)
		r.Set(rimewatch.AmbientTemp, 15.5)
	}, func(at time.Duration, s *State, _ *Observation) {
		if at == 4*time.Hour && !s.Running() {
			t.Error("a hot line and one level of the current are not taken for a run")
		}
	})
	if s.RunningKnown() {
		t.Error("fans are taken for a compressor whose line has become cold")
	}
}

// TestHourlyLog: what an hourly log of a large plant shows is learnt, the runs of half a day
// that it makes: a current of several hundred amperes is its own, and an hour between two
// readings is no gap.
func TestHourlyLog(t *testing.T) {
	var s State
	var c Config
	var o Observation
	for i := range rimewatch.Time(20 * 24) {
		at := rimewatch.Time(1_800_000_000_000) + i*hour
		r := rimewatch.Reading{At: at, ReceivedAt: at}
		day := i % 24
		on := day >= 7 && day < 19
		wave := float64(i%5) / 10
		for f, v := range map[rimewatch.Field][2]float64{ // standing, running
			rimewatch.ProductZoneTemp: {14, 6.8}, rimewatch.CompressorDischargeTemp: {28, 45}, rimewatch.CompressorSuctionTemp: {15, 7.4},
			rimewatch.AmbientTemp: {25, 29}, rimewatch.Voltage: {412, 412}, rimewatch.AmpDraw: {0, 600},
		} {
			x := v[0]
			if on {
				x = v[1]
			}
			r.Set(f, x+wave)
		}
		s.Observe(&c, &r, at, 0, &o)
		if s.Broken() != 0 || s.SetAside() != 0 {
			t.Fatalf("day %d: broken %v, set aside %v", i/24, s.Broken(), s.SetAside())
		}
	}
	if s.LearntHours() < 60 {
		t.Errorf("%d hours of steady running were learnt in 20 days with twelve each", s.LearntHours())
	}
	if s.Trips(24*hour) > 0 || s.FailedStarts(24) > 0 {
		t.Error("starts and runs were judged that no hourly log shows")
	}
}
