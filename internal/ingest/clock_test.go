package ingest_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/clock"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
)

const years = 20 * 365 * rimewatch.Day

// machine is one whose wall clock can be set. The time of the bubble is the
// right one.
type machine struct {
	ahead  atomic.Int64 // ms that the wall clock is ahead of the right time
	booted time.Time
	keeper *clock.Keeper
}

func (m *machine) boot() *clock.Keeper {
	m.booted = time.Now()
	m.keeper = clock.NewKeeper(func() clock.Machine {
		now := time.Now()
		return clock.Machine{Wall: rimewatch.TimeOf(now) + rimewatch.Time(m.ahead.Load()), Mono: rimewatch.Time(now.Sub(m.booted).Milliseconds())}
	})
	return m.keeper
}

// modern lets a bubble's time, which begins in 2000, come to years that are
// believed.
func modern() { time.Sleep(27 * 365 * 24 * time.Hour) }

// step is what happens to the clock in the middle of the story.
type step struct {
	name    string
	before  rimewatch.Time // how wrong the clock is from the start
	by      rimewatch.Time
	lasting time.Duration // 0 = for good
	crash   bool          // and the service is killed after it
}

var steps = []step{
	{name: "-1 d", by: -rimewatch.Day},
	{name: "-1 h", by: -rimewatch.Hour},
	{name: "-1 h and a crash", by: -rimewatch.Hour, crash: true},
	{name: "+1 h for 3 s", by: rimewatch.Hour, lasting: 3 * time.Second},
	{name: "+20 y for 4 s", by: years, lasting: 4 * time.Second},
	{name: "+20 y for 4 s and a crash", by: years, lasting: 4 * time.Second, crash: true},
	{name: "+1 h for good", by: rimewatch.Hour},
	{name: "right at last, +1 h", before: -rimewatch.Hour, by: rimewatch.Hour},
	{name: "right at last, -1 h", before: rimewatch.Hour, by: -rimewatch.Hour},
	{name: "right at last, -1 d and a crash", before: rimewatch.Day, by: -rimewatch.Day, crash: true},
}

// happened are the alerts of a story by device and kind, each with the right
// times at which it happened.
type happened map[string][]time.Duration

// watcher notes when alerts open and end, by the right time.
type watcher struct {
	start time.Time
	names map[int64]string
	seen  happened
	rig   *rig
	t     *testing.T
	back  rimewatch.Time // by how much it heard that the clock was set back
}

func (w *watcher) Publish(p *publish.Commit) {
	w.rig.mu.Lock()
	defer w.rig.mu.Unlock()
	now := w.rig.machine.keeper.Now()
	if p.Now > now+5*rimewatch.Minute {
		w.t.Errorf("a commit at %d, %d s after the service's time", p.Now, (p.Now-now)/rimewatch.Second)
	}
	if w.back += p.SetBack; p.SetBack != 0 && now.Sub(p.Now).Abs() > time.Second {
		w.t.Errorf("heard of the clock at %d before it was set back to %d", now, p.Now)
	}
	for _, e := range p.Alerts {
		if e.Kind == publish.AlertUpdated {
			continue
		}
		key := fmt.Sprint(w.names[e.Alert.DeviceID], " ", e.Kind, " ", e.Alert.Type)
		w.seen[key] = append(w.seen[key], time.Since(w.start))
		if at := max(e.Alert.TriggeredAt, e.Alert.ConditionStartedAt, e.Alert.ResolvedAt); at > now+5*rimewatch.Minute {
			w.t.Errorf("%s has a time %d s after the service's", key, (at-now)/rimewatch.Second)
		}
	}
}

