package fleet

import (
	"unsafe"

	"github.com/rimewatch/rimewatch/internal/engine"
)

// memory holds the devices' states: flat and without pointers, side by side in
// slabs, so that a step touches nothing but the state itself and the collector
// has nothing to walk. Up to a budget all of them lie here. Beyond it the coldest
// are on the disk alone, in their checkpoints, and come back when something
// happens to their device.
//
// Only the writing goroutine adds and removes states.
type memory[Own any] struct {
	slabs  []*slab
	owners []*Device[Own] // by slot, nil = the slot is free
	free   []int32        // slots that were given back
	most   int            // states that may lie here
	hand   int            // where coldest goes on
}

// slabStates is the number of states in a slab: 600 kB, which small fleets do not
// notice and large ones fill.
const slabStates = 256

type slab [slabStates]engine.State

// After fewSlabs, arenaSlabs are made at a time: they lie in large pages, where the
// system has them. A device's state lies anywhere among those of all others, and
// looking up where a small page lies costs as much as reading it. What of an arena is
// not used yet takes no memory.
const (
	fewSlabs   = 4
	arenaSlabs = 32
)

// StateBytes is the size of a device's state in the budget.
const StateBytes = int64(unsafe.Sizeof(engine.State{}))

// Memory is the memory of the devices' states.
type Memory struct {
	States int   // in memory
	OnDisk int   // on the disk alone, because of the budget
	Bytes  int64 // of memory
	Read   int64 // states that came back from the disk since the start
}

// Memory returns the present memory of the devices' states.
func (f *Fleet[Own]) Memory() Memory {
	f.RLock()
	defer f.RUnlock()
	n := f.memory.used()
	return Memory{States: n, OnDisk: f.devices.Len() - n, Bytes: int64(len(f.memory.slabs)) * slabStates * StateBytes, Read: f.fetched.Load()}
}

// used returns the number of states that lie here.
func (m *memory[Own]) used() int { return len(m.owners) - len(m.free) }

// state returns a device's state, nil when it is on the disk alone.
func (m *memory[Own]) state(d *Device[Own]) *engine.State {
	if d.slot == 0 {
		return nil
	}
	i := uint(d.slot - 1)
	return &m.slabs[i/slabStates][i%slabStates]
}

// add makes room for the state of a device that has none here: the zero State, to
// be filled.
func (m *memory[Own]) add(d *Device[Own]) *engine.State {
	if n := len(m.free); n > 0 {
		d.slot = m.free[n-1] + 1
		m.free = m.free[:n-1]
		m.owners[d.slot-1] = d
		st := m.state(d)
		*st = engine.State{}
		return st
	}
	if len(m.owners) == len(m.slabs)*slabStates {
		m.grow()
	}
	m.owners = append(m.owners, d)
	d.slot = int32(len(m.owners))
	return m.state(d)
}

// grow makes room for more states.
func (m *memory[Own]) grow() {
	if len(m.slabs) < fewSlabs {
		m.slabs = append(m.slabs, new(slab))
		return
	}
	arena := new([arenaSlabs]slab)
	largePages(unsafe.Slice((*byte)(unsafe.Pointer(arena)), unsafe.Sizeof(*arena)))
	for i := range arena {
		m.slabs = append(m.slabs, &arena[i])
	}
}

// remove frees the room of a device's state, if it has one here.
func (m *memory[Own]) remove(d *Device[Own]) {
	if d.slot == 0 {
		return
	}
	m.owners[d.slot-1] = nil
	m.free = append(m.free, d.slot-1)
	d.slot = 0
}

// coldest lists at most n devices whose state has not been in use since it was
// last asked for; all of them when that is not enough. Those that are needed at
// the moment are left out, and those that are behind: what they are in memory for, no
// checkpoint says.
func (m *memory[Own]) coldest(n int, list []*Device[Own]) []*Device[Own] {
	n = min(n, m.used())
	for range 2 * len(m.owners) { // the first turn may find them all in use
		if len(list) >= n {
			break
		}
		if m.hand++; m.hand >= len(m.owners) {
			m.hand = 0
		}
		d := m.owners[m.hand]
		switch {
		case d == nil || d.needed || d.saving || d.behind:
		case d.recent:
			d.recent = false
		default:
			d.recent = true // so that it is not listed twice
			list = append(list, d)
		}
	}
	return list
}
