package foreign

import "math"

// shellGain is by how much suction gas is warmed by the motor, K (ASHRAE Handbook HVAC
// Systems and Equipment, ch. 38: hermetics).
const shellGain = 14.0

// volumetric is the share of the swept volume that is pumped. It falls evenly with the
// pressure ratio, as re-expansion in the clearance makes it (Stoecker, Industrial
// Refrigeration Handbook, ch. 4).
func volumetric(loss, ratio float64) float64 { return max(0.03, 0.93-loss*(ratio-1)) }

// isentropic is the efficiency of compression: best at a ratio of four (ibid.).
func isentropic(best, logRatio float64) float64 {
	x := max(0.18, logRatio) - math.Ln2*2
	return best * max(0.35, 1-0.16*x*x)
}

// circuit steps charge, evaporating and condensing temperature, pipes and current.
func (u *Unit) circuit(dt float64) {
	charge := u.charge * (1 - u.ills.leak)
	if !u.on {
		u.capacity, u.power, u.amps, u.stands = 0, 0, 0, false
		u.settle(charge, dt)
		return
	}
	if u.stands = u.stalled(); u.stands {
		u.amps = u.locked * u.volts / u.nominal
		u.power, u.capacity = 0.5*u.amps*u.volts*u.phases, 0
		u.settle(charge, dt)
		return
	}
	f := u.fluid
	wet := min(1, u.inEvap/u.evapLiquid)
	// The wetted part boils; conductance falls a little slower than its share.
	ua := u.coilUA * max(wet, 0.003) * (1.25 - 0.25*wet)
	logHigh := f.logPressure(u.cond)
	high := math.Exp(logHigh)
	liquid := max(0, charge-u.inEvap)
	cool := u.subcooling(liquid)
	effect0 := -f.liquidHeat*(u.cond-cool) + f.vapourHeat*min(8, u.superheat)
	inlet := u.suction + shellGain + 22*u.ills.valve // what leaks back is hot
	sweep := u.sweep * u.ills.larger
	// Newton: what the compressor pumps equals what boils. The root is between a vacuum
	// and the coil's own temperature.
	e := min(u.evap, u.coil-0.05)
	var pumped, effect, low, logRatio float64
	for range 3 {
		logLow := f.logPressure(e)
		low, logRatio = math.Exp(logLow), max(0.02, logHigh-logLow)
		loss := volumetric(u.ratioLoss, max(1.02, high/low)) * (1 - 0.55*u.ills.valve)
		pumped = sweep * loss * f.density(low, inlet)
		effect = f.boiling(e) + effect0 + f.liquidHeat*e
		slope := f.b / ((e + f.c) * (e + f.c))
		g := ua*(u.coil-e) - pumped*effect
		d := g / (ua + pumped*effect*slope)
		e += min(8, max(-8, d))
		e = min(e, u.coil)
		if math.Abs(d) < 0.02 {
			break
		}
	}
	u.evap = max(e, -70)
	u.capacity = max(0, ua*(u.coil-u.evap))

	fed := u.fed(high, low, cool, liquid, dt)
	carry := max(0, (u.inEvap-u.evapLiquid)/15) // kg/s that leave as liquid
	u.inEvap = max(0, u.inEvap+(fed-pumped-carry)*dt)
	// A dry stretch superheats the gas towards the coil (a heat exchanger of up to five
	// transfer units at one temperature).
	reach := u.coil + 0.6*(u.air-u.coil) - u.evap
	u.superheat = max(0, reach) * (1 - math.Exp(-5*(1-wet)))

	// The suction line: gas warms up towards ambient; liquid in it boils first.
	out := u.evap + u.superheat
	suction := out + u.lineGain*(u.ambient-out)
	if carry > 0 {
		suction = max(u.evap, suction-carry/max(pumped, 1e-9)*f.boiling(u.evap)/f.vapourHeat*0.25)
	}
	u.suction += (suction - u.suction) * min(1, dt/45)

	best := isentropic(u.efficiency, logRatio) * (1 - 0.35*u.ills.valve)
	shaft := pumped * f.work(logRatio, inlet) / best
	u.power = shaft/u.motor*(1+0.15*u.ills.sag) + u.friction
	gas := inlet + shaft*0.85/max(pumped*f.vapourHeat*1.08, 0.02*u.feed*f.vapourHeat)
	if carry > 0 { // droplets boil in the shell
		gas -= min(gas-u.cond, carry/max(pumped, 1e-9)*f.boiling(u.evap)/f.vapourHeat*0.25)
	}
	u.shell += (min(gas, 165) - u.shell) * min(1, dt/420)
	u.discharge += (0.5*min(gas, 165) + 0.5*u.shell - u.discharge) * min(1, dt/50)

	// The condenser. Liquid that backs up in it takes area from it.
	condUA := u.condUA * u.condAir() / (1 + 1.6*max(0, liquid-3*u.seal)/u.evapLiquid*bool01(u.expansion == capillary))
	if u.holdHead > 0 && u.cond < u.holdHead {
		condUA *= 0.15
	}
	heat := u.capacity + 0.88*u.power
	k := u.condC / dt
	u.cond = (k*u.cond + condUA*u.ambient + heat) / (k + condUA)

	v := u.volts * u.phases
	u.amps = math.Hypot(u.power/v, u.magnetising*u.volts/u.nominal)
}

