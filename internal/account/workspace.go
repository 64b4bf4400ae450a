package account

import (
	"context"
	"maps"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// settings are the part of a Service that keeps a workspace's settings and
// sites.
type settings struct{ store Store }

// The longest retention that can be set, in days.
const maxRetentionDays = 36500

// WorkspacePatch changes a workspace's settings; nil leaves a value as it is.
type WorkspacePatch struct {
	Name      *string
	Slug      *string // names it in links; CodeConflict with the field slug where another has or had it
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
	RequireAction    *rimewatch.RequireAction
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
	if err := p.Require(rimewatch.ScopeSettings); err != nil {
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
		if patch.Slug != nil {
			if wrong := rimewatch.CheckSlug(*patch.Slug); wrong != nil {
				return wrong
			}
			w.Slug = *patch.Slug
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
		if patch.RequireAction != nil {
			w.RequireAction = *patch.RequireAction
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

// Sites are the sites of the principal's workspace as he may see and change them.
// Reading needs the scope devices:read and shows those that he is limited to; changes
// need devices:write. A new site without a time zone has the workspace's.
// CodeValidationFailed with the fields name, timezone, address.
func (s *settings) Sites(p Principal) store.Resource[rimewatch.Site] {
	return sites{s.store.Sites(), s.store, p}
}

type sites struct {
	store.Resource[rimewatch.Site]
	store Store
	p     Principal
}

// Get implements store.Resource.
func (s sites) Get(ctx context.Context, workspaceID, id int64) (rimewatch.Site, error) {
	if err := s.p.Require(rimewatch.ScopeDevicesRead); err != nil {
		return rimewatch.Site{}, err
	}
	if !s.p.Sites().Has(id) {
		return rimewatch.Site{}, rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such site.")
	}
	return s.Resource.Get(ctx, workspaceID, id)
}

// List implements store.Resource.
func (s sites) List(ctx context.Context, workspaceID int64) ([]rimewatch.Site, error) {
	if err := s.p.Require(rimewatch.ScopeDevicesRead); err != nil {
		return nil, err
	}
	list, err := s.Resource.List(ctx, workspaceID)
	return slices.DeleteFunc(list, func(x rimewatch.Site) bool { return !s.p.Sites().Has(x.ID) }), err
}

// Select implements store.Resource.
func (s sites) Select(ctx context.Context, workspaceID int64, q store.Selection) ([]rimewatch.Site, int, error) {
	list, err := s.List(ctx, workspaceID)
	total := len(list)
	if q.After != 0 {
		q.Offset = 0
		list = slices.DeleteFunc(list, func(x rimewatch.Site) bool { return x.ID <= q.After })
	}
	list = list[min(q.Offset, len(list)):]
	if q.Limit != 0 {
		list = list[:min(q.Limit, len(list))]
	}
	return list, total, err
}

// Create implements store.Resource.
func (s sites) Create(ctx context.Context, x *rimewatch.Site) error {
	if err := s.p.Require(rimewatch.ScopeDevicesWrite); err != nil {
		return err
	}
	if x.TimeZone == "" {
		w, err := s.store.Workspace(ctx, s.p.WorkspaceID)
		if err != nil {
			return err
		}
		x.TimeZone = w.TimeZone
	}
	if err := settled(x); err != nil {
		return err
	}
	return s.Resource.Create(ctx, x)
}

// Update implements store.Resource.
func (s sites) Update(ctx context.Context, workspaceID, id int64, change func(*rimewatch.Site) error) (rimewatch.Site, error) {
	if err := s.p.Require(rimewatch.ScopeDevicesWrite); err != nil {
		return rimewatch.Site{}, err
	}
	return s.Resource.Update(ctx, workspaceID, id, func(x *rimewatch.Site) error {
		if err := change(x); err != nil {
			return err
		}
		return settled(x)
	})
}

// Delete implements store.Resource.
func (s sites) Delete(ctx context.Context, workspaceID, id int64) error {
	if err := s.p.Require(rimewatch.ScopeDevicesWrite); err != nil {
		return err
	}
	return s.Resource.Delete(ctx, workspaceID, id)
}

// settled brings the texts of a site into the form in which they are kept.
func settled(x *rimewatch.Site) error {
	x.Name, x.Address = normalText(x.Name), normalText(x.Address)
	return rimewatch.CheckZone(x.TimeZone)
}
