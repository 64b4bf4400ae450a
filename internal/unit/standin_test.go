package unit

import (
	"math"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// TestPipesAtRestStandInForTheAir: where no ambient temperature is measured, what the
// pipes show at the end of a stop moves with the air, and runs are compared by it. Where
// it is measured, that counts.
func TestPipesAtRestStandInForTheAir(t *testing.T) {
	warmer := func(measured bool) (before, after, expected float64) {
		var s State
		at := rimewatch.TimeOf(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC))
		const days, shift, follow = 12, 8.0, 0.1 // a minute
		discharge, suction := 40.0, 10.0
		for k := range days * 24 * 60 {
			at += minute
			air, ran := 20+2*math.Sin(2*math.Pi*float64(k)/(24*60)), k%50 < 20
			if k >= (days-2)*24*60 {
				air += shift
			}
			hot, cool, amps := air, air, 0.05
			if ran {
				hot, cool, amps = 60+1.6*(air-20), 5+0.45*(air-20), 3*math.Exp(0.008*(air-20))
			}
			discharge += follow * (hot - discharge)
			suction += follow * (cool - suction)
			r := rimewatch.Reading{At: at, ReceivedAt: at}
			r.Set(rimewatch.CompressorDischargeTemp, discharge)
			r.Set(rimewatch.CompressorSuctionTemp, suction)
			r.Set(rimewatch.AmpDraw, amps)
			if measured {
				r.Set(rimewatch.AmbientTemp, air)
			}
			var o Observation
			s.Observe(&Config{}, &r, at, 0, &o)
			if k == (days-2)*24*60-1 {
				before = s.RestAir()
			}
		}
		now, _, _ := s.Departure(Discharge)
		return before, s.RestAir(), now
	}
	before, after, departs := warmer(false)
	if d := after - before; d < 6 || d > 10 {
		t.Errorf("the air is warmer by %.1f K, want about 8", d)
	}
	if math.Abs(departs) > Discharge.Floor() {
		t.Errorf("the discharge line departs by %.1f K with the air", departs)
	}
	if _, after, departs := warmer(true); after != RefAmbient || math.Abs(departs) > Discharge.Floor() {
		t.Errorf("where the ambient is measured the pipes say %.1f °C, and the discharge line departs by %.1f K", after, departs)
	}
}

// TestUnseenZone: what a thermostat that was turned explains of suction line and current
// is no evidence where no zone is measured, and nothing is taken off what it does not.
func TestUnseenZone(t *testing.T) {
	var s State
	s.model.coef[Suction][1+covZone], s.model.coef[Amps][1+covZone] = 0.5, 1.6
	have := Channels(0).With(Discharge).With(Suction).With(Amps)
	for _, tc := range []struct {
		why           string
		suction, amps float64
		want          float64
	}{
		{"turned down", -1, -3.2, -2},
		{"turned up", 1, 4.8, 2},
		{"no thermostat is turned as far", -9, -18, -unseenZone},
		{"lost refrigerant", 4, -5, 0},
		{"a probe", -6, -0.5, 0},
	} {
		y := [NumChannels]float64{Discharge: 2, Suction: tc.suction, Amps: tc.amps}
		if got := s.model.unseen(&y, have); math.Abs(got-tc.want) > 1e-6 {
			t.Errorf("%s: %.2f K of zone, want %.2f", tc.why, got, tc.want)
		}
	}
	y := [NumChannels]float64{Suction: -1, Amps: -3.2}
	if got := s.model.unseen(&y, have&^(1<<Amps)); got != 0 {
		t.Errorf("without the current: %.2f K", got)
	}
	if got := s.model.withoutZone(Discharge, -2, 1); got != -0.5 {
		t.Errorf("a discharge line by 2 K becomes %.2f, want 1.5 K less", got)
	}
}

// TestSpikesOfVibrationAreNoRuns: where runs are seen by the vibration, one reading that
// is several times too high is no start.
func TestSpikesOfVibrationAreNoRuns(t *testing.T) {
	var s State
	at := rimewatch.TimeOf(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC))
	starts := 0
	for k := range 2 * 24 * 60 {
		at += minute
		v := 0.06
		switch {
		case k%50 < 20:
			v = 1.2
		case k > 600 && k%50 == 35:
			v = 2
		}
		r := rimewatch.Reading{At: at, ReceivedAt: at}
		r.Set(rimewatch.VibrationLevel, v)
		was := s.Running()
		var o Observation
		s.Observe(&Config{}, &r, at, 0, &o)
		if k > 600 && s.Running() && !was {
			starts++
		}
	}
	if want := (2*24*60 - 600) / 50; starts < want-1 || starts > want+1 {
		t.Errorf("%d starts, want %d", starts, want)
	}
}
