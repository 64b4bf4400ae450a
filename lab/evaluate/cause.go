package evaluate

import (
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/lab/foreign"
)

// cause is something that happens to a unit, by the names that the families have for it;
// "" where one has none.
type cause struct {
	name       string
	first      string
	firstSize  float64
	second     string
	secondSize float64
	ramp       time.Duration
	days       int      // simulated after the onset
	right      []string // predicted faults that name it
	heated     bool     // only units that are defrosted by heat have it
	fanned     bool     // only units with a fan at their evaporator
	sort       causeSort
}

type causeSort uint8

const (
	ofMachine causeSort = iota // to be predicted
	noCold                     // the compressor does not run: to be told at once
	ofPeople                   // no fault of the machine, whatever else it is
)

// causeSorts are the sorts by the names that --part takes.
var causeSorts = map[string]causeSort{"machine": ofMachine, "cold": noCold, "people": ofPeople}

// The names of what people do to units of the first family, which has no fault of that name.
const (
	raisedSetpoint   = "setpoint raised"
	loweredSetpoint  = "setpoint lowered"
	emptied          = "emptied"
	filled           = "filled"
	movedAway        = "moved"
	largerCompressor = "larger compressor"
	wrongWire        = "wrong wire"
	probeInDrain     = "probe in drain"
	oddReading       = "odd reading"
	neverCold        = "never cold"
)

// Fans are matched with what the service calls them; what eight fields cannot separate
// counts as the same.
var causes = []cause{
	{"dirty condenser, 28 days", "condenser_fouling", 0.9, foreign.DirtyCondenser, 1, 28 * day, 36, []string{"condenser_fouling", "noncondensables_overcharge"}, false, false, ofMachine},
	{"leak, 24 days", "refrigerant_undercharge", 0.95, foreign.Leak, 1, 24 * day, 30, []string{"refrigerant_undercharge", "liquid_line_restriction"}, false, false, ofMachine},
	{"worn valves, 24 days", "compressor_valve_leakage", 1, foreign.ValveWear, 1, 24 * day, 32, []string{"compressor_valve_leakage"}, false, false, ofMachine},
	{"dead defrost heater", "defrost_failure", 1, foreign.DeadHeater, 1, 0, 14, []string{"defrost_failure", "evaporator_icing"}, true, false, ofMachine},
	{"condenser fan stands", "condenser_fan_failure", 1, foreign.CondenserFan, 1, 0, 5, []string{"condenser_fan_failure"}, false, false, ofMachine},
	{"condenser fan sticks now and then", "", 0, foreign.StickingFan, 1, 0, 8, []string{"condenser_fan_failure", "condenser_fouling"}, false, false, ofMachine},
	{"evaporator fan stands", "evaporator_fan_failure", 1, foreign.EvaporatorFan, 1, 0, 5, []string{"evaporator_fan_failure"}, false, true, ofMachine},
	{"weak start", "start_component_failure", 0.7, foreign.WeakStart, 0.8, 0, 5, []string{"start_component_failure"}, false, false, ofMachine},
	{"dead compressor, silent", "contactor_open", 1, foreign.DeadCompressor, 1, 0, 4, nil, false, false, noCold},
	{"locked rotor", "locked_rotor", 1, foreign.LockedRotor, 1, 0, 4, nil, false, false, noCold},
	{"thermostat never asks", "thermostat_stuck_off", 1, foreign.ThermostatOpen, 1, 0, 4, nil, false, false, noCold},
	{"defrost never ends", "defrost_stuck_on", 1, foreign.DefrostStuck, 1, 0, 4, nil, true, false, noCold},
	{"never cold from its first day", neverCold, 1, foreign.NeverCold, 1, 0, 4, nil, false, false, ofPeople},
	{"thermostat always asks", "thermostat_stuck_on", 1, foreign.ThermostatClosed, 1, 0, 5, nil, false, false, ofPeople},
	{"door ajar", "door_open", 1, foreign.DoorAjar, 1, 0, 3, nil, false, false, ofPeople},
	{"worn gasket, 14 days", "gasket_leak", 1, foreign.Gasket, 1, 14 * day, 20, nil, false, false, ofPeople},
	{"setpoint raised by 10 K", raisedSetpoint, 1, foreign.SetpointRaised, 1, 0, 8, nil, false, false, ofPeople},
	{"setpoint lowered by 10 K", loweredSetpoint, 1, foreign.SetpointLowered, 1, 0, 8, nil, false, false, ofPeople},
	{"emptied", emptied, 1, foreign.Emptied, 1, 0, 14, nil, false, false, ofPeople},
	{"filled with warm goods", filled, 1, foreign.Filled, 1, 0, 5, nil, false, false, ofPeople},
	{"switched off by hand", "", 0, foreign.SwitchedOff, 1, 0, 4, nil, false, false, noCold},
	{"moved to where it is 8 K warmer", movedAway, 1, foreign.Moved, 1, 0, 10, nil, false, false, ofPeople},
	{"larger compressor put in", largerCompressor, 1, foreign.LargerCompressor, 1, 0, 10, nil, false, false, ofPeople},
	{"current transformer on another wire", wrongWire, 1, foreign.WrongWire, 1, 0, 10, nil, false, false, ofPeople},
	{"zone probe in the drain", probeInDrain, 1, foreign.ProbeInDrain, 1, 0, 6, nil, false, false, ofPeople},
	{"zone probe dead", "sensor_disconnected", 1, foreign.ProbeDead, 1, 0, 4, nil, false, false, ofPeople},
	{"zone probe drifts", "sensor_drift", 1, foreign.ProbeDrift, 1, 0, 20, nil, false, false, ofPeople},
	{"zone probe shows one number", "sensor_stuck", 1, foreign.ProbeFrozen, 1, 0, 4, nil, false, false, ofPeople},
	{"voltage sags", "voltage_sag", 0.8, foreign.VoltageSag, 0.8, 0, 3, nil, false, false, ofPeople},
	{"one odd reading of the zone", oddReading, 1, foreign.OddReading, 1, 0, 2, nil, false, false, ofPeople},
}

// types are those of a family that can have it. What chills batches is loaded hot: whether
// it cools is not judged, by design.
func (c *cause) types(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(t string) bool {
		e, _ := rimewatch.EquipmentBySlug(t)
		return c.heated && !slices.Contains(heated, t) || c.fanned && t == "ice_cream_cabinet" || c.sort == noCold && e.ChillsBatches()
	})
}

// named returns the name of a cause in a family, "" where it has none.
func (c *cause) named(family int) string {
	if family == 0 {
		return c.first
	}
	return c.second
}
