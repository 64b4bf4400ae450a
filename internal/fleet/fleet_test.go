package fleet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/store"
	_ "github.com/rimewatch/rimewatch/internal/trial"
	"pgregory.net/rapid"
)

type none = struct{}

// journal is a log with its checkpoints, in memory.
type journal struct {
	entries     []store.Entry
	checkpoints map[int64]store.Checkpoint
	full        bool // no checkpoint is taken, and the log cannot be read
	damaged     bool // checkpoints come back as nobody can read them
}

var errFull = errors.New("the disk is full")

func newJournal() *journal { return &journal{checkpoints: make(map[int64]store.Checkpoint)} }

func (j *journal) Recover(ctx context.Context, workers int, checkpoint func(int, store.Checkpoint) error, entry func(int, *store.Entry) error) error {
	for _, id := range slices.Sorted(maps.Keys(j.checkpoints)) {
		if err := checkpoint(int(id)%workers, store.Checkpoint{DeviceID: id, Seq: j.checkpoints[id].Seq}); err != nil {
			return err
		}
	}
	return j.Logged(ctx, workers, entry)
}

func (j *journal) Join(context.Context, int, func() error, func(int, *store.Entry) error) error {
	return nil
}

func (j *journal) Logged(_ context.Context, workers int, entry func(int, *store.Entry) error) error {
	if j.full {
		return errFull
	}
	for i := range j.entries {
		e := j.entries[i]
		if err := entry(int(e.Input.DeviceID)%workers, &e); err != nil {
			return err
		}
	}
	return nil
}

