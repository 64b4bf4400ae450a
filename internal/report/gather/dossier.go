package gather

import (
	"bytes"
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/report"
	"github.com/rimewatch/rimewatch/internal/store"
)

const (
	// around is how much of the curve stands before and behind a case.
	around = 3 * rimewatch.Hour
	// curvePoints is how many points a curve has at most.
	curvePoints = 400
	// mostAlerts bounds the alerts of a case whose messages are read, and mostDevices the devices
	// of an outage that are looked up: their lines say the rest.
	mostAlerts, mostDevices = 50, 100
)

// Case gathers what is known of a case, but for curves, images and the integrity of the record:
// CodeNotFound. Workspace, zone and words are the reader's.
func (g *Gatherer) Case(ctx context.Context, workspaceID, id int64) (*report.Dossier, error) {
	c, err := g.store.Records().Case(ctx, workspaceID, id)
	if err != nil {
		return nil, err
	}
	w, err := g.store.Workspace(ctx, workspaceID)
	if err != nil {
		return nil, err
	}
	d := &report.Dossier{Case: c}
	d.Workspace, d.GeneratedAt, d.Version, d.Zone = w.Name, g.cfg.Now(), g.cfg.Version, rimewatch.ZoneOf(w.TimeZone)
	to := c.To
	if to == 0 {
		to = d.GeneratedAt
	}
	d.From, d.To = max(c.From-around, rimewatch.MinTime), max(min(to+around, d.GeneratedAt), c.From+1)
	d.Required = w.RequireAction == rimewatch.RequireAll || w.RequireAction == rimewatch.RequireCritical && c.Critical
	if c.SiteID != 0 {
		site, err := g.store.Sites().Get(ctx, workspaceID, c.SiteID)
		if err == nil {
			d.Site, d.Zone = &site, rimewatch.ZoneOf(site.TimeZone)
		} else if rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
			return nil, err
		}
	}
	for _, fill := range []func(context.Context, *report.Dossier) error{g.caseDevices, g.told, g.caseRecords} {
		if err := fill(ctx, d); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// caseDevices looks up the devices of a case, deleted ones too.
func (g *Gatherer) caseDevices(ctx context.Context, d *report.Dossier) error {
	ids := []int64{d.Case.DeviceID}
	for i := range d.Case.Lines {
		if id := d.Case.Lines[i].DeviceID; !slices.Contains(ids, id) && len(ids) < mostDevices {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		if id == 0 {
			continue
		}
		x := report.CaseDevice{ID: id}
		var device rimewatch.Device
		if v, ok := g.store.DeviceByID(id); ok {
			device, x.Limits = v.Device, v.LimitsInForce()
		} else if gone, err := g.store.DeletedDevices(ctx, d.Case.WorkspaceID, id); err != nil {
			return err
		} else if len(gone) > 0 {
			device, x.Deleted = gone[0], true
			x.Limits = device.LimitsInForce()
		}
		x.Serial, x.Name, x.EquipmentType, x.Manufacturer, x.Model = device.Serial, device.Name, device.EquipmentType, device.Manufacturer, device.Model
		former, err := g.store.Records().FormerLimits(ctx, id, d.Case.From)
		if err != nil {
			return err
		}
		if len(former) > 0 {
			x.Limits = former[0].Limits
		}
		if x.Calibrations, err = g.store.Records().Calibrations(ctx, d.Case.WorkspaceID, id); err != nil {
			return err
		}
		d.Devices = append(d.Devices, x)
	}
	return nil
}

// told reads who was notified of the alerts of a case, and who answered.
func (g *Gatherer) told(ctx context.Context, d *report.Dossier) error {
	workspaceID := d.Case.WorkspaceID
	names, err := g.store.Outbox().DeliveryNames(ctx, workspaceID)
	if err != nil {
		return err
	}
	alerts := 0
	for i := range d.Case.Lines {
		l := &d.Case.Lines[i]
		if l.Kind != rimewatch.CaseAlert || alerts >= mostAlerts {
			continue
		}
		alerts++
		lines, err := g.store.Outbox().AlertTransitions(ctx, workspaceID, l.Ref)
		if err != nil {
			return err
		}
		for _, t := range lines {
			if t.Kind != rimewatch.TransitionUpdated && t.Kind != rimewatch.TransitionCorrective {
				d.Told = append(d.Told, report.Told{At: t.At, AlertID: l.Ref, Kind: t.Kind, Actor: t.Actor, Note: t.Note})
			}
		}
		sent, err := g.store.Outbox().AlertDeliveries(ctx, workspaceID, l.Ref)
		if err != nil {
			return err
		}
		for _, x := range sent {
			if x.ChannelID < 0 { // of programs
				continue
			}
			at := x.CreatedAt
			if x.SentAt != 0 {
				at = x.SentAt
			}
			of := names.Channels[x.ChannelID]
			d.Told = append(d.Told, report.Told{At: at, AlertID: l.Ref, Channel: of.Name, ChannelKind: of.Kind, Status: x.Status, Level: x.Level})
		}
	}
	d.SortTold()
	return nil
}

func (g *Gatherer) caseRecords(ctx context.Context, d *report.Dossier) (err error) {
	if d.Actions, err = g.store.Records().CaseActions(ctx, &d.Case); err != nil {
		return err
	}
	if d.Signatures, err = g.store.Records().Signatures(ctx, d.Case.WorkspaceID, d.Case.ID); err != nil {
		return err
	}
	d.Orders, _, err = g.store.Records().WorkOrders().Select(store.WithSites(ctx, nil), d.Case.WorkspaceID, store.Selection{Only: map[string][]any{"case_id": {d.Case.ID}}})
	if err != nil {
		return err
	}
	slices.Reverse(d.Orders)
	files, err := g.store.Records().Attachments(ctx, d.Case.WorkspaceID, d.Case.ID)
	for i := range files {
		d.Attachments = append(d.Attachments, report.CaseFile{Attachment: files[i]})
	}
	return err
}

// CasePDF writes the dossier of a case: complete changes what the reader is to see of it, such
// as the language, before it is written. It waits for its turn, as other reports do.
func (g *Gatherer) CasePDF(ctx context.Context, workspaceID, id int64, complete func(*report.Dossier)) (name string, text []byte, err error) {
	leave, err := g.enter(ctx, workspaceID)
	if err != nil {
		return "", nil, err
	}
	defer leave()
	d, err := g.Case(ctx, workspaceID, id)
	if err != nil {
		return "", nil, err
	}
	complete(d)
	if err := g.paper(ctx, &report.Request{Workspace: workspaceID, Report: &d.Report}); err != nil {
		return "", nil, err
	}
	for i := range d.Devices {
		if err := g.curve(ctx, d, &d.Devices[i]); err != nil {
			return "", nil, err
		}
	}
	for i := range d.Attachments {
		f := &d.Attachments[i]
		_, data, err := g.store.Records().Attachment(ctx, workspaceID, id, f.ID)
		switch {
		case rimewatch.CodeOf(err) == rimewatch.CodeInternal:
			f.Damaged = true
		case err != nil:
			return "", nil, err
		case f.Width > 0:
			f.Data = data
		}
	}
	var b bytes.Buffer
	err = d.PDF(&b)
	return d.FileName() + ".pdf", b.Bytes(), err
}

// Temperatures reads the product temperature of a device in stretches of time.
func (g *Gatherer) Temperatures(ctx context.Context, deviceID int64, from, to rimewatch.Time) ([]report.CurvePoint, error) {
	d, x := report.Dossier{}, report.CaseDevice{ID: deviceID}
	d.From, d.To = from, to
	err := g.curve(ctx, &d, &x)
	return x.Curve, err
}

// curve reads the product temperature around a case.
func (g *Gatherer) curve(ctx context.Context, d *report.Dossier, x *report.CaseDevice) error {
	var offsets []rimewatch.Offset
	if v, ok := g.store.DeviceByID(x.ID); ok {
		offsets = v.Offsets
	}
	step := rimewatch.Minute
	for _, s := range []rimewatch.Time{5 * rimewatch.Minute, 15 * rimewatch.Minute, rimewatch.Hour, 6 * rimewatch.Hour, rimewatch.Day} {
		if (d.To-d.From)/step > curvePoints {
			step = s
		}
	}
	history := store.Corrected{History: g.store, Offsets: offsets}
	list, err := history.Buckets(ctx, store.BucketQuery{DeviceID: x.ID, From: d.From, To: d.To, Step: step, Fields: rimewatch.Fields(0).With(rimewatch.ProductZoneTemp)})
	for i := range list {
		if v := list[i].Aggregate(rimewatch.ProductZoneTemp); v.Count > 0 {
			x.Curve = append(x.Curve, report.CurvePoint{At: list[i].At, Min: v.Min, Mean: v.Mean(), Max: v.Max})
		}
	}
	return err
}
