package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// randomWorkload drives the store and a plain map with the same random
// commits, crashes and settlings and compares everything that can be asked.
func (f *fixture) randomWorkload() {
	const seeds, steps, devices = 3, 120, 5
	for seed := range uint64(seeds) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		ids := make([]int64, devices)
		for i := range ids {
			ids[i] = f.addDevice(fmt.Sprintf("R%d-%d", seed, i))
		}
		model := make(map[int64]map[rimewatch.Time]rimewatch.Reading)
		for _, id := range ids {
			model[id] = make(map[rimewatch.Time]rimewatch.Reading)
		}
		for step := range steps {
			switch n := rnd.IntN(20); {
			case n == 0:
				f.reopen()
			case n <= 2:
				f.e.Settle(f.T, f.s)
			default:
				f.randomCommit(rnd, ids, model, step)
			}
		}
		f.compare(ids, model)
		f.reopen()
		f.compare(ids, model)
	}
}

func (f *fixture) randomCommit(rnd *rand.Rand, ids []int64, model map[int64]map[rimewatch.Time]rimewatch.Reading, step int) {
	f.Helper()
	n := 1 + rnd.IntN(60)
	inputs := make([]store.Input, n)
	want := make([]store.Outcome, n)
	for i := range inputs {
		id := ids[rnd.IntN(len(ids))]
		// Mostly in order, with late ones and exact repetitions, over three days.
		at := t0 + rimewatch.Time(step)*36*rimewatch.Minute + rimewatch.Time(rnd.IntN(40))*rimewatch.Minute
		if rnd.IntN(8) == 0 {
			at -= rimewatch.Time(rnd.IntN(50)) * rimewatch.Hour
		}
		r := reading(at)
		r.Values[0] = float64(rnd.IntN(1000)) / 10
		inputs[i] = store.Input{Kind: store.InputReading, DeviceID: id, Reading: r}
		if _, there := model[id][at]; there {
			want[i] = store.Duplicate
			continue
		}
		model[id][at] = r
	}
	cut := rnd.IntN(n)
	f.group(&store.Group{Now: f.now, Parts: [][]store.Input{inputs[:cut], inputs[cut:]}}, store.Effects{})
	for i := range inputs {
		if inputs[i].Outcome != want[i] {
			f.Fatalf("step %d: input %d at %v: outcome %d, want %d", step, i, inputs[i].Reading.At, inputs[i].Outcome, want[i])
		}
	}
}

func (f *fixture) compare(ids []int64, model map[int64]map[rimewatch.Time]rimewatch.Reading) {
	f.Helper()
	for _, id := range ids {
		var want []rimewatch.Reading
		for _, r := range model[id] {
			want = append(want, r)
		}
		slices.SortFunc(want, func(a, b rimewatch.Reading) int { return int(a.At - b.At) })
		f.equal("history", f.history(all(id)), answered(want))
		if len(want) == 0 {
			continue
		}
		newest := want[len(want)-1]
		found := false
		f.must(f.s.EachDevice(f.ctx, f.workspace, func(v *rimewatch.DeviceView) error {
			if v.ID == id {
				found = true
				f.equal("latest", answered([]rimewatch.Reading{v.Latest}), answered([]rimewatch.Reading{newest}))
				f.equal("current temperature", v.CurrentTemp, newest.Values[0])
			}
			return nil
		}))
		f.equal("listed", found, true)
		q := store.BucketQuery{DeviceID: id, From: want[0].At, To: newest.At + 1, Step: rimewatch.Hour, Fields: rimewatch.AllFields}
		got, err := f.s.Buckets(f.ctx, q)
		f.must(err)
		f.equal("buckets", len(got), len(plainBuckets(want, q)))
	}
}
