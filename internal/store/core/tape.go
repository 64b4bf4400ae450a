package core

import (
	"sync"
	"sync/atomic"

	"github.com/rimewatch/rimewatch/internal/prefetch"
)

// blocks is the memory of tapes: blocks of one size without pointers, so that what
// grows leaves no garbage and the collector has nothing to walk. What is given back is
// used again; as much stays in use as once was needed.
//
// Blocks may be taken and given back by many at once.
type blocks struct {
	arenas atomic.Pointer[[]*arena] // replaced as a whole
	mu     sync.Mutex               // guards the following members
	free   uint32                   // the first of those that were given back, 0 = none
	made   uint32                   // have been taken once; the first block is never given out
}

const (
	blockBytes  = 124
	arenaBlocks = 2048
)

// block is two lines of the processor's cache.
type block struct {
	next uint32
	data [blockBytes]byte
}

type arena [arenaBlocks]block

func (m *blocks) at(i uint32) *block {
	return &(*m.arenas.Load())[i/arenaBlocks][i%arenaBlocks]
}

// take returns a free block.
func (m *blocks) take() uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.free; i != 0 {
		m.free = m.at(i).next
		return i
	}
	if m.made++; m.made == 1 || m.made%arenaBlocks == 0 {
		var all []*arena
		if old := m.arenas.Load(); old != nil {
			all = *old
		}
		all = append(all[:len(all):len(all)], new(arena))
		m.arenas.Store(&all)
	}
	return m.made
}

// giveBack frees a chain of blocks.
func (m *blocks) giveBack(first, last uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at(last).next = m.free
	m.free = first
}

// tape is a queue of bytes that lie in blocks. Its methods are told which.
type tape struct {
	first, last uint32 // blocks, 0 = it is empty
	skip        int32  // bytes of the first block that are out of it
	size        int32
}

// end is how much of the last block is in use.
func (t *tape) end() int32 { return (t.skip+t.size-1)%blockBytes + 1 }

// append puts bytes at the end.
func (t *tape) append(m *blocks, p []byte) {
	at := int32(blockBytes) // of the last block
	if t.size > 0 {
		at = t.end()
	}
	for len(p) > 0 {
		if at == blockBytes {
			next := m.take()
			if t.size == 0 {
				t.first = next
			} else {
				m.at(t.last).next = next
			}
			t.last, at = next, 0
		}
		n := copy(m.at(t.last).data[at:], p)
		p = p[n:]
		t.size += int32(n)
		at += int32(n)
	}
}

// read appends the first n bytes to out.
func (t *tape) read(m *blocks, out []byte, n int32) []byte {
	at, skip := t.first, t.skip
	for n > 0 {
		b := m.at(at)
		part := min(n, blockBytes-skip)
		out = append(out, b.data[skip:skip+part]...)
		n -= part
		at, skip = b.next, 0
	}
	return out
}

// drop takes the first n bytes out.
func (t *tape) drop(m *blocks, n int32) {
	if n == t.size {
		t.clear(m)
		return
	}
	first, last := t.first, uint32(0)
	t.size -= n
	for t.skip += n; t.skip >= blockBytes; t.skip -= blockBytes {
		last, t.first = t.first, m.at(t.first).next
	}
	if last != 0 {
		m.giveBack(first, last)
	}
}

// cut leaves the first n bytes.
func (t *tape) cut(m *blocks, n int32) {
	if n == 0 {
		t.clear(m)
		return
	}
	last := t.first
	for left := t.skip + n; left > blockBytes; left -= blockBytes {
		last = m.at(last).next
	}
	if last != t.last {
		m.giveBack(m.at(last).next, t.last)
	}
	t.last, t.size = last, n
}

func (t *tape) clear(m *blocks) {
	if t.size > 0 {
		m.giveBack(t.first, t.last)
	}
	*t = tape{}
}

// prefetchEnd prefetches the memory of the next bytes.
func (t *tape) prefetchEnd(m *blocks) {
	if t.size > 0 {
		prefetch.Of(m.at(t.last))
	}
}
