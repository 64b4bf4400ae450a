package wire

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// DeviceItem is a device as it stands in lists.
type DeviceItem struct {
	ID            int64            `json:"id"`
	Serial        string           `json:"serial"`
	Name          string           `json:"name"`
	EquipmentType string           `json:"equipment_type" doc:"A slug of /v1/equipment-types, or another one of a-z 0-9 _: the set is open."`
	Status        rimewatch.Status `json:"status" enum:"online,offline"`
	CurrentTemp   *float64         `json:"current_temp" doc:"The newest product_zone_temp by recorded_at, °C, without one that the unit cannot have reached since the one before and that nothing confirms yet; null before the first."`
	CurrentTempAt rimewatch.Time   `json:"current_temp_at" doc:"The recorded_at of current_temp; other values may have come since. null before the first."`
	Site          Maybe[SiteRef]   `json:"site"`
	LastSeenAt    rimewatch.Time   `json:"last_seen_at" doc:"When a heartbeat or reading last arrived."`
	ActiveAlerts  int              `json:"active_alerts"`
	Judged        bool             `json:"judged" doc:"Whether anybody is alerted if the goods get too warm: a limit is in force and a product-zone temperature was measured within 24 h. Types without a product zone are judged by their equipment alone. A device that is not judged is never fine: it has no health score and counts in unjudged_devices."`
	Limits        rimewatch.Limits `json:"limits" doc:"The limits in force: those of the equipment type, with what is set for the device."`
	Labels        Labels           `json:"labels"`
}

// DeviceDetail is everything about a device.
type DeviceDetail struct {
	DeviceItem
	Manufacturer       string                   `json:"manufacturer"`
	Model              string                   `json:"model"`
	FirmwareVersion    string                   `json:"firmware_version"`
	Notes              string                   `json:"notes"`
	InstalledAt        rimewatch.Time           `json:"installed_at"`
	LastHeartbeatAt    rimewatch.Time           `json:"last_heartbeat_at"`
	StatusChangedAt    rimewatch.Time           `json:"status_changed_at"`
	HeartbeatIntervalS *float64                 `json:"heartbeat_interval_s" doc:"s between signs of life, declared or learned; null when not known yet."`
	OwnLimits          rimewatch.LimitOverrides `json:"own_limits" doc:"What of limits was set for this device. The rest comes from its type, as the workspace has it."`
	OfflineAfterS      int                      `json:"offline_after_s" doc:"s of silence after which the device is offline, as in force."`
	Habit              rimewatch.Habit          `json:"habit" doc:"How senders of its kind report, as its source knows or a person has set: sleeps (until something changes) or lorawan; \"\" where that is not known. The set is open."`
	Silence            DeviceSilence            `json:"silence" doc:"Why offline_after_s is what it is."`
	BatteryPct         *float64                 `json:"battery_pct" doc:"0–100, from the newest heartbeat that contained it."`
	BatteryLow         bool                     `json:"battery_low" doc:"Whether it says that its battery is low."`
	RSSIdBm            *float64                 `json:"rssi_dbm" doc:"dBm, from the newest heartbeat that contained it."`
	UptimeS            *int64                   `json:"uptime_s" doc:"s, from the newest heartbeat that contained it."`
	Health             DeviceHealth             `json:"health"`
	Exposure           Maybe[Exposure]          `json:"exposure" doc:"How long the product zone was out of its limits in the last 24 h, however short each time was; maintenance is left out. null without limits."`
	Zone               ZoneState                `json:"zone" doc:"What the product zone does while no alert is raised."`
	Clock              Maybe[ClockState]        `json:"clock" doc:"null while nothing is known to be wrong with the device's clock."`
	LatestReading      Maybe[DeviceReading]     `json:"latest_reading"`
	Calibration        Maybe[CalibrationState]  `json:"calibration" doc:"null when no probe was ever calibrated."`
	Offsets            []DeviceOffset           `json:"offsets" doc:"By from; the newest of a field that applies counts."`
	Maintenance        Maybe[MaintenanceState]  `json:"maintenance" doc:"The window that it is in; null when it is in none."`
	CreatedAt          rimewatch.Time           `json:"created_at" nullable:"false"`
	UpdatedAt          rimewatch.Time           `json:"updated_at" nullable:"false"`
}

// DeviceSilence are the criteria of a device's silence.
type DeviceSilence struct {
	By          string `json:"by" doc:"declared: offline_after_s was set. interval: three times the declared interval. kind: senders of its kind, such as one that sleeps until something changes. learned: how long its own gaps usually are. alarm_delay: its gaps are longer than limits.delay_s, and silence is noticed no later until offered_s is accepted. default: nothing is known yet. The set is open."`
	UsuallyS    int    `json:"usually_s" doc:"s within which it usually reports again; 0 while that is not known."`
	OfferedS    int    `json:"offered_s" doc:"s of silence that fit how it reports, where they are more than offline_after_s: set offline_after_s to accept them; 0 otherwise."`
	AlarmDelayS int    `json:"alarm_delay_s" doc:"s after which too warm goods are alerted for; 0 without limits."`
}

