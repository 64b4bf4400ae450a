package fleet

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
)

// unreplayed holds the logged inputs that the states of devices do not know of yet: of
// all devices after a restart, of some after a group was lost. The store's workers
// gather them, each those of its own devices. They are packed, and chained by device:
// Device.missed is where its chain lies.
type unreplayed[Own any] struct {
	down    []presence.Downtime // as they were known at the time
	read    bool                // the checkpoints of its devices have been read
	workers []gatherer[Own]
}

// gatherer collects the inputs that one worker reads.
type gatherer[Own any] struct {
	number  int
	blocks  [][]byte // of records
	scratch []byte
	last    Position // of all inputs
	dirty   dirtyDevices[Own]
}

// recordPlace is where a record lies, 0 = nowhere: worker, block, and offset in it,
// counted from 1.
type recordPlace uint64

// chain is the records of one device.
type chain struct{ first, last recordPlace }

const (
	recordBlock  = 1 << 20
	recordHeader = 8 + 8 + 8 + 4 + 1 // next, seq, now, size, kind
)

func newUnreplayed[Own any]() *unreplayed[Own] {
	x := &unreplayed[Own]{workers: make([]gatherer[Own], runtime.GOMAXPROCS(0))}
	for i := range x.workers {
		x.workers[i].number = i
	}
	return x
}

// add takes the next logged input of a device.
func (x *unreplayed[Own]) add(worker int, d *Device[Own], e *store.Entry) {
	g := &x.workers[worker]
	data := e.Input.Payload
	if e.Input.Kind == store.InputReading {
		g.scratch = chunk.AppendReading(g.scratch[:0], &e.Input.Reading, 0)
		data = g.scratch
	}
	at, b := g.room(recordHeader + len(data))
	binary.LittleEndian.PutUint64(b, 0)
	binary.LittleEndian.PutUint64(b[8:], uint64(e.Seq))
	binary.LittleEndian.PutUint64(b[16:], uint64(e.Now))
	binary.LittleEndian.PutUint32(b[24:], uint32(len(data)))
	b[28] = byte(e.Input.Kind)
	copy(b[recordHeader:], data)
	if d.missed.last == 0 {
		d.missed.first = at
	} else {
		binary.LittleEndian.PutUint64(x.record(d.missed.last), uint64(at))
	}
	d.missed.last = at
}

// room makes room for a record of n bytes.
func (g *gatherer[Own]) room(n int) (recordPlace, []byte) {
	i := len(g.blocks) - 1
	if i < 0 || cap(g.blocks[i])-len(g.blocks[i]) < n {
		g.blocks = append(g.blocks, make([]byte, 0, max(recordBlock, n)))
		i++
	}
	from := len(g.blocks[i])
	g.blocks[i] = g.blocks[i][:from+n]
	return recordPlace(g.number)<<56 | recordPlace(i)<<32 | recordPlace(from+1), g.blocks[i][from:]
}

// record returns the bytes from a record on.
func (x *unreplayed[Own]) record(at recordPlace) []byte {
	return x.workers[at>>56].blocks[at>>32&(1<<24-1)][uint32(at)-1:]
}

// step steps a device through its chain, which is empty then: through what its checkpoint
// does not know of, which may be newer than the chain's beginning. Transitions are
// dropped: the rows of alerts were committed with the inputs. As in the commit
// itself, a device's last reading is told apart from those before it.
func (x *unreplayed[Own]) step(f *Fleet[Own], d *Device[Own], state *engine.State, out []alert.Transition) []alert.Transition {
	in := store.Input{DeviceID: d.ID}
	for at := d.missed.first; at != 0; {
		b := x.record(at)
		next := recordPlace(binary.LittleEndian.Uint64(b))
		if binary.LittleEndian.Uint64(b[8:]) <= uint64(d.savedSeq) {
			at = next
			continue
		}
		now := rimewatch.Time(binary.LittleEndian.Uint64(b[16:]))
		data := b[recordHeader : recordHeader+binary.LittleEndian.Uint32(b[24:])]
		in.Kind, in.Payload, in.Last = store.InputKind(b[28]), data, false
		if in.Kind == store.InputReading {
			_, _ = chunk.DecodeReading(data, &in.Reading, 0) // we encoded it
			in.Payload, in.Last = nil, !x.anotherReading(next, binary.LittleEndian.Uint64(b[8:]))
		}
		out, _ = f.step(state, &d.Facts, x.down, &in, now, out[:0])
		at = next
	}
	d.missed = chain{}
	return out
}

