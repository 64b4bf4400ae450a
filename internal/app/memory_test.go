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
