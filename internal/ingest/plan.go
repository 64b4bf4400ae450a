package ingest

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// MaintenancePlans returns those of the store, wrapped so that their windows follow a change.
func (s *Service) MaintenancePlans() store.Resource[rimewatch.MaintenancePlan] {
	return plans{s.store.Routing().MaintenancePlans(), s}
}

type plans struct {
	store.Resource[rimewatch.MaintenancePlan]
	s *Service
}

// Create implements store.Resource.
func (p plans) Create(ctx context.Context, x *rimewatch.MaintenancePlan) error {
	if err := p.Resource.Create(ctx, x); err != nil {
		return err
	}
	return p.settle(ctx, x.WorkspaceID)
}

// Update implements store.Resource.
func (p plans) Update(ctx context.Context, workspaceID, id int64, change func(*rimewatch.MaintenancePlan) error) (rimewatch.MaintenancePlan, error) {
	x, err := p.Resource.Update(ctx, workspaceID, id, change)
	if err == nil {
		err = p.settle(ctx, workspaceID)
	}
	return x, err
}

// Delete implements store.Resource.
func (p plans) Delete(ctx context.Context, workspaceID, id int64) error {
	if err := p.Resource.Delete(ctx, workspaceID, id); err != nil {
		return err
	}
	return p.settle(ctx, workspaceID)
}

// settle brings the windows of a workspace's plans up to date. The answer to the request was stored with the change.
func (p plans) settle(ctx context.Context, workspaceID int64) error {
	_, err := p.s.planMaintenance(store.WithAnswer(ctx, nil), func(id int64) bool { return id == workspaceID })
	return err
}

// PlanMaintenance makes the windows of all maintenance plans that begin within rimewatch.PlannedAhead, and withdraws those
// that have not begun and that no plan wants any more. It returns the workspaces whose windows it changed. Windows that
// exist already, as from before a restart or by another node, stay.
func (s *Service) PlanMaintenance(ctx context.Context) (changed []int64, err error) {
	return s.planMaintenance(ctx, func(int64) bool { return true })
}

func (s *Service) planMaintenance(ctx context.Context, of func(workspaceID int64) bool) (changed []int64, err error) {
	now := s.clock()
	work, err := s.plannedWork(ctx, of, now)
	if err != nil || len(work) == 0 {
		return nil, err
	}
	zones, err := s.workspaceZones(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(work)) {
		w := work[id]
		c := zones[w.workspaceID]
		if c == nil {
			continue
		}
		// Most of the time there is nothing to be done, and nothing is written.
		if made, withdrawn := w.plan.Settle(c, w.coming, now); len(made)+len(withdrawn) == 0 {
			continue
		}
		err := s.store.Routing().SettleMaintenance(ctx, w.workspaceID, id, now, func(p *rimewatch.MaintenancePlan, coming []rimewatch.MaintenanceWindow) ([]rimewatch.MaintenanceWindow, []int64) {
			return p.Settle(c, coming, now)
		})
		if err != nil {
			return changed, err
		}
		changed = append(changed, w.workspaceID)
	}
	if len(changed) == 0 {
		return nil, nil
	}
	slices.Sort(changed)
	return slices.Compact(changed), s.RefreshSettings(ctx)
}

// planned is a plan with its windows that have not begun. The plan is nil where it was switched off or deleted.
type planned struct {
	workspaceID int64
	plan        *rimewatch.MaintenancePlan
	coming      []rimewatch.MaintenanceWindow
}

func (s *Service) plannedWork(ctx context.Context, of func(workspaceID int64) bool, now rimewatch.Time) (map[int64]*planned, error) {
	plans, err := s.store.Everywhere().AllMaintenancePlans(ctx)
	if err != nil {
		return nil, err
	}
	windows, err := s.store.Everywhere().AllMaintenanceWindows(ctx, now)
	if err != nil {
		return nil, err
	}
	work := make(map[int64]*planned)
	for i := range plans {
		if p := &plans[i]; of(p.WorkspaceID) {
			work[p.ID] = &planned{workspaceID: p.WorkspaceID, plan: p}
		}
	}
	for _, w := range windows {
		if w.PlanID == 0 || w.StartsAt <= now || !of(w.WorkspaceID) {
			continue
		}
		if work[w.PlanID] == nil {
			work[w.PlanID] = &planned{workspaceID: w.WorkspaceID}
		}
		work[w.PlanID].coming = append(work[w.PlanID].coming, w)
	}
	return work, nil
}

// workspaceZones are the clocks of all workspaces.
func (s *Service) workspaceZones(ctx context.Context) (map[int64]*rimewatch.Clocks, error) {
	workspaces, err := s.store.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	all := make(map[int64]*rimewatch.Clocks)
	for i := range workspaces {
		id := workspaces[i].ID
		all[id] = &rimewatch.Clocks{Workspace: rimewatch.ZoneOf(workspaces[i].TimeZone), Sites: make(map[int64]*time.Location), Devices: func(device int64) (int64, bool) {
			v := s.store.Identity(device)
			if v == nil || v.WorkspaceID != id {
				return 0, false
			}
			return v.SiteID, true
		}}
	}
	sites, err := s.store.Everywhere().AllSites(ctx)
	for i := range sites {
		if c := all[sites[i].WorkspaceID]; c != nil {
			c.Sites[sites[i].ID] = rimewatch.ZoneOf(sites[i].TimeZone)
		}
	}
	return all, err
}
