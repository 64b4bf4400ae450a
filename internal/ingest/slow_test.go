package ingest_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/ingest"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// slow is a store on a disk that takes its time to sync.
type slow struct {
	*sqlite.Store
	sync time.Duration
}

func (s slow) Stage(ctx context.Context, g *store.Group) (store.Staged, error) {
	staged, err := s.Store.Stage(ctx, g)
	return slowly{staged, s.sync}, err
}

type slowly struct {
	store.Staged
	sync time.Duration
}

func (s slowly) Commit(ctx context.Context, e *store.Effects) error {
	time.Sleep(s.sync)
	return s.Staged.Commit(ctx, e)
}

// TestSlowSync: where a sync takes 200 ms every reading is answered after the sync
// of its own group, and at worst the one before; none is lost, and an alert that
// is due by the clock is no later than that.
func TestSlowSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.close()
		s, err := sqlite.Open(t.Context(), sqlite.Config{Path: r.path})
		if err != nil {
			t.Fatal(err)
		}
		const sync200 = 200 * time.Millisecond
		r.s, r.in = s, ingest.New(ingest.Config{Store: slow{s, sync200}, Publisher: r})
		if err := r.in.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() { r.close() }()
		seed := trial.Seed(t)
		var ids []int64
		for _, serial := range []string{"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L"} {
			ids = append(ids, r.device(serial, "walkin_freezer"))
		}
		var sent, late atomic.Int64
		var worst atomic.Int64
		var devices sync.WaitGroup
		for i, id := range ids {
			rnd := rand.New(rand.NewPCG(seed, uint64(i)))
			devices.Go(func() {
				end := time.Now().Add(10 * time.Minute)
				if i == 0 {
					end = time.Now().Add(time.Minute) // then it is silent
				}
				for time.Now().Before(end) {
					time.Sleep(time.Duration(rnd.IntN(10_000)) * time.Millisecond)
					inputs := []store.Input{{Kind: store.InputReading, DeviceID: id}}
					inputs[0].Reading.At = r.now()
					inputs[0].Reading.Set(rimewatch.ProductZoneTemp, -20)
					began := time.Now()
					if err := r.in.Submit(t.Context(), inputs, nil); err != nil || inputs[0].Outcome != store.Accepted {
						t.Errorf("a reading: %v, %v", err, inputs[0].Outcome)
					}
					sent.Add(1)
					took := time.Since(began)
					worst.Store(max(worst.Load(), int64(took)))
					if took > 2*sync200+50*time.Millisecond || took < sync200 {
						late.Add(1)
					}
				}
			})
		}
		devices.Wait()
		if late.Load() > 0 {
			t.Errorf("%d of %d readings were answered before their sync or after two, the slowest after %v", late.Load(), sent.Load(), time.Duration(worst.Load()))
		}
		stored := int64(0)
		for _, id := range ids {
			err := s.Readings(t.Context(), store.HistoryQuery{DeviceID: id, To: rimewatch.MaxTime}, func(*rimewatch.Reading) error { stored++; return nil })
			if err != nil {
				t.Error(err)
			}
		}
		same(t, "stored", stored, sent.Load())
		list, _, err := s.Alerts(t.Context(), r.ws, store.AlertFilter{}, store.AlertPage{Limit: 10})
		if err != nil || len(list) != 1 || list[0].Type != rimewatch.DeviceOffline || list[0].DeviceID != ids[0] {
			t.Fatalf("alerts: %+v, %v", list, err)
		}
		silent, err := s.Device(t.Context(), r.ws, "A")
		if err != nil {
			t.Fatal(err)
		}
		due := silent.LastSeenAt + 180*rimewatch.Second // nothing else is set, and it sent often
		if behind := list[0].TriggeredAt - due; behind < 0 || behind > 5*rimewatch.Second {
			t.Errorf("the alert of the silent device came %d ms after it was due", behind)
		}
		t.Logf("%d readings, the slowest answered after %v", sent.Load(), time.Duration(worst.Load()))
	})
}
