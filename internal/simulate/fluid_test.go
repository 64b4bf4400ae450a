package simulate

import (
	"math"
	"testing"
)

// Saturation pressures at 0 and −30 °C of the published tables (ASHRAE
// Handbook Fundamentals; R404A dew line).
func TestSaturation(t *testing.T) {
	for _, c := range []struct {
		refrigerant string
		celsius     float64
		kPa         float64
	}{
		{"R404A", 0, 600}, {"R404A", -30, 202}, {"R404A", 40, 1815},
		{"R134a", 0, 292.8}, {"R134a", -30, 84.4}, {"R134a", 40, 1016.6},
		{"R290", 0, 474.5}, {"R290", -30, 167.8}, {"R290", 40, 1369.4},
	} {
		f := fluids()[c.refrigerant]
		p := f.at(c.celsius)
		if math.Abs(p.p/1000-c.kPa) > 0.003*c.kPa {
			t.Errorf("%s at %v °C: %.1f kPa, want %.1f", c.refrigerant, c.celsius, p.p/1000, c.kPa)
		}
		if want := math.Pow(p.p, (f.k-1)/f.k); math.Abs(p.isentropic-want) > 1e-6*want {
			t.Errorf("%s at %v °C: power %v, want %v", c.refrigerant, c.celsius, p.isentropic, want)
		}
	}
}

func TestHumidity(t *testing.T) {
	// Saturated air at 20 °C carries 14.7 g/kg, at −20 °C over ice 0.64 g/kg.
	if got := 1000 * saturatedRatio(saturation(), 20); math.Abs(got-14.7) > 0.1 {
		t.Errorf("20 °C: %.2f g/kg", got)
	}
	ice := saturatedRatio(saturation(), -20)
	if math.Abs(1000*ice-0.634) > 0.01 {
		t.Errorf("-20 °C: %.3f g/kg", 1000*ice)
	}
	// Ice at −20 °C is 82 % over water: what a sensor shows in a full freezer.
	if got := relativeHumidity(-20, ice); math.Abs(got-82) > 1 {
		t.Errorf("ice saturation shows %.1f %%RH", got)
	}
}
