package simulate

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// Disconnected is the value of a missing sensor, as DS18B20 drivers send it.
// A Reading says it in Faults; whoever writes readings to a wire writes this.
const Disconnected = -127.0

// sensors holds what the slow sensors show before noise.
type sensors struct {
	zone, discharge, suction float64
	held                     [rimewatch.NumCore]float64 // what a stuck sensor goes on showing
	holding                  rimewatch.Fields
}

func newSensors(zone float64) sensors {
	return sensors{zone: zone, discharge: 45, suction: 10}
}

// sensorNoise is the standard deviation of each field's noise: K, K, K, K, %RH,
// V per 230 V, share of the current, and the exponent of the lognormal
// scatter of vibration. resolution is the step of what is sent.
var (
	sensorNoise = [rimewatch.NumCore]float64{0.06, 0.25, 0.15, 0.1, 0.6, 0.4, 0.008, 0.06}
	resolution  = [rimewatch.NumCore]float64{10, 10, 10, 10, 10, 10, 100, 100} // steps per unit
	// driftSize is the size of a drift of severity 1: absolute for temperatures
	// and humidity, as a share of the value for the rest.
	driftSize = [rimewatch.NumCore]float64{4, 4, 4, 4, 12, 0.05, 0.15, 0.5}
)

// stepSensors lets the sensors follow. A discharge sensor sits on a pipe that
// the shell warms; when the gas stands still both cool slowly.
func (u *Unit) stepSensors() {
	ambient := u.sur.ambient + u.p.AmbientK
	s := &u.sense
	s.zone += (u.air - s.zone) * u.lag.zone
	u.probe += (u.air - u.probe) * u.lag.probe
	if u.ctl.running {
		u.shell += (u.cy.discharge - u.shell) * u.lag.shellOn
		s.discharge += (0.85*u.cy.discharge + 0.15*u.shell - s.discharge) * u.lag.dischargeOn
		s.suction += (u.cy.suction - s.suction) * u.lag.suctionOn
		return
	}
	warm := ambient
	if u.ctl.locked > 0 {
		warm = 160 // a held rotor turns all its power into heat
	}
	u.shell += (warm - u.shell) * u.lag.shellOff
	s.discharge += (ambient + 0.25*(u.shell-ambient) - s.discharge) * u.lag.dischargeOff
	s.suction += (ambient - 0.1*(ambient-u.coil) - s.suction) * u.lag.suctionOff
}

// vibration returns the vibration at the accelerometer on the shell, mm/s.
func (u *Unit) vibration(n noise, k int64) float64 {
	scatter := math.Exp(sensorNoise[rimewatch.VibrationLevel] * n.normal(k))
	if !u.ctl.running {
		v := 0.06
		if u.ctl.locked > 0 {
			v = u.p.Vibration
		}
		return v * scatter
	}
	v := u.p.Vibration * (1 + 0.1*(u.amps/u.p.RatedAmps-0.8)) * u.eff.vibration * (1 + u.eff.rattle*(1-u.p.QuietValves))
	if u.p.Drive == VariableSpeed {
		v *= 0.4 + 0.6*u.ctl.speed
	}
	v += 2.5 * u.p.Vibration * math.Exp(-u.ctl.since/4)
	// Liquid knocks in bursts while the oil foams after a start.
	if u.eff.flood > 0 && u.ctl.since < 300 && n.uniform(k+1) < 0.6 {
		v *= 1 + 6*u.eff.flood*n.uniform(k+2)
	}
	return v * scatter
}

