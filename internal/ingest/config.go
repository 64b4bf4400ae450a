package ingest

import (
	"context"
	"reflect"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/store"
)

// encodeConfig returns a device's configuration.
func (e *evaluator) encodeConfig(d *rimewatch.Device) []byte {
	c := fleet.Configuration{
		Workspace: e.known.settings.limits.of(d.WorkspaceID, d.EquipmentType), Windows: e.known.settings.windows.of(d.WorkspaceID, d.SiteID, d.ID),
		Type: d.EquipmentType, IntervalS: d.HeartbeatIntervalS, OfflineAfter: d.OfflineAfterS, Habit: d.Habit, Offsets: d.Offsets, Due: d.CalibrationDue,
	}
	c.Zone, c.Since = e.zoneOf(d)
	if !d.Limits.Empty() {
		c.Limits = d.Limits
	}
	return c.Encode()
}

// zoneOf is settings.zoneOf of a device, whose site may be newer than the settings.
func (e *evaluator) zoneOf(d *rimewatch.Device) (zone string, since rimewatch.Time) {
	zone, since = e.known.settings.zoneOf(d.WorkspaceID, d.SiteID)
	if d.SiteID != 0 && e.known.settings.zones[d.SiteID] == "" {
		if site, err := e.store.Sites().Get(context.Background(), d.WorkspaceID, d.SiteID); err == nil {
			zone = site.TimeZone
		}
	}
	return zone, since
}

// plainConfigs are the configurations of devices without settings of their own: most of a large
// fleet have the same.
type plainConfigs map[plainConfig]*engine.Config

type plainConfig struct {
	workspaceID int64
	zone        string
	kind        string
	intervalS   int
	offlineS    int
	habit       rimewatch.Habit
}

func (p plainConfigs) get(e *evaluator, d *rimewatch.Device) *engine.Config {
	if !d.Limits.Empty() || len(d.Offsets) > 0 || len(d.CalibrationDue) > 0 || len(e.known.settings.windows[d.WorkspaceID]) > 0 {
		return e.fleet.Configs.Get(e.encodeConfig(d))
	}
	zone, _ := e.known.settings.zoneOf(d.WorkspaceID, d.SiteID)
	key := plainConfig{d.WorkspaceID, zone, d.EquipmentType, d.HeartbeatIntervalS, d.OfflineAfterS, d.Habit}
	cfg := p[key]
	if cfg == nil {
		cfg = e.fleet.Configs.Get(e.encodeConfig(d))
		p[key] = cfg
	}
	return cfg
}

// settingsSlice bounds the units that one commit gives other settings.
const settingsSlice = 5000

// takeSettings makes now those of the service and returns the inputs that bring
// them to some of the units that are judged by others. Each carries the change
// alone, so that a change of the device in the same commit stays.
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
