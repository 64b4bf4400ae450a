package engine

import (
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestOfflineOfAType: what a workspace sets for a type holds for devices that have nothing of their own.
func TestOfflineOfAType(t *testing.T) {
	five, none := 300, 0
	for _, c := range []struct {
		own       int
		workspace *int
		want      int
	}{{0, nil, 0}, {0, &five, 300}, {90, &five, 90}, {90, nil, 90}, {0, &none, 0}} {
		d := rimewatch.Device{EquipmentType: "walkin_cooler", OfflineAfterS: c.own, WorkspaceLimits: &rimewatch.LimitOverrides{OfflineAfterS: c.workspace}}
		if got := ConfigOf(&d).Presence.OfflineAfterS; got != c.want {
			t.Errorf("%+v: %d s, want %d", c, got, c.want)
		}
	}
}
