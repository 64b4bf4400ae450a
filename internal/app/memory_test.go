package app

import "testing"

func TestStateMemory(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct{ want, all, most int64 }{
		{0, 8 * gib, 2 * gib},
		{1 << 20, 8 * gib, 1 << 20},
		{4 * gib, 8 * gib, 4 * gib},
		{64 * gib, 8 * gib, 4 * gib}, // more than there is
		{0, 0, unknownMemory},
		{64 * gib, 0, 64 * gib},
	} {
		if got := stateMemory(c.want, c.all); got != c.most {
			t.Errorf("want %d of %d: %d, want %d", c.want, c.all, got, c.most)
		}
	}
}

// TestCollectAt: what a collection does not walk is no reason to let the heap grow.
func TestCollectAt(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		live, walked uint64
		percent      int
	}{
		{0, 0, usualPercent},
		{20 * mib, 20 * mib, usualPercent},
		{60 * mib, 25 * mib, 40},    // a thousand devices
		{500 * mib, 120 * mib, 8},   // a hundred thousand
		{4500 * mib, 1100 * mib, 8}, // a million
		{4500 * mib, 20 * mib, leastPercent},
		{90 * mib, 90 * mib, 33}, // nothing but history being read
	} {
		if got := collectAt(c.live, c.walked); got != c.percent {
			t.Errorf("%d MiB, %d of them walked: collected at %d %%, want %d", c.live/mib, c.walked/mib, got, c.percent)
		}
	}
}
