package ingest

import (
	"cmp"
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/fleet"
)

// settings are the people's settings that many devices are judged by. A value is never changed,
// only replaced.
type settings struct {
	limits  workspaceLimits
	windows maintenance
	days    map[int64]days   // by workspace
	zones   map[int64]string // IANA names, by site
}

// days are the local days by which short times out of range add up.
type days struct {
	zone  string // of the workspace, for devices without a site
	since rimewatch.Time
}

// zoneOf returns the name of the zone whose days hold for a device, and since when.
func (s *settings) zoneOf(workspaceID, siteID int64) (zone string, since rimewatch.Time) {
	d := s.days[workspaceID]
	return cmp.Or(s.zones[siteID], d.zone, "UTC"), d.since
}

// workspaceLimits are the overrides of workspaces for types of equipment.
type workspaceLimits map[int64]map[string]rimewatch.LimitOverrides

// of returns the overrides that hold for a device, nil when there are none.
func (l workspaceLimits) of(workspaceID int64, equipmentType string) *rimewatch.LimitOverrides {
	w := rimewatch.Workspace{Limits: l[workspaceID]}
	return w.LimitsOf(equipmentType)
}

func (b *base) readSettings(ctx context.Context) (settings, error) {
	list, err := b.store.Workspaces(ctx)
	if err != nil {
		return settings{}, err
	}
	out := settings{limits: make(workspaceLimits), days: make(map[int64]days, len(list)), zones: make(map[int64]string)}
	sites, err := b.store.Everywhere().AllSites(ctx)
	if err != nil {
		return settings{}, err
	}
	for i := range sites {
		out.zones[sites[i].ID] = sites[i].TimeZone
	}
	for i := range list {
		out.days[list[i].ID] = days{list[i].TimeZone, list[i].ExposureSince}
		if len(list[i].Limits) > 0 {
			out.limits[list[i].ID] = list[i].Limits
		}
	}
	out.windows, err = b.readMaintenance(ctx)
	return out, err
}

// windowKept is how long after its end a window still matters: for as long as
// compliance looks back, and a margin.
const windowKept = 26 * rimewatch.Hour

// maintenance are the windows that matter, by workspace. They reach the devices as part of
// their configuration, ahead of their time: the engine then knows by itself what lies inside
// one and when it ends, and a replay comes to the same.
type maintenance map[int64][]rimewatch.MaintenanceWindow

func (b *base) readMaintenance(ctx context.Context) (maintenance, error) {
	list, err := b.store.Everywhere().AllMaintenanceWindows(ctx, b.clock()-windowKept)
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
