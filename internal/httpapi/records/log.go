package records

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/report"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

const (
	maxReportDays = 400
	reportsAtOnce = 2
)

// reportBounds are how much one report may hold.
type reportBounds struct {
	devices    int
	deviceDays int64
}

// A log that somebody waits for is a month of 600 devices, or a year of 50; one
// that is made in the background a month of 6,000.
var (
	waitedFor  = reportBounds{devices: 500, deviceDays: 20_000}
	background = reportBounds{devices: 10_000, deviceDays: 200_000}
)

// reportQuery is a checked request for a report.
type reportQuery struct {
	report    report.Report
	devices   []rimewatch.DeviceView
	format    string
	workspace int64
	bounds    reportBounds
	progress  func(done, total int) // nil = nobody looks
}

func (a *api) temperatureLog(c *httpapi.Call) error {
	q, err := a.reportQuery(c, waitedFor)
	if err != nil {
		return err
	}
	b, err := a.makeReport(c.R.Context(), q)
	if err != nil {
		return err
	}
	c.W.Header().Add("Vary", "Accept")
	return a.sendReport(c, q.format, reportName(&q.report), b.Bytes())
}

// sendReport sends the text of a report as the file that it is.
func (a *api) sendReport(c *httpapi.Call, format, name string, text []byte) error {
	switch format {
	case "pdf":
		c.Header("Content-Type", httpapi.TypePDF)
		c.Header("Content-Disposition", `inline; filename="`+name+`.pdf"`)
	case "csv":
		c.Header("Content-Type", httpapi.TypeCSV)
		c.Header("Content-Disposition", `attachment; filename="`+name+`.csv"`)
	default:
		c.Header("Content-Type", httpapi.TypeJSON)
	}
	for piece := range slices.Chunk(text, httpapi.StreamChunk) {
		if err := c.Stream(piece); err != nil {
			return a.BrokenStream(c, err)
		}
	}
	return nil
}

// makeReport waits for a place, makes a report and returns its text. The place is
// free again before the text is sent: that may take as long as its reader likes.
func (a *api) makeReport(ctx context.Context, q *reportQuery) (*bytes.Buffer, error) {
	// One workspace makes one at a time, so that it leaves places to others.
	mine, _ := a.reportOf.LoadOrStore(q.workspace, make(chan struct{}, 1))
	for _, places := range []chan struct{}{mine.(chan struct{}), a.reports} {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		case <-ctx.Done():
			return nil, rimewatch.Wrap(rimewatch.CodeUnavailable, ctx.Err(), "The request was cancelled.")
		}
	}
	if err := a.fillReport(ctx, q); err != nil {
		return nil, err
	}
	return a.writeReport(q)
}

func (a *api) fillReport(ctx context.Context, q *reportQuery) error {
	r := &q.report
	if err := a.reportIntegrity(ctx, q); err != nil {
		return err
	}
	r.Devices = make([]report.Device, len(q.devices))
	for i := range q.devices {
		if q.progress != nil {
			q.progress(i, len(q.devices))
		}
		if err := a.reportDevice(ctx, q, &q.devices[i], &r.Devices[i]); err != nil {
			return err
		}
	}
	return nil
}

func (a *api) writeReport(q *reportQuery) (*bytes.Buffer, error) {
	r := &q.report
	var b bytes.Buffer
	var err error
	switch q.format {
	case "pdf":
		err = r.PDF(&b)
	case "csv":
		err = r.CSV(&b)
	default:
		b.WriteString(`{"success":true,"data":{"report":`)
		var body []byte
		body, err = wire.AppendJSON(nil, a.reportJSON(q))
		b.Write(body)
		b.WriteString("}}\n")
	}
	if err != nil {
		return nil, fmt.Errorf("write the report: %w", err)
	}
	return &b, nil
}

// reportName is a file name that every system takes.
func reportName(r *report.Report) string {
	return "temperature-log-" + r.From.Std().In(r.Zone).Format(time.DateOnly) + "-to-" + (r.To - 1).Std().In(r.Zone).Format(time.DateOnly)
}

func reportFormat(c *httpapi.Call) string {
	if f := c.Query.Get("format"); f != "" {
		return f
	}
	for part := range strings.SplitSeq(c.R.Header.Get("Accept"), ",") {
		kind, _, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case httpapi.TypePDF:
			return "pdf"
		case httpapi.TypeCSV:
			return "csv"
		case httpapi.TypeJSON, "*/*":
			return "json"
		}
	}
	return "json"
}

