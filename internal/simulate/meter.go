package simulate

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// fanPower is the power factor of fans and of what runs with the compressor off.
const fanPower = 0.9

// watts is the active power that the unit takes: the compressor's motor with its
// condenser fan, and the heater of a defrost. A held rotor takes its current at a
// power factor of about a half.
func (u *Unit) watts() float64 {
	phases := 1.0
	if u.p.Phases == 3 {
		phases = math.Sqrt(3)
	}
	heater := 0.0
	if u.ctl.phase == melting && !u.p.HotGas {
		heater = u.p.DefrostW * (u.volts / u.p.Volts) * (u.volts / u.p.Volts)
	}
	switch {
	case !u.eff.power:
		return 0
	case u.ctl.running:
		fan := u.p.FanAmps * u.eff.fanAmps * u.volts * phases * fanPower
		return u.cy.power/u.p.MotorEff + 0.008*u.p.RatedAmps*u.p.Volts + fan + heater
	case u.ctl.locked > 0:
		return 0.5 * u.amps * u.volts * phases
	default:
		return u.p.IdleAmps*u.volts*phases*fanPower + heater
	}
}

// meters adds what a controller with gauges on the circuit and a meter in the
// supply sends. Pressures are those of saturation; while the compressor stands
// they go towards those of coil and condenser.
func (u *Unit) meters(r *rimewatch.Reading) {
	if !u.cfg.Meters {
		return
	}
	n := u.seed.stream(streamMeters)
	k := int64(u.t) << 4
	gauge := func(celsius float64) float64 { return (u.fluid.at(celsius).p - seaLevel) / 1000 }
	set := func(f rimewatch.Field, v, noise, steps float64) {
		v += noise * n.normal(k+int64(f))
		info := f.Info()
		r.Set(f, min(info.Max, max(info.Min, math.Round(v*steps)/steps))+0)
	}
	set(rimewatch.SetpointTemp, u.p.Setpoint, 0, 10)
	set(rimewatch.EvaporatorTemp, u.coil, 0.1, 10)
	liquid := u.sur.ambient + u.p.AmbientK
	if u.ctl.running {
		liquid = max(liquid, u.cy.cond-u.p.Subcooling)
	}
	set(rimewatch.LiquidLineTemp, liquid, 0.15, 10)
	set(rimewatch.SuctionPressure, gauge(u.cy.evap), 0.8, 1)
	set(rimewatch.DischargePressure, gauge(u.cy.cond), 3, 1)
	set(rimewatch.Power, u.watts()*(1+0.004*n.normal(k)), 0, 1)
	set(rimewatch.Energy, u.energy/3.6e6, 0, 1000)
}
