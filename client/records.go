package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/rimewatch/rimewatch"
)

// Excursion is a time for which a product zone was out of limits for longer than
// the alarm delay.
type Excursion struct {
	ID            int64                    `json:"id"` // 0 while it lasts
	DeviceID      int64                    `json:"device_id"`
	DeviceSerial  string                   `json:"device_serial"` // "" when the device was deleted
	DeviceName    string                   `json:"device_name"`
	From          rimewatch.Time           `json:"from"`
	To            rimewatch.Time           `json:"to"` // 0 while it lasts
	DurationS     int64                    `json:"duration_s"`
	Limit         float64                  `json:"limit"` // °C
	Low           bool                     `json:"low"`
	Peak          float64                  `json:"peak"`           // °C
	DegreeMinutes float64                  `json:"degree_minutes"` // K·min
	Cause         rimewatch.ExcursionCause `json:"cause"`
	ShortTimes    int                      `json:"short_times"`   // too short for an alarm, that DurationS adds up; 0 = it is one that lasted
	FoundLateAt   rimewatch.Time           `json:"found_late_at"` // when late readings showed it, 0 = it was found as it happened
	CaseID        int64                    `json:"case_id"`       // that it is in, 0 = in none
}

// Records are the calls about records for inspectors.
type Records struct{ c *Client }

// Records returns the calls about records for inspectors.
func (c *Client) Records() Records { return Records{c} }

// Excursions lists those of a span, oldest first, those that last at the end.
// serial "" = of all devices; from and to 0 = the last 30 days.
func (x Records) Excursions(ctx context.Context, serial string, from, to rimewatch.Time) ([]Excursion, error) {
	q := url.Values{}
	setText(q, "device_serial", serial)
	setText(q, "from", from.String())
	setText(q, "to", to.String())
	return one[[]Excursion](ctx, x.c, get("/excursions", q), "excursions")
}

// CorrectiveAction is a record of work because of an alert, or on a device without one.
type CorrectiveAction struct {
	ID           int64          `json:"id"`
	AlertID      int64          `json:"alert_id"`     // 0 = about none
	ExcursionID  int64          `json:"excursion_id"` // 0 = about none
	DeviceSerial string         `json:"device_serial"`
	RecordedBy   string         `json:"recorded_by"`
	At           rimewatch.Time `json:"at"`
	Performed    rimewatch.Doer `json:"performed"` // how it is known who did it
	CorrectiveActionFields
}

// CorrectiveActionFields are the fields of a corrective action. PerformedBy, Cause and
// Action are needed. VerifiedBy is answered, never sent: people verify, signed in.
type CorrectiveActionFields struct {
	PerformedAt      rimewatch.Time        `json:"performed_at,omitempty"` // 0 = now
	PerformedBy      string                `json:"performed_by"`
	VerifiedBy       string                `json:"verified_by,omitempty"`
	Cause            string                `json:"cause"`
	Action           string                `json:"action"`
	PreventiveAction string                `json:"preventive_action,omitempty"`
	Disposition      rimewatch.Disposition `json:"disposition,omitempty"` // "" = it is not said
	Product          string                `json:"product,omitempty"`
	RepairReference  string                `json:"repair_reference,omitempty"`
}

// RecordCorrectiveAction records a corrective action for an alert.
func (x Records) RecordCorrectiveAction(ctx context.Context, alertID int64, f CorrectiveActionFields) (CorrectiveAction, error) {
	return one[CorrectiveAction](ctx, x.c, send(http.MethodPost, alertPath(alertID)+"/corrective-action", f, false), "corrective_action")
}

// WorkFields are the fields of a record of work on a device. PerformedBy
// and Action are needed.
type WorkFields struct {
	PerformedAt     rimewatch.Time `json:"performed_at,omitempty"` // 0 = now
	PerformedBy     string         `json:"performed_by"`
	Action          string         `json:"action"`
	RepairReference string         `json:"repair_reference,omitempty"`

	// About an excursion of the device that no alert is about.
	ExcursionID      int64                 `json:"excursion_id,omitempty"`
	VerifiedBy       string                `json:"verified_by,omitempty"` // another person
	Cause            string                `json:"cause,omitempty"`
	PreventiveAction string                `json:"preventive_action,omitempty"`
	Disposition      rimewatch.Disposition `json:"disposition,omitempty"`
	Product          string                `json:"product,omitempty"`
}

