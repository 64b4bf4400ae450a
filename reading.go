package rimewatch

import "math/bits"

// Field is one of the eight measurements of a reading.
type Field uint8

// The measurements, in the order of the API.
const (
	ProductZoneTemp         Field = iota // °C, the air or buffered probe at the product
	CompressorDischargeTemp              // °C, discharge line
	CompressorSuctionTemp                // °C, suction line
	AmbientTemp                          // °C, air at the condenser
	Humidity                             // %RH, of the sensor that also gives AmbientTemp unless the device says otherwise
	Voltage                              // V RMS at the unit
	AmpDraw                              // A RMS, one phase of the compressor circuit
	VibrationLevel                       // mm/s RMS velocity, 10–1000 Hz
	NumFields
)

// FieldInfo describes a measurement: its name on the wire, its canonical unit
// and the range outside which a value is refused as implausible.
type FieldInfo struct {
	Name     string
	Unit     string
	Min, Max float64
}

var fieldInfos = [NumFields]FieldInfo{
	{"product_zone_temp", "°C", -100, 200},
	{"compressor_discharge_temp", "°C", -100, 200},
	{"compressor_suction_temp", "°C", -100, 200},
	{"ambient_temp", "°C", -100, 200},
	{"humidity", "%RH", 0, 100},
	{"voltage", "V", 0, 1000},
	{"amp_draw", "A", 0, 2000},
	{"vibration_level", "mm/s", 0, 500},
}

// Info describes the measurement.
func (f Field) Info() FieldInfo { return fieldInfos[f] }

// String is the measurement's name on the wire.
func (f Field) String() string {
	if f >= NumFields {
		return "unknown"
	}
	return fieldInfos[f].Name
}

// FieldByName finds a measurement by its exact name on the wire.
func FieldByName(name string) (Field, bool) {
	for i := range fieldInfos {
		if fieldInfos[i].Name == name {
			return Field(i), true
		}
	}
	return 0, false
}

// Fields is a set of measurements.
type Fields uint8

// AllFields holds all eight measurements.
const AllFields Fields = 0xff

// Has tells whether f is in the set.
func (s Fields) Has(f Field) bool { return s&(1<<f) != 0 }

// With is the set with f added.
func (s Fields) With(f Field) Fields { return s | 1<<f }

// Len counts the set.
func (s Fields) Len() int { return bits.OnesCount8(uint8(s)) }

// Names lists the set in the order of the API.
func (s Fields) Names() []string {
	names := make([]string, 0, s.Len())
	for f := range NumFields {
		if s.Has(f) {
			names = append(names, f.String())
		}
	}
	return names
}

// Flags holds the optional yes/no observations of a reading and says which of
// its optional extras are present.
type Flags uint8

// Each observation has one bit for "was sent" and one for its value.
const (
	CompressorOnSent Flags = 1 << iota
	CompressorOn
	DefrostActiveSent
	DefrostActive
	DoorOpenSent
	DoorOpen
	StartCountSent
	RunSecondsSent
)

// Bool reads an observation by its "was sent" bit, which its value bit follows.
func (f Flags) Bool(sent Flags) (value, ok bool) { return f&(sent<<1) != 0, f&sent != 0 }

// WithBool records an observation by its "was sent" bit.
func (f Flags) WithBool(sent Flags, value bool) Flags {
	f |= sent
	if value {
		return f | sent<<1
	}
	return f &^ (sent << 1)
}

// Reading is what a device measured at one moment. A measurement that is not in
// Present was not sent, was null, or came from a broken sensor (then it is in
// Faults). Values of absent measurements are 0. Within a device At is unique.
type Reading struct {
	At         Time // when it was measured (recorded_at)
	ReceivedAt Time // when the service took it
	Values     [NumFields]float64
	StartCount int64 // compressor starts since the device's own zero; valid with StartCountSent
	RunSeconds int64 // compressor run time in s since the device's own zero; valid with RunSecondsSent
	Present    Fields
	Faults     Fields // sensors that reported a sentinel instead of a measurement
	Flags      Flags
}

// Value is one measurement; ok is false where it is absent.
func (r *Reading) Value(f Field) (v float64, ok bool) { return r.Values[f], r.Present.Has(f) }

// Set stores one measurement.
func (r *Reading) Set(f Field, v float64) {
	r.Values[f] = v
	r.Present = r.Present.With(f)
}

// Sentinel tells whether v is one of the numbers by which common sensors and
// gateways report that they are broken: −127 (DS18B20 without a sensor), ±999,
// 998 and 1998–1999.9 (controllers), outside the field's plausible range.
func Sentinel(f Field, v float64) bool {
	info := &fieldInfos[f]
	if v >= info.Min && v <= info.Max {
		return false
	}
	return v == -127 || v == 999 || v == -999 || v == 998 || (v >= 1998 && v <= 1999.9)
}

// Heartbeat is a sign of life with the device's own state. Zero and nil mean
// not sent.
type Heartbeat struct {
	Offline            bool // the device announces a planned shutdown
	SentAt             Time
	FirmwareVersion    string
	BatteryPct         *float64 // 0–100
	RSSI               *float64 // dBm
	UptimeS            *int64
	HeartbeatIntervalS int // s, 0 = not declared
}
