package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/lab/simulate"
)

// sensor makes readings that look like those of a unit with a compressor that
// cycles: noise and resolution as in the field, one a minute with jitter.
type sensor struct {
	rnd    *rand.Rand
	period int
	phase  int
	base   [rimewatch.NumFields]float64
}

func newSensor(seed int) *sensor {
	rnd := rand.New(rand.NewPCG(uint64(seed), 11))
	return &sensor{rnd: rnd, period: 14 + rnd.IntN(12), phase: rnd.IntN(30),
		base: [rimewatch.NumFields]float64{-20, 82, -2, 24, 45, 230, 14, 1.1}}
}

// at is the moment of the n-th reading before end, in order of n.
func (s *sensor) at(start rimewatch.Time, n int) rimewatch.Time {
	return start + rimewatch.Time(n)*rimewatch.Minute + rimewatch.Time(s.rnd.IntN(4000)) - 2000
}

// reading writes the n-th reading's measurements.
func (s *sensor) reading(n int, r *rimewatch.Reading) {
	cycle := (n + s.phase) % s.period
	on := cycle < s.period*55/100
	day := float64((n+s.phase*40)%1440) / 1440
	ambient := s.base[3] + 4*wave(day)
	set := func(f rimewatch.Field, v, noise, resolution float64) {
		v += s.rnd.NormFloat64() * noise
		r.Set(f, float64(int64(v/resolution+0.5*sign(v)))*resolution)
	}
	zone := s.base[0] + 1.0*wave(float64(cycle)/float64(s.period))
	set(rimewatch.ProductZoneTemp, zone, 0.06, 0.1)
	discharge, suction, amps, vibration := s.base[1]+0.6*(ambient-24), s.base[2], s.base[6], s.base[7]
	if !on {
		off := float64(cycle - s.period*55/100)
		discharge, suction, amps, vibration = discharge-6*off, suction+1.2*off, 0, 0.06
	}
	set(rimewatch.CompressorDischargeTemp, discharge, 0.25, 0.1)
	set(rimewatch.CompressorSuctionTemp, suction, 0.15, 0.1)
	set(rimewatch.AmbientTemp, ambient, 0.1, 0.1)
	set(rimewatch.Humidity, s.base[4]-5*wave(day), 0.3, 0.1)
	set(rimewatch.Voltage, s.base[5]-amps/8, 0.4, 0.1)
	set(rimewatch.AmpDraw, amps, 0.008*amps, 0.01)
	set(rimewatch.VibrationLevel, vibration, 0.06*vibration, 0.01)
	for f := range rimewatch.NumFields {
		// The decimal that the sensor sends, not its binary neighbour.
		v, _ := strconv.ParseFloat(strconv.FormatFloat(r.Values[f], 'f', 2, 64), 64)
		r.Values[f] = max(v, limitsLow[f])
	}
}

var limitsLow = [rimewatch.NumFields]float64{-100, -100, -100, -100, 0, 0, 0, 0}

func wave(x float64) float64 { // a cheap sine of the period 1
	x -= float64(int(x))
	if x < 0.5 {
		return 16 * x * (0.5 - x)
	}
	x -= 0.5
	return -16 * x * (0.5 - x)
}

func sign(v float64) float64 {
	if v < 0 {
		return -1
	}
	return 1
}

// simulated makes the last n minutes of units of the fitted types, by the
// physics of package simulate. Benchmarks of size deal them out to devices.
func simulated(units, n int) ([][]rimewatch.Reading, error) {
	end := rimewatch.TimeOf(time.Now()) - 5*rimewatch.Minute
	members, err := simulate.NewFleet(simulate.FleetConfig{
		Seed: 7, Units: units, Equipment: simulate.FittedEquipment(), Start: end - rimewatch.Time(n)*rimewatch.Minute, Step: 10 * time.Second,
	})
	if err != nil {
		return nil, err
	}
	configs := make([]simulate.Config, len(members))
	for i := range members {
		configs[i] = members[i].Config
	}
	out := make([][]rimewatch.Reading, units)
	err = simulate.Generate(configs, end, runtime.NumCPU(), func(i int, _ *simulate.Unit, history []rimewatch.Reading) {
		out[i] = history[:min(n, len(history))]
	})
	return out, err
}

func serial(i int) string { return fmt.Sprintf("BENCH-%06d", i) }

// appendJSON writes a reading as a device would.
func appendJSON(b []byte, serial string, r *rimewatch.Reading) []byte {
	b = append(b, `{"device_serial":"`...)
	b = append(b, serial...)
	b = append(b, `","recorded_at":"`...)
	b = r.At.Append(b)
	b = append(b, '"')
	for f := range rimewatch.NumFields {
		b = append(b, ',', '"')
		b = append(b, f.String()...)
		b = append(b, '"', ':')
		b = strconv.AppendFloat(b, r.Values[f], 'f', -1, 64)
	}
	return append(b, '}')
}

// createDevices registers n devices over many connections; more is added to
// their bodies.
func createDevices(s *server, n int, more string) error {
	const conns = 32
	_, err := drive(s.addr, conns, time.Hour, 201, func(w, k int, buf []byte) []byte {
		i := k*conns + w
		if i >= n {
			return nil
		}
		body := fmt.Appendf(nil, `{"serial":%q,"name":"Unit %d","equipment_type":%q%s}`, serial(i), i, []string{"walkin_freezer", "reach_in_freezer"}[i%2], more)
		return request(buf, "POST", "/api/v1/devices", s.token, "application/json", body)
	})
	return err
}
