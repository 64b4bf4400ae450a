// Package gather reads from the store what a report is made of. It bounds how many
// are made at once: each reads a lot, and alerts must not wait for it.
package gather

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/report"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Store is what reports are made of.
type Store interface {
	store.Alerts
	store.Fleet
	store.History
	Records() store.Records
	Audit() store.Audit
	Outbox() store.Outbox
	Routing() store.Routing
	Workspace(ctx context.Context, id int64) (rimewatch.Workspace, error)
	Logo(ctx context.Context, workspaceID int64) (rimewatch.Logo, error)
	Sites() store.Resource[rimewatch.Site]
}

// Health knows what is judged right now.
type Health interface {
	// OpenExcursions returns the excursions that last: of one device, or of all (0).
	OpenExcursions(workspaceID, deviceID int64) []rimewatch.Excursion
	// DeviceClock returns how far the device's clock runs behind, 0 = nothing is known of that,
	// and whether its readings come from senders whose clocks differ.
	DeviceClock(deviceID int64) (behind rimewatch.Time, several bool)
}

const atOnce = 2 // reports in the making

// Config of a Gatherer: everything is needed.
type Config struct {
	Store   Store
	Health  Health
	Now     func() rimewatch.Time
	Version string // of the service
}

// Gatherer makes reports.
type Gatherer struct {
	cfg     Config
	store   Store
	places  chan struct{} // holds one for each report in the making
	placeOf sync.Map      // the same of each workspace, chan struct{} by id
}

// New makes a gatherer.
func New(cfg Config) *Gatherer {
	return &Gatherer{cfg: cfg, store: cfg.Store, places: make(chan struct{}, atOnce)}
}

// Make waits for a place, fills a report, calls write with it, and frees the place.
func (g *Gatherer) Make(ctx context.Context, q *report.Request, write func() error) error {
	leave, err := g.enter(ctx, q.Workspace)
	if err != nil {
		return err
	}
	defer leave()
	if err := g.fill(ctx, q); err != nil {
		return err
	}
	return write()
}

// enter waits for a place, which leave frees. One workspace makes one report at a time, so that
// it leaves places to others.
func (g *Gatherer) enter(ctx context.Context, workspaceID int64) (leave func(), err error) {
	mine, _ := g.placeOf.LoadOrStore(workspaceID, make(chan struct{}, 1))
	var taken []chan struct{}
	leave = func() {
		for _, places := range taken {
			<-places
		}
	}
	for _, places := range []chan struct{}{mine.(chan struct{}), g.places} {
		select {
		case places <- struct{}{}:
			taken = append(taken, places)
		case <-ctx.Done():
			leave()
			return nil, rimewatch.Wrap(rimewatch.CodeUnavailable, ctx.Err(), "The request was cancelled.")
		}
	}
	return leave, nil
}

// Log is a temperature log to be made as a PDF.
type Log struct {
	Workspace, SiteID int64 // SiteID 0 = all sites
	From, To          rimewatch.Time
	Zone              *time.Location
	Words             phrase.Words
}

// PDF makes a log and returns its text and the name of its file:
// CodeValidationFailed when it is larger than report.Background.
func (g *Gatherer) PDF(ctx context.Context, l *Log) (name string, text []byte, err error) {
	w, err := g.store.Workspace(ctx, l.Workspace)
	if err != nil {
		return "", nil, err
	}
	r := &report.Report{Workspace: w.Name, From: l.From, To: l.To, Zone: l.Zone, GeneratedAt: g.cfg.Now(), Version: g.cfg.Version, Words: l.Words, ExposureSince: w.ExposureSince}
	if l.SiteID != 0 {
		s, err := g.store.Sites().Get(ctx, l.Workspace, l.SiteID)
		if err != nil {
			return "", nil, err
		}
		r.Site = &s
	}
	devices, _, err := g.store.Devices(ctx, l.Workspace, store.DeviceFilter{SiteID: l.SiteID}, store.Page{Limit: report.Background.Devices + 1})
	if err == nil {
		err = report.Background.Check(len(devices), l.From, l.To)
	}
	if err != nil {
		return "", nil, err
	}
	var b bytes.Buffer
	err = g.Make(ctx, &report.Request{Workspace: l.Workspace, Report: r, Devices: devices}, func() error { return r.PDF(&b) })
	return r.FileName() + ".pdf", b.Bytes(), err
}

