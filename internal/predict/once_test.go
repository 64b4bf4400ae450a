package predict

import (
	"testing"

	"pgregory.net/rapid"

	_ "github.com/rimewatch/rimewatch/internal/trial"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// What came within a day and stayed came at once, on whichever of the last ten days;
// what goes on growing did not.
func TestOnce(t *testing.T) {
	for _, tc := range []struct {
		name    string
		windows int
		at      func(i int) float64 // %
		once    bool
	}{
		{"a step a day ago", 20, func(i int) float64 { return step(i, 16, 30) }, true},
		{"a step six days ago", 40, func(i int) float64 { return step(i, 16, 30) }, true},
		{"a step nine days and a half ago", 60, func(i int) float64 { return step(i, 22, 30) }, true},
		{"a step that just leaves what is kept", 60, func(i int) float64 { return step(i, 21, 30) }, true},
		{"a step before the ten days", 80, func(i int) float64 { return step(i, 20, 30) }, true},
		{"wear from the first day", 20, func(i int) float64 { return 2 * float64(i) }, false},
		{"wear that sets in", 40, func(i int) float64 { return 3 * max(0, float64(i-28)) }, false},
		{"a step that goes on growing", 40, func(i int) float64 { return step(i, 16, 20+float64(i-16)) }, false},
		{"nothing", 40, func(int) float64 { return 0 }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var h history
			for i := range tc.windows {
				h.push(unit.Vibration, tc.at(i))
			}
			if got := h.once(unit.Vibration); got > 0.85 != tc.once || !tc.once && got > 0.7 {
				t.Errorf("came at once by %.2f", got)
			}
		})
	}
}

func step(i, at int, by float64) float64 {
	if i < at {
		return 0
	}
	return by
}

// push adds a window in which one channel departs.
func (h *history) push(c unit.Channel, by float64) {
	for k := range trendChannels {
		h.put(k, int(h.next), 0)
	}
	h.put(c, int(h.next), int16(by/c.Floor()*historyUnit))
	h.next = (h.next + 1) % historyLen
	h.n = min(h.n+1, historyLen)
}

// TestHistoryOfTwelveBits: what is within ten floors is kept to the hundredth, what is
// beyond to a third of a floor, and no value touches its neighbours.
func TestHistoryOfTwelveBits(t *testing.T) {
	var h history
	rapid.Check(t, func(t *rapid.T) {
		c, i := unit.Channel(rapid.IntRange(0, int(trendChannels)-1).Draw(t, "channel")), rapid.IntRange(0, historyLen-1).Draw(t, "window")
		v := int16(rapid.IntRange(-32000, 32000).Draw(t, "value"))
		if rapid.Bool().Draw(t, "ordinary") {
			v %= fineMost
		}
		was := h
		h.put(c, i, v)
		for ch := range trendChannels {
			for k := range historyLen {
				got, want, room := h.get(ch, k), was.get(ch, k), int16(0)
				if ch == c && k == i {
					want = v
					if v < -fineMost || v >= fineMost {
						room = coarseStep / 2
					}
				}
				if got-want > room || want-got > room {
					t.Fatalf("channel %d, window %d: %d, want %d", ch, k, got, want)
				}
			}
		}
		again := h.get(c, i)
		if h.put(c, i, again); h.get(c, i) != again {
			t.Fatalf("%d does not stay as it is read", again)
		}
	})
}
