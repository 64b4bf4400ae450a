package notify

import (
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/plan"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// CoverageStore keeps the rules and the devices that coverage follows from.
type CoverageStore interface {
	ruleStore
	EachIdentity(ctx context.Context, workspaceID int64, yield func(*store.Identity) bool)
	Identity(deviceID int64) *store.Identity
}

// Coverage finds the sites without anyone to notify of a critical alert that begins now, by the rules
// that alerts are planned by. It heeds store.WithSites: of holds it names no place
// outside. userID is who asks, 0 = a program.
func Coverage(ctx context.Context, s CoverageStore, workspaceID, userID int64, now rimewatch.Time) (wire.Coverage, error) {
	rules, err := readRules(ctx, s, workspaceID, now)
	if err != nil {
		return wire.Coverage{}, err
	}
	c := rules.Coverage(func(yield func(plan.Unit) bool) {
		s.EachIdentity(ctx, workspaceID, func(d *store.Identity) bool {
			return yield(plan.Unit{DeviceID: d.ID, SiteID: d.SiteID, EquipmentType: d.EquipmentType})
		})
	}, now)
	if sites := store.SitesOf(ctx); sites != nil {
		narrow(c.Held, sites, s)
	}
	out := wire.NewCoverage(&c)
	if userID != 0 {
		own := slices.ContainsFunc(rules.Channels, func(x rimewatch.Channel) bool {
			m := rules.Owner(&x)
			return x.Enabled && m != nil && m.UserID == userID
		})
		out.ReachesYou = &own
	}
	for _, x := range rules.Named() {
		gaps := rules.Gaps(x, now, now+wire.GapsAhead)
		sites, told := rules.SitesOf(x, store.SitesOf(ctx))
		if len(gaps) > 0 && told {
			out.Rotas = append(out.Rotas, wire.RotaGaps{ID: x.ID, Name: x.Name, Zone: x.Zone.String(), SiteIDs: sites, Gaps: wire.NewDutyGaps(gaps)})
		}
	}
	for i := range out.Without {
		g := &out.Without[i]
		if g.ID == nil {
			continue
		}
		site, err := s.Sites().Get(ctx, workspaceID, *g.ID)
		if err != nil && rimewatch.CodeOf(err) != rimewatch.CodeNotFound { // or it was deleted meanwhile
			return wire.Coverage{}, err
		}
		g.Name = site.Name
	}
	return out, nil
}

// narrow removes the places outside some sites from holds.
func narrow(held []rimewatch.Hold, sites rimewatch.Sites, s CoverageStore) {
	for i := range held {
		m := &held[i].Match
		m.SiteIDs = slices.DeleteFunc(slices.Clone(m.SiteIDs), func(id int64) bool { return !sites.Has(id) })
		m.DeviceIDs = slices.DeleteFunc(slices.Clone(m.DeviceIDs), func(id int64) bool {
			d := s.Identity(id)
			return d == nil || !sites.Has(d.SiteID)
		})
	}
}
