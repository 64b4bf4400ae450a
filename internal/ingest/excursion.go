package ingest

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
)

// OpenExcursions returns the excursions of a workspace that last, by device, or
// that of one device (0 = of all): To and ID are 0, and the cause is the one known so far.
func (s *Service) OpenExcursions(workspaceID, deviceID int64) (list []rimewatch.Excursion) {
	ids := []int64{deviceID}
	if deviceID == 0 {
		ids = s.outside(workspaceID)
	}
	for _, id := range ids {
		s.look(id, func(u *unit, state *engine.State) {
			if u.WorkspaceID != workspaceID {
				return
			}
			if e, ok := state.Health.Excursion(); ok {
				list = append(list, excursionOf(&e, u, u.Config))
			}
			if e, ok := state.Health.Day(); ok {
				list = append(list, excursionOf(&e, u, u.Config))
			}
		})
	}
	return list
}

// outside lists the devices of a workspace whose excursion lasts, by id.
func (s *Service) outside(workspaceID int64) (ids []int64) {
	s.fleet.RLock()
	defer s.fleet.RUnlock()
	for u := range s.fleet.All() {
		if u.Outside && u.WorkspaceID == workspaceID {
			ids = append(ids, u.ID)
		}
	}
	return ids
}