// measure reads all sensors at the moment of the state. The current channel
// holds the peak of a failed start until it is read, as current monitors with
// a peak register do; otherwise a sample a minute would miss most of them.
func (u *Unit) measure() rimewatch.Reading {
	n := u.seed.stream(streamSensors)
	k := int64(u.t) << 4
	noisy := func(f rimewatch.Field, v float64) float64 { return v + sensorNoise[f]*n.normal(k+int64(f)) }
	truth := [rimewatch.NumCore]float64{
		rimewatch.ProductZoneTemp:         noisy(rimewatch.ProductZoneTemp, u.sense.zone),
		rimewatch.CompressorDischargeTemp: noisy(rimewatch.CompressorDischargeTemp, u.sense.discharge),
		rimewatch.CompressorSuctionTemp:   noisy(rimewatch.CompressorSuctionTemp, u.sense.suction),
		rimewatch.AmbientTemp:             noisy(rimewatch.AmbientTemp, u.sur.ambient+u.p.AmbientK),
		rimewatch.Humidity:                noisy(rimewatch.Humidity, u.sur.humidity),
		rimewatch.Voltage:                 u.volts,
		rimewatch.AmpDraw:                 u.meteredAmps(n.uniform(k+9)) * (1 + sensorNoise[rimewatch.AmpDraw]*n.normal(k+int64(rimewatch.AmpDraw))),
		rimewatch.VibrationLevel:          u.vibration(n, k+int64(rimewatch.VibrationLevel)),
	}
	if u.cfg.ZoneHumidity {
		truth[rimewatch.Humidity] = noisy(rimewatch.Humidity, relativeHumidity(u.air, u.ratio))
	}
	if u.volts > 0 {
		truth[rimewatch.Voltage] += sensorNoise[rimewatch.Voltage] * u.p.Volts / 230 * n.normal(k+int64(rimewatch.Voltage))
	}
	if u.ctl.failedAmp > 0 && u.eff.power {
		truth[rimewatch.AmpDraw] = u.ctl.failedAmp
	}
	u.ctl.failedAmp = 0

	r := rimewatch.Reading{At: u.t, ReceivedAt: u.t}
	distort(&u.cfg.Flaws, u.t, n, &truth)
	for f, v := range truth {
		field := rimewatch.Field(f)
		if u.cfg.Flaws.Missing.Has(field) {
			continue
		}
		v = math.Round(u.faulty(field, v)*resolution[f]) / resolution[f]
		v = u.cfg.Flaws.coarse(field, v)
		if !math.IsNaN(v) {
			info := field.Info()
			r.Set(field, min(info.Max, max(info.Min, v))+0) // + 0 turns −0 into 0
		} else {
			r.Faults = r.Faults.With(field)
		}
	}
	u.extras(&r)
	u.meters(&r)
	return r
}

// faulty passes a measurement through the sensor faults of its field; NaN is
// a sensor that reports a sentinel.
func (u *Unit) faulty(field rimewatch.Field, v float64) float64 {
	stuck := false
	for i := range u.faults {
		f := &u.faults[i]
		if f.Field != field || !f.spec.sensors {
			continue
		}
		s := f.at(u.t)
		if s == 0 {
			continue
		}
		switch f.Name {
		case "sensor_drift":
			if field <= rimewatch.Humidity {
				v += driftSize[field] * s
			} else {
				v *= 1 + driftSize[field]*s
			}
		case "sensor_stuck":
			stuck = true
		case "sensor_disconnected":
			return math.NaN()
		}
	}
	s := &u.sense
	switch {
	case !stuck:
		s.holding &^= 1 << field
	case s.holding.Has(field):
		return s.held[field]
	default:
		s.holding = s.holding.With(field)
		s.held[field] = v
	}
	return v
}

func (u *Unit) extras(r *rimewatch.Reading) {
	if !u.cfg.Extras {
		return
	}
	r.Flags = r.Flags.WithBool(rimewatch.CompressorOn, u.ctl.running).
		WithBool(rimewatch.DefrostActive, u.ctl.phase == melting || u.ctl.phase == dripping).
		WithBool(rimewatch.DoorOpen, u.doorStands())
	r.Set(rimewatch.StartCount, float64(u.ctl.starts))
	r.Set(rimewatch.RunSeconds, math.Floor(u.ctl.runFor))
}
