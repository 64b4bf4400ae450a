// Package deadline keeps the deadlines of very many things and names those that
// have passed. It is pure: it has no clock and no goroutine.
//
// A deadline that is put off, which is what most of them are by the next
// reading, costs no move: its place in the heap stays and is mended when it
// comes to the front. So a device that reports once a minute and has three
// minutes to be silent moves once in three readings.
package deadline

import "github.com/rimewatch/rimewatch"

// Entry is embedded in what has a deadline, and is in at most one Queue. Its
// zero value has none.
type Entry struct {
	at    rimewatch.Time // 0 = none
	turn  uint64         // when it was set, among those of the same moment
	place int32          // in the heap, counted from 1; 0 = in none
}

// Due returns the deadline, 0 when there is none.
func (e *Entry) Due() rimewatch.Time { return e.at }

func (e *Entry) entry() *Entry { return e }

// Item is what embeds an Entry.
type Item interface{ entry() *Entry }

// Queue holds one deadline for each of its items: a heap of four children a
// node. Deadlines of the same moment are due in the order in which they were
// set. The zero value is an empty queue. It must not be used by two goroutines
// at once.
//
// It takes 24 bytes an item beside the 24 of its Entry.
type Queue[T Item] struct {
	heap []node[T]
	turn uint64
}

// node is an item at its deadline or an earlier one, which it had before.
type node[T Item] struct {
	at   rimewatch.Time
	turn uint64
	item T
}

func (n *node[T]) before(o *node[T]) bool {
	return n.at < o.at || n.at == o.at && n.turn < o.turn
}

// Len returns the number of deadlines.
func (q *Queue[T]) Len() int { return len(q.heap) }

// Set gives an item a deadline in place of the one it may have; 0 = none.
func (q *Queue[T]) Set(item T, at rimewatch.Time) {
	e := item.entry()
	if at == e.at {
		return
	}
	if at == 0 {
		q.Remove(item)
		return
	}
	q.turn++
	e.at, e.turn = at, q.turn
	if e.place == 0 {
		q.heap = append(q.heap, node[T]{at, e.turn, item})
		e.place = int32(len(q.heap))
		q.up(len(q.heap) - 1)
		return
	}
	if i := int(e.place) - 1; at < q.heap[i].at {
		q.heap[i].at, q.heap[i].turn = at, e.turn
		q.up(i)
	}
}

// Remove takes an item's deadline away, if it has one.
func (q *Queue[T]) Remove(item T) {
	e := item.entry()
	if e.place == 0 {
		return
	}
	i, last := int(e.place)-1, len(q.heap)-1
	*e = Entry{}
	moved := q.heap[last]
	q.heap[last] = node[T]{}
	q.heap = q.heap[:last]
	if i == last {
		return
	}
	q.put(i, moved)
	q.up(i)
	q.down(int(moved.item.entry().place) - 1)
}

// Next returns the earliest deadline, 0 when there is none.
func (q *Queue[T]) Next() rimewatch.Time {
	for len(q.heap) > 0 {
		if q.mended() {
			return q.heap[0].at
		}
	}
	return 0
}

// Pop takes the earliest deadline away and returns its item, if it is not after
// now.
//
// Those whose place says that they are not due yet stay as they are, however far they
// were put off: of a fleet that reports all the time, that is all of them.
func (q *Queue[T]) Pop(now rimewatch.Time) (item T, ok bool) {
	for len(q.heap) > 0 && q.heap[0].at <= now {
		if !q.mended() {
			continue
		}
		item = q.heap[0].item
		q.Remove(item)
		return item, true
	}
	return item, false
}

// mended moves the item at the front to where its deadline is now, and reports whether
// it was there already.
func (q *Queue[T]) mended() bool {
	n := &q.heap[0]
	e := n.item.entry()
	if n.turn == e.turn {
		return true
	}
	n.at, n.turn = e.at, e.turn // it was put off
	q.down(0)
	return false
}

// All yields every item, in no particular order. The queue must not change
// meanwhile.
func (q *Queue[T]) All(yield func(T) bool) {
	for i := range q.heap {
		if !yield(q.heap[i].item) {
			return
		}
	}
}

const children = 4

func (q *Queue[T]) put(i int, n node[T]) {
	q.heap[i] = n
	n.item.entry().place = int32(i + 1)
}

// up moves the i-th node to where its parent is not later.
func (q *Queue[T]) up(i int) {
	n := q.heap[i]
	for i > 0 {
		parent := (i - 1) / children
		if !n.before(&q.heap[parent]) {
			break
		}
		q.put(i, q.heap[parent])
		i = parent
	}
	q.put(i, n)
}

// down moves the i-th node to where its children are not earlier.
func (q *Queue[T]) down(i int) {
	n := q.heap[i]
	for {
		first := children*i + 1
		if first >= len(q.heap) {
			break
		}
		least := first
		for c := first + 1; c < min(first+children, len(q.heap)); c++ {
			if q.heap[c].before(&q.heap[least]) {
				least = c
			}
		}
		if !q.heap[least].before(&n) {
			break
		}
		q.put(i, q.heap[least])
		i = least
	}
	q.put(i, n)
}
