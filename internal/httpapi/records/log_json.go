package records

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/report"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// TemperatureLogInput are the parameters of a temperature log.
type TemperatureLogInput struct {
	SiteID       int64  `query:"site_id" minimum:"1" doc:"Devices of this site. Default: of all sites."`
	DeviceSerial string `query:"device_serial" maxLength:"64" doc:"Only this device."`
	From         string `query:"from" maxLength:"40" doc:"Start, included: an RFC 3339 time, or a date, which begins at midnight of the log's time zone. Default: 30 days before to."`
	To           string `query:"to" maxLength:"40" doc:"End, not included, in the same forms. Default: now."`
	Format       string `query:"format" enum:"json,csv,pdf" doc:"Default: by the Accept header, otherwise json."`
}

// TemperatureLogData is the data of the answer with a temperature log.
type TemperatureLogData struct {
	Report TemperatureLog `json:"report"`
}

// TemperatureLog are the measurements of devices over a period, for inspectors.
type TemperatureLog struct {
	Workspace   string                   `json:"workspace"`
	Site        wire.Maybe[wire.SiteRef] `json:"site" doc:"null when devices of any site were asked for."`
	Period      ReportPeriod             `json:"period"`
	GeneratedAt rimewatch.Time           `json:"generated_at" nullable:"false"`
	Version     string                   `json:"version" doc:"Of the service."`
	Devices     []ReportedDevice         `json:"devices"`
	Integrity   ReportIntegrity          `json:"integrity"`
	// ShortTimesSince is report.Report.AddsUpFrom.
	ShortTimesSince rimewatch.Time `json:"short_times_since" doc:"The first day of the period whose short times out of range add up to an excursion; earlier days are counted without that rule. null when it holds for the whole period."`
}

// ReportPeriod is [from, to).
type ReportPeriod struct {
	From     rimewatch.Time `json:"from" nullable:"false"`
	To       rimewatch.Time `json:"to" nullable:"false"`
	TimeZone string         `json:"timezone" doc:"Whose days are counted: the site's, or the workspace's without one."`
}

// ReportIntegrity is the proof of the audit trail.
type ReportIntegrity struct {
	AuditChainOK bool   `json:"audit_chain_ok"`
	LastHash     string `json:"last_hash" doc:"Of the newest entry, in hexadecimal; empty without one."`
}

// ReportedDevice is one device's part of a temperature log.
type ReportedDevice struct {
	Serial        string                   `json:"serial"`
	Name          string                   `json:"name"`
	EquipmentType string                   `json:"equipment_type"`
	Site          wire.Maybe[wire.SiteRef] `json:"site"`
	Limits        rimewatch.Limits         `json:"limits" doc:"In force when the log was created."`
	report.Totals
	Exposure          wire.Maybe[wire.Exposure]         `json:"exposure" doc:"Minutes out of range in the last 24 h of the period, or in all of a shorter one; maintenance included. null without limits, and where hourly aggregates are not sufficient."`
	Clock             wire.Maybe[wire.ClockState]       `json:"clock" doc:"When the log was created; null while nothing is known to be wrong with the device's clock. The log keeps the times that the device sent."`
	Days              []report.Day                      `json:"days"`
	Excursions        []ReportedExcursion               `json:"excursions"`
	CorrectiveActions []CorrectiveAction                `json:"corrective_actions" doc:"Those that belong to no excursion of the period."`
	Maintenance       []ReportedMaintenance             `json:"maintenance" doc:"Maintenance windows of the device that reach into the period. Time in them counts in the figures above; it makes no excursions and does not count towards compliance."`
	Calibration       wire.Maybe[wire.CalibrationState] `json:"calibration" doc:"null when no probe was ever calibrated."`
	Calibrations      []Calibration                     `json:"calibrations" doc:"Performed before the end of the period, newest first."`
}

