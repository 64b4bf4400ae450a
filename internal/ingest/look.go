package ingest

import (
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/fleet"
)

// StateBytes is the share of a device's state in Config.StateMemory.
const StateBytes = fleet.StateBytes

// Memory returns the present memory of the devices' states.
func (s *Service) Memory() fleet.Memory { return s.fleet.Memory() }

// look calls f with a unit and its state, under the lock; not at all when there is no
// such device.
func (s *Service) look(deviceID int64, f func(u *unit, state *engine.State)) {
	if err := s.fleet.Look(deviceID, f); err != nil {
		s.troubled("read the state of a device", err)
	}
}