func (g *Gatherer) fill(ctx context.Context, q *report.Request) error {
	r := q.Report
	if err := g.paper(ctx, q); err != nil {
		return err
	}
	windows, _, err := g.store.Routing().MaintenanceWindows().Select(ctx, q.Workspace, store.Selection{EndAfter: r.From})
	if err != nil {
		return err
	}
	// One that was called off before it began never was.
	until := min(r.To, r.GeneratedAt)
	windows = slices.DeleteFunc(windows, func(w rimewatch.MaintenanceWindow) bool { return w.StartsAt >= min(w.EndsAt, until) })
	slices.SortStableFunc(windows, func(a, b rimewatch.MaintenanceWindow) int { return cmp.Compare(a.StartsAt, b.StartsAt) })
	if err := g.checks(ctx, q); err != nil {
		return err
	}
	r.Devices = make([]report.Device, len(q.Devices))
	for i := range q.Devices {
		if q.Progress != nil {
			q.Progress(i)
		}
		if err := g.device(ctx, q, &q.Devices[i], &r.Devices[i]); err != nil {
			return err
		}
		for k := range windows {
			if windows[k].Covers(q.Devices[i].SiteID, q.Devices[i].ID) {
				r.Devices[i].Maintenance = append(r.Devices[i].Maintenance, windows[k])
			}
		}
	}
	return nil
}

// checks reads the rounds of the period, oldest first: of each those units that the report is about.
func (g *Gatherer) checks(ctx context.Context, q *report.Request) error {
	r := q.Report
	list, total, err := g.store.Records().Checks(ctx, q.Workspace, store.CheckFilter{From: r.From, To: r.To}, store.Page{Limit: report.MaxChecks})
	if err != nil {
		return err
	}
	if total > report.MaxChecks {
		return rimewatch.Invalid("from", "there are more than %d checks, choose a shorter span of time", report.MaxChecks)
	}
	about := make(map[int64]bool, len(q.Devices))
	for i := range q.Devices {
		about[q.Devices[i].ID] = true
	}
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	notes, err := g.store.Records().CheckNotes(ctx, q.Workspace, ids)
	for _, c := range slices.Backward(list) {
		c.Items = slices.DeleteFunc(c.Items, func(it rimewatch.CheckItem) bool { return !about[it.DeviceID] })
		if len(c.Items) > 0 {
			r.Checks = append(r.Checks, report.Check{Check: c, Notes: notes[c.ID]})
		}
	}
	return err
}

// Excursions returns those that ended and, after them, those that last.
func (g *Gatherer) Excursions(ctx context.Context, workspaceID, deviceID int64, from, to rimewatch.Time) ([]rimewatch.Excursion, error) {
	list, err := g.store.Records().Excursions(ctx, workspaceID, deviceID, from, to, report.MaxExcursions+1)
	if err != nil {
		return nil, err
	}
	for _, e := range g.cfg.Health.OpenExcursions(workspaceID, deviceID) {
		if e.From < to {
			list = append(list, e)
		}
	}
	if len(list) > report.MaxExcursions {
		return nil, rimewatch.Invalid("from", "there are more than %d excursions, choose a shorter span of time or one device", report.MaxExcursions)
	}
	return g.withinSites(ctx, list), nil
}

// ExcursionTotals adds up the excursions of a workspace within [from, to), by device: also those that last.
func (g *Gatherer) ExcursionTotals(ctx context.Context, workspaceID int64, from, to rimewatch.Time) (map[int64]store.ExcursionTotal, error) {
	out, err := g.store.Records().ExcursionTotals(ctx, workspaceID, from, to)
	if err != nil {
		return nil, err
	}
	for _, e := range g.cfg.Health.OpenExcursions(workspaceID, 0) {
		if e.From < to {
			sum := out[e.DeviceID]
			sum.Add(&e, from, to)
			out[e.DeviceID] = sum
		}
	}
	return out, nil
}

// withinSites keeps the excursions of devices that the caller may see.
func (g *Gatherer) withinSites(ctx context.Context, list []rimewatch.Excursion) []rimewatch.Excursion {
	sites := store.SitesOf(ctx)
	if sites == nil {
		return list
	}
	kept := list[:0]
	for _, e := range list {
		if v, ok := g.store.DeviceByID(e.DeviceID); ok && sites.Has(v.SiteID) {
			kept = append(kept, e)
		}
	}
	return kept
}

