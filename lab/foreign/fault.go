package foreign

import (
	"fmt"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Fault is one thing that is wrong with a unit, or that people do to it, for some time.
type Fault struct {
	Name     string
	Severity float64        // at the end of its ramp, above 0 up to 1
	Onset    rimewatch.Time // 0 = from its first day
	End      rimewatch.Time // 0 = never
	Ramp     time.Duration  // it grows evenly for so long, 0 = at once
}

// The faults and events. Sizes are at severity 1.
const (
	DirtyCondenser   = "dirty_condenser"   // a fifth of the air passes
	CondenserFan     = "condenser_fan"     // stands still
	StickingFan      = "sticking_fan"      // of the condenser: does not start at two starts in five
	EvaporatorFan    = "evaporator_fan"    // stands still
	Leak             = "leak"              // all but a twentieth of the charge
	ValveWear        = "valve_wear"        // the compressor pumps 55 % less, and heats the gas
	DeadCompressor   = "dead_compressor"   // no current, no sound: contactor, fuse
	LockedRotor      = "locked_rotor"      // hums until the protector opens, again and again
	WeakStart        = "weak_start"        // capacitor or relay: four in five starts fail
	DeadHeater       = "dead_heater"       // of the defrost
	DefrostStuck     = "defrost_stuck"     // never ends
	DoorAjar         = "door_ajar"         // a tenth of the open door's exchange
	Gasket           = "gasket"            // a seventieth of it
	ThermostatClosed = "thermostat_closed" // always asks for cold
	ThermostatOpen   = "thermostat_open"   // never does
	SetpointRaised   = "setpoint_raised"   // by 10 K
	SetpointLowered  = "setpoint_lowered"  // by 10 K
	Emptied          = "emptied"           // a tenth of the goods is left
	Filled           = "filled"            // with half of its goods, 15 K too warm
	SwitchedOff      = "switched_off"      // by hand; the meter is not
	Moved            = "moved"             // off for three hours, then 8 K warmer around it
	LargerCompressor = "larger_compressor" // sweeps 40 % more
	WrongWire        = "wrong_wire"        // the current transformer is on that of the lights and a neighbour
	ProbeInDrain     = "probe_in_drain"    // the zone's lies under the coil, in melt water
	ProbeDead        = "probe_dead"        // the zone's is cut
	ProbeDrift       = "probe_drift"       // the zone's shows 0.3 K more every day
	ProbeFrozen      = "probe_frozen"      // the zone's shows one number
	NeverCold        = "never_cold"        // nine tenths of the charge were never there
	VoltageSag       = "voltage_sag"       // 18 %
	OddReading       = "odd_reading"       // one of the zone probe, 20 K off, once
)

// FaultNames are all of them.
func FaultNames() []string {
	return []string{DirtyCondenser, CondenserFan, StickingFan, EvaporatorFan, Leak, ValveWear, DeadCompressor, LockedRotor, WeakStart, DeadHeater,
		DefrostStuck, DoorAjar, Gasket, ThermostatClosed, ThermostatOpen, SetpointRaised, SetpointLowered, Emptied, Filled, SwitchedOff, Moved, LargerCompressor,
		WrongWire, ProbeInDrain, ProbeDead, ProbeDrift, ProbeFrozen, NeverCold, VoltageSag, OddReading}
}

func (f *Fault) check() error {
	if !slices.Contains(FaultNames(), f.Name) {
		return fmt.Errorf("foreign: no fault %q", f.Name)
	}
	if f.Severity <= 0 || f.Severity > 1 {
		return fmt.Errorf("foreign: severity %g of %s", f.Severity, f.Name)
	}
	return nil
}

// at is the severity at a moment.
func (f *Fault) at(now rimewatch.Time) float64 {
	switch {
	case now < f.Onset || f.End != 0 && now >= f.End:
		return 0
	case f.Ramp <= 0 || f.Onset == 0:
		return f.Severity
	default:
		return f.Severity * min(1, float64(now-f.Onset)/float64(f.Ramp.Microseconds()*int64(rimewatch.Second)/1e6))
	}
}

// ills are what is wrong at a moment; 0 and false are as they should be.
type ills struct {
	dirt, stick, gap, leak, valve, weak, sag  float64 // gap is a share of the open door's exchange
	condFan, evapFan, dead, locked, noHeater  bool
	defrosts, asks, silent, off, wrong, drain bool
	cut, frozen                               bool
	raised, warmer, drift, larger, goods      float64
}

func (u *Unit) findIlls(now rimewatch.Time) {
	u.ills = ills{goods: 1, larger: 1}
	x := &u.ills
	for i := range u.faults {
		f := &u.faults[i]
		s := f.at(now)
		if s <= 0 {
			continue
		}
		since := now - f.Onset
		switch f.Name {
		case DirtyCondenser:
			x.dirt = 0.8 * s
		case CondenserFan:
			x.condFan = true
		case StickingFan:
			x.stick = 0.4 * s
		case EvaporatorFan:
			x.evapFan = true
		case Leak:
			x.leak = 0.95 * s
		case ValveWear:
			x.valve = s
		case DeadCompressor:
			x.dead = true
		case LockedRotor:
			x.locked = true
		case WeakStart:
			x.weak = 0.8 * s
		case DeadHeater:
			x.noHeater = true
		case DefrostStuck:
			x.defrosts = true
		case DoorAjar:
			x.gap = 0.1 * s
		case Gasket:
			x.gap = 0.015 * s
		case ThermostatClosed:
			x.asks = true
		case ThermostatOpen:
			x.silent = true
		case SetpointRaised:
			x.raised = 10 * s
		case SetpointLowered:
			x.raised = -10 * s
		case Emptied:
			x.goods = 0.1
		case SwitchedOff:
			x.off = true
		case Moved:
			x.warmer, x.off = 8*s, since < 3*rimewatch.Hour
		case LargerCompressor:
			x.larger = 1 + 0.4*s
		case WrongWire:
			x.wrong = true
		case ProbeInDrain:
			x.drain = true
		case ProbeDead:
			x.cut = true
		case ProbeDrift:
			x.drift = 0.3 * s * float64(since) / float64(rimewatch.Day)
		case ProbeFrozen:
			x.frozen = true
		case NeverCold:
			x.leak = 0.9 * s
		case VoltageSag:
			x.sag = 0.18 * s
		}
	}
}
