package ingest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/ingest"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
)

// flaky is a store whose commits take their time and fail now and then, so that a
// group is evaluated upon one that is lost.
type flaky struct {
	*sqlite.Store
	mu       sync.Mutex
	rnd      *rand.Rand
	fails    int // of a hundred commits
	running  int // commits
	overlaps int // groups that were staged meanwhile
	lost     int // groups that failed
	onCommit func()
}

func (f *flaky) Stage(ctx context.Context, g *store.Group) (store.Staged, error) {
	staged, err := f.Store.Stage(ctx, g)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.overlaps += f.running
	return &flakyStaged{staged, f}, nil
}

type flakyStaged struct {
	store.Staged
	f *flaky
}

func (s *flakyStaged) Commit(ctx context.Context, e *store.Effects) error {
	f := s.f
	f.mu.Lock()
	f.running++
	fail := f.rnd.IntN(100) < f.fails
	f.mu.Unlock()
	time.Sleep(20 * time.Millisecond) // the disk is slow: the next group is evaluated meanwhile
	f.mu.Lock()
	f.running--
	if f.onCommit != nil {
		f.onCommit()
	}
	f.mu.Unlock()
	if fail {
		s.Discard()
		f.mu.Lock()
		f.lost++
		f.mu.Unlock()
		return rimewatch.Errorf(rimewatch.CodeUnavailable, "the disk is full")
	}
	return s.Staged.Commit(ctx, e)
}

// states are those of the devices as their checkpoints hold them, byte for byte.
func (r *rig) states(ids []int64) map[int64]string {
	r.t.Helper()
	r.in.CheckpointAll()
	got := make(map[int64]string)
	err := r.s.Checkpoints(r.t.Context(), ids, func(c store.Checkpoint) error {
		got[c.DeviceID] = string(c.State)
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

// image copies the files as kill −9 would leave them at this moment.
func (r *rig) image() string {
	to := filepath.Join(r.t.TempDir(), sqlite.FileName)
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(r.path + suffix)
		if err == nil {
			err = os.WriteFile(to+suffix, data, 0o600)
		}
		if err != nil && !os.IsNotExist(err) {
			r.t.Error(err)
		}
	}
	return to
}

// sender is one caller with devices of its own.
type sender struct {
	ids   []int64
	at    rimewatch.Time
	acked map[string]bool
}

// batch is of so many readings that it is evaluated while another is synced.
func (s *sender) batch(rnd *rand.Rand) []store.Input {
	inputs := make([]store.Input, 0, 1100)
	for range 1050 / len(s.ids) {
		s.at += rimewatch.Minute
		for _, id := range s.ids {
			in := store.Input{Kind: store.InputReading, DeviceID: id}
			in.Reading.At = s.at
			temp := -20.0
			if s.at/rimewatch.Hour%7 > 3 {
				temp = -9
			}
			in.Reading.Set(rimewatch.ProductZoneTemp, temp+float64(rnd.IntN(20))/10)
			in.Reading.Set(rimewatch.AmpDraw, float64(rnd.IntN(80))/10)
			inputs = append(inputs, in)
		}
	}
	return inputs
}

func key(in *store.Input) string { return fmt.Sprint(in.DeviceID, in.Reading.At) }

// TestTwoGroupsUnderWay: groups are evaluated upon groups that are not durable
// yet, and some of those are lost. What was acknowledged is stored once, what was
// refused is not, and every state is the one that a replay of the log gives.
func TestTwoGroupsUnderWay(t *testing.T) {
	for seed := range uint64(shorter(3, 1)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { underWay(t, seed) })
		})
	}
}

