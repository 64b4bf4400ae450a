package ingest

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/prefetch"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// totals are a workspace's counts, kept up with every commit, and its health,
// which follows within two seconds.
type totals struct {
	counts
	seen  [rimewatch.Conditions]int32 // devices by the condition that people see them in
	fleet health.Fleet
}

// counts are of devices and of active alerts.
type counts struct {
	devices, online   int32
	warning, critical int32
}

// tally is what one device counts for.
type tally struct {
	counts
	condition rimewatch.Condition // as far as presence and alerts say
}

// tallyOf returns what a device with its alerts counts for.
func tallyOf(online bool, alerts []*rimewatch.Alert) tally {
	c := alertCounts(alerts)
	c.devices = 1
	if online {
		c.online = 1
	}
	return tally{c, rimewatch.ConditionOf(online, true, alerts)}
}

func alertCounts(alerts []*rimewatch.Alert) (c counts) {
	for _, a := range alerts {
		if a.Severity == rimewatch.Critical {
			c.critical++
		} else {
			c.warning++
		}
	}
	return c
}

// add counts others, or takes them away.
func (c *counts) add(o counts, sign int32) {
	c.devices += sign * o.devices
	c.online += sign * o.online
	c.warning += sign * o.warning
	c.critical += sign * o.critical
}

// replace has a unit count for something else and contribute something else: what it
// counts for must be durable. Under mu.
func (t *totals) replace(u *unit, now tally, share health.Share) {
	t.see(u, -1)
	t.add(u.counted.counts, -1)
	t.add(now.counts, 1)
	t.fleet.Replace(u.share, share)
	u.counted, u.share = now, share
	t.see(u, 1)
}

// see counts the condition of a unit, or takes it away. Presence and alerts count with
// the commit, so that the conditions never say other than the counts do.
func (t *totals) see(u *unit, sign int32) {
	if u.counted.devices == 0 {
		return
	}
	c := u.counted.condition
	if c == rimewatch.ConditionOK && u.share.Unjudged() {
		c = rimewatch.ConditionUnjudged
	}
	t.seen[c] += sign
}

// Summary returns the health of a workspace's fleet now. It is O(1): counts
// are kept up with the commits, what follows from states within two seconds.
func (s *Service) Summary(workspaceID int64) wire.HealthSummary {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t := s.totals[workspaceID]
	if t == nil {
		t = &totals{}
	}
	return t.summary(s.clock())
}

