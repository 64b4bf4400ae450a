package ingest

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

// unreplayed holds the logged inputs that the states of units do not know of yet: of
// all devices after a restart, of some after a group was lost. The store's workers
// gather them, each those of its own devices. They are packed, and chained by unit:
// unit.missed is where its chain lies.
type unreplayed struct {
	down    []presence.Downtime // as they were known at the time
	read    bool                // the checkpoints of its units have been read
	workers []gatherer
}

// gatherer is what one worker gathers.
type gatherer struct {
	number  int
	blocks  [][]byte // of records
	scratch []byte
	last    position // of all inputs
	dirty   dirtyUnits
}

// recordPlace is where a record lies, 0 = nowhere: worker, block, and offset in it,
// counted from 1.
type recordPlace uint64

// chain is the records of one unit.
type chain struct{ first, last recordPlace }

const (
	recordBlock  = 1 << 20
	recordHeader = 8 + 8 + 8 + 4 + 1 // next, seq, now, size, kind
)

func newUnreplayed() *unreplayed {
	x := &unreplayed{workers: make([]gatherer, runtime.GOMAXPROCS(0))}
	for i := range x.workers {
		x.workers[i].number = i
	}
	return x
}

// add takes the next logged input of a unit.
func (x *unreplayed) add(worker int, u *unit, e *store.Entry) {
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
	if u.missed.last == 0 {
		u.missed.first = at
	} else {
		binary.LittleEndian.PutUint64(x.record(u.missed.last), uint64(at))
	}
	u.missed.last = at
}

// room makes room for a record of n bytes.
func (g *gatherer) room(n int) (recordPlace, []byte) {
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
func (x *unreplayed) record(at recordPlace) []byte {
	return x.workers[at>>56].blocks[at>>32&(1<<24-1)][uint32(at)-1:]
}

// step steps a unit through its chain, which is empty then: through what its checkpoint
// does not know of, which may be newer than the chain's beginning. Transitions are
// dropped: the rows of alerts were committed with the inputs. As in the commit
// itself, a unit's last reading is told apart from those before it.
func (x *unreplayed) step(s *Service, u *unit, state *engine.State, out []alert.Transition) []alert.Transition {
	in := store.Input{DeviceID: u.id}
	for at := u.missed.first; at != 0; {
		b := x.record(at)
		next := recordPlace(binary.LittleEndian.Uint64(b))
		if binary.LittleEndian.Uint64(b[8:]) <= uint64(u.savedSeq) {
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
		out, _ = s.step(state, &u.facts, x.down, &in, now, out[:0])
		at = next
	}
	u.missed = chain{}
	return out
}

// anotherReading reports whether a chain has a reading of commit seq from a place
// on.
func (x *unreplayed) anotherReading(at recordPlace, seq uint64) bool {
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

// changed notes that an input changes a unit.
func (g *gatherer) changed(u *unit, seq store.Seq, now rimewatch.Time) {
	g.dirty.inputs++
	g.dirty.add(u, seq, now)
}

// takeDirty adds to the dirty units those of all workers.
func (x *unreplayed) takeDirty(to *dirtyUnits) {
	base := to.inputs
	for i := range x.workers {
		g := &x.workers[i]
		for _, d := range g.dirty.list {
			d.inputs = base + d.inputs*int64(len(x.workers)) // about as far as all were
			to.list = append(to.list, d)
		}
		to.inputs += g.dirty.inputs
		g.dirty = dirtyUnits{}
	}
	slices.SortStableFunc(to.list, func(a, b dirtyUnit) int { return cmp.Compare(a.seq, b.seq) })
}

// inParts has as many goroutines as there are cores call f for a part of a list
// each.
func inParts[T any](list []T, f func(part []T) error) error {
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

// replay brings the states of units, which have their place in memory, from their
// checkpoints to where the log ends. When it fails, no unit has been stepped.
func (s *Service) replay(x *unreplayed, list []*unit) error {
	if !x.read {
		if err := inParts(list, s.readCheckpoints); err != nil {
			return err
		}
	}
	return inParts(list, func(part []*unit) error {
		var out []alert.Transition
		for _, u := range part {
			out = x.step(s, u, s.memory.state(u), out)
		}
		return nil
	})
}

// readCheckpoints reads the states of units, which have their place in memory. One
// that cannot be read is derived: what the log still holds builds it again, and
// the rest is learnt from scratch, as are parts of another version. No device may keep the service down.
func (s *Service) readCheckpoints(list []*unit) error {
	ids := make([]int64, len(list))
	for i, u := range list {
		ids[i] = u.id
	}
	return s.store.Checkpoints(context.Background(), ids, func(c store.Checkpoint) error {
		u := s.units.Get(c.DeviceID)
		was, state := u.facts, s.memory.state(u)
		u.savedSeq = c.Seq
		err := s.readCheckpoint(c.State, &u.facts, state)
		if err != nil {
			s.unread(u, err)
		}
		if err != nil && !errors.Is(err, engine.ErrAnew) {
			u.facts, *state, u.savedSeq = was, engine.State{}, 0
		}
		return nil
	})
}

// unread logs a state that cannot be read: at the start only the first, since it may
// be that of every device.
func (s *Service) unread(u *unit, err error) {
	if n := s.unreadable.Add(1); n == 1 || !s.Loading() {
		s.log.Warn("the state of a device was lost; it is learnt from scratch", "device", u.id, "err", err)
	}
}
