package foreign

import "math"

// box steps air, liner, goods, coil and frost. Air and moisture are implicit: an open door
// exchanges more in one step than there is.
func (u *Unit) box(dt float64) {
	fans := !u.static && !u.ills.evapFan && !u.ills.off && !(u.melting >= electric && u.phase != cooling)
	closed := min(0.93, max(0, u.frost/u.frostFull))
	// The fan against the resistance of box and coil; that of the coil goes with the cube of
	// the gap that the frost leaves (O'Neal and Tree 1985, a review of frost on coils).
	gap := 1 - closed
	flow := u.airFlow * (0.05 + 0.95/math.Sqrt(0.65+0.35/(gap*gap*gap))) // some passes by
	ua := u.airUA / (1 + 0.7*closed)                                     // conduction through the frost
	if u.static {
		flow, ua = 1e3, u.airUA/(1+0.8*closed) // no fan: a conductance by free convection
	} else if !fans {
		flow, ua = u.airFlow*0.07, ua*0.12
	}
	g := flow * airHeat * (1 - math.Exp(-ua/(flow*airHeat))) // W/K between air and coil

	// Heat and vapour from outside.
	leak := 0.00002 * u.volume * 10
	leak += u.curtain * (1 + 5*u.ills.gap)
	full := 0.0
	if u.doorArea > 0 && (u.doorOpen || u.ills.gap > 0) {
		full = exchange(u.doorArea, u.doorHigh, u.air, u.ambient) * u.doorShare
	}
	if u.doorOpen {
		leak += full
	}
	leak += full * u.ills.gap
	inside := 0.0
	if fans {
		inside += u.fans
	}
	if u.busy {
		inside += u.lights
	}
	heater := 0.0
	if u.phase == defrosting && (u.melting == electric || u.melting == hotGas) && !u.ills.off {
		switch {
		case u.ills.noHeater:
		case u.ills.defrosts && u.coil > 25: // the safety thermostat
		case u.melting == hotGas && !u.on:
		default:
			heater = u.heater
		}
	}
	toAir := 0.12 * heater // what steams off the coil

	door := leak * airHeat
	k := u.airC / dt
	air := (k*u.air + g*u.coil + door*u.ambient + u.linerUA*u.liner + u.goodsUA*u.goodsT + inside + toAir) /
		(k + g + door + u.linerUA + u.goodsUA)
	toCoil := g * (air - u.coil)
	u.in += (door*(u.ambient-air) + inside + heater + u.wall*(u.ambient-u.liner)) * dt
	toGoods := u.goodsUA * (air - u.goodsT)
	u.liner += (u.wall*(u.ambient-u.liner) + u.linerUA*(air-u.liner)) * dt / u.linerC
	u.goodsT += toGoods * dt / max(1, u.goodsHeat())
	u.air = air

	// Vapour: diffusion goes with heat (Lewis number 1, ASHRAE Handbook Fundamentals, ch. 6).
	at := saturated(u.coil)
	move := g / airHeat // kg/s of dry air that reaches the coil
	wet := u.wet * u.dry
	m := u.moist / dt
	humid := (m*u.humid + leak*u.outside + wet) / (m + leak)
	toIce := 0.0
	if at < humid || u.frost+u.water > 0 {
		humid = (m*u.humid + leak*u.outside + move*at + wet) / (m + leak + move)
		toIce = move * (humid - at) // below 0: it sublimes
		if toIce < 0 {
			toIce = max(toIce, -(u.frost+u.water)/dt)
		} else { // what is closed has no surface
			toIce *= 1 - closed*closed
			humid = (m*u.humid + leak*u.outside + wet - toIce) / (m + leak)
		}
	}
	u.humid = max(1e-5, humid)
	latent := toIce * vapLatent
	if u.coil < 0 {
		latent = toIce * sublLatent
	}
	switch {
	case u.coil < 0 && toIce > 0:
		u.frost += toIce * dt
	case toIce > 0:
		u.water += toIce * dt
	default:
		wetPart := min(u.water, -toIce*dt)
		u.water -= wetPart
		u.frost = max(0, u.frost+toIce*dt+wetPart)
	}
	u.in += latent * dt

	// The coil. Ice melts at 0 °C as fast as heat reaches it.
	melt := 0.0
	if u.coil > 0 && u.frost > 0 {
		melt = min(u.meltUA*u.coil, u.frost*iceLatent/dt)
		u.frost -= melt * dt / iceLatent
		u.water += melt * dt / iceLatent
	}
	u.water -= u.water * min(1, dt/150) // it drains
	u.out += melt * dt
	boils := u.capacity
	if u.phase == defrosting && u.melting == hotGas {
		boils = 0
	}
	u.coil += (toCoil + latent + heater - toAir - melt - boils) * dt / u.coilC
	u.out += boils * dt
}

// stored is the heat in the box, J above 0 °C.
func (u *Unit) stored() float64 {
	return u.airC*u.air + u.linerC*u.liner + u.goodsHeat()*u.goodsT + u.coilC*u.coil
}
