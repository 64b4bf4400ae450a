package rimewatch

import (
	"iter"
	"math"
	"math/bits"
	"strings"
)

// Field identifies a measurement by its number. Numbers are written into every
// stored reading: a row of the table below never changes its number, and the
// number of a measurement that is given up is never used again.
type Field uint8

// The core measurements: every answer has them, null where absent.
const (
	ProductZoneTemp         Field = 0 // °C, the air or buffered probe at the product
	CompressorDischargeTemp Field = 1 // °C, discharge line
	CompressorSuctionTemp   Field = 2 // °C, suction line
	AmbientTemp             Field = 3 // °C, air at the condenser
	Humidity                Field = 4 // %RH, of the sensor that also measures AmbientTemp unless the device says otherwise
	Voltage                 Field = 5 // V RMS at the unit
	AmpDraw                 Field = 6 // A RMS, one phase of the compressor circuit
	VibrationLevel          Field = 7 // mm/s RMS velocity, 10–1000 Hz
)

// The optional measurements: answers have them where they were sent.
const (
	SetpointTemp      Field = 8  // °C, what the controller aims at
	EvaporatorTemp    Field = 9  // °C, evaporator coil
	LiquidLineTemp    Field = 10 // °C, liquid line at the condenser's outlet
	SuctionPressure   Field = 11 // kPa gauge
	DischargePressure Field = 12 // kPa gauge
	Power             Field = 13 // W, active power of the unit
	Energy            Field = 14 // kWh since the meter's own zero
	CO2               Field = 15 // ppm, of the air around the unit
	StartCount        Field = 16 // compressor starts since the device's own zero
	RunSeconds        Field = 17 // s that the compressor ran since the device's own zero
)

// NumCore is the number of core measurements, which have the lowest numbers, so
// that arrays of them can be indexed by Field.
const NumCore Field = 8

// MaxFields is how many numbers Fields has room for. On disk sets of
// measurements have no such bound.
const MaxFields Field = 32

// Kind is how the values of a measurement follow one another.
type Kind uint8

// The kinds of measurements.
const (
	Gauge   Kind = iota // goes up and down
	Counter             // only counts up, until the device starts again from 0
)

// FieldInfo describes a measurement. Decoders, answers, the API's description,
// exports, the client and the UI are made from it.
type FieldInfo struct {
	Name  string // on the wire
	Label string // what people read
	Short string // the same where there is little room
	Unit  string // canonical, on the wire and in the store; empty for a number of things
	Doc   string // what the API's description says of it

	Min, Max  float64 // accepted; what lies outside is refused
	Low, High float64 // plausible on a refrigerated unit; what lies outside is a broken sensor

	Kind  Kind
	Whole bool // only integers are accepted

	Example float64 // for the API's description
	Digits  int     // decimals that people are shown
	Span    float64 // the least range of a chart's axis: noise is not to look like a drama
}

// maxWhole is the greatest integer up to which a float64 holds every one.
const maxWhole = 1<<53 - 1

// fieldTable describes the measurements by their numbers. A number without a
// name is free.
type fieldTable [MaxFields]FieldInfo

