package alert

import "github.com/rimewatch/rimewatch"

// Rules is a set of groups of rules. The limits of the product temperature and
// device_offline are not among them: they are always judged.
type Rules uint32

// The groups of rules.
const (
	RuleSensors   Rules = 1 << iota // sensor_fault, sensor_stale
	RuleSupply                      // low_voltage, high_voltage, power_loss
	RuleHumidity                    // high_humidity, low_humidity
	RuleAmbient                     // high_ambient_temperature, low_ambient_temperature
	RuleAmps                        // high_amp_draw, low_amp_draw
	RuleDischarge                   // high_discharge_temperature, low_discharge_temperature
	RuleSuction                     // high_suction_temperature, low_suction_temperature
	RuleVibration                   // high_vibration
	RuleCycling                     // short_cycling
	RuleStarts                      // compressor_start_failure
	RuleRunTime                     // excessive_run_time
	RuleRecovery                    // slow_recovery
	RuleRelative                    // amps, discharge, suction and run time also by the unit's own baseline
	RuleDefrost                     // warnings wait for a recognised defrost to end
	RuleDoor                        // door_open_suspected
	RuleFit                         // a limit of the zone that does not fit the unit is raised once
	RuleWarming                     // slow_warming
	RuleCooling                     // not_cooling

	AllRules Rules = 1<<iota - 1

	// DefaultRules are all rules: each of them stays silent on healthy units.
	DefaultRules = AllRules
)

// rule numbers the rules; the numbers are part of checkpoints and never change
// their meaning.
type rule uint8

const (
	ruleHigh rule = iota
	ruleLow
	ruleOffline
	ruleStale
	ruleFault
	rulePower
	ruleLowVolts
	ruleHighVolts
	ruleDischarge
	ruleAmps
	ruleVibration
	ruleCycling
	ruleStarts
	ruleRunTime
	ruleRecovery
	ruleSuction
	ruleLowSuction
	ruleLowDischarge
	ruleLowAmps
	ruleHumid
	ruleDry
	ruleHot
	ruleCold
	ruleDoor
	ruleWarming
	ruleCooling
	ruleFaultOf                                         // sensor_fault of the first measurement alone, then of the others by their numbers
	ruleStaleOf = ruleFaultOf + rule(rimewatch.NumCore) // sensor_stale likewise
	numRules    = ruleStaleOf + rule(rimewatch.NumCore)
)

// ruleSet is a set of rules.
type ruleSet uint64

// kind is the rule whose type, limits and words rule i has: those of a sensor are the same for
// every measurement.
func (i rule) kind() rule {
	switch {
	case i >= ruleStaleOf:
		return ruleStale
	case i >= ruleFaultOf:
		return ruleFault
	default:
		return i
	}
}

// field is the one measurement whose sensor rule i is about; ok is false for the other rules.
func (i rule) field() (f rimewatch.Field, ok bool) {
	switch {
	case i >= ruleStaleOf:
		return rimewatch.Field(i - ruleStaleOf), true
	case i >= ruleFaultOf:
		return rimewatch.Field(i - ruleFaultOf), true
	default:
		return 0, false
	}
}

// part distinguishes the alerts of one type of a device: the name of that measurement, otherwise "".
func (i rule) part() string {
	if f, ok := i.field(); ok {
		return f.String()
	}
	return ""
}

// Limit is a pair of limits of one measure with how long each must be passed.
type Limit struct {
	Warn, Crit           float64 // in the measure's unit, or a share of its nominal value; 0 = none
	WarnDelay, CritDelay rimewatch.Time
	Clear                float64        // how far inside Warn the condition ends
	ClearTime            rimewatch.Time // past it this long before the alert resolves
}

const (
	second = rimewatch.Second
	minute = rimewatch.Minute
	hour   = rimewatch.Hour
)

// ruleSpec is the fixed part of a rule. second is the other measure by which
// the same condition shows, "" when there is only one.
type ruleSpec struct {
	typ            rimewatch.AlertType
	group          Rules // 0 = always judged
	metric, second string
	running        bool // judged while the compressor runs, its clocks stand still otherwise
	low            bool // the worst value is the lowest
	plain          bool // judged by the metric as every reading has it; code judges the others
	// limit is that of the metric; without one, bounds works it out. Delays of a rule
	// that is running count run time from the fifth minute of each run.
	limit Limit
	// beyond is the limit of second, which shares the delays: how far from the unit's
	// own baseline, in two windows, unless said otherwise.
	beyond Limit
}

