package store

import (
	"context"
	"sync"

	"github.com/rimewatch/rimewatch"
)

// settingsFor is how long the settings of a workspace are believed, so that a
// change works everywhere within a second.
const settingsFor = 900 * rimewatch.Millisecond

// SettingsCache remembers the settings of workspaces for the hot path.
type SettingsCache struct {
	Load func(ctx context.Context, workspaceID int64) (rimewatch.Workspace, error)
	mu   sync.RWMutex
	byID map[int64]cachedSettings
}

type cachedSettings struct {
	workspace rimewatch.Workspace
	at        rimewatch.Time
}

// maxSettings bounds the memory; beyond it the cache starts empty.
const maxSettings = 10_000

// Get returns the settings of a workspace, at most settingsFor old.
func (c *SettingsCache) Get(ctx context.Context, workspaceID int64, now rimewatch.Time) (rimewatch.Workspace, error) {
	c.mu.RLock()
	e, ok := c.byID[workspaceID]
	c.mu.RUnlock()
	if age := now - e.at; ok && age >= 0 && age < settingsFor {
		return e.workspace, nil
	}
	w, err := c.Load(ctx, workspaceID)
	if err != nil {
		return w, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil || len(c.byID) >= maxSettings {
		c.byID = make(map[int64]cachedSettings)
	}
	c.byID[workspaceID] = cachedSettings{w, now}
	return w, nil
}

// Forget drops the cached settings of a workspace after a change.
func (c *SettingsCache) Forget(workspaceID int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byID, workspaceID)
}
