package unit

import (
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestZoneStands: a zone that shows one number for three times as long as it ever did, and for two
// hours at least, is stuck though nothing else is measured; from twice as long on the unit is not judged by it.
// Once it moves it is right again.
func TestZoneStands(t *testing.T) {
	z := newZones(t, "reach_in_freezer")
	for i := range 3 * 24 * 12 { // every cycle it stands still for an hour
		z.send(5*minute, []float64{-18, -18, -18, -18, -18, -18, -18, -18, -18, -18, -18, -18, -17.5, -17, -17.5}[i%15])
	}
	if z.ZoneStill() != 0 {
		t.Fatal("it is stuck while it moves")
	}
	z.send(5*minute, -17)
	from := z.at + 5*minute
	for range 12 * 8 {
		z.send(5*minute, -18)
		stuck, frozen := z.at-from >= 3*hour, z.at-from >= 6*hour
		if stuck != (z.ZoneStill() == from) || frozen != z.ZoneFrozen() || stuck != z.Broken().Has(rimewatch.ProductZoneTemp) {
			t.Fatalf("after %d min: stuck since %v, frozen %v, broken %v", (z.at-from)/minute, z.ZoneStill(), z.ZoneFrozen(), z.Broken().Names())
		}
	}
	if !z.send(5*minute, -18.1) || z.ZoneFrozen() || z.Broken() != 0 {
		t.Error("it has moved and does not count")
	}
}

// TestZoneNeverMoved: a zone that never moved is stuck after a day where others of its type move.
func TestZoneNeverMoved(t *testing.T) {
	for _, c := range []struct {
		kind  string
		shows float64
		stuck bool
	}{
		{"reach_in_freezer", -18, true},
		{"vaccine_refrigerator", 4.5, true},
		{"vaccine_refrigerator", 5, false}, // whole degrees may hide what it does
		{"other", -18, false},
	} {
		z := newZones(t, c.kind)
		for i := range 3 * 24 * 12 {
			z.send(5*minute, c.shows)
			if day := i >= 24*12; (z.ZoneStill() != 0) != (c.stuck && day) || z.ZoneFrozen() != (c.stuck && i >= 2*24*12) {
				t.Fatalf("%s at %v after %d h: stuck since %v, frozen %v", c.kind, c.shows, i/12, z.ZoneStill(), z.ZoneFrozen())
			}
		}
	}
}
