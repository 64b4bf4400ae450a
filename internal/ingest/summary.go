package ingest

import (
	"github.com/rimewatch/rimewatch"
)

// totals are a workspace's counts, kept up with every commit.
type totals struct {
	devices, online   int
	warning, critical int
}

// Summary is the health of a workspace's fleet at a moment.
type Summary struct {
	TotalDevices, OnlineDevices, OfflineDevices   int
	ActiveAlerts, CriticalAlerts, WarningAlerts   int
	HealthScore, TemperatureCompliance, DataCover float64
	ComputedAt                                    rimewatch.Time
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
func (s *Service) recount(u *unit, st *staged) {
	t := s.total(u.workspaceID)
	if !u.added {
		t.add(u.state.Presence.Online, u.alerts, -1)
	}
	if !st.gone {
		t.add(st.state.Presence.Online, st.alerts, 1)
	}
}

// recountNew counts a recovered unit.
func (s *Service) recountNew(u *unit) {
	s.total(u.workspaceID).add(u.state.Presence.Online, u.alerts, 1)
}
