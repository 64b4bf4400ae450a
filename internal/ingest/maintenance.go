package ingest

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Maintenance returns the window that a device is in, if it is in one.
func (s *Service) Maintenance(deviceID int64) (w rimewatch.MaintenanceWindow, ok bool) {
	now := s.clock()
	s.fleet.RLock()
	defer s.fleet.RUnlock()
	u := s.fleet.Get(deviceID)
	if u == nil {
		return w, false
	}
	for _, one := range s.known.settings.windows[u.WorkspaceID] {
		if one.StartsAt <= now && now < one.EndsAt && one.Covers(u.Own.siteID, u.ID) && one.EndsAt > w.EndsAt {
			w, ok = one, true
		}
	}
	return w, ok
}

// MaintenanceWindows returns those of the store, wrapped so that a change reaches the devices.
func (s *Service) MaintenanceWindows() store.Resource[rimewatch.MaintenanceWindow] {
	return windows{s.store.Routing().MaintenanceWindows(), s}
}

type windows struct {
	store.Resource[rimewatch.MaintenanceWindow]
	s *Service
}

// Create implements store.Resource.
func (w windows) Create(ctx context.Context, x *rimewatch.MaintenanceWindow) error {
	if err := w.Resource.Create(ctx, x); err != nil {
		return err
	}
	return w.s.RefreshSettings(ctx)
}

// Update implements store.Resource.
func (w windows) Update(ctx context.Context, workspaceID, id int64, change func(*rimewatch.MaintenanceWindow) error) (rimewatch.MaintenanceWindow, error) {
	x, err := w.Resource.Update(ctx, workspaceID, id, change)
	if err == nil {
		err = w.s.RefreshSettings(ctx)
	}
	return x, err
}