// Plausible ranges: ultra-low freezers end at −90 °C, a cold room's probes read at most
// the air of a hot machine room, gas behind a compressor is bound by its oil (coking from about 150 °C,
// probes to 200 °C), pressures by the relief valves of CO2 systems (transcritical
// high side 120–130 bar, low side at standstill 45–60 bar).
var fields = fieldTable{
	ProductZoneTemp: {Name: "product_zone_temp", Label: "Product zone", Short: "Product", Unit: "°C", Doc: "°C",
		Min: -100, Max: 200, Low: -95, High: 60, Example: -18.5, Digits: 1, Span: 4},
	CompressorDischargeTemp: {Name: "compressor_discharge_temp", Label: "Discharge temperature", Short: "Discharge", Unit: "°C", Doc: "°C",
		Min: -100, Max: 200, Low: -40, High: 200, Example: 85.2, Digits: 1, Span: 10},
	CompressorSuctionTemp: {Name: "compressor_suction_temp", Label: "Suction temperature", Short: "Suction", Unit: "°C", Doc: "°C",
		Min: -100, Max: 200, Low: -70, High: 80, Example: -5.1, Digits: 1, Span: 6},
	AmbientTemp: {Name: "ambient_temp", Label: "Ambient temperature", Short: "Ambient", Unit: "°C", Doc: "°C",
		Min: -100, Max: 200, Low: -40, High: 70, Example: 24.8, Digits: 1, Span: 4},
	Humidity: {Name: "humidity", Label: "Humidity", Short: "Humidity", Unit: "%RH", Doc: "%RH",
		Min: 0, Max: 100, Low: 0, High: 100, Example: 45, Digits: 0, Span: 10},
	Voltage: {Name: "voltage", Label: "Voltage", Short: "Voltage", Unit: "V", Doc: "V RMS",
		Min: 0, Max: 1000, Low: 0, High: 700, Example: 230.4, Digits: 0, Span: 20},
	AmpDraw: {Name: "amp_draw", Label: "Current", Short: "Current", Unit: "A", Doc: "A RMS",
		Min: 0, Max: 2000, Low: 0, High: 950, Example: 8.2, Digits: 1, Span: 2}, // a centrifugal chiller of 2 MW takes 700 A
	VibrationLevel: {Name: "vibration_level", Label: "Vibration", Short: "Vibration", Unit: "mm/s", Doc: "mm/s RMS, velocity",
		Min: 0, Max: 500, Low: 0, High: 100, Example: 2.1, Digits: 2, Span: 1},

	SetpointTemp: {Name: "setpoint_temp", Label: "Setpoint", Short: "Setpoint", Unit: "°C", Doc: "°C, what the controller aims at.",
		Min: -100, Max: 200, Low: -100, High: 60, Example: -20, Digits: 1, Span: 4},
	EvaporatorTemp: {Name: "evaporator_temp", Label: "Evaporator", Short: "Evaporator", Unit: "°C", Doc: "°C, evaporator coil.",
		Min: -100, Max: 200, Low: -100, High: 80, Example: -27.5, Digits: 1, Span: 6},
	LiquidLineTemp: {Name: "liquid_line_temp", Label: "Liquid line", Short: "Liquid", Unit: "°C", Doc: "°C, liquid line at the condenser's outlet.",
		Min: -100, Max: 200, Low: -60, High: 100, Example: 34.2, Digits: 1, Span: 6},
	SuctionPressure: {Name: "suction_pressure", Label: "Suction pressure", Short: "Suction p.", Unit: "kPa", Doc: "kPa gauge",
		Min: -100, Max: 6000, Low: -100, High: 6000, Example: 112, Digits: 0, Span: 100},
	DischargePressure: {Name: "discharge_pressure", Label: "Discharge pressure", Short: "Discharge p.", Unit: "kPa", Doc: "kPa gauge",
		Min: 0, Max: 16000, Low: 0, High: 13500, Example: 1540, Digits: 0, Span: 200},
	Power: {Name: "power", Label: "Power", Short: "Power", Unit: "W", Doc: "W, active power of the unit.",
		Min: 0, Max: 1e6, Low: 0, High: 350e3, Example: 1250, Digits: 0, Span: 200},
	Energy: {Name: "energy", Label: "Energy", Short: "Energy", Unit: "kWh", Doc: "kWh since the meter's own zero; a value below the last one means that the meter began again from 0.",
		Min: 0, Max: maxWhole, Low: 0, High: maxWhole, Kind: Counter, Example: 18240.5, Digits: 2, Span: 1},
	CO2: {Name: "co2", Label: "CO₂", Short: "CO₂", Unit: "ppm", Doc: "ppm, of the air around the unit.",
		Min: 0, Max: 100e3, Low: 0, High: 100e3, Example: 620, Digits: 0, Span: 200},
	StartCount: {Name: "start_count", Label: "Compressor starts", Short: "Starts", Doc: "Compressor starts since the device's own zero.",
		Min: 0, Max: maxWhole, Low: 0, High: maxWhole, Kind: Counter, Whole: true, Example: 4210, Span: 2},
	RunSeconds: {Name: "run_seconds", Label: "Compressor run time", Short: "Run time", Unit: "s", Doc: "Compressor run time in s since the device's own zero.",
		Min: 0, Max: maxWhole, Low: 0, High: maxWhole, Kind: Counter, Whole: true, Example: 1893600, Span: 60},
}

// Sets of measurements.
const (
	CoreFields Fields = 1<<NumCore - 1
	AllFields  Fields = 1<<(RunSeconds+1) - 1 // all of the table
)

// Counters are the measurements of the table that count.
var Counters = func() (set Fields) {
	for f := range AllFields.All() {
		if f.IsCounter() {
			set = set.With(f)
		}
	}
	return set
}()

