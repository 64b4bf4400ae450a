package rimewatch

import (
	"math"
	"strconv"
	"strings"
)

// Status is a device's presence.
type Status string

// A device is either online or offline.
const (
	Online  Status = "online"
	Offline Status = "offline"
)

// MaxSerialLen bounds a serial, in bytes.
const MaxSerialLen = 64

// Device is one monitored unit as people configured it. Stores keep the members with a JSON
// name as JSON, and columns for the others, which they search by.
type Device struct {
	ID                 int64             `json:"-"`
	WorkspaceID        int64             `json:"-"`
	Serial             string            `json:"-"` // as written; compared without case, unique among the workspace's devices that are not deleted
	Name               string            `json:"-"`
	EquipmentType      string            `json:"-"` // slug of an Equipment; unknown slugs are treated as "other"
	SiteID             int64             `json:"-"` // 0 = none
	Labels             map[string]string `json:"labels,omitempty"`
	Manufacturer       string            `json:"manufacturer,omitempty"`
	Model              string            `json:"model,omitempty"`
	FirmwareVersion    string            `json:"-"`
	Notes              string            `json:"notes,omitempty"`
	InstalledAt        Time              `json:"installed_at,omitempty"`
	HeartbeatIntervalS int               `json:"-"`                         // s, declared by a person or the device; 0 = learn it
	OfflineAfterS      int               `json:"-"`                         // s of silence before offline; 0 = derived from the interval
	Habit              Habit             `json:"habit,omitempty"`           // how senders of its kind report, as its source knows; "" = not known
	Limits             *LimitOverrides   `json:"limits,omitempty"`          // nil = those of the equipment type, as its workspace has them
	WorkspaceLimits    *LimitOverrides   `json:"-"`                         // what its workspace sets for its type; filled where it is judged or shown
	Offsets            []Offset          `json:"offsets,omitempty"`         // of its probes, by time; set by calibrations
	CalibrationDue     []CalibrationDue  `json:"calibration_due,omitempty"` // of the probes that were ever calibrated
	CreatedAt          Time              `json:"-"`
	UpdatedAt          Time              `json:"-"`
	DeletedAt          Time              `json:"-"` // 0 while the device exists
}

// Habit is how senders of a kind report.
type Habit string

// The habits.
const (
	HabitSleeps  Habit = "sleeps"  // asleep until something changes: hours may pass
	HabitLoRaWAN Habit = "lorawan" // at an interval of its own, and a message may be lost
)

// DeviceField is a setting of a device that a file has in one column: all but labels
// and limits.
type DeviceField struct {
	Name  string // in the API, in files and in the audit trail
	Label string // for people
	Cell  CellKind
	Value func(*Device) any
}

// CellKind is how the cell of a file is read.
type CellKind int

// The kinds of cells.
const (
	TextCell CellKind = iota
	NumberCell
	TimeCell
)

// DeviceFields lists them, in the order of a file's columns.
func DeviceFields() []DeviceField {
	return []DeviceField{
		{"name", "Name", TextCell, func(d *Device) any { return d.Name }},
		{"equipment_type", "Equipment type", TextCell, func(d *Device) any { return d.EquipmentType }},
		{"site_id", "Site", NumberCell, func(d *Device) any { return d.SiteID }},
		{"manufacturer", "Manufacturer", TextCell, func(d *Device) any { return d.Manufacturer }},
		{"model", "Model", TextCell, func(d *Device) any { return d.Model }},
		{"firmware_version", "Firmware", TextCell, func(d *Device) any { return d.FirmwareVersion }},
		{"notes", "Notes", TextCell, func(d *Device) any { return d.Notes }},
		{"installed_at", "Installed", TimeCell, func(d *Device) any { return d.InstalledAt }},
		{"heartbeat_interval_s", "Reports every", NumberCell, func(d *Device) any { return d.HeartbeatIntervalS }},
		{"offline_after_s", "Offline after", NumberCell, func(d *Device) any { return d.OfflineAfterS }},
		{"habit", "Kind of sender", TextCell, func(d *Device) any { return string(d.Habit) }},
	}
}

// LimitsInForce returns the limits of the equipment type with the overrides of the workspace
// and then the device.
func (d *Device) LimitsInForce() Limits {
	e, _ := EquipmentBySlug(d.EquipmentType)
	return d.Limits.apply(d.WorkspaceLimits.apply(e.Limits, "workspace"), "device")
}

// Presence is a device's status by its signs of life and by time, with the device's own report
// of its state.
type Presence struct {
	Status          Status
	StatusChangedAt Time
	LastSeenAt      Time // any heartbeat or reading, by arrival
	LastHeartbeatAt Time
	OfflineAfterS   int     // in force: configured, declared or learnt
	IntervalS       float64 // s between signs of life, declared or learnt; 0 = not known yet
	BatteryPct      *float64
	BatteryLow      bool     // by the device's own word
	RSSI            *float64 // dBm
	UptimeS         *int64
	ZoneTemp        float64 // °C, the product-zone temperature that counts while a newer one is put aside, as CurrentTemp then
	ZoneTempAt      Time    // its recorded_at, 0 = none is put aside
	Frozen          bool    // its product zone has shown one number for so long that nothing is judged by it
}

