package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/ingest"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// rig is the write path on a real store, in a bubble of synthetic time.
type rig struct {
	t    *testing.T
	path string
	s    *sqlite.Store
	in   *ingest.Service
	ws   int64
	mu   sync.Mutex
	log  []string // events

	memory  int64            // bytes for states, 0 = no bound
	late    int              // see ingest.Config.ReadFirst
	lag     int64            // see ingest.Config.CheckpointInputs
	follows bool             // the store is read while somebody else still adds to it
	alone   bool             // the writer evaluates all by itself
	heard   ingest.Publisher // of every commit, beside the rig
	machine *machine         // whose clock may step; nil = the time is right
}

// shorter returns as much as is enough, or n in a long run: with the race detector
// simulated hours cost ten times as much.
func shorter(n, enough int) int {
	if !trial.Long() {
		return enough
	}
	return n
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, path: filepath.Join(t.TempDir(), sqlite.FileName)}
	r.open()
	w := &rimewatch.Workspace{Name: "W", TimeZone: "UTC", RawDays: 400, RollupDays: 1000, CreatedAt: 1, UpdatedAt: 1}
	if err := r.s.CreateWorkspace(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	r.ws = w.ID
	return r
}

func (r *rig) open() {
	r.t.Helper()
	disk := sqlite.Config{Path: r.path}
	cfg := ingest.Config{Publisher: r, AliveEvery: time.Minute, StateMemory: r.memory, ReadFirst: r.late, CheckpointInputs: r.lag, SharedInputs: 2, Steppers: 2}
	if r.alone {
		cfg.SharedInputs = math.MaxInt
	}
	if r.machine != nil {
		k := r.machine.boot()
		cfg.Clock, cfg.Now = k, func() time.Time { return k.Now().Std() }
		disk.Now, disk.Sure = cfg.Now, k.Sure
	}
	s, err := sqlite.Open(r.t.Context(), disk)
	if err != nil {
		r.t.Fatal(err)
	}
	cfg.Store = s
	if r.follows {
		cfg.Store = &followed{Store: s}
	}
	in := ingest.New(cfg)
	if err := in.Start(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	r.s, r.in = s, in
}

// followed is a store whose log has grown by half when it is joined, and whose
// checkpoints have been written since Recover said how old they are.
type followed struct {
	*sqlite.Store
	rest []logged
}

type logged struct {
	worker int
	entry  store.Entry
}

// Recover implements store.Log.
func (f *followed) Recover(ctx context.Context, workers int, checkpoint func(int, store.Checkpoint) error, entry func(int, *store.Entry) error) error {
	var mu sync.Mutex
	err := f.Store.Recover(ctx, workers, func(worker int, c store.Checkpoint) error {
		c.Seq = 0
		return checkpoint(worker, c)
	}, func(worker int, e *store.Entry) error {
		mu.Lock()
		defer mu.Unlock()
		kept := logged{worker, *e}
		kept.entry.Input.Payload = bytes.Clone(e.Input.Payload)
		f.rest = append(f.rest, kept)
		return nil
	})
	slices.SortStableFunc(f.rest, func(a, b logged) int { return int(a.entry.Seq - b.entry.Seq) })
	if len(f.rest) == 0 {
		return err
	}
	for half := f.rest[len(f.rest)/2].entry.Seq; f.rest[0].entry.Seq < half; f.rest = f.rest[1:] { // whole commits
		err = errors.Join(err, entry(f.rest[0].worker, &f.rest[0].entry))
	}
	return err
}

// Join implements store.Log.
func (f *followed) Join(_ context.Context, _ int, ahead func() error, entry func(int, *store.Entry) error) error {
	err := ahead()
	for i := range f.rest {
		err = errors.Join(err, entry(f.rest[i].worker, &f.rest[i].entry))
	}
	return err
}

func (r *rig) close() {
	r.t.Helper()
	r.in.Stop()
	if err := r.s.Close(); err != nil {
		r.t.Fatal(err)
	}
}

// crash leaves the files as kill −9 would at this moment and goes on with them.
func (r *rig) crash() {
	r.t.Helper()
	to := filepath.Join(r.t.TempDir(), sqlite.FileName)
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(r.path + suffix)
		if err != nil && !os.IsNotExist(err) {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(to+suffix, data, 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	r.close()
	r.path = to
	r.open()
}

func (r *rig) Publish(p *publish.Commit) {
	if r.heard != nil {
		r.heard.Publish(p)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, part := range p.Parts {
		for i := range part {
			if part[i].Outcome == store.Accepted && part[i].Kind == store.InputReading {
				r.log = append(r.log, "reading.created")
			}
		}
	}
	for _, e := range p.Devices {
		r.log = append(r.log, string(e.Kind))
	}
	for _, e := range p.Alerts {
		r.log = append(r.log, fmt.Sprintf("%s %s %s", e.Kind, e.Alert.Type, e.Alert.Severity))
	}
}

// events returns what was published since the last call, readings left out.
func (r *rig) events() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, e := range r.log {
		if e != "reading.created" {
			out = append(out, e)
		}
	}
	r.log = nil
	return out
}

func (r *rig) now() rimewatch.Time { return rimewatch.TimeOf(time.Now()) }

func (r *rig) device(serial, kind string) int64 {
	r.t.Helper()
	v, err := r.in.CreateDevice(r.t.Context(), &rimewatch.Device{WorkspaceID: r.ws, Serial: serial, Name: serial, EquipmentType: kind})
	if err != nil {
		r.t.Fatal(err)
	}
	return v.ID
}

func (r *rig) send(id int64, at rimewatch.Time, temp float64) store.Outcome {
	r.t.Helper()
	inputs := []store.Input{{Kind: store.InputReading, DeviceID: id}}
	inputs[0].Reading.At = at
	inputs[0].Reading.Set(rimewatch.ProductZoneTemp, temp)
	if err := r.in.Submit(r.t.Context(), inputs, nil); err != nil {
		r.t.Fatal(err)
	}
	return inputs[0].Outcome
}

func (r *rig) view(serial string) rimewatch.DeviceView {
	r.t.Helper()
	v, err := r.s.Device(r.t.Context(), r.ws, serial)
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}

func (r *rig) alerts() (out []string) {
	r.t.Helper()
	list, _, err := r.s.Alerts(r.t.Context(), r.ws, store.AlertFilter{}, store.AlertPage{Limit: 1000})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, a := range list {
		out = append(out, fmt.Sprintf("%s %s %s %s", a.Type, a.Severity, a.Status, a.Resolution))
	}
	return out
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// warm sends readings a minute apart for a span.
func (r *rig) warm(id int64, temp float64, span time.Duration) {
	r.t.Helper()
	for end := time.Now().Add(span); time.Now().Before(end); time.Sleep(time.Minute) {
		r.send(id, r.now(), temp)
	}
}
