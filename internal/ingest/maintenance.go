package ingest

import (
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Maintenance windows reach the devices as part of their configuration, ahead
// of their time: the engine then knows by itself what lies inside one and when
// it ends, and a replay comes to the same.

// windowKept is how long after its end a window still matters: for as long as
// compliance looks back, and a margin.
const windowKept = 26 * rimewatch.Hour

// maintenance are the windows that matter, by workspace.
type maintenance map[int64][]rimewatch.MaintenanceWindow

func (b *base) readMaintenance(ctx context.Context) (maintenance, error) {
	list, err := b.store.AllMaintenanceWindows(ctx, b.clock()-windowKept)
	if err != nil {
		return nil, err
	}
	out := make(maintenance)
	for _, w := range list {
		out[w.WorkspaceID] = append(out[w.WorkspaceID], w)
	}
	return out, nil
}

// of returns the windows of a device, oldest first and apart from each other, nil
// when there are none.
func (m maintenance) of(workspaceID, siteID, deviceID int64) []fleet.Window {
	var list []fleet.Window
	for i := range m[workspaceID] {
		if w := &m[workspaceID][i]; w.StartsAt < w.EndsAt && w.Covers(siteID, deviceID) {
			list = append(list, fleet.Window{int64(w.StartsAt), int64(w.EndsAt)})
		}
	}
	slices.SortFunc(list, func(a, b fleet.Window) int { return int(min(max(a[0]-b[0], -1), 1)) })
	apart := list[:0]
	for _, w := range list {
		if n := len(apart); n > 0 && w[0] <= apart[n-1][1] {
			apart[n-1][1] = max(apart[n-1][1], w[1])
		} else {
			apart = append(apart, w)
		}
	}
	return apart
}

// Maintenance is the window that a device is in, if it is in one.
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

// MaintenanceWindows are those of the store. Their devices know every change.
func (s *Service) MaintenanceWindows() store.Resource[rimewatch.MaintenanceWindow] {
	return windows{s.store.MaintenanceWindows(), s}
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
