package core

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// changeSites runs a change of sites; afterwards the fleet in memory knows it,
// too, before devices change. deleted is a site of the workspace that is no more,
// 0 = none.
func (s *Core) changeSites(ctx context.Context, change func() error, workspaceID, deleted int64) error {
	s.exclusive.Lock()
	defer s.exclusive.Unlock()
	defer s.moved.Add(1)
	if err := change(); err != nil || !s.loaded {
		return err
	}
	s.mu.Lock()
	if r := s.fleet.workspaces[workspaceID]; r != nil && deleted != 0 {
		for _, d := range r.list {
			if d.row.SiteID == deleted {
				d.row.setSite(0)
				r.bySerial.put(d.row.Identity)
			}
		}
	}
	s.mu.Unlock()
	// The change is stored already: a failure here only leaves old names on view.
	if err := s.refreshSites(ctx); err != nil {
		s.log.Error("read the sites again", "error", err)
	}
	return nil
}

// Sites implements store.Control.
func (s *Core) Sites() store.Resource[rimewatch.Site] { return sites{s.Tables.Sites(), s} }

// sites are the sites of a store, whose changes the fleet in memory knows.
type sites struct {
	store.Resource[rimewatch.Site]
	core *Core
}

// Create implements store.Resource.
func (s sites) Create(ctx context.Context, x *rimewatch.Site) error {
	return s.core.changeSites(ctx, func() error { return s.Resource.Create(ctx, x) }, x.WorkspaceID, 0)
}

// Update implements store.Resource.
func (s sites) Update(ctx context.Context, workspaceID, id int64, change func(*rimewatch.Site) error) (x rimewatch.Site, err error) {
	err = s.core.changeSites(ctx, func() (err error) {
		x, err = s.Resource.Update(ctx, workspaceID, id, change)
		return err
	}, workspaceID, 0)
	return x, err
}

// Delete implements store.Resource.
func (s sites) Delete(ctx context.Context, workspaceID, id int64) error {
	return s.core.changeSites(ctx, func() error { return s.Resource.Delete(ctx, workspaceID, id) }, workspaceID, id)
}