func (j *journal) Checkpoints(_ context.Context, ids []int64, yield func(store.Checkpoint) error) error {
	for _, id := range ids {
		c, ok := j.checkpoints[id]
		if j.damaged {
			c.State = []byte{255}
		}
		if ok {
			if err := yield(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *journal) SaveCheckpoints(_ context.Context, states []store.Checkpoint, _ store.Seq) error {
	if j.full {
		return errFull
	}
	for _, c := range states {
		c.State = bytes.Clone(c.State)
		j.checkpoints[c.DeviceID] = c
	}
	return nil
}

func newFleet(j *journal, states int64) *fleet.Fleet[none] {
	return fleet.New[none](fleet.Config{Store: j, Logger: slog.New(slog.DiscardHandler), StateMemory: states * fleet.StateBytes})
}

var plain = fleet.Configuration{Type: "walkin_freezer", IntervalS: 60}

func newDevice(f *fleet.Fleet[none], id int64) *fleet.Device[none] {
	d := &fleet.Device[none]{ID: id, WorkspaceID: 1}
	d.Config = f.Configs.Get(plain.Encode())
	return d
}

// group is what one commit brings, in order.
type group struct {
	seq    store.Seq
	now    rimewatch.Time
	inputs []store.Input
}

// evaluate has a group happen, and returns what is needed to take it back.
func evaluate(t *rapid.T, f *fleet.Fleet[none], g group) []*fleet.Staged[none] {
	f.Lock()
	defer f.Unlock()
	var all []*fleet.Staged[none]
	for i := range g.inputs {
		in := g.inputs[i]
		k := slices.IndexFunc(all, func(st *fleet.Staged[none]) bool { return st.Device.ID == in.DeviceID })
		if k < 0 {
			k = len(all)
			all = append(all, new(fleet.Staged[none]))
			if err := f.Stage(f.Get(in.DeviceID), all[k]); err != nil {
				t.Fatal(err)
			}
		}
		f.Step(all[k], &in, g.now, nil)
	}
	for _, st := range all {
		st.Device.See(st.State)
		f.Commit(st, g.seq, g.now)
	}
	f.Took(len(all))
	return all
}

// log adds a group to the journal.
func (j *journal) log(g group) {
	for _, in := range g.inputs {
		j.entries = append(j.entries, store.Entry{Seq: g.seq, Now: g.now, Input: in})
	}
}

// told is all that a fleet knows of its devices.
func told(t *rapid.T, f *fleet.Fleet[none]) map[int64]string {
	out := make(map[int64]string)
	for d := range f.All() {
		err := f.Look(d.ID, func(d *fleet.Device[none], state *engine.State) {
			v := d.Vitals
			level := math.NaN()
			if v.Battery != nil {
				level = *v.Battery
			}
			out[d.ID] = fmt.Sprintf("%x %v %v %+v %+v", state.AppendBinary(nil), level, v.Low, d.Seen, f.Configs.Parsed(d.Config))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func same(t *rapid.T, what string, f, want *fleet.Fleet[none]) {
	t.Helper()
	got, w := told(t, f), told(t, want)
	for id := range w {
		if got[id] != w[id] {
			t.Fatalf("%s: device %d is\n%s, want\n%s", what, id, got[id], w[id])
		}
	}
	if len(got) != len(w) {
		t.Fatalf("%s: %d devices, want %d", what, len(got), len(w))
	}
}

// world is a fleet that has little memory and loses commits, beside one that is never disturbed.
type world struct {
	j    *journal
	f    *fleet.Fleet[none]
	calm *fleet.Fleet[none]
	seq  store.Seq
	now  rimewatch.Time
}

const devices = 6

// newWorld has devices whose configurations are in the log, as their creation leaves them.
func newWorld(t *rapid.T) *world {
	w := &world{j: newJournal(), seq: 1, now: 1_790_000_000_000}
	created := group{seq: w.seq, now: w.now}
	w.f, w.calm = newFleet(w.j, 3), newFleet(newJournal(), math.MaxInt32)
	for _, f := range []*fleet.Fleet[none]{w.f, w.calm} {
		for id := int64(1); id <= devices; id++ {
			d := newDevice(f, id)
			var st fleet.Staged[none]
			d.Added = true
			if err := f.Stage(d, &st); err != nil {
				panic(err)
			}
			f.Put(d)
		}
	}
	for id := int64(1); id <= devices; id++ {
		created.inputs = append(created.inputs, store.Input{Kind: store.InputDevice, DeviceID: id, Payload: plain.Encode()})
	}
	w.commit(t, created)
	return w
}

// commit has a group happen, and its commit succeed.
func (w *world) commit(t *rapid.T, g group) {
	evaluate(t, w.f, g)
	w.j.log(g)
	evaluate(t, w.calm, g)
}

// draw draws a group that comes next.
func (w *world) draw(t *rapid.T) group {
	w.now += rimewatch.Time(rapid.IntRange(1, 3_600_000).Draw(t, "later"))
	w.seq++
	g := group{seq: w.seq, now: w.now}
	for range rapid.IntRange(1, 5).Draw(t, "inputs") {
		in := store.Input{DeviceID: int64(rapid.IntRange(1, devices).Draw(t, "device"))}
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			in.Kind = store.InputTick
		case 1:
			level := float64(rapid.IntRange(0, 100).Draw(t, "level"))
			in.Kind, in.Payload = store.InputHeartbeat, fleet.EncodeHeartbeat(&rimewatch.Heartbeat{BatteryPct: &level, Offline: level < 20})
		case 2:
			c := fleet.Configuration{Type: "display_case", IntervalS: rapid.IntRange(0, 600).Draw(t, "interval")}
			if c.OnlyThat = c.IntervalS > 300; c.OnlyThat {
				c = fleet.Configuration{OnlyThat: true, Windows: []fleet.Window{{int64(w.now), int64(w.now) + 60_000}}}
			}
			in.Kind, in.Payload = store.InputDevice, c.Encode()
		default:
			in.Kind = store.InputReading
			in.Reading.At, in.Reading.ReceivedAt = w.now-rimewatch.Time(rapid.IntRange(0, 120_000).Draw(t, "age")), w.now
			in.Reading.Set(rimewatch.ProductZoneTemp, float64(rapid.IntRange(-30, 10).Draw(t, "zone")))
			in.Reading.Set(rimewatch.AmpDraw, float64(rapid.IntRange(0, 9).Draw(t, "amps")))
		}
		g.inputs = append(g.inputs, in)
	}
	last := make(map[int64]bool)
	for i := range slices.Backward(g.inputs) {
		if in := &g.inputs[i]; in.Kind == store.InputReading && !last[in.DeviceID] {
			in.Last, last[in.DeviceID] = true, true
		}
	}
	return g
}

// room takes what is cold out of memory.
func (w *world) room(t *rapid.T, n int) {
	if err := w.f.Evict(w.f.Cold(n), w.seq); err != nil && !w.j.full {
		t.Fatal(err)
	}
}

func (w *world) save(t *rapid.T) {
	var c fleet.Copies[none]
	w.f.Copy(&c, fleet.Due{Before: w.now, Most: rapid.IntRange(1, devices).Draw(t, "most"), Inputs: 1000}, w.seq)
	if c.Needless() {
		return
	}
	w.f.Saved(&c, w.f.Save(&c))
}

// lose evaluates some groups, one upon the other, of which no commit succeeds.
func (w *world) lose(t *rapid.T, groups int) {
	seq, now := w.seq, w.now
	var lost []*fleet.Staged[none]
	for range groups {
		lost = append(lost, evaluate(t, w.f, w.draw(t))...)
	}
	w.f.Lock()
	defer w.f.Unlock()
	for _, st := range slices.Backward(lost) {
		w.f.Rollback(st)
	}
	w.seq = seq // the next commit gets the number of the first that was lost
	w.now = max(now, w.now)
}

func (w *world) rebuild(t *rapid.T) {
	w.f.Lock()
	defer w.f.Unlock()
	if _, err := w.f.Rebuild(); err != nil {
		t.Fatal(err)
	}
}

// restart begins anew from checkpoints and log.
func (w *world) restart(t *rapid.T) {
	was := w.f
	w.f = newFleet(w.j, 3)
	for d := range was.All() {
		w.f.Expect(newDevice(w.f, d.ID))
	}
	w.f.SetDowntimes(slices.Clone(w.calm.Downtimes()))
	last, err := w.f.Recover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if last.Seq != w.seq {
		t.Fatalf("the last commit is %d, want %d", last.Seq, w.seq)
	}
	for w.f.Behind() > 0 {
		list := w.f.NextBehind(rapid.IntRange(1, devices).Draw(t, "slice"), 1)
		w.room(t, len(list))
		if err := w.f.CatchUp(list); err != nil {
			t.Fatal(err)
		}
		if n := w.f.News(); !slices.Equal(n.CaughtUp, list) || len(n.Anew) > 0 {
			t.Fatalf("%v caught up, the news are %v", list, n)
		}
	}
}

// TestUndisturbed: a fleet whose commits are lost and rolled back, whose states are evicted and
// fetched, whose checkpoints fail, which starts again, knows what one knows to which nothing of that
// happens.
func TestUndisturbed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		t.Repeat(map[string]func(*rapid.T){
			"commit": func(t *rapid.T) {
				w.room(t, rapid.IntRange(0, 3).Draw(t, "room"))
				w.commit(t, w.draw(t))
			},
			"lose": func(t *rapid.T) {
				w.lose(t, rapid.IntRange(1, 2).Draw(t, "groups"))
				w.rebuild(t)
			},
			"save":    w.save,
			"evict":   func(t *rapid.T) { w.room(t, 3) },
			"restart": w.restart,
			"full": func(t *rapid.T) {
				w.j.full = true
				w.save(t)
				w.room(t, 3)
				w.j.full = false
			},
			"set back": func(t *rapid.T) {
				by := -rimewatch.Time(rapid.IntRange(1, 7_200_000).Draw(t, "by"))
				w.now, w.seq = w.now+by, w.seq+1
				w.j.log(group{w.seq, w.now, []store.Input{{Kind: store.InputClock, Payload: fleet.EncodeClock(by)}}})
				for _, f := range []*fleet.Fleet[none]{w.f, w.calm} {
					f.Lock()
					if err := f.LoadAll(); err != nil {
						t.Fatal(err)
					}
					f.SetBack(by, w.now, w.seq)
					f.Unlock()
				}
			},
			"": func(t *rapid.T) { same(t, "now", w.f, w.calm) },
		})
	})
}

// TestLost: while states are lost no checkpoint is made of them, they are not taken for what the
// log says, and once the log can be read again they are as before the lost group. A device that the group
// made is gone.
func TestLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.commit(t, w.draw(t))
		d := newDevice(w.f, devices+1)
		d.Added = true
		var made fleet.Staged[none]
		if err := w.f.Stage(d, &made); err != nil {
			t.Fatal(err)
		}
		w.f.Commit(&made, w.seq+1, w.now)
		w.f.Rollback(&made)
		if !d.Deleted || w.f.State(d) != nil || w.f.Lost() {
			t.Fatal("a device that was made in a lost group is still there")
		}
		w.lose(t, 1)
		if !w.f.Lost() {
			t.Fatal("nothing is lost")
		}
		var c fleet.Copies[none]
		if w.f.Copy(&c, fleet.Due{Before: w.now + 1, Most: devices}, w.seq); !c.Needless() {
			t.Fatal("lost states are on their way to their checkpoints")
		}
		current := 0
		for d := range w.f.All() {
			if w.f.Current(d) != nil {
				current++
			}
		}
		w.j.full = true
		if list, err := w.f.Rebuild(); err == nil || list != nil || !w.f.Lost() || current == devices {
			t.Fatalf("without the log %v were built again, %v; %d were current", list, err, current)
		}
		w.j.full = false
		w.rebuild(t)
		if w.f.Lost() {
			t.Fatal("states are still lost")
		}
		same(t, "after it", w.f, w.calm)
	})
}

