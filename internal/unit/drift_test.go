package unit

import (
	"math"
	"testing"
)

func TestNormalScore(t *testing.T) {
	// Two-sided probabilities: t(5) = 4.032 and t(30) = 2.750 are 0.01 as is z = 2.576.
	for _, tc := range []struct{ t, nu, want float64 }{{4.032, 5, 2.576}, {2.750, 30, 2.576}, {-2.750, 30, -2.576}, {1.96, 1e6, 1.96}} {
		if got := NormalScore(tc.t, tc.nu); math.Abs(got-tc.want) > 0.02 {
			t.Errorf("NormalScore(%v, %v) = %v, want %v", tc.t, tc.nu, got, tc.want)
		}
	}
}

// TestUsualIsOfWhatWasLearnt: what a unit usually draws and how it shakes follow each
// sample, and are the same after a checkpoint.
func TestUsualIsOfWhatWasLearnt(t *testing.T) {
	var s, fresh, again State
	for _, amps := range []float64{7, 9} {
		y := [NumChannels]float64{Amps: 100 * math.Log(amps), Vibration: 100 * math.Log(amps/10)}
		for range gateHours {
			s.model.add(Conditions{}, y, whileRunning, gateHours)
		}
		s.model.hours = gateHours
		s.model.solve(&chilledPrior)
		if left, err := again.DecodeBinary(s.AppendBinary(nil)); err != nil || len(left) > 0 {
			t.Fatal(err, left)
		}
		if again.model != s.model {
			t.Errorf("%v A: the model is another one after a checkpoint", amps)
		}
		a, v := again.UsualAmps(), again.UsualVibration()
		if a < amps-1.3 || a > amps+1e-5 || math.Abs(v-a/10) > 1e-5 {
			t.Errorf("%v A is learnt as %v, %v mm/s", amps, a, v)
		}
	}
	if _, err := again.DecodeBinary(fresh.AppendBinary(nil)); err != nil || again.model != fresh.model {
		t.Error("a fresh model is another one after a checkpoint", err)
	}
}

// TestShareOfTime: no compressor is expected, or said, to run for less than none of the
// time or for more than all of it, however far from what was learnt the conditions are.
func TestShareOfTime(t *testing.T) {
	var s State
	s.model.coef[Duty] = [numCoef]float32{40, 2.5}
	for ambient, want := range map[float64]float64{-44: 0, 0: 40, 12: 70, 60: 100} {
		if got := s.Expected(Duty, AtAmbient(ambient)); got != want {
			t.Errorf("at %v K above the reference: %v, want %v", ambient, got, want)
		}
	}
	if observed, expected := s.Absolute(Duty, -30, -10); observed != 0 || expected != 15 {
		t.Errorf("%v %% instead of %v %%", observed, expected)
	}
}
