package core

import (
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
)

// TestSealByDay: what is sealed of a device that reports all the time are whole
// days, which need no merging, and the mark says up to which commit.
func TestSealByDay(t *testing.T) {
	const full = 720
	var (
		q      sealQueue
		d      = newDevice(&rimewatch.Device{})
		sealed []int32
		taken  int
		m      heads
	)
	h := &d.head
	at := rimewatch.Time(1_790_000_000_000)
	begin := at
	for seq := int64(1); seq <= 4*1440; seq++ {
		var row [64]byte
		r := rimewatch.Reading{At: at, ReceivedAt: at}
		size := len(chunk.AppendReading(row[:0], &r, 0))
		h.stage(&m, row[:size], at)
		if !q.publish(d, int32(size), 1, full, seq, at, at) {
			at += rimewatch.Minute
			continue
		}
		mark := h.beginSeal(full, seq)
		n := 0
		eachRow(h.rows.read(&m.blocks, nil, h.sealSize), func(r *rimewatch.Reading) {
			if want := begin + rimewatch.Time(taken)*rimewatch.Minute; r.At != want {
				t.Fatalf("reading of %v is sealed, want that of %v", r.At, want)
			}
			taken++
			n++
		})
		if int64(taken) != mark {
			t.Fatalf("%d readings are sealed, one a commit, up to commit %d", taken, mark)
		}
		h.endSeal(&m)
		sealed = append(sealed, int32(n))
		if int64(taken)+int64(h.n) != seq || h.n > 0 && h.firstSeq != mark+1 {
			t.Fatalf("commit %d: %d are sealed, %d are not, the first of commit %d", seq, taken, h.n, h.firstSeq)
		}
		at += rimewatch.Minute
	}
	// 13:33 of the first day is too late for 720; it goes with the second day's first.
	for _, n := range sealed[1:] {
		if n != 1440 {
			t.Errorf("%d readings were sealed at once after the first time, want days: %v", n, sealed)
		}
	}
	if len(sealed) < 3 {
		t.Errorf("sealed %v", sealed)
	}
}
