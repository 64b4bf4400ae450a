package chunk_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
	_ "github.com/rimewatch/rimewatch/internal/trial"
	"pgregory.net/rapid"
)

func TestMergeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets := make([][]rimewatch.Reading, rapid.IntRange(0, 5).Draw(t, "sets"))
		model := map[rimewatch.Time]rimewatch.Reading{}
		var times []rimewatch.Time
		for i := range sets {
			at := rapid.Int64Range(0, 50).Draw(t, "start")
			for range rapid.IntRange(0, 30).Draw(t, "n") {
				r := rimewatch.Reading{At: rimewatch.Time(at), Flags: rimewatch.Flags(i)}
				sets[i] = append(sets[i], r)
				if _, ok := model[r.At]; !ok {
					model[r.At] = r
					times = append(times, r.At)
				}
				at += rapid.Int64Range(1, 5).Draw(t, "gap")
			}
		}
		before := make([][]rimewatch.Reading, len(sets))
		for i := range sets {
			before[i] = slices.Clone(sets[i])
		}
		slices.Sort(times)
		want := []rimewatch.Reading{{At: -1}}
		for _, at := range times {
			want = append(want, model[at])
		}
		got := chunk.Merge([]rimewatch.Reading{{At: -1}}, sets...)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
		if d := cmp.Diff(before, sets); d != "" {
			t.Fatal("the sets changed:", d)
		}
	})
}

// modest draws readings whose sums a model can add up without cancellation.
func modest(t *rapid.T) []rimewatch.Reading {
	rs := make([]rimewatch.Reading, rapid.IntRange(0, 120).Draw(t, "n"))
	at := rimewatch.Time(rapid.Int64Range(1, 1e12).Draw(t, "start"))
	for i := range rs {
		rs[i].At = at
		at += rimewatch.Time(rapid.Int64Range(1, 200000).Draw(t, "gap"))
		for f := range rimewatch.AllFields.All() {
			if rapid.IntRange(0, 3).Draw(t, "has") > 0 {
				rs[i].Set(f, float64(rapid.IntRange(-1000, 1000).Draw(t, "v"))/10)
			}
		}
	}
	return rs
}

var near = cmpopts.EquateApprox(0, 1e-6)

func TestSummaryProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rs := modest(t)
		whole := chunk.Summarize(rs)
		b := whole.Append([]byte{9})
		got, n, err := chunk.DecodeSummary(b[1:])
		if err != nil || n != len(b)-1 {
			t.Fatal(n, err)
		}
		if d := cmp.Diff(whole, got, near); d != "" {
			t.Fatal("decoded:", d)
		}
		for n := range len(b) - 1 {
			if _, _, err := chunk.DecodeSummary(b[1 : 1+n]); err == nil {
				t.Fatal("decoded from", n, "bytes of", len(b)-1)
			}
		}
	})
}

func TestBucketsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rs := modest(t)
		step := rapid.SampledFrom([]rimewatch.Time{60000, 300000, 900000, rimewatch.Hour, rimewatch.Day, 777}).Draw(t, "step")
		lo, hi := rimewatch.Time(1), rimewatch.Time(5e6)
		if len(rs) > 0 {
			lo, hi = rs[0].At, rs[len(rs)-1].At
		}
		from := lo + rimewatch.Time(rapid.Int64Range(-2e6, 2e6).Draw(t, "from"))
		to := hi + rimewatch.Time(rapid.Int64Range(-2e6, 2e6).Draw(t, "to"))
		fields := anyFields().Draw(t, "fields")
		b, err := chunk.NewBuckets(from, to, step, fields)
		if err != nil {
			t.Fatal(err)
		}
		// Cut the readings into chunks and feed each in one of the three ways, in any order.
		var parts [][]rimewatch.Reading
		for rest := rs; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
			parts, rest = append(parts, rest[:n]), rest[n:]
		}
		order := make([]int, len(parts))
		for i := range order {
			order[i] = i
		}
		for _, i := range rapid.Permutation(order).Draw(t, "order") {
			part := parts[i]
			summary := chunk.Summarize(part)
			switch how := rapid.IntRange(0, 2).Draw(t, "how"); {
			case how == 0 && b.AddSummary(&summary):
			case how == 1:
				b.AddReadings(part)
			default:
				c, err := chunk.Open(chunk.Encode(nil, part))
				if err != nil {
					t.Fatal(err)
				}
				if err := b.AddChunk(c, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		checkBuckets(t, b, rs, from, to, step, fields)
	})
}

// checkBuckets compares with a model that looks at every reading for every step.
func checkBuckets(t *rapid.T, b *chunk.Buckets, rs []rimewatch.Reading, from, to, step rimewatch.Time, fields rimewatch.Fields) {
	var total int64
	for i := range b.Len() {
		at := b.At(i)
		if at%step != 0 || at+step <= from || at >= to {
			t.Fatalf("step %d at %d does not belong to [%d, %d)", i, at, from, to)
		}
		var want chunk.Summary
		for j := range rs {
			if r := &rs[j]; r.At >= max(at, from) && r.At < min(at+step, to) {
				want.Add(r)
			}
		}
		total += want.Count
		if b.Count(i) != want.Count {
			t.Fatalf("step %d: %d readings, want %d", i, b.Count(i), want.Count)
		}
		for f := range rimewatch.AllFields.All() {
			w := want.Aggregate(f)
			if !fields.Has(f) {
				w = chunk.Aggregate{}
			}
			if d := cmp.Diff(w, b.Aggregate(i, f), near); d != "" {
				t.Fatal(i, f, d)
			}
			var wantCounted, counted rimewatch.Count
			if counts := b.Counts(f); counts != nil {
				counted = counts[i]
			}
			if fields.Has(f) {
				wantCounted = want.Counted(f)
			}
			if d := cmp.Diff(wantCounted, counted, near); d != "" {
				t.Fatal(i, f, d)
			}
		}
	}
	for j := range rs {
		if rs[j].At >= from && rs[j].At < to {
			total--
		}
	}
	if total != 0 {
		t.Fatal("readings left out:", -total)
	}
}

func TestNewBucketsBounds(t *testing.T) {
	for _, tc := range []struct {
		name           string
		from, to, step rimewatch.Time
		n              int // -1: refused
	}{
		{"aligned", 0, 300, 100, 3},
		{"partial at both ends", 50, 201, 100, 3},
		{"empty", 100, 100, 100, 0},
		{"backward", 100, 50, 100, 0},
		{"no step", 0, 100, 0, -1},
		{"negative step", 0, 100, -5, -1},
		{"too many", 0, rimewatch.MaxTime, 1, -1},
		{"the whole of time in days", rimewatch.MinTime, 1 << 40, rimewatch.Day, 12726},
	} {
		b, err := chunk.NewBuckets(tc.from, tc.to, tc.step, rimewatch.CoreFields)
		switch {
		case err != nil && tc.n >= 0:
			t.Errorf("%s: %v", tc.name, err)
		case err == nil && b.Len() != tc.n:
			t.Errorf("%s: %d steps, want %d", tc.name, b.Len(), tc.n)
		}
	}
}

func TestAggregate(t *testing.T) {
	var a chunk.Aggregate
	for _, v := range []float64{-3, 5, 4} {
		a.Add(v)
	}
	if a != (chunk.Aggregate{Count: 3, Min: -3, Max: 5, Sum: 6}) {
		t.Errorf("%+v", a)
	}
}
