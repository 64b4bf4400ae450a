package rimewatch

import "math"

// Levels of a battery, in percent of its charge.
const (
	BatteryLowPct     = 20 // at and below which a sensor's battery is low, unless its source knows better
	BatteryRenewedPct = 40 // above which it is no longer
	BatteryJumpPct    = 20 // points that a level rises by when a battery is changed
)

// BatteryEmptyV and the others are the voltage under load of the cells of wireless sensors at
// which they are empty, low and full: a lithium cell or two alkaline ones (Energizer CR2450
// and E91 discharge curves, at the 10 and 20 % of capacity that are left). Other cells, such as
// lithium thionyl chloride at 3.6 V, keep their voltage until they are empty.
const (
	BatteryEmptyV = 2.0
	BatteryLowV   = 2.4
	BatteryFullV  = 3.0
)

// BatteryLevel returns how full a battery of this voltage is, in whole percent, or of this
// number of millivolts; ok is false where a sensor's battery has no such voltage.
func BatteryLevel(volts float64) (pct float64, ok bool) {
	if volts >= 1000 && volts <= 20_000 {
		volts /= 1000
	}
	switch {
	case !(volts >= 1 && volts <= 20): // NaN, too
		return 0, false
	case volts >= BatteryFullV:
		return 100, true
	case volts >= BatteryLowV:
		return math.Round(BatteryLowPct + (volts-BatteryLowV)/(BatteryFullV-BatteryLowV)*(100-BatteryLowPct)), true
	default:
		return math.Round(max(0, (volts-BatteryEmptyV)/(BatteryLowV-BatteryEmptyV)*BatteryLowPct)), true
	}
}