// ReportedMaintenance is a maintenance window.
type ReportedMaintenance struct {
	StartsAt  rimewatch.Time `json:"starts_at" nullable:"false"`
	EndsAt    rimewatch.Time `json:"ends_at" nullable:"false"`
	Reason    string         `json:"reason"`
	CreatedBy string         `json:"created_by"`
}

// ReportedExcursion is an excursion with its corrective actions.
type ReportedExcursion struct {
	From              rimewatch.Time           `json:"from" nullable:"false"`
	To                rimewatch.Time           `json:"to" doc:"null while it lasts."`
	Limit             float64                  `json:"limit" doc:"°C"`
	Low               bool                     `json:"low"`
	Peak              float64                  `json:"peak" doc:"°C"`
	DurationS         int64                    `json:"duration_s"`
	DegreeMinutes     float64                  `json:"degree_minutes"`
	Cause             rimewatch.ExcursionCause `json:"cause" enum:"defrost,door,loading,fault,power,sensor,unknown"`
	ShortTimes        int                      `json:"short_times" doc:"Times shorter than the alarm delay that are together an excursion of their day; duration_s is their sum. 0 for one that lasted."`
	FoundLateAt       rimewatch.Time           `json:"found_late_at" doc:"When readings that came after newer ones, or a calibration, showed it, or changed it; null if it was found as it happened."`
	AlertID           *int64                   `json:"alert_id"`
	CorrectiveActions []CorrectiveAction       `json:"corrective_actions"`
}

func (a *reports) reportJSON(q *reportQuery) TemperatureLog {
	r := &q.report
	out := TemperatureLog{
		Workspace: r.Workspace, Site: wire.NewSiteRef(r.Site), Period: ReportPeriod{r.From, r.To, r.Zone.String()}, GeneratedAt: r.GeneratedAt, Version: r.Version,
		Devices: make([]ReportedDevice, len(r.Devices)), Integrity: ReportIntegrity{r.Integrity.ChainOK, r.Integrity.LastHash}, ShortTimesSince: r.AddsUpFrom(),
	}
	for i := range r.Devices {
		out.Devices[i] = a.reportedDevice(&r.Devices[i], q.devices[i].Site, r.GeneratedAt)
	}
	return out
}

func (a *reports) reportedDevice(d *report.Device, site *rimewatch.Site, now rimewatch.Time) ReportedDevice {
	out := ReportedDevice{
		Serial: d.Serial, Name: d.Name, EquipmentType: d.EquipmentType, Site: wire.NewSiteRef(site), Limits: d.Limits, Totals: d.Totals, Clock: wire.NewClock(d.ClockOffset, d.SeveralClocks),
		Days: append([]report.Day{}, d.Days...), Excursions: make([]ReportedExcursion, len(d.Excursions)),
		CorrectiveActions: a.correctiveActionsJSON(d.Actions), Maintenance: make([]ReportedMaintenance, len(d.Maintenance)), Calibrations: make([]Calibration, len(d.Calibrations)),
	}
	if d.Equipment.Category != rimewatch.CategoryMedical {
		out.Kinetic = nil
	}
	if d.Warm != nil {
		out.Exposure = wire.NewExposure(*d.Warm, d.Cold, &d.Limits)
	}
	out.Calibration, _ = wire.NewCalibration(&d.Device, now)
	for i := range d.Excursions {
		e := &d.Excursions[i]
		x := a.excursionJSON(&e.Excursion, now)
		out.Excursions[i] = ReportedExcursion{
			x.From, x.To, x.Limit, x.Low, x.Peak, x.DurationS, x.DegreeMinutes, x.Cause, x.ShortTimes, x.FoundLateAt, wire.OrNull(e.AlertID), a.correctiveActionsJSON(e.Actions),
		}
	}
	for i := range d.Maintenance {
		w := &d.Maintenance[i]
		out.Maintenance[i] = ReportedMaintenance{w.StartsAt, w.EndsAt, w.Reason, w.CreatedBy}
	}
	for i := range d.Calibrations {
		out.Calibrations[i] = calibrationJSON(&d.Calibrations[i])
	}
	return out
}
