package storetest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Engine opens stores of one kind for the suite.
type Engine struct {
	// Open returns a fresh, empty store, recovered with nothing to recover.
	Open func(t *testing.T) store.Store
	// Reopen abandons a store as a crash would, without closing it in order, and
	// opens it again. Recover has not been called.
	Reopen func(t *testing.T, s store.Store) store.Store
	// Settle makes the store do its background work now: sealing, compaction,
	// trimming, whatever the engine has. It must change nothing that can be asked.
	Settle func(t *testing.T, s store.Store)
}

// Commit stages a group and commits it with what it means.
func Commit(ctx context.Context, s store.Log, g *store.Group, e *store.Effects) error {
	staged, err := s.Stage(ctx, g)
	if err != nil {
		return err
	}
	return staged.Commit(ctx, e)
}

// Readings checks everything about devices, readings and the commit log.
func Readings(t *testing.T, e Engine) {
	run(t, e, []namedCase{
		{"commit and read", (*fixture).commitAndRead},
		{"duplicates", (*fixture).duplicates},
		{"other measurements of a moment", (*fixture).otherFields},
		{"readings without a time", (*fixture).atArrival},
		{"unknown device", (*fixture).unknownDevice},
		{"discarded group", (*fixture).discarded},
		{"group behind a group", (*fixture).behind},
		{"group behind a lost group", (*fixture).behindLost},
		{"devices", (*fixture).devices},
		{"device fields", (*fixture).deviceFields},
		{"device list", (*fixture).deviceList},
		{"deleted device", (*fixture).deletedDevice},
		{"history order and limits", (*fixture).historyOrder},
		{"buckets", (*fixture).buckets},
		{"optional measurements", (*fixture).optional},
		{"counters", (*fixture).counters},
		{"random counters", randomCounters},
		{"log and checkpoints", (*fixture).logAndCheckpoints},
		{"log and checkpoints read again", (*fixture).readAgain},
		{"last of a group", (*fixture).lastOfGroup},
		{"downtime", (*fixture).downtime},
		{"clock set back", (*fixture).setBack},
		{"alerts", (*fixture).alerts},
		{"alert pages", (*fixture).alertPages},
		{"audit", (*fixture).audit},
		{"excursions", (*fixture).excursions}, {"former limits", formerLimits},
		{"corrective actions", (*fixture).correctiveActions},
		{"calibrations", (*fixture).calibrations},
		{"cases", (*fixture).cases}, {"case of a site", (*fixture).siteCase}, {"records of a case", (*fixture).caseRecords}, {"documented cases", (*fixture).documentedCases},
		{"work orders", (*fixture).orders},
		{"checks", (*fixture).checks},
		{"corrected history", (*fixture).correctedHistory},
		{"transitions", (*fixture).transitions},
		{"explained", (*fixture).explained},
		{"site alerts", (*fixture).siteAlerts},
		{"deliveries", (*fixture).deliveries},
		{"events", (*fixture).events},
		{"events that are kept no longer", (*fixture).eventsExpire},
		{"events beside commits", (*fixture).controlEvents},
		{"webhooks", (*fixture).webhooks},
		{"answers to requests with a key", answers},
		{"within sites", withinSites},
		{"erased workspace", (*fixture).erased},
		{"random workload", (*fixture).randomWorkload},
	})
}

// Reopened is the part of Readings that asks most after a store was opened again,
// for what takes long to do so.
func Reopened(t *testing.T, e Engine) {
	run(t, e, []namedCase{
		{"resources", keptResources},
		{"log and checkpoints", (*fixture).logAndCheckpoints},
		{"counters", (*fixture).counters},
		{"random counters", randomCounters},
		{"alerts", (*fixture).alerts},
		{"audit", (*fixture).audit},
		{"deliveries", (*fixture).deliveries},
		{"random workload", (*fixture).randomWorkload},
	})
}

// namedCase is a case of a suite.
type namedCase struct {
	name string
	run  func(*fixture)
}

