package account

import (
	"context"
	"maps"
	"slices"

	"github.com/rimewatch/rimewatch"
)

// settings are the part of a Service that keeps a workspace's settings and
// sites.
type settings struct{ store Store }

// The longest retention that can be set, in days.
const maxRetentionDays = 36500

// WorkspacePatch changes a workspace's settings; nil leaves a value as it is.
type WorkspacePatch struct {
	Name      *string
	OnUnknown *rimewatch.OnUnknown
	// AutoRegister is the older name of two of its values: true is register. false is
	// refuse where it was register; who sends back what was read changes nothing.
	AutoRegister *bool
	TimeZone     *string // IANA name
	RawDays      *int    // 1–36500
	RollupDays   *int    // RawDays–36500
	// Limits change the overrides of a type of equipment in place.
	Limits           map[string]func(*rimewatch.LimitOverrides)
	ConfirmLoosening bool // safety limits may be loosened
	// RequireSecondFactor needs the role owner, and that the owner has one.
	RequireSecondFactor *bool
}

// Workspace returns the principal's workspace.
func (s *settings) Workspace(ctx context.Context, p Principal) (rimewatch.Workspace, error) {
	return s.store.Workspace(ctx, p.WorkspaceID)
}

// UpdateWorkspace changes the settings of the principal's workspace. Needs the
// role admin. CodeConflict with the field name when another workspace has it;
// CodeValidationFailed with the fields name, timezone, raw_days, rollup_days and
// limits.<type>.<limit>, also where a safety limit would be loosened without
// confirmation.
func (s *settings) UpdateWorkspace(ctx context.Context, p Principal, patch WorkspacePatch, now rimewatch.Time) (rimewatch.Workspace, error) {
	if err := p.RequireRole(rimewatch.RoleAdmin); err != nil {
		return rimewatch.Workspace{}, err
	}
	if patch.TimeZone != nil {
		if err := rimewatch.CheckZone(*patch.TimeZone); err != nil {
			return rimewatch.Workspace{}, err
		}
	}
	if patch.RequireSecondFactor != nil {
		if err := p.RequireRole(rimewatch.RoleOwner); err != nil {
			return rimewatch.Workspace{}, err
		}
		if *patch.RequireSecondFactor && p.UserID != 0 && !p.strong {
			return rimewatch.Workspace{}, rimewatch.Invalid("require_second_factor", "would shut you out: set up your own second factor first")
		}
	}
	return s.store.UpdateWorkspace(ctx, p.WorkspaceID, func(w *rimewatch.Workspace) error {
		if patch.Name != nil {
			w.Name = normalText(*patch.Name)
		}
		switch auto := patch.AutoRegister; {
		case patch.OnUnknown != nil:
			w.OnUnknown = *patch.OnUnknown
		case auto != nil && *auto:
			w.OnUnknown = rimewatch.RegisterUnknown
		case auto != nil && w.OnUnknown == rimewatch.RegisterUnknown:
			w.OnUnknown = rimewatch.RefuseUnknown
		}
		if patch.TimeZone != nil {
			w.TimeZone = *patch.TimeZone
		}
		if patch.RawDays != nil {
			w.RawDays = *patch.RawDays
		}
		if patch.RollupDays != nil {
			w.RollupDays = *patch.RollupDays
		}
		if patch.RequireSecondFactor != nil {
			w.RequireSecondFactor = *patch.RequireSecondFactor
		}
		if w.RawDays > maxRetentionDays {
			return rimewatch.Invalid("raw_days", "must be at most %d", maxRetentionDays)
		}
		if w.RollupDays > maxRetentionDays {
			return rimewatch.Invalid("rollup_days", "must be at most %d", maxRetentionDays)
		}
		w.UpdatedAt = now
		return patch.applyLimits(w)
	})
}

// applyLimits changes the overrides by type of equipment.
func (patch *WorkspacePatch) applyLimits(w *rimewatch.Workspace) error {
	if len(patch.Limits) == 0 {
		return nil
	}
	all := maps.Clone(w.Limits)
	if all == nil {
		all = make(map[string]rimewatch.LimitOverrides)
	}
	for slug, change := range patch.Limits {
		e, known := rimewatch.EquipmentBySlug(slug)
		if !known {
			return rimewatch.Invalid("limits."+slug, "is not a known equipment type")
		}
		d := rimewatch.Device{EquipmentType: slug, WorkspaceLimits: w.LimitsOf(slug)}
		before := d.LimitsInForce()
		o := all[slug]
		change(&o)
		if all[slug] = o; o.Empty() {
			delete(all, slug)
		}
		d.WorkspaceLimits = &o
		after := d.LimitsInForce()
		if !patch.ConfirmLoosening {
			if err := rimewatch.CheckLoosening(e, "limits."+slug, &after, &before, &e.Limits); err != nil {
				return err
			}
		}
	}
	w.Limits = all
	return nil
}

