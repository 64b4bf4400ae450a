package simulate

import "math"

// cycleState is the refrigeration circuit at one step.
type cycleState struct {
	evap      float64 // °C, saturated suction
	cond      float64 // °C, saturated discharge
	capacity  float64 // W taken from the coil
	power     float64 // W at the shaft
	discharge float64 // °C of the gas in the discharge line
	suction   float64 // °C of the gas in the suction line
	fill      float64 // share of the evaporator that a capillary tube keeps wet
}

// dryLine is by how much a starved evaporator raises the suction line's gain:
// no droplets are left that would cool the pipe.
const dryLine = 0.14

// shellHeating is how much the gas warms in the compressor before the cylinder.
const shellHeating = 12.0 // K

// suctionGas is the gas at the compressor for an evaporating temperature:
// superheat at the evaporator's outlet and temperature in the suction line,
// both without the liquid of a floodback.
func (u *Unit) suctionGas(evap float64) (superheat, line float64) {
	superheat = u.p.Superheat + 30*u.eff.starve
	if u.p.Capillary {
		superheat = 1 + 32*(1-u.cy.fill)
	}
	superheat = min(superheat, 0.95*max(0, u.air-evap))
	line = evap + superheat
	return superheat, line + (u.p.LineGain+dryLine*u.eff.starve)*max(0, u.sur.ambient+u.p.AmbientK-line)
}

// flow is the compressor's mass flow in kg/s and the refrigeration effect in
// J/kg at an evaporating temperature, with the condensing side as it is.
func (u *Unit) flow(evap float64, head satPoint) (mass, effect float64) {
	f := u.fluid
	superheat, line := u.suctionGas(evap)
	low := f.at(evap)
	const clearance = 0.04
	volumetric := max(0.05, 1+clearance-clearance*head.clearance/low.clearance)
	density := low.p / (f.z * f.gas * (line + shellHeating + kelvin))
	mass = 0.93 * volumetric * u.eff.volumetric * u.p.Displacement * u.load() * density
	effect = f.latent(evap) + f.cpVapour*superheat - f.cpLiquid*(u.cy.cond-u.p.Subcooling-evap)
	return mass, max(1e3, effect*(1-0.15*u.eff.flood))
}

// runCycle finds the evaporating temperature at which the compressor pumps
// what the coil boils and computes the cycle there. Pumped capacity grows and
// boiled capacity falls with it, so there is one; the secant rule starts from
// the last step's, which is near.
func (u *Unit) runCycle() {
	c := &u.cy
	if u.hotGas() {
		u.runHotGas()
		return
	}
	f := u.fluid
	head := f.at(c.cond)
	conductance := u.p.CoilUA * u.wetted
	if u.p.Capillary {
		conductance *= 0.12 + 0.88*c.fill
	}
	surplus := func(evap float64) float64 {
		mass, effect := u.flow(evap, head)
		return mass*effect - conductance*(u.coil-evap)
	}
	top := min(u.p.MOP, u.coil-0.05)
	x1 := min(c.evap, top)
	y1 := surplus(x1)
	x0 := x1 - 0.5
	if y1 < 0 {
		x0 = min(x1+0.5, top)
	}
	if x0 != x1 {
		y0 := surplus(x0)
		for range 6 {
			if y1 == y0 {
				break
			}
			x := min(top, max(tableMin, x1-y1*(x1-x0)/(y1-y0)))
			step := math.Abs(x - x1)
			x0, y0, x1 = x1, y1, x
			if step < 0.005 {
				break
			}
			y1 = surplus(x1)
		}
	}
	c.evap = x1
	u.compress(head)
}

// compress computes capacity, power and temperatures at the evaporating
// temperature found, and lets the condenser follow with a lag of 60 s, longer
// where it gives its heat away more slowly.
func (u *Unit) compress(head satPoint) {
	c := &u.cy
	f := u.fluid
	mass, effect := u.flow(c.evap, head)
	superheat, line := u.suctionGas(c.evap)
	low := f.at(c.evap)
	c.capacity = mass * effect
	u.fillEvaporator(mass, head.p-low.p)
	inlet := line + shellHeating + kelvin
	pressureRatio := head.p / low.p
	rise := max(0, head.isentropic/low.isentropic-1)
	// Efficiency peaks near the pressure ratio the machine is built for.
	efficiency := u.p.Isentropic * u.eff.isentropic * max(0.6, 1-0.01*math.Abs(pressureRatio-4.5))
	specific := f.k / (f.k - 1) * f.z * f.gas * inlet * rise / efficiency
	c.power = mass * specific * (1 + u.eff.friction)
	dry := inlet - kelvin + inlet*rise/efficiency*(1-u.p.HeatLoss)
	flood := u.eff.flood
	c.discharge = dry - flood*max(0, dry-(c.cond+4))
	c.suction = line - flood*0.87*(line-c.evap-0.1*superheat)

	ambient := u.sur.ambient + u.p.AmbientK
	target := ambient + (c.capacity+0.92*c.power)/(u.p.CondenserUA*u.eff.condenser) + u.eff.headK
	c.cond += (max(target, ambient, u.minHead()) - c.cond) * u.lag.condenser * u.eff.condenser
}

// minHead is the condensing temperature that head-pressure control keeps in
// the cold.
const minHead = 22.0 // °C

func (u *Unit) minHead() float64 {
	if u.p.MinHead > 0 {
		return u.p.MinHead
	}
	return minHead
}

// restCycle lets the pressures equalise while the compressor stands.
func (u *Unit) restCycle() {
	c := &u.cy
	c.capacity, c.power = 0, 0
	c.cond += (u.sur.ambient + u.p.AmbientK - c.cond) * u.lag.condenser * u.eff.condenser
	c.evap += (u.coil - c.evap) * u.lag.condenser
}

// runningAmps is the current of one phase of a running compressor with its condenser
// fan, A. The working part grows as the voltage falls, the magnetising part
// with its square and faster where the iron saturates.
func (u *Unit) runningAmps() float64 {
	phases := 1.0
	if u.p.Phases == 3 {
		phases = math.Sqrt(3)
	}
	volts := max(u.volts, 0.3*u.p.Volts)
	rel := volts / u.p.Volts
	working := (u.cy.power/u.p.MotorEff + 0.008*u.p.RatedAmps*u.p.Volts) / (0.97 * volts * phases)
	magnetising := u.p.Magnetising * rel * rel * max(1, rel)
	if u.p.Drive == VariableSpeed {
		magnetising = 0 // behind the inverter's link
	}
	return math.Sqrt(working*working+magnetising*magnetising) + u.p.FanAmps*u.eff.fanAmps
}
