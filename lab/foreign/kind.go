package foreign

import (
	"math"
	"math/rand/v2"

	"github.com/rimewatch/rimewatch"
)

// expansion is how liquid gets into the evaporator.
type expansion uint8

const (
	capillary expansion = iota
	valve               // thermostatic, behind a receiver
)

// melting is how ice is melted.
type melting uint8

const (
	byHand melting = iota // not in the time that is simulated
	offTime
	electric
	hotGas
)

// trigger is what begins a defrost.
type trigger uint8

const (
	clock trigger = iota
	runTime
	demand
	everyStop // the thermostat: its bulb is on the coil and closes above 0 °C
)

// kind is a type of unit before anything is drawn.
type kind struct {
	fluids     []*refrigerant
	expansion  expansion
	set, diff  float64 // °C at which it stops, K above which it starts
	volume     float64 // m³
	wall       float64 // W/K
	fans       float64 // W within the box
	lights     float64 // W in opening hours within the box
	goods      float64 // kg, of 3,400 J/(kg·K) (frozen 1,900)
	doorArea   float64 // m²; 0 = none
	doorHigh   float64 // m
	doorShare  float64 // of the ideal exchange that passes (strips, half-open, lid)
	doors      float64 // an hour when open
	doorS      float64 // s, median
	curtain    float64 // kg/s through an open front, always
	difference float64 // K, air to evaporating, at design
	condense   float64 // K, condensing above ambient, at design
	melting    melting
	triggers   []trigger
	defrosts   float64 // a day, by clock
	defrostS   float64 // s at most
	static     bool    // evaporator in the walls, no fan
	probeS     float64 // s, lag of the zone probe
	volts      []float64
	restock    float64 // share of the goods that are brought warm, a visit
	visits     int     // a week
	outdoors   float64 // share of units with the condenser outdoors
}

// kinds are the types, sized after catalogues of makers: a few hundred litres for what
// stands in a shop, walk-ins of about 2.5 by 3 m.
var kinds = map[string]kind{
	"reach_in_cooler": {fluids: []*refrigerant{&r290, &r134a}, set: 1.2, diff: 3, volume: 0.6, wall: 2.2, fans: 12, lights: 0, goods: 70,
		doorArea: 0.9, doorHigh: 1.4, doorShare: 0.45, doors: 14, doorS: 8, difference: 11, condense: 14, melting: offTime,
		triggers: []trigger{clock, runTime, demand}, defrosts: 4, defrostS: 1500, probeS: 120, volts: []float64{115, 230}, restock: 0.1, visits: 4},
	"walkin_cooler": {fluids: []*refrigerant{&r404a, &r134a}, expansion: valve, set: 1.5, diff: 2, volume: 18, wall: 24, fans: 130, lights: 60, goods: 900,
		doorArea: 1.8, doorHigh: 2, doorShare: 0.25, doors: 9, doorS: 18, difference: 9, condense: 13, melting: offTime,
		triggers: []trigger{clock, clock, demand}, defrosts: 4, defrostS: 1800, probeS: 180, volts: []float64{230, 208, 400}, restock: 0.12, visits: 3, outdoors: 0.3},
	"walkin_freezer": {fluids: []*refrigerant{&r404a}, expansion: valve, set: -22, diff: 3.3, volume: 16, wall: 17, fans: 140, lights: 40, goods: 1000,
		doorArea: 1.8, doorHigh: 2, doorShare: 0.15, doors: 4, doorS: 16, difference: 7.5, condense: 13, melting: electric,
		triggers: []trigger{clock, clock, runTime, demand}, defrosts: 4, defrostS: 2100, probeS: 180, volts: []float64{230, 208, 400}, restock: 0.06, visits: 2, outdoors: 0.3},
	"reach_in_freezer": {fluids: []*refrigerant{&r290, &r404a}, set: -22, diff: 4.2, volume: 0.6, wall: 1.7, fans: 14, goods: 90,
		doorArea: 0.9, doorHigh: 1.4, doorShare: 0.3, doors: 5, doorS: 7, difference: 8.5, condense: 14, melting: electric,
		triggers: []trigger{clock, runTime}, defrosts: 4, defrostS: 1500, probeS: 120, volts: []float64{115, 230}, restock: 0.08, visits: 2},
	"display_case_open": {fluids: []*refrigerant{&r404a, &r134a}, expansion: valve, set: 0, diff: 3.6, volume: 1.6, wall: 9, fans: 70, lights: 80, goods: 220,
		curtain: 0.055, difference: 9, condense: 13, melting: offTime,
		triggers: []trigger{clock}, defrosts: 6, defrostS: 2100, probeS: 120, volts: []float64{230, 208}, restock: 0.12, visits: 6},
	"display_case_closed": {fluids: []*refrigerant{&r290, &r404a}, set: 0.8, diff: 2.5, volume: 1.1, wall: 7, fans: 30, lights: 40, goods: 160,
		doorArea: 1.1, doorHigh: 1.6, doorShare: 0.45, doors: 16, doorS: 9, difference: 10, condense: 14, melting: offTime,
		triggers: []trigger{clock, runTime, demand}, defrosts: 3, defrostS: 1800, probeS: 120, volts: []float64{115, 230}, restock: 0.1, visits: 6},
	"ice_cream_cabinet": {fluids: []*refrigerant{&r290, &r600a}, set: -20.5, diff: 3, volume: 0.35, wall: 1.1, goods: 80,
		doorArea: 0.5, doorHigh: 0.1, doorShare: 0.12, doors: 8, doorS: 9, difference: 9, condense: 13, melting: byHand,
		static: true, probeS: 240, volts: []float64{115, 230}, restock: 0.05, visits: 1},
	"vaccine_refrigerator": {fluids: []*refrigerant{&r600a, &r290}, set: 3.8, diff: 2.2, volume: 0.4, wall: 1.6, fans: 8, goods: 30,
		doorArea: 0.7, doorHigh: 1.2, doorShare: 0.3, doors: 2.5, doorS: 10, difference: 9, condense: 13, melting: offTime,
		triggers: []trigger{demand, runTime}, defrosts: 2, defrostS: 720, probeS: 540, volts: []float64{115, 230}, restock: 0.03, visits: 1},
	"beverage_cooler": {fluids: []*refrigerant{&r134a, &r290, &r600a}, set: 1.5, diff: 3.5, volume: 0.45, wall: 3.2, fans: 10, lights: 18, goods: 120,
		doorArea: 0.85, doorHigh: 1.5, doorShare: 0.4, doors: 12, doorS: 7, difference: 12, condense: 14, melting: offTime,
		triggers: []trigger{everyStop, everyStop, clock}, defrosts: 2, defrostS: 1500, probeS: 150, volts: []float64{115, 230}, restock: 0.2, visits: 5},
}

