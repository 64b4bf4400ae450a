package rimewatch

import "slices"

// AlertType names the condition behind an alert; an open set.
type AlertType string

// The types of alerts.
const (
	HighTemperature            AlertType = "high_temperature"
	LowTemperature             AlertType = "low_temperature"
	DeviceOffline              AlertType = "device_offline"
	SensorStale                AlertType = "sensor_stale"
	SensorFault                AlertType = "sensor_fault"
	HighHumidity               AlertType = "high_humidity"
	LowVoltage                 AlertType = "low_voltage"
	HighVoltage                AlertType = "high_voltage"
	HighAmpDraw                AlertType = "high_amp_draw"
	HighDischargeTemperature   AlertType = "high_discharge_temperature"
	HighVibration              AlertType = "high_vibration"
	ShortCycling               AlertType = "short_cycling"
	PowerLoss                  AlertType = "power_loss"
	CompressorFailurePredicted AlertType = "compressor_failure_predicted"
	RefrigerantLeakSuspected   AlertType = "refrigerant_leak_suspected"
	CondenserFoulingSuspected  AlertType = "condenser_fouling_suspected"
	EvaporatorIcingSuspected   AlertType = "evaporator_icing_suspected"
	DoorOpenSuspected          AlertType = "door_open_suspected"
	SiteOffline                AlertType = "site_offline"
	HighSuctionTemperature     AlertType = "high_suction_temperature"
	LowSuctionTemperature      AlertType = "low_suction_temperature"
	LowDischargeTemperature    AlertType = "low_discharge_temperature"
	HighAmbientTemperature     AlertType = "high_ambient_temperature"
	LowAmbientTemperature      AlertType = "low_ambient_temperature"
	LowHumidity                AlertType = "low_humidity"
	LowAmpDraw                 AlertType = "low_amp_draw"
	CompressorStartFailure     AlertType = "compressor_start_failure"
	ExcessiveRunTime           AlertType = "excessive_run_time"
	SlowRecovery               AlertType = "slow_recovery"
	SlowWarming                AlertType = "slow_warming"
	NotCooling                 AlertType = "not_cooling"
	BatteryLow                 AlertType = "battery_low"
)

// AlertTypes lists the types that the service opens.
func AlertTypes() []AlertType {
	return []AlertType{
		HighTemperature, LowTemperature, DeviceOffline, SensorStale,
		SensorFault, HighHumidity, LowVoltage, HighVoltage,
		HighAmpDraw, HighDischargeTemperature, HighVibration, ShortCycling,
		PowerLoss, CompressorFailurePredicted, RefrigerantLeakSuspected, CondenserFoulingSuspected,
		EvaporatorIcingSuspected, DoorOpenSuspected, SiteOffline, HighSuctionTemperature,
		LowSuctionTemperature, LowDischargeTemperature, HighAmbientTemperature, LowAmbientTemperature,
		LowHumidity, LowAmpDraw, CompressorStartFailure, ExcessiveRunTime,
		SlowRecovery, SlowWarming, NotCooling, BatteryLow,
	}
}

// PredictiveTypes lists the types of alerts that predict a fault from the way a machine runs.
func PredictiveTypes() []AlertType {
	return []AlertType{CompressorFailurePredicted, RefrigerantLeakSuspected, CondenserFoulingSuspected, EvaporatorIcingSuspected}
}

// Predictive reports whether t is one of PredictiveTypes.
func (t AlertType) Predictive() bool { return slices.Contains(PredictiveTypes(), t) }

// Severity of an alert.
type Severity string