func bool01(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// condAir is the share of the conductance that dirt and fan leave to the condenser.
func (u *Unit) condAir() float64 {
	share := u.cleanShare
	if u.ills.condFan || u.fanStuck {
		share *= 0.13 // by free convection
	}
	return share
}

// subcooling grows with the liquid that stands in the condenser, K.
func (u *Unit) subcooling(liquid float64) float64 {
	if u.expansion == valve {
		return 4 * min(1, liquid/u.seal)
	}
	return min(9, 4*liquid/(1.5*u.seal))
}

// fed is what the tube or the valve lets through, kg/s.
func (u *Unit) fed(high, low, cool, liquid, dt float64) float64 {
	at := min(1, liquid/u.seal) // below that gas enters as well
	var m float64
	if u.expansion == capillary {
		// Choked: inlet pressure and subcooling decide, the evaporator hardly does (ASHRAE
		// Handbook Refrigeration, ch. 11, rating charts of capillary tubes: to the power of 0.75).
		x := max(0, high-0.3*low) / (u.designHigh - 0.3*u.designLow)
		m = u.feed * math.Sqrt(x*math.Sqrt(x)) * (1 + 0.02*(cool-4)) * (0.12 + 0.88*at)
	} else {
		// Proportional to superheat by a bulb with a lag (ibid., thermostatic expansion
		// valves), times the root of the pressure difference.
		u.bulbSH += (u.superheat - u.bulbSH) * min(1, dt/25)
		open := min(1, max(0.02, (u.bulbSH-3.5)/4.5))
		m = 1.35 * u.feed * open * math.Sqrt(max(0, high-low)/(u.designHigh-u.designLow)) * (0.1 + 0.9*at)
	}
	return min(m, liquid/dt)
}

// settle steps a circuit that stands.
func (u *Unit) settle(charge, dt float64) {
	u.cond += (u.ambient - u.cond) * min(1, dt/240)
	if u.expansion == capillary { // pressures equalise, the charge goes where it is cold
		u.inEvap += (0.92*charge - u.inEvap) * min(1, dt/100)
	}
	u.evap += (u.coil - u.evap) * min(1, dt/90)
	u.superheat += (2 - u.superheat) * min(1, dt/120)
	u.bulbSH += (4 - u.bulbSH) * min(1, dt/60)
	u.suction += (u.coil + 0.75*(u.ambient-u.coil) - u.suction) * min(1, dt/700)
	u.shell += (u.ambient + 2 - u.shell) * min(1, dt/2600)
	u.discharge += (0.55*u.shell + 0.45*u.ambient - u.discharge) * min(1, dt/500)
}