// story lets ninety minutes pass: two units get warm, one stamps its readings
// and one does not, one falls silent, one is well. The clock steps while the
// delays run.
func story(t *testing.T, c *step) (out happened, stored int) {
	modern()
	r := &rig{t: t, path: t.TempDir() + "/rimewatch.db", machine: &machine{}}
	if c != nil {
		r.machine.ahead.Store(int64(c.before))
	}
	w := &watcher{start: time.Now(), names: make(map[int64]string), seen: make(happened), rig: r, t: t}
	r.heard = w
	r.open()
	defer func() { r.close() }()
	ws := &rimewatch.Workspace{Name: "W", TimeZone: "UTC", RawDays: 30, RollupDays: 60, CreatedAt: 1, UpdatedAt: 1}
	if err := r.s.CreateWorkspace(t.Context(), ws); err != nil {
		t.Fatal(err)
	}
	r.ws = ws.ID
	device := func(serial string) int64 {
		most, delay := -10.0, 600
		v, err := r.in.CreateDevice(t.Context(), &rimewatch.Device{WorkspaceID: r.ws, Serial: serial, Name: serial, EquipmentType: "other",
			Limits: &rimewatch.LimitOverrides{TempMax: &most, DelayS: &delay}})
		if err != nil {
			t.Fatal(err)
		}
		w.names[v.ID] = serial
		return v.ID
	}
	plain, own, quiet, well := device("plain"), device("own"), device("quiet"), device("well")
	send := func(id int64, at rimewatch.Time, temp float64) {
		if at > r.machine.keeper.Now()+rimewatch.FutureTolerance {
			return // it is refused
		}
		in := []store.Input{{Kind: store.InputReading, DeviceID: id, AtArrival: at == 0}}
		in[0].Reading.At = at
		in[0].Reading.Set(rimewatch.ProductZoneTemp, temp)
		if err := r.in.Submit(t.Context(), in, nil); err != nil {
			t.Fatal(err)
		}
		if in[0].Outcome == store.Accepted {
			stored++
		}
	}
	for minute := range 90 {
		temp := -20.0
		if minute >= 30 && minute < 60 {
			temp = 10
		}
		send(plain, 0, temp)
		send(own, r.now(), temp)
		send(well, 0, -20)
		if minute < 33 || minute > 50 {
			send(quiet, 0, -20)
		}
		if c != nil && minute == 34 {
			time.Sleep(20 * time.Second)
			r.machine.ahead.Add(int64(c.by))
			time.Sleep(c.lasting)
			if c.lasting != 0 {
				r.machine.ahead.Add(-int64(c.by))
			}
			time.Sleep(20*time.Second - c.lasting)
		}
		if c != nil && minute == 37 && c.crash {
			r.crash()
		}
		time.Sleep(time.Until(w.start.Add(time.Duration(minute+1) * time.Minute)))
	}
	by := rimewatch.Time(0)
	if c != nil {
		by = min(c.by, 0)
	}
	if w.back.Sub(by).Abs() > time.Second {
		t.Errorf("heard that the clock was set back by %d ms, not %d", w.back, by)
	}
	return w.seen, stored
}

// TestClockSteps: whatever happens to the machine's clock, no alert is missed or
// doubled and none is more than five seconds late; no time that is stored or told
// is ahead of the service's; nothing is deleted.
func TestClockSteps(t *testing.T) {
	var want happened
	synctest.Test(t, func(t *testing.T) { want, _ = story(t, nil) })
	if len(want) != 6 {
		t.Fatalf("without a step: %v", want)
	}
	for _, c := range steps[:shorter(len(steps), 4)] {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, _ := story(t, &c)
				right := c.before+c.by == 0 || c.lasting != 0
				for key, at := range want {
					if !right && strings.HasPrefix(key, "own") {
						continue // a clock that is right is refused by one that is wrong
					}
					if c.before < 0 && strings.HasPrefix(key, "own") {
						continue // likewise, up to the step
					}
					if len(got[key]) != len(at) {
						t.Errorf("%s: %v, want %v", key, got[key], at)
						continue
					}
					for i := range at {
						if late := got[key][i] - at[i]; late > 5*time.Second || late < -5*time.Second && c.by < 0 {
							t.Errorf("%s %v late", key, late)
						}
					}
				}
				for key := range got {
					if _, ok := want[key]; !ok && (right && c.before == 0 || !strings.HasPrefix(key, "own")) {
						t.Errorf("%s at %v, which does not happen by a right clock", key, got[key])
					}
				}
			})
		})
	}
}

