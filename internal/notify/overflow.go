package notify

import (
	"cmp"
	"slices"

	"github.com/rimewatch/rimewatch"
)

// overflow is what waits for a lane in the store alone. A lane holds what is due first,
// up to a bound, and takes the rest from the store when that is due before what it holds.
type overflow struct {
	n       int            // how many, as far as is known; 0 = the lane holds all that waits
	due     rimewatch.Time // none of them before this
	oldest  rimewatch.Time // when the oldest of them was made
	eager   bool           // the channel works again: none waits for its moment
	reading bool           // the store is being asked
	after   rimewatch.Time // asking has failed: not again before this
	ended   map[int64]bool // what has ended while it is asked: the answer may have it
}

// left counts one less. It takes an answer of the store to say that none waits.
func (b *overflow) left() { b.n = max(b.n-1, min(b.n, 1)) }

// newItem makes an item of a delivery. One that was made before the clock was set back
// does not wait for a moment that has moved away.
func newItem(d *rimewatch.Delivery, now rimewatch.Time) *item {
	if d.CreatedAt > now {
		d.NextAttemptAt = min(d.NextAttemptAt, now)
	}
	return &item{Delivery: d, since: min(d.CreatedAt, now)}
}

// bound lets go of what is due last when the lane holds too much: of half, so that it is
// not done for each. l.mu is held.
func (l *lane) bound() {
	if most := l.s.cfg.PerLane; len(l.items) > most {
		l.letGo(len(l.items) - most/2)
	}
}

// letGo lets go of the n that are due last. What is under way stays. l.mu is held.
func (l *lane) letGo(n int) {
	if n <= 0 {
		return
	}
	b := &l.overflow
	list := slices.SortedFunc(l.waiting.All, func(x, y *item) int { return cmp.Compare(y.Due(), x.Due()) })
	for _, it := range list[:min(n, len(list))] {
		l.waiting.Remove(it)
		delete(l.items, it.ID)
		if b.n == 0 || it.NextAttemptAt < b.due {
			b.due = it.NextAttemptAt
		}
		if b.n == 0 || it.CreatedAt < b.oldest {
			b.oldest = it.CreatedAt
		}
		b.n++
	}
}

// forget takes an item that has ended out of the lane. l.mu is held.
func (l *lane) forget(id int64) {
	delete(l.items, id)
	if l.overflow.ended != nil {
		l.overflow.ended[id] = true
	}
}

// asks reports whether the store is to be asked now for what comes before the first that
// the lane holds, which is due at a moment, 0 = none. l.mu is held.
func (l *lane) asks(first, now rimewatch.Time) bool {
	b := &l.overflow
	if b.n == 0 || b.reading || now < b.after || len(l.items)-l.waiting.Len() >= l.s.cfg.PerLane || first != 0 && (b.eager || first <= b.due) {
		return false
	}
	b.reading, b.ended = true, make(map[int64]bool)
	return true
}

// refill takes what is due first from the store. While it reads, nobody is between
// storing a delivery and handing it over, which would send it twice.
func (l *lane) refill() {
	s, most := l.s, l.s.cfg.PerLane
	s.handing.Lock()
	list, err := s.store.PendingDeliveries(s.ctx, l.workspaceID, l.channelID, most)
	s.handing.Unlock()
	now := s.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.signal()
	b := &l.overflow
	ended := b.ended
	b.reading, b.ended = false, nil
	if err != nil {
		if s.ctx.Err() == nil {
			s.log.Error("read the deliveries of a channel", "channel", l.channelID, "err", err)
		}
		b.after = now + rimewatch.Second
		return
	}
	l.letGo(len(l.items) - most/2)
	all := len(list) < most
	for i := range list {
		d := &list[i]
		if l.items[d.ID] != nil || ended[d.ID] || d.Kind == rimewatch.DeliveryTest { // whoever tests sends it
			continue
		}
		if all = all && len(l.items) < most; len(l.items) >= most {
			b.due = d.NextAttemptAt
			break
		}
		b.left()
		b.due = d.NextAttemptAt
		d.Body = nil // it is read when it is sent
		it := newItem(d, now)
		if b.eager {
			d.NextAttemptAt = min(d.NextAttemptAt, now)
		}
		l.items[d.ID] = it
		l.wait(it)
	}
	if all {
		b.n, b.eager = 0, false
	}
}

// putAndHand stores deliveries and hands them to their lanes, with nobody reading the
// store for a lane in between.
func (b *batch) putAndHand(list []*rimewatch.Delivery, mark int64) error {
	b.s.handing.RLock()
	defer b.s.handing.RUnlock()
	if len(list) > 0 || mark != 0 {
		if err := b.put(list, mark); err != nil {
			return err
		}
	}
	b.s.hand(pendingOf(list)...)
	return nil
}