// paper reads what stands on every page or document of a workspace: its logo, and what its audit
// trail proves.
func (g *Gatherer) paper(ctx context.Context, q *report.Request) error {
	r := q.Report
	logo, err := g.store.Logo(ctx, q.Workspace)
	if err != nil {
		return err
	}
	broken, err := g.store.Audit().VerifyAudit(ctx, q.Workspace)
	if err != nil {
		return err
	}
	r.Logo = logo
	r.Integrity.ChainOK = broken == 0
	last, _, err := g.store.Audit().AuditEntries(ctx, q.Workspace, "", "", store.Page{Limit: 1})
	if err == nil && len(last) > 0 {
		r.Integrity.LastHash = hex.EncodeToString(last[0].Hash[:])
	}
	return err
}

// device gathers what is known of one device.
func (g *Gatherer) device(ctx context.Context, q *report.Request, v *rimewatch.DeviceView, d *report.Device) error {
	r := q.Report
	behind, several := g.cfg.Health.DeviceClock(v.ID)
	d.Device, d.Limits, d.ClockOffset, d.SeveralClocks = v.Device, v.LimitsInForce(), v.ClockOffset(behind), several
	d.Equipment, _ = rimewatch.EquipmentBySlug(v.EquipmentType)
	if v.Site != nil {
		d.SiteName, d.SiteAddress = v.Site.Name, v.Site.Address
	}
	log, err := g.readLog(ctx, r, d)
	if err != nil {
		return err
	}
	d.Days, d.Totals = log.Finish(v.CreatedAt)
	excursions, err := g.Excursions(ctx, q.Workspace, v.ID, r.From, r.To)
	if err != nil {
		return err
	}
	alerts, err := g.alerts(ctx, q.Workspace, excursions)
	if err != nil {
		return err
	}
	// What is done about a period is often done after it.
	actions, err := g.store.Records().CorrectiveActions(ctx, q.Workspace, 0, v.ID, r.From, rimewatch.MaxTime)
	if err != nil {
		return err
	}
	var ended []int64
	for i := range excursions {
		if excursions[i].ID != 0 {
			ended = append(ended, excursions[i].ID)
		}
	}
	cases, err := g.store.Records().CasesOf(ctx, q.Workspace, rimewatch.CaseExcursion, ended)
	if err != nil {
		return err
	}
	d.Attach(excursions, alerts, actions, cases)
	d.Actions = slices.DeleteFunc(d.Actions, func(x rimewatch.CorrectiveAction) bool { return x.PerformedAt >= r.To })
	if d.Calibrations, err = g.store.Records().Calibrations(ctx, q.Workspace, v.ID); err != nil {
		return err
	}
	d.Calibrations = slices.DeleteFunc(d.Calibrations, func(x rimewatch.Calibration) bool { return x.PerformedAt >= r.To })
	return nil
}

// alerts returns the temperature alerts of the device of excursions that can
// be about them: of before the first, which may have begun earlier, to after the
// last.
func (g *Gatherer) alerts(ctx context.Context, workspaceID int64, list []rimewatch.Excursion) ([]rimewatch.AlertView, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var out []rimewatch.AlertView
	since := list[0].From - 7*rimewatch.Day
	for _, kind := range []rimewatch.AlertType{rimewatch.HighTemperature, rimewatch.LowTemperature} {
		f := store.AlertFilter{Type: kind, DeviceID: list[0].DeviceID, Since: max(since, rimewatch.MinTime)}
		alerts, _, err := g.store.Alerts(ctx, workspaceID, f, store.AlertPage{Limit: report.MaxExcursions})
		if err != nil {
			return nil, err
		}
		out = append(out, alerts...)
	}
	return out, nil
}

// readLog sums up the readings of the period; where they have expired, the
// hours that were kept.
func (g *Gatherer) readLog(ctx context.Context, r *report.Report, d *report.Device) (*report.Log, error) {
	log := report.NewLog(r.Zone, r.From, r.To, r.GeneratedAt, d.Limits)
	history := store.Corrected{History: g.store, Offsets: d.Offsets}
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
			if h := hours[i].Aggregate(rimewatch.ProductZoneTemp); h.Count > 0 {
				log.AddHour(hours[i].At, h.Count, h.Min, h.Mean(), h.Max)
			}
		}
	}
	q.Limit, q.From = 0, max(r.From-report.WarmUp, rimewatch.MinTime)
	return log, history.Readings(ctx, q, func(x *rimewatch.Reading) error { log.Add(x); return nil })
}
