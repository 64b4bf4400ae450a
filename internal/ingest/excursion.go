package ingest

import (
	"cmp"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/health"
)

// excursion adds one that ended, if it did, to what the group means. A replay
// adds none: they were committed with their readings.
func (g *group) excursion(st *staged, e *health.Excursion) {
	if e.End == 0 {
		return
	}
	row := excursionOf(e, st.unit, st.cfg)
	g.result.Excursions = append(g.result.Excursions, &row)
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

// OpenExcursions gives the excursions of a workspace that last, by device, or
// that of one device (0 = of all): To and ID are 0, and the cause is what is
// known so far.
func (s *Service) OpenExcursions(workspaceID, deviceID int64) (list []rimewatch.Excursion) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var scratch engine.State
	look := func(u *unit) {
		if u == nil || u.workspaceID != workspaceID || !u.outside {
			return
		}
		if e, ok := u.read(&scratch).Health.Excursion(); ok {
			list = append(list, excursionOf(&e, u, u.cfg))
		}
	}
	if deviceID != 0 {
		look(s.units[deviceID])
		return list
	}
	for _, u := range s.units {
		look(u)
	}
	slices.SortFunc(list, func(a, b rimewatch.Excursion) int { return cmp.Compare(a.DeviceID, b.DeviceID) })
	return list
}