// TestBootIn1970: a machine without a battery starts in 1970 and hears of the
// right time half a minute later. Nobody was silent for fifty years.
func TestBootIn1970(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		modern()
		r := &rig{t: t, path: t.TempDir() + "/rimewatch.db", machine: &machine{}}
		r.open()
		defer func() { r.close() }()
		ws := &rimewatch.Workspace{Name: "W", TimeZone: "UTC", RawDays: 30, RollupDays: 60, CreatedAt: 1, UpdatedAt: 1}
		if err := r.s.CreateWorkspace(t.Context(), ws); err != nil {
			t.Fatal(err)
		}
		r.ws = ws.ID
		var ids []int64
		for i := range 5 {
			ids = append(ids, r.device(fmt.Sprint("D-", i), "walkin_freezer"))
		}
		all := func() {
			for _, id := range ids {
				r.send(id, min(r.now(), r.machine.keeper.Now()), -20)
			}
		}
		for range 30 {
			all()
			time.Sleep(time.Minute)
		}
		r.close()
		time.Sleep(10 * time.Minute)
		r.machine.ahead.Store(int64(-r.now()))
		r.open()
		before := r.machine.keeper.Now()
		if before < r.now()-11*rimewatch.Minute {
			t.Errorf("the service's time began %d s before the newest that is stored", (r.now()-before)/rimewatch.Second)
		}
		time.Sleep(20 * time.Second)
		all()
		time.Sleep(10 * time.Second)
		r.machine.ahead.Store(int64(0))
		for range 20 {
			time.Sleep(time.Minute)
			all()
		}
		synctest.Wait()
		if got := r.alerts(); len(got) != 0 {
			t.Errorf("alerts: %v", got)
		}
		if gap := r.machine.keeper.Now() - r.now(); gap != 0 {
			t.Errorf("still %d ms from the right time", gap)
		}
	})
}

// TestClockDeletesNothing: twenty years for four seconds, or for good, and all
// that is kept by the right time is still there.
func TestClockDeletesNothing(t *testing.T) {
	for _, lasting := range []time.Duration{4 * time.Second, 50 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			modern()
			r := &rig{t: t, path: t.TempDir() + "/rimewatch.db", machine: &machine{}}
			r.open()
			defer r.close()
			ws := &rimewatch.Workspace{Name: "W", TimeZone: "UTC", RawDays: 30, RollupDays: 60, CreatedAt: 1, UpdatedAt: 1}
			if err := r.s.CreateWorkspace(t.Context(), ws); err != nil {
				t.Fatal(err)
			}
			r.ws = ws.ID
			id := r.device("D", "walkin_freezer")
			batch := make([]store.Input, 3000)
			for i := range batch {
				batch[i] = store.Input{Kind: store.InputReading, DeviceID: id}
				batch[i].Reading.At = r.now() - rimewatch.Time(3000-i)*10*rimewatch.Minute
				batch[i].Reading.Set(rimewatch.ProductZoneTemp, -20)
			}
			if err := r.in.Submit(t.Context(), batch, nil); err != nil {
				t.Fatal(err)
			}
			if err := r.s.Rest(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Hour) // long enough for retention to be allowed
			r.machine.ahead.Store(int64(years))
			time.Sleep(lasting)
			if lasting < time.Minute {
				r.machine.ahead.Store(int64(0))
				time.Sleep(2 * time.Hour)
			}
			n := 0
			err := r.s.Readings(t.Context(), store.HistoryQuery{DeviceID: id, To: rimewatch.MaxTime}, func(*rimewatch.Reading) error { n++; return nil })
			if err != nil || n != 3000 {
				t.Errorf("%v: %d readings are left, %v", lasting, n, err)
			}
		})
	}
}

// TestClockIsAudited: a step and what came of it stand in the audit trail.
func TestClockIsAudited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		modern()
		r := &rig{t: t, path: t.TempDir() + "/rimewatch.db", machine: &machine{}}
		r.open()
		defer func() { r.close() }()
		ws := &rimewatch.Workspace{Name: "W", TimeZone: "UTC", RawDays: 30, RollupDays: 60, CreatedAt: 1, UpdatedAt: 1}
		if err := r.s.CreateWorkspace(t.Context(), ws); err != nil {
			t.Fatal(err)
		}
		for _, wrong := range []rimewatch.Time{rimewatch.Hour, 0, -rimewatch.Hour} {
			time.Sleep(10 * time.Second)
			r.machine.ahead.Store(int64(wrong))
		}
		time.Sleep(2 * time.Minute)
		list, _, err := r.s.Audit().AuditEntries(t.Context(), ws.ID, "clock.", "", store.Page{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range list {
			got = append(got, e.Action)
		}
		slices.Reverse(got)
		same(t, "audit trail", got, []string{"clock.stepped", "clock.returned", "clock.stepped", "clock.adopted"})
	})
}
