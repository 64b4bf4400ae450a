package core

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestTape: tapes that share blocks are queues of bytes, whatever is done to them in
// whatever order, and what they give back is used again.
func TestTape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			m     blocks
			tapes [3]tape
			want  [3][]byte
			most  int
			next  byte
		)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			i := rapid.IntRange(0, len(tapes)-1).Draw(t, "tape")
			n := rapid.IntRange(0, len(want[i])).Draw(t, "n")
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				p := make([]byte, rapid.SampledFrom([]int{0, 1, 26, blockBytes - 1, blockBytes, blockBytes + 1, 5 * blockBytes}).Draw(t, "size"))
				for j := range p {
					next++
					p[j] = next
				}
				tapes[i].append(&m, p)
				want[i] = append(want[i], p...)
			case 1:
				tapes[i].drop(&m, int32(n))
				want[i] = want[i][n:]
			case 2:
				tapes[i].cut(&m, int32(n))
				want[i] = want[i][:n]
			}
			in := 0
			for j := range tapes {
				if got := tapes[j].read(&m, nil, tapes[j].size); !bytes.Equal(got, want[j]) {
					t.Fatalf("tape %d: % x, want % x", j, got, want[j])
				}
				in += (len(want[j]) + 2*blockBytes - 2) / blockBytes // it may begin and end anywhere in a block
			}
			if most = max(most, in); int(m.made) > most {
				t.Fatalf("%d blocks were made, %d were needed at most", m.made, most)
			}
		}
	})
}
