package report

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
)

// Report is the temperature log of some devices over a period.
type Report struct {
	Workspace   string
	Logo        rimewatch.Logo  // of the workspace, without Data where it has none
	Site        *rimewatch.Site // nil: devices of any site
	From, To    rimewatch.Time  // [From, To)
	Zone        *time.Location
	GeneratedAt rimewatch.Time
	GeneratedBy string
	Version     string       // of the service
	Words       phrase.Words // of whoever reads the PDF; a table for programs is the same for all
	Devices     []Device
	Checks      []Check // by the beginning of their windows, with the items of Devices
	Integrity   Integrity
	// ExposureSince is from when on the short times of a day add up: days that began earlier
	// are counted without that. 0 = always.
	ExposureSince rimewatch.Time
}

// AddsUpFrom is the first local day of the period whose short times add up, 0 = all of
// its days do.
func (r *Report) AddsUpFrom() rimewatch.Time {
	day := r.ExposureSince.DayTime(0, 0, r.Zone)
	if day < r.ExposureSince {
		day = r.ExposureSince.DayTime(1, 0, r.Zone)
	}
	if r.ExposureSince == 0 || day <= r.From {
		return 0
	}
	return day
}

// FileName is the name of the report's file, without its kind, that every system
// takes: reports of several sites lie in one folder.
func (r *Report) FileName() string {
	site := ""
	if r.Site != nil {
		site = fmt.Sprintf("site-%d-", r.Site.ID)
		if name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(r.Site.Name), "-"), "-"); name != "" {
			site += name[:min(len(name), 40)] + "-"
		}
	}
	return "temperature-log-" + site + r.From.Std().In(r.Zone).Format(time.DateOnly) + "-to-" + (r.To - 1).Std().In(r.Zone).Format(time.DateOnly)
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// Integrity is the proof of the audit trail.
type Integrity struct {
	ChainOK  bool
	LastHash string // hexadecimal, of the newest entry; "" without one
}

// Device is one device's part of a report.
type Device struct {
	rimewatch.Device
	SiteName    string
	SiteAddress string
	Equipment   *rimewatch.Equipment
	Limits      rimewatch.Limits // in force when the report was made

	Totals
	Days         []Day
	Excursions   []Excursion // by From; those that last have no To
	Actions      []rimewatch.CorrectiveAction
	Maintenance  []rimewatch.MaintenanceWindow // that reach into the period, by their beginning
	Calibrations []rimewatch.Calibration       // newest first
	ClockOffset  rimewatch.Time                // how far its clock was ahead when the report was made, below 0 behind; 0 = nothing is known to be wrong with it
	// SeveralClocks: its readings came from senders whose clocks differed, when the report was made.
	SeveralClocks bool
}

// Excursion is one with what people did about it.
type Excursion struct {
	rimewatch.Excursion
	AlertID int64 // 0 = no alert was found for it
	Actions []rimewatch.CorrectiveAction
}

// DurationS is how long it lasted, or has lasted until now, in s; of short times their sum.
func (e *Excursion) DurationS(now rimewatch.Time) int64 {
	return int64(e.Lasted(now) / rimewatch.Second)
}

// Attach finds, for every excursion, the alert about it, and the corrective actions of that
// alert, of the excursion itself and of its case; all others stay with the device. cases are those of
// the excursions, by their id.
func (d *Device) Attach(list []rimewatch.Excursion, alerts []rimewatch.AlertView, actions []rimewatch.CorrectiveAction, cases map[int64]int64) {
	taken := make(map[int64]bool)
	for i := range list {
		e := Excursion{Excursion: list[i], AlertID: alertOf(&list[i], alerts)}
		for _, a := range actions {
			if e.AlertID != 0 && a.AlertID == e.AlertID || e.ID != 0 && (a.ExcursionID == e.ID || a.CaseID != 0 && a.CaseID == cases[e.ID]) {
				e.Actions = append(e.Actions, a)
				taken[a.ID] = true
			}
		}
		d.Excursions = append(d.Excursions, e)
	}
	for _, a := range actions {
		if !taken[a.ID] {
			d.Actions = append(d.Actions, a)
		}
	}
}

// alertOf finds the alert about an excursion: of its side, and active while it
// lasted.
func alertOf(e *rimewatch.Excursion, alerts []rimewatch.AlertView) int64 {
	kind := rimewatch.HighTemperature
	if e.Low {
		kind = rimewatch.LowTemperature
	}
	for i := range alerts {
		a := &alerts[i]
		began := a.ConditionStartedAt
		if began == 0 {
			began = a.TriggeredAt
		}
		if a.Type == kind && (e.To == 0 || began <= e.To) && (a.ResolvedAt == 0 || a.ResolvedAt >= e.From) {
			return a.ID
		}
	}
	return 0
}

// Overdue reports whether a calibration of the device is overdue at now.
func (d *Device) Overdue(now rimewatch.Time) bool {
	due := d.CalibrationDueAt()
	return due != 0 && due < now
}
