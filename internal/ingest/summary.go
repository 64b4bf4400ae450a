package ingest

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Summary returns the health of a workspace's fleet now. It is O(1): counts
// are kept up with the commits, values that follow from states within two seconds.
func (s *Service) Summary(workspaceID int64) wire.HealthSummary {
	s.fleet.RLock()
	defer s.fleet.RUnlock()
	t := s.known.totals[workspaceID]
	if t == nil {
		t = &totals{}
	}
	return t.summary(s.clock())
}

// SummaryOf returns the health of the devices of some sites, and the alerts of these
// devices. It looks at every device of the service.
func (s *Service) SummaryOf(workspaceID int64, sites rimewatch.Sites) wire.HealthSummary {
	t := s.totalsBy(workspaceID, sites, func(int64) int64 { return 0 })[0]
	if t == nil {
		t = &totals{}
	}
	return t.summary(s.clock())
}

// SummariesOf returns SummaryOf for each of some sites that has a device, and under 0 for the
// devices without a site.
func (s *Service) SummariesOf(workspaceID int64, sites rimewatch.Sites) map[int64]wire.HealthSummary {
	now := s.clock()
	out := make(map[int64]wire.HealthSummary)
	for site, t := range s.totalsBy(workspaceID, sites, func(site int64) int64 { return site }) {
		out[site] = t.summary(now)
	}
	return out
}

// totalsBy adds up the devices of some sites, each under the key of its site.
func (s *Service) totalsBy(workspaceID int64, sites rimewatch.Sites, key func(site int64) int64) map[int64]*totals {
	s.fleet.RLock()
	defer s.fleet.RUnlock()
	out := make(map[int64]*totals)
	for u := range s.fleet.All() {
		if u.WorkspaceID != workspaceID || !sites.Has(u.Own.siteID) || u.Deleted {
			continue
		}
		t := out[key(u.Own.siteID)]
		if t == nil {
			t = &totals{}
			out[key(u.Own.siteID)] = t
		}
		t.add(u.Own.counted.counts, 1)
		t.see(u, 1)
		t.fleet.Replace(health.Share{}, u.Own.share)
	}
	return out
}

func (t *totals) summary(now rimewatch.Time) wire.HealthSummary {
	return wire.HealthSummary{
		TotalDevices: int(t.devices), OnlineDevices: int(t.online), OfflineDevices: int(t.devices - t.online),
		ActiveAlerts: int(t.warning + t.critical), CriticalAlerts: int(t.critical), WarningAlerts: int(t.warning), UnjudgedDevices: t.fleet.Unjudged(),
		HealthScore: t.fleet.Score(), TemperatureCompliance: t.fleet.Compliance(), DataCoverage: t.fleet.Coverage(),
		StrictCompliance: t.fleet.StrictCompliance(),
		Conditions: wire.Conditions{
			Critical: int(t.seen[rimewatch.ConditionCritical]), Warning: int(t.seen[rimewatch.ConditionWarning]),
			Predicted: int(t.seen[rimewatch.ConditionPredicted]), Offline: int(t.seen[rimewatch.ConditionOffline]),
			Unjudged: int(t.seen[rimewatch.ConditionUnjudged]), OK: int(t.seen[rimewatch.ConditionOK]),
		},
		ComputedAt: now,
	}
}

// DeviceHealth returns a device's score, 0–100, and the drivers that lower it. A device that was
// never heard has the full score and no drivers.
func (s *Service) DeviceHealth(deviceID int64) (score float64, drivers []health.Driver) {
	score = 100
	now := s.clock()
	s.look(deviceID, func(u *unit, state *engine.State) {
		if state.Presence.LastSeen != 0 {
			c := state.Circumstances(u.Config, now)
			score, drivers = state.Health.Score(&c), state.Health.Drivers(&c)
		}
	})
	return score, drivers
}

// DeviceCompliance returns the compliance of a device in the last 24 h.
func (s *Service) DeviceCompliance(deviceID int64) (c health.Compliance) {
	now := s.clock()
	s.look(deviceID, func(u *unit, state *engine.State) {
		c = state.Health.Compliance(&u.Config.Health, now, u.CreatedAt)
	})
	return c
}

// DeviceExposure returns how long a device was out of limits in the last 24 h.
func (s *Service) DeviceExposure(deviceID int64) (e health.Exposure) {
	now := s.clock()
	s.look(deviceID, func(u *unit, state *engine.State) { e = state.Health.Exposure(&u.Config.Health, now) })
	return e
}

// DeviceZone returns the state of a device's product zone while no alert is raised.
func (s *Service) DeviceZone(deviceID int64) (z wire.ZoneState) {
	s.look(deviceID, func(u *unit, state *engine.State) {
		z.OutOfLimitsSince, z.AlertAt = state.Alert.OutOfLimits(&u.Config.Alert)
		if !u.Online {
			z.AlertAt = 0 // delays complete by time only while the device is online
		}
		z.BackSince, z.ClearAt = state.Alert.BackInside(&u.Config.Alert)
		z.Defrosting = state.Unit.Defrosting()
		if d, ok := state.Unit.Defrost(); ok {
			z.BackBy = d.Back
		}
	})
	return z
}

// DeviceSilence returns how long a device may keep silent, and why.
func (s *Service) DeviceSilence(deviceID int64) (x presence.Silence) {
	s.look(deviceID, func(u *unit, state *engine.State) { x = state.Presence.Silence(u.Config.Presence) })
	return x
}

// DeviceClock returns how far a device's clock runs behind, 0 = not known, and
// whether its readings come from senders whose clocks differ.
func (s *Service) DeviceClock(deviceID int64) (behind rimewatch.Time, several bool) {
	s.look(deviceID, func(_ *unit, state *engine.State) { behind, several = state.Behind(), state.SeveralClocks() })
	return behind, several
}
