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