func (a *api) reportQuery(c *httpapi.Call, bounds reportBounds) (*reportQuery, error) {
	ctx := c.R.Context()
	w, err := a.Auth().Workspace(ctx, c.Principal)
	if err != nil {
		return nil, err
	}
	by, err := a.Actor(ctx, c.Principal)
	if err != nil {
		return nil, err
	}
	q := &reportQuery{
		format: reportFormat(c), workspace: c.Workspace(), bounds: bounds,
		report: report.Report{Workspace: w.Name, GeneratedAt: c.Now, GeneratedBy: by, Version: a.Version(), Words: c.Words()},
	}
	zone := w.TimeZone
	if err := a.reportDevices(c, q); err != nil {
		return nil, err
	}
	if q.report.Site != nil {
		zone = q.report.Site.TimeZone
	}
	if q.report.Zone, err = time.LoadLocation(zone); err != nil {
		q.report.Zone = time.UTC
	}
	if err := q.settle(c); err != nil {
		return nil, err
	}
	return q, nil
}

// reportDevices finds the devices, and the site whose clock counts.
func (a *api) reportDevices(c *httpapi.Call, q *reportQuery) error {
	ctx := c.R.Context()
	site := c.Number("site_id", 0, wire.MaxCount)
	if site != 0 {
		s, err := c.Site(a.Sites, site)
		if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
			return rimewatch.Invalid("site_id", "is not known")
		}
		if err != nil {
			return err
		}
		q.report.Site = &s
	}
	if serial := c.Query.Get("device_serial"); serial != "" {
		v, err := a.Store.Device(ctx, c.Workspace(), serial)
		if rimewatch.CodeOf(err) == rimewatch.CodeDeviceNotFound || (err == nil && site != 0 && v.SiteID != site) {
			return rimewatch.Errorf(rimewatch.CodeUnknownDevice, "There is no such device.").With("device_serial", "is not known")
		}
		q.devices = []rimewatch.DeviceView{v}
		if v.Site != nil {
			q.report.Site = v.Site
		}
		return err
	}
	list, _, err := a.Store.Devices(ctx, c.Workspace(), store.DeviceFilter{SiteID: site}, store.Page{Limit: q.bounds.devices + 1})
	if len(list) > q.bounds.devices {
		return rimewatch.Invalid("site_id", "a log has at most %d devices, choose a site or a device", q.bounds.devices)
	}
	q.devices = list
	return err
}

// settle reads the period.
func (q *reportQuery) settle(c *httpapi.Call) error {
	r := &q.report
	var f wire.FieldErrors
	read := func(name string) rimewatch.Time {
		text := c.Query.Get(name)
		if text == "" {
			return 0
		}
		if day, err := time.ParseInLocation(time.DateOnly, text, r.Zone); err == nil {
			return max(rimewatch.TimeOf(day), rimewatch.MinTime) // 0 would mean that there is none
		}
		t, err := rimewatch.ParseTime(text)
		if err != nil {
			f.Add(name, "must be an RFC 3339 time or a date such as 2026-11-20")
		}
		return t
	}
	r.From, r.To = read("from"), read("to")
	if f.Err != nil {
		return f.Err
	}
	if r.To == 0 {
		r.To = max(c.Now, r.From)
	}
	if r.From == 0 {
		r.From = max(rimewatch.TimeOf(r.To.Std().In(r.Zone).AddDate(0, 0, -30)), rimewatch.MinTime)
	}
	days := int64((r.To - r.From) / rimewatch.Day)
	switch {
	case r.From >= r.To:
		return rimewatch.Invalid("from", "must be before to")
	case r.From < rimewatch.MinTime || r.To > rimewatch.MaxTime:
		return rimewatch.Invalid("from", "must be between the years 1970 and 9999")
	case days > maxReportDays:
		return rimewatch.Invalid("from", "a log covers at most %d days", maxReportDays)
	case days*int64(len(q.devices)) > q.bounds.deviceDays:
		return rimewatch.Invalid("from", "a log covers at most %d days of all its devices together, choose a shorter period or fewer devices", q.bounds.deviceDays)
	}
	return nil
}

func (a *api) reportIntegrity(ctx context.Context, q *reportQuery) error {
	r := &q.report
	broken, err := a.Store.VerifyAudit(ctx, q.workspace)
	if err != nil {
		return err
	}
	r.Integrity.ChainOK = broken == 0
	last, _, err := a.Store.AuditEntries(ctx, q.workspace, "", "", store.Page{Limit: 1})
	if err == nil && len(last) > 0 {
		r.Integrity.LastHash = hex.EncodeToString(last[0].Hash[:])
	}
	return err
}

