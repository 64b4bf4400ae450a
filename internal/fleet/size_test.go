package fleet

import (
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

// TestPackedStates: what a device takes in memory while it is not in use, from
// its first hour to the time when all is known of it.
func TestPackedStates(t *testing.T) {
	cfg := engine.ConfigOf(&rimewatch.Device{EquipmentType: "walkin_freezer"})
	start := rimewatch.Time(1_790_000_000_000)
	u, err := simulate.New(simulate.Config{Equipment: "walkin_freezer", Seed: 2, Start: start})
	if err != nil {
		t.Fatal(err)
	}
	var s engine.State
	for _, at := range []struct{ days, most int }{{0, 500}, {1, 1200}, {28, 1860}} {
		for u.NextAt() < start+rimewatch.Time(at.days)*rimewatch.Day+rimewatch.Hour/3 {
			r := u.Next()
			s.Step(&cfg, nil, &engine.Input{Kind: engine.Reading, Reading: &r, Last: true}, r.At, nil)
		}
		n := len(packState(nil, &s))
		t.Logf("after %d days: %d bytes", at.days, n)
		if n > at.most {
			t.Errorf("%d bytes after %d days, want at most %d", n, at.days, at.most)
		}
	}
}
