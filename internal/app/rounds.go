package app

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/record"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

const (
	roundsEvery  = 20 * time.Second
	missedAtOnce = 1000
)

// runRounds opens checks, marks those that were missed, and makes the windows of maintenance plans, until ctx ends.
func (a *App) runRounds(ctx context.Context) {
	plan := func() {
		changed, err := a.Ingest.PlanMaintenance(ctx)
		if err != nil && ctx.Err() == nil {
			a.log.Error("maintenance plans", "error", err)
		}
		for _, workspace := range changed {
			a.Notify.Changed(workspace)
		}
		if err := a.PlanRounds(ctx); err != nil && ctx.Err() == nil {
			a.log.Error("rounds", "error", err)
		}
	}
	plan()
	for range ticker.Every(ctx.Done(), roundsEvery, a.rounds) {
		plan()
	}
}

// wakeRounds has runRounds look at once: a round that was made may be due. It returns at once.
func (a *App) wakeRounds() {
	select {
	case a.rounds <- struct{}{}:
	default:
	}
}

// PlanRounds opens the checks whose time has come by the clocks of their sites, and marks as missed those
// whose time is over. What is written down already, as before a restart or by another node, stays as it is.
func (a *App) PlanRounds(ctx context.Context) error {
	now := a.now()
	over, err := a.Store.Everywhere().AllChecksOver(ctx, now, missedAtOnce)
	if err != nil {
		return err
	}
	for i := range over {
		_, err := a.Store.Records().ChangeCheck(ctx, over[i].WorkspaceID, over[i].ID, func(c *rimewatch.Check) (rimewatch.CheckNote, bool, error) {
			record.Miss(c, now)
			return rimewatch.CheckNote{}, false, nil
		})
		if err != nil {
			return err
		}
	}
	templates, err := a.Store.Everywhere().AllCheckTemplates(ctx)
	if err != nil || len(templates) == 0 {
		return err
	}
	sites, err := a.Store.Everywhere().AllSites(ctx)
	if err != nil {
		return err
	}
	for i := range templates {
		if err := a.planRound(ctx, &templates[i], sites, now); err != nil {
			return err
		}
	}
	return nil
}

// planRound opens the checks of one template that have come due since it was last looked at.
func (a *App) planRound(ctx context.Context, t *rimewatch.CheckTemplate, sites []rimewatch.Site, now rimewatch.Time) error {
	places := []record.Place{}
	if t.SiteID == 0 {
		w, err := a.Store.Workspace(ctx, t.WorkspaceID)
		if err != nil {
			return err
		}
		places = append(places, record.Place{Zone: rimewatch.ZoneOf(w.TimeZone)})
	}
	for i := range sites {
		if s := &sites[i]; s.WorkspaceID == t.WorkspaceID && (t.SiteID == 0 || t.SiteID == s.ID) {
			places = append(places, record.Place{SiteID: s.ID, Zone: rimewatch.ZoneOf(s.TimeZone)})
		}
	}
	began := func(p record.Place) bool {
		return len(t.Spans(max(t.Through, now-rimewatch.CheckLookBack), now, p.Zone)) > 0
	}
	if !slices.ContainsFunc(places, began) {
		return nil
	}
	a.Store.EachIdentity(ctx, t.WorkspaceID, func(d *store.Identity) bool {
		i := slices.IndexFunc(places, func(p record.Place) bool { return p.SiteID == d.SiteID })
		if i >= 0 && t.Covers(d.ID, d.EquipmentType) {
			places[i].Devices = append(places[i].Devices, rimewatch.CheckItem{DeviceID: d.ID, Serial: d.Serial, Name: cmp.Or(d.Name, d.Serial)})
		}
		return true
	})
	var list []*rimewatch.Check
	for i := range places {
		slices.SortStableFunc(places[i].Devices, func(x, y rimewatch.CheckItem) int { return cmp.Compare(x.Name, y.Name) })
		checks := record.OpenChecks(t, &places[i], now)
		for j := range checks {
			list = append(list, &checks[j])
		}
	}
	return a.Store.Records().OpenChecks(ctx, t, now, list)
}
