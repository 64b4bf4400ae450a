package records

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/report"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

const maxReportDays = 400

// waitedFor are the bounds of a log that somebody waits for: a month of 600 devices,
// or a year of 50.
var waitedFor = report.Bounds{Devices: 500, DeviceDays: 20_000}

// reportQuery is a checked request for a report.
type reportQuery struct {
	report    report.Report
	devices   []rimewatch.DeviceView
	format    string
	workspace int64
	bounds    report.Bounds
	progress  func(done int) // nil = none
}

func (a *reports) temperatureLog(c *httpapi.Call) error {
	q, err := a.reportQuery(c, waitedFor)
	if err != nil {
		return err
	}
	b, err := a.makeReport(c.R.Context(), q)
	if err != nil {
		return err
	}
	c.W.Header().Add("Vary", "Accept")
	return a.sendReport(c, q.format, q.report.FileName(), b.Bytes())
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

// makeReport makes a report and returns its text. The place for making it is free
// again before the text is sent: that may take as long as its reader likes.
func (a *reports) makeReport(ctx context.Context, q *reportQuery) (b *bytes.Buffer, err error) {
	in := report.Request{Workspace: q.workspace, Report: &q.report, Devices: q.devices, Progress: q.progress}
	err = a.Reports.Make(ctx, &in, func() (err error) {
		b, err = a.writeReport(q)
		return err
	})
	return b, err
}

func (a *reports) writeReport(q *reportQuery) (*bytes.Buffer, error) {
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

func reportFormat(c *httpapi.Call) string {
	if f := c.Query.Get("format"); f != "" {
		return f
	}
	switch httpapi.Preferred(c.R.Header.Get("Accept"), httpapi.TypeJSON, httpapi.TypePDF, httpapi.TypeCSV) {
	case httpapi.TypePDF:
		return "pdf"
	case httpapi.TypeCSV:
		return "csv"
	}
	return "json"
}

func (a *reports) reportQuery(c *httpapi.Call, bounds report.Bounds) (*reportQuery, error) {
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
		report: report.Report{Workspace: w.Name, GeneratedAt: c.Now, GeneratedBy: by, Version: a.Version(), Words: c.Words(), ExposureSince: w.ExposureSince},
	}
	zone := w.TimeZone
	if err := a.reportDevices(c, q); err != nil {
		return nil, err
	}
	if q.report.Site != nil {
		zone = q.report.Site.TimeZone
	}
	q.report.Zone = rimewatch.ZoneOf(zone)
	if err := q.settle(c); err != nil {
		return nil, err
	}
	return q, nil
}

// reportDevices finds the devices, and the site whose clock counts.
func (a *reports) reportDevices(c *httpapi.Call, q *reportQuery) error {
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
	list, _, err := a.Store.Devices(ctx, c.Workspace(), store.DeviceFilter{SiteID: site}, store.Page{Limit: q.bounds.Devices + 1})
	if err != nil {
		return err
	}
	q.devices = list
	return q.bounds.Check(len(list), 0, 0)
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
		if day, err := time.Parse(time.DateOnly, text); err == nil {
			y, m, d := day.Date()
			return max(rimewatch.DateTime(y, m, d, 0, r.Zone), rimewatch.MinTime) // 0 would mean that there is none
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
	}
	return q.bounds.Check(len(q.devices), r.From, r.To)
}

func (a *reports) routes() []httpapi.Route {
	return append(a.jobRoutes(), httpapi.Route{
		Method: http.MethodGet, Path: "/v1/reports/temperature-log", Sited: true, ID: "temperature-log", Tag: "Records", Summary: "Get a temperature log for inspectors",
		Access: httpapi.Scope(rimewatch.ScopeDevicesRead | rimewatch.ScopeReadingsRead), CSV: true, PDF: true, Also: []rimewatch.Code{rimewatch.CodeUnknownDevice},
		Description: "For each device and day of the site's time zone the lowest, mean and highest product temperature, the time out of range and the coverage; excursions with their cause and corrective actions; calibrations. " +
			"As JSON, as CSV (a row for each device, day, excursion, corrective action and calibration), or as a PDF to print and sign; of several sites the PDF has a page about all of them, a page about each, and the days of those devices alone with which something happened. At most 400 days, 500 devices, and 20,000 days of all devices together. " +
			"Calibration offsets are applied. Limits are those in force when the log is made.",
		Bind: httpapi.Raw[TemperatureLogInput, TemperatureLogData](a.temperatureLog),
	})
}
