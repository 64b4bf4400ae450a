package ingest_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/ingest"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
)

// failing refuses commits while told to, as a full disk would.
type failing struct {
	*sqlite.Store
	full atomic.Bool
	hang atomic.Int64 // ns that a commit takes
}

func (f *failing) Stage(ctx context.Context, g *store.Group) (store.Staged, error) {
	staged, err := f.Store.Stage(ctx, g)
	if err != nil || !f.full.Load() {
		return slowly{staged, time.Duration(f.hang.Load())}, err
	}
	return refused{staged}, nil
}

// refused is a group that the disk has no room for.
type refused struct{ store.Staged }

func (r refused) Commit(context.Context, *store.Effects) error {
	r.Discard()
	return rimewatch.Errorf(rimewatch.CodeUnavailable, "the disk is full")
}

func (f *failing) AddDowntime(ctx context.Context, d store.Downtime) error {
	if f.full.Load() {
		return rimewatch.Errorf(rimewatch.CodeUnavailable, "the disk is full")
	}
	return f.Store.AddDowntime(ctx, d)
}

func (f *failing) MarkAlive(ctx context.Context, now rimewatch.Time) error {
	if f.full.Load() {
		return rimewatch.Errorf(rimewatch.CodeUnavailable, "the disk is full")
	}
	return f.Store.MarkAlive(ctx, now)
}

// damaging gives back checkpoints that nobody can read.
type damaging struct{ *sqlite.Store }

func (d damaging) Checkpoints(ctx context.Context, devices []int64, yield func(store.Checkpoint) error) error {
	return d.Store.Checkpoints(ctx, devices, func(c store.Checkpoint) error {
		c.State = append([]byte{255}, c.State...)
		return yield(c)
	})
}

// TestLostState: a checkpoint that cannot be read costs its device what it had
// learnt, and nobody the service. Its alerts do not stay active for ever.
func TestLostState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		id := r.device("A", "walkin_freezer")
		r.warm(id, -13, 70*time.Minute)
		same(t, "before", r.alerts(), []string{"high_temperature warning active "})
		r.in.CheckpointAll()
		if err := r.s.Rest(t.Context()); err != nil { // the log is gone, too
			t.Fatal(err)
		}
		r.close()
		r.events()
		s, err := sqlite.Open(t.Context(), sqlite.Config{Path: r.path})
		if err != nil {
			t.Fatal(err)
		}
		r.s, r.in = s, ingest.New(ingest.Config{Store: damaging{s}, Publisher: r})
		if err := r.in.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() { r.close() }()
		time.Sleep(2 * time.Second)
		same(t, "events", r.events(), []string{"alert.resolved high_temperature warning"})
		same(t, "alerts", r.alerts(), []string{"high_temperature warning resolved superseded"})
		same(t, "history", r.view("A").CurrentTemp, -13.0)
		r.warm(id, -13, 63*time.Minute)
		same(t, "judged anew", r.events(), []string{"device.online", "alert.opened high_temperature warning"})
	})
}

// TestStartOnFullDisk: the service comes up, answers reads, and remembers how
// long it was down until it can write it.
func TestStartOnFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		id := r.device("A", "walkin_freezer")
		r.warm(id, -20, 10*time.Minute)
		r.events()
		r.close()
		time.Sleep(time.Hour)
		s, err := sqlite.Open(t.Context(), sqlite.Config{Path: r.path})
		if err != nil {
			t.Fatal(err)
		}
		f := &failing{Store: s}
		f.full.Store(true)
		r.s, r.in = s, ingest.New(ingest.Config{Store: f, Publisher: r})
		if err := r.in.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() { r.close() }()
		time.Sleep(time.Minute)
		same(t, "status", r.view("A").Status, rimewatch.Online)
		f.full.Store(false)
		time.Sleep(3 * time.Minute)
		same(t, "silent with a service", r.events(), []string{"device.offline", "alert.opened device_offline warning"})
		all, err := s.Downtimes(t.Context())
		if err != nil || len(all) != 1 || all[0].To-all[0].From < 59*rimewatch.Minute {
			t.Errorf("recorded downtimes: %v, %v", all, err)
		}
	})
}

func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.close()
		s, err := sqlite.Open(t.Context(), sqlite.Config{Path: r.path})
		if err != nil {
			t.Fatal(err)
		}
		f := &failing{Store: s}
		r.s, r.in = s, ingest.New(ingest.Config{Store: f, Publisher: r})
		if err := r.in.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() { r.close() }()
		id := r.device("A", "walkin_freezer")
		r.warm(id, -20, 10*time.Minute)
		r.events()
		f.full.Store(true)
		for range 100 {
			inputs := []store.Input{{Kind: store.InputReading, DeviceID: id}}
			inputs[0].Reading.At = r.now()
			inputs[0].Reading.Set(rimewatch.ProductZoneTemp, 5)
			err := r.in.Submit(t.Context(), inputs, nil)
			same(t, "refused", rimewatch.CodeOf(err), rimewatch.CodeUnavailable)
			time.Sleep(time.Minute)
		}
		same(t, "nobody hears of what is not stored", r.events(), []string(nil))
		same(t, "reads go on", r.view("A").CurrentTemp, -20.0)
		f.full.Store(false)
		time.Sleep(2 * time.Second)
		same(t, "nobody could be heard meanwhile", r.events(), []string(nil))
		same(t, "recovered without a restart", r.send(id, r.now(), -20), store.Accepted)
	})
}
