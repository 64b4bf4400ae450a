package storetest

import (
	"fmt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// lastOfGroup: of each device's accepted readings of a group the last is marked,
// and that it was seen then follows by itself.
func (f *fixture) lastOfGroup() {
	a, b := f.addDevice("A"), f.addDevice("B")
	f.commit(a, reading(t0))
	in := func(id int64, at rimewatch.Time) store.Input {
		return store.Input{Kind: store.InputReading, DeviceID: id, Reading: reading(at), Last: true}
	}
	f.now += 777
	first := []store.Input{in(a, t0+1), in(b, t0+2), in(a, t0+3)}
	second := []store.Input{in(b, t0+1), in(a, t0), {Kind: store.InputHeartbeat, DeviceID: a}} // the second is a duplicate
	f.group(&store.Group{Now: f.now, Parts: [][]store.Input{first, second}}, store.Effects{})
	var last []bool
	for _, part := range [][]store.Input{first, second} {
		for i := range part {
			last = append(last, part[i].Last)
		}
	}
	f.equal("last", last, []bool{false, false, true, true, false, false})
	v, err := f.s.Device(f.ctx, f.workspace, "A")
	f.must(err)
	f.equal("seen", v.LastSeenAt, f.now)
}

// readAgain: checkpoints and the log can be read while the store is in use.
func (f *fixture) readAgain() {
	a, b, c := f.addDevice("A"), f.addDevice("B"), f.addDevice("C")
	f.must(f.s.SaveCheckpoints(f.ctx, []store.Checkpoint{{DeviceID: a, Seq: 3, State: []byte("a")}, {DeviceID: b, Seq: 3, State: []byte("b")}}, 0))
	f.must(f.s.SaveCheckpoints(f.ctx, []store.Checkpoint{{DeviceID: a, Seq: 4, State: []byte("again")}}, 0))
	checkpoints := func(ids ...int64) map[int64]string {
		got := map[int64]string{}
		f.must(f.s.Checkpoints(f.ctx, ids, func(c store.Checkpoint) error {
			got[c.DeviceID] = fmt.Sprintf("%d %s", c.Seq, c.State)
			return nil
		}))
		return got
	}
	f.equal("some", checkpoints(c, a), map[int64]string{a: "4 again"})
	f.equal("none", checkpoints(), map[int64]string{})
	f.equal("all", checkpoints(a, b, c), map[int64]string{a: "4 again", b: "3 b"})

	logged := func() (list []string) {
		f.must(f.s.Logged(f.ctx, 1, func(_ int, e *store.Entry) error {
			if e.Input.Kind == store.InputReading {
				list = append(list, fmt.Sprintf("%d %d %s", e.Seq, e.Input.DeviceID, payload(&e.Input)))
			}
			return nil
		}))
		return list
	}
	f.equal("fresh", len(logged()), 0)
	f.commit(b, reading(t0), reading(t0+1))
	want := logged()
	f.equal("committed", len(want), 2)
	staged, err := f.s.Stage(f.ctx, &store.Group{Now: f.now, Parts: [][]store.Input{{{Kind: store.InputReading, DeviceID: c, Reading: reading(t0)}}}})
	f.must(err)
	f.equal("what is staged is not logged", logged(), want)
	staged.Discard()
	f.e.Settle(f.T, f.s)
	f.equal("sealed", logged(), want)
	f.reopen()
	f.equal("recovered", logged(), want)
	f.equal("recovered, checkpoints", checkpoints(a, b, c), map[int64]string{a: "4 again", b: "3 b"})
}