// Types are the equipment types of the family, in the order of their names.
func Types() []string {
	return []string{"beverage_cooler", "display_case_closed", "display_case_open", "ice_cream_cabinet", "reach_in_cooler", "reach_in_freezer",
		"vaccine_refrigerator", "walkin_cooler", "walkin_freezer"}
}

// build is one unit, drawn. Base units unless a comment says otherwise.
type build struct {
	kind
	fluid *refrigerant

	// The box.
	airC, linerC, linerUA, goodsC, goodsUA float64
	moist                                  float64 // kg of dry air that takes up vapour, with packaging
	wet                                    float64 // kg/s of vapour from goods into dry air

	// The circuit.
	capacity    float64 // W at design
	sweep       float64 // m³/s that the compressor sweeps
	ratioLoss   float64 // volumetric efficiency lost for each unit of pressure ratio
	efficiency  float64 // isentropic, at its best
	coilUA      float64 // W/K, refrigerant to coil, wholly wetted
	airFlow     float64 // kg/s through the coil
	airUA       float64 // W/K, air to coil
	coilC       float64
	frostFull   float64 // kg that closes the gaps
	condUA      float64
	condC       float64
	feed        float64 // of the capillary tube or the open valve at design, kg/s
	designHigh  float64 // kPa
	designLow   float64
	evapLiquid  float64 // kg that wets all of the evaporator
	charge      float64 // kg of liquid in all
	seal        float64 // kg in the condenser that keep gas out of the tube
	lineGain    float64 // share of the way to ambient that the suction line warms up
	holdHead    float64 // °C of condensing temperature that is kept in the cold
	highTrip    float64 // °C of condensing temperature, 0 = no pressure control
	lowTrip     float64 // °C of evaporating temperature, likewise
	motor       float64 // efficiency
	friction    float64 // W
	rated       float64 // A at design
	magnetising float64 // A
	locked      float64 // A
	nominal     float64 // V
	phases      float64 // 1 or √3
	condFanW    float64
	retry       float64 // s until the protector closes again

	// Control.
	controller bool    // otherwise a mechanical thermostat
	onCoil     bool    // its bulb is on the coil
	bulbS      float64 // s, lag of its sensor
	minOff     float64 // s
	trigger    trigger
	heater     float64 // W
	endC       float64 // °C of coil that ends a defrost
	phase      float64 // s, of the defrost clock
	meltUA     float64

	// The measurements.
	goodsShare float64 // of the goods in what the zone probe shows
	probeLag   float64
	wholeUnit  bool // the meter is on the supply of all of the unit
	meterMean  bool // and shows means, not moments
	steps      [rimewatch.NumCore]float64
	noise      [rimewatch.NumCore]float64
	bias       [rimewatch.NumCore]float64
	shake      float64 // mm/s at rated load
	spikes     float64 // share of readings, each channel, that are odd
	lost       float64
}

