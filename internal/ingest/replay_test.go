package ingest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/ingest"
	"github.com/rimewatch/rimewatch/internal/store"
)

// TestLateDevices: a large fleet is served before all states are read, and comes to
// the same states, alerts and counts as if they had been read at the start. It is
// killed again and again, also while it reads them. So it does where it is read while
// somebody else still serves it.
func TestLateDevices(t *testing.T) {
	type result struct {
		States  map[int64]string
		Alerts  []string
		Online  int
		Alarmed int
	}
	run := func(t *testing.T, memory int64, late int, follows bool) (out result, early int) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			defer func() { r.close() }()
			rnd := rand.New(rand.NewPCG(7, 7))
			var ids []int64
			for i := range 150 {
				ids = append(ids, r.device(fmt.Sprintf("D%d", i), "walkin_freezer"))
			}
			r.memory, r.late, r.follows = memory, late, follows
			gap := rimewatch.Time(shorter(10, 4)) * rimewatch.Minute // long enough that who is silent is offline
			for round := range shorter(16, 5) {
				if round%3 == 0 {
					r.in.CheckpointAll()
				}
				if round%4 == 3 {
					if err := r.s.Rest(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if round > 0 {
					r.crash()
				}
				if round%5 == 4 { // once more, before all is read
					r.crash()
				}
				for range 3 { // of devices that may be late
					inputs := make([]store.Input, 0, 40)
					for range cap(inputs) {
						in := store.Input{Kind: store.InputReading, DeviceID: ids[rnd.IntN(len(ids))]}
						in.Reading.At = rimewatch.Time(len(inputs)) + rimewatch.Time(round)*gap + 946_684_800_000
						in.Reading.Set(rimewatch.ProductZoneTemp, -20+float64(rnd.IntN(2)*rnd.IntN(20)))
						inputs = append(inputs, in)
					}
					if r.in.Loading() {
						early++
					}
					if err := r.in.Submit(t.Context(), inputs, nil); err != nil {
						t.Fatal(err)
					}
				}
				// What is asked of a fleet is answered when all is read, and what was due then has happened.
				<-r.in.Loaded()
				synctest.Wait()
				sum := r.in.Summary(r.ws)
				out.Online, out.Alarmed = sum.OnlineDevices, sum.ActiveAlerts
				// The next kill comes a quarter of a second beside the moments in which the service looks
				// what is due, and notes that it is alive: which of the two is first would be anybody's guess.
				aside := 250 * time.Millisecond
				if round%2 == 1 {
					aside = 30*time.Second + 500*time.Millisecond
				}
				time.Sleep(time.Duration(gap-r.now()%gap)*time.Millisecond + aside)
			}
			out.States, out.Alerts = r.states(ids), r.alerts()
			slices.Sort(out.Alerts) // those of one moment come in any order
		})
		return out, early
	}
	for _, memory := range []int64{0, 100 * ingest.StateBytes} {
		want, _ := run(t, memory, 0, false)
		got, early := run(t, memory, 1, false)
		same(t, fmt.Sprintf("memory %d", memory), got, want)
		heir, _ := run(t, memory, 1, true)
		same(t, fmt.Sprintf("followed, memory %d", memory), heir, want)
		if early == 0 || len(want.Alerts) < 10 || want.Online == 0 {
			t.Errorf("%d groups came before all was read, %d alerts, %d online: this proves nothing", early, len(want.Alerts), want.Online)
		}
	}
}