// An alert is a warning or critical.
const (
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// AlertStatus is active until the condition is over or a person resolves it.
type AlertStatus string

// The states of an alert.
const (
	AlertActive   AlertStatus = "active"
	AlertResolved AlertStatus = "resolved"
)

// Resolution is how an alert ended.
type Resolution string

// How an alert can end.
const (
	ResolvedAuto       Resolution = "auto"
	ResolvedManual     Resolution = "manual"
	ResolvedSuperseded Resolution = "superseded" // nothing has recovered: its device was deleted, or is judged otherwise
)

// Superseded is the other judgement by which an alert ended although nothing has
// recovered; "" is none.
type Superseded string

// The judgements that supersede an alert.
const (
	SupersededLimits   Superseded = "limits"     // other limits, or those of another type, are not passed
	SupersededUnjudged Superseded = "not_judged" // nothing judges it any more
)

// Ending is why an alert ended, for programs; an open set, "" while it is active and where
// it ended before this was noted.
type Ending string

// The reasons for an end.
const (
	EndedInRange     Ending = "in_range"        // the value is back within its limit
	EndedAsUsual     Ending = "as_usual"        // it is what is usual for the unit
	EndedCools       Ending = "cools"           // of NotCooling: twice down to where the unit usually stops
	EndedElsewhere   Ending = "cools_elsewhere" // of NotCooling: its thermostat cycles at another level
	EndedRuns        Ending = "runs"            // the compressor has started and run
	EndedReports     Ending = "reports"         // the device reports, or what was missing is measured
	EndedCharged     Ending = "charged"         // the battery was charged or changed
	EndedSensorWorks Ending = "sensor_works"    // the sensor sends plausible values
	EndedUnconfirmed Ending = "not_confirmed"   // of a prediction by single events: nothing has confirmed it
	EndedOtherFault  Ending = "another_fault"   // of a prediction: another fault fits better
	EndedSensor      Ending = "sensor"          // of a prediction: what departed was a sensor's
	EndedAmbient     Ending = "ambient_sensor"  // of a prediction: all was compared with a wrong ambient
	EndedVaries      Ending = "load_varies"     // of a prediction: the compressor varies its load
	EndedRelearning  Ending = "relearning"      // what is usual for the unit is learned again
	EndedLimits      Ending = "limits_changed"  // other limits are not passed
	EndedUnjudged    Ending = "not_judged"      // nothing judges it any more
	EndedByPerson    Ending = "person"          // a person resolved it
	EndedRemoved     Ending = "device_removed"  // its device, or all of its site's, were deleted
)

// EndedBecause is why the alert ended.
func (a *Alert) EndedBecause() Ending {
	switch {
	case a.Status != AlertResolved:
		return ""
	case a.Resolution == ResolvedManual:
		return EndedByPerson
	case a.Relearning != "":
		return EndedRelearning
	case a.Superseded == SupersededLimits:
		return EndedLimits
	case a.Superseded == SupersededUnjudged:
		return EndedUnjudged
	case a.Ending == "" && a.Resolution == ResolvedSuperseded && a.Prediction != nil:
		return EndedOtherFault
	case a.Ending == "" && a.Resolution == ResolvedSuperseded:
		return EndedRemoved
	default:
		return a.Ending
	}
}

// Unmet is why a unit does not get colder although it ought to; an open set.
type Unmet string

// The causes of NotCooling.
const (
	UnmetNoCurrent   Unmet = "no_current"   // its compressor draws no current
	UnmetLockedRotor Unmet = "locked_rotor" // it tries to start, and does not run
	UnmetNoRun       Unmet = "no_run"       // it does not run, by another sign than its current
	UnmetNoEffect    Unmet = "no_effect"    // it runs, and the zone does not get colder
	UnmetNotFalling  Unmet = "not_falling"  // the zone does not get colder; nothing shows what the compressor does
	UnmetBegun       Unmet = "begun"        // it has run since, or the zone has become colder, but has not come down to where it usually stops
)

// Relearning is the reason for learning a unit's normal behaviour again.
type Relearning string

// The reasons for learning again; "" is none.
const (
	RelearnMaintenance Relearning = "maintenance" // a maintenance window has ended
	RelearnFixed       Relearning = "fixed"       // somebody reported that a predicted fault was repaired
	RelearnFalseAlarm  Relearning = "false_alarm" // somebody reported that a prediction was wrong
	RelearnNormal      Relearning = "normal"      // somebody said that what the unit does is normal now
	RelearnSilence     Relearning = "silence"     // nothing was heard of the unit for two weeks
)

// Alert is one condition of one device from its opening to its end. There is at
// most one active alert per device, type and part; its severity rises and falls on
// the same id. Stores keep its JSON, and columns for the members that they search by.
type Alert struct {
	ID                 int64       `json:"-"`
	WorkspaceID        int64       `json:"-"`
	DeviceID           int64       `json:"-"` // 0 for an alert of a site
	SiteID             int64       `json:"-"` // the site of a SiteOffline alert, otherwise 0
	Status             AlertStatus `json:"-"`
	Severity           Severity    `json:"-"`
	Type               AlertType   `json:"-"`
	Part               string      `json:"-"`                    // of SensorFault and SensorStale, the measurement that it is about; "" where it is about several, and of other types
	Metric             string      `json:"metric,omitempty"`     // field name or derived measure, "" when none
	Value              *float64    `json:"value,omitempty"`      // newest value of Metric
	PeakValue          *float64    `json:"peak_value,omitempty"` // worst value of Metric since the condition started
	Threshold          *float64    `json:"threshold,omitempty"`  // the limit that was passed
	Unit               string      `json:"unit,omitempty"`
	ConditionStartedAt Time        `json:"condition_started_at,omitempty"` // event time at which the condition began
	TriggeredAt        Time        `json:"-"`                              // when the alert opened
	LastEvaluatedAt    Time        `json:"last_evaluated_at,omitempty"`
	AcknowledgedAt     Time        `json:"-"`
	AcknowledgedBy     string      `json:"acknowledged_by,omitempty"`
	AckExpiresAt       Time        `json:"ack_expires_at,omitempty"`
	ResolvedAt         Time        `json:"-"`
	ResolvedBy         string      `json:"resolved_by,omitempty"`
	Resolution         Resolution  `json:"resolution,omitempty"` // "" while active
	Note               string      `json:"note,omitempty"`
	Occurrences        int         `json:"occurrences,omitempty"` // how often the condition came back on this alert
	Flapping           bool        `json:"flapping,omitempty"`
	OutOf              int         `json:"out_of,omitempty"`        // of SiteOffline: the devices that Value is a part of
	Alike              int         `json:"alike,omitempty"`         // of SlowWarming: units of the site that warm up at the same time, 0 = it alone
	Usual              *float64    `json:"usual,omitempty"`         // of a product temperature whose limit does not fit its unit: what that usually shows, nil = it fits
	HoldH              *float64    `json:"hold_h,omitempty"`        // of PowerLoss: h until the zone leaves its range, 0 when it has, nil = not known
	Superseded         Superseded  `json:"superseded,omitempty"`    // of a superseded one: by which other judgement
	Relearning         Relearning  `json:"relearning,omitempty"`    // of a superseded one: why what is normal for its unit is learned again
	Ending             Ending      `json:"ending,omitempty"`        // why it ended, where nothing above says so
	BackSince          Time        `json:"back_since,omitempty"`    // of a product temperature whose alert has ended in range: since when it was back
	Unmet              Unmet       `json:"unmet,omitempty"`         // of NotCooling: why
	SuppressedBy       int64       `json:"suppressed_by,omitempty"` // id of the alert that explains this one, 0 = none
	ReplacedBy         int64       `json:"replaced_by,omitempty"`   // of a prediction that another one fits better than: id of that one's alert
	Prediction         *Prediction `json:"prediction,omitempty"`
	Feedback           *Feedback   `json:"feedback,omitempty"` // what a person said of the prediction, nil when nobody has
}

// Prediction is the basis of a predictive alert.
type Prediction struct {
	Fault             string     `json:"fault"`
	Risk              float64    `json:"risk"`      // 0–1 within the horizon
	HorizonH          float64    `json:"horizon_h"` // h
	FailureExpectedAt Time       `json:"failure_expected_at"`
	LeadTimeH         *float64   `json:"lead_time_h"`           // h, nil when the trend supports none
	LeadLowH          *float64   `json:"lead_low_h,omitempty"`  // h, the interval of LeadTimeH
	LeadHighH         *float64   `json:"lead_high_h,omitempty"` // h, nil when it is open
	ByEvent           bool       `json:"by_event,omitempty"`    // rests on events alone, which no window has confirmed yet
	RunnerUp          string     `json:"runner_up"`             // fault that fits next best, "" when none does
	Evidence          []Evidence `json:"evidence"`
	RecommendedAction string     `json:"recommended_action"`   // filled in when it is read
	WhatWouldChangeIt string     `json:"what_would_change_it"` // what would end or turn the prediction; filled in when it is read
	Model             string     `json:"model"`
}

// Evidence is one observation that supports a prediction.
type Evidence struct {
	Metric   string   `json:"metric"`
	Observed float64  `json:"observed"`
	Expected float64  `json:"expected"`
	Unit     string   `json:"unit"`
	Since    Time     `json:"since"`             // when the departure began
	Cycles   int      `json:"cycles"`            // about how many compressor cycles ago that was
	Ambient  *float64 `json:"ambient,omitempty"` // °C, for which Expected holds
	Current  *float64 `json:"current,omitempty"` // of FailedStartsPerDay in A, of RunsWithoutResult in % against steady running
	OutOf    int      `json:"out_of,omitempty"`  // of EvidenceCommonMode: the devices that Observed is a part of
	Text     string   `json:"text"`              // filled in when it is read
}

// Subjects of evidence that are no measures.
const (
	EvidenceLasts        = "lasts"        // for so long that a person is asked
	EvidenceAlternatives = "alternatives" // faults that look the same
	EvidenceRunnerUp     = "runner_up"
	EvidenceTrend        = "trend"
	EvidenceCommonMode   = "common_mode" // other devices of the site depart in the same way
)

// Verdict is a person's judgement of a prediction.
type Verdict string

// The verdicts. All but the first end the alert and have the unit learnt from scratch.
const (
	Useful     Verdict = "useful"      // it was right, or worth a look
	FalseAlarm Verdict = "false_alarm" // nothing is wrong
	Fixed      Verdict = "fixed"       // it was right and has been repaired
	NormalNow  Verdict = "normal"      // it is not as it was, and that is how it ought to be
)

// Verdicts lists all of them in the order in which they are counted.
var Verdicts = [...]Verdict{Useful, FalseAlarm, Fixed, NormalNow}

// Takes reports whether a verdict can be given on an alert: any on a prediction, and on one of a unit that does
// not cool as usual that this is normal now.
func (a *Alert) Takes(v Verdict) bool {
	return a.Prediction != nil || v == NormalNow && a.Type == NotCooling && a.Status == AlertActive
}

// Feedback is a person's verdict on a prediction.
type Feedback struct {
	Verdict Verdict `json:"verdict" enum:"useful,false_alarm,fixed,normal"`
	Note    string  `json:"note"`
	By      string  `json:"by"`
	At      Time    `json:"at"`
}

// AlertView is an alert with the names, type and site of its device.
type AlertView struct {
	Alert
	DeviceSerial  string
	DeviceName    string
	EquipmentType string
	Site          *Site
}

// TransitionKind is the kind of a change of an alert.
type TransitionKind string

// The kinds of transitions.
const (
	TransitionOpened       TransitionKind = "opened"
	TransitionEscalated    TransitionKind = "escalated"   // warning to critical
	TransitionDeescalated  TransitionKind = "deescalated" // critical to warning
	TransitionAcknowledged TransitionKind = "acknowledged"
	TransitionAckExpired   TransitionKind = "acknowledgement_expired"
	TransitionNoted        TransitionKind = "noted"      // a person wrote a note
	TransitionSuppressed   TransitionKind = "suppressed" // another alert explains it
	TransitionReleased     TransitionKind = "released"   // that one is over, this one is not
	TransitionFeedback     TransitionKind = "feedback"
	TransitionCorrective   TransitionKind = "corrective_action"
	TransitionResolved     TransitionKind = "resolved"
	TransitionUpdated      TransitionKind = "updated" // a prediction's evidence changed
	TransitionMoved        TransitionKind = "moved"   // its device stands at another site, or is of another type
)

// AlertTransition is one line of an alert's timeline. It is written in the
// transaction that changes the alert, and never changed: notifications are
// planned from it.
type AlertTransition struct {
	ID          int64
	WorkspaceID int64
	AlertID     int64
	Kind        TransitionKind
	At          Time
	Severity    Severity // after it
	Actor       string   // a person or token; "" = the service
	Note        string
	Facts       *Alert // the alert at that moment, whose sentences are made from it
	From        *Place // of TransitionMoved: the device's place before it
}

// Place is a device's site and equipment type: silences, maintenance windows and
// routes match by it.
type Place struct {
	SiteID        int64  `json:"site_id,omitempty"`        // 0 = none
	EquipmentType string `json:"equipment_type,omitempty"` // "" = as after the change
}
