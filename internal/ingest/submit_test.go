package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/ingest"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
)

// counting is a store that notes how many readings, of how many devices, each of its
// commits holds. The disk is slow, and full from a commit on.
type counting struct {
	*sqlite.Store
	mu      sync.Mutex
	commits [][2]int
	full    int // commits that it takes, 0 = all
}

// Stage implements store.Log.
func (c *counting) Stage(ctx context.Context, g *store.Group) (store.Staged, error) {
	devices, n := make(map[int64]bool), 0
	for _, part := range g.Parts {
		for i := range part {
			if part[i].Kind == store.InputReading {
				devices[part[i].DeviceID] = true
				n++
			}
		}
	}
	if n == 0 {
		return c.Store.Stage(ctx, g)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full > 0 && len(c.commits) == c.full {
		return nil, errors.New("the disk is full")
	}
	c.commits = append(c.commits, [2]int{n, len(devices)})
	staged, err := c.Store.Stage(ctx, g)
	return slowStaged{staged}, err
}

type slowStaged struct{ store.Staged }

// Commit implements store.Staged.
func (s slowStaged) Commit(ctx context.Context, e *store.Effects) error {
	time.Sleep(10 * time.Millisecond)
	return s.Staged.Commit(ctx, e)
}

// prompt makes a device that alerts above 5 °C at once.
func (r *rig) prompt(serial string) int64 {
	r.t.Helper()
	v, err := r.in.CreateDevice(r.t.Context(), &rimewatch.Device{
		WorkspaceID: r.ws, Serial: serial, Name: "N", EquipmentType: "other",
		Limits: &rimewatch.LimitOverrides{TempMax: new(5.0), DelayS: new(0)},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return v.ID
}

// count opens the rig anew upon a store that counts. Two devices are a portion.
func (r *rig) count() *counting {
	r.t.Helper()
	r.close()
	s, err := sqlite.Open(r.t.Context(), sqlite.Config{Path: r.path})
	if err != nil {
		r.t.Fatal(err)
	}
	c := &counting{Store: s}
	r.s, r.in = s, ingest.New(ingest.Config{Store: c, CallerDevices: 2, AliveEvery: time.Hour})
	if err := r.in.Start(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// taken returns the commits since the last call.
func (c *counting) taken() [][2]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.commits
	c.commits = nil
	return out
}

// TestPortions: what somebody brings of very many devices is committed in portions,
// which others need not wait for: small ones where alerts come of them. The readings of
// a device stay together.
func TestPortions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ids := make([]int64, 14)
		for i := range ids {
			ids[i] = r.prompt(string(rune('A' + i)))
		}
		c := r.count()
		at := r.now() - rimewatch.Minute
		brought := func(temp float64, order ...int) []store.Input {
			inputs := make([]store.Input, len(order))
			for i, k := range order {
				at++
				inputs[i] = store.Input{Kind: store.InputReading, DeviceID: ids[k]}
				inputs[i].Reading.At = at
				inputs[i].Reading.Set(rimewatch.ProductZoneTemp, temp)
			}
			return inputs
		}
		all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}
		kept := store.WithAnswer(t.Context(), &store.Answer{WorkspaceID: r.ws, Caller: 1, Key: "K", At: r.now()})
		for _, x := range []struct {
			name    string
			ctx     context.Context
			inputs  []store.Input
			commits [][2]int
		}{
			{"one of each", t.Context(), brought(2, all...), [][2]int{{2, 2}, {4, 4}, {8, 8}}},
			{"device by device", t.Context(), brought(2, 0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 4), [][2]int{{5, 2}, {6, 3}}},
			{"in turn, none of whom is done before the others", t.Context(), brought(2, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4), [][2]int{{10, 5}}},
			{"few", t.Context(), brought(2, 0, 1, 2, 3, 4, 5, 6, 7), [][2]int{{8, 8}}},
			{"with an answer that is kept", kept, brought(2, all...), [][2]int{{14, 14}}},
			{"alerts", t.Context(), brought(5.9, all...), [][2]int{{2, 2}, {2, 2}, {2, 2}, {2, 2}, {2, 2}, {2, 2}, {2, 2}}},
		} {
			if err := r.in.Submit(x.ctx, x.inputs, nil); err != nil {
				t.Fatal(x.name, err)
			}
			same(t, x.name, c.taken(), x.commits)
			same(t, x.name+": accepted", accepted(x.inputs), len(x.inputs))
			same(t, x.name+": waiting", r.in.QueueDepth(), int64(0))
		}
		same(t, "alerts", len(r.alerts()), len(ids))

		c.full = 2
		list := brought(5.9, all...)
		if err := r.in.Submit(t.Context(), list, nil); err == nil {
			t.Error("no error from a full disk")
		}
		same(t, "waiting after an error", r.in.QueueDepth(), int64(0))
		c.full = 0
		c.taken()
		if err := r.in.Submit(t.Context(), list, nil); err != nil {
			t.Fatal(err)
		}
		same(t, "accepted after a full disk, the others are duplicates", accepted(list), 8)

		// A stop waits for all that was begun.
		list = brought(5.9, all...)
		done := make(chan error, 1)
		go func() { done <- r.in.Submit(t.Context(), list, nil) }()
		synctest.Wait()
		r.close()
		same(t, "stopped meanwhile", <-done, nil)
		same(t, "accepted", accepted(list), len(list))
	})
}