// DeviceHealth is a device's health score.
type DeviceHealth struct {
	Score   *float64 `json:"score" doc:"0–100; null while the device is not judged."`
	Drivers []Driver `json:"drivers" doc:"What costs points, worst first."`
	Compliance
}

// ZoneState is a state of the product zone: out of its limits without an alert, or back within them with one.
type ZoneState struct {
	OutOfLimitsSince rimewatch.Time `json:"out_of_limits_since" doc:"null while it is within its limits."`
	AlertAt          rimewatch.Time `json:"alert_at" doc:"When an alert is raised if it stays out; null when none is to come, as one is active or the device is offline."`
	BackSince        rimewatch.Time `json:"back_since" doc:"Since when it is back within its limits while an alert about them is active; null otherwise."`
	ClearAt          rimewatch.Time `json:"clear_at" doc:"When that alert ends if it stays there; null when that is not known."`
	Defrosting       bool           `json:"defrosting" doc:"A defrost warms it: declared by the device, or recognised. The recovery from it counts."`
	BackBy           rimewatch.Time `json:"back_by" doc:"When the defrost that goes on is usually over; null when that is not known."`
}

// Compliance is how much of the covered time of the last 24 h a device was in
// its limits, in percent to one decimal.
type Compliance struct {
	TemperatureCompliance *float64 `json:"temperature_compliance" doc:"0–100: share of the covered time of the last 24 h in limits, times shorter than the alarm delay forgiven as far as the allowance of their day goes; null without limits or readings."`
	StrictCompliance      *float64 `json:"strict_compliance" doc:"The same without forgiveness."`
	DataCoverage          *float64 `json:"data_coverage" doc:"0–100: share of the last 24 h for which there are readings; of a younger device, of the time since it was created or first read. null without limits."`
}

// Exposure is how long a product zone was out of its limits in 24 h, each time however short.
type Exposure struct {
	WarmMin float64              `json:"warm_min_24h" doc:"min above the upper limit, to 0.1."`
	ColdMin float64              `json:"cold_min_24h" doc:"min below the lower limit, to 0.1."`
	Worst   Maybe[WorstExposure] `json:"worst" doc:"The side with more minutes; null when there are none."`
}

// WorstExposure is the side on which a product zone was out of its limits longer.
type WorstExposure struct {
	Minutes float64 `json:"minutes"`
	Limit   float64 `json:"limit" doc:"°C, the limit that was passed, as in force now."`
	Side    string  `json:"side" enum:"warm,cold"`
}

// NewExposure returns the shape of some ms above and below limits, null without any limit.
func NewExposure(warm, cold int64, l *rimewatch.Limits) Maybe[Exposure] {
	if l.TempMin == nil && l.TempMax == nil {
		return Maybe[Exposure]{}
	}
	minutes := func(ms int64) float64 { return math.Round(float64(ms)/6000) / 10 }
	e := Exposure{WarmMin: minutes(warm), ColdMin: minutes(cold)}
	switch {
	case e.WarmMin >= e.ColdMin && e.WarmMin > 0:
		e.Worst.Value = &WorstExposure{e.WarmMin, l.Passed(false), "warm"}
	case e.ColdMin > 0:
		e.Worst.Value = &WorstExposure{e.ColdMin, l.Passed(true), "cold"}
	}
	return Maybe[Exposure]{&e}
}

// Driver is one thing that lowers a device's health score.
type Driver struct {
	Component  string  `json:"component"`
	Weight     float64 `json:"weight" doc:"Share of the component in the score, 0–1."`
	Severity   float64 `json:"severity" doc:"How bad it is, 0–1."`
	PointsLost float64 `json:"points_lost"`
	Text       string  `json:"text" doc:"For people."`
}

// NewDeviceItem returns a device as it stands in lists at now.
func NewDeviceItem(v *rimewatch.DeviceView, now rimewatch.Time) DeviceItem {
	item := DeviceItem{
		ID: v.ID, Serial: v.Serial, Name: v.Name, EquipmentType: v.EquipmentType, Status: v.Status,
		Site: NewSiteRef(v.Site), LastSeenAt: v.LastSeenAt, ActiveAlerts: v.ActiveAlerts,
		Limits: v.LimitsInForce(), Judged: v.Judged(now), Labels: v.Labels,
	}
	if item.Labels == nil {
		item.Labels = Labels{}
	}
	if item.Status == "" {
		item.Status = rimewatch.Offline // never seen
	}
	if v.CurrentTempAt != 0 {
		temp := v.CurrentTemp
		item.CurrentTemp, item.CurrentTempAt = &temp, v.CurrentTempAt
	}
	return item
}

// CalibrationState is the state of a device's calibrations.
type CalibrationState struct {
	DueAt   rimewatch.Time `json:"due_at" nullable:"false" doc:"When the first of the device's calibrated probes is due."`
	Overdue bool           `json:"overdue"`
}

// DeviceOffset is a correction of one measurement from a moment on.
type DeviceOffset struct {
	Field string         `json:"field"`
	From  rimewatch.Time `json:"from" nullable:"false"`
	Add   float64        `json:"add" doc:"In the unit of the field. Readings in answers have it added already."`
}

