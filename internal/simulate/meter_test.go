package simulate

import (
	"math"
	"reflect"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestMeters: what the gauges show fits the circuit, the meter counts what the
// power adds up to, and the other sensors show what they would without.
func TestMeters(t *testing.T) {
	for _, equipment := range []string{"walkin_freezer", "display_case_open", "reach_in_cooler"} {
		u, plain := typicalUnit(t, equipment, Config{Meters: true}), typicalUnit(t, equipment, Config{})
		joules, first, last := 0.0, math.NaN(), 0.0
		for u.NextAt() <= testStart+rimewatch.Day {
			r, bare := u.Next(), plain.Next()
			if bare.Present&^rimewatch.CoreFields != 0 {
				t.Fatal(equipment, "sends without Meters", bare.Present.Names())
			}
			core := r
			core.Present &= rimewatch.CoreFields
			core.Optional = nil
			if !reflect.DeepEqual(core, bare) {
				t.Fatalf("%s: %+v, without Meters %+v", equipment, core, bare)
			}
			for f, v := range r.All() {
				if !f.Plausible(v) {
					t.Fatal(equipment, f, v)
				}
			}
			suction, _ := r.Value(rimewatch.SuctionPressure)
			discharge, _ := r.Value(rimewatch.DischargePressure)
			power, _ := r.Value(rimewatch.Power)
			if u.Truth().Running && (discharge < suction+100 || power < 40) {
				t.Fatalf("%s runs at %v kPa, %v kPa, %v W", equipment, suction, discharge, power)
			}
			if apparent := r.Values[rimewatch.Voltage] * r.Values[rimewatch.AmpDraw]; u.Truth().Running && !u.Truth().Defrosting && power > 1.1*math.Sqrt(3)*apparent {
				t.Fatalf("%s: %v W of %v VA", equipment, power, apparent)
			}
			energy, _ := r.Value(rimewatch.Energy)
			if math.IsNaN(first) {
				first = energy
			} else {
				joules += power * 60
			}
			if energy < last {
				t.Fatal(equipment, "counts down to", energy, "from", last)
			}
			last = energy
		}
		if counted := (last - first) * 3.6e6; math.Abs(counted-joules) > 0.05*counted || counted == 0 {
			t.Errorf("%s: the meter counted %.0f J, the power adds up to %.0f", equipment, counted, joules)
		}
	}
}