func accepted(inputs []store.Input) (n int) {
	for i := range inputs {
		if inputs[i].Outcome == store.Accepted {
			n++
		}
	}
	return n
}

// signing is a store that writes behind each state, as far as it may.
type signing struct {
	*sqlite.Store
	t     *testing.T
	saved int
}

// SaveCheckpoints implements store.Log.
func (s *signing) SaveCheckpoints(ctx context.Context, states []store.Checkpoint, floor store.Seq) error {
	var before [][]byte
	for i := range states {
		before = append(before, bytes.Clone(states[i].State))
	}
	for i := range states {
		if state := states[i].State; &append(state, 1, 2, 3, 4)[0] != &state[0] {
			s.t.Error("a state must be copied to be signed")
		}
		s.saved++
	}
	for i := range states {
		if !bytes.Equal(states[i].State, before[i]) {
			s.t.Error("what was written behind one state has changed another")
		}
	}
	return s.Store.SaveCheckpoints(ctx, states, floor)
}

// TestRoomForSum: behind each state is room for its checksum, and nothing else.
func TestRoomForSum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ids := []int64{r.device("A", "walkin_freezer"), r.device("B", "walkin_freezer"), r.device("C", "reachin_freezer")}
		r.close()
		s, err := sqlite.Open(t.Context(), sqlite.Config{Path: r.path})
		if err != nil {
			t.Fatal(err)
		}
		c := &signing{Store: s, t: t}
		r.s, r.in = s, ingest.New(ingest.Config{Store: c})
		if err := r.in.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer r.close()
		for _, id := range ids {
			r.send(id, r.now(), -20)
		}
		r.in.CheckpointAll()
		same(t, "states", c.saved, len(ids))
	})
}

// TestSummaryOfOneMoment: whatever a fleet that comes back has committed, its
// conditions say what its counts say.
func TestSummaryOfOneMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		inputs := make([]store.Input, 40)
		for i := range inputs {
			inputs[i] = store.Input{Kind: store.InputReading, DeviceID: r.prompt(fmt.Sprint("C", i))}
		}
		r.count()
		for _, temp := range []float64{3, 5.9} {
			for i := range inputs {
				inputs[i].Outcome, inputs[i].Reading = store.Accepted, rimewatch.Reading{At: r.now()}
				inputs[i].Reading.Set(rimewatch.ProductZoneTemp, temp)
			}
			done := make(chan error)
			go func() { done <- r.in.Submit(t.Context(), inputs, nil) }()
			seen := make(map[int]bool)
			for busy := true; busy; {
				select {
				case err := <-done:
					if err != nil {
						t.Fatal(err)
					}
					busy = false
				case <-time.After(time.Millisecond):
				}
				sum := r.in.Summary(r.ws)
				c := sum.Conditions
				seen[sum.OnlineDevices], seen[-sum.ActiveAlerts] = true, true
				if c.Offline != sum.OfflineDevices || c.OK+c.Unjudged != sum.OnlineDevices-sum.ActiveAlerts || c.Warning+c.Critical != sum.ActiveAlerts {
					t.Fatalf("%v °C: %+v beside %d online, %d offline, %d alerts", temp, c, sum.OnlineDevices, sum.OfflineDevices, sum.ActiveAlerts)
				}
			}
			if len(seen) < 5 {
				t.Fatalf("%v °C: seen in one step: %v", temp, seen)
			}
		}
	})
}