// reportDevice gathers what is known of one device.
func (a *api) reportDevice(ctx context.Context, q *reportQuery, v *rimewatch.DeviceView, d *report.Device) error {
	r := &q.report
	d.Device, d.Limits = v.Device, v.LimitsInForce()
	d.Equipment, _ = rimewatch.EquipmentBySlug(v.EquipmentType)
	if v.Site != nil {
		d.SiteName = v.Site.Name
	}
	log, err := a.readLog(ctx, r, d)
	if err != nil {
		return err
	}
	d.Days, d.Totals = log.Finish(v.CreatedAt)
	excursions, err := a.excursions(ctx, q.workspace, v.ID, r.From, r.To)
	if err != nil {
		return err
	}
	alerts, err := a.reportAlerts(ctx, q.workspace, excursions)
	if err != nil {
		return err
	}
	// What is done about a period is often done after it.
	actions, err := a.Store.CorrectiveActions(ctx, q.workspace, 0, v.ID, r.From, rimewatch.MaxTime)
	if err != nil {
		return err
	}
	d.Attach(excursions, alerts, actions)
	d.Actions = slices.DeleteFunc(d.Actions, func(x rimewatch.CorrectiveAction) bool { return x.PerformedAt >= r.To })
	if d.Calibrations, err = a.Store.Calibrations(ctx, q.workspace, v.ID); err != nil {
		return err
	}
	d.Calibrations = slices.DeleteFunc(d.Calibrations, func(x rimewatch.Calibration) bool { return x.PerformedAt >= r.To })
	return nil
}

// reportAlerts returns the temperature alerts of the device of excursions that can
// be about them: of before the first, which may have begun earlier, to after the
// last.
func (a *api) reportAlerts(ctx context.Context, workspaceID int64, list []rimewatch.Excursion) ([]rimewatch.AlertView, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var out []rimewatch.AlertView
	since := list[0].From - 7*rimewatch.Day
	for _, kind := range []rimewatch.AlertType{rimewatch.HighTemperature, rimewatch.LowTemperature} {
		f := store.AlertFilter{Type: kind, DeviceID: list[0].DeviceID, Since: max(since, rimewatch.MinTime)}
		alerts, _, err := a.Store.Alerts(ctx, workspaceID, f, store.AlertPage{Limit: maxExcursions})
		if err != nil {
			return nil, err
		}
		out = append(out, alerts...)
	}
	return out, nil
}

// readLog sums up the readings of the period; where they have expired, the
// hours that were kept.
func (a *api) readLog(ctx context.Context, r *report.Report, d *report.Device) (*report.Log, error) {
	log := report.NewLog(r.Zone, r.From, r.To, r.GeneratedAt, d.Limits)
	history := store.Corrected{History: a.Store, Offsets: d.Offsets}
	first := r.To // the first reading that is left
	q := store.HistoryQuery{DeviceID: d.ID, From: r.From, To: r.To, Limit: 1}
	if err := history.Readings(ctx, q, func(x *rimewatch.Reading) error { first = x.At; return nil }); err != nil {
		return nil, err
	}
	if first-r.From >= rimewatch.Hour {
		hours, err := history.Buckets(ctx, store.BucketQuery{
			DeviceID: d.ID, From: r.From, To: first, Step: rimewatch.Hour, Fields: rimewatch.Fields(0).With(rimewatch.ProductZoneTemp),
		})
		if err != nil {
			return nil, err
		}
		for i := range hours {
			if g := hours[i].Aggregate(rimewatch.ProductZoneTemp); g.Count > 0 {
				log.AddHour(hours[i].At, g.Count, g.Min, g.Mean(), g.Max)
			}
		}
	}
	q.Limit, q.From = 0, max(r.From-report.WarmUp, rimewatch.MinTime)
	return log, history.Readings(ctx, q, func(x *rimewatch.Reading) error { log.Add(x); return nil })
}

func (a *api) correctiveActionsJSON(list []rimewatch.CorrectiveAction) []CorrectiveAction {
	out := make([]CorrectiveAction, len(list))
	for i := range list {
		out[i] = a.correctiveActionJSON(&list[i])
	}
	return out
}

func (a *api) reportRoutes() []httpapi.Route {
	return append(a.reportJobRoutes(), httpapi.Route{
		Method: http.MethodGet, Path: "/v1/reports/temperature-log", Sited: true, ID: "temperature-log", Tag: "Records", Summary: "Get a temperature log for inspectors",
		Access: httpapi.Scope(rimewatch.ScopeDevicesRead | rimewatch.ScopeReadingsRead), CSV: true, PDF: true, Also: []rimewatch.Code{rimewatch.CodeUnknownDevice},
		Description: "For each device and day of the site's time zone the lowest, mean and highest product temperature, the time out of range and the coverage; excursions with their cause and corrective actions; calibrations. " +
			"As JSON, as CSV (a row for each device, day, excursion, corrective action and calibration), or as a PDF to print and sign. At most 400 days, 500 devices, and 20,000 days of all devices together. " +
			"Calibration offsets are applied. Limits are those in force when the log is made.",
		Bind: httpapi.Raw[TemperatureLogInput, TemperatureLogData](a.temperatureLog),
	})
}
