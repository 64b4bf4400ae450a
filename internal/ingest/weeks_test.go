package ingest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// TestRestartsOpenNothingTwice lives days of a few units on a real store with
// stops, crashes and downtimes at random moments. Whatever happens, each
// excursion is one alert, opened once and resolved once, and silence that our
// own absence explains is none.
func TestRestartsOpenNothingTwice(t *testing.T) {
	for seed := range uint64(1) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				rnd := rand.New(rand.NewPCG(seed, 7))
				serials := []string{"A", "B", "C"}
				usual, warm := []float64{3, 3, -20}, []float64{6, 6, -13.5}
				var ids []int64
				for i, kind := range []string{"milk_cooler", "milk_cooler", "walkin_freezer"} {
					ids = append(ids, r.device(serials[i], kind))
					_, err := r.in.UpdateDevice(t.Context(), r.ws, serials[i], func(d *rimewatch.Device) error { d.HeartbeatIntervalS = 300; return nil })
					if err != nil {
						t.Fatal(err)
					}
				}
				want := make(map[int64]int)
				hot, rest := []int{0, 0, 0}, []int{18, 30, 40} // readings left of an excursion, and to the next
				lost := false
				for range 24 * 12 {
					var inputs []store.Input
					for i, id := range ids {
						temp := usual[i]
						if hot[i] > 0 {
							temp = warm[i]
							hot[i]--
						} else if rest[i]--; rest[i] == 0 {
							hot[i], rest[i] = 23, 84+rnd.IntN(24)
							want[id]++
						}
						in := store.Input{Kind: store.InputReading, DeviceID: id}
						in.Reading.At = r.now()
						in.Reading.Set(rimewatch.ProductZoneTemp, temp)
						inputs = append(inputs, in)
					}
					if lost = !lost && rnd.IntN(30) == 0; !lost {
						if err := r.in.Submit(t.Context(), inputs, nil); err != nil {
							t.Fatal(err)
						}
					}
					calm := slices.Max(hot) == 0
					time.Sleep(time.Second) // nobody restarts within the moment of a commit
					switch k := rnd.IntN(60); {
					case k < 3:
						r.crash()
					case k < 6:
						r.close()
						r.open()
					case k < 9 && calm:
						r.close()
						time.Sleep(time.Duration(1+rnd.IntN(40)) * time.Minute)
						r.open()
					}
					time.Sleep(5*time.Minute - time.Second)
				}
				time.Sleep(time.Second)
				r.check(want)
				r.close()
			})
		})
	}
}

// check compares what opened and what ended with what happened.
func (r *rig) check(want map[int64]int) {
	r.t.Helper()
	list, _, err := r.s.Alerts(r.t.Context(), r.ws, store.AlertFilter{}, store.AlertPage{Limit: 1000})
	if err != nil {
		r.t.Fatal(err)
	}
	got := make(map[int64]int)
	for _, a := range list {
		if a.Type != "high_temperature" {
			r.t.Errorf("%s of %s", a.Type, a.DeviceName)
			continue
		}
		got[a.DeviceID]++
		if a.Status == "active" {
			got[a.DeviceID]-- // the last one may still be under way
			want[a.DeviceID]--
		}
	}
	for id, n := range want {
		if got[id] != n && got[id] != n-1 {
			r.t.Errorf("device %d: %d alerts of %d excursions", id, got[id], n)
		}
	}
	opened := 0
	for _, e := range r.events() {
		if strings.HasPrefix(e, "alert.opened") {
			opened++
		}
	}
	if opened != len(list) {
		r.t.Errorf("%d alerts were announced, %d are stored", opened, len(list))
	}
}