// run runs each case with a store and a workspace of its own.
func run(t *testing.T, e Engine, cases []namedCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := &fixture{T: t, ctx: t.Context(), e: e, s: e.Open(t), now: t0}
			f.workspace = f.newWorkspace("Shop")
			c.run(f)
		})
	}
}

// fixture is one case with its own store.
type fixture struct {
	*testing.T
	ctx       context.Context
	e         Engine
	s         store.Store
	now       rimewatch.Time
	workspace int64
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) code(err error, want rimewatch.Code) {
	f.Helper()
	if got := rimewatch.CodeOf(err); got != want {
		f.Fatalf("error %v has the code %q, want %q", err, got, want)
	}
}

func (f *fixture) equal(what string, got, want any) {
	f.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		f.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

func (f *fixture) newWorkspace(name string) int64 {
	f.Helper()
	w := &rimewatch.Workspace{Name: name, TimeZone: "UTC", RawDays: rimewatch.DefaultRawDays, RollupDays: rimewatch.DefaultRollupDays, CreatedAt: t0, UpdatedAt: t0}
	f.must(f.s.CreateWorkspace(f.ctx, w))
	return w.ID
}

// group commits a group.
func (f *fixture) group(g *store.Group, e store.Effects) {
	f.Helper()
	f.must(Commit(f.ctx, f.s, g, &e))
}

// reopen crashes and recovers, without streaming state.
func (f *fixture) reopen() {
	f.Helper()
	f.s = f.e.Reopen(f.T, f.s)
	f.must(f.s.Recover(f.ctx, 1, func(_ int, _ store.Checkpoint) error { return nil }, func(_ int, _ *store.Entry) error { return nil }))
}

// addDevice registers a device in the workspace of the fixture.
func (f *fixture) addDevice(serial string) int64 {
	f.Helper()
	op := f.deviceOp(&store.DeviceOp{WorkspaceID: f.workspace, Serial: serial, Create: &rimewatch.Device{
		WorkspaceID: f.workspace, Serial: serial, Name: "Unit " + serial, EquipmentType: "walkin_freezer",
	}})
	f.must(op.Err)
	return op.Device.ID
}

func (f *fixture) deviceOp(op *store.DeviceOp) *store.DeviceOp {
	f.Helper()
	if op.Create != nil {
		op.Create.ID = f.s.NewDeviceID()
		op.Payload = []byte(op.Create.Name)
	} else if op.Change != nil {
		op.Payload = []byte(op.Change.Name)
	}
	f.group(&store.Group{Now: f.now, Devices: []*store.DeviceOp{op}}, store.Effects{})
	return op
}

// changeDevice changes a device of the fixture's workspace, with a calibration (nil = none).
func changeDevice(f *fixture, serial string, c *rimewatch.Calibration, change func(*rimewatch.Device)) *store.DeviceOp {
	f.Helper()
	was, err := f.s.Device(f.ctx, f.workspace, serial)
	f.must(err)
	next := was.Device
	change(&next)
	op := f.deviceOp(&store.DeviceOp{WorkspaceID: f.workspace, Serial: serial, Calibration: c, Was: &was.Device, Change: &next})
	f.must(op.Err)
	return op
}

// reading makes a full reading that differs from moment to moment.
func reading(at rimewatch.Time) rimewatch.Reading {
	r := rimewatch.Reading{At: at, ReceivedAt: at + (at/rimewatch.Second+1)%9*17_123 - 1_400} // from a little before to two minutes after
	for fld := range rimewatch.NumCore {
		r.Set(fld, float64(int64(at/1000)%700)/10-20+float64(fld))
	}
	r.Values[rimewatch.Humidity] = float64(int64(at/1000) % 100)
	return r
}

// commit stores readings of one device and returns their outcomes.
func (f *fixture) commit(id int64, rs ...rimewatch.Reading) []store.Outcome {
	f.Helper()
	inputs := make([]store.Input, len(rs))
	for i := range rs {
		inputs[i] = store.Input{Kind: store.InputReading, DeviceID: id, Reading: rs[i]}
	}
	f.group(&store.Group{Now: f.now, Parts: [][]store.Input{inputs}}, store.Effects{})
	out := make([]store.Outcome, len(rs))
	for i := range inputs {
		out[i] = inputs[i].Outcome
	}
	return out
}

// history reads everything of a device, as answers show it.
func (f *fixture) history(q store.HistoryQuery) []rimewatch.Reading {
	f.Helper()
	var out []rimewatch.Reading
	f.must(f.s.Readings(f.ctx, q, func(r *rimewatch.Reading) error {
		out = append(out, *r)
		return nil
	}))
	return answered(out)
}

// answered is what answers show of readings, of whose arrival a store keeps no more.
func answered(rs []rimewatch.Reading) []rimewatch.Reading {
	out := slices.Clone(rs)
	for i := range out {
		out[i].ReceivedAt = out[i].Received()
	}
	return out
}

func all(id int64) store.HistoryQuery {
	return store.HistoryQuery{DeviceID: id, From: 0, To: rimewatch.MaxTime}
}

// everywhere runs check on the store as it is, settled, and after a crash.
func (f *fixture) everywhere(check func(where string)) {
	f.Helper()
	check("fresh")
	f.e.Settle(f.T, f.s)
	check("settled")
	f.reopen()
	check("recovered")
	f.e.Settle(f.T, f.s)
	f.reopen()
	check("settled and recovered")
}

func (f *fixture) commitAndRead() {
	id := f.addDevice("WIF-1")
	var want []rimewatch.Reading
	for i := range 10 {
		r := reading(t0 + rimewatch.Time(i)*rimewatch.Minute)
		want = append(want, r)
	}
	partial := rimewatch.Reading{At: t0 + rimewatch.Hour, ReceivedAt: t0 + rimewatch.Hour, Faults: rimewatch.Fields(0).With(rimewatch.Humidity)}
	partial.Set(rimewatch.AmpDraw, 0.1)
	partial.Flags = partial.Flags.WithBool(rimewatch.DoorOpen, true)
	partial.Set(rimewatch.StartCount, 77)
	want = append(want, partial)
	f.commit(id, want...)
	f.everywhere(func(where string) {
		f.equal(where, f.history(all(id)), answered(want))
		one, err := f.s.ReadingAt(f.ctx, id, partial.At)
		f.must(err)
		f.equal(where+" one", answered([]rimewatch.Reading{one}), answered([]rimewatch.Reading{partial}))
		_, err = f.s.ReadingAt(f.ctx, id, partial.At+1)
		f.code(err, rimewatch.CodeNotFound)
	})
}

func (f *fixture) duplicates() {
	id := f.addDevice("D")
	a, b := reading(t0), reading(t0+rimewatch.Minute)
	other := a
	other.Values[0] = 99
	f.equal("first", f.commit(id, a, b, other), []store.Outcome{store.Accepted, store.Accepted, store.Duplicate})
	f.everywhere(func(where string) {
		f.equal(where+" again", f.commit(id, other, b), []store.Outcome{store.Duplicate, store.Duplicate})
		f.equal(where, f.history(all(id)), answered([]rimewatch.Reading{a, b}))
	})
	late := reading(t0 + 30*rimewatch.Second)
	f.equal("late", f.commit(id, late, late), []store.Outcome{store.Accepted, store.Duplicate})
	f.everywhere(func(where string) {
		f.equal(where+" late again", f.commit(id, late), []store.Outcome{store.Duplicate})
		f.equal(where+" with late", f.history(all(id)), answered([]rimewatch.Reading{a, late, b}))
	})
}

// otherFields: a reading of a moment that is there, with measurements that it does not
// have, is another one at the next free millisecond. A retry finds itself.
func (f *fixture) otherFields() {
	id := f.addDevice("O")
	part := func(at rimewatch.Time, v float64, fields ...rimewatch.Field) rimewatch.Reading {
		r := rimewatch.Reading{At: at, ReceivedAt: t0 + rimewatch.Hour}
		for _, x := range fields {
			r.Set(x, v)
		}
		return r
	}
	temp, humid, both := part(t0, 3, rimewatch.ProductZoneTemp), part(t0, 50, rimewatch.Humidity), part(t0, 9, rimewatch.ProductZoneTemp, rimewatch.Humidity, rimewatch.StartCount)
	door := rimewatch.Reading{At: t0, ReceivedAt: t0 + rimewatch.Hour, Flags: rimewatch.Flags(0).WithBool(rimewatch.DoorOpen, true)}
	f.equal("first", f.commit(id, temp, humid, both, door), []store.Outcome{store.Accepted, store.Accepted, store.Accepted, store.Accepted})
	humid.At, door.At = t0+1, t0+3
	want := []rimewatch.Reading{temp, humid, part(t0+2, 9, rimewatch.StartCount), door}
	f.everywhere(func(where string) {
		humid, door := humid, door
		humid.At, door.At = t0, t0
		f.equal(where+" again", f.commit(id, door, both, humid, temp), []store.Outcome{store.Duplicate, store.Duplicate, store.Duplicate, store.Duplicate})
		f.equal(where, f.history(all(id)), answered(want))
	})
	in := []store.Input{{Kind: store.InputReading, DeviceID: id, Reading: both}}
	f.group(&store.Group{Now: f.now, Parts: [][]store.Input{in}}, store.Effects{})
	f.equal("conflicts", in[0].Conflicts.Names(), []string{rimewatch.ProductZoneTemp.String(), rimewatch.Humidity.String()})
}

func (f *fixture) atArrival() {
	id := f.addDevice("A")
	f.commit(id, reading(f.now), reading(f.now+1))
	inputs := make([]store.Input, 3)
	for i := range inputs {
		r := reading(0)
		r.At, r.ReceivedAt = 0, 0
		inputs[i] = store.Input{Kind: store.InputReading, DeviceID: id, Reading: r, AtArrival: true}
	}
	f.group(&store.Group{Now: f.now, Parts: [][]store.Input{inputs}}, store.Effects{})
	for i := range inputs {
		f.equal("outcome", inputs[i].Outcome, store.Accepted)
		f.equal("time", inputs[i].Reading.At, f.now+2+rimewatch.Time(i))
		f.equal("receipt", inputs[i].Reading.ReceivedAt, f.now)
	}
	f.everywhere(func(where string) { f.equal(where, len(f.history(all(id))), 5) })
}

func (f *fixture) unknownDevice() {
	id := f.addDevice("U")
	inputs := []store.Input{
		{Kind: store.InputReading, DeviceID: id + 1000, Reading: reading(t0)},
		{Kind: store.InputHeartbeat, DeviceID: id + 1000},
		{Kind: store.InputReading, DeviceID: id, Reading: reading(t0)},
	}
	f.group(&store.Group{Now: f.now, Parts: [][]store.Input{inputs}}, store.Effects{})
	f.equal("outcomes", []store.Outcome{inputs[0].Outcome, inputs[1].Outcome, inputs[2].Outcome},
		[]store.Outcome{store.UnknownDevice, store.UnknownDevice, store.Accepted})
	f.everywhere(func(where string) { f.equal(where, len(f.history(all(id))), 1) })
}

func (f *fixture) discarded() {
	id := f.addDevice("E")
	f.commit(id, reading(t0))
	g := &store.Group{Now: f.now,
		Parts:   [][]store.Input{{{Kind: store.InputReading, DeviceID: id, Reading: reading(t0 + 1)}}},
		Devices: []*store.DeviceOp{{WorkspaceID: f.workspace, Serial: "E", Delete: true}},
	}
	staged, err := f.s.Stage(f.ctx, g)
	f.must(err)
	f.equal("outcome", g.Parts[0][0].Outcome, store.Accepted)
	f.must(g.Devices[0].Err)
	staged.Discard()
	f.everywhere(func(where string) {
		f.equal(where, f.history(all(id)), answered([]rimewatch.Reading{reading(t0)}))
		_, err := f.s.Device(f.ctx, f.workspace, "E")
		f.must(err)
	})
	f.equal("afterwards", f.commit(id, reading(t0+1)), []store.Outcome{store.Accepted})
}

// behind: a group is staged while the one before is not committed yet.
func (f *fixture) behind() {
	a, b := f.addDevice("P1"), f.addDevice("P2")
	first := &store.Group{Now: f.now + 5, Parts: [][]store.Input{{
		{Kind: store.InputReading, DeviceID: a, Reading: reading(t0)},
		{Kind: store.InputReading, DeviceID: b, Reading: reading(t0)},
	}}}
	second := &store.Group{Now: f.now, Parts: [][]store.Input{{
		{Kind: store.InputReading, DeviceID: b, Reading: reading(t0)},
		{Kind: store.InputReading, DeviceID: b, Reading: reading(t0 + 1)},
		{Kind: store.InputReading, DeviceID: b, Reading: reading(t0 + 2), AtArrival: true},
	}}}
	x, err := f.s.Stage(f.ctx, first)
	f.must(err)
	y, err := f.s.Stage(f.ctx, second)
	f.must(err)
	f.equal("seq", second.Seq, first.Seq+1)
	f.equal("time", second.Now, first.Now)
	in := second.Parts[0]
	f.equal("outcomes", []store.Outcome{in[0].Outcome, in[1].Outcome, in[2].Outcome}, []store.Outcome{store.Duplicate, store.Accepted, store.Accepted})
	f.equal("nothing is visible", len(f.history(all(b))), 0)
	_, err = f.s.Stage(f.ctx, &store.Group{Devices: []*store.DeviceOp{{WorkspaceID: f.workspace, Serial: "P1", Delete: true}}})
	f.code(err, rimewatch.CodeInternal) // it must be alone
	f.must(x.Commit(f.ctx, &store.Effects{}))
	f.equal("the first is visible", len(f.history(all(b))), 1)
	f.must(y.Commit(f.ctx, &store.Effects{}))
	f.everywhere(func(where string) {
		f.equal(where+" a", len(f.history(all(a))), 1)
		f.equal(where+" b", len(f.history(all(b))), 3)
	})
}

// behindLost: what was staged behind a group that is lost is lost with it.
func (f *fixture) behindLost() {
	id := f.addDevice("L1")
	f.commit(id, reading(t0))
	group := func(at rimewatch.Time) *store.Group {
		return &store.Group{Now: f.now, Parts: [][]store.Input{{{Kind: store.InputReading, DeviceID: id, Reading: reading(at)}}}}
	}
	var staged []store.Staged
	for _, at := range []rimewatch.Time{t0 + 1, t0 + 2, t0 + 3} {
		s, err := f.s.Stage(f.ctx, group(at))
		f.must(err)
		staged = append(staged, s)
	}
	f.must(staged[0].Commit(f.ctx, &store.Effects{}))
	staged[1].Discard()
	f.code(staged[2].Commit(f.ctx, &store.Effects{}), rimewatch.CodeUnavailable)
	f.everywhere(func(where string) {
		f.equal(where, f.history(all(id)), answered([]rimewatch.Reading{reading(t0), reading(t0 + 1)}))
	})
	f.equal("afterwards", f.commit(id, reading(t0+2), reading(t0+3)), []store.Outcome{store.Accepted, store.Accepted})
}

func payload(in *store.Input) string {
	if in.Kind == store.InputReading {
		return fmt.Sprintf("%d %d %g", in.Reading.At-t0, in.Reading.ReceivedAt-t0, in.Reading.Values)
	}
	return string(bytes.Clone(in.Payload))
}

func (f *fixture) logAndCheckpoints() {
	a, b := f.addDevice("LA"), f.addDevice("LB")
	r := reading(t0 + 5)
	inputs := []store.Input{
		{Kind: store.InputHeartbeat, DeviceID: a, Payload: []byte("hb")},
		{Kind: store.InputReading, DeviceID: b, Reading: r},
		{Kind: store.InputReading, DeviceID: b, Reading: r}, // a duplicate is no input
		{Kind: store.InputTick, DeviceID: a},
		{Kind: store.InputResolve, DeviceID: b, Payload: []byte("high_temperature")},
	}
	f.now += 10
	g := &store.Group{Now: f.now, Parts: [][]store.Input{inputs[:2], inputs[2:]}}
	f.group(g, store.Effects{})
	seq := g.Seq
	nothing, err := f.s.Stage(f.ctx, &store.Group{Now: f.now, Parts: [][]store.Input{{{Kind: store.InputTick, DeviceID: a}}}})
	f.must(err)
	nothing.Discard()
	changeDevice(f, "LA", nil, func(d *rimewatch.Device) { d.Name = "new name" })

	entry := func(seq store.Seq, now int, kind store.InputKind, id int64, text string) string {
		return fmt.Sprintf("%d %d %d %d %s", seq, now, kind, id, text)
	}
	want := []string{
		entry(seq-2, 0, store.InputDevice, a, "Unit LA"),
		entry(seq-1, 0, store.InputDevice, b, "Unit LB"),
		entry(seq, 10, store.InputHeartbeat, a, "hb"),
		entry(seq, 10, store.InputTick, a, ""),
		entry(seq, 10, store.InputReading, b, payload(&inputs[1])),
		entry(seq, 10, store.InputResolve, b, "high_temperature"),
		entry(seq+1, 10, store.InputDevice, a, "new name"),
	}
	got := f.recover()
	f.equal("log", got.Entries, want)
	f.equal("no checkpoints", len(got.Checkpoints), 0)

	// What is sealed but not checkpointed is still given back.
	f.e.Settle(f.T, f.s)
	f.equal("settled log", f.recover().Entries, want)

	f.must(f.s.SaveCheckpoints(f.ctx, []store.Checkpoint{{DeviceID: a, Seq: seq, State: []byte("A")}, {DeviceID: b, Seq: seq, State: []byte("B")}}, seq+1))
	f.e.Settle(f.T, f.s)
	got = f.recover()
	f.equal("checkpoints", got.Checkpoints, map[int64]string{a: fmt.Sprintf("%d A", seq), b: fmt.Sprintf("%d B", seq)})
	if n := len(got.Entries); n == 0 || got.Entries[n-1] != want[len(want)-1] {
		f.Fatalf("what no checkpoint covers is gone: %q", got.Entries)
	}
	v, err := f.s.Device(f.ctx, f.workspace, "LB")
	f.must(err)
	f.equal("latest reading", answered([]rimewatch.Reading{v.Latest}), answered([]rimewatch.Reading{r}))
	// The next commit goes on where the last one stopped.
	next := &store.Group{Now: f.now, Parts: [][]store.Input{{{Kind: store.InputTick, DeviceID: a}}}}
	f.group(next, store.Effects{})
	if next.Seq != seq+2 {
		f.Errorf("commit %d after %d", next.Seq, seq+1)
	}
}

func (f *fixture) downtime() {
	f.must(f.s.MarkAlive(f.ctx, t0+100))
	f.s = f.e.Reopen(f.T, f.s)
	f.must(f.s.Recover(f.ctx, 1, func(_ int, _ store.Checkpoint) error { return nil }, func(_ int, _ *store.Entry) error { return nil }))
	at, err := f.s.AliveAt(f.ctx)
	f.must(err)
	f.equal("alive at", at, t0+100)
	want := []store.Downtime{{From: t0 + 100, To: t0 + 500}, {From: t0 + 700, To: t0 + 900}}
	f.must(f.s.AddDowntime(f.ctx, want[1]))
	f.must(f.s.AddDowntime(f.ctx, want[0]))
	f.must(f.s.AddDowntime(f.ctx, store.Downtime{From: t0 + 600, To: t0 + 600}))
	got, err := f.s.Downtimes(f.ctx)
	f.must(err)
	f.equal("downtimes", got, want)
	f.reopen()
	got, err = f.s.Downtimes(f.ctx)
	f.must(err)
	f.equal("downtimes after a restart", got, want)
}
