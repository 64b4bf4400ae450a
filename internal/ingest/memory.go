package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sync"

	"github.com/rimewatch/rimewatch/internal/engine"
)

// memory holds the units' states. A state is nearly three kilobytes of which
// most is zeros at first; those that inputs came for lately lie as they are, all
// others packed as in a checkpoint, a few hundred bytes each, over a thousand
// once the predictor knows the unit. A device that reports once a minute does
// not notice the microseconds that it takes to unpack its state; a hundred
// thousand of them would notice two hundred megabytes.
type memory struct {
	capacity int     // unpacked states of a large fleet
	whole    int     // fleets up to this size are not packed at all
	devices  int     // the size of the fleet
	ring     []*unit // with unpacked states
	hand     int
	spare    []*engine.State // to be used again
	scratch  []byte
}

// read gives the unit's state for reading. It may lie in scratch.
func (u *unit) read(scratch *engine.State) *engine.State {
	if u.state != nil {
		return u.state
	}
	*scratch = engine.State{}
	if len(u.packed) > 0 {
		// What was packed here, or was checked when it was read from the store.
		_ = unpackState(u.packed, scratch)
	}
	return scratch
}

// take gives room for a state, to be filled by the caller.
func (m *memory) take() *engine.State {
	if n := len(m.spare); n > 0 {
		st := m.spare[n-1]
		m.spare = m.spare[:n-1]
		return st
	}
	return new(engine.State)
}

// sparesKept bounds the room that is kept: what a large batch needs, or a slice
// of a mass outage.
const sparesKept = tickSlice

// giveBack takes back what take gave.
func (m *memory) giveBack(st *engine.State) {
	if st != nil && len(m.spare) < sparesKept {
		m.spare = append(m.spare, st)
	}
}

// put makes st the unit's state. It came from take and is the unit's own now.
func (m *memory) put(u *unit, st *engine.State) {
	old := u.state
	if old == nil {
		old = m.room(u)
		u.packed = nil
	}
	u.state = st
	u.recent = true
	m.giveBack(old)
}

// open gives the unit's state for changing.
func (m *memory) open(u *unit) *engine.State {
	if u.state == nil {
		st := m.take()
		*st = engine.State{}
		m.put(u, u.read(st))
	}
	u.recent = true
	return u.state
}

// room finds a place in the ring: a new one, or that of a unit that was not in
// use since the hand last passed, whose state it packs and gives back.
func (m *memory) room(u *unit) *engine.State {
	most := m.capacity
	if m.devices <= m.whole {
		most = m.whole
	}
	if len(m.ring) < most {
		m.ring = append(m.ring, u)
		return nil
	}
	st := m.evict()
	if len(m.ring) > most { // the fleet has grown: the ring shrinks step by step
		m.giveBack(st)
		m.hand = m.drop(m.hand)
		st = m.evict()
	}
	m.ring[m.hand] = u
	return st
}

// drop takes the i-th place out of the ring and gives where the hand is then.
func (m *memory) drop(i int) int {
	last := len(m.ring) - 1
	m.ring[i], m.ring[last] = m.ring[last], nil
	m.ring = m.ring[:last]
	return i - 1
}

// evict moves the hand to a unit that was not in use since it last passed, packs
// its state and gives that back.
func (m *memory) evict() *engine.State {
	for {
		if m.hand++; m.hand >= len(m.ring) {
			m.hand = 0
		}
		victim := m.ring[m.hand]
		if victim.recent && !victim.deleted {
			victim.recent = false
			continue
		}
		st := victim.state
		m.scratch = packState(m.scratch[:0], st)
		victim.packed, victim.state = bytes.Clone(m.scratch), nil
		return st
	}
}

// plains are buffers for states on their way between State and its packed form.
var plains = sync.Pool{New: func() any { return new([]byte) }}

// packState appends a state with every run of zeros shortened to a zero and its
// length.
func packState(b []byte, st *engine.State) []byte {
	plain := plains.Get().(*[]byte)
	defer plains.Put(plain)
	*plain = st.AppendBinary((*plain)[:0])
	return packZeros(b, *plain)
}

// unpackState is the inverse of packState.
func unpackState(b []byte, st *engine.State) (err error) {
	plain := plains.Get().(*[]byte)
	defer plains.Put(plain)
	if *plain, err = unpackZeros((*plain)[:0], b); err != nil {
		return err
	}
	return st.UnmarshalBinary(*plain) // which keeps nothing of it
}

// packZeros appends plain with its zeros shortened.
func packZeros(b, plain []byte) []byte {
	for len(plain) > 0 {
		i := bytes.IndexByte(plain, 0)
		if i < 0 {
			return append(b, plain...)
		}
		b = append(b, plain[:i+1]...)
		plain = plain[i+1:]
		run := 1
		for len(plain) > 0 && plain[0] == 0 {
			run++
			plain = plain[1:]
		}
		b = binary.AppendUvarint(b, uint64(run))
	}
	return b
}

// maxState bounds what unpackZeros makes of damaged bytes.
const maxState = 64 << 10

// unpackZeros appends what packZeros made b of.
func unpackZeros(out, b []byte) ([]byte, error) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, 0)
		if i < 0 {
			return append(out, b...), nil
		}
		out = append(out, b[:i]...)
		run, n := binary.Uvarint(b[i+1:])
		if n <= 0 || run == 0 || run > maxState || len(out) > maxState {
			return out, errors.New("damaged state")
		}
		for left := int(run); left > 0; left -= len(zeros) {
			out = append(out, zeros[:min(left, len(zeros))]...)
		}
		b = b[i+1+n:]
	}
	return out, nil
}

var zeros [512]byte