// ruleSpecs are the rules. Their limits are those of the domain notes, section 2, with
// their sources: discharge line 225 and 250 °F (ACHR News), suction line 65 °F at the
// compressor (trade rule), voltage ±10 % (Emerson's approved ranges), at most eight to
// twelve starts an hour with two minutes of run (Danfoss), vibration 1.8 and 4.5 mm/s
// (ISO 10816 class I). Deviations from a unit's own baseline were tuned on the
// simulator.
var ruleSpecs = ofEachMeasurement([numRules]ruleSpec{
	ruleHigh: {
		typ: rimewatch.HighTemperature, metric: "product_zone_temp",
	},
	ruleLow: {
		typ: rimewatch.LowTemperature, metric: "product_zone_temp", low: true,
	},
	ruleOffline: {
		typ: rimewatch.DeviceOffline, metric: rimewatch.SilentTime,
	},
	ruleStale: {
		typ: rimewatch.SensorStale, group: RuleSensors, metric: rimewatch.ReadingAge, second: rimewatch.ZoneAge,
	},
	ruleFault: {
		typ: rimewatch.SensorFault, group: RuleSensors, second: rimewatch.ZoneJump,
	},
	rulePower: {
		typ: rimewatch.PowerLoss, group: RuleSupply, metric: "voltage", low: true,
		limit: Limit{0, 0.50, 0, 10 * second, 0.20, minute},
	},
	ruleLowVolts: {
		typ: rimewatch.LowVoltage, group: RuleSupply, metric: "voltage", low: true,
		limit: Limit{0.90, 0.85, minute, 10 * second, 0.02, 5 * minute},
	},
	ruleHighVolts: {
		typ: rimewatch.HighVoltage, group: RuleSupply, metric: "voltage",
		limit: Limit{1.10, 1.15, minute, 10 * second, 0.02, 5 * minute},
	},
	ruleDischarge: {
		typ: rimewatch.HighDischargeTemperature, group: RuleDischarge, metric: "compressor_discharge_temp", second: rimewatch.DeviationOf("compressor_discharge_temp"), running: true,
		limit:  Limit{107, 121, 5 * minute, minute, 5, 5 * minute},
		beyond: Limit{Warn: 6, Crit: 15, Clear: 2},
	},
	ruleAmps: {
		typ: rimewatch.HighAmpDraw, group: RuleAmps, metric: "amp_draw", second: rimewatch.DeviationOf("amp_draw"), running: true,
		limit:  Limit{1.10, 1.25, 10 * minute, 2 * minute, 0.05, 5 * minute},
		beyond: Limit{Warn: 12, Clear: 4},
	},
	ruleVibration: {
		typ: rimewatch.HighVibration, group: RuleVibration, metric: "vibration_level", running: true,
		limit: Limit{1.8, 4.5, 15 * minute, 15 * minute, 0.2, 15 * minute},
	},
	ruleCycling: {
		typ: rimewatch.ShortCycling, group: RuleCycling, metric: rimewatch.StartsPerHour, second: rimewatch.RunLength,
		limit:  Limit{8, 12, 15 * minute, 15 * minute, 1, 2 * hour},
		beyond: Limit{3, 2, 0, 0, 0.5, 30 * minute},
	},
	ruleStarts: {
		typ: rimewatch.CompressorStartFailure, group: RuleStarts, metric: rimewatch.FailedStartsPerDay, second: rimewatch.FailedStartsPerHour,
	},
	ruleRunTime: {
		typ: rimewatch.ExcessiveRunTime, group: RuleRunTime, metric: rimewatch.RunTimeShare, second: rimewatch.DeviationOf(rimewatch.RunTimeShare),
		limit:  Limit{85, 97, 0, 0, 5, 24 * hour},
		beyond: Limit{Warn: 20, Clear: 8},
	},
	ruleRecovery: {
		typ: rimewatch.SlowRecovery, group: RuleRecovery, metric: rimewatch.RecoveryTime,
	},
	ruleSuction: {
		typ: rimewatch.HighSuctionTemperature, group: RuleSuction, metric: "compressor_suction_temp", second: rimewatch.DeviationOf("compressor_suction_temp"), running: true,
		limit:  Limit{18, 27, 15 * minute, 15 * minute, 2, 10 * minute},
		beyond: Limit{Warn: 3, Crit: 7, Clear: 1},
	},
	ruleLowSuction: {
		typ: rimewatch.LowSuctionTemperature, group: RuleSuction, metric: rimewatch.SuctionAboveZone, second: rimewatch.DeviationOf("compressor_suction_temp"), running: true, low: true,
		limit:  Limit{-5, 0, 10 * minute, 0, 2, 10 * minute},
		beyond: Limit{Warn: 3, Crit: 7, Clear: 1},
	},
	ruleLowDischarge: {
		typ: rimewatch.LowDischargeTemperature, group: RuleDischarge, metric: rimewatch.DischargeAboveAmbient, running: true, low: true,
		limit: Limit{25, 15, 10 * minute, 10 * minute, 3, 10 * minute},
	},
	ruleLowAmps: {
		typ: rimewatch.LowAmpDraw, group: RuleAmps, metric: "amp_draw", low: true,
		limit: Limit{0.25, 0, 10 * minute, 0, 0.10, 5 * minute},
	},
	ruleHumid: {
		typ: rimewatch.HighHumidity, group: RuleHumidity, metric: "humidity",
		limit: Limit{75, 90, 2 * hour, 2 * hour, 3, 15 * minute},
	},
	ruleDry: {
		typ: rimewatch.LowHumidity, group: RuleHumidity, metric: "humidity", low: true,
		limit: Limit{55, 0, 2 * hour, 0, 3, 15 * minute},
	},
	ruleHot: {
		typ: rimewatch.HighAmbientTemperature, group: RuleAmbient, metric: "ambient_temp", plain: true,
		limit: Limit{35, 43, 30 * minute, 30 * minute, 2, 15 * minute},
	},
	ruleCold: {
		typ: rimewatch.LowAmbientTemperature, group: RuleAmbient, metric: "ambient_temp", plain: true, low: true,
		limit: Limit{10, 2, 30 * minute, 30 * minute, 2, 15 * minute},
	},
	ruleDoor: {
		typ: rimewatch.DoorOpenSuspected, group: RuleDoor, metric: rimewatch.DoorOpenTime, second: rimewatch.DoorReportedTime,
		limit:  Limit{15, 0, 0, 0, 14, 30 * minute},
		beyond: Limit{15, 0, 0, 0, 14, 30 * minute},
	},
	ruleWarming: {
		typ: rimewatch.SlowWarming, group: RuleWarming, metric: "product_zone_temp",
	},
	ruleCooling: {
		typ: rimewatch.NotCooling, group: RuleCooling, metric: "product_zone_temp",
	},
})

