package predict

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// sensorCase is something that happens to a sensor of a unit that nothing ails.
type sensorCase struct {
	name   string
	field  rimewatch.Field
	change func(r *rimewatch.Reading, rng *rand.Rand)
	comes  bool // it can be seen to be right again
}

func altered(f rimewatch.Field, to func(v float64) float64) func(*rimewatch.Reading, *rand.Rand) {
	return func(r *rimewatch.Reading, _ *rand.Rand) { r.Set(f, to(r.Values[f])) }
}

func trembles(f rimewatch.Field, by float64) func(*rimewatch.Reading, *rand.Rand) {
	return func(r *rimewatch.Reading, rng *rand.Rand) { r.Set(f, r.Values[f]+by*rng.NormFloat64()) }
}

func inFahrenheit(r *rimewatch.Reading, _ *rand.Rand) {
	for f := rimewatch.ProductZoneTemp; f <= rimewatch.AmbientTemp; f++ {
		r.Set(f, r.Values[f]*1.8+32)
	}
}

var sensorCases = []sensorCase{
	{"suction 5 K higher", rimewatch.CompressorSuctionTemp, altered(rimewatch.CompressorSuctionTemp, func(v float64) float64 { return v + 5 }), true},
	{"suction 9 K higher", rimewatch.CompressorSuctionTemp, altered(rimewatch.CompressorSuctionTemp, func(v float64) float64 { return v + 9 }), true},
	{"discharge 7 K lower", rimewatch.CompressorDischargeTemp, altered(rimewatch.CompressorDischargeTemp, func(v float64) float64 { return v - 7 }), true},
	{"discharge stuck", rimewatch.CompressorDischargeTemp, altered(rimewatch.CompressorDischargeTemp, func(float64) float64 { return 64.3 }), true},
	{"current a quarter higher", rimewatch.AmpDraw, altered(rimewatch.AmpDraw, func(v float64) float64 { return 1.25 * v }), true},
	{"current in kA", rimewatch.AmpDraw, altered(rimewatch.AmpDraw, func(v float64) float64 { return math.Round(v/10) / 100 }), true},
	{"vibration times 1.6", rimewatch.VibrationLevel, altered(rimewatch.VibrationLevel, func(v float64) float64 { return 1.6 * v }), true},
	{"ambient 6 K lower", rimewatch.AmbientTemp, altered(rimewatch.AmbientTemp, func(v float64) float64 { return v - 6 }), false},
	{"zone 6 K lower", rimewatch.ProductZoneTemp, altered(rimewatch.ProductZoneTemp, func(v float64) float64 { return v - 6 }), true},
	{"zone trembles", rimewatch.ProductZoneTemp, trembles(rimewatch.ProductZoneTemp, 5), true},
	{"suction trembles", rimewatch.CompressorSuctionTemp, trembles(rimewatch.CompressorSuctionTemp, 5), true},
	{"ambient trembles", rimewatch.AmbientTemp, trembles(rimewatch.AmbientTemp, 5), true},
	{"ambient stuck", rimewatch.AmbientTemp, altered(rimewatch.AmbientTemp, func(float64) float64 { return 23.4 }), true},
	{"all in °F", rimewatch.AmbientTemp, inFahrenheit, true},
}

// TestSensorsFirst: a sensor that slips, sticks, jumps, trembles or changes its unit is
// named and set aside, is never told as a fault of the machine, and counts again when
// it is right again. The limits of the goods are judged all along.
func TestSensorsFirst(t *testing.T) {
	const from, to = 20 * rimewatch.Day, 28 * rimewatch.Day
	for _, tc := range sensorCases {
		t.Run(tc.name, func(t *testing.T) {
			var s device
			rng := rand.New(rand.NewPCG(7, 1))
			told := false
			for _, tr := range play(t, "walkin_cooler", 5, "", 33, &s, func(r *rimewatch.Reading) bool {
				if at := r.At - testStart; at >= from && at < to {
					tc.change(r, rng)
				} else if at < from && s.unit.Broken() != 0 {
					t.Errorf("doubted on day %.1f already: %v", float64(at)/float64(rimewatch.Day), s.unit.Broken().Names())
				}
				told = told || s.unit.Broken().Has(tc.field) && r.At-testStart < from+3*rimewatch.Day
				return !t.Failed()
			}) {
				if tr.Kind == Opened {
					t.Errorf("%s %s on day %.1f", tr.Type, tr.Prediction.Fault, float64(tr.At-testStart)/float64(rimewatch.Day))
				}
			}
			if !told {
				t.Error("not told within three days")
			}
			if tc.comes && s.unit.Broken() != 0 {
				t.Errorf("%v still set aside five days after it was right again", s.unit.Broken().Names())
			}
		})
	}
}
