package predict

import (
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestStateIsSmall: a hundred thousand devices lie packed in checkpoints. A device is
// what its unit has learnt, for the rules too, and what the predictor has.
func TestStateIsSmall(t *testing.T) {
	most := map[int]int{20: 380, 60: 415, 1440: 945, 40 * 1440: 1530} // bytes by readings, one a minute
	for _, equipment := range []string{"walkin_freezer", "reach_in_cooler", "display_case_open"} {
		var s device
		n := 0
		play(t, equipment, 3, "", 41, &s, func(*rimewatch.Reading) bool {
			n++
			if limit, ok := most[n]; ok {
				if got := len(s.AppendBinary(nil)); got > limit {
					t.Errorf("%s: %d bytes after %d readings, want at most %d", equipment, got, n, limit)
				}
			}
			return true
		})
	}
}

func BenchmarkCodec(b *testing.B) {
	var s device
	play(b, "walkin_freezer", 3, "", 20, &s, nil)
	var buf []byte
	for b.Loop() {
		buf = s.AppendBinary(buf[:0])
		if err := s.UnmarshalBinary(buf); err != nil {
			b.Fatal(err)
		}
	}
}
