package ingest

import (
	"cmp"
	"context"
	"reflect"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/store"
)

// settings are what people set for many devices at once, and what those are
// judged by. A value is never changed, only replaced.
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

// workspaceLimits are what workspaces override for types of equipment.
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
	sites, err := b.store.AllSites(ctx)
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

// settingsSlice bounds the units that one commit gives other settings.
const settingsSlice = 5000

// RefreshSettings makes the limits of workspaces and the maintenance windows
// that are in the store those that their devices are judged by, and returns when
// they are. It is called after a change; what other processes change is noticed
// within seconds.
func (s *Service) RefreshSettings(ctx context.Context) error {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	now, err := s.readSettings(ctx)
	if err != nil {
		return err
	}
	s.fleet.RLock()
	same := reflect.DeepEqual(now, s.known.settings)
	s.fleet.RUnlock()
	if same && !s.known.lagging.Load() {
		return nil
	}
	s.store.PutLimits(now.limits)
	for {
		r := &request{settings: &now, done: make(chan error, 1)}
		if err := s.inbox.send(ctx, r); err != nil {
			return err
		}
		if len(r.inputs) < settingsSlice {
			return nil
		}
	}
}

// watchSettings refreshes the settings when another process has changed them,
// when a window is too old to matter, or when a commit of them has failed.
func (s *Service) watchSettings() {
	if err := s.RefreshSettings(context.Background()); err != nil && rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
		s.log.Warn("settings of workspaces", "err", err)
	}
}

// takeSettings makes now those of the service and returns the inputs that bring
// them to some of the units that are judged by others. Each carries the change
// alone: a change of the device in the same commit stays what it is.
func (e *evaluator) takeSettings(now *settings) (inputs []store.Input) {
	e.fleet.Lock()
	e.known.settings = *now
	e.fleet.Unlock()
	e.known.lagging.Store(true)
	parsed := make(map[*engine.Config]fleet.Configuration) // thousands of units share one
	for u := range e.fleet.All() {
		is, ok := parsed[u.Config]
		if !ok {
			is = e.fleet.Configs.Parsed(u.Config)
			parsed[u.Config] = is
		}
		want := fleet.Configuration{
			Workspace: now.limits.of(u.WorkspaceID, is.Type), Windows: now.windows.of(u.WorkspaceID, u.Own.siteID, u.ID), OnlyThat: true,
		}
		want.Zone, want.Since = now.zoneOf(u.WorkspaceID, u.Own.siteID)
		if !reflect.DeepEqual(want.Workspace, is.Workspace) || !reflect.DeepEqual(want.Windows, is.Windows) || want.Zone != is.Zone || want.Since != is.Since {
			inputs = append(inputs, store.Input{Kind: store.InputDevice, DeviceID: u.ID, Payload: want.Encode()})
			if len(inputs) == settingsSlice {
				return inputs
			}
		}
	}
	if len(inputs) == 0 {
		e.known.lagging.Store(false)
	}
	return inputs
}
