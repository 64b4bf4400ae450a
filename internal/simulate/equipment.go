package simulate

import (
	"fmt"
	"math"

	"github.com/rimewatch/rimewatch"
)

// kinship is how an equipment type is built from one of the five that the
// model was fitted to.
type kinship struct {
	like  string
	size  float64 // of the box and all that grows with it
	volts float64 // 0 = as its like
	doors float64 // openings an hour; 0 = as its like, negative = none
	leak  float64 // factor on Leak; 0 = 1
}

// kin covers the rest of the catalogue. An ultra-low freezer is a cascade of
// two circuits and an ice machine a freeze-and-harvest cycle: this model is
// neither, so they are missing on purpose.
func kin(equipment string) (kinship, bool) {
	switch equipment {
	case "walkin_freezer", "walkin_cooler", "reach_in_cooler", "display_case_open", "vaccine_refrigerator":
		return kinship{like: equipment, size: 1}, true
	case "reach_in_freezer":
		return kinship{like: "walkin_freezer", size: 0.12, volts: 120, doors: 10}, true
	case "undercounter_cooler":
		return kinship{like: "reach_in_cooler", size: 0.5}, true
	case "undercounter_freezer":
		return kinship{like: "walkin_freezer", size: 0.06, volts: 120, doors: 8}, true
	case "prep_table":
		return kinship{like: "reach_in_cooler", size: 0.9, doors: 22}, true
	case "display_case_closed":
		return kinship{like: "reach_in_cooler", size: 1.8, doors: 14}, true
	case "display_case_freezer":
		return kinship{like: "walkin_freezer", size: 0.4, doors: 8}, true
	case "service_counter":
		return kinship{like: "display_case_open", size: 0.6, leak: 0.4}, true
	case "beverage_cooler":
		return kinship{like: "reach_in_cooler", size: 1.3, doors: 25}, true
	case "ice_cream_cabinet":
		return kinship{like: "walkin_freezer", size: 0.08, volts: 120, doors: 6}, true
	case "blast_chiller":
		return kinship{like: "walkin_cooler", size: 0.5, doors: 2}, true
	case "blast_freezer":
		return kinship{like: "walkin_freezer", size: 1.2, volts: 400, doors: 2}, true
	case "milk_cooler":
		return kinship{like: "walkin_cooler", size: 0.4, doors: -1}, true
	case "wine_cooler":
		return kinship{like: "reach_in_cooler", size: 0.5, doors: 2}, true
	case "floral_cooler":
		return kinship{like: "walkin_cooler", size: 0.6, doors: 6}, true
	case "produce_cooler":
		return kinship{like: "walkin_cooler", size: 1.2}, true
	case "meat_cooler":
		return kinship{like: "walkin_cooler", size: 1}, true
	case "fish_cooler":
		return kinship{like: "walkin_cooler", size: 0.8, doors: 3}, true
	case "vaccine_freezer":
		return kinship{like: "walkin_freezer", size: 0.06, doors: 2}, true
	case "lab_freezer":
		return kinship{like: "walkin_freezer", size: 0.06, doors: 3}, true
	case "blood_refrigerator":
		return kinship{like: "vaccine_refrigerator", size: 1.2}, true
	case "morgue_cooler":
		return kinship{like: "walkin_cooler", size: 0.6, doors: 1}, true
	case "reefer_container":
		return kinship{like: "walkin_freezer", size: 1.5, volts: 400, doors: -1}, true
	case "reefer_truck":
		return kinship{like: "walkin_cooler", size: 0.7, doors: 4}, true
	case "cold_storage":
		return kinship{like: "walkin_freezer", size: 6, volts: 400, doors: 6}, true
	case "condensing_unit":
		return kinship{like: "walkin_cooler", size: 1}, true
	case rimewatch.OtherEquipment:
		return kinship{like: "reach_in_cooler", size: 1}, true
	}
	return kinship{}, false
}

// Simulable lists the equipment types that New takes, in catalogue order.
func Simulable() []string {
	var slugs []string
	for _, e := range rimewatch.EquipmentTypes() {
		if _, ok := kin(e.Slug); ok {
			slugs = append(slugs, e.Slug)
		}
	}
	return slugs
}

// TypicalParams is the middle of the range of an equipment type.
func TypicalParams(equipment string) (Params, error) {
	k, ok := kin(equipment)
	if !ok {
		return Params{}, fmt.Errorf("simulate: equipment type %q cannot be simulated", equipment)
	}
	p, _ := baseParams(k.like)
	if k.like == equipment {
		return p, nil
	}
	duty := p.duty(designAmbient)
	p.resize(k.size)
	if k.volts != 0 {
		p.rewire(k.volts)
	}
	if k.leak > 0 {
		p.Leak *= k.leak
	}
	switch {
	case k.doors < 0:
		p.DoorsAnHr = 0
	case k.doors > 0:
		p.DoorsAnHr = k.doors
		if k.size < 0.5 {
			p.DoorS = 10
		}
	}
	e, _ := rimewatch.EquipmentBySlug(equipment)
	if e.Setpoint != nil {
		p.Setpoint = *e.Setpoint - p.Diff/2
		p.MOP = max(p.MOP, p.Setpoint-4)
	}
	p.defrostAs(e)
	p.strengthen(p.duty(designAmbient) / duty)
	return p, nil
}

// designAmbient is where units are sized, hotAmbient where they must still
// cope, °C.
const (
	designAmbient = 25.5
	hotAmbient    = 34.0
)

// resize makes the box and all that belongs to it larger or smaller.
func (p *Params) resize(size float64) {
	for _, v := range []*float64{
		&p.UA, &p.Internal, &p.AirC, &p.ProductC, &p.ProductUA, &p.Moisture, &p.Evaporate, &p.Leak, &p.DoorFlow,
		&p.CoilC, &p.FrostM, &p.MeltUA, &p.DefrostW, &p.IdleAmps,
	} {
		*v *= size
	}
	p.Vibration *= math.Pow(size, 0.15)
	p.strengthen(size)
}

