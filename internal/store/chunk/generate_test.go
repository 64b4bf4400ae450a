package chunk_test

import (
	"math"
	"math/rand/v2"

	"github.com/rimewatch/rimewatch"
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
