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
	comes  bool           // it can be seen to be right again
	within rimewatch.Time // it is told; 0 = it need not be
}

func altered(f rimewatch.Field, to func(v float64) float64) func(*rimewatch.Reading, *rand.Rand) {
	return func(r *rimewatch.Reading, _ *rand.Rand) { r.Set(f, to(r.Values[f])) }
}

func trembles(f rimewatch.Field, by float64) func(*rimewatch.Reading, *rand.Rand) {
	return func(r *rimewatch.Reading, rng *rand.Rand) { r.Set(f, r.Values[f]+by*rng.NormFloat64()) }
}

// drifts adds so many K a day from the twentieth day on.
func drifts(f rimewatch.Field, by float64) func(*rimewatch.Reading, *rand.Rand) {
	return func(r *rimewatch.Reading, _ *rand.Rand) {
		r.Set(f, r.Values[f]+by*float64(r.At-testStart-20*rimewatch.Day)/float64(rimewatch.Day))
	}
}

func inFahrenheit(r *rimewatch.Reading, _ *rand.Rand) {
	for f := rimewatch.ProductZoneTemp; f <= rimewatch.AmbientTemp; f++ {
		r.Set(f, r.Values[f]*1.8+32)
	}
}

const soon = 3 * rimewatch.Day

var sensorCases = []sensorCase{
	{"suction 5 K higher", rimewatch.CompressorSuctionTemp, altered(rimewatch.CompressorSuctionTemp, func(v float64) float64 { return v + 5 }), true, soon},
	{"suction 9 K higher", rimewatch.CompressorSuctionTemp, altered(rimewatch.CompressorSuctionTemp, func(v float64) float64 { return v + 9 }), true, soon},
	{"discharge 7 K lower", rimewatch.CompressorDischargeTemp, altered(rimewatch.CompressorDischargeTemp, func(v float64) float64 { return v - 7 }), true, soon},
	{"discharge stuck", rimewatch.CompressorDischargeTemp, altered(rimewatch.CompressorDischargeTemp, func(float64) float64 { return 64.3 }), true, soon},
	{"current a quarter higher", rimewatch.AmpDraw, altered(rimewatch.AmpDraw, func(v float64) float64 { return 1.25 * v }), true, soon},
	{"current in kA", rimewatch.AmpDraw, altered(rimewatch.AmpDraw, func(v float64) float64 { return math.Round(v/10) / 100 }), true, soon},
	{"vibration times 1.6", rimewatch.VibrationLevel, altered(rimewatch.VibrationLevel, func(v float64) float64 { return 1.6 * v }), true, soon},
	{"ambient 6 K lower", rimewatch.AmbientTemp, altered(rimewatch.AmbientTemp, func(v float64) float64 { return v - 6 }), false, soon},
	{"zone 6 K lower", rimewatch.ProductZoneTemp, altered(rimewatch.ProductZoneTemp, func(v float64) float64 { return v - 6 }), true, soon},
	{"zone 2.7 K higher", rimewatch.ProductZoneTemp, altered(rimewatch.ProductZoneTemp, func(v float64) float64 { return v + 2.7 }), true, soon},
	{"zone trembles", rimewatch.ProductZoneTemp, trembles(rimewatch.ProductZoneTemp, 5), true, soon},
	{"suction trembles", rimewatch.CompressorSuctionTemp, trembles(rimewatch.CompressorSuctionTemp, 5), true, soon},
	{"ambient trembles", rimewatch.AmbientTemp, trembles(rimewatch.AmbientTemp, 5), true, soon},
	{"ambient stuck", rimewatch.AmbientTemp, altered(rimewatch.AmbientTemp, func(float64) float64 { return 23.4 }), true, soon},
	{"all in °F", rimewatch.AmbientTemp, inFahrenheit, true, soon},
	{"vibration times 1.3", rimewatch.VibrationLevel, altered(rimewatch.VibrationLevel, func(v float64) float64 { return 1.3 * v }), true, soon},
	{"zone wanders up", rimewatch.ProductZoneTemp, drifts(rimewatch.ProductZoneTemp, 0.25), false, 8 * rimewatch.Day},
	{"zone wanders down", rimewatch.ProductZoneTemp, drifts(rimewatch.ProductZoneTemp, -0.25), false, 8 * rimewatch.Day},
	{"discharge slips", rimewatch.CompressorDischargeTemp, drifts(rimewatch.CompressorDischargeTemp, -0.5), true, 8 * rimewatch.Day},
	{"ambient wanders up", rimewatch.AmbientTemp, drifts(rimewatch.AmbientTemp, 0.6), false, 8 * rimewatch.Day},
	{"ambient wanders down", rimewatch.AmbientTemp, drifts(rimewatch.AmbientTemp, -0.6), false, 0}, // as in a cold in which the lines need not follow
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
				told = told || s.unit.Broken().Has(tc.field) && r.At-testStart < from+tc.within
				return !t.Failed()
			}) {
				if tr.Kind == rimewatch.TransitionOpened {
					t.Errorf("%s %s on day %.1f", tr.Type, tr.Prediction.Fault, float64(tr.At-testStart)/float64(rimewatch.Day))
				}
			}
			if !told && tc.within > 0 {
				t.Errorf("not told within %.0f days", float64(tc.within)/float64(rimewatch.Day))
			}
			if tc.comes && s.unit.Broken() != 0 {
				t.Errorf("%v still set aside five days after it was right again", s.unit.Broken().Names())
			}
		})
	}
}
