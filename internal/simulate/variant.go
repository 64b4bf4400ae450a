package simulate

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// Build is how a unit is built where builders differ: not by numbers but by
// structure. The zero value has an expansion valve behind a receiver, a
// compressor that is switched on and off, and defrosts by the clock.
type Build struct {
	Capillary     bool    // a capillary tube feeds the evaporator, without a receiver
	CapFlow       float64 // kg/s per √Pa of that tube; 0 = sized for the unit
	Drive         Drive
	Trigger       Trigger
	HotGas        bool    // hot gas heats the coil in defrosts: the compressor runs
	FansCycle     bool    // the evaporator's fans stop with the compressor
	MinHead       float64 // °C of condensing temperature that is kept in the cold; 0 = minHead
	QuietValves   float64 // 0–1, how much of the rattle of leaking valves does not reach the accelerometer
	MeterAll      bool    // the current is that of the whole unit: heater, lights, trim heaters
	LightAmps     float64 // A of lights by day, in the metered current
	ClosedSundays bool
}

// Drive is how a compressor follows the load.
type Drive uint8

// The drives.
const (
	FixedSpeed    Drive = iota
	VariableSpeed       // an inverter turns it slower
	DigitalScroll       // it is unloaded for a part of every twenty seconds
)

// Trigger is the trigger of a defrost.
type Trigger uint8

// The triggers.
const (
	ByClock   Trigger = iota
	ByRunTime         // after as many hours of running as the clock's interval holds at the unit's usual share
	OnDemand          // when the coil carries much frost
)

const (
	slowest       = 0.35 // share of full load below which a modulated compressor is switched off
	unloadedAmp   = 0.38 // share of the current of a digital scroll without load
	evapHold      = 70.0 // s of mass flow that an evaporator's charge is worth
	demandFrost   = 0.22 // share of FrostM that asks for a defrost
	capillaryRoom = 1.22 // a tube is sized for hotter days than the design day
	demandPause   = 3 * rimewatch.Hour
)

// load is the share of full displacement at which the compressor works.
func (u *Unit) load() float64 {
	if u.p.Drive == FixedSpeed {
		return 1
	}
	return u.ctl.speed
}

// stepDrive lets a modulated compressor follow the zone: a PI controller around
// the middle of the differential that switches off when even its slowest is too
// much.
func (u *Unit) stepDrive(dt float64) {
	c, p := &u.ctl, &u.p
	if p.Drive == FixedSpeed {
		return
	}
	if !c.running {
		c.speed = 0.6
		return
	}
	off := u.probe - (p.Setpoint + p.Diff/2)
	aim := 0.55 + 0.5*off
	c.speed += (max(slowest, min(1, aim)) - c.speed) * min(1, dt/180)
	if u.p.Drive == VariableSpeed && c.since < 60 {
		c.speed = min(c.speed, 0.6) // soft start
	}
}

// meteredAmps returns the current that the transformer measures; chance places the sample in
// the twenty seconds of a digital scroll.
func (u *Unit) meteredAmps(chance float64) float64 {
	amps := u.amps
	if u.p.Drive == DigitalScroll && u.ctl.running {
		full := amps / (unloadedAmp + (1-unloadedAmp)*u.ctl.speed)
		amps = full * unloadedAmp
		if chance < u.ctl.speed {
			amps = full
		}
	}
	if !u.p.MeterAll || !u.eff.power {
		return amps
	}
	if u.ctl.phase == melting && !u.p.HotGas {
		amps += u.p.DefrostW * u.eff.heater / u.p.Volts / float64(u.p.Phases)
	}
	if u.sur.hour >= 7 && u.sur.hour < 21 {
		amps += u.p.LightAmps
	}
	return amps
}

// hotGas reports whether hot gas heats the coil at present.
func (u *Unit) hotGas() bool { return u.p.HotGas && u.ctl.phase == melting && u.p.DefrostW > 0 }

// runHotGas is the circuit while its gas goes to the evaporator: little lift,
// half of the power, a suction line near the coil's temperature.
func (u *Unit) runHotGas() {
	c := &u.cy
	c.capacity = 0
	c.power = 0.45 * u.p.RatedAmps * u.p.Volts * u.p.MotorEff
	c.evap += (min(u.p.MOP, u.coil-3) - c.evap) * u.lag.condenser
	c.cond += (26 - c.cond) * u.lag.condenser
	c.discharge = 52 + 0.4*u.coil
	c.suction = u.coil + 6
}

// meltDue reports whether a defrost is due.
func (u *Unit) meltDue() bool {
	c := &u.ctl
	if u.p.Defrosts == 0 {
		return false
	}
	switch u.p.Trigger {
	case ByRunTime:
		return c.phase == cooling && c.runFor-c.meltedAt > 0.6*float64(u.meltEvery())/1000
	case OnDemand:
		if u.t < c.nextMelt || c.phase != cooling || u.frost < demandFrost*u.p.FrostM {
			return false
		}
		c.nextMelt = u.t + demandPause - u.meltEvery() // the caller adds an interval
		return true
	default:
		return u.t >= c.nextMelt
	}
}

// fitCapillary sizes the tube: at the design temperature it passes what the
// compressor pumps with the evaporator nearly wet.
func (u *Unit) fitCapillary() {
	if !u.p.Capillary || u.p.CapFlow > 0 {
		return
	}
	d := Unit{p: u.p, fluid: u.fluid, eff: healthy(), wetted: 1.02, air: u.p.Setpoint + u.p.Diff/2}
	d.coil = d.air - 4
	d.sur.ambient = designAmbient
	d.ctl.speed = 0.8
	d.cy = cycleState{evap: d.air - 8, cond: designAmbient + u.p.AmbientK + 12, fill: 0.88}
	d.lag = newLags(60, 60)
	d.p.CapFlow = -1 // the level is held
	for range 40 {
		d.runCycle()
		d.coil += 0.4 * (d.air - d.cy.capacity/(0.9*d.p.AirUA) - d.coil)
	}
	head, low := d.fluid.at(d.cy.cond), d.fluid.at(d.cy.evap)
	mass, _ := d.flow(d.cy.evap, head)
	u.p.CapFlow = capillaryRoom * mass / math.Sqrt(max(1, head.p-low.p))
	u.cy.fill = 0.88
}

// fillEvaporator moves the level in an evaporator behind a capillary tube by what
// comes in and what the compressor takes. Lost charge and a plugged tube show
// from the first gram: there is no receiver to hide them.
func (u *Unit) fillEvaporator(mass, lift float64) {
	if !u.p.Capillary || u.p.CapFlow <= 0 {
		return
	}
	passes := max(0.04, 1-0.8*u.eff.lost-0.85*u.eff.plugged)
	in := u.p.CapFlow * math.Sqrt(max(0, lift)) * passes
	hold := u.p.CapFlow * math.Sqrt(1e6) * evapHold
	dt := float64(u.lagStep) / 1000
	u.cy.fill = max(0.06, min(1, u.cy.fill+dt*(in-mass)/hold))
}
