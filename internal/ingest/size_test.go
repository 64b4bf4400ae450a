package ingest

import (
	"math"
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
	for _, at := range []struct{ days, most int }{{0, 500}, {1, 1200}, {28, 1830}} {
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

// TestStragglerSlice: what catches up between two groups is bounded by what it has to
// catch up with, so that a POST does not wait for it.
func TestStragglerSlice(t *testing.T) {
	for _, c := range []struct {
		units  int
		inputs int64
		want   int
	}{
		{1_000_000, 0, mostStragglers},
		{1_000_000, 2_000_000, mostStragglers},
		{10_000, 1_500_000, 218},
		{1000, 4_000_000, fewestStragglers},
		{0, 0, fewestStragglers},
	} {
		if got := stragglerSlice(c.units, c.inputs); got != c.want {
			t.Errorf("%d of %d units with %d inputs catch up at a time, want %d", got, c.units, c.inputs, c.want)
		}
	}
}

// TestStartsBehind: a fleet starts behind for its size, and a small one for what it has to
// catch up with.
func TestStartsBehind(t *testing.T) {
	c := Config{ReadFirst: 20_000}
	for _, x := range []struct {
		devices int
		inputs  int64
		want    bool
	}{
		{20_000, 9, false}, {20_001, 0, true}, {10_000, 100_000, false}, {10_000, 100_010, true}, {1000, 1_500_000, true}, {0, 0, false},
	} {
		if got := c.startsBehind(x.devices, x.inputs); got != x.want {
			t.Errorf("%d devices with %d inputs start behind: %v, want %v", x.devices, x.inputs, got, x.want)
		}
	}
	if c = (Config{ReadFirst: math.MaxInt}); c.startsBehind(1_000_000, 1_000_000) {
		t.Error("it starts behind where it must not")
	}
}
