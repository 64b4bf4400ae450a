package rimewatch_test

import (
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestShortRunGrace: with one delay it is as docs/records.md says.
func TestShortRunGrace(t *testing.T) {
	for slug, want := range map[string]rimewatch.Time{"walkin_freezer": 220, "walkin_cooler": 165, "display_case_open": 240, "vaccine_refrigerator": 39, "blood_refrigerator": 30, "other": 180} {
		e, _ := rimewatch.EquipmentBySlug(slug)
		if got := e.ShortRunGrace() + rimewatch.Time(e.Limits.DelayS)*rimewatch.Second; got != want*rimewatch.Minute {
			t.Errorf("%s: %d min, want %d", slug, got/rimewatch.Minute, want)
		}
	}
}
