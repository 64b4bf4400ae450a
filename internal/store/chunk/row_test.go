package chunk_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
	"pgregory.net/rapid"
)

func TestRowProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rs := anyReadings(t, 20)
		base := rimewatch.Time(rapid.Int64().Draw(t, "base"))
		var b []byte
		for i := range rs {
			before := len(b)
			b = chunk.AppendReading(b, &rs[i], base)
			if other := chunk.AppendRebased(nil, chunk.AppendReading(nil, &rs[i], 0), rs[i].At, base); !bytes.Equal(other, b[before:]) {
				t.Fatalf("% x with another base is % x, want % x", chunk.AppendReading(nil, &rs[i], 0), other, b[before:])
			}
		}
		for i := range rs {
			got := rimewatch.Reading{Optional: []float64{7}, Values: [rimewatch.NumCore]float64{3: 1}} // leftovers
			n, err := chunk.DecodeReading(b, &got, base)
			if err != nil {
				t.Fatal(err)
			}
			if want := row(rs[i]); !sameBits(want, got) {
				t.Fatal(cmp.Diff(want, got))
			}
			b = b[n:]
		}
		if len(b) != 0 {
			t.Fatal("left over:", len(b))
		}
	})
}

func TestRowValues(t *testing.T) {
	for _, tc := range []struct {
		v    float64
		size int // bytes of the value
	}{
		{0, 1}, {1, 1}, {-8, 1}, {-21.4, 2}, {204.7, 2}, {230.1, 3}, {15.03, 2}, {0.06, 1}, {1.9, 2}, {1013.25, 3},
		{math.Copysign(0, -1), 9}, {0.30000000000000004, 9}, {1.0 / 3, 9}, {math.MaxFloat64, 9}, {5e-324, 9},
		{3.4567, 4}, {-18.0625, 4}, {123456789.012345, 8}, {1e-17, 2}, {1 << 53, 9}, {1<<53 + 2, 9}, {1<<53 - 2, 8},
	} {
		var r rimewatch.Reading
		r.At, r.ReceivedAt = epoch, epoch
		empty := len(chunk.AppendReading(nil, &r, epoch))
		r.Set(rimewatch.AmpDraw, tc.v)
		b := chunk.AppendReading(nil, &r, epoch)
		var got rimewatch.Reading
		if _, err := chunk.DecodeReading(b, &got, epoch); err != nil || !sameBits(r, got) {
			t.Errorf("%v came back as %v, %v", tc.v, got.Values[rimewatch.AmpDraw], err)
		}
		if size := len(b) - empty; size != tc.size {
			t.Errorf("%v takes %d bytes, want %d", tc.v, size, tc.size)
		}
	}
}

func TestRowTimes(t *testing.T) {
	times := []rimewatch.Time{0, 1, -1, rimewatch.MinTime, rimewatch.MaxTime, math.MaxInt64, math.MinInt64, epoch}
	for _, base := range times {
		for _, at := range times {
			for _, received := range times {
				want := rimewatch.Reading{At: at, ReceivedAt: received}
				var got rimewatch.Reading
				b := chunk.AppendReading(nil, &want, base)
				if n, err := chunk.DecodeReading(b, &got, base); err != nil || n != len(b) || !sameBits(got, want) {
					t.Fatalf("base %d: %v, want %v: %v", base, got, want, err)
				}
			}
		}
	}
}

func TestRowTruncated(t *testing.T) {
	r := fridge(1, 1, epoch)[0]
	r.Flags, r.Faults = 5, 4
	r.Set(rimewatch.StartCount, 12345)
	r.Values[3] = 1.0 / 3
	b := chunk.AppendReading(nil, &r, 0)
	for n := range b {
		var got rimewatch.Reading
		if _, err := chunk.DecodeReading(b[:n], &got, 0); err == nil {
			t.Fatalf("the first %d of %d bytes decode", n, len(b))
		}
	}
}

func FuzzDecodeReading(f *testing.F) {
	for _, r := range fridge(1, 4, epoch) {
		f.Add(chunk.AppendReading(nil, &r, epoch), int64(epoch))
		r.Flags, r.Faults = 0xff, 3
		r.Set(rimewatch.StartCount, 1)
		r.Set(rimewatch.RunSeconds, -1)
		r.Present &^= 8
		r.Values[0] = 1.0 / 3
		f.Add(chunk.AppendReading(nil, &r, 0), int64(0))
	}
	f.Add([]byte{0xff}, int64(0))
	f.Fuzz(func(t *testing.T, b []byte, base int64) {
		var r, again rimewatch.Reading
		n, err := chunk.DecodeReading(b, &r, rimewatch.Time(base))
		skipped, skipErr := chunk.SkipReading(b)
		if (err == nil) != (skipErr == nil) || err == nil && skipped != n {
			t.Fatalf("decoded %d bytes (%v), passed over %d (%v)", n, err, skipped, skipErr)
		}
		if err != nil {
			return
		}
		if n > len(b) {
			t.Fatal("took more than there is:", n)
		}
		// What decodes encodes to something that decodes to the same.
		if _, err := chunk.DecodeReading(chunk.AppendReading(nil, &r, 0), &again, 0); err != nil || !sameBits(r, again) {
			t.Fatal(err, cmp.Diff(r, again))
		}
	})
}
