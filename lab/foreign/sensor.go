package foreign

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// sense steps what sensors have reached.
func (u *Unit) sense(dt float64) {
	bulb := u.air
	if u.onCoil {
		bulb = u.coil
	}
	u.bulb += (bulb - u.bulb) * min(1, dt/u.bulbS)
	zone := u.air + u.goodsShare*(u.goodsT-u.air)
	if u.ills.drain { // melt water drips on it, between defrosts it hangs in cold air
		zone = u.coil + 2
		if u.water > 0.002*u.frostFull {
			zone = 1
		}
	}
	u.probe += (zone - u.probe) * min(1, dt/u.probeLag)
	u.suctionP += (u.suction - u.suctionP) * min(1, dt/60)
	u.dischargeP += (u.discharge - u.dischargeP) * min(1, dt/60)
	u.ampsSum += u.metered()
	u.ampsN++
}

// metered is the current through the transformer now, A.
func (u *Unit) metered() float64 {
	if u.ills.wrong {
		a := 0.3 * u.rated
		if u.busy {
			a += 0.4 * u.rated
		}
		if u.neighbour {
			a += 0.7 * u.rated
		}
		return a
	}
	a := u.amps
	v := max(1, u.volts*u.phases)
	if u.on && !u.ills.condFan && !u.fanStuck {
		a += u.condFanW / v
	}
	if u.wholeUnit && !u.ills.off {
		if !u.ills.evapFan {
			a += 1.3 * u.fans / v
		}
		if u.busy {
			a += u.lights / v
		}
		if u.phase == defrosting && u.melting == electric && !u.ills.noHeater {
			a += u.heater / v
		}
	}
	return a
}

// measure makes a reading of the state. It draws the same numbers whatever that is.
func (u *Unit) measure() (r rimewatch.Reading, ok bool) {
	amps := u.metered()
	if u.meterMean && u.ampsN > 0 {
		amps = u.ampsSum / u.ampsN
	}
	u.ampsSum, u.ampsN = 0, 0
	var v [rimewatch.NumCore]float64
	v[rimewatch.ProductZoneTemp] = u.probe + u.ills.drift
	v[rimewatch.CompressorDischargeTemp] = u.dischargeP
	v[rimewatch.CompressorSuctionTemp] = u.suctionP
	v[rimewatch.AmbientTemp] = u.ambient
	v[rimewatch.Humidity] = min(99, 100*u.outside/saturated(u.ambient))
	v[rimewatch.Voltage] = u.volts
	v[rimewatch.AmpDraw] = amps
	v[rimewatch.VibrationLevel] = u.shaking()
	r.At = u.nextAt
	for f := range rimewatch.NumCore {
		n, spike, size := u.sensor.NormFloat64(), u.sensor.Float64(), u.sensor.Float64()
		x := v[f] + u.bias[f] + n*u.noise[f]
		switch f {
		case rimewatch.VibrationLevel:
			x = v[f] * (1 + n*u.noise[f])
		case rimewatch.AmpDraw:
			x = v[f] + n*u.noise[f]*(0.15+v[f]/u.rated)
		}
		if spike < u.spikes {
			x = odd(f, x, size, u.rated)
		}
		if f >= rimewatch.Humidity {
			x = max(0, x)
		}
		if f == rimewatch.Humidity {
			x = min(100, x)
		}
		if s := u.steps[f]; s > 0 {
			x = math.Round(x/s) * s
		}
		r.Set(f, math.Round(x*1000)/1000)
	}
	u.spoilProbe(&r)
	return r, u.sensor.Float64() >= u.lost
}

// odd is a value as bad contacts, disturbed buses and half-sent frames make it.
func odd(f rimewatch.Field, x, size, rated float64) float64 {
	switch {
	case f == rimewatch.AmpDraw:
		return size * 6 * rated
	case f >= rimewatch.Humidity:
		return x * 2 * size
	case size < 0.15:
		return 0
	default:
		return x + (size-0.575)/0.425*30
	}
}

// spoilProbe does to the zone's measurement what is wrong with its probe.
func (u *Unit) spoilProbe(r *rimewatch.Reading) {
	const f = rimewatch.ProductZoneTemp
	switch {
	case u.ills.cut:
		r.Values[f], r.Present, r.Faults = 0, r.Present&^(1<<f), r.Faults.With(f)
	case u.ills.frozen:
		if !u.hasFrozen {
			u.hasFrozen, u.frozenAt = true, r.Values[f]
		}
		r.Values[f] = u.frozenAt
	}
	for i := range u.faults {
		if o := &u.faults[i]; o.Name == OddReading && !u.oddDone && r.At >= o.Onset {
			u.oddDone = true
			r.Values[f] += 20 * o.Severity
		}
	}
}

// shaking is the vibration of the compressor, mm/s.
func (u *Unit) shaking() float64 {
	const idle = 0.06
	switch {
	case !u.on:
		return idle
	case u.amps > 2.5*u.rated: // it hums
		return idle + 0.5*u.shake
	}
	v := u.shake * (0.5 + 0.5*u.amps/u.rated) * (1 + 0.5*u.ills.valve)
	if u.onFor < 40 {
		v *= 1.5
	}
	return idle + v
}
