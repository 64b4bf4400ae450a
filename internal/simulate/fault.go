package simulate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Profile is the way in which a fault grows from nothing to its severity.
type Profile uint8

// The profiles.
const (
	Step        Profile = iota // at once
	Linear                     // evenly over the ramp
	Exponential                // slowly first, half of it in the last sixth of the ramp
)

// Fault is one thing that is wrong with a unit for some time.
type Fault struct {
	Name     string          // one of FaultNames
	Severity float64         // final severity, above 0 up to 1
	Onset    rimewatch.Time  // 0 = before the unit was first looked at
	End      rimewatch.Time  // repaired then; 0 = never
	Profile  Profile         // Step unless said otherwise
	Ramp     time.Duration   // from onset to full severity, for Linear and Exponential
	Field    rimewatch.Field // which sensor, for the sensor faults
}

// at is the severity at a moment.
func (f *Fault) at(t rimewatch.Time) float64 {
	if t < f.Onset || (f.End != 0 && t >= f.End) {
		return 0
	}
	if f.Profile == Step || f.Ramp <= 0 {
		return f.Severity
	}
	x := min(1, t.Sub(f.Onset).Seconds()/f.Ramp.Seconds())
	if f.Profile == Exponential {
		x = math.Expm1(4*x) / math.Expm1(4)
	}
	return f.Severity * x
}

// effects are the effects of a unit's faults on its parts at one moment. The zero
// value is not healthy: see healthy.
type effects struct {
	starve      float64 // 0–1, evaporator short of liquid, behind a valve and a receiver
	lost        float64 // share of the charge that has leaked
	plugged     float64 // 0–1, of the liquid line
	condenser   float64 // factor on the condenser's conductance
	fanAmps     float64 // factor on the condenser fan's current
	headK       float64 // K added to the condensing temperature
	heater      float64 // factor on what a defrost does
	airSide     float64 // factor on the evaporator's air-side conductance
	fans        float64 // factor on the evaporator fans' air flow
	volumetric  float64 // factor on the compressor's volumetric efficiency
	isentropic  float64 // factor on its isentropic efficiency
	friction    float64 // added share of shaft power
	flood       float64 // 0–1, liquid reaching the compressor
	vibration   float64 // factor
	rattle      float64 // share by which leaking valves add to it
	startFails  float64 // probability that a start fails
	volts       float64 // factor on the supply voltage
	doorAjar    float64 // 1 is a door left open: Params.Ajar of the open door's flow
	gasket      float64 // share of the open door's flow, all the time
	melt        float64 // factor on the melting of frost by room air
	chatter     float64 // 0–1, contactor losing contact
	noContact   bool    // the contactor does not pull in
	singlePhase bool
	stuckOn     bool
	stuckOff    bool
	defrosting  bool // defrost does not end
	power       bool
}

func healthy() effects {
	return effects{
		condenser: 1, fanAmps: 1, heater: 1, melt: 1, airSide: 1, fans: 1,
		volumetric: 1, isentropic: 1, vibration: 1, volts: 1, power: true,
	}
}

type faultSpec struct {
	name    string
	alias   []string
	usual   float64 // severity of a developed case
	effect  func(e *effects, s float64)
	sensors bool
}

// lostCharge is the evaporator's starvation when part of the charge has leaked:
// the receiver hides the first 18 %.
func lostCharge(e *effects, s float64) {
	e.lost = max(e.lost, 0.6*s)
	e.starve = max(e.starve, min(1, max(0, (0.82-(1-0.6*s))/0.42)))
}

