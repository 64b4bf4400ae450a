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
	RuleFit                         // a limit of the zone that does not fit the unit is told once

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
	numRules
)

// ruleSpec is what is fixed about a rule. second is the other measure by which
// the same condition shows, "" when there is only one.
type ruleSpec struct {
	typ            rimewatch.AlertType
	group          Rules // 0 = always judged
	metric, second string
	running        bool // judged while the compressor runs, its clocks stand still otherwise
	low            bool // the worst value is the lowest
}

var ruleSpecs = [numRules]ruleSpec{
	ruleHigh:         {typ: rimewatch.HighTemperature, metric: "product_zone_temp"},
	ruleLow:          {typ: rimewatch.LowTemperature, metric: "product_zone_temp", low: true},
	ruleOffline:      {typ: rimewatch.DeviceOffline, metric: rimewatch.SilentTime},
	ruleStale:        {typ: rimewatch.SensorStale, group: RuleSensors, metric: rimewatch.ReadingAge},
	ruleFault:        {typ: rimewatch.SensorFault, group: RuleSensors},
	rulePower:        {typ: rimewatch.PowerLoss, group: RuleSupply, metric: "voltage", low: true},
	ruleLowVolts:     {typ: rimewatch.LowVoltage, group: RuleSupply, metric: "voltage", low: true},
	ruleHighVolts:    {typ: rimewatch.HighVoltage, group: RuleSupply, metric: "voltage"},
	ruleDischarge:    {typ: rimewatch.HighDischargeTemperature, group: RuleDischarge, metric: "compressor_discharge_temp", second: rimewatch.DeviationOf("compressor_discharge_temp"), running: true},
	ruleAmps:         {typ: rimewatch.HighAmpDraw, group: RuleAmps, metric: "amp_draw", second: rimewatch.DeviationOf("amp_draw"), running: true},
	ruleVibration:    {typ: rimewatch.HighVibration, group: RuleVibration, metric: "vibration_level", running: true},
	ruleCycling:      {typ: rimewatch.ShortCycling, group: RuleCycling, metric: rimewatch.StartsPerHour, second: rimewatch.RunLength},
	ruleStarts:       {typ: rimewatch.CompressorStartFailure, group: RuleStarts, metric: rimewatch.FailedStartsPerDay, second: rimewatch.FailedStartsPerHour},
	ruleRunTime:      {typ: rimewatch.ExcessiveRunTime, group: RuleRunTime, metric: rimewatch.RunTimeShare, second: rimewatch.DeviationOf(rimewatch.RunTimeShare)},
	ruleRecovery:     {typ: rimewatch.SlowRecovery, group: RuleRecovery, metric: rimewatch.RecoveryTime},
	ruleSuction:      {typ: rimewatch.HighSuctionTemperature, group: RuleSuction, metric: "compressor_suction_temp", second: rimewatch.DeviationOf("compressor_suction_temp"), running: true},
	ruleLowSuction:   {typ: rimewatch.LowSuctionTemperature, group: RuleSuction, metric: rimewatch.SuctionAboveZone, second: rimewatch.DeviationOf("compressor_suction_temp"), running: true, low: true},
	ruleLowDischarge: {typ: rimewatch.LowDischargeTemperature, group: RuleDischarge, metric: rimewatch.DischargeAboveAmbient, running: true, low: true},
	ruleLowAmps:      {typ: rimewatch.LowAmpDraw, group: RuleAmps, metric: "amp_draw", low: true},
	ruleHumid:        {typ: rimewatch.HighHumidity, group: RuleHumidity, metric: "humidity"},
	ruleDry:          {typ: rimewatch.LowHumidity, group: RuleHumidity, metric: "humidity", low: true},
	ruleHot:          {typ: rimewatch.HighAmbientTemperature, group: RuleAmbient, metric: "ambient_temp"},
	ruleCold:         {typ: rimewatch.LowAmbientTemperature, group: RuleAmbient, metric: "ambient_temp", low: true},
	ruleDoor:         {typ: rimewatch.DoorOpenSuspected, group: RuleDoor, metric: rimewatch.DoorOpenTime},
}

// ruleOf finds the rule of an alert type.
func ruleOf(t rimewatch.AlertType) (rule, bool) {
	for i := range numRules {
		if ruleSpecs[i].typ == t {
			return i, true
		}
	}
	return 0, false
}

// judges reports whether the configuration asks for rule i.
func (c *Config) judges(i rule) bool {
	g := ruleSpecs[i].group
	return g == 0 || c.Rules&g != 0
}
