package ingest

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// totals are a workspace's counts, kept up with every commit, and its health,
// brought up to date twice a second.
type totals struct {
	devices, online   int
	warning, critical int
	fleet             health.Fleet
}

// Summary returns the health of a workspace's fleet now. It is O(1): everything
// is kept up with the commits.
func (s *Service) Summary(workspaceID int64) wire.HealthSummary {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t := s.totals[workspaceID]
	if t == nil {
		t = &totals{}
	}
	return wire.HealthSummary{
		TotalDevices: t.devices, OnlineDevices: t.online, OfflineDevices: t.devices - t.online,
		ActiveAlerts: t.warning + t.critical, CriticalAlerts: t.critical, WarningAlerts: t.warning, UnjudgedDevices: t.fleet.Unjudged(),
		HealthScore: t.fleet.Score(), TemperatureCompliance: t.fleet.Compliance(), DataCoverage: t.fleet.Coverage(),
		StrictCompliance: t.fleet.StrictCompliance(),
		ComputedAt:       s.clock(),
	}
}

// DeviceHealth is a device's score, 0–100, and what takes points from it. A
// device that was never heard of has the full score and no drivers.
func (s *Service) DeviceHealth(deviceID int64) (float64, []health.Driver) {
	now := s.clock()
	s.mu.RLock()
	defer s.mu.RUnlock()
	u := s.units[deviceID]
	if u == nil {
		return 100, nil
	}
	var scratch engine.State
	state := u.read(&scratch)
	if state.Presence.LastSeen == 0 {
		return 100, nil
	}
	c := state.Circumstances(u.cfg, now)
	return state.Health.Score(&c), state.Health.Drivers(&c)
}

// DeviceCompliance is what is known of a device's last 24 h.
func (s *Service) DeviceCompliance(deviceID int64) health.Compliance {
	now := s.clock()
	s.mu.RLock()
	defer s.mu.RUnlock()
	u := s.units[deviceID]
	if u == nil {
		return health.Compliance{}
	}
	var scratch engine.State
	return u.read(&scratch).Health.Compliance(&u.cfg.Health, now, u.createdAt)
}

func (s *Service) total(workspaceID int64) *totals {
	t := s.totals[workspaceID]
	if t == nil {
		t = &totals{}
		s.totals[workspaceID] = t
	}
	return t
}

func (t *totals) add(online bool, alerts []*rimewatch.Alert, sign int) {
	t.devices += sign
	if online {
		t.online += sign
	}
	t.addAlerts(alerts, sign)
}

func (t *totals) addAlerts(alerts []*rimewatch.Alert, sign int) {
	for _, a := range alerts {
		if a.Severity == rimewatch.Critical {
			t.critical += sign
		} else {
			t.warning += sign
		}
	}
}

// recount moves a unit from what it was to what it becomes. Under mu, before
// the unit changes.
func (w *writer) recount(u *unit, st *staged) {
	t := w.total(u.workspaceID)
	if !u.added {
		t.add(u.online, u.alerts, -1)
	}
	if st.gone {
		t.fleet.Replace(u.share, health.Share{})
		u.share = health.Share{}
		return
	}
	t.add(st.state.Presence.Online, st.alerts, 1)
	if !u.stale {
		u.stale = true
		w.stale = append(w.stale, u)
	}
}

// recountNew counts a recovered unit.
func (w *writer) recountNew(u *unit, now rimewatch.Time) {
	w.total(u.workspaceID).add(u.online, u.alerts, 1)
	w.refresh(u, now)
	w.ageing = append(w.ageing, u)
}

// refresh brings what a unit contributes to its fleet up to date.
func (w *writer) refresh(u *unit, now rimewatch.Time) {
	var scratch engine.State
	state := u.read(&scratch)
	judged := rimewatch.Judged(u.cfg.Alert.Equipment, &u.cfg.Health.Limits, state.Health.Newest(), now)
	share := health.Share{}
	switch {
	case state.Presence.LastSeen == 0 && judged: // nothing to judge by yet
	case state.Presence.LastSeen == 0:
		share = health.NewUnjudgedShare(health.Compliance{})
	default:
		compliance := state.Health.Compliance(&u.cfg.Health, now, u.createdAt)
		if share = health.NewUnjudgedShare(compliance); judged {
			c := state.Circumstances(u.cfg, now)
			share = health.NewShare(state.Health.Score(&c), compliance)
		}
	}
	w.total(u.workspaceID).fleet.Replace(u.share, share)
	u.share = share
}

// refreshSlice is how many units are refreshed under one hold of the lock.
const refreshSlice = 512

// refreshAll refreshes the units that a commit has changed, and a part of all
// others: a share ages as its window slides, so that each has its turn every
// few minutes.
func (w *writer) refreshAll(now rimewatch.Time) {
	stale := w.stale
	for len(stale) > 0 {
		n := min(len(stale), refreshSlice)
		w.mu.Lock()
		for _, u := range stale[:n] {
			u.stale = false
			if !u.deleted {
				w.refresh(u, now)
			}
		}
		w.mu.Unlock()
		stale = stale[n:]
	}
	clear(w.stale)
	w.stale = w.stale[:0]
	w.refreshAgeing(now)
}

// refreshAgeing takes the next slice of all units in turn.
func (w *writer) refreshAgeing(now rimewatch.Time) {
	if len(w.ageing) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for range min(refreshSlice, len(w.ageing)) {
		if w.nextAgeing >= len(w.ageing) {
			w.nextAgeing = 0
		}
		u := w.ageing[w.nextAgeing]
		if u.deleted {
			last := len(w.ageing) - 1
			w.ageing[w.nextAgeing] = w.ageing[last]
			w.ageing[last] = nil
			w.ageing = w.ageing[:last]
			if last == 0 {
				return
			}
			continue
		}
		w.refresh(u, now)
		w.nextAgeing++
	}
}
