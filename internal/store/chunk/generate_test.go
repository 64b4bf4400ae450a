package chunk_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rimewatch/rimewatch"
	"pgregory.net/rapid"
)

// fridge makes n readings of a cycling unit, one a minute, as sensors and
// networks give them: times with ±2 s of jitter, arrival 20–200 ms later, and
// noise and resolution as the physics of real sensors have them.
func fridge(seed uint64, n int, start rimewatch.Time) []rimewatch.Reading {
	rnd := rand.New(rand.NewPCG(seed, 1))
	round := func(v float64, digits int) float64 {
		p := math.Pow10(digits)
		return math.Round(v*p) / p
	}
	// State of a first-order model: the zone falls while running, the lines lag.
	zone, discharge, suction, humidity, volts := -19.5, 60.0, 0.0, 55.0, 0.0
	running := true
	rs := make([]rimewatch.Reading, n)
	for i := range rs {
		day := 2 * math.Pi * float64(i) / 1440
		ambient := 24 + 4*math.Sin(day)
		drive := 0.12
		if running {
			drive = -0.1
		}
		zone += drive + 0.002*(ambient-24) + 0.01*rnd.NormFloat64()
		if zone < -21 {
			running = false
		} else if zone > -19 {
			running = true
		}
		aim, lag, aimSuction := ambient+4, 0.06, ambient-6
		amps, vibration := 0.0, 0.06
		if running {
			aim, lag, aimSuction = 2.4*ambient+32, 0.4, -3
			amps, vibration = 15+0.05*(ambient-24), 1.9
		}
		discharge += lag * (aim - discharge)
		suction += lag * 0.9 * (aimSuction - suction)
		humidity += 0.02*(55-1.1*(ambient-24)-humidity) + 0.15*rnd.NormFloat64()
		volts += -0.03*volts + 0.35*rnd.NormFloat64()
		r := &rs[i]
		r.At = start + rimewatch.Time(i)*rimewatch.Minute + rimewatch.Time(rnd.IntN(4001)-2000)
		r.ReceivedAt = r.At + rimewatch.Time(20+rnd.IntN(181))
		r.Set(rimewatch.ProductZoneTemp, round(zone+0.06*rnd.NormFloat64(), 1))
		r.Set(rimewatch.CompressorDischargeTemp, round(discharge+0.25*rnd.NormFloat64(), 1))
		r.Set(rimewatch.CompressorSuctionTemp, round(suction+0.15*rnd.NormFloat64(), 1))
		r.Set(rimewatch.AmbientTemp, round(ambient+0.1*rnd.NormFloat64(), 1))
		r.Set(rimewatch.Humidity, round(humidity+0.3*rnd.NormFloat64(), 1))
		r.Set(rimewatch.Voltage, round(230+volts-0.25*amps+0.4*rnd.NormFloat64(), 1))
		r.Set(rimewatch.AmpDraw, round(amps*(1+0.008*rnd.NormFloat64()), 2))
		r.Set(rimewatch.VibrationLevel, round(vibration*math.Exp(0.06*rnd.NormFloat64()), 2))
	}
	return rs
}

// anyValue draws finite values of all kinds that sensors and gateways send.
func anyValue() *rapid.Generator[float64] {
	finite := rapid.Float64().Filter(func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) })
	return rapid.OneOf(
		rapid.Map(rapid.IntRange(-2000, 2000), func(i int) float64 { return float64(i) / 10 }),
		rapid.Map(rapid.IntRange(-100000, 100000), func(i int) float64 { return float64(i) / 1000 }),
		rapid.Map(rapid.IntRange(-1600, 3200), func(i int) float64 { return float64(i) / 16 }),
		rapid.Map(rapid.Float32Range(-100, 200), func(v float32) float64 { return float64(v) }),
		rapid.Map(rapid.Int64(), func(v int64) float64 { return float64(v) }),
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1e-300, -1e300, math.MaxFloat64, math.SmallestNonzeroFloat64,
			0.1, 1 << 53, 1<<53 + 2, -(1 << 53), 1e15, 123456789012345, 0.30000000000000004, 99.99999999999999, 1e-14, 1e22, 5e-324}),
		finite,
	)
}

// anyFields draws a set of measurements: core ones, known ones, or any.
func anyFields() *rapid.Generator[rimewatch.Fields] {
	return rapid.Map(rapid.OneOf(rapid.Uint32Max(uint32(rimewatch.CoreFields)), rapid.Uint32Max(uint32(rimewatch.AllFields)), rapid.Uint32()),
		func(u uint32) rimewatch.Fields { return rimewatch.Fields(u) })
}

// anyReadings draws up to max readings, ascending by At, of a device whose
// habits (rhythm, fields, kind of values) stay or change.
func anyReadings(t *rapid.T, most int) []rimewatch.Reading {
	n := rapid.IntRange(0, most).Draw(t, "n")
	at := rimewatch.Time(rapid.Int64Range(-1<<40, 1<<48).Draw(t, "start"))
	uniform := rapid.Bool().Draw(t, "uniform")
	present := anyFields().Draw(t, "present")
	value := anyValue()
	if uniform {
		value = rapid.Map(rapid.IntRange(-300, 300), func(i int) float64 { return float64(i) / 10 })
	}
	rs := make([]rimewatch.Reading, n)
	for i := range rs {
		r := &rs[i]
		r.At = at
		r.ReceivedAt = at + rimewatch.Time(rapid.Int64Range(-1e6, 1e7).Draw(t, "delay"))
		if !uniform {
			present = anyFields().Draw(t, "present")
			r.Faults = anyFields().Draw(t, "faults")
			r.Flags = rimewatch.Flags(rapid.Uint32().Draw(t, "flags"))
		}
		for f := range present.All() {
			r.Set(f, value.Draw(t, "v"))
		}
		at += rimewatch.Time(rapid.OneOf(rapid.Just(int64(60000)), rapid.Int64Range(58000, 62000), rapid.Int64Range(1, 1<<40)).Draw(t, "gap"))
	}
	return rs
}

// sameBits compares readings in every bit: == takes −0 for 0.
func sameBits(a, b rimewatch.Reading) bool {
	if a.At != b.At || a.ReceivedAt != b.ReceivedAt || a.Present != b.Present || a.Faults != b.Faults || a.Flags != b.Flags {
		return false
	}
	same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
	return slices.EqualFunc(a.Values[:], b.Values[:], same) && slices.EqualFunc(a.Optional, b.Optional, same)
}