// TestBudgetOfNewDevices: the states of devices that were made since the start leave memory
// like others when there is no room for all of them.
func TestBudgetOfNewDevices(t *testing.T) {
	const room = 3
	f := newFleet(newJournal(), room)
	for id := range int64(room + 1) {
		if !f.AllHere() {
			t.Errorf("with %d devices some are away", id)
		}
		d := newDevice(f, id+1)
		d.Added = true
		if err := f.Stage(d, new(fleet.Staged[none])); err != nil {
			t.Fatal(err)
		}
		f.Put(d)
	}
	if f.AllHere() {
		t.Error("all are here, beyond the budget")
	}
	if err := f.Evict(f.Cold(0), 1); err != nil || f.Memory().States > room {
		t.Errorf("%+v are in memory: %v", f.Memory(), err)
	}
}

// TestUnreadable: a checkpoint that cannot be read costs its device what it had learnt; the device is
// named, and others are as they were.
func TestUnreadable(t *testing.T) {
	j := newJournal()
	f, at := newFleet(j, 3), rimewatch.Time(1_790_000_000_000)
	for id := int64(1); id <= devices; id++ {
		d := newDevice(f, id)
		d.Added = true
		if err := f.Stage(d, new(fleet.Staged[none])); err != nil {
			t.Fatal(err)
		}
		f.Put(d)
	}
	in := store.Input{Kind: store.InputReading, DeviceID: 1, Last: true}
	in.Reading.At, in.Reading.ReceivedAt = at, at
	in.Reading.Set(rimewatch.ProductZoneTemp, -20)
	d := f.Get(1)
	var st fleet.Staged[none]
	if err := f.Stage(d, &st); err != nil {
		t.Fatal(err)
	}
	f.Step(&st, &in, at, nil)
	f.Commit(&st, 1, at)
	if cold := f.Cold(devices); !fleet.Dirty(cold) {
		t.Fatal("nothing has changed")
	} else if err := f.Evict(cold, 1); err != nil || f.State(d) != nil {
		t.Fatalf("it is still in memory, %v", err)
	}
	if m := f.Memory(); m.States != 0 || m.OnDisk != devices {
		t.Fatalf("%+v", m)
	}
	j.damaged = true
	if err := f.LoadOne(d); err != nil {
		t.Fatal(err)
	}
	if n := f.News(); len(n.Anew) != 1 || n.Anew[0] != d || f.HasNews() {
		t.Errorf("the news are %+v", n)
	}
	if state := f.State(d); state == nil || state.Presence != (presence.State{}) {
		t.Error("it is not learnt from scratch")
	}
}
