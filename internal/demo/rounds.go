package demo

import (
	"cmp"
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// roundDays is how many days of rounds the demo begins with.
const roundDays = 3

// rounds has somebody look at all units twice a day: those of the last days were made, but for one, and one is due.
func (d *Demo) rounds(ctx context.Context) error {
	ctx = store.WithActor(ctx, "Demo <"+ownerEmail+">")
	now := d.now()
	t := rimewatch.CheckTemplate{
		WorkspaceID: d.workspaceID, Name: "Morning and evening", Pack: "haccp-ampm", Windows: []rimewatch.CheckWindow{{Days: 127, From: 0, To: 12 * 60}, {Days: 127, From: 12 * 60, To: 0}},
		Tell: rimewatch.TellMissed, Enabled: true, CreatedAt: now - roundDays*rimewatch.Day, UpdatedAt: now,
	}
	if err := d.app.Store.Records().CheckTemplates().Create(ctx, &t); err != nil {
		return err
	}
	sites, err := d.app.Store.Sites().List(ctx, d.workspaceID)
	if err != nil {
		return err
	}
	var list []*rimewatch.Check
	through := now - roundDays*rimewatch.Day
	for i := range sites {
		units := d.unitsOf(ctx, &t, sites[i].ID)
		for n, s := range t.Spans(through, now, rimewatch.ZoneOf(sites[i].TimeZone)) {
			if s.To > now || len(units) == 0 {
				continue
			}
			c := &rimewatch.Check{
				WorkspaceID: d.workspaceID, TemplateID: t.ID, SiteID: sites[i].ID, Name: t.Name, Pack: t.Pack, CheckSpan: s, OpenedAt: s.From,
				Status: rimewatch.CheckMissed, Reason: rimewatch.CheckNotDone, Items: slices.Clone(units),
			}
			if n != 2 { // the one that was forgotten
				c.CompletedAt = s.From + 7*rimewatch.Hour + 12*rimewatch.Minute
				c.Status, c.Reason, c.EnteredAt, c.By = rimewatch.CheckCompleted, "", c.CompletedAt, &rimewatch.Doer{Kind: rimewatch.DoerPerson, Name: "Demo"}
				if err := d.looked(ctx, c); err != nil {
					return err
				}
			}
			list = append(list, c)
		}
	}
	if err := d.app.Store.Records().OpenChecks(ctx, &t, through, list); err != nil {
		return err
	}
	return d.app.PlanRounds(ctx)
}

// unitsOf are the units of a site that a round looks at, by name.
func (d *Demo) unitsOf(ctx context.Context, t *rimewatch.CheckTemplate, site int64) (units []rimewatch.CheckItem) {
	d.app.Store.EachIdentity(ctx, d.workspaceID, func(u *store.Identity) bool {
		if u.SiteID == site && t.Covers(u.ID, u.EquipmentType) {
			units = append(units, rimewatch.CheckItem{DeviceID: u.ID, Serial: u.Serial, Name: u.Name})
		}
		return true
	})
	slices.SortFunc(units, func(a, b rimewatch.CheckItem) int { return cmp.Compare(a.Name, b.Name) })
	return units
}

// looked fills in what the sensors said when a check was completed.
func (d *Demo) looked(ctx context.Context, c *rimewatch.Check) error {
	for i := range c.Items {
		it := &c.Items[i]
		v, _ := d.app.Store.DeviceByID(it.DeviceID)
		limits := v.LimitsInForce()
		it.Low, it.High = limits.TempMin, limits.TempMax
		err := d.app.Store.Readings(ctx, store.HistoryQuery{DeviceID: it.DeviceID, From: c.CompletedAt - rimewatch.Hour, To: c.CompletedAt + 1}, func(r *rimewatch.Reading) error {
			if t, ok := r.Value(rimewatch.ProductZoneTemp); ok {
				it.Value, it.ValueAt, it.Out = &t, r.At, limits.Outside(t)
			}
			return nil
		})
		if err != nil {
			return err
		}
		switch {
		case it.Value == nil:
			it.Note = "no reading"
		case it.Out:
			it.Note = "was being defrosted, looked again later"
		}
	}
	return nil
}
