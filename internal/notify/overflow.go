package notify

import (
	"cmp"
	"slices"

	"github.com/rimewatch/rimewatch"
)

// overflow are the deliveries of a queue that are in the store only. A queue has those that are due first,
// up to a bound, and takes the rest from the store when that is due before what it holds.
type overflow struct {
	n       int            // how many, as far as is known; 0 = the queue holds all that waits
	due     rimewatch.Time // none of them before this
	oldest  rimewatch.Time // when the oldest of them was made
	eager   bool           // the channel works again: none waits for its moment
	reading bool           // the store is being asked
	after   rimewatch.Time // asking has failed: not again before this
	ended   map[int64]bool // deliveries that ended during a query: the result may have them
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

// bound drops the items that are due last when the queue has more than most: half, so that
// it is not done for each. The lane's mu is held.
func (q *queue) bound(most int) {
	if len(q.items) > most {
		q.letGo(len(q.items) - most/2)
	}
}

// letGo drops the n items that are due last. Those under way stay. The lane's mu is locked.
func (q *queue) letGo(n int) {
	if n <= 0 {
		return
	}
	list := slices.SortedFunc(q.waiting.All, func(x, y *item) int { return cmp.Compare(y.Due(), x.Due()) })
	for _, it := range list[:min(n, len(list))] {
		q.waiting.Remove(it)
		delete(q.items, it.ID)
		if q.n == 0 || it.NextAttemptAt < q.due {
			q.due = it.NextAttemptAt
		}
		if q.n == 0 || it.CreatedAt < q.oldest {
			q.oldest = it.CreatedAt
		}
		q.n++
	}
}

// forget takes a delivery that has ended out of the lane. l.mu is held.
func (l *lane) forget(d *rimewatch.Delivery) {
	q := l.queueOf(d)
	it := q.items[d.ID]
	delete(q.items, d.ID)
	if it != nil && l.channelID < 0 {
		l.leave(q, it)
	}
	if q.ended != nil {
		q.ended[d.ID] = true
	}
}

// asks reports whether the store is to be asked now for what comes before the first that
// the queue holds, which is due at a moment, 0 = none. The lane's mu is held.
func (q *queue) asks(first, now rimewatch.Time, most int) bool {
	if q.n == 0 || q.reading || now < q.after || len(q.items)-q.waiting.Len() >= most || first != 0 && (q.eager || first <= q.due) {
		return false
	}
	q.reading, q.ended = true, make(map[int64]bool)
	return true
}

// refill takes the deliveries that are due first from the store. While it reads, nobody is between
// storing a delivery and handing it over, which would send it twice.
func (l *lane) refill(q *queue, urgent bool) {
	s, most := l.s, l.s.cfg.PerLane
	s.handing.Lock()
	list, err := s.store.Outbox().PendingDeliveries(s.ctx, l.workspaceID, l.channelID, urgent, most)
	s.handing.Unlock()
	now := s.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.signal()
	b := &q.overflow
	ended := b.ended
	b.reading, b.ended = false, nil
	if err != nil {
		if s.ctx.Err() == nil {
			s.log.Error("read the deliveries of a channel", "channel", l.channelID, "err", err)
		}
		b.after = now + rimewatch.Second
		return
	}
	q.letGo(len(q.items) - most/2)
	all := len(list) < most
	for i := range list {
		d := &list[i]
		if q.items[d.ID] != nil || ended[d.ID] || d.Kind == rimewatch.DeliveryTest { // whoever tests sends it
			continue
		}
		if all = all && len(q.items) < most; len(q.items) >= most {
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
		q.items[d.ID] = it
		q.wait(it)
	}
	if all {
		b.n, b.eager = 0, false
	}
}

// putAndHand stores deliveries and hands them to their lanes, while no lane reads the
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