// Info returns the description of the measurement, the zero FieldInfo where the
// number has none.
func (f Field) Info() FieldInfo { return *fields.info(f) }

func (t *fieldTable) info(f Field) *FieldInfo {
	if f >= MaxFields {
		return &FieldInfo{}
	}
	return &t[f]
}

// Core reports whether answers hold the measurement even where it is absent.
func (f Field) Core() bool { return f < NumCore }

// IsCounter reports whether the measurement only counts up.
func (f Field) IsCounter() bool { return fields.info(f).Kind == Counter }

// IsTemperature reports whether the measurement is one in °C.
func (f Field) IsTemperature() bool { return fields.info(f).Unit == "°C" }

// String returns the measurement's name on the wire.
func (f Field) String() string {
	if name := fields.info(f).Name; name != "" {
		return name
	}
	return "unknown"
}

// FieldByName finds a measurement by its exact name on the wire.
func FieldByName(name string) (Field, bool) {
	for f := range AllFields.All() {
		if fields[f].Name == name {
			return f, true
		}
	}
	return 0, false
}

// Accepts reports whether v lies in the accepted range of the measurement and
// is an integer where it has to be.
func (f Field) Accepts(v float64) bool {
	info := fields.info(f)
	return v >= info.Min && v <= info.Max && (!info.Whole || v == float64(int64(v)))
}

// Sentinel reports whether v is one of the numbers by which common sensors and
// gateways report that they are broken: −127 (DS18B20 without a sensor), ±999,
// 998 and 1998–1999.9 (controllers), outside the accepted range of f.
func Sentinel(f Field, v float64) bool {
	if info := fields.info(f); v >= info.Min && v <= info.Max {
		return false
	}
	return v == -127 || v == 999 || v == -999 || v == 998 || (v >= 1998 && v <= 1999.9)
}

// Plausible reports whether v can be measured on a refrigerated unit. Implausible values come
// from a broken sensor: a sentinel, a value outside the plausible range, or one of PowerOn.
func (f Field) Plausible(v float64) bool {
	info := fields.info(f)
	return v >= info.Low && v <= info.High && !Sentinel(f, v) && !PowerOn(f, v)
}

// surely are the bounds within which a core measurement is plausible whatever it is:
// they lie side by side, since all of them are asked for with every reading.
var surely = func() (bounds [NumCore]struct{ low, high float64 }) {
	for f := range NumCore {
		info := f.Info()
		bounds[f].low, bounds[f].high = max(info.Low, info.Min), min(info.High, info.Max)
		if PowerOn(f, powerOn) {
			bounds[f].high = min(bounds[f].high, math.Nextafter(powerOn, 0))
		}
	}
	return bounds
}()

// powerOn is the value of a DS18B20 before its first measurement, °C.
const powerOn = 85

// PowerOn reports whether v is the 85.0 °C that a DS18B20 holds before its first
// measurement, as after a power cut (data sheet, table 1), where no refrigerated
// unit is that warm.
func PowerOn(f Field, v float64) bool {
	return v == powerOn && f.IsTemperature() && f != CompressorDischargeTemp
}

// Fields is a set of measurements: bit f is measurement f.
type Fields uint32

// Has reports whether f is in the set.
func (s Fields) Has(f Field) bool { return s&(1<<f) != 0 }

// With returns the set with f added.
func (s Fields) With(f Field) Fields { return s | 1<<f }

// Len returns the number of measurements in the set.
func (s Fields) Len() int { return bits.OnesCount32(uint32(s)) }

// All returns the measurements of the set by their numbers.
func (s Fields) All() iter.Seq[Field] {
	return func(yield func(Field) bool) {
		for ; s != 0; s &= s - 1 {
			if !yield(Field(bits.TrailingZeros32(uint32(s)))) {
				return
			}
		}
	}
}

// Names returns the names on the wire of the set, in the order of All.
func (s Fields) Names() []string {
	names := make([]string, 0, s.Len())
	for f := range s.All() {
		names = append(names, f.String())
	}
	return names
}

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

// deviationSuffix ends the name of a measure's departure from the unit's usual value.
const deviationSuffix = "_deviation"

// DeviationOf names the departure of a measure from the unit's usual value.
func DeviationOf(measure string) string { return measure + deviationSuffix }

// CutDeviation returns the measure whose departure a metric is; found is false
// when it is no departure.
func CutDeviation(metric string) (measure string, found bool) {
	return strings.CutSuffix(metric, deviationSuffix)
}

// MeasureLabel returns the name that people read of a measurement, a derived measure or its
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
