package presence

import (
	"math/bits"

	"github.com/rimewatch/rimewatch"
)

// The wheel has wheelLevels rings of 64 slots. A slot of the lowest ring is one
// tick, a slot of each further ring a whole turn of the ring below. Together
// they reach 2^42 ticks, beyond the year 9999.
const (
	tickShift   = 8 // a tick is 2^8 ms = 0.256 s
	slotBits    = 6
	slotsPer    = 1 << slotBits
	wheelLevels = 7
	lastTick    = 1<<(slotBits*wheelLevels) - 1

	dueSlot  = wheelLevels * slotsPer // the list of entries whose tick has come
	numSlots = dueSlot + 1
)

// Wheel keeps one deadline for each of very many ids and names those that have
// passed, the earliest ticks first. Setting, moving and removing a deadline
// takes constant time, and so does, amortised, naming it. It has no clock and no
// goroutine, and must not be used by two of them at once.
//
// It takes 32–40 bytes an entry (24 for the entry, the rest for finding it by
// its id), measured by BenchmarkWheelMemory.
type Wheel struct {
	tick    int64               // ticks up to this one have come
	heads   [numSlots]int32     // first entry of each slot, counted from 1; 0 = none
	tail    int32               // last entry of dueSlot, counted from 1
	used    [wheelLevels]uint64 // which slots have entries
	entries []wheelEntry
	free    int32   // first unused entry, counted from 1, linked by next
	index   []int32 // open hash of id → entry, counted from 1; its length is a power of two
	n       int
	expired []int64
}

type wheelEntry struct {
	id         int64
	at         rimewatch.Time
	next, prev int32 // counted from 1; prev of the first is −(slot+1)
}

// NewWheel makes a wheel whose time starts at now.
func NewWheel(now rimewatch.Time) *Wheel {
	return &Wheel{tick: min(max(int64(now)>>tickShift, 0), lastTick), index: make([]int32, 16)}
}

// Len is the number of deadlines.
func (w *Wheel) Len() int { return w.n }

// Set puts the deadline of id at a moment, in place of the one it may have.
func (w *Wheel) Set(id int64, at rimewatch.Time) {
	h := w.find(id)
	e := w.index[h]
	if e != 0 {
		w.unlink(e)
	} else {
		if 4*(w.n+1) > 3*len(w.index) {
			w.rehash(2 * len(w.index))
			h = w.find(id)
		}
		e = w.take()
		w.index[h] = e
		w.n++
	}
	w.entries[e-1].id, w.entries[e-1].at = id, at
	w.link(e)
}

// Remove takes the deadline of id away, if it has one.
func (w *Wheel) Remove(id int64) {
	h := w.find(id)
	if e := w.index[h]; e != 0 {
		w.unlink(e)
		w.drop(e, h)
	}
}

// Expired takes away and gives up to most deadlines that are not after now.
// A deadline is never named early and, when now does not go back, at most one
// tick (0.256 s) late. Call again as long as it gives most. The slice is valid
// until the next call.
func (w *Wheel) Expired(now rimewatch.Time, most int) []int64 {
	w.advance(min(int64(now)>>tickShift, lastTick))
	w.expired = w.expired[:0]
	for e := w.heads[dueSlot]; e != 0 && len(w.expired) < most; {
		entry := &w.entries[e-1]
		next := entry.next
		if entry.at <= now { // not so only when now went back
			w.expired = append(w.expired, entry.id)
			w.unlink(e)
			w.drop(e, w.find(entry.id))
		}
		e = next
	}
	return w.expired
}

// advance moves the entries of all ticks up to target to the list of the due,
// from slot to slot without looking at empty ones.
func (w *Wheel) advance(target int64) {
	for w.tick < target {
		level, slot, start := w.nextSlot()
		if level < 0 || start > target {
			w.tick = target
			return
		}
		w.tick = start
		e := w.heads[level*slotsPer+slot]
		w.heads[level*slotsPer+slot] = 0
		w.used[level] &^= 1 << slot
		for e != 0 { // to the rings below, or to the due
			next := w.entries[e-1].next
			w.link(e)
			e = next
		}
	}
}