// anotherReading reports whether a chain has a reading of commit seq from a place
// on.
func (x *unreplayed[Own]) anotherReading(at recordPlace, seq uint64) bool {
	for at != 0 {
		b := x.record(at)
		if binary.LittleEndian.Uint64(b[8:]) != seq {
			return false
		}
		if store.InputKind(b[28]) == store.InputReading {
			return true
		}
		at = recordPlace(binary.LittleEndian.Uint64(b))
	}
	return false
}

// changed notes that an input changes a device.
func (g *gatherer[Own]) changed(d *Device[Own], seq store.Seq, now rimewatch.Time) {
	g.dirty.inputs++
	g.dirty.add(d, seq, now)
}

// takeDirty adds to the dirty devices those of all workers.
func (x *unreplayed[Own]) takeDirty(to *dirtyDevices[Own]) {
	base := to.inputs
	for i := range x.workers {
		g := &x.workers[i]
		for _, d := range g.dirty.list {
			d.inputs = base + d.inputs*int64(len(x.workers)) // about as far as all were
			to.list = append(to.list, d)
		}
		to.inputs += g.dirty.inputs
		g.dirty = dirtyDevices[Own]{}
	}
	slices.SortStableFunc(to.list, func(a, b dirtyDevice[Own]) int { return cmp.Compare(a.seq, b.seq) })
}

// InParts has as many goroutines as there are cores call f for a part of a list
// each.
func InParts[T any](list []T, f func(part []T) error) error {
	const least = 64 // worth a goroutine
	n := max(1, min(runtime.GOMAXPROCS(0), len(list)/least))
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		first error
	)
	for part := range slices.Chunk(list, max(1, (len(list)+n-1)/n)) {
		wg.Go(func() {
			if err := f(part); err != nil {
				mu.Lock()
				defer mu.Unlock()
				first = cmp.Or(first, err)
			}
		})
	}
	wg.Wait()
	return first
}

// replay brings the states of devices, which have their place in memory, from their
// checkpoints to where the log ends. When it fails, no device has been stepped.
func (f *Fleet[Own]) replay(x *unreplayed[Own], list []*Device[Own]) error {
	if !x.read {
		if err := InParts(list, f.readCheckpoints); err != nil {
			return err
		}
	}
	return InParts(list, func(part []*Device[Own]) error {
		var out []alert.Transition
		for _, d := range part {
			out = x.step(f, d, f.memory.state(d), out)
		}
		return nil
	})
}

// readCheckpoints reads the states of devices, which have their place in memory. One
// that cannot be read is derived: what the log still holds builds it again, and
// the rest is learnt from scratch, as are parts of another version. No device may keep the service down.
func (f *Fleet[Own]) readCheckpoints(list []*Device[Own]) error {
	ids := make([]int64, len(list))
	for i, d := range list {
		ids[i] = d.ID
	}
	return f.store.Checkpoints(context.Background(), ids, func(c store.Checkpoint) error {
		d := f.devices.Get(c.DeviceID)
		was, state := d.Facts, f.memory.state(d)
		d.savedSeq = c.Seq
		err := f.readCheckpoint(c.State, &d.Facts, state)
		if err != nil {
			f.unread(d, err)
		}
		if err != nil && !errors.Is(err, engine.ErrAnew) {
			d.Facts, *state, d.savedSeq = was, engine.State{}, 0
		}
		return nil
	})
}

// unread logs a state that cannot be read: at the start only the first, since it may
// be that of every device.
func (f *Fleet[Own]) unread(d *Device[Own], err error) {
	if n := f.unreadable.Add(1); n == 1 || f.behind.ended {
		f.log.Warn("the state of a device was lost; it is learnt from scratch", "device", d.ID, "err", err)
	}
}