// RecordWork records work on a device without an alert.
func (x Records) RecordWork(ctx context.Context, serial string, f WorkFields) (CorrectiveAction, error) {
	return one[CorrectiveAction](ctx, x.c, send(http.MethodPost, devicePath(serial)+"/corrective-actions", f, false), "corrective_action")
}

// Work lists the work on a device, with and without alerts. from
// and to 0 = the last 90 days.
func (x Records) Work(ctx context.Context, serial string, from, to rimewatch.Time) ([]CorrectiveAction, error) {
	q := url.Values{}
	setText(q, "from", from.String())
	setText(q, "to", to.String())
	return one[[]CorrectiveAction](ctx, x.c, get(devicePath(serial)+"/corrective-actions", q), "corrective_actions")
}

// CorrectiveActions lists the corrective actions for an alert.
func (x Records) CorrectiveActions(ctx context.Context, alertID int64) ([]CorrectiveAction, error) {
	return one[[]CorrectiveAction](ctx, x.c, get(alertPath(alertID)+"/corrective-actions", nil), "corrective_actions")
}

// Calibration is one check of a probe against a reference.
type Calibration struct {
	ID         int64          `json:"id"`
	Passed     bool           `json:"passed"`
	RecordedBy string         `json:"recorded_by"`
	RecordedAt rimewatch.Time `json:"recorded_at"`
	CalibrationFields
}

// CalibrationFields are the fields of a calibration. Method, Reference,
// AsFound and PerformedBy are needed; other absent fields get their defaults.
type CalibrationFields struct {
	Field          string         `json:"field,omitempty"` // "" = product_zone_temp
	Method         string         `json:"method"`          // ice_point, reference_probe, certificate or other
	Reference      float64        `json:"reference"`
	AsFound        float64        `json:"as_found"`
	AsLeft         *float64       `json:"as_left,omitempty"`
	Offset         *float64       `json:"offset,omitempty"` // added to what the probe measures; nil = as before
	Uncertainty    *float64       `json:"uncertainty,omitempty"`
	PassLimit      *float64       `json:"pass_limit,omitempty"`
	ReferenceID    string         `json:"reference_id,omitempty"`
	ReferenceDueAt rimewatch.Time `json:"reference_due_at,omitempty"`
	PerformedAt    rimewatch.Time `json:"performed_at,omitempty"` // 0 = now
	PerformedBy    string         `json:"performed_by"`
	AppliedFrom    rimewatch.Time `json:"applied_from,omitempty"` // 0 = PerformedAt
	DueAt          rimewatch.Time `json:"due_at,omitempty"`       // 0 = in 12 months
	Note           string         `json:"note,omitempty"`
}

// RecordCalibration records a calibration of one of a device's probes.
func (x Records) RecordCalibration(ctx context.Context, serial string, f CalibrationFields) (Calibration, error) {
	return one[Calibration](ctx, x.c, send(http.MethodPost, devicePath(serial)+"/calibrations", f, false), "calibration")
}

// Calibrations lists those of a device, newest first.
func (x Records) Calibrations(ctx context.Context, serial string) ([]Calibration, error) {
	return one[[]Calibration](ctx, x.c, get(devicePath(serial)+"/calibrations", nil), "calibrations")
}

// The forms of a temperature log.
const (
	FormatJSON = "json"
	FormatCSV  = "csv"
	FormatPDF  = "pdf"
)

// TemperatureLogQuery selects the content of a temperature log. From and To are RFC
// 3339 times or dates, which begin at midnight of the site; "" = the last 30
// days.
type TemperatureLogQuery struct {
	SiteID       int64  // 0 = all sites
	DeviceSerial string // "" = all devices
	From, To     string
}

// TemperatureLog writes a temperature log for inspectors, in one of the forms
// FormatJSON, FormatCSV and FormatPDF, to w.
func (x Records) TemperatureLog(ctx context.Context, q TemperatureLogQuery, format string, w io.Writer) error {
	v := url.Values{}
	if q.SiteID != 0 {
		v.Set("site_id", strconv.FormatInt(q.SiteID, 10))
	}
	setText(v, "device_serial", q.DeviceSerial)
	setText(v, "from", q.From)
	setText(v, "to", q.To)
	setText(v, "format", format)
	resp, err := x.c.do(ctx, get("/reports/temperature-log", v))
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(w, resp.Body); err != nil {
		return fmt.Errorf("read the temperature log: %w", err)
	}
	return nil
}
