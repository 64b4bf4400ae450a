package store

import (
	"context"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestSettingsCache: settings are read again after a second, when they were changed here,
// and when the clock was set back.
func TestSettingsCache(t *testing.T) {
	asked := 0
	c := SettingsCache{Load: func(context.Context, int64) (rimewatch.Workspace, error) {
		asked++
		return rimewatch.Workspace{RawDays: asked}, nil
	}}
	for _, step := range []struct {
		at   rimewatch.Time
		want int
	}{{1000, 1}, {1500, 1}, {1900, 2}, {1000, 3}, {1100, 3}} { // at last the clock was set back
		if w, err := c.Get(t.Context(), 1, step.at); err != nil || w.RawDays != step.want {
			t.Errorf("at %d: read %d times, %v", step.at, w.RawDays, err)
		}
	}
	if c.Forget(1); asked != 3 {
		t.Error("forgetting reads")
	}
	if w, _ := c.Get(t.Context(), 1, 1100); w.RawDays != 4 {
		t.Error("what was changed is not read")
	}
}