// strengthen makes the circuit and its motor larger or smaller.
func (p *Params) strengthen(factor float64) {
	for _, v := range []*float64{
		&p.Displacement, &p.AirUA, &p.CoilUA, &p.CondenserUA, &p.RatedAmps, &p.LockedAmps, &p.Magnetising, &p.FanAmps,
	} {
		*v *= factor
	}
}

// rewire moves the unit to another supply: 400 V means three phases.
func (p *Params) rewire(volts float64) {
	factor := p.Volts / volts
	p.Volts = volts
	if volts == 400 && p.Phases == 1 {
		p.Phases = 3
		factor /= math.Sqrt(3)
	}
	for _, v := range []*float64{&p.RatedAmps, &p.LockedAmps, &p.Magnetising, &p.FanAmps, &p.IdleAmps} {
		*v *= factor
	}
}

// defrostAs takes the habit of a type from the catalogue. A unit that people
// defrost by hand has bare plates that carry far more frost.
func (p *Params) defrostAs(e *rimewatch.Equipment) {
	d := e.Defrost
	if e.Setpoint == nil { // nothing is known about the box
		return
	}
	p.Defrosts, p.DefrostS = float64(d.PerDay), float64(d.MaxMin*60)
	switch d.Kind {
	case rimewatch.DefrostNone, rimewatch.DefrostManual:
		p.Defrosts, p.DefrostW = 0, 0
		p.FrostM *= 20
	case rimewatch.DefrostElectric, rimewatch.DefrostHotGas:
		if p.DefrostW == 0 { // a cooler with hot gas
			p.DefrostW = 35 * p.CoilC / 1e3
			p.DefrostEndC = 11
		}
		p.FrostM *= max(1, 4/p.Defrosts)
	default:
		p.DefrostW = 0
	}
}

// duty estimates the share of time that the compressor runs in still weather.
func (p *Params) duty(ambient float64) float64 {
	mid := p.Setpoint + p.Diff/2
	u := Unit{p: *p, fluid: fluids()[p.Refrigerant], eff: healthy(), wetted: 1.02, air: mid, coil: mid - 4}
	u.sur.ambient = ambient
	u.cy = cycleState{evap: mid - 8, cond: ambient + 10}
	u.lag = newLags(60, 60)
	for range 40 {
		u.runCycle()
		u.coil += 0.4 * (mid - u.cy.capacity/(0.9*p.AirUA) - u.coil)
	}
	ambient += p.AmbientK
	inside := saturatedRatio(saturation(), mid)
	outside := humidityRatio(0.5 * vapourPressure(ambient, false))
	flow := airDensity * (p.Leak + p.DoorsAnHr*p.DoorS*p.DoorFlow/3600)
	load := (p.UA+flow*airHeat)*(ambient-mid) + p.Internal + flow*heatOfDewing*max(0, outside-0.8*inside)
	standing := p.Defrosts * p.DefrostS / 86400
	if p.DefrostW > 0 {
		standing /= 2 // the coil's temperature ends it early
		load += 0.5 * p.DefrostW * standing
	}
	return load / u.cy.capacity / (1 - standing)
}

// RandomParams draws a unit of an equipment type: every seed is another unit.
// Set-points scatter by ±1 K in freezers and ±0.4 K elsewhere, walls by a
// factor 0.7–1.4, goods 0.2–3, the circuit ±15–20 %, doors 0.3–2. A circuit
// that would have to run longer on a hot day than the type's usual one is
// replaced by a larger one, as a planner would: without that, units that are
// merely unlucky ice up or cut out and would be no healthy ones.
func RandomParams(equipment string, seed uint64) (Params, error) {
	p, err := TypicalParams(equipment)
	if err != nil {
		return Params{}, err
	}
	typical := p
	n := noise(seed).stream(streamParams)
	var k int64
	spread := func(lo, hi float64) float64 { // log-uniform
		k++
		return lo * math.Pow(hi/lo, n.uniform(k))
	}
	shift := func(lo, hi float64) float64 {
		k++
		return n.between(k, lo, hi)
	}
	if p.Setpoint < -5 {
		p.Setpoint += shift(-1, 1)
	} else {
		p.Setpoint += shift(-0.4, 0.4)
	}
	p.Diff *= spread(0.8, 1.25)
	p.UA *= spread(0.7, 1.4)
	p.Internal *= spread(0.8, 1.25)
	p.AirC *= spread(0.85, 1.2)
	goods := spread(0.2, 3)
	p.ProductC *= goods
	p.ProductUA *= math.Pow(goods, 0.3)
	p.DoorsAnHr *= spread(0.3, 2)
	p.DoorS *= spread(0.75, 1.35)
	p.strengthen(spread(0.87, 1.15))
	p.Isentropic *= spread(0.96, 1.04)
	p.AirUA *= spread(0.83, 1.2)
	p.CoilUA *= spread(0.83, 1.2)
	p.CondenserUA *= spread(0.83, 1.2)
	p.LineGain *= spread(0.85, 1.15)
	p.Superheat *= spread(0.85, 1.15)
	p.Magnetising *= spread(0.93, 1.07)
	p.Vibration *= spread(0.7, 1.4)
	p.HighTrip += shift(0, 4)
	p.AmbientK += shift(-0.5, 2)
	p.DefrostAt = shift(0, 1)
	hot := designAmbient + p.AmbientVar*(hotAmbient-designAmbient)
	p.strengthen(max(1, p.duty(hot)/(1.03*typical.duty(hot))))
	return p, nil
}
