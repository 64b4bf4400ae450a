package ingest_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// TestArrivedElsewhere: readings without a time that are sent again, because nobody
// knows what became of them, are stored once, alike ones among them as well.
func TestArrivedElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.device("C", "vaccine_refrigerator")
		came := r.now()
		time.Sleep(time.Second)
		send := func(again bool, values ...float64) (outcomes []store.Outcome, after []rimewatch.Time) {
			t.Helper()
			var inputs []store.Input
			for _, v := range values {
				in := store.Input{Kind: store.InputReading, DeviceID: id, AtArrival: true}
				in.Reading.Set(rimewatch.ProductZoneTemp, v)
				in.Reading.Set(rimewatch.AmbientTemp, v)
				inputs = append(inputs, in)
			}
			if err := r.in.Submit(store.WithArrival(t.Context(), store.Arrival{At: came, Again: again}), inputs, nil); err != nil {
				t.Fatal(err)
			}
			for _, in := range inputs {
				outcomes, after = append(outcomes, in.Outcome), append(after, in.Reading.At-came)
			}
			return outcomes, after
		}
		expect := func(what string, outcomes []store.Outcome, after []rimewatch.Time, outcome store.Outcome, times ...rimewatch.Time) {
			t.Helper()
			if !slices.Equal(after, times) || slices.ContainsFunc(outcomes, func(o store.Outcome) bool { return o != outcome }) {
				t.Errorf("%s: %v at %v, not %v at %v", what, outcomes, after, outcome, times)
			}
		}
		outcomes, after := send(false, 4, 4, 5)
		expect("the first time", outcomes, after, store.Accepted, 0, 1, 2)
		outcomes, after = send(true, 4, 4, 5)
		expect("again", outcomes, after, store.Duplicate, 0, 1, 2)
		r.crash()
		outcomes, after = send(true, 4, 4, 5)
		expect("again, after a crash", outcomes, after, store.Duplicate, 0, 1, 2)
		outcomes, after = send(true, 5)
		expect("one that lies behind others", outcomes, after, store.Duplicate, 2)
		outcomes, after = send(true, 6, 6)
		expect("again, although it never came", outcomes, after, store.Accepted, 3, 4)
		outcomes, after = send(false, 6)
		expect("another one like it", outcomes, after, store.Accepted, 5)
	})
}