// around draws a factor: log-normal with a deviation of its logarithm, within two of them.
func around(r *rand.Rand, dev float64) float64 {
	return math.Exp(dev * min(2, max(-2, r.NormFloat64())))
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func between(r *rand.Rand, low, high float64) float64 { return low + (high-low)*r.Float64() }

// draw draws a unit of a kind that stands at a site.
func (k kind) draw(r *rand.Rand, s *site) build {
	b := build{kind: k, fluid: pick(r, k.fluids)}
	frozen := k.set < -5
	b.set += between(r, -0.6, 0.6)
	if !frozen {
		b.set += between(r, -0.1, 0.6)
	}
	if k.probeS > 500 { // pharmacy
		b.set = k.set + between(r, -0.3, 0.4)
	}
	b.diff *= around(r, 0.15)
	b.wall *= around(r, 0.2)
	b.goods *= around(r, 0.5)
	b.doors *= around(r, 0.4)
	b.curtain *= around(r, 0.15)
	heat := 3400.0
	if frozen {
		heat = 1900
	}
	b.goodsC = b.goods * heat
	b.goodsUA = 0.16 * math.Pow(b.goods, 0.85) * 1.6 * around(r, 0.2)
	b.airC = k.volume*1.3*airHeat + 7000*math.Pow(k.volume, 0.67) // with shelves and ducts
	b.linerC = 22e3 * math.Pow(k.volume, 0.8)
	b.linerUA = 8 * 6 * math.Pow(k.volume, 0.67) * 0.8
	b.moist = k.volume * 1.3 * between(r, 3, 8)
	if !frozen {
		b.wet = 0.9e-5 * b.goods / 100 * between(r, 0.3, 1.5)
	}
	b.sizeCircuit(r, s, frozen)
	b.drawControl(r, frozen)
	b.drawSensors(r)
	return b
}

// sizeCircuit sizes the circuit for a hot day at its site.
func (b *build) sizeCircuit(r *rand.Rand, s *site, frozen bool) {
	mid := b.set + b.diff/2
	hot := s.hot() + 3
	in := b.wall*(hot-mid) + b.fans + b.lights*0.6
	moist := s.humidity - saturated(mid-b.difference/2)
	if b.doorArea > 0 {
		each := exchange(b.doorArea, b.doorHigh, mid, hot) * b.doorShare * b.doorS * 1.2
		each = min(each, 1.6*b.volume*1.3+0.2*each)
		in += b.doors * 0.6 / 3600 * each * (airHeat*(hot-mid) + sublLatent*max(0, moist))
	}
	in += b.curtain * (airHeat*(hot-mid) + vapLatent*max(0, moist))
	in += float64(b.visits) / 7 * b.restock * b.goodsC * 6 / 86400
	b.capacity = in / between(r, 0.5, 0.68)

	e, c := mid-b.difference, hot+b.condense
	f := b.fluid
	b.designLow, b.designHigh = f.pressure(e), f.pressure(c)
	ratio := b.designHigh / b.designLow
	b.ratioLoss = between(r, 0.022, 0.032)
	if b.expansion == valve {
		b.ratioLoss = between(r, 0.018, 0.025)
	}
	b.efficiency = between(r, 0.6, 0.7)
	b.feed = b.capacity / (f.boiling(e) - f.liquidHeat*(c-4-e) + f.vapourHeat*4)
	b.lineGain = between(r, 0.25, 0.5)
	suction := e + 5 + b.lineGain*(hot-e-5)
	b.sweep = b.feed / (volumetric(b.ratioLoss, ratio) * f.density(b.designLow, suction+shellGain))
	power := b.feed * f.work(math.Log(ratio), suction+shellGain) / isentropic(b.efficiency, math.Log(ratio))
	b.motor = between(r, 0.82, 0.91)
	b.friction = 0.06 * power
	power = power/b.motor + b.friction

	sensible := 0.8
	coil := e + b.difference*0.4
	b.airUA = sensible * b.capacity / (b.difference * 0.6)
	if b.static {
		b.airUA = b.capacity / (b.difference * 0.6)
	}
	b.airFlow = b.airUA / airHeat / 1.1 // 1.1 transfer units
	b.airUA *= 1.65                     // the mean difference is smaller than that at the inlet
	b.coilUA = b.capacity / (coil - e) / 0.8
	b.coilC = 42 * b.airUA * around(r, 0.15)
	if b.static {
		b.coilC *= 2.5 // foam and liner behind the tubes
	}
	b.frostFull = 0.028 * b.airUA * around(r, 0.2)
	if b.static {
		b.frostFull *= 12 // centimetres on a wall, where fins have millimetres
	}
	b.condUA = (b.capacity + 0.9*power) / b.condense * around(r, 0.08)
	b.condC = 90 * b.condUA
	b.evapLiquid = b.feed * between(r, 30, 45)
	b.seal = b.evapLiquid * 0.12
	b.charge = b.evapLiquid*between(r, 0.86, 1.08) + b.seal*1.5
	if b.expansion == valve {
		b.charge = b.evapLiquid*0.9 + b.seal + b.evapLiquid*between(r, 0.5, 1)
		b.highTrip = c + between(r, 17, 22)
		b.lowTrip = e - between(r, 16, 22)
		if s.outdoors {
			b.holdHead = between(r, 22, 28)
		}
	}
	b.nominal = pick(r, b.volts)
	if b.phases = 1; b.nominal >= 400 || b.nominal == 208 && b.capacity > 3000 {
		b.phases = math.Sqrt(3)
	}
	b.condFanW = 6 + 0.022*b.capacity
	work := power / (b.nominal * b.phases)
	b.magnetising = work * between(r, 0.5, 0.9)
	b.rated = math.Hypot(work, b.magnetising)
	b.locked = b.rated * between(r, 4.5, 6.5)
	b.retry = between(r, 110, 330)
	b.shake = between(r, 0.8, 2.4)
}

func (b *build) drawControl(r *rand.Rand, frozen bool) {
	b.controller = b.expansion == valve || r.Float64() < 0.6
	if len(b.triggers) > 0 {
		b.trigger = pick(r, b.triggers)
	}
	if b.probeS > 500 {
		b.controller = true
	}
	b.bulbS = between(r, 40, 110)
	if !b.controller {
		b.bulbS = between(r, 60, 150)
	} else {
		b.minOff = between(r, 150, 300)
	}
	if b.trigger == everyStop && b.melting == offTime {
		b.controller, b.onCoil, b.minOff, b.bulbS = false, true, 0, between(r, 60, 120)
	}
	if frozen && b.melting == electric {
		b.endC = between(r, 7, 12)
		if b.trigger == demand || r.Float64() < 0.15 {
			b.melting = hotGas
		}
		b.heater = b.capacity * between(r, 0.7, 0.95)
	} else {
		b.endC = between(r, 2.5, 4)
	}
	b.defrosts = math.Max(1, math.Round(b.defrosts*around(r, 0.2)))
	b.phase = r.Float64() * 86400
	b.meltUA = 0.5 * b.airUA
}

func (b *build) drawSensors(r *rand.Rand) {
	b.probeLag = b.probeS * around(r, 0.3)
	if b.probeS < 500 && r.Float64() < 0.15 {
		b.probeLag = between(r, 400, 800) // a bottle of glycol
	}
	if b.goodsShare = between(r, 0, 0.25); r.Float64() < 0.3 {
		b.goodsShare = 0
	}
	b.wholeUnit = r.Float64() < 0.35
	b.meterMean = r.Float64() < 0.3
	step := pick(r, []float64{0.01, 0.06, 0.1, 0.1})
	for f := rimewatch.ProductZoneTemp; f <= rimewatch.AmbientTemp; f++ {
		b.steps[f], b.noise[f], b.bias[f] = step, between(r, 0.01, 0.1), 0.3*r.NormFloat64()
	}
	if r.Float64() < 0.1 {
		b.steps[rimewatch.ProductZoneTemp] = 0.5
	}
	b.steps[rimewatch.Humidity], b.noise[rimewatch.Humidity] = pick(r, []float64{0.1, 1}), between(r, 0.3, 1)
	b.steps[rimewatch.Voltage], b.noise[rimewatch.Voltage] = pick(r, []float64{0.1, 1}), b.nominal*between(r, 0.001, 0.003)
	b.steps[rimewatch.AmpDraw], b.noise[rimewatch.AmpDraw] = pick(r, []float64{0.01, 0.01, 0.1}), b.rated*between(r, 0.003, 0.012)
	if b.rated < 2 {
		b.steps[rimewatch.AmpDraw] = 0.01
	}
	b.steps[rimewatch.VibrationLevel], b.noise[rimewatch.VibrationLevel] = 0.01, between(r, 0.06, 0.15) // of the value
	b.lost = pick(r, []float64{0, 0.001, 0.005, 0.02})
}
