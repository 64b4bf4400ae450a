package ingest

import (
	"context"
	"reflect"

	"github.com/rimewatch/rimewatch"
)

// RefreshSettings has the devices judged by the limits of workspaces and the maintenance windows
// in the store, and returns when they are. It is called after a change; changes by other
// processes are noticed within seconds.
func (s *Service) RefreshSettings(ctx context.Context) error {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	now, err := s.readSettings(ctx)
	if err != nil {
		return err
	}
	s.fleet.RLock()
	same := reflect.DeepEqual(now, s.known.settings)
	s.fleet.RUnlock()
	if same && !s.known.lagging.Load() {
		return nil
	}
	s.store.PutLimits(now.limits)
	for {
		r := &request{settings: &now, done: make(chan error, 1)}
		if err := s.inbox.send(ctx, r); err != nil {
			return err
		}
		if len(r.inputs) < settingsSlice {
			return nil
		}
	}
}

// watchSettings refreshes the settings when another process has changed them,
// when a window is too old to matter, or when a commit of them has failed.
func (s *Service) watchSettings() {
	if err := s.RefreshSettings(context.Background()); err != nil && rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
		s.log.Warn("settings of workspaces", "err", err)
	}
}

// applySettings applies the settings in force to all units: a crash may have come
// between a change and its reaching them.
func (s *Service) applySettings(ctx context.Context) {
	s.known.lagging.Store(true)
	if err := s.RefreshSettings(ctx); err != nil {
		s.troubled("apply the settings of workspaces", err)
	}
}

// SiteDeleted is called when a site is deleted: its devices are without one, its
// alert is over, and their own count again.
func (s *Service) SiteDeleted(ctx context.Context, id int64) error {
	if err := s.inbox.send(ctx, &request{siteGone: id, done: make(chan error, 1)}); err != nil {
		return err
	}
	s.known.lagging.Store(true) // windows of the site are theirs no more
	return s.RefreshSettings(ctx)
}