// ofEachMeasurement adds the rules of one sensor: what names them is their measurement.
func ofEachMeasurement(specs [numRules]ruleSpec) [numRules]ruleSpec {
	for i := ruleFaultOf; i < numRules; i++ {
		specs[i] = ruleSpec{typ: specs[i.kind()].typ, group: specs[i.kind()].group}
	}
	return specs
}

// plainRules are the rules whose row says all that judges them, with their measurement
// and the limit within which they have nothing to do.
var plainRules = func() (out []plainRule) {
	for i := range numRules {
		if f, ok := rimewatch.FieldByName(ruleSpecs[i].metric); ok && ruleSpecs[i].plain {
			out = append(out, plainRule{rule: i, field: f, low: ruleSpecs[i].low, limit: ruleSpecs[i].limit})
		}
	}
	return out
}()

type plainRule struct {
	rule  rule
	field rimewatch.Field
	low   bool
	limit Limit
}

// ruleOf finds the rule of a part of an alert type.
func ruleOf(t rimewatch.AlertType, part string) (rule, bool) {
	for i := range numRules {
		if ruleSpecs[i].typ == t && i.part() == part {
			return i, true
		}
	}
	return 0, false
}

// judges reports whether the configuration asks for rule i.
func (c *Config) judges(i rule) bool {
	g := ruleGroups[i]
	return g == 0 || c.Rules&g != 0
}

// ruleGroups are the groups of ruleSpecs side by side: every reading asks for most.
var ruleGroups = func() (out [numRules]Rules) {
	for i := range out {
		out[i] = ruleSpecs[i].group
	}
	return out
}()
