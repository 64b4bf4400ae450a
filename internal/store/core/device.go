package core

import (
	"fmt"
	"reflect"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// settle works out every device op of a group against the fleet and the ops
// before it, without changing either.
func (c *commit) settle() {
	s, g := c.s, c.g
	staged := make(map[string]*rimewatch.Device, len(g.Devices)) // by workspace and serial; nil = deleted
	more := make(map[int64]int)                                  // devices than the fleet has, by workspace
	for _, op := range g.Devices {
		row, ok := staged[stageKey(op.WorkspaceID, op.Serial)]
		if !ok {
			s.mu.RLock()
			if d := s.fleet.find(op.WorkspaceID, rimewatch.SerialKey(op.Serial)); d != nil {
				row = new(d.row.device())
			}
			s.mu.RUnlock()
		}
		op.Err = settleOne(op, row, g.Now)
		if op.Err == nil && op.Create != nil {
			s.mu.RLock()
			op.Err = s.fleet.room(op.WorkspaceID, more[op.WorkspaceID], s.cfg.MaxDevices)
			s.mu.RUnlock()
		}
		if op.Err != nil {
			continue
		}
		switch {
		case op.Create != nil:
			more[op.WorkspaceID]++
		case op.Delete:
			more[op.WorkspaceID]--
		}
		if op.Delete {
			staged[stageKey(op.WorkspaceID, op.Serial)] = nil
		} else {
			staged[stageKey(op.WorkspaceID, op.Serial)] = &op.Device
		}
	}
}

func settleOne(op *store.DeviceOp, row *rimewatch.Device, now rimewatch.Time) error {
	switch {
	case op.Create != nil && row != nil:
		return rimewatch.Errorf(rimewatch.CodeSerialTaken, "The serial %s is already in use.", op.Serial).With("serial", "is taken")
	case op.Create != nil:
		op.Device = *op.Create
		op.Device.CreatedAt, op.Device.UpdatedAt = now, now
		return nil
	case row == nil:
		return errDevice()
	}
	if op.Delete {
		op.Device = *row
		op.Device.UpdatedAt, op.Device.DeletedAt = now, now
		return nil
	}
	if !reflect.DeepEqual(op.Was, row) {
		return store.ErrOutdated
	}
	op.Device = *op.Change
	op.Device.UpdatedAt = now
	return nil
}

func stageKey(workspaceID int64, serial string) string {
	return fmt.Sprintf("%d/%s", workspaceID, rimewatch.SerialKey(serial))
}