// The sizes are those of the domain notes; s runs from 0 to 1.
var faultSpecs = [...]faultSpec{
	{name: "refrigerant_undercharge", alias: []string{"leak", "undercharge"}, usual: 0.8, effect: lostCharge},
	{name: "liquid_line_restriction", alias: []string{"restriction"}, usual: 0.7,
		effect: func(e *effects, s float64) { e.starve, e.plugged = max(e.starve, 0.9*s), max(e.plugged, s) }},
	{name: "condenser_fouling", alias: []string{"fouling"}, usual: 0.7,
		effect: func(e *effects, s float64) { e.condenser *= 1 - 0.75*s }},
	{name: "condenser_fan_failure", alias: []string{"condenser_fan"}, usual: 1,
		effect: func(e *effects, s float64) { e.condenser *= 1 - 0.78*s; e.fanAmps *= 1 - s }},
	{name: "noncondensables_overcharge", alias: []string{"overcharge", "noncondensables"}, usual: 1,
		effect: func(e *effects, s float64) { e.headK += 9 * s }},
	{name: "evaporator_icing", alias: []string{"icing"}, usual: 1,
		effect: func(e *effects, s float64) { e.heater *= max(0, 1-s/0.3); e.melt *= 1 - 0.97*s; e.airSide *= 1 - 0.3*s }},
	{name: "defrost_failure", alias: []string{"defrost_heater", "defrost"}, usual: 1,
		effect: func(e *effects, s float64) { e.heater *= 1 - s }},
	{name: "defrost_stuck_on", alias: []string{"defrost_stuck"}, usual: 1,
		effect: func(e *effects, _ float64) { e.defrosting = true }},
	{name: "evaporator_fan_failure", alias: []string{"evaporator_fan"}, usual: 1,
		effect: func(e *effects, s float64) { e.fans *= 1 - 0.97*s }},
	{name: "compressor_valve_leakage", alias: []string{"valve"}, usual: 0.7,
		effect: func(e *effects, s float64) {
			e.volumetric *= 1 - 0.55*s
			e.isentropic *= 1 - 0.4*s
			e.rattle += 0.5 * s
		}},
	{name: "bearing_wear", alias: []string{"bearing"}, usual: 0.7,
		effect: func(e *effects, s float64) { e.vibration *= math.Exp(2.2 * s); e.friction += 0.22 * s * s }},
	{name: "liquid_floodback", alias: []string{"floodback", "slugging"}, usual: 0.7,
		effect: func(e *effects, s float64) { e.flood = max(e.flood, s) }},
	{name: "start_component_failure", alias: []string{"capacitor", "start"}, usual: 0.7,
		effect: func(e *effects, s float64) { e.startFails = max(e.startFails, 0.75*s) }},
	{name: "contactor_fault", alias: []string{"contactor"}, usual: 0.7,
		effect: func(e *effects, s float64) { e.chatter = max(e.chatter, s) }},
	{name: "contactor_open", alias: []string{"dead"}, usual: 1,
		effect: func(e *effects, _ float64) { e.noContact = true }},
	{name: "locked_rotor", alias: []string{"seized"}, usual: 1,
		effect: func(e *effects, _ float64) { e.startFails = 1 }},
	{name: "single_phasing", alias: []string{"phase_loss"}, usual: 1,
		effect: func(e *effects, _ float64) { e.singlePhase = true }},
	{name: "voltage_sag", alias: []string{"sag", "brownout"}, usual: 0.7,
		effect: func(e *effects, s float64) { e.volts *= 1 - 0.18*s }},
	{name: "phase_or_supply_overvoltage", alias: []string{"overvoltage"}, usual: 0.8,
		effect: func(e *effects, s float64) { e.volts *= 1 + 0.16*s }},
	{name: "thermostat_stuck_on", alias: []string{"stuck_on"}, usual: 1,
		effect: func(e *effects, _ float64) { e.stuckOn = true }},
	{name: "thermostat_stuck_off", alias: []string{"stuck_off"}, usual: 1,
		effect: func(e *effects, _ float64) { e.stuckOff = true }},
	{name: "door_open", alias: []string{"door"}, usual: 1,
		effect: func(e *effects, s float64) { e.doorAjar += s }},
	{name: "gasket_leak", alias: []string{"gasket"}, usual: 1,
		effect: func(e *effects, s float64) { e.gasket += 0.03 * s }},
	{name: "sensor_drift", alias: []string{"drift"}, usual: 1, sensors: true},
	{name: "sensor_stuck", alias: []string{"stuck"}, usual: 1, sensors: true},
	{name: "sensor_disconnected", alias: []string{"disconnected"}, usual: 1, sensors: true},
	{name: "power_failure", alias: []string{"power"}, usual: 1,
		effect: func(e *effects, _ float64) { e.power = false }},
}

