package dense_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch/internal/dense"
	_ "github.com/rimewatch/rimewatch/internal/trial"
)

// TestIndexIsAMap: whatever is put and taken away, a map says the same.
func TestIndexIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x dense.Index[int64]
		want := map[int64]int64{}
		ids := rapid.SampledFrom([]int64{0, 1, 2, 1023, 1024, 1025, 5000, 5001, 99_999})
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			id := ids.Draw(t, "id")
			if rapid.Bool().Draw(t, "put") {
				v := rapid.Int64().Draw(t, "value")
				x.Put(id, &v)
				want[id] = v
			} else {
				x.Put(id, nil)
				delete(want, id)
			}
			probe := ids.Draw(t, "probe")
			got := x.Get(probe)
			if v, ok := want[probe]; ok != (got != nil) || ok && *got != v {
				t.Fatalf("id %d: %v, want %d, %v", probe, got, v, ok)
			}
			if x.Len() != len(want) {
				t.Fatalf("%d things, want %d", x.Len(), len(want))
			}
		}
		var keys, in, out []int64
		for id := range want {
			keys = append(keys, id)
		}
		slices.Sort(keys)
		for _, id := range keys {
			in = append(in, want[id])
		}
		for v := range x.All() {
			out = append(out, *v)
		}
		if !slices.Equal(in, out) {
			t.Fatalf("yields %v, want %v by id", out, in)
		}
	})
}

func TestUnknownIDs(t *testing.T) {
	var x dense.Index[int64]
	x.Put(3, nil)
	for _, id := range []int64{-1, 0, 3, 1 << 62} {
		if x.Get(id) != nil {
			t.Errorf("found %d in an empty index", id)
		}
	}
	x.Put(7, new(int64))
	x.Put(5000, nil)
	for _, id := range []int64{-1, -1016, 8, 1031, 1 << 62} {
		if x.Get(id) != nil {
			t.Errorf("found %d, which was never put", id)
		}
	}
	for range x.All() {
		return // yielding stops when nobody asks for more
	}
	t.Error("yields nothing")
}
