package foreign

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Config describes the unit to simulate.
type Config struct {
	Equipment   string // one of Types
	Seed        uint64 // of everything that is random about it
	Start       rimewatch.Time
	SampleEvery time.Duration // default a minute
	Faults      []Fault
	Spikes      float64 // share of the readings of every channel that are odd
	Lossless    bool    // every reading arrives
}

// Truth is what goes on in a unit, without its sensors.
type Truth struct {
	Air, Goods, Coil        float64 // °C
	Frost                   float64 // share of the coil's gaps, 1 = closed
	Evaporating, Condensing float64 // °C
	Superheat               float64 // K at the evaporator's outlet
	Capacity                float64 // W
	Running, Defrosting     bool
	DoorOpen                bool
	Asks                    bool // the zone is so warm that a sound thermostat would ask for cold
	Starts                  int
}

// Unit is one simulated unit. It is not safe for concurrent use.
type Unit struct {
	build
	site   site
	faults []Fault
	ills   ills
	people people
	sensor *rand.Rand
	chance *rand.Rand // of the machine: starts that fail, a fan that sticks

	now, nextAt   rimewatch.Time
	every         rimewatch.Time
	step          float64 // s
	spikes        float64
	slow          int // steps until what changes slowly is looked at
	ambient       float64
	outside       float64 // kg/kg
	volts         float64
	busy          bool // the shop is open
	mainsNoise    float64
	cleanShare    float64 // of the condenser's conductance that dirt leaves
	dry           float64 // 0–1, how far the air is from saturation
	warmGoods     float64
	filled        bool
	oddDone       bool
	neighbour     bool
	neighbourNext rimewatch.Time

	air, liner, goodsT, coil, humid   float64
	frost, water                      float64 // kg on the coil
	evap, cond                        float64 // °C of saturation
	inEvap                            float64 // kg of liquid
	superheat, bulbSH                 float64
	suction, discharge, shell         float64 // °C of pipes and shell
	bulb, probe, suctionP, dischargeP float64 // °C that sensors have reached
	overload                          float64
	capacity, amps, power             float64
	ampsSum, ampsN                    float64

	on, fanStuck, stands   bool // stands: its rotor does, under current
	asking                 bool
	offFor, onFor          float64 // s
	blocked                float64 // s until a protector closes
	phase                  defrostPhase
	phaseFor               float64
	sinceDefrost, ranSince float64
	doorOpen               bool
	starts                 int
	frozenAt               float64
	hasFrozen              bool

	in, out, stored0 float64 // J, the ledger of the box
}

type defrostPhase uint8

const (
	cooling defrostPhase = iota
	defrosting
	dripping
	chilling // the fan waits until the coil is cold
)

const (
	longest = 6.0 // s of a step
	icedUp  = 0.5 // share of the coil's gaps from which on a unit has iced up
)

// New prepares a unit and lets it run for twelve hours before Start.
func New(c Config) (*Unit, error) {
	k, ok := kinds[c.Equipment]
	if !ok {
		return nil, fmt.Errorf("foreign: no equipment %q", c.Equipment)
	}
	for i := range c.Faults {
		if err := c.Faults[i].check(); err != nil {
			return nil, err
		}
	}
	if c.SampleEvery == 0 {
		c.SampleEvery = time.Minute
	}
	stream := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(c.Seed, n)) }
	r := stream(1)
	u := &Unit{site: drawSite(r, k.outdoors), faults: c.Faults, sensor: stream(2), chance: stream(3), people: people{r: stream(4)},
		every: rimewatch.Time(c.SampleEvery.Microseconds()) * rimewatch.Second / 1e6, spikes: c.Spikes}
	u.build = k.draw(r, &u.site)
	if c.Lossless {
		u.lost = 0
	}
	sample := c.SampleEvery.Seconds()
	u.step = sample / math.Ceil(sample/longest)
	warmUp := rimewatch.Time(12 * rimewatch.Hour)
	u.now, u.nextAt = c.Start-warmUp, c.Start
	u.ambient = u.site.air(u.now)
	cold := u.set + u.diff/2
	u.air, u.liner, u.goodsT, u.bulb, u.probe = cold, cold+1, cold, cold, cold
	u.coil, u.cond, u.evap = cold-2, u.ambient, cold-4
	u.humid = saturated(cold - 3)
	u.suction, u.discharge, u.shell, u.suctionP, u.dischargeP = u.ambient, u.ambient, u.ambient, u.ambient, u.ambient
	u.inEvap = u.evapLiquid * 0.5
	u.sinceDefrost = math.Mod(float64(u.now)/float64(rimewatch.Second)+u.build.phase, 86400/max(1, u.defrosts))
	u.frost = 0.02 * u.frostFull
	u.offFor = 1000
	u.findIlls(u.now)
	for i := range u.faults {
		if u.faults[i].Name == NeverCold {
			warm := u.ambient - 4
			u.air, u.liner, u.goodsT, u.bulb, u.probe, u.coil = warm, warm, warm, warm, warm, warm
		}
	}
	u.stored0 = u.stored()
	dt := seconds(u.step)
	for u.now+dt <= c.Start-u.every {
		u.advance()
	}
	return u, nil
}

