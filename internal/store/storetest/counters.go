package storetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// counters: what was counted in each step, also where the meter began again and
// where nothing came for a while.
func (f *fixture) counters() {
	id := f.addDevice("C")
	var rs []rimewatch.Reading
	for i, kWh := range []float64{100, 100.5, 101, 102, 2, 3.25, 3.25, 4, 1000, 1015, 0, 2} {
		at := t0 + rimewatch.Time(i)*30*rimewatch.Minute
		if i >= 6 {
			at += 3 * rimewatch.Hour
		}
		if i >= 8 {
			at = t0 + rimewatch.Day + rimewatch.Time(i)*12*rimewatch.Minute
		}
		r := reading(at)
		r.Set(rimewatch.Energy, kWh)
		rs = append(rs, r)
	}
	f.commit(id, rs...)
	f.everywhere(func(where string) {
		q := store.BucketQuery{DeviceID: id, From: t0, To: t0 + 2*rimewatch.Day, Step: rimewatch.Hour, Fields: rimewatch.AllFields}
		increases := func() (out []float64) {
			got, err := store.Corrected{History: f.s}.Buckets(f.ctx, q)
			f.must(err)
			for i := range got {
				out = append(out, got[i].Aggregate(rimewatch.Energy).Increase)
				f.equal(where+" of a gauge", got[i].Aggregate(rimewatch.Voltage).Increase, 0.0)
			}
			return out
		}
		f.equal(where, increases(), []float64{0.5, 1.5, 3.25, 0.75, 996 + 15, 2})
		q.Step = 4 * rimewatch.Hour
		f.equal(where+", restarts within a step", increases(), []float64{2 + 3.25, 0.75, 996 + 15 + 0 + 2})
	})
}

// randomCounters: whatever counters did, in whatever order it arrived and wherever it
// lies, each step of any length has what a plain loop counts.
func randomCounters(f *fixture) {
	for seed := range uint64(4) {
		rnd := rand.New(rand.NewPCG(seed, 11))
		id := f.addDevice(fmt.Sprintf("N%d", seed))
		sorted := randomMeter(rnd)
		arrived := slices.Clone(sorted)
		// A few come late, by hours or by a little.
		for i := range arrived {
			if rnd.IntN(6) == 0 {
				k := min(i+1+rnd.IntN(40), len(arrived)-1)
				arrived[i], arrived[k] = arrived[k], arrived[i]
			}
		}
		for len(arrived) > 0 {
			n := min(1+rnd.IntN(90), len(arrived))
			f.commit(id, arrived[:n]...)
			arrived = arrived[n:]
			if rnd.IntN(4) == 0 {
				f.e.Settle(f.T, f.s)
			}
		}
		f.everywhere(func(where string) {
			for range 12 {
				countersOf(f, fmt.Sprintf("seed %d, %s", seed, where), id, sorted, rnd)
			}
		})
	}
}

// randomMeter draws three days of a device whose counters restart now and then, and
// which are not in every reading.
func randomMeter(rnd *rand.Rand) (rs []rimewatch.Reading) {
	energy, starts := 18240.5, 4000.0
	for at := t0; at < t0+3*rimewatch.Day; at += rimewatch.Time(1+rnd.IntN(20*60_000)) * rimewatch.Time(1+rnd.IntN(2)) {
		r := reading(at)
		energy += float64(rnd.IntN(300)) / 1000
		starts += float64(rnd.IntN(2))
		if rnd.IntN(30) == 0 {
			energy = float64(rnd.IntN(3)) * 0.75
		}
		if rnd.IntN(30) == 0 {
			starts = float64(rnd.IntN(3))
		}
		energy = math.Round(energy*1000) / 1000
		if rnd.IntN(8) > 0 {
			r.Set(rimewatch.Energy, energy)
		}
		if rnd.IntN(8) > 0 {
			r.Set(rimewatch.StartCount, starts)
		}
		rs = append(rs, r)
	}
	return rs
}

// countersOf asks once and compares with a loop over everything.
func countersOf(f *fixture, where string, id int64, rs []rimewatch.Reading, rnd *rand.Rand) {
	f.Helper()
	steps := []rimewatch.Time{rimewatch.Minute, 5 * rimewatch.Minute, 15 * rimewatch.Minute, rimewatch.Hour, rimewatch.Day}
	fields := []rimewatch.Fields{rimewatch.AllFields, rimewatch.Counters, rimewatch.Fields(0).With(rimewatch.StartCount)}
	q := store.BucketQuery{DeviceID: id, From: t0, To: t0 + 3*rimewatch.Day, Step: steps[rnd.IntN(len(steps))], Fields: fields[rnd.IntN(len(fields))]}
	if rnd.IntN(2) == 0 {
		q.From += rimewatch.Time(rnd.IntN(int(rimewatch.Day)))
		q.To -= rimewatch.Time(rnd.IntN(int(rimewatch.Day)))
	}
	h := store.Corrected{History: f.s}
	if rnd.IntN(2) == 0 { // which cuts the steps in two
		h.Offsets = []rimewatch.Offset{{Field: rimewatch.Voltage, From: q.From + rimewatch.Time(rnd.IntN(int(q.To-q.From))), Add: 1}}
	}
	list, err := h.Buckets(f.ctx, q)
	f.must(err)
	for fld := range (q.Fields & rimewatch.Counters).All() {
		want := plainIncreases(rs, fld, q)
		for i := range list {
			at, g := list[i].At, list[i].Aggregate(fld)
			if d := math.Abs(g.Increase - want[at]); d > 1e-6 {
				f.Fatalf("%s: %s in the step of %d from %v is %v, want %v", where, fld, q.Step, at, g.Increase, want[at])
			}
			delete(want, at)
		}
		for at, n := range want {
			if n != 0 {
				f.Fatalf("%s: %s of the step of %d from %v is missing: %v", where, fld, q.Step, at, n)
			}
		}
	}
}

// plainIncreases is the model: every reading against the one before.
func plainIncreases(rs []rimewatch.Reading, fld rimewatch.Field, q store.BucketQuery) map[rimewatch.Time]float64 {
	out := make(map[rimewatch.Time]float64)
	last, known := 0.0, false
	for i := range rs {
		v, ok := rs[i].Value(fld)
		if !ok || rs[i].At < q.From || rs[i].At >= q.To {
			continue
		}
		if step := rs[i].At / q.Step * q.Step; known && v < last {
			out[step] += v
		} else if known {
			out[step] += v - last
		}
		last, known = v, true
	}
	return out
}
