package foreign

// warmEnough reports whether a sound thermostat would ask for cold.
func (u *Unit) warmEnough() bool {
	if u.onCoil {
		return u.bulb > u.cutIn()
	}
	return u.bulb > u.set+u.ills.raised+u.diff
}

// cutIn of a thermostat on the coil is fixed a little above 0 °C, so that every stop
// defrosts (constant cut-in controls).
func (u *Unit) cutIn() float64 { return 4 + 0.5*(u.set-1.5) + u.ills.raised }

func (u *Unit) coldEnough() bool {
	if u.onCoil {
		return u.bulb < u.set-u.difference*0.95+u.ills.raised
	}
	return u.bulb < u.set+u.ills.raised
}

// control decides what is switched.
func (u *Unit) control(dt float64) {
	u.blocked = max(0, u.blocked-dt)
	switch {
	case u.warmEnough():
		u.asking = true
	case u.coldEnough():
		u.asking = false
	}
	u.defrost(dt)
	want := (u.asking || u.ills.asks) && !u.ills.silent
	switch u.phase {
	case defrosting:
		want = u.melting == hotGas
	case dripping:
		want = false
	case chilling:
		want = true
	}
	if u.ills.off {
		want = false
	}
	switch {
	case u.on && (!want || u.blocked > 0 || u.ills.dead):
		u.on, u.offFor = false, 0
	case u.on:
		u.onFor += dt
		u.protect(dt)
	default:
		u.offFor += dt
		u.overload *= 1 - min(1, dt/80)
		if want && u.blocked == 0 && u.offFor >= u.minOff && !u.ills.dead {
			u.start()
		}
	}
	if u.on {
		u.ranSince += dt
	}
}

// start tries to start the compressor.
func (u *Unit) start() {
	u.on, u.onFor = true, 0
	u.starts++
	u.fanStuck = u.ills.stick > 0 && u.chance.Float64() < u.ills.stick
}

// stalled reports whether the rotor stands although there is current.
func (u *Unit) stalled() bool {
	if u.ills.locked {
		return true
	}
	if u.ills.weak > 0 && u.onFor == 0 && u.chance.Float64() < u.ills.weak {
		u.overload += 100 // it will open in this step
		return true
	}
	return u.overload >= 100
}

// protect opens the overload protector (a bimetal: the square of the current by a time
// constant of 80 s, seconds for a locked rotor; UL 984 asks for less than 10 s or so), the
// pressure controls and the one against hot gas.
func (u *Unit) protect(dt float64) {
	load := u.amps / u.rated
	u.overload += (load*load - u.overload) * min(1, dt/80)
	switch {
	case u.overload > 2.6:
		u.trip(u.retry)
		u.overload = 2
	case u.discharge > 132:
		u.trip(2 * u.retry)
	case u.highTrip > 0 && u.cond > u.highTrip:
		u.trip(240)
	case u.lowTrip != 0 && u.evap < u.lowTrip && u.onFor > 90:
		u.trip(180)
	}
}

func (u *Unit) trip(s float64) { u.on, u.offFor, u.blocked = false, 0, s }

// defrost steps the sequence of a defrost: melting, dripping, a cold coil before the fan.
func (u *Unit) defrost(dt float64) {
	u.phaseFor += dt
	switch u.phase {
	case cooling:
		u.sinceDefrost += dt
		if u.defrostDue() {
			u.enter(defrosting)
		}
	case defrosting:
		least := 240.0
		if u.melting == offTime {
			least = 600
		}
		if u.ills.defrosts || u.ills.off {
			return
		}
		if u.coil > u.endC && u.phaseFor > least || u.phaseFor > u.defrostS {
			if u.melting == offTime {
				u.enter(cooling)
			} else {
				u.enter(dripping)
			}
			u.sinceDefrost, u.ranSince = 0, 0
		}
	case dripping:
		if u.phaseFor > 120 {
			u.enter(chilling)
		}
	case chilling:
		if u.coil < -4 || u.phaseFor > 300 {
			u.enter(cooling)
		}
	}
}

func (u *Unit) enter(p defrostPhase) { u.phase, u.phaseFor = p, 0 }

func (u *Unit) defrostDue() bool {
	if u.melting == byHand || u.ills.off {
		return false
	}
	if u.ills.defrosts {
		return true
	}
	interval := 86400 / u.defrosts
	switch u.trigger {
	case clock:
		return (u.now+seconds(u.build.phase))%seconds(interval) < seconds(u.step) && u.sinceDefrost > interval/4
	case runTime:
		return u.ranSince > interval*0.55
	case demand:
		return u.frost > 0.22*u.frostFull && u.sinceDefrost > 3*3600 || u.sinceDefrost > 30*3600
	default:
		return false
	}
}
