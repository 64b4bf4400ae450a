package simulate

import (
	"fmt"
	"math"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Config describes the unit to simulate. Equipment and Start are required.
type Config struct {
	Equipment    string         // slug of a rimewatch.Equipment
	Seed         uint64         // of everything that is random about the unit
	Site         Site           // zero: a site of the unit's own, from Seed
	Start        rimewatch.Time // of the first reading
	SampleEvery  time.Duration  // between readings, default 60 s, at least 100 ms
	Step         time.Duration  // longest step of the physics, default 5 s, at most 10 s
	Params       *Params        // nil draws them from Seed
	Faults       []Fault
	Events       []Event
	Extras       bool  // also send the optional observations and the compressor's counters
	Meters       bool  // also send the setpoint, what gauges on the circuit show, power and energy
	ZoneHumidity bool  // the humidity sensor hangs in the zone, not at the condenser
	Flaws        Flaws // what its sensors make of the truth
}

// Truth is the true state of a unit, without its sensors.
type Truth struct {
	At           rimewatch.Time
	Air          float64 // °C
	Goods        float64 // °C
	Coil         float64 // °C
	Frost        float64 // kg
	ZoneHumidity float64 // %RH over water
	Ambient      float64 // °C at the condenser
	Humidity     float64 // %RH at the condenser
	Evaporating  float64 // °C
	Condensing   float64 // °C
	Discharge    float64 // °C of the gas
	Suction      float64 // °C of the gas
	Capacity     float64 // W
	Volts        float64
	Amps         float64
	Running      bool
	Defrosting   bool
	DoorOpen     bool
	Starts       int64
	Trips        int64 // protectors that opened, failed starts included
	RunTime      time.Duration
}

// Unit is one simulated device. It is not safe for concurrent use.
type Unit struct {
	cfg    Config
	p      Params
	fluid  *fluid
	sat    *[1202]float64
	seed   noise
	sur    surroundings
	faults []activeFault
	events []Event

	t        rimewatch.Time // of the state
	due      rimewatch.Time // of the next reading
	step     rimewatch.Time
	minute   int64
	lag      lags
	lagStep  rimewatch.Time // that lag holds for
	eff      effects
	wetted   float64 // factor on CoilUA from starvation
	clear    float64 // factor on AirUA from frost
	doorTill rimewatch.Time
	doorOpen float64 // share of the step in which somebody has it open

	air, goods, coil, frost float64
	ratio, outsideRatio     float64 // humidity ratios in and outside
	cy                      cycleState
	ctl                     control
	shell                   float64
	feed, volts, amps       float64 // supply, supply at the unit, current
	energy                  float64 // J taken since the first reading
	probe                   float64 // °C that the thermostat sees
	sense                   sensors
}

// lags are the shares by which first-order elements move in one step.
type lags struct{ condenser, probe, zone, dischargeOn, dischargeOff, suctionOn, suctionOff, shellOn, shellOff float64 }

func newLags(dt, zone float64) lags {
	of := func(tau float64) float64 { return -math.Expm1(-dt / tau) }
	return lags{of(60), of(30), of(zone), of(110), of(1000), of(100), of(1500), of(900), of(2400)}
}

const warmUp = 4 * rimewatch.Hour

// New prepares a unit and lets it run for some hours before Start, so that the
// first reading shows it in operation. It fails when the equipment type cannot
// be simulated or a setting is out of range.
func New(cfg Config) (*Unit, error) {
	if cfg.SampleEvery == 0 {
		cfg.SampleEvery = time.Minute
	}
	if cfg.Step == 0 {
		cfg.Step = 5 * time.Second
	}
	switch {
	case cfg.SampleEvery < 100*time.Millisecond || cfg.SampleEvery > 24*time.Hour:
		return nil, fmt.Errorf("simulate: SampleEvery %v must be between 100 ms and 24 h", cfg.SampleEvery)
	case cfg.Step < 100*time.Millisecond || cfg.Step > 10*time.Second:
		return nil, fmt.Errorf("simulate: Step %v must be between 100 ms and 10 s", cfg.Step)
	case cfg.Start < rimewatch.MinTime+warmUp || cfg.Start > rimewatch.MaxTime:
		return nil, fmt.Errorf("simulate: Start %d is out of range", cfg.Start)
	}
	if cfg.Site == (Site{}) {
		cfg.Site.Seed = cfg.Seed
	}
	u := &Unit{cfg: cfg, seed: noise(cfg.Seed), sat: saturation(), due: cfg.Start}
	for _, f := range cfg.Faults {
		active, err := f.activate()
		if err != nil {
			return nil, fmt.Errorf("simulate: %w", err)
		}
		u.faults = append(u.faults, active)
	}
	params, err := cfg.params()
	if err != nil {
		return nil, err
	}
	u.p = params
	u.fluid = fluids()[u.p.Refrigerant]
	if u.fluid == nil {
		return nil, fmt.Errorf("simulate: unknown refrigerant %q", u.p.Refrigerant)
	}
	u.fitCapillary()
	u.rest()
	u.advance(cfg.Start, 10*rimewatch.Second)
	u.step = rimewatch.Time(cfg.Step.Milliseconds())
	u.ctl.starts, u.ctl.trips, u.ctl.runFor = 0, 0, 0
	u.energy = 0
	return u, nil
}

func (c *Config) params() (Params, error) {
	if c.Params != nil {
		return *c.Params, nil
	}
	return RandomParams(c.Equipment, c.Seed)
}

// rest sets the state of a unit that has been cold for long, some hours before
// its first reading.
func (u *Unit) rest() {
	p := &u.p
	u.t = u.cfg.Start - warmUp
	u.events = planned(u.cfg.Events, u.t, p)
	u.sur = newSurroundings(u.cfg.Site, p.AmbientVar, u.t)
	mid := p.Setpoint + p.Diff/2
	u.air, u.goods, u.coil, u.probe = mid, mid, mid-2, mid
	u.ratio = 0.8 * saturatedRatio(u.sat, mid)
	u.cy = cycleState{evap: mid - 8, cond: 30}
	u.shell = 40
	u.volts, u.feed = p.Volts, p.Volts
	u.ctl.since = minOff
	u.ctl.nextMelt = rimewatch.MaxTime
	if p.Defrosts > 0 {
		every := u.meltEvery()
		u.ctl.nextMelt = u.t - u.t%every + rimewatch.Time(p.DefrostAt*float64(every))
		for u.ctl.nextMelt < u.t {
			u.ctl.nextMelt += every
		}
		// What has frozen on since the last defrost is already there.
		u.frost = 0.1 * p.FrostM * (1 - float64(u.ctl.nextMelt-u.t)/float64(every))
	}
	u.minute = math.MinInt64
	u.sense = newSensors(mid)
}

// NextAt is when the next reading will be measured.
func (u *Unit) NextAt() rimewatch.Time { return u.due }

// Params are those of the unit, as given or drawn.
func (u *Unit) Params() Params { return u.p }

// Next runs the unit to the next reading and measures it. It never ends.
// A sensor that is disconnected leaves its field out of Present and in Faults.
func (u *Unit) Next() rimewatch.Reading {
	u.advance(u.due, u.step)
	u.due = u.due.Add(u.cfg.SampleEvery)
	return u.measure()
}

// After lets d pass and measures, between the readings that are due.
func (u *Unit) After(d time.Duration) rimewatch.Reading {
	u.advance(u.t.Add(d), u.step)
	u.due = u.t.Add(u.cfg.SampleEvery)
	return u.measure()
}

// Break has a unit suffer from these faults, and from no others, from its present moment on.
func (u *Unit) Break(faults ...Fault) error {
	list := make([]activeFault, 0, len(faults))
	for _, f := range faults {
		active, err := f.activate()
		if err != nil {
			return fmt.Errorf("simulate: %w", err)
		}
		list = append(list, active)
	}
	u.faults = list
	u.minute = -1 // so that they show at once
	return nil
}

// History takes all readings up to and including a moment.
func (u *Unit) History(to rimewatch.Time) []rimewatch.Reading {
	var all []rimewatch.Reading
	if to >= u.due {
		all = make([]rimewatch.Reading, 0, int(to.Sub(u.due)/u.cfg.SampleEvery)+1)
	}
	for u.due <= to {
		all = append(all, u.Next())
	}
	return all
}

// Truth is the state at the last reading.
func (u *Unit) Truth() Truth {
	return Truth{
		At: u.t, Air: u.air, Goods: u.goods, Coil: u.coil, Frost: u.frost,
		ZoneHumidity: relativeHumidity(u.air, u.ratio),
		Ambient:      u.sur.ambient + u.p.AmbientK, Humidity: u.sur.humidity,
		Evaporating: u.cy.evap, Condensing: u.cy.cond, Discharge: u.cy.discharge, Suction: u.cy.suction,
		Capacity: u.cy.capacity, Volts: u.volts, Amps: u.amps,
		Running: u.ctl.running, Defrosting: u.ctl.phase != cooling, DoorOpen: u.doorStands(),
		Starts: u.ctl.starts, Trips: u.ctl.trips, RunTime: time.Duration(u.ctl.runFor * float64(time.Second)),
	}
}

// advance integrates up to a moment in equal steps of at most longest.
func (u *Unit) advance(to, longest rimewatch.Time) {
	for u.t < to {
		step := min(longest, to-u.t)
		dt := float64(step) / 1000
		if step != u.lagStep {
			u.lag, u.lagStep = newLags(dt, u.p.ZoneLag), step
		}
		if m := int64(u.t / rimewatch.Minute); m != u.minute {
			u.tick(m)
		}
		u.stepDrive(dt)
		u.doorOpen = min(1, max(0, float64(u.doorTill-u.t)/float64(step)))
		u.stepControl(dt)
		if u.ctl.running {
			u.runCycle()
		} else {
			u.restCycle()
		}
		u.stepSupply()
		u.energy += u.watts() * dt
		u.stepBox(dt)
		u.stepSensors()
		u.t += step
	}
}

// tick does once a minute what changes slowly: surroundings, faults, doors,
// what people do, and the coil's conductances.
func (u *Unit) tick(minute int64) {
	u.minute = minute
	t := rimewatch.Time(minute) * rimewatch.Minute
	u.sur.move(t)
	outside := vapourPressure(u.sur.ambient, false) * u.sur.humidity / 100
	u.outsideRatio = humidityRatio(outside)
	u.eff = healthy()
	for i := range u.faults {
		f := &u.faults[i]
		if s := f.at(t); s > 0 && !f.spec.sensors {
			f.spec.effect(&u.eff, s)
		}
	}
	if u.p.Capillary {
		u.eff.starve = 0 // its own mass balance starves it
	}
	u.wetted = math.Pow(1-u.eff.starve, 1.6) + 0.02
	u.clear = u.clearance()
	u.moveDoor(minute)
	u.chatter(minute)
	for len(u.events) > 0 && u.events[0].At <= t {
		switch e := u.events[0]; e.Kind {
		case SetpointChange:
			u.p.Setpoint = e.Value
		case Loading:
			u.goods += e.Value / u.p.ProductC
		case DoorHeld:
			u.doorTill = max(u.doorTill, t+rimewatch.Time(e.Value*1000))
		}
		u.events = u.events[1:]
	}
}

// moveDoor opens the door at random minutes, now and then for a long
// restocking.
func (u *Unit) moveDoor(minute int64) {
	n := u.seed.stream(streamDoors)
	rate := u.p.DoorsAnHr * doorRate(u.sur.hour) / 60
	if u.p.ClosedSundays && (minute/(24*60)+3)%7 == 6 {
		rate = 0
	}
	if rate == 0 || n.uniform(4*minute) >= -math.Expm1(-rate) {
		return
	}
	// The lognormal scatter of 0.5 has the mean exp(0.125).
	open := u.p.DoorS * math.Exp(0.5*n.normal(4*minute+1)-0.125)
	if n.uniform(4*minute+2) < 0.03 {
		open *= 4
	}
	u.doorTill = max(u.doorTill, rimewatch.Time(minute)*rimewatch.Minute+rimewatch.Time(open*1000))
}

// doorStands reports what a door switch would: opened, or left ajar by a fault.
func (u *Unit) doorStands() bool { return u.doorOpen > 0 || u.eff.doorAjar >= 0.5 }

// stepSupply works out the voltage at the unit, behind 0.25 Ω of wiring, and
// the current.
func (u *Unit) stepSupply() {
	u.feed = u.p.Volts * u.sur.volts * u.eff.volts
	switch {
	case !u.eff.power:
		u.feed, u.amps = 0, 0
	case u.ctl.running:
		u.amps = u.runningAmps()
		if u.eff.singlePhase {
			u.amps *= math.Sqrt(3)
		}
	case u.ctl.locked > 0:
		u.amps = u.p.LockedAmps * u.feed / u.p.Volts
	default:
		u.amps = u.p.IdleAmps
	}
	u.volts = max(0, u.feed-wiring*u.amps)
}

const wiring = 0.25 // Ω
