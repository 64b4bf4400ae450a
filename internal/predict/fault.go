package predict

import (
	"math"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// feature is an input of a diagnosis: the channels first, then counted events.
type feature uint8

const (
	ftVolts   = feature(unit.NumChannels) + iota // %, supply against nominal
	ftTrips                                      // stops without result in 45 min
	ftFailed                                     // failed starts in 24 h
	ftTripAmp                                    // %, current at the end of such runs against steady running
	ftMelt                                       // how much of the usual rise of the zone in a defrost is missing, 0–1
	ftStep                                       // how much of the departure came within the last day, 0–1
	ftSudden                                     // whether it came within minutes or one window, 0–1
	ftLeapt                                      // the same, or how much of a discharge line that is far too hot along with more current came within a day and has stayed since, 0–1
	ftDry                                        // how much less the suction line is warmer than behind a starved evaporator, 0–1: the discharge line is hotter by itself
	ftThin                                       // how much more the discharge line warms up than the current falls, 0–1: gas is thin, the coil is not
	ftIced                                       // how much less it does, 0–1
	ftFrost                                      // how much longer it runs, with a warmer discharge line and less current, than gas that is thin or leaks back makes it run: its coil is covered, 0–1
	ftOnce                                       // how much of the vibration came within one day of the last ten and has stayed since, 0–1
	ftUnborne                                    // how little the current falls and the machine rattles along with a warmer discharge line, where leaking valves do either, 0–1
	ftFloods                                     // how much the current rises while the suction line cools, 0–1: the high head floods the evaporator through a capillary tube
	numFeatures
)

// needs are the channels without which a feature is not known.
func (f feature) needs() unit.Channels {
	const gas = unit.Channels(1<<unit.Discharge | 1<<unit.Suction)
	switch {
	case f < feature(unit.NumChannels):
		return 1 << f
	case f == ftDry:
		return gas
	case f == ftFloods:
		return 1<<unit.Suction | 1<<unit.Amps
	case f == ftUnborne:
		return 1<<unit.Amps | 1<<unit.Vibration
	default:
		return 0
	}
}

// findings are the features of one moment, 0 where nothing is known.
type findings struct {
	of    [numFeatures]float64
	blind unit.Channels // the decisive ones and the zone that are not measured, or whose sensors are set aside
}

// clue is one row of a fault's signature: full weight at crit, none at warn, in
// proportion between. With absent set it is the other way round: it counts in
// full while the magnitude is below warn and not at all beyond crit.
type clue struct {
	feature    feature
	warn, crit float64
	weight     float64 // negative: speaks against
	absent     bool
	more       bool          // it adds to what says enough without it
	without    unit.Channels // it counts only where these are not measured: it stands in for them
}

func (c *clue) strength(f *findings) float64 {
	v := f.of[c.feature]
	if c.absent {
		return 1 - ramp(math.Abs(v), c.warn, c.crit)
	}
	if c.crit < 0 || c.warn < 0 {
		return ramp(-v, -c.warn, -c.crit)
	}
	return ramp(v, c.warn, c.crit)
}

func ramp(v, from, to float64) float64 { return max(0, min(1, (v-from)/(to-from))) }

// fault is a row of the table of signatures. Faults of one family cannot be told
// apart by the eight measurements; the clue ftStep only orders them.
type fault struct {
	name   string
	alert  rimewatch.AlertType // "" for what other rules report
	family uint8               // 0 = alone
	clues  []clue
	ends   []limit // where it ends the unit's work
	within float64 // h from a finding to the end where no trend says better
}

// limit is a departure at which a fault has developed so far that the unit
// cannot hold its temperature or its protectors stop it.
type limit struct {
	channel unit.Channel
	at      float64
}

// Where a measurement is missing that tells faults apart, clues that are otherwise not
// needed stand in for it.
const (
	noSuction   = unit.Channels(1 << unit.Suction)
	noAmps      = unit.Channels(1 << unit.Amps)
	noVibration = unit.Channels(1 << unit.Vibration)
	noZone      = unit.Channels(1 << unit.Zone)
)

const (
	familyCharge uint8 = iota + 1
	familyHead
	familyFrost
	familyStart
)

// The positions of the faults that events, not windows, point to.
const (
	fiNone = iota
	fiUndercharge
	fiRestriction
	fiFouling
	fiOvercharge
	fiCondenserFan
	fiValves
	fiBearing
	fiFloodback
	fiIcing
	fiDefrost
	fiEvaporatorFan
	fiStart
	fiContactor
	fiGasket
	fiSag
	fiStuckOn
	fiSensor
	numFaults
)

// faults are the signatures of domain knowledge in row form. Clues are steep:
// half of a developed fault already shows them in full, for a prediction is made
// early or not at all.
var faults = [numFaults]fault{
	fiUndercharge: {name: "refrigerant_undercharge", alert: rimewatch.RefrigerantLeakSuspected, family: familyCharge, within: 240,
		clues: []clue{
			{feature: feature(unit.Zone), warn: -2, crit: -5, weight: -.6}, // another set point
			{feature: feature(unit.Discharge), warn: 1, crit: 3.5, weight: .35}, {feature: feature(unit.Suction), warn: .4, crit: 1.6, weight: .4},
			{feature: feature(unit.Vibration), warn: 6, crit: 12, weight: .1, absent: true}, {feature: feature(unit.Amps), warn: 1, crit: 3, weight: -.5},
			{feature: ftStep, warn: .8, crit: 1, weight: .15, absent: true}, {feature: feature(unit.Vibration), warn: 8, crit: 16, weight: -.4}, {feature: ftDry, warn: .3, crit: .8, weight: -.4},
			{feature: feature(unit.Amps), warn: -.5, crit: -3, weight: .3, without: noSuction}, {feature: ftIced, warn: .3, crit: .8, weight: -.5, without: noSuction},
			{feature: feature(unit.Vibration), warn: 3, crit: 6, weight: -.4, without: noSuction},
			{feature: feature(unit.Duty), warn: -.5, crit: -3, weight: -.4, without: noZone}, // what cools less has to run longer
		},
		ends: []limit{{unit.Discharge, 16}, {unit.Amps, -12}}},
	fiRestriction: {name: "liquid_line_restriction", alert: rimewatch.RefrigerantLeakSuspected, family: familyCharge, within: 120,
		clues: []clue{
			{feature: feature(unit.Zone), warn: -2, crit: -5, weight: -.6}, // another set point
			{feature: feature(unit.Discharge), warn: 1, crit: 3.5, weight: .35}, {feature: feature(unit.Suction), warn: .4, crit: 1.6, weight: .4},
			{feature: feature(unit.Vibration), warn: 6, crit: 12, weight: .1, absent: true}, {feature: feature(unit.Amps), warn: 1, crit: 3, weight: -.5},
			{feature: ftStep, warn: .8, crit: 1, weight: .15}, {feature: feature(unit.Vibration), warn: 8, crit: 16, weight: -.4}, {feature: ftDry, warn: .3, crit: .8, weight: -.4},
			{feature: feature(unit.Amps), warn: -.5, crit: -3, weight: .3, without: noSuction}, {feature: ftIced, warn: .3, crit: .8, weight: -.5, without: noSuction},
			{feature: feature(unit.Vibration), warn: 3, crit: 6, weight: -.4, without: noSuction},
			{feature: feature(unit.Duty), warn: -.5, crit: -3, weight: -.4, without: noZone}, // what cools less has to run longer
		},
		ends: []limit{{unit.Discharge, 16}, {unit.Amps, -12}}},
	fiFouling: {name: "condenser_fouling", alert: rimewatch.CondenserFoulingSuspected, family: familyHead, within: 240,
		clues: []clue{
			{feature: feature(unit.Zone), warn: -2, crit: -5, weight: -.6}, // another set point
			{feature: feature(unit.Discharge), warn: 1, crit: 3.5, weight: .4}, {feature: feature(unit.Amps), warn: .8, crit: 3, weight: .4},
			{feature: feature(unit.Suction), warn: 1, crit: 2, weight: .1, absent: true}, {feature: feature(unit.Vibration), warn: 8, crit: 20, weight: -.4},
			{feature: ftFloods, warn: 0, crit: 1, weight: .4, more: true}, {feature: feature(unit.Suction), warn: 2, crit: 4, weight: -.4}, {feature: ftVolts, warn: -4, crit: -8, weight: -.6},
			{feature: ftStep, warn: .5, crit: .7, weight: .1, absent: true}, {feature: feature(unit.Zone), warn: 1, crit: 2.5, weight: -.3},
			{feature: ftLeapt, warn: .5, crit: 1, weight: -.4}, {feature: feature(unit.Suction), warn: -.3, crit: -1, weight: -.4, without: noAmps},
			{feature: feature(unit.Vibration), warn: 3, crit: 6, weight: -.4, without: noAmps},
		},
		ends: []limit{{unit.Discharge, 14}, {unit.Amps, 10}}},
	fiOvercharge: {name: "noncondensables_overcharge", alert: rimewatch.CondenserFoulingSuspected, family: familyHead, within: 240,
		clues: []clue{
			{feature: feature(unit.Zone), warn: -2, crit: -5, weight: -.6}, // another set point
			{feature: feature(unit.Discharge), warn: 1, crit: 3.5, weight: .4}, {feature: feature(unit.Amps), warn: .8, crit: 3, weight: .4},
			{feature: feature(unit.Suction), warn: 1, crit: 2, weight: .05, absent: true}, {feature: feature(unit.Vibration), warn: 8, crit: 20, weight: -.4},
			{feature: ftFloods, warn: 0, crit: 1, weight: .4, more: true}, {feature: feature(unit.Suction), warn: 2, crit: 4, weight: -.4}, {feature: ftVolts, warn: -4, crit: -8, weight: -.6},
			{feature: ftStep, warn: .5, crit: .7, weight: .1}, {feature: feature(unit.Discharge), warn: 9, crit: 13, weight: -.3},
			{feature: feature(unit.Zone), warn: 1, crit: 2.5, weight: -.3}, {feature: feature(unit.Suction), warn: -.3, crit: -1, weight: -.4, without: noAmps},
		},
		ends: []limit{{unit.Discharge, 14}, {unit.Amps, 10}}},
	fiCondenserFan: {name: "condenser_fan_failure", alert: rimewatch.CondenserFoulingSuspected, family: familyHead, within: 6,
		clues: []clue{
			{feature: feature(unit.Zone), warn: -2, crit: -5, weight: -.6}, // another set point
			{feature: feature(unit.Discharge), warn: 1.5, crit: 4, weight: .25}, {feature: feature(unit.Discharge), warn: 4.2, crit: 7.2, weight: .2}, {feature: feature(unit.Amps), warn: 1, crit: 3, weight: .3},
			{feature: ftLeapt, warn: 0, crit: 1, weight: .25}, {feature: feature(unit.Vibration), warn: 10, crit: 25, weight: -.4},
			{feature: feature(unit.Amps), warn: -1.5, crit: -4, weight: -.4}, {feature: ftFloods, warn: 0, crit: 1, weight: .4, more: true}, {feature: feature(unit.Suction), warn: 2, crit: 4, weight: -.4}, {feature: ftVolts, warn: -4, crit: -8, weight: -.6},
		},
		ends: []limit{{unit.Discharge, 14}}},
	fiValves: {name: "compressor_valve_leakage", alert: rimewatch.CompressorFailurePredicted, within: 336,
		clues: []clue{
			{feature: feature(unit.Zone), warn: -2, crit: -5, weight: -.6}, // another set point
			{feature: feature(unit.Discharge), warn: .8, crit: 3, weight: .45}, {feature: feature(unit.Vibration), warn: 4, crit: 10, weight: .35},
			{feature: feature(unit.Amps), warn: -.4, crit: -1.6, weight: .2}, {feature: feature(unit.Amps), warn: .8, crit: 2.5, weight: -.5},
			{feature: feature(unit.Suction), warn: -.8, crit: -2, weight: -.4}, {feature: feature(unit.Suction), warn: 1.5, crit: 3, weight: -.3}, {feature: ftDry, warn: .3, crit: .8, weight: .2}, {feature: ftFrost, warn: .3, crit: .8, weight: -.4}, {feature: ftUnborne, warn: .3, crit: .8, weight: -.4},
			{feature: ftIced, warn: .3, crit: .8, weight: -.5, without: noSuction}, {feature: ftIced, warn: .3, crit: .8, weight: -.5, without: noVibration},
			{feature: feature(unit.Suction), warn: -.3, crit: -1, weight: -.4, without: noAmps}, {feature: feature(unit.Vibration), warn: 2, crit: 5, weight: .3, without: noSuction},
			{feature: feature(unit.Duty), warn: -.5, crit: -3, weight: -.4, without: noZone},
		},
		ends: []limit{{unit.Discharge, 28}, {unit.Amps, -12}}},
	fiBearing: {name: "bearing_wear", alert: rimewatch.CompressorFailurePredicted, within: 240,
		clues: []clue{
			{feature: feature(unit.Vibration), warn: 8, crit: 20, weight: .7}, {feature: feature(unit.Discharge), warn: 1.5, crit: 4, weight: .2, absent: true},
			{feature: feature(unit.Suction), warn: 1, crit: 3, weight: .1, absent: true}, {feature: feature(unit.Discharge), warn: 2.5, crit: 6, weight: -.4},
			{feature: feature(unit.Discharge), warn: -3, crit: -8, weight: -.5}, {feature: feature(unit.Amps), warn: -1, crit: -3, weight: -.2},
			{feature: feature(unit.Amps), warn: 2, crit: 6, weight: .5, without: noVibration}, // friction takes power and warms nothing
			{feature: ftOnce, warn: .7, crit: .85, weight: -.4},                               // what wears does not come within a day; a mount and a meter do
		}},
	fiFloodback: {name: "liquid_floodback", alert: rimewatch.CompressorFailurePredicted, within: 72,
		clues: []clue{
			{feature: feature(unit.Discharge), warn: -3, crit: -9, weight: .4}, {feature: feature(unit.Suction), warn: -1.5, crit: -5, weight: .35},
			{feature: feature(unit.Burst), warn: 15, crit: 60, weight: .25}, {feature: feature(unit.Amps), warn: -5, crit: -12, weight: -.3},
		},
		ends: []limit{{unit.Discharge, -35}}},
	fiIcing: {name: "evaporator_icing", alert: rimewatch.EvaporatorIcingSuspected, family: familyFrost, within: 72,
		clues: []clue{
			{feature: feature(unit.Suction), warn: -.6, crit: -2.2, weight: .4}, {feature: feature(unit.Amps), warn: -1.5, crit: -6, weight: .4},
			{feature: feature(unit.Vibration), warn: 8, crit: 20, weight: -.4}, {feature: feature(unit.Discharge), warn: -8, crit: -14, weight: -.5},
			{feature: feature(unit.Duty), warn: 3, crit: 10, weight: .1}, {feature: feature(unit.Duty), warn: -2, crit: -6, weight: -.4}, {feature: ftMelt, warn: .3, crit: .6, weight: .1, absent: true},
			{feature: feature(unit.Zone), warn: -.4, crit: -1, weight: -.4}, {feature: ftSudden, warn: .5, crit: 1, weight: -.3},
			{feature: ftThin, warn: .3, crit: .8, weight: -.5, without: noSuction}, {feature: ftFrost, warn: .3, crit: .8, weight: .2, more: true},
			{feature: feature(unit.Duty), warn: 3, crit: 0, weight: -.3, without: noSuction}, // what cools less has to run longer
		},
		ends: []limit{{unit.Suction, -7}, {unit.Amps, -20}}},
	fiDefrost: {name: "defrost_failure", alert: rimewatch.EvaporatorIcingSuspected, family: familyFrost, within: 72,
		clues: []clue{
			{feature: feature(unit.Suction), warn: -.6, crit: -2.2, weight: .4}, {feature: feature(unit.Amps), warn: -1.5, crit: -6, weight: .4},
			{feature: feature(unit.Vibration), warn: 8, crit: 20, weight: -.4}, {feature: feature(unit.Discharge), warn: -8, crit: -14, weight: -.5},
			{feature: feature(unit.Duty), warn: 3, crit: 10, weight: .1}, {feature: feature(unit.Duty), warn: -2, crit: -6, weight: -.4}, {feature: ftMelt, warn: .3, crit: .6, weight: .1},
			{feature: feature(unit.Zone), warn: -.4, crit: -1, weight: -.4}, {feature: ftSudden, warn: .5, crit: 1, weight: -.3},
			{feature: ftThin, warn: .3, crit: .8, weight: -.5, without: noSuction}, {feature: ftFrost, warn: .3, crit: .8, weight: .2, more: true},
			{feature: feature(unit.Duty), warn: 3, crit: 0, weight: -.3, without: noSuction}, // what cools less has to run longer
		},
		ends: []limit{{unit.Suction, -7}, {unit.Amps, -20}}},
	fiEvaporatorFan: {name: "evaporator_fan_failure", alert: rimewatch.EvaporatorIcingSuspected, within: 4,
		clues: []clue{
			{feature: feature(unit.Suction), warn: -1, crit: -4, weight: .35}, {feature: feature(unit.Amps), warn: -3, crit: -10, weight: .35},
			{feature: ftSudden, warn: 0, crit: 1, weight: .3}, {feature: feature(unit.Vibration), warn: 10, crit: 25, weight: -.4},
			{feature: feature(unit.Zone), warn: -.4, crit: -1, weight: -.4}, {feature: feature(unit.Discharge), warn: -8, crit: -14, weight: -.3},
		}},
	fiStart: {name: "start_component_failure", alert: rimewatch.CompressorFailurePredicted, family: familyStart, within: 72,
		clues: []clue{{feature: ftFailed, warn: 0, crit: 2, weight: 1}}},
	fiContactor: {name: "contactor_fault", alert: rimewatch.CompressorFailurePredicted, within: 72,
		clues: []clue{
			{feature: ftTrips, warn: 1, crit: 3, weight: .7}, {feature: ftTripAmp, warn: 4, crit: 10, weight: .3, absent: true},
			{feature: ftTripAmp, warn: 4, crit: 10, weight: -.4}, {feature: ftTripAmp, warn: -8, crit: -15, weight: -.4},
			{feature: feature(unit.Suction), warn: -1.5, crit: -4, weight: -.5}, {feature: feature(unit.Discharge), warn: 4, crit: 9, weight: -.5}, // a contact that opens changes nothing while it is closed
		}},
	fiGasket: {name: "gasket_leak",
		clues: []clue{
			{feature: feature(unit.Duty), warn: 8, crit: 16, weight: .6}, {feature: feature(unit.Discharge), warn: 2, crit: 4, weight: .1, absent: true},
			{feature: feature(unit.Amps), warn: 2, crit: 5, weight: .1, absent: true}, {feature: feature(unit.Vibration), warn: 8, crit: 20, weight: .1, absent: true},
			{feature: feature(unit.Suction), warn: 1, crit: 2, weight: .1, absent: true},
		}},
	fiSag: {name: "voltage_sag", clues: []clue{{feature: ftVolts, warn: -4, crit: -8, weight: 1}}},
	fiStuckOn: {name: "thermostat_stuck_on", clues: []clue{
		{feature: feature(unit.Zone), warn: -1.5, crit: -4, weight: .6}, {feature: feature(unit.Duty), warn: 10, crit: 30, weight: .4}}},
	fiSensor: {name: "sensor_drift"}, // see alone
}

// nearFit is how well another fault must fit to be named next to the first where a
// measurement is missing.
const nearFit = 0.35

// diagnosis ranks the faults that fit.
type diagnosis struct {
	first, second uint8
	score, next   float64 // of them; next is of the best outside the first one's family
}

// diagnose matches findings with the signatures. A single channel among
// discharge, suction and current that moves alone is its sensor, not the
// machine: no fault does that.
func diagnose(f *findings) diagnosis {
	var d diagnosis
	var scores [numFaults]float64
	for i := 1; i < numFaults; i++ {
		scores[i] = fit(uint8(i), f)
		if scores[i] > d.score {
			d.first, d.score = uint8(i), scores[i]
		}
	}
	best, other := 0.0, uint8(0)
	for i, s := range scores {
		if i == int(d.first) || s <= 0 {
			continue
		}
		if s > best {
			d.second, best = uint8(i), s
		}
		if family := faults[i].family; (family == 0 || family != faults[d.first].family) && s > d.next {
			d.next = s
		}
		if family := faults[i].family; faults[i].alert != "" && (family == 0 || family != faults[d.first].family) && s >= nearFit && s > scores[other] {
			other = uint8(i)
		}
	}
	if f.blind != 0 && other != fiNone {
		d.second = other // a channel that is not measured may tell the two apart, and nothing tells one of a family from another
	}
	if f.blind.Has(unit.Suction) && !f.blind.Has(unit.Amps) && faults[d.first].family == familyCharge {
		// Only the suction line tells lost refrigerant from valves that leak quietly; what
		// heats the condenser would show in the current.
		d.second = fiValves
	}
	if frost := faults[d.first].family == familyFrost; frost && (f.of[unit.Vibration] >= rattle || f.of[ftThin] >= thinGas) || d.first == fiBearing && f.of[unit.Amps] <= lightLoad {
		// Valves that leak let a unit run for so long that its coil ices up, which hides
		// them but for their rattle and for how much warmer the gas is; and a motor that
		// draws less has no friction to overcome.
		d.second = fiValves
	}
	if d.first == fiValves && f.of[unit.Vibration] < rattle {
		// A capillary tube without a receiver that lacks refrigerant heats the gas and leaves
		// the suction line as it is, as valves do: only that they rattle tells them apart.
		d.second = fiUndercharge
	}
	return d
}

// rattle is the vibration from which leaking valves are heard, %.
const rattle = 4

const (
	thinGas   = 0.6  // of ftThin, from which an iced coil alone does not explain how warm the discharge line is
	lightLoad = -1.0 // %, current by which a motor is relieved
)

// mainWeight is that of the clues without any of which a fault cannot be seen at all.
const mainWeight = 0.2

// fit is how well findings match a signature: at most about 1, negative when
// more speaks against it than for it. What a unit does not measure neither speaks for
// a fault nor against it: what it does measure has to say as much.
func fit(i uint8, f *findings) float64 {
	if i == fiSensor {
		return alone(f)
	}
	says, contra, all, known, seen := 0.0, 0.0, 0.0, 0.0, false
	for k := range faults[i].clues {
		c := &faults[i].clues[k]
		if c.without&^f.blind != 0 {
			continue
		}
		if c.weight > 0 && c.without == 0 && !c.more {
			all += c.weight
		}
		switch {
		case c.more:
			says += c.weight * c.strength(f)
		case f.blind != 0 && c.feature.needs()&f.blind != 0: // it cannot be seen, which says nothing
		case c.weight < 0:
			contra += c.weight * c.strength(f)
		default:
			known += c.weight
			says += c.weight * c.strength(f)
			seen = seen || !c.absent && c.weight >= mainWeight
		}
	}
	switch all = min(all, 1); {
	case !seen: // that nothing else departs proves nothing
		return contra
	case known < all:
		says *= all / known
	}
	return says + contra
}

// alone returns how certain it is that only one of the thermal and electrical channels moved.
func alone(f *findings) float64 {
	best := 0.0
	linked := [...]unit.Channel{unit.Discharge, unit.Suction, unit.Amps}
	for _, c := range linked {
		if c == unit.Amps && f.of[c] > 0 || c == unit.Suction && f.of[c] < 0 {
			continue // as measured of condensers behind an expansion valve, and of evaporators, that are short of air
		}
		with := unit.Channels(1<<unit.Discharge | 1<<unit.Suction | 1<<unit.Amps)
		if c == unit.Amps {
			with = with.With(unit.Vibration)
		}
		if f.blind&with&^(1<<c) != 0 {
			continue // what would depart with it is not measured
		}
		s := ramp(math.Abs(f.of[c])/c.Floor(), .4, .8)
		for _, other := range [...]unit.Channel{unit.Discharge, unit.Suction, unit.Amps, unit.Vibration} {
			if other != c {
				s *= 1 - ramp(math.Abs(f.of[other])/other.Floor(), .1, .25)
			}
		}
		s *= 1 - ramp(math.Abs(f.of[ftVolts]), 3, 6)
		best = max(best, s)
	}
	return best
}

// AlertTypes lists the types of alerts that report faults.
func AlertTypes() []rimewatch.AlertType {
	var list []rimewatch.AlertType
	for i := range faults {
		if typ := faults[i].alert; typ != "" && !slices.Contains(list, typ) {
			list = append(list, typ)
		}
	}
	return list
}
