package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/rimewatch/rimewatch/internal/engine"
)

// memory holds the units' states. A state is nearly three kilobytes of which
// most is zeros at first; those that inputs came for lately lie as they are, all
// others packed as in a checkpoint, a few hundred bytes each, over a thousand
// once the predictor knows the unit. A device that reports once a minute does
// not notice the microseconds that it takes to unpack its state; a hundred
// thousand of them would notice two hundred megabytes.
type memory struct {
	capacity int
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

// sparesKept bounds the room that is kept.
const sparesKept = 512

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
	if len(m.ring) < m.capacity {
		m.ring = append(m.ring, u)
		return nil
	}
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
		m.ring[m.hand] = u
		return st
	}
}

// packState appends a state with every run of zeros shortened to a zero and its
// length.
func packState(b []byte, st *engine.State) []byte {
	start := len(b)
	b = st.AppendBinary(b)
	return packZeros(b, start)
}

// unpackState is the inverse of packState.
func unpackState(b []byte, st *engine.State) error {
	plain, err := unpackZeros(b)
	if err != nil {
		return err
	}
	return st.UnmarshalBinary(plain)
}

// packZeros shortens what follows start, in place but for runs of a single zero.
func packZeros(b []byte, start int) []byte {
	plain := bytes.Clone(b[start:])
	b = b[:start]
	for i := 0; i < len(plain); i++ {
		b = append(b, plain[i])
		if plain[i] != 0 {
			continue
		}
		run := 1
		for i+1 < len(plain) && plain[i+1] == 0 {
			run++
			i++
		}
		b = binary.AppendUvarint(b, uint64(run))
	}
	return b
}

// maxState bounds what unpackZeros makes of damaged bytes.
const maxState = 64 << 10

func unpackZeros(b []byte) ([]byte, error) {
	out := make([]byte, 0, 1024)
	for len(b) > 0 {
		c := b[0]
		b = b[1:]
		if c != 0 {
			out = append(out, c)
			continue
		}
		run, n := binary.Uvarint(b)
		if n <= 0 || run == 0 || run > maxState || len(out) > maxState {
			return nil, errors.New("damaged state")
		}
		out = append(out, zeros[:min(run, uint64(len(zeros)))]...)
		for left := int(run) - len(zeros); left > 0; left -= len(zeros) {
			out = append(out, zeros[:min(left, len(zeros))]...)
		}
		b = b[n:]
	}
	return out, nil
}

var zeros [512]byte