// NextAt is when the next reading will be measured.
func (u *Unit) NextAt() rimewatch.Time { return u.nextAt }

// Next runs the unit to the next reading and measures it; ok is false for one that does
// not arrive. It never ends.
func (u *Unit) Next() (r rimewatch.Reading, ok bool) {
	for u.now+seconds(u.step)/2 < u.nextAt {
		u.advance()
	}
	r, ok = u.measure()
	u.nextAt += u.every
	return r, ok
}

// Truth is the state at the last reading.
func (u *Unit) Truth() Truth {
	return Truth{Air: u.air, Goods: u.goodsT, Coil: u.coil, Frost: u.frost / u.frostFull, Evaporating: u.evap, Condensing: u.cond,
		Superheat: u.superheat, Capacity: u.capacity, Running: u.on && !u.stands, Defrosting: u.phase == defrosting, DoorOpen: u.doorOpen,
		Asks: u.warmEnough() && u.phase == cooling, Starts: u.starts}
}

// Sample is the time between readings.
func (u *Unit) Sample() rimewatch.Time { return u.every }

// advance is one step.
func (u *Unit) advance() {
	dt := u.step
	if u.slow--; u.slow < 0 {
		u.slow = int(30/dt) - 1
		u.lookAround()
	}
	open, warm := u.people.step(u.now, &u.build, &u.site)
	u.doorOpen = open
	if warm > 0 {
		u.bringGoods(warm, min(u.ambient, u.set+20))
	}
	u.control(dt)
	u.circuit(dt)
	u.box(dt)
	u.sense(dt)
	u.now += seconds(dt)
}

// bringGoods mixes a share of goods of another temperature in.
func (u *Unit) bringGoods(share, at float64) {
	if u.set < -5 {
		at = u.set + 8 // frozen goods thaw on their way a little
	}
	rise := share * max(0, at-u.goodsT)
	u.goodsT += rise
	u.in += rise * u.goodsHeat()
}

func (u *Unit) goodsHeat() float64 { return u.goodsC * u.ills.goods }

// lookAround refreshes what changes slowly.
func (u *Unit) lookAround() {
	was := u.goodsHeat()
	u.findIlls(u.now)
	if now := u.goodsHeat(); now != was { // what is taken out leaves with its warmth
		u.in += (now - was) * u.goodsT
	}
	u.ambient = u.site.air(u.now) + u.ills.warmer
	u.outside = min(u.site.humidity*(1+0.02*(u.ambient-u.site.mean)), 0.9*saturated(u.ambient))
	_, u.busy = u.site.open(u.now)
	u.cleanShare = math.Pow(1-u.ills.dirt, 0.7) // the air side is one part of the resistance
	u.dry = max(0, 1-u.humid/saturated(u.air))
	u.mainsNoise += 0.02*(-u.mainsNoise) + 0.001*u.chance.NormFloat64()
	u.volts = u.nominal * (1 + u.site.mains + u.mainsNoise) * (1 - u.ills.sag)
	for i := range u.faults {
		if f := &u.faults[i]; f.Name == Filled && !u.filled && u.now >= f.Onset {
			u.filled = true
			rise := 0.5 * 15 * f.Severity
			if u.set < -5 {
				rise *= 0.6
			}
			u.goodsT += rise
			u.in += rise * u.goodsHeat()
		}
	}
	if u.now >= u.neighbourNext {
		u.neighbour = !u.neighbour
		u.neighbourNext = u.now + seconds(between(u.chance, 500, 1500))
	}
}
