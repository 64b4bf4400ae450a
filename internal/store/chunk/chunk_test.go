package chunk_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
)

// kept is what a chunk gives back of a reading.
func kept(r rimewatch.Reading) rimewatch.Reading {
	r = row(r)
	r.ReceivedAt = chunk.RoundReceived(r.At, r.ReceivedAt)
	return r
}

// row is what a row gives back of a reading.
func row(r rimewatch.Reading) rimewatch.Reading {
	for f := range rimewatch.NumFields {
		if !r.Present.Has(f) {
			r.Values[f] = 0
		}
	}
	if r.Flags&rimewatch.StartCountSent == 0 {
		r.StartCount = 0
	}
	if r.Flags&rimewatch.RunSecondsSent == 0 {
		r.RunSeconds = 0
	}
	return r
}

func TestRealisticRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 2, 127, 128, 129, 1000, 4096} {
		rs := fridge(7, n, epoch)
		c, err := chunk.Open(chunk.Encode(nil, rs))
		if err != nil {
			t.Fatal(n, err)
		}
		got, err := c.Readings(nil)
		if err != nil {
			t.Fatal(n, err)
		}
		if len(got) != n {
			t.Fatal(len(got), n)
		}
		for i := range rs {
			if d := cmp.Diff(kept(rs[i]), got[i]); d != "" {
				t.Fatal(n, i, d)
			}
		}
	}
}
