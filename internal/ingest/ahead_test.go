package ingest_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// TestSteppedAhead: whatever several goroutines evaluate side by side comes to the
// same as if one did: the same alerts, told in the same order, and equal states.
func TestSteppedAhead(t *testing.T) {
	for seed := range uint64(shorter(3, 1)) {
		var told [2][]string
		var states [2]map[int64]string
		for i, alone := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.close()
				r.alone = alone
				r.open()
				ids := r.drawn(rand.New(rand.NewPCG(seed, 1)))
				r.mu.Lock()
				told[i] = r.log
				r.mu.Unlock()
				states[i] = r.states(ids)
				r.close()
			})
		}
		opened := make(map[string]bool)
		for _, e := range told[0] {
			if strings.HasPrefix(e, "alert.opened") {
				opened[e] = true
			}
		}
		if len(opened) < 3 {
			t.Errorf("seed %d: alerts of %d kinds prove nothing: %v", seed, len(opened), opened)
		}
		same(t, fmt.Sprint("told, seed ", seed), told[1], told[0])
		same(t, fmt.Sprint("states, seed ", seed), states[1], states[0])
	}
}

// drawn has devices report in batches in which they come in any order, several
// times or not at all, some of them warm for a while.
func (r *rig) drawn(rnd *rand.Rand) (ids []int64) {
	for k := range 12 {
		ids = append(ids, r.device(fmt.Sprint("D", k), []string{"walkin_freezer", "reach_in_cooler", "ice_machine"}[k%3]))
	}
	at := make([]rimewatch.Time, len(ids))
	warm := make([]float64, len(ids))
	time.Sleep(250 * time.Millisecond) // never at the moment of the service's own tick
	for range 80 {
		inputs := make([]store.Input, 0, 36)
		for range 36 {
			k := rnd.IntN(len(ids))
			if rnd.IntN(120) == 0 {
				warm[k] = 30 - warm[k]
			}
			at[k] = max(at[k]+1, r.now()-rimewatch.Time(rnd.IntN(60_000)))
			in := store.Input{Kind: store.InputReading, DeviceID: ids[k]}
			in.Reading.At = at[k]
			in.Reading.Set(rimewatch.ProductZoneTemp, -20+warm[k]+float64(rnd.IntN(20))/10)
			in.Reading.Set(rimewatch.AmpDraw, float64(rnd.IntN(80))/10)
			inputs = append(inputs, in)
		}
		if err := r.in.Submit(r.t.Context(), inputs, nil); err != nil {
			r.t.Fatal(err)
		}
		time.Sleep(time.Duration(60+rnd.IntN(200)) * time.Second)
	}
	return ids
}