// ClockState is the error of a device's clock.
type ClockState struct {
	OffsetS float64 `json:"offset_s" doc:"s that it is ahead, below 0 behind. A clock is behind when readings have come later than offline_after_s, each as late as the one before, for twice that time, when it stepped back amid readings that came in time, or by the least lag where none has come in time for two hours and more; it is ahead when the newest reading came a minute or more before its own time. Alerts allow for it. Readings, buckets, excursions, compliance and the temperature log keep the times that the device sent."`
	Several bool    `json:"several" doc:"Readings of this device come from two senders whose clocks differ. Alerts judge both by when their readings arrive."`
}

// NewClock is null of a clock of which nothing is known to be wrong.
func NewClock(offset rimewatch.Time, several bool) Maybe[ClockState] {
	if offset == 0 && !several {
		return Maybe[ClockState]{}
	}
	return Maybe[ClockState]{&ClockState{float64(offset) / 1000, several}}
}

// MaintenanceState is the window that a device is in.
type MaintenanceState struct {
	ID     int64          `json:"id"`
	EndsAt rimewatch.Time `json:"ends_at" nullable:"false"`
	Reason string         `json:"reason"`
}

// HealthSummary is the data of the health summary.
type HealthSummary struct {
	TotalDevices          int            `json:"total_devices"`
	OnlineDevices         int            `json:"online_devices"`
	HealthScore           float64        `json:"health_score" doc:"0–100: 0.7 × the mean of the device scores + 0.3 × the mean of their worst tenth, over the judged devices; 100 when there are none."`
	ActiveAlerts          int            `json:"active_alerts"`
	TemperatureCompliance float64        `json:"temperature_compliance" doc:"0–100: share of covered device-time in limits over the last 24 h, times shorter than the alarm delay forgiven as far as the allowance of their day goes; 100 when nothing is covered."`
	OfflineDevices        int            `json:"offline_devices"`
	CriticalAlerts        int            `json:"critical_alerts"`
	WarningAlerts         int            `json:"warning_alerts"`
	UnjudgedDevices       int            `json:"unjudged_devices" doc:"Devices that are not judged: without a limit, or without a product-zone temperature for 24 h. They have no health score."`
	DataCoverage          float64        `json:"data_coverage" doc:"0–100: share of the last 24 h for which there are readings; of younger devices, of the time since they were created or first read."`
	StrictCompliance      float64        `json:"strict_compliance" doc:"As temperature_compliance, with all times shorter than the alarm delay counted as out."`
	Conditions            Conditions     `json:"conditions" doc:"Every device once, by the worst that is known about it."`
	ComputedAt            rimewatch.Time `json:"computed_at" nullable:"false"`
	Coverage              *Coverage      `json:"coverage,omitempty" doc:"Whether somebody would be notified of a critical alert now. Not in the stream."`
	Paperwork             *Paperwork     `json:"paperwork,omitempty" doc:"Cases that wait for documentation, and checks. Not in the stream."`
}

// Paperwork counts the cases that wait for documentation by require_action of the workspace.
type Paperwork struct {
	Cases    int            `json:"cases"`
	OldestAt rimewatch.Time `json:"oldest_at" doc:"When the oldest of them began; null without one."`

	ChecksDue    int `json:"checks_due" doc:"Rounds that are to be made now."`
	ChecksMissed int `json:"checks_missed" doc:"Of the last 7 days."`
}

// Conditions are numbers of devices by the worst that is known of each.
type Conditions struct {
	Critical  int `json:"critical"`
	Warning   int `json:"warning"`
	Predicted int `json:"predicted" doc:"A fault is expected or suspected."`
	Offline   int `json:"offline"`
	Unjudged  int `json:"unjudged" doc:"Online and without an alert, but not judged."`
	OK        int `json:"ok"`
}

// SiteRef is a site as it stands in devices and alerts.
type SiteRef struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	TimeZone string `json:"timezone" doc:"IANA name."`
}

// NewSiteRef returns a site as it stands in devices and alerts.
func NewSiteRef(s *rimewatch.Site) Maybe[SiteRef] {
	if s == nil {
		return Maybe[SiteRef]{}
	}
	return Maybe[SiteRef]{&SiteRef{s.ID, s.Name, s.TimeZone}}
}

// Labels are free pairs of text.
type Labels map[string]string

// NewCalibration returns when a device is due and the offsets that correct it.
func NewCalibration(d *rimewatch.Device, now rimewatch.Time) (Maybe[CalibrationState], []DeviceOffset) {
	offsets := make([]DeviceOffset, len(d.Offsets))
	for i, o := range d.Offsets {
		offsets[i] = DeviceOffset{Field: o.Field.String(), From: o.From, Add: o.Add}
	}
	due := d.CalibrationDueAt()
	if due == 0 {
		return Maybe[CalibrationState]{}, offsets
	}
	return Maybe[CalibrationState]{Value: &CalibrationState{DueAt: due, Overdue: due < now}}, offsets
}
