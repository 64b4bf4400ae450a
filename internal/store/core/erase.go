package core

import (
	"context"
	"fmt"

	"github.com/rimewatch/rimewatch"
)

// eraser is the part of a Core that erases workspaces.
type eraser struct{ core *Core }

// EraseWorkspace implements store.Control. Readings in the log are sealed first, so that no start
// finds readings of unknown devices.
func (e eraser) EraseWorkspace(ctx context.Context, id int64) error {
	s := e.core
	w, err := s.Workspace(ctx, id)
	if err != nil {
		return err
	}
	s.mu.RLock()
	r := s.fleet.workspaces[id]
	left := r != nil && len(r.list) > 0
	s.mu.RUnlock()
	if left {
		return rimewatch.Errorf(rimewatch.CodeConflict, "The workspace still has devices.")
	}
	if w.DeleteAt == 0 || rimewatch.TimeOf(s.cfg.Now()) < w.DeleteAt {
		return rimewatch.Errorf(rimewatch.CodeConflict, "This workspace is not to be erased now.")
	}
	defer s.moved.Add(1)
	if err := s.Rest(ctx); err != nil {
		return err
	}
	if err := eraseReadings(ctx, s.disk, id); err != nil {
		return fmt.Errorf("erase workspace %d: %w", id, err)
	}
	if err := s.EraseTables(ctx, id); err != nil {
		return fmt.Errorf("erase workspace %d: %w", id, err)
	}
	s.mu.Lock()
	delete(s.fleet.workspaces, id)
	s.mu.Unlock()
	return s.refreshSites(ctx)
}

// eraseReadings deletes the chunks and rollups of a workspace, a slice at a time.
func eraseReadings(ctx context.Context, disk Disk, id int64) error {
	for {
		list, err := disk.Expired(ctx, id, rimewatch.MaxTime+1, retainSlice)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return disk.DropRollups(ctx, id, rimewatch.MaxTime+1)
		}
		gone := make([]Rollup, len(list))
		for i := range list {
			gone[i].DeviceSpan = list[i] // without data: nothing takes its place
		}
		if err := disk.RollUp(ctx, gone); err != nil {
			return err
		}
	}
}
