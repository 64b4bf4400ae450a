package ingest_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/ingest"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
)

// absence is a rig whose store may take no writes for a while, and whose process may stand
// still.
type absence struct {
	*rig
	disk *failing
	lost atomic.Int64 // ns by which the process stood still
}

func newAbsence(t *testing.T) *absence {
	t.Helper()
	a := &absence{rig: newRig(t)}
	a.close()
	a.open()
	return a
}

func (a *absence) open() {
	a.t.Helper()
	s, err := sqlite.Open(a.t.Context(), sqlite.Config{Path: a.path})
	if err != nil {
		a.t.Fatal(err)
	}
	a.disk = &failing{Store: s}
	now := func() time.Time { return time.Now().Add(time.Duration(a.lost.Load())) }
	a.s, a.in = s, ingest.New(ingest.Config{Store: a.disk, Publisher: a.rig, Now: now})
	if err := a.in.Start(a.t.Context()); err != nil {
		a.t.Fatal(err)
	}
}

// offer sends a reading of each device, which a store that takes no writes refuses.
func (a *absence) offer(ids []int64) {
	a.t.Helper()
	for _, id := range ids {
		in := []store.Input{{Kind: store.InputReading, DeviceID: id, AtArrival: true}}
		in[0].Reading.Set(rimewatch.ProductZoneTemp, -20)
		want := rimewatch.Code("")
		if a.disk.full.Load() {
			want = rimewatch.CodeUnavailable
		}
		if err := a.in.Submit(a.t.Context(), in, nil); err != nil && rimewatch.CodeOf(err) != want {
			a.t.Fatal(err)
		}
	}
}

func (a *absence) fleet() (ids []int64) {
	for _, serial := range []string{"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L"} {
		ids = append(ids, a.device(serial, "walkin_freezer"))
	}
	return ids
}

// TestAbsence: while the store takes no writes, or the process stands still, nobody is heard.
// Devices that go on sending never go offline by that; one that had fallen silent before does
// so later by as long, and a restart in between changes nothing of it.
func TestAbsence(t *testing.T) {
	const away = 10 * time.Minute
	for _, tc := range []struct {
		name string
		away func(*absence, []int64)
	}{
		{"the store takes no writes", func(a *absence, ids []int64) {
			a.disk.full.Store(true)
			for range away / time.Minute {
				a.offer(ids)
				time.Sleep(time.Minute)
			}
			a.disk.full.Store(false)
		}},
		{"it takes none and nobody sends", func(a *absence, _ []int64) {
			a.disk.full.Store(true)
			time.Sleep(away)
			a.disk.full.Store(false)
		}},
		{"the process stands still", func(a *absence, _ []int64) { a.lost.Add(int64(away)) }},
		{"a commit takes as long", func(a *absence, ids []int64) {
			a.disk.hang.Store(int64(away))
			a.offer(ids[:1])
			a.disk.hang.Store(0)
		}},
	} {
		for _, restart := range []bool{false, true} {
			name := tc.name
			if restart {
				name += ", then a restart"
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					a := newAbsence(t)
					defer func() { a.close() }()
					ids := a.fleet()
					for range 10 {
						a.offer(ids)
						time.Sleep(20 * time.Second)
					}
					silent := time.Now()
					for range 6 { // the last one has fallen silent
						a.offer(ids[:11])
						time.Sleep(20 * time.Second)
					}
					a.events()
					tc.away(a, ids[:11])
					if restart {
						a.close()
						a.open()
					}
					time.Sleep(time.Second)
					for range 2 {
						a.offer(ids[:11])
						time.Sleep(15 * time.Second)
					}
					same(t, "events", a.events(), []string(nil))
					for range 4 {
						a.offer(ids[:11])
						time.Sleep(15 * time.Second)
					}
					same(t, "the silent one", a.events(), []string{"device.offline", "alert.opened device_offline warning"})
					gone := a.view("L").StatusChangedAt.Sub(rimewatch.TimeOf(silent)) - 160*time.Second
					if gone < away-5*time.Second || gone > away+5*time.Second {
						t.Errorf("its deadline has moved by %v, want %v", gone, away)
					}
				})
			})
		}
	}
}

// TestFrozenZone: a device whose zone has not moved for twice as long as it takes to tell is not
// judged, in the list, the summary and after a restart, until it moves.
func TestFrozenZone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.device("A", "reach_in_freezer")
		judged := func(what string, want bool) {
			t.Helper()
			v := r.view("A")
			same(t, what, v.Judged(r.now()), want)
			same(t, what+", summary", r.in.Summary(r.ws).UnjudgedDevices == 0, want)
			list, _, err := r.s.Devices(t.Context(), r.ws, store.DeviceFilter{Judged: &store.Judged{Is: true, At: r.now()}}, store.Page{Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			same(t, what+", listed", len(list) == 1, want)
		}
		for range 47 * 2 {
			r.send(id, r.now(), -18)
			time.Sleep(30 * time.Minute)
		}
		judged("told, and judged", true)
		for range 2 * 2 {
			r.send(id, r.now(), -18)
			time.Sleep(30 * time.Minute)
		}
		judged("frozen", false)
		r.crash()
		r.send(id, r.now(), -18)
		judged("after a restart", false)
		time.Sleep(30 * time.Minute)
		r.send(id, r.now(), -18.2)
		judged("it moves", true)
	})
}

// TestTemperatureOutOfReach: a temperature that no unit can have come to is not shown as the
// current one until nothing else has come for ten minutes; then it is, and its alert is told
// though the device is offline. A crash in between changes nothing.
func TestTemperatureOutOfReach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.limited("A", 5, 60)
		r.warm(id, 3, 70*time.Minute) // in its first hour every temperature counts
		shows := func(when string, temp float64, at rimewatch.Time) {
			t.Helper()
			synctest.Wait()
			v := r.view("A")
			same(t, when, []any{v.CurrentTemp, v.CurrentTempAt}, []any{temp, at})
		}
		usual := r.now() - rimewatch.Minute
		odd := r.now()
		r.send(id, odd, 40)
		shows("at once", 3, usual)
		time.Sleep(5 * time.Minute)
		r.crash()
		shows("after a crash", 3, usual)
		r.events()
		time.Sleep(5*time.Minute - time.Second)
		shows("shortly before", 3, usual)
		same(t, "shortly before", r.events(), []string(nil))
		time.Sleep(2 * time.Second)
		shows("ten minutes later", 40, odd)
		same(t, "ten minutes later", r.events(), []string{"alert.opened high_temperature warning"})
	})
}
