package postgres

import (
	"context"
	"errors"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
)

// follower reads a shard that another node serves.
type follower struct {
	*Store
	joined  chan error
	entries int // that it has heard of
}

// follow has a node read a shard that s serves, and returns when it has.
func follow(t *testing.T, db *Database, s *Store) *follower {
	t.Helper()
	f := &follower{joined: make(chan error, 1)}
	var err error
	f.Store, err = db.Follow(t.Context(), s.disk.shard, s.Stream(), s.Moved(), Config{quiet: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	entry := func(int, *store.Entry) error { f.entries++; return nil }
	go func() {
		err := f.Recover(context.WithoutCancel(t.Context()), 1, func(int, store.Checkpoint) error { return nil }, entry)
		if err == nil {
			err = f.Join(context.WithoutCancel(t.Context()), 1, func() error { return nil }, entry)
		}
		f.joined <- err
	}()
	<-f.Followed()
	return f
}

// served opens the first shard, and has a shop in it.
func served(t *testing.T, db *Database) *shop {
	t.Helper()
	v, err := db.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const shard = 1 // that of the first workspace
	s, err := db.Open(t.Context(), shard, v.Holdings[shard].Stream, Config{quiet: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	x := newShop(t, ready(t, s))
	for range 3 {
		if err := x.commit(); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// TestFollow has a node read a shard while another adds to it, and take it when that
// one lets go: it knows all, and the other writes nothing more.
func TestFollow(t *testing.T) {
	first, second := divided(t)
	x := served(t, first)
	owner := x.s
	if err := owner.Rest(t.Context()); err != nil { // some of it in chunks
		t.Fatal(err)
	}
	for range 2 {
		if err := x.commit(); err != nil {
			t.Fatal(err)
		}
	}
	f := follow(t, second, owner)
	if err := f.MarkAlive(t.Context(), 1); rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
		t.Errorf("a write to a shard that is another's: %v", err)
	}
	before := f.entries
	for range 4 {
		if err := x.commit(); err != nil {
			t.Fatal(err)
		}
	}
	alert := &rimewatch.Alert{
		ID: owner.NewAlertID(), WorkspaceID: x.workspace, DeviceID: x.device, Type: "battery_low", Severity: rimewatch.Warning, Status: rimewatch.AlertActive, TriggeredAt: 5, LastEvaluatedAt: 5,
	}
	if err := storetest.Commit(t.Context(), owner, &store.Group{Now: 5}, &store.Effects{Alerts: []*rimewatch.Alert{alert}}); err != nil {
		t.Fatal(err)
	}
	if err := owner.Close(); err != nil {
		t.Fatal(err)
	}
	f.Take()
	if err := <-f.joined; err != nil {
		t.Fatal(err)
	}
	if f.entries != before+4 {
		t.Errorf("%d inputs of the log, %d of them before", f.entries, before)
	}
	x.s = f.Store
	if n := x.history(); n != x.n {
		t.Errorf("%d readings, not %d", n, x.n)
	}
	v, err := f.Device(t.Context(), x.workspace, "A")
	if err != nil || v.ActiveAlerts != 1 || v.Latest.At != rimewatch.Time(1_700_000_000_000)+rimewatch.Time(x.n-1)*rimewatch.Minute {
		t.Errorf("the device is %+v, %v", v, err)
	}
	if id := f.NewAlertID(); id <= alert.ID {
		t.Errorf("alert %d comes after %d", id, alert.ID)
	}
	if err := x.commit(); err != nil {
		t.Fatal(err)
	}
	if n := x.history(); n != x.n {
		t.Errorf("%d readings, not %d", n, x.n)
	}
	if err := f.Rest(t.Context()); err != nil { // each is in one place
		t.Fatal(err)
	}
	if st, err := f.Stats(t.Context()); err != nil || st.StoredReadings != int64(x.n) {
		t.Errorf("%d readings at rest, not %d, %v", st.StoredReadings, x.n, err)
	}
}

// TestFollowMoved: whatever changes what was read, but for the log, has the shard opened
// as if nothing had been read.
func TestFollowMoved(t *testing.T) {
	for name, change := range map[string]func(x *shop) error{
		"a device is registered": func(x *shop) error {
			op := &store.DeviceOp{WorkspaceID: x.workspace, Serial: "B", Create: &rimewatch.Device{ID: x.s.NewDeviceID(), WorkspaceID: x.workspace, Serial: "B", Name: "B", EquipmentType: "other"}}
			return storetest.Commit(x.Context(), x.s, &store.Group{Now: 1, Devices: []*store.DeviceOp{op}}, &store.Effects{})
		},
		"readings are sealed": func(x *shop) error { return x.s.Rest(x.Context()) },
		"a site is created": func(x *shop) error {
			return x.s.Sites().Create(x.Context(), &rimewatch.Site{WorkspaceID: x.workspace, Name: "S", TimeZone: "UTC", CreatedAt: 1, UpdatedAt: 1})
		},
		"a downtime is recorded": func(x *shop) error { return x.s.AddDowntime(x.Context(), store.Downtime{From: 1, To: 2}) },
		"the clock is set back": func(x *shop) error {
			return storetest.Commit(x.Context(), x.s, &store.Group{Now: 1, Back: true}, &store.Effects{Back: 1})
		},
		"the owner dies": nil,
	} {
		t.Run(name, func(t *testing.T) {
			first, second := divided(t)
			x := served(t, first)
			f := follow(t, second, x.s)
			if change != nil {
				if err := change(x); err != nil {
					t.Fatal(err)
				}
				if err := x.s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			f.Take()
			if err := <-f.joined; !errors.Is(err, store.ErrMoved) {
				t.Fatalf("it is joined: %v", err)
			}
			s, err := second.Open(t.Context(), x.s.disk.shard, x.s.Stream(), Config{quiet: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			x.s = ready(t, s)
			if n := x.history(); n != x.n {
				t.Errorf("%d readings, not %d", n, x.n)
			}
		})
	}
}

// TestFollowTaken: somebody else takes the shard that a node has read.
func TestFollowTaken(t *testing.T) {
	first, second := divided(t)
	x := served(t, first)
	f := follow(t, second, x.s)
	s, err := first.Open(t.Context(), x.s.disk.shard, x.s.Stream(), Config{quiet: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	f.Take()
	if err := <-f.joined; !errors.Is(err, store.ErrTaken) {
		t.Fatalf("it is joined: %v", err)
	}
}
