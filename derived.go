package rimewatch

import "strings"

// Derived describes a measure that is made of measurements. Alerts, evidence,
// reports and the UI call it by the same name.
type Derived struct {
	Name   string // on the wire
	Label  string // what people read
	Unit   string // empty for a number of things
	Digits int    // decimals that people are shown
}

// The derived measures.
const (
	RunTimeShare          = "run_time_share" // of a compressor, defrosts left out
	StartVibration        = "start_vibration"
	StartsPerHour         = "starts_per_hour"
	RunLength             = "run_length"
	FailedStartsPerDay    = "failed_starts_per_day"
	FailedStartsPerHour   = "failed_starts_per_hour"
	RunsWithoutResult     = "runs_without_result"
	DefrostRise           = "defrost_rise"
	RecoveryTime          = "recovery_time"
	SuctionAboveZone      = "suction_above_zone"
	DischargeAboveAmbient = "discharge_above_ambient"
	DoorOpenTime          = "door_open_time"
	DoorReportedTime      = "door_reported_time" // by the device's own word
	ZoneJump              = "zone_jump"          // from one reading to the next
	ZoneStill             = "product_zone_still" // the product zone shows one number all the time
	SilentTime            = "silence"
	ReadingAge            = "reading_age"
	ZoneAge               = "product_zone_age"
	SilentDevices         = "silent_devices"
	BatteryCharge         = "battery_pct"
	BatteryFlag           = "battery_low" // by the device's own word

	// Measurements that a data alert is about together.
	AllTemperatures     = "all_temperatures"
	ZoneAndAmbient      = "product_zone_and_ambient"
	DischargeAndSuction = "discharge_and_suction"
)

var deriveds = [...]Derived{
	{RunTimeShare, "Share of time running", "%", 0},
	{StartVibration, "Vibration after starts", "mm/s", 2},
	{StartsPerHour, "Starts per hour", "1/h", 0},
	{RunLength, "Length of a run", "min", 0},
	{FailedStartsPerDay, "Failed starts", "1/d", 0},
	{FailedStartsPerHour, "Failed starts in the last two hours", "1/h", 0},
	{RunsWithoutResult, "Runs cut short", "", 0},
	{DefrostRise, "Warming during defrost", "K", 1},
	{RecoveryTime, "Recovery from a defrost", "min", 0},
	{SuctionAboveZone, "Suction line above the product zone", "K", 1},
	{DischargeAboveAmbient, "Discharge line above ambient", "K", 1},
	{DoorOpenTime, "Door open", "min", 0},
	{DoorReportedTime, "Door reported open", "min", 0},
	{ZoneJump, "Jump of the product zone", "K", 1},
	{ZoneStill, "Standstill of the product zone", "", 0},
	{SilentTime, "Silence", "s", 0},
	{ReadingAge, "Age of the newest measurement", "s", 0},
	{ZoneAge, "Age of the product temperature", "s", 0},
	{SilentDevices, "Silent devices", "", 0},
	{BatteryCharge, "Battery", "%", 0},
	{BatteryFlag, "Battery reported low", "", 0},
	{AllTemperatures, "All temperatures", "", 0},
	{ZoneAndAmbient, "Product zone and ambient", "", 0},
	{DischargeAndSuction, "Discharge and suction", "", 0},
}

// DerivedMeasures returns all derived measures.
func DerivedMeasures() []Derived { return append([]Derived(nil), deriveds[:]...) }

// deviationSuffix ends the name of a measure's departure from what is usual for
// the unit.
const deviationSuffix = "_deviation"

// DeviationOf names the departure of a measure from what is usual for the unit.
func DeviationOf(measure string) string { return measure + deviationSuffix }

// CutDeviation returns the measure whose departure a metric is; found is false
// when it is no departure.
func CutDeviation(metric string) (measure string, found bool) {
	return strings.CutSuffix(metric, deviationSuffix)
}

// MeasureLabel is what people read for a measurement, a derived measure or its
// departure; ok is false for a name that is none.
func MeasureLabel(metric string) (label string, ok bool) {
	metric, _ = CutDeviation(metric)
	if f, ok := FieldByName(metric); ok {
		return f.Info().Label, true
	}
	for i := range deriveds {
		if deriveds[i].Name == metric {
			return deriveds[i].Label, true
		}
	}
	return "", false
}

// MeasureUnit is the unit of a measurement, a derived measure or its departure:
// departures of temperatures are in K, all others in %.
func MeasureUnit(metric string) string {
	measure, departs := CutDeviation(metric)
	unit := ""
	if f, ok := FieldByName(measure); ok {
		unit = f.Info().Unit
	}
	for i := range deriveds {
		if deriveds[i].Name == measure {
			unit = deriveds[i].Unit
		}
	}
	switch {
	case !departs:
		return unit
	case unit == "°C" || unit == "K":
		return "K"
	default:
		return "%"
	}
}
