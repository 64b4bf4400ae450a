package ingest

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/health"
)

// excursion adds one that ended, if it did, to what the group means. A replay
// adds none: they were committed with their readings.
func (s *Service) excursion(st *staged, e *health.Excursion) {
	if e.End == 0 {
		return
	}
	row := excursionOf(e, st.unit, st.cfg)
	s.group.result.Excursions = append(s.group.result.Excursions, &row)
}

func excursionOf(e *health.Excursion, u *unit, cfg *engine.Config) rimewatch.Excursion {
	row := rimewatch.Excursion{
		WorkspaceID: u.workspaceID, DeviceID: u.id, From: e.Start, To: e.End, Low: !e.High,
		Peak: e.Peak, DegreeMinutes: e.DegreeMinutes, Cause: e.Cause(),
	}
	limit := cfg.Health.Limits.TempMax
	if row.Low {
		limit = cfg.Health.Limits.TempMin
	}
	if limit != nil {
		row.Limit = *limit
	}
	return row
}

// OpenExcursion gives the excursion of a device that lasts, if one does: its To
// and ID are 0, and its cause is what is known so far.
func (s *Service) OpenExcursion(deviceID int64) (rimewatch.Excursion, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	u := s.units[deviceID]
	if u == nil {
		return rimewatch.Excursion{}, false
	}
	var scratch engine.State
	e, ok := u.read(&scratch).Health.Excursion()
	if !ok {
		return rimewatch.Excursion{}, false
	}
	return excursionOf(&e, u, u.cfg), true
}
