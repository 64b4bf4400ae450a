package simulate

import "github.com/rimewatch/rimewatch"

// phase is where a unit is in its defrost.
type phase uint8

const (
	cooling  phase = iota
	melting        // heater on, or off-cycle: compressor off
	dripping       // water runs off
	chilling       // compressor on, fans wait until the coil is cold again
)

const (
	minOff   = 180.0 // s between a stop and the next start
	minOn    = 60.0  // s that a started compressor runs on
	dripTime = 180.0 // s
	fanWait  = 300.0 // s, longest wait of the fans after a heated defrost
	fanStart = -4.0  // °C of coil that lets them start

	highReset    = 300.0 // s until the high-pressure control closes again
	lowReset     = 240.0 // s until the low-pressure control does
	shellReset   = 1200.0
	shellTrip    = 135.0 // °C
	lockedFor    = 7.0   // s until the protector opens on a rotor that does not turn
	overloadTau  = 90.0  // s, thermal time constant of the protector
	overloadTrip = 1.25  // of rated current, carried for ever
	dropOut      = 0.7   // of nominal voltage, where the contactor lets go
)

// control is the unit's controller, contactor and protectors.
type control struct {
	calling   bool    // the thermostat asks for cooling
	running   bool    // the compressor turns
	since     float64 // s since it last started or stopped
	lockout   float64 // s until a protector closes again
	locked    float64 // s that the rotor is still held
	overload  float64 // heat of the protector, opens at 1
	phase     phase
	phaseFor  float64 // s in it
	nextMelt  rimewatch.Time
	attempts  int64
	starts    int64
	trips     int64
	runFor    float64 // s of compressor run time in all
	failedAmp float64 // A, highest of a failed start since the last sample
	speed     float64 // of a compressor that is modulated, as a share of full
	meltedAt  float64 // s of run time at the newest defrost
}

func (u *Unit) fansOn() bool {
	return (u.p.DefrostW == 0 || u.ctl.phase == cooling) && (!u.p.FansCycle || u.ctl.running || u.ctl.phase != cooling)
}

// stepControl decides whether the compressor runs in the next dt seconds.
func (u *Unit) stepControl(dt float64) {
	c := &u.ctl
	c.since += dt
	c.lockout = max(0, c.lockout-dt)
	c.locked = max(0, c.locked-dt)
	u.stepDefrost(dt)
	switch {
	case u.probe < u.p.Setpoint:
		c.calling = false
	case u.probe > u.p.Setpoint+u.p.Diff:
		c.calling = true
	}
	want := (c.calling || u.eff.stuckOn) && !u.eff.stuckOff && (c.phase == cooling || c.phase == chilling) || u.hotGas()
	switch {
	case !u.eff.power || u.eff.noContact || u.feed < dropOut*u.p.Volts:
		u.stop()
	case c.running && !want && (c.since >= minOn || c.phase == melting && !u.p.HotGas):
		u.stop()
	case c.running:
		u.protect(dt)
	case want && c.since >= minOff && c.lockout == 0:
		u.start()
	}
	if c.running {
		c.runFor += dt
	} else {
		c.overload -= c.overload * dt / overloadTau
	}
}

func (u *Unit) stop() {
	if u.ctl.running {
		u.ctl.running = false
		u.ctl.since = 0
	}
}

// trip stops the compressor until a protector closes again.
func (u *Unit) trip(lockout float64) {
	u.stop()
	u.ctl.lockout = lockout
	u.ctl.trips++
}

// start tries to start the compressor. A rotor that does not turn draws its
// locked current until the protector opens.
func (u *Unit) start() {
	c := &u.ctl
	c.attempts++
	n := u.seed.stream(streamControl)
	fails := u.eff.singlePhase || u.feed < 0.75*u.p.Volts || n.uniform(2*c.attempts) < u.eff.startFails
	if fails {
		c.locked = lockedFor
		c.failedAmp = max(c.failedAmp, u.p.LockedAmps*u.feed/u.p.Volts)
		u.trip(n.between(2*c.attempts+1, 150, 350))
		return
	}
	c.running = true
	c.since = 0
	c.starts++
}

// protect stops a running compressor whose pressures, current or temperature
// are beyond what its protectors allow.
func (u *Unit) protect(dt float64) {
	c := &u.ctl
	load := u.amps / (overloadTrip * u.p.RatedAmps)
	c.overload += dt / overloadTau * (load*load - c.overload)
	switch {
	case u.cy.cond > u.p.HighTrip:
		u.trip(highReset)
	case u.cy.evap < u.p.LowTrip && c.since > 30:
		u.trip(lowReset)
	case u.shell > shellTrip:
		u.trip(shellReset)
	case c.overload > 1:
		u.trip(u.seed.stream(streamControl).between(-c.attempts, 150, 350))
	}
}

// stepDefrost runs the defrost clock and its phases.
func (u *Unit) stepDefrost(dt float64) {
	c := &u.ctl
	p := &u.p
	c.phaseFor += dt
	if u.meltDue() {
		c.nextMelt += u.meltEvery()
		c.meltedAt = c.runFor
		// Without power the clock waits; a dead timer of an off-cycle unit
		// never starts a defrost.
		if u.eff.power && c.phase == cooling && (p.DefrostW > 0 || u.eff.heater > 0) {
			u.enter(melting)
		}
	}
	if u.eff.defrosting && u.eff.power && c.phase != melting {
		u.enter(melting)
	}
	switch c.phase {
	case melting:
		length := p.DefrostS
		if p.DefrostW == 0 {
			length *= u.eff.heater
		}
		if u.eff.defrosting {
			return
		}
		if c.phaseFor >= length || (p.DefrostW > 0 && u.coil >= p.DefrostEndC) {
			if p.DefrostW > 0 {
				u.enter(dripping)
			} else {
				u.enter(cooling)
			}
		}
	case dripping:
		if c.phaseFor >= dripTime {
			u.enter(chilling)
		}
	case chilling:
		if u.coil <= fanStart || c.phaseFor >= fanWait {
			u.enter(cooling)
		}
	default:
	}
}

func (u *Unit) enter(p phase) {
	u.ctl.phase = p
	u.ctl.phaseFor = 0
}

func (u *Unit) meltEvery() rimewatch.Time {
	return rimewatch.Time(float64(rimewatch.Day) / u.p.Defrosts)
}

// chatter lets a bad contactor drop out at a random minute and come back
// within one: the controller knows nothing of it.
func (u *Unit) chatter(minute int64) {
	n := u.seed.stream(streamControl)
	if u.eff.chatter > 0 && u.ctl.running && n.uniform(-2*minute) < 0.5*u.eff.chatter {
		u.trip(n.between(-2*minute-1, 5, 60))
		u.ctl.since = minOff
	}
}
