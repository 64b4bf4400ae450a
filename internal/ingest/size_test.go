package ingest

import (
	"math"
	"testing"
)

// TestStragglerSlice: what catches up between two groups is bounded by what it has to
// catch up with, so that a POST does not wait for it.
func TestStragglerSlice(t *testing.T) {
	for _, c := range []struct {
		units  int
		inputs int64
		want   int
	}{
		{1_000_000, 0, mostPending},
		{1_000_000, 2_000_000, mostPending},
		{10_000, 1_500_000, 218},
		{1000, 4_000_000, fewestPending},
		{0, 0, fewestPending},
	} {
		if got := pendingSlice(c.units, c.inputs); got != c.want {
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
