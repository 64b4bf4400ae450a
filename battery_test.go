package rimewatch_test

import (
	"math"
	"testing"

	"github.com/rimewatch/rimewatch"
)

func TestBatteryLevel(t *testing.T) {
	for volts, want := range map[float64]float64{3.6: 100, 3: 100, 2.7: 60, 2.4: 20, 2.2: 10, 1.5: 0, 3000: 100, 2400: 20, 12: 100} {
		if got, ok := rimewatch.BatteryLevel(volts); !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%v V: %v %v, want %v", volts, got, ok, want)
		}
	}
	for _, volts := range []float64{0, 0.9, -3, 21, 999, 20_001, math.NaN(), math.Inf(1)} {
		if got, ok := rimewatch.BatteryLevel(volts); ok {
			t.Errorf("%v V: %v", volts, got)
		}
	}
}
