package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
)

const crashBase rimewatch.Time = 1_790_000_000_000

// crashRun drives a fixed workload against a store and knows what of it has
// been acknowledged at every moment.
type crashRun struct {
	t     *testing.T
	s     *Store
	ws    int64
	ids   []int64
	seq   store.Seq // of the last commit
	acked map[int64]map[rimewatch.Time]float64
	// pending is the group that is being committed: after a crash it may be
	// there or not, but whole.
	pending []store.Input
}

func newCrashRun(t *testing.T, cfg Config) *crashRun {
	t.Helper()
	cfg.SealReadings = 12 // so that days are sealed apart from the newest
	r := &crashRun{t: t, s: ready(t, openAt(t, cfg)), acked: make(map[int64]map[rimewatch.Time]float64)}
	w := &rimewatch.Workspace{Name: "W", TimeZone: "UTC", RawDays: 3000, RollupDays: 3000, CreatedAt: 1, UpdatedAt: 1}
	if err := r.s.CreateWorkspace(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	r.ws = w.ID
	for i := range 4 {
		id := r.s.NewDeviceID()
		serial := fmt.Sprintf("C%d", i)
		op := &store.DeviceOp{WorkspaceID: w.ID, Serial: serial, Create: &rimewatch.Device{ID: id, WorkspaceID: w.ID, Serial: serial, Name: serial, EquipmentType: "other"}}
		if err := storetest.Commit(t.Context(), r.s, &store.Group{Now: crashBase, Devices: []*store.DeviceOp{op}}, &store.Effects{}); err != nil {
			t.Fatal(err)
		}
		r.ids = append(r.ids, id)
		r.acked[id] = make(map[rimewatch.Time]float64)
	}
	return r
}

// group makes the inputs of step: in order, with late readings and duplicates.
func (r *crashRun) group(step int) []store.Input {
	rnd := rand.New(rand.NewPCG(uint64(step), 3))
	var inputs []store.Input
	for range 1 + rnd.IntN(25) {
		at := crashBase + rimewatch.Time(step)*20*rimewatch.Minute + rimewatch.Time(rnd.IntN(30))*rimewatch.Minute
		if rnd.IntN(6) == 0 {
			at -= rimewatch.Time(rnd.IntN(40)) * rimewatch.Hour
		}
		in := store.Input{Kind: store.InputReading, DeviceID: r.ids[rnd.IntN(len(r.ids))]}
		in.Reading.At = at
		in.Reading.Set(rimewatch.ProductZoneTemp, float64(rnd.IntN(3000))/10-150)
		inputs = append(inputs, in)
	}
	return inputs
}

// commit tries a group until it is acknowledged.
func (r *crashRun) commit(step int) {
	r.t.Helper()
	for range 100 {
		inputs := r.group(step)
		r.pending = inputs
		alert := &rimewatch.Alert{ID: r.s.NewAlertID(), WorkspaceID: r.ws, DeviceID: r.ids[step%4], Type: rimewatch.AlertType(fmt.Sprintf("t%d", step)), Status: rimewatch.AlertActive, Severity: rimewatch.Warning, TriggeredAt: crashBase + rimewatch.Time(step)}
		g := &store.Group{Now: crashBase + rimewatch.Time(step), Parts: [][]store.Input{inputs}}
		if storetest.Commit(r.t.Context(), r.s, g, &store.Effects{Alerts: []*rimewatch.Alert{alert}}) != nil {
			continue
		}
		r.ack(g)
		return
	}
	r.t.Fatalf("step %d was never acknowledged", step)
}

// commitTwo stages a group and another one behind it before the first is
// committed, and tries both until they are acknowledged.
func (r *crashRun) commitTwo(step int) {
	r.t.Helper()
	for range 100 {
		first, second := r.group(step), r.group(step+1)
		a, b := &store.Group{Now: crashBase + rimewatch.Time(step), Parts: [][]store.Input{first}}, &store.Group{Now: crashBase + rimewatch.Time(step), Parts: [][]store.Input{second}}
		r.pending = first
		stagedA, errA := r.s.Stage(r.t.Context(), a)
		if errA != nil {
			continue
		}
		stagedB, errB := r.s.Stage(r.t.Context(), b)
		if errB != nil {
			stagedA.Discard()
			continue
		}
		errA = stagedA.Commit(r.t.Context(), &store.Effects{})
		if errA == nil {
			r.ack(a)
			r.pending = second
		}
		if errB = stagedB.Commit(r.t.Context(), &store.Effects{}); errA != nil && errB == nil {
			r.t.Fatalf("step %d: a group was committed behind one that is lost", step)
		}
		if errA == nil && errB == nil {
			r.ack(b)
			return
		}
		if errA == nil { // the second is tried again by itself
			r.commit(step + 1)
			return
		}
	}
	r.t.Fatalf("steps %d and %d were never acknowledged", step, step+1)
}

// ack notes what a committed group has stored.
func (r *crashRun) ack(g *store.Group) {
	r.seq = g.Seq
	for _, in := range g.Parts[0] {
		if in.Outcome == store.Accepted {
			r.acked[in.DeviceID][in.Reading.At] = in.Reading.Values[0]
		}
	}
	r.pending = nil
}

// checkpoint covers everything committed so far, so that the log may go.
func (r *crashRun) checkpoint() error {
	var states []store.Checkpoint
	for _, id := range r.ids {
		states = append(states, store.Checkpoint{DeviceID: id, Seq: r.seq, State: []byte{1}})
	}
	return r.s.SaveCheckpoints(r.t.Context(), states, r.seq+1)
}

// verify opens an image and compares it with what had been acknowledged: every
// such reading once, and of the pending group all or nothing.
func (r *crashRun) verify(where, path string) {
	r.t.Helper()
	s, err := Open(r.t.Context(), Config{Path: path, quiet: true})
	if err != nil {
		r.t.Fatalf("%s: %v", where, err)
	}
	defer s.Close()
	logged := make(map[string]bool)
	err = s.Recover(r.t.Context(), 1, func(_ int, _ store.Checkpoint) error { return nil }, func(_ int, e *store.Entry) error {
		if e.Input.Kind == store.InputReading {
			key := fmt.Sprint(e.Input.DeviceID, e.Input.Reading.At)
			if logged[key] {
				r.t.Errorf("%s: logged twice: %s", where, key)
			}
			logged[key] = true
		}
		return nil
	})
	if err != nil {
		r.t.Fatalf("%s: %v", where, err)
	}
	r.compare(where, s)
	// The image works on: sealing what is left changes nothing.
	if err := s.Rest(r.t.Context()); err != nil {
		r.t.Fatalf("%s: %v", where, err)
	}
	r.compare(where+", settled", s)
}

func (r *crashRun) compare(where string, s *Store) {
	r.t.Helper()
	pending := make(map[string]float64)
	for i := range r.pending {
		in := &r.pending[i]
		if _, there := r.acked[in.DeviceID][in.Reading.At]; !there {
			if _, first := pending[fmt.Sprint(in.DeviceID, in.Reading.At)]; !first {
				pending[fmt.Sprint(in.DeviceID, in.Reading.At)] = in.Reading.Values[0]
			}
		}
	}
	extra, total := 0, 0
	for _, id := range r.ids {
		var last rimewatch.Time
		count := 0
		err := s.Readings(context.Background(), store.HistoryQuery{DeviceID: id, To: rimewatch.MaxTime}, func(got *rimewatch.Reading) error {
			if got.At <= last {
				r.t.Fatalf("%s: device %d: %v after %v", where, id, got.At, last)
			}
			last = got.At
			count++
			total++
			want, ok := r.acked[id][got.At]
			if !ok {
				if want, ok = pending[fmt.Sprint(id, got.At)]; ok {
					extra++
					count--
				}
			}
			if !ok || want != got.Values[0] {
				r.t.Fatalf("%s: device %d at %v: %v, want %v (%v)", where, id, got.At, got.Values[0], want, ok)
			}
			return nil
		})
		if err != nil {
			r.t.Fatalf("%s: %v", where, err)
		}
		if count != len(r.acked[id]) {
			r.t.Fatalf("%s: device %d has %d acknowledged readings, want %d", where, id, count, len(r.acked[id]))
		}
	}
	if extra != 0 && extra != len(pending) {
		r.t.Fatalf("%s: %d of %d readings of an unacknowledged group", where, extra, len(pending))
	}
	st, err := s.Stats(context.Background())
	if err != nil {
		r.t.Fatalf("%s: %v", where, err)
	}
	if st.StoredReadings != int64(total) {
		r.t.Fatalf("%s: %d readings lie in heads and chunks, %d can be read: some are in two places", where, st.StoredReadings, total)
	}
}

// workload is what every fault meets: commits, sealing, compaction, trimming.
func (r *crashRun) workload(steps int) {
	r.t.Helper()
	for step := 0; step < steps; step++ {
		if step%4 == 1 {
			r.commitTwo(step)
			step++
		} else {
			r.commit(step)
		}
		if step%5 == 4 {
			for r.checkpoint() != nil {
			}
		}
		if step%7 == 6 {
			for range 100 {
				if err := r.s.Rest(r.t.Context()); err == nil {
					break
				}
			}
		}
	}
}

// TestCrashAtEveryStep takes an image of the files at every step that makes
// something durable, as a kill −9 there would leave them, and recovers each.
func TestCrashAtEveryStep(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	var r *crashRun
	images := 0
	step := func(name string) error {
		if r != nil {
			images++
			r.verify(fmt.Sprintf("image %d before %s", images, name), crashed(t, path))
		}
		return nil
	}
	var hook func(string) error
	r2 := newCrashRun(t, Config{Path: path, quiet: true, fault: func(name string) error {
		if hook == nil {
			return nil
		}
		return hook(name)
	}})
	r, hook = r2, step
	r.workload(40)
	hook = nil
	if images < 250 {
		t.Errorf("only %d images: the workload misses steps", images)
	}
	r.verify("the end", crashed(t, path))
}

// TestFailureAtEveryStep fails each step once. The caller tries again; nothing
// is lost or doubled.
func TestFailureAtEveryStep(t *testing.T) {
	failure := errors.New("injected")
	for k := 1; ; k += 7 { // every seventh; another offset each run of seven would only repeat the code paths
		path := filepath.Join(t.TempDir(), FileName)
		n, armed := 0, false
		r := newCrashRun(t, Config{Path: path, quiet: true, fault: func(string) error {
			if !armed {
				return nil
			}
			n++
			if n == k {
				return failure
			}
			return nil
		}})
		armed = true
		r.workload(22)
		armed = false
		r.compare(fmt.Sprintf("failure %d", k), r.s)
		r.verify(fmt.Sprintf("failure %d, recovered", k), crashed(t, path))
		if n < k {
			if k < 100 {
				t.Fatalf("only %d steps", n)
			}
			return
		}
	}
}

// logFrame is the size of a frame of the write-ahead log, bytes.
const logFrame = 4096 + 24

// logEnd is where the frames of a write-ahead log end, bytes. The file is longer: it grows in large steps.
func logEnd(t *testing.T, path string) int64 {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := 32
	for at+logFrame <= len(b) && string(b[at+8:at+16]) == string(b[16:24]) { // the salts of the log's header
		at += logFrame
	}
	return int64(at)
}

// TestTornWrites cuts the write-ahead log at every page it wrote and in the
// middle of pages: what a power cut may leave. Every group whose commit had
// been synced by then is there, no other is.
func TestTornWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	r := newCrashRun(t, Config{Path: path, quiet: true})
	type mark struct {
		size int64
		n    int
	}
	count := func() (n int) {
		for _, m := range r.acked {
			n += len(m)
		}
		return n
	}
	marks := []mark{{logEnd(t, path+"-wal"), 0}}
	for step := range 12 {
		r.commit(step)
		marks = append(marks, mark{logEnd(t, path+"-wal"), count()})
	}
	db, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wal, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	wal = wal[:logEnd(t, path+"-wal")]
	cuts := []int64{}
	for at := marks[0].size; at <= int64(len(wal)); at += logFrame {
		cuts = append(cuts, at, at+1, at+logFrame/2, at+logFrame-1)
	}
	slices.Sort(cuts)
	for _, cut := range cuts {
		cut = min(cut, int64(len(wal)))
		to := filepath.Join(t.TempDir(), FileName)
		if err := errors.Join(os.WriteFile(to, db, 0o600), os.WriteFile(to+"-wal", wal[:cut], 0o600)); err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, m := range marks {
			if m.size <= cut {
				want = m.n
			}
		}
		s := ready(t, openAt(t, Config{Path: to}))
		got := 0
		for _, id := range r.ids {
			err := s.Readings(t.Context(), store.HistoryQuery{DeviceID: id, To: rimewatch.MaxTime}, func(*rimewatch.Reading) error { got++; return nil })
			if err != nil {
				t.Fatal(err)
			}
		}
		if got != want {
			t.Fatalf("cut at %d of %d: %d readings, want %d", cut, len(wal), got, want)
		}
	}
}
