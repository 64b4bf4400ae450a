package storetest

import (
	"math/rand/v2"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func (f *fixture) historyOrder() {
	id := f.addDevice("H")
	var want []rimewatch.Reading
	for i := range 300 {
		want = append(want, reading(t0+rimewatch.Time(i)*7*rimewatch.Minute))
	}
	shuffled := slices.Clone(want)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	f.commit(id, shuffled[:150]...)
	f.e.Settle(f.T, f.s)
	f.commit(id, shuffled[150:]...)
	want = answered(want)
	reversed := slices.Clone(want)
	slices.Reverse(reversed)
	f.everywhere(func(where string) {
		f.equal(where, f.history(all(id)), want)
		f.equal(where+" descending", f.history(store.HistoryQuery{DeviceID: id, To: rimewatch.MaxTime, Descending: true}), reversed)
		from, to := want[10].At, want[40].At
		f.equal(where+" range", f.history(store.HistoryQuery{DeviceID: id, From: from, To: to}), want[10:40])
		f.equal(where+" limit", f.history(store.HistoryQuery{DeviceID: id, From: from, To: to, Limit: 5}), want[10:15])
		f.equal(where+" limit from the end", f.history(store.HistoryQuery{DeviceID: id, From: from, To: to, Limit: 5, Descending: true}), reversed[300-40:300-35])
		f.equal(where+" empty", len(f.history(store.HistoryQuery{DeviceID: id, From: to + 1, To: to + 2})), 0)
	})
}

func (f *fixture) buckets() {
	id := f.addDevice("B")
	var rs []rimewatch.Reading
	for i := range 400 {
		r := reading(t0 + rimewatch.Time(i)*11*rimewatch.Minute + rimewatch.Time(i%7)*777)
		if i%9 == 0 {
			r.Present &^= 1 << rimewatch.Voltage
			r.Values[rimewatch.Voltage] = 0
		}
		rs = append(rs, r)
	}
	f.commit(id, rs[:250]...)
	f.e.Settle(f.T, f.s)
	f.commit(id, rs[250:]...)
	f.everywhere(func(where string) {
		for _, step := range []rimewatch.Time{15 * rimewatch.Minute, rimewatch.Hour, rimewatch.Day} {
			q := store.BucketQuery{DeviceID: id, From: t0 + 5*rimewatch.Hour, To: t0 + 60*rimewatch.Hour, Step: step, Fields: rimewatch.AllFields}
			got, err := f.s.Buckets(f.ctx, q)
			f.must(err)
			want := plainBuckets(rs, q)
			if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-4)); d != "" {
				f.Fatalf("%s, step %d (-want +got):\n%s", where, step, d)
			}
		}
	})
}

// plainBuckets is the model: a loop over everything.
func plainBuckets(rs []rimewatch.Reading, q store.BucketQuery) []store.Bucket {
	byAt := make(map[rimewatch.Time]*store.Bucket)
	var order []rimewatch.Time
	for i := range rs {
		r := &rs[i]
		if r.At < q.From || r.At >= q.To {
			continue
		}
		at := r.At / q.Step * q.Step
		b := byAt[at]
		if b == nil {
			b = &store.Bucket{At: at}
			byAt[at] = b
			order = append(order, at)
		}
		b.Count++
		defrost, _ := r.Flags.Bool(rimewatch.DefrostActive)
		b.Defrost = b.Defrost || (q.Step < rimewatch.Hour && defrost)
		for fld, v := range r.All() {
			if !q.Fields.Has(fld) {
				continue
			}
			if n := int(fld) + 1; n > len(b.Fields) {
				b.Fields = append(b.Fields, make([]store.Aggregate, n-len(b.Fields))...)
			}
			a := &b.Fields[fld]
			if a.Count == 0 {
				a.Min, a.Max = v, v
			}
			a.Count++
			a.Min, a.Max, a.Sum = min(a.Min, v), max(a.Max, v), a.Sum+v
			if fld.IsCounter() {
				a.Counted = a.Counted.Then(rimewatch.CountOf(v))
			}
		}
	}
	slices.Sort(order)
	var out []store.Bucket
	for _, at := range order {
		out = append(out, *byAt[at])
	}
	return out
}

// optional: a device comes to send measurements that it did not send before, one
// of which this program has no name for.
func (f *fixture) optional() {
	const nameless = rimewatch.MaxFields - 1
	id := f.addDevice("O")
	var rs []rimewatch.Reading
	for i := range 60 {
		r := reading(t0 + rimewatch.Time(i)*rimewatch.Minute)
		if i >= 20 {
			r.Set(rimewatch.Power, float64(1000+i))
		}
		if i%3 == 0 {
			r.Set(rimewatch.SuctionPressure, float64(i)/4)
			r.Faults = r.Faults.With(rimewatch.CO2)
		}
		if i >= 40 {
			r.Set(nameless, -0.5)
		}
		rs = append(rs, r)
	}
	f.commit(id, rs[:30]...)
	f.e.Settle(f.T, f.s)
	f.commit(id, rs[30:]...)
	f.everywhere(func(where string) {
		f.equal(where, f.history(all(id)), answered(rs))
		v, ok := f.s.DeviceByID(id)
		power, sent := v.Latest.Value(rimewatch.Power)
		f.equal(where+" latest", []any{ok, sent, power}, []any{true, true, 1059.0})
		for _, fields := range []rimewatch.Fields{rimewatch.AllFields, rimewatch.Fields(0).With(rimewatch.Power)} {
			q := store.BucketQuery{DeviceID: id, From: t0, To: t0 + rimewatch.Hour, Step: 15 * rimewatch.Minute, Fields: fields}
			got, err := f.s.Buckets(f.ctx, q)
			f.must(err)
			f.equal(where+" buckets", got, plainBuckets(rs, q))
		}
	})
}