func specOf(name string) *faultSpec {
	for i := range faultSpecs {
		if s := &faultSpecs[i]; s.name == name || slices.Contains(s.alias, name) {
			return s
		}
	}
	return nil
}

// FaultNames lists every fault by its full name.
func FaultNames() []string {
	names := make([]string, len(faultSpecs))
	for i := range faultSpecs {
		names[i] = faultSpecs[i].name
	}
	return names
}

// FaultAliases returns the short names that ParseFault also takes.
func FaultAliases(name string) []string {
	if s := specOf(name); s != nil {
		return slices.Clone(s.alias)
	}
	return nil
}

// ParseFault reads a fault as people type it: a name or an alias, then in any
// order and separated by colons a severity above 0 up to 1, a time in which it
// grows evenly ("36h", "21d") and, for sensor faults, the field that is
// affected (default product_zone_temp). Without a severity it is a developed
// case, without a time it is there at once. Examples: "door", "leak:0.6",
// "fouling:0.8:21d", "sensor_drift:10d:compressor_suction_temp". Onset and End
// are left for the caller.
func ParseFault(s string) (Fault, error) {
	parts := strings.Split(s, ":")
	spec := specOf(strings.TrimSpace(parts[0]))
	if spec == nil {
		return Fault{}, fmt.Errorf("unknown fault %q: must be one of %s", parts[0], strings.Join(FaultNames(), ", "))
	}
	f := Fault{Name: spec.name, Severity: spec.usual}
	for _, part := range parts[1:] {
		part = strings.TrimSpace(part)
		if field, ok := rimewatch.FieldByName(part); ok && spec.sensors {
			f.Field = field
			continue
		}
		if v, err := strconv.ParseFloat(part, 64); err == nil {
			if !(v > 0 && v <= 1) {
				return Fault{}, fmt.Errorf("fault %q: severity must be above 0 and at most 1", s)
			}
			f.Severity = v
			continue
		}
		d, err := parseSpan(part)
		if err != nil || d <= 0 {
			return Fault{}, fmt.Errorf("fault %q: %q is neither a severity, a duration such as 36h or 21d, nor a sensor", s, part)
		}
		f.Profile, f.Ramp = Linear, d
	}
	return f, nil
}

// parseSpan is time.ParseDuration that also knows days.
func parseSpan(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		v, err := strconv.ParseFloat(days, 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > 36500 {
			return 0, fmt.Errorf("%q is not a number of days", days)
		}
		return time.Duration(v * 24 * float64(time.Hour)), nil
	}
	return time.ParseDuration(s)
}

// activeFault is a fault of a unit with its entry in the catalogue.
type activeFault struct {
	Fault
	spec *faultSpec
}

// activate fills in the full name and the severity, or says what is wrong.
func (f Fault) activate() (activeFault, error) {
	spec := specOf(f.Name)
	if spec == nil {
		return activeFault{}, fmt.Errorf("unknown fault %q", f.Name)
	}
	f.Name = spec.name
	if f.Severity == 0 {
		f.Severity = spec.usual
	}
	return activeFault{f, spec}, f.check()
}

func (f *Fault) check() error {
	switch {
	case !(f.Severity >= 0 && f.Severity <= 1):
		return fmt.Errorf("fault %s: severity %v must be between 0 and 1", f.Name, f.Severity)
	case f.Ramp < 0:
		return fmt.Errorf("fault %s: ramp must not be negative", f.Name)
	case f.Profile > Exponential:
		return fmt.Errorf("fault %s: unknown profile %d", f.Name, f.Profile)
	case f.Field >= rimewatch.NumCore:
		return fmt.Errorf("fault %s: unknown field %d", f.Name, f.Field)
	case f.End != 0 && f.End <= f.Onset:
		return fmt.Errorf("fault %s: must end after its onset", f.Name)
	}
	return nil
}