// SummaryOf returns the health of the devices of some sites, and the alerts of these
// devices. It looks at every device of the service.
func (s *Service) SummaryOf(workspaceID int64, sites rimewatch.Sites) wire.HealthSummary {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var t totals
	for u := range s.units.All() {
		if u.workspaceID == workspaceID && sites.Has(u.siteID) && !u.deleted {
			t.add(u.counted.counts, 1)
			t.see(u, 1)
			t.fleet.Replace(health.Share{}, u.share)
		}
	}
	return t.summary(s.clock())
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

// DeviceHealth is a device's score, 0–100, and what takes points from it. A
// device that was never heard of has the full score and no drivers.
func (s *Service) DeviceHealth(deviceID int64) (score float64, drivers []health.Driver) {
	score = 100
	now := s.clock()
	s.look(deviceID, func(u *unit, state *engine.State) {
		if state.Presence.LastSeen != 0 {
			c := state.Circumstances(u.cfg, now)
			score, drivers = state.Health.Score(&c), state.Health.Drivers(&c)
		}
	})
	return score, drivers
}

// DeviceCompliance is what is known of a device's last 24 h.
func (s *Service) DeviceCompliance(deviceID int64) (c health.Compliance) {
	now := s.clock()
	s.look(deviceID, func(u *unit, state *engine.State) {
		c = state.Health.Compliance(&u.cfg.Health, now, u.createdAt)
	})
	return c
}

// DeviceExposure is how long a device was out of limits in the last 24 h.
func (s *Service) DeviceExposure(deviceID int64) (e health.Exposure) {
	now := s.clock()
	s.look(deviceID, func(u *unit, state *engine.State) { e = state.Health.Exposure(&u.cfg.Health, now) })
	return e
}

// DeviceZone is what a device's product zone does while no alert is raised.
func (s *Service) DeviceZone(deviceID int64) (z wire.ZoneState) {
	s.look(deviceID, func(u *unit, state *engine.State) {
		z.OutOfLimitsSince, z.AlertAt = state.Alert.OutOfLimits(&u.cfg.Alert)
		if !u.online {
			z.AlertAt = 0 // delays complete by time only while the device is online
		}
		z.Defrosting = state.Unit.Defrosting()
		if d, ok := state.Unit.Defrost(); ok {
			z.BackBy = d.Back
		}
	})
	return z
}

// DeviceSilence returns how long a device may keep silent, and why.
func (s *Service) DeviceSilence(deviceID int64) (x presence.Silence) {
	s.look(deviceID, func(u *unit, state *engine.State) { x = state.Presence.Silence(u.cfg.Presence) })
	return x
}

// DeviceClock is how far a device's clock runs behind, 0 = nothing is known of that, and
// whether its readings come from senders whose clocks differ.
func (s *Service) DeviceClock(deviceID int64) (behind rimewatch.Time, several bool) {
	s.look(deviceID, func(_ *unit, state *engine.State) { behind, several = state.Behind(), state.SeveralClocks() })
	return behind, several
}

func (s *Service) total(workspaceID int64) *totals {
	t := s.totals[workspaceID]
	if t == nil {
		t = &totals{}
		s.totals[workspaceID] = t
	}
	return t
}

// shareOf returns what a unit contributes to its fleet.
func shareOf(u *unit, state *engine.State, cfg *engine.Config, now rimewatch.Time) health.Share {
	judged := rimewatch.Judged(cfg.Alert.Equipment, &cfg.Health.Limits, state.Health.Newest(), now) && !state.Unit.ZoneFrozen()
	switch {
	case state.Presence.LastSeen == 0 && judged:
		return health.Share{} // nothing to judge by yet
	case state.Presence.LastSeen == 0:
		return health.NewUnjudgedShare(health.Compliance{})
	case judged:
		c := state.Circumstances(cfg, now)
		return health.NewShare(state.Health.Score(&c), state.Health.Compliance(&cfg.Health, now, u.createdAt))
	default:
		return health.NewUnjudgedShare(state.Health.Compliance(&cfg.Health, now, u.createdAt))
	}
}

// shares keep up what the units contribute to their fleets. Of the writer
// goroutine.
type shares struct {
	s     *Service
	stale []*unit // changed since their shares were made
	all   []*unit // refreshed in turn
	next  int
}

// changed notes that a unit's share is older than its state.
func (x *shares) changed(u *unit) {
	if !u.stale {
		u.stale = true
		x.stale = append(x.stale, u)
	}
}

// refresh brings what a unit contributes to its fleet up to date. Under mu.
func (x *shares) refresh(u *unit, state *engine.State, cfg *engine.Config, now rimewatch.Time) {
	x.replace(u, shareOf(u, state, cfg, now), now)
}

// replace has a unit contribute something else to its fleet. Under mu.
func (x *shares) replace(u *unit, share health.Share, now rimewatch.Time) {
	if share != u.share {
		x.s.total(u.workspaceID).replace(u, u.counted, share)
	}
	u.sharedAt = now
}

const (
	// refreshSlice is how many units are refreshed under one hold of the lock.
	refreshSlice = 512
	// turnTicks is how many ticks a turn of all units takes at least: it reads those
	// whose states are not in memory.
	turnTicks = 10
	// shareEvery is how old a share must be to be worked out again with a reading, while
	// the state is at hand; shareAfter when no reading comes.
	shareEvery = 500 * rimewatch.Millisecond
	shareAfter = rimewatch.Second
)

// refreshAll refreshes the units that a commit has changed, and a part of all
// others: a share ages as its window slides, so that each has its turn every
// few minutes.
func (x *shares) refreshAll(now rimewatch.Time) {
	kept := x.stale[:0]
	var away []int64
	for stale := x.stale; len(stale) > 0; {
		n := min(len(stale), refreshSlice)
		x.s.mu.Lock()
		for i, u := range stale[:n] {
			if i+unitsAhead < len(stale) {
				prefetch.Of(stale[i+unitsAhead])
			}
			state := x.s.memory.state(u)
			switch {
			case u.deleted:
				u.stale = false
			case now-u.sharedAt < shareAfter || state == nil && len(away) == refreshSlice:
				kept = append(kept, u)
			case state == nil:
				u.stale = false
				away = append(away, u.id)
			default:
				u.stale = false
				x.refresh(u, state, u.cfg, now)
			}
		}
		x.s.mu.Unlock()
		stale = stale[n:]
	}
	clear(x.stale[len(kept):])
	x.stale = kept
	x.refreshAgeing(away, now)
}

// refreshAgeing takes the next slice of all units in turn, and those that have changed
// and whose states have left memory since.
func (x *shares) refreshAgeing(away []int64, now rimewatch.Time) {
	x.s.mu.Lock()
	for range min(refreshSlice, len(x.all), len(x.all)/turnTicks+1) {
		if x.next >= len(x.all) {
			x.next = 0
		}
		u := x.all[x.next]
		if u.deleted {
			last := len(x.all) - 1
			x.all[x.next] = x.all[last]
			x.all[last] = nil
			x.all = x.all[:last]
			if last == 0 {
				break
			}
			continue
		}
		if state := x.s.memory.state(u); state != nil {
			x.refresh(u, state, u.cfg, now)
		} else {
			away = append(away, u.id)
		}
		x.next++
	}
	x.s.mu.Unlock()
	if len(away) == 0 {
		return
	}
	err := x.s.store.Checkpoints(context.Background(), away, func(c store.Checkpoint) error {
		var state engine.State
		u := x.s.units.Get(c.DeviceID)
		if err := x.s.readCheckpoint(c.State, &facts{}, &state); err != nil {
			return nil //nolint:nilerr // it is reported when the state is needed
		}
		x.s.mu.Lock()
		defer x.s.mu.Unlock()
		x.refresh(u, &state, u.cfg, now)
		return nil
	})
	if err != nil {
		x.s.troubled("read the states of devices", err)
	}
}