func underWay(t *testing.T, seed uint64) {
	r := newRig(t)
	r.close()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: r.path})
	if err != nil {
		t.Fatal(err)
	}
	f := &flaky{Store: s, rnd: rand.New(rand.NewPCG(seed, 5))}
	r.s, r.in = s, ingest.New(ingest.Config{Store: f, Publisher: r, GroupInputs: 1000, SharedInputs: 2, Steppers: 2})
	if err := r.in.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var all []int64
	senders := make([]sender, 4)
	for i := range senders {
		x := &senders[i]
		x.at, x.acked = r.now()-2*rimewatch.Day, make(map[string]bool)
		for k := range 2 {
			x.ids = append(x.ids, r.device(fmt.Sprintf("S%d-%d", i, k), "walkin_freezer"))
		}
		all = append(all, x.ids...)
	}
	r.events()
	f.mu.Lock()
	f.fails = 25
	images, commits := []string{}, 0
	f.onCommit = func() {
		// Nobody is shown a count that is not durable, one device at a time either.
		of, all := r.in.SummaryOf(r.ws, nil), r.in.Summary(r.ws)
		if of.OnlineDevices != all.OnlineDevices || of.ActiveAlerts != all.ActiveAlerts {
			t.Errorf("%d online and %d alerts device by device, %d and %d in all", of.OnlineDevices, of.ActiveAlerts, all.OnlineDevices, all.ActiveAlerts)
		}
		if commits++; commits%9 == 0 {
			images = append(images, r.image())
		}
	}
	f.mu.Unlock()
	// quiet is a moment at which nothing was under way: the files, and the states.
	type quiet struct {
		path string
		live map[int64]string
	}
	var moments []quiet
	for round := range uint64(3) {
		var wg sync.WaitGroup
		for i := range senders {
			wg.Go(func() { senders[i].run(t, r, rand.New(rand.NewPCG(seed, 4*round+uint64(i)))) })
		}
		wg.Wait()
		time.Sleep(2 * time.Second)
		r.compareAcked(senders)
		path := r.image() // before the checkpoints: the log tells what has happened since those before
		moments = append(moments, quiet{path, r.states(all)})
	}
	if f.overlaps < 3 || f.lost < 3 {
		t.Errorf("%d groups were staged during a commit, %d lost: the load proves nothing", f.overlaps, f.lost)
	}
	announced := len(r.events())
	if announced == 0 {
		t.Error("no alert was announced")
	}
	r.close()
	for _, path := range images {
		r.path = path
		r.open()
		r.states(all) // it works on
		r.close()
	}
	for round, m := range moments {
		r.path = m.path
		r.open()
		if got := r.states(all); len(got) != len(all) {
			t.Fatalf("%d states of %d devices", len(got), len(all))
		} else {
			same(t, fmt.Sprintf("replayed states, round %d", round), got, m.live)
		}
		r.close()
	}
}

// run sends batches, each until it is acknowledged, and other things meanwhile.
func (s *sender) run(t *testing.T, r *rig, rnd *rand.Rand) {
	for range 4 {
		inputs := s.batch(rnd)
		for try := 0; ; try++ {
			err := r.in.Submit(t.Context(), inputs, nil)
			if err == nil {
				break
			}
			if try == 100 || rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
				t.Errorf("refused: %v", err)
				return
			}
			time.Sleep(time.Duration(1+rnd.IntN(10)) * time.Millisecond)
		}
		for i := range inputs {
			if inputs[i].Outcome != store.Accepted {
				t.Errorf("outcome %v of a reading that was never stored", inputs[i].Outcome)
				return
			}
			s.acked[key(&inputs[i])] = true
		}
		if rnd.IntN(4) == 0 { // a change of a device is alone
			_, err := r.in.UpdateDevice(t.Context(), r.ws, "s0-0", func(d *rimewatch.Device) error {
				d.HeartbeatIntervalS = 60 + rnd.IntN(100)
				return nil
			})
			if err != nil && rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
				t.Errorf("change: %v", err)
			}
		}
	}
}

// compareAcked compares what is stored with what was acknowledged.
func (r *rig) compareAcked(senders []sender) {
	r.t.Helper()
	for i := range senders {
		n := 0
		for _, id := range senders[i].ids {
			err := r.s.Readings(r.t.Context(), store.HistoryQuery{DeviceID: id, To: rimewatch.MaxTime}, func(got *rimewatch.Reading) error {
				n++
				if !senders[i].acked[fmt.Sprint(id, got.At)] {
					r.t.Fatalf("device %d at %v was never acknowledged", id, got.At)
				}
				return nil
			})
			if err != nil {
				r.t.Fatal(err)
			}
		}
		if n != len(senders[i].acked) {
			r.t.Fatalf("%d readings are stored, %d were acknowledged", n, len(senders[i].acked))
		}
	}
}
