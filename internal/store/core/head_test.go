package core

import (
	"reflect"
	"slices"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store/chunk"

	"pgregory.net/rapid"
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
		r := rimewatch.Reading{At: at, ReceivedAt: at}
		size := h.stage(&m, chunk.AppendReading(nil, &r, 0), at)
		if !q.publish(d, int32(size), 1, full, seq, at, at) {
			at += rimewatch.Minute
			continue
		}
		mark := h.beginSeal(full, seq)
		n, newest := 0, rimewatch.Time(0)
		eachRow(h.rows.read(&m.blocks, nil, h.sealSize), h.base, func(r *rimewatch.Reading) {
			if want := begin + rimewatch.Time(taken)*rimewatch.Minute; r.At != want {
				t.Fatalf("reading of %v is sealed, want that of %v", r.At, want)
			}
			taken++
			n++
			newest = r.At
		})
		if int64(taken) != mark {
			t.Fatalf("%d readings are sealed, one a commit, up to commit %d", taken, mark)
		}
		h.endSeal(&m, newest)
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

// TestHeadKeepsTimes: whatever is staged, shown, taken back and sealed in whatever order, a
// head holds the readings that were not, with their times.
func TestHeadKeepsTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			m         heads
			h         head
			rows      []rimewatch.Reading // all that should be there
			sizes     []int32
			shown     int
			seq       int64
			sealing   int
			newest    rimewatch.Time
			published = func(n int) {
				size, at := int32(0), rimewatch.Time(0)
				for i := shown; i < shown+n; i++ {
					size, at = size+sizes[i], max(at, rows[i].At)
				}
				seq++
				h.publish(size, int32(n), seq, at)
				shown += n
			}
		)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0, 1:
				r := rimewatch.Reading{At: rimewatch.Time(rapid.Int64Range(1, 1<<41).Draw(t, "at")), Present: rimewatch.CoreFields}
				r.Faults, r.Flags = rimewatch.Fields(rapid.IntRange(0, 2).Draw(t, "faults")), rimewatch.Flags(rapid.IntRange(0, 200).Draw(t, "flags"))
				r.ReceivedAt = r.At + rimewatch.Time(rapid.Int64Range(-9, 1<<33).Draw(t, "after"))
				r.Values[rapid.IntRange(0, int(rimewatch.NumCore)-1).Draw(t, "field")] = rapid.Float64().Draw(t, "value")
				rows, sizes = append(rows, r), append(sizes, int32(h.stage(&m, chunk.AppendReading(nil, &r, 0), r.At)))
			case 2:
				if n := rapid.IntRange(0, len(rows)-shown).Draw(t, "shown"); n > 0 {
					published(n)
				}
			case 3: // the last group is lost
				n, size := rapid.IntRange(0, len(rows)-shown).Draw(t, "lost"), int32(0)
				for _, s := range sizes[len(sizes)-n:] {
					size += s
				}
				h.retract(&m, size, int32(n))
				rows, sizes = rows[:len(rows)-n], sizes[:len(sizes)-n]
			case 4:
				if sealing > 0 {
					newest = 0
					for i := range sealing {
						newest = max(newest, rows[i].At)
					}
					h.endSeal(&m, newest)
					rows, sizes, shown, sealing = rows[sealing:], sizes[sealing:], shown-sealing, 0
				} else if shown > 0 {
					h.beginSeal(720, seq)
					sealing = int(h.sealN)
				}
			}
			var got []rimewatch.Reading
			m.all(&h, func(r *rimewatch.Reading) { got = append(got, *r) })
			if !slices.EqualFunc(got, rows, func(a, b rimewatch.Reading) bool { return reflect.DeepEqual(a, b) }) {
				t.Fatalf("there are %v, want %v", got, rows)
			}
		}
	})
}