// SiteRequest describes a site to be made.
type SiteRequest struct {
	Name     string
	TimeZone string // IANA name; "" = the workspace's
	Address  string
}

// SitePatch changes a site; nil leaves a value as it is.
type SitePatch struct {
	Name     *string
	TimeZone *string // IANA name
	Address  *string
}

// Sites lists the workspace's sites by id. Needs the scope devices:read.
func (s *settings) Sites(ctx context.Context, p Principal) ([]rimewatch.Site, error) {
	if err := p.Require(rimewatch.ScopeDevicesRead); err != nil {
		return nil, err
	}
	list, err := s.store.Sites().List(ctx, p.WorkspaceID)
	return slices.DeleteFunc(list, func(x rimewatch.Site) bool { return !p.Sites().Has(x.ID) }), err
}

// Site finds a site of the workspace: CodeNotFound. Needs the scope
// devices:read.
func (s *settings) Site(ctx context.Context, p Principal, id int64) (rimewatch.Site, error) {
	if err := p.Require(rimewatch.ScopeDevicesRead); err != nil {
		return rimewatch.Site{}, err
	}
	if !p.Sites().Has(id) {
		return rimewatch.Site{}, rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such site.")
	}
	return s.store.Sites().Get(ctx, p.WorkspaceID, id)
}

// CreateSite makes a site. Needs the scope devices:write. CodeValidationFailed
// with the fields name, timezone, address.
func (s *settings) CreateSite(ctx context.Context, p Principal, r SiteRequest, now rimewatch.Time) (rimewatch.Site, error) {
	if err := p.Require(rimewatch.ScopeDevicesWrite); err != nil {
		return rimewatch.Site{}, err
	}
	if r.TimeZone == "" {
		w, err := s.store.Workspace(ctx, p.WorkspaceID)
		if err != nil {
			return rimewatch.Site{}, err
		}
		r.TimeZone = w.TimeZone
	}
	if err := rimewatch.CheckZone(r.TimeZone); err != nil {
		return rimewatch.Site{}, err
	}
	site := rimewatch.Site{
		WorkspaceID: p.WorkspaceID, Name: normalText(r.Name), TimeZone: r.TimeZone, Address: normalText(r.Address),
		CreatedAt: now, UpdatedAt: now,
	}
	if err := s.store.Sites().Create(ctx, &site); err != nil {
		return rimewatch.Site{}, err
	}
	return site, nil
}

// UpdateSite changes a site of the workspace: CodeNotFound, or
// CodeValidationFailed as CreateSite. Needs the scope devices:write.
func (s *settings) UpdateSite(ctx context.Context, p Principal, id int64, patch SitePatch, now rimewatch.Time) (rimewatch.Site, error) {
	if err := p.Require(rimewatch.ScopeDevicesWrite); err != nil {
		return rimewatch.Site{}, err
	}
	if patch.TimeZone != nil {
		if err := rimewatch.CheckZone(*patch.TimeZone); err != nil {
			return rimewatch.Site{}, err
		}
	}
	return s.store.Sites().Update(ctx, p.WorkspaceID, id, func(site *rimewatch.Site) error {
		if patch.Name != nil {
			site.Name = normalText(*patch.Name)
		}
		if patch.TimeZone != nil {
			site.TimeZone = *patch.TimeZone
		}
		if patch.Address != nil {
			site.Address = normalText(*patch.Address)
		}
		site.UpdatedAt = now
		return nil
	})
}

// DeleteSite removes a site; its devices stay, without a site. CodeNotFound.
// Needs the scope devices:write.
func (s *settings) DeleteSite(ctx context.Context, p Principal, id int64) error {
	if err := p.Require(rimewatch.ScopeDevicesWrite); err != nil {
		return err
	}
	return s.store.Sites().Delete(ctx, p.WorkspaceID, id)
}