// nextSlot finds the slot that comes next and its first tick; level is −1 when
// there is none.
func (w *Wheel) nextSlot() (level, slot int, start int64) {
	for level := range wheelLevels {
		shift := slotBits * level
		here := w.tick >> shift & (slotsPer - 1)
		// Slots at or behind the present one belong to no entry: an entry lies in
		// the highest ring in which it differs from the present.
		ahead := w.used[level] &^ (2<<here - 1)
		if ahead != 0 {
			slot := bits.TrailingZeros64(ahead)
			turn := w.tick >> (shift + slotBits) << (shift + slotBits)
			return level, slot, turn | int64(slot)<<shift
		}
	}
	return -1, 0, 0
}

// link puts an entry into the slot of its deadline.
func (w *Wheel) link(e int32) {
	entry := &w.entries[e-1]
	// Rounded up: a deadline is due when its tick has begun.
	tick := min(max(int64(entry.at), 0)>>tickShift, lastTick-1)
	if int64(entry.at) > tick<<tickShift {
		tick++
	}
	if tick <= w.tick {
		w.linkDue(e)
		return
	}
	level := (bits.Len64(uint64(tick^w.tick)) - 1) / slotBits
	slot := int(tick >> (slotBits * level) & (slotsPer - 1))
	w.used[level] |= 1 << slot
	slot += level * slotsPer
	entry.prev, entry.next = -int32(slot+1), w.heads[slot]
	if entry.next != 0 {
		w.entries[entry.next-1].prev = e
	}
	w.heads[slot] = e
}

// linkDue appends, so that a mass outage is named in the order of its ticks.
func (w *Wheel) linkDue(e int32) {
	entry := &w.entries[e-1]
	entry.next = 0
	if w.heads[dueSlot] == 0 {
		entry.prev = -(dueSlot + 1)
		w.heads[dueSlot] = e
	} else {
		entry.prev = w.tail
		w.entries[w.tail-1].next = e
	}
	w.tail = e
}

func (w *Wheel) unlink(e int32) {
	entry := &w.entries[e-1]
	if w.tail == e {
		w.tail = max(entry.prev, 0)
	}
	if entry.next != 0 {
		w.entries[entry.next-1].prev = entry.prev
	}
	if entry.prev > 0 {
		w.entries[entry.prev-1].next = entry.next
		return
	}
	slot := -entry.prev - 1
	w.heads[slot] = entry.next
	if entry.next == 0 && slot != dueSlot {
		w.used[slot/slotsPer] &^= 1 << (slot % slotsPer)
	}
}

// take gives an unused entry.
func (w *Wheel) take() int32 {
	if e := w.free; e != 0 {
		w.free = w.entries[e-1].next
		return e
	}
	w.entries = append(w.entries, wheelEntry{})
	return int32(len(w.entries))
}

// drop gives an unlinked entry back; h is its place in the index.
func (w *Wheel) drop(e int32, h uint64) {
	w.entries[e-1].next = w.free
	w.free = e
	w.n--
	// Close the gap: move entries back that would no longer be found.
	mask := uint64(len(w.index) - 1)
	for i := h; ; {
		i = (i + 1) & mask
		m := w.index[i]
		if m == 0 {
			break
		}
		if home := w.hash(w.entries[m-1].id); (i-home)&mask >= (i-h)&mask {
			w.index[h] = m
			h = i
		}
	}
	w.index[h] = 0
}

// hash spreads ids, which are often consecutive, by Fibonacci hashing.
func (w *Wheel) hash(id int64) uint64 {
	return uint64(id) * 0x9e3779b97f4a7c15 >> (64 - bits.TrailingZeros(uint(len(w.index))))
}

// find gives the place of id in the index, or the empty one where it would be.
func (w *Wheel) find(id int64) uint64 {
	mask := uint64(len(w.index) - 1)
	h := w.hash(id)
	for {
		e := w.index[h]
		if e == 0 || w.entries[e-1].id == id {
			return h
		}
		h = (h + 1) & mask
	}
}

func (w *Wheel) rehash(size int) {
	old := w.index
	w.index = make([]int32, size)
	for _, e := range old {
		if e != 0 {
			w.index[w.find(w.entries[e-1].id)] = e
		}
	}
}