// Live is a device's state by its readings, its heartbeats and time. It is kept in
// memory and rebuilt after a restart, not written per reading.
type Live struct {
	Presence
	Latest        Reading // newest by recorded_at; At == 0 before the first
	CurrentTemp   float64 // newest product-zone temperature by recorded_at that is not put aside, °C
	CurrentTempAt Time    // 0 before the first
	ActiveAlerts  int
}

// DeviceView is a device with its live state, as listed to people.
type DeviceView struct {
	Device
	Live
	Site *Site // nil without one
}

// clockAhead is how far before its own time a reading comes from a clock that is ahead: a
// logger that rounds its times is no such thing.
const clockAhead = Minute

// ClockOffset is how far the device's clock is ahead, below 0 behind, by its newest
// reading and by a lag that lasts; 0 = nothing is known to be wrong with it.
func (v *DeviceView) ClockOffset(behind Time) Time {
	early := v.Latest.At - v.Latest.ReceivedAt
	switch {
	case behind > 0:
		return -behind
	case v.Latest.ReceivedAt != 0 && early >= clockAhead:
		return early
	}
	return 0
}

// JudgedFor is how long a device counts as judged after its newest product-zone
// temperature.
const JudgedFor = Day

// Judged reports whether anybody would be alerted if the goods got too warm: a
// limit is in force and a product-zone temperature was measured within the last
// day. One whose zone is Frozen is not judged either. A type without a product zone is judged by its equipment alone.
func Judged(e *Equipment, l *Limits, newest, now Time) bool {
	if !e.HasZone() {
		return true
	}
	return l.Any() && newest != 0 && now-newest < JudgedFor
}

// Judged reports whether the device is judged at now; see the function.
func (v *DeviceView) Judged(now Time) bool {
	e, _ := EquipmentBySlug(v.EquipmentType)
	l := v.LimitsInForce()
	return Judged(e, &l, v.CurrentTempAt, now) && !v.Frozen
}

// Condition is the worst that is known of a device, the worst first.
type Condition uint8

// The conditions that people see a device in.
const (
	ConditionCritical  Condition = iota // an alert that is critical, and no forecast
	ConditionWarning                    // one that is a warning
	ConditionPredicted                  // a fault is expected or suspected
	ConditionOffline
	ConditionUnjudged // no alert would open if the goods got too warm
	ConditionOK
	Conditions // their number
)

// ConditionOf returns the condition of a device with these active alerts. Suppressed alerts
// do not count.
func ConditionOf(online, judged bool, alerts []*Alert) Condition {
	c := ConditionOK
	switch {
	case !online:
		c = ConditionOffline
	case !judged:
		c = ConditionUnjudged
	}
	for _, a := range alerts {
		if a.SuppressedBy == 0 {
			c = min(c, a.Condition())
		}
	}
	return c
}

// Condition returns the condition in which an active alert puts its device.
func (a *Alert) Condition() Condition {
	switch {
	case a.Metric == DoorReportedTime: // it is no suspicion
		return ConditionWarning
	case a.Prediction != nil || strings.HasSuffix(string(a.Type), "_predicted") || strings.HasSuffix(string(a.Type), "_suspected"):
		return ConditionPredicted // a prediction is no emergency yet, however grave
	case a.Severity == Critical:
		return ConditionCritical
	case a.Type == DeviceOffline || a.Type == SiteOffline:
		return ConditionOffline
	}
	return ConditionWarning
}

// ValidSerial reports whether s may be a serial: 1–64 of [A-Za-z0-9._:-] and
// neither "." nor "..", which a URL path cannot carry.
func ValidSerial(s string) bool {
	if len(s) == 0 || len(s) > MaxSerialLen || s == "." || s == ".." {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == ':', c == '-':
		default:
			return false
		}
	}
	return true
}

// SerialKey is the form in which serials are compared.
func SerialKey(s string) string { return strings.ToLower(s) }

// DeletedSerial returns the name of a deleted device in paths and files, SERIAL~ID:
// its serial may have been registered again.
func DeletedSerial(serial string, id int64) string {
	return serial + "~" + strconv.FormatInt(id, 10)
}

// CutDeletedSerial splits the result of DeletedSerial. The id is 0 for the serial of a
// device that was not deleted, and negative where what follows the ~ is no id.
func CutDeletedSerial(s string) (serial string, id int64) {
	serial, after, deleted := strings.Cut(s, "~")
	if !deleted {
		return serial, 0
	}
	id, err := strconv.ParseInt(after, 10, 64)
	if err != nil || id <= 0 {
		return serial, -1
	}
	return serial, id
}

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
