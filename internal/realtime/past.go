package realtime

import (
	"cmp"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// How much a room keeps at most. Beyond it the oldest goes first: of readings
// the newest of each device is still known then.
const (
	keptEvents   = 16_384
	keptReadings = 16_384
)

// past are the recent events of a room, and their numbering.
type past struct {
	epoch string
	seq   uint64 // of the newest event

	events   fifo[*event]
	batches  fifo[[]reading]
	exact    int                // readings in batches
	oneByOne uint64             // later readings than this one are all in batches
	newest   map[int64]*reading // by device

	last  [numChannels]uint64 // newest event of each channel
	floor [numChannels]uint64 // events up to this one may be lost
	marks fifo[mark]
}

// mark is where a room's numbers stood at a moment.
type mark struct {
	at   rimewatch.Time
	last [numChannels]uint64
}

func newPast(epoch string) past {
	return past{epoch: epoch, newest: make(map[int64]*reading)}
}

// next numbers an event of a channel.
func (p *past) next(c channel) uint64 {
	p.seq++
	p.last[c] = p.seq
	return p.seq
}

// skip notes that an event of a channel happened and is not kept.
func (p *past) skip(c channel) { p.floor[c] = p.next(c) }

// keep remembers an event.
func (p *past) keep(e *event) {
	p.events.push(e)
	if p.events.len() > keptEvents {
		old := p.events.pop()
		p.floor[old.channel] = max(p.floor[old.channel], old.seq)
	}
}

// keepReadings remembers readings, which the caller changes no more.
func (p *past) keepReadings(list []reading) {
	p.batches.push(list)
	p.exact += len(list)
	for p.exact > keptReadings && p.batches.len() > 1 {
		p.dropBatch()
	}
	for i := range list {
		x := p.newest[list[i].device.ID]
		if x == nil {
			x = new(reading)
			p.newest[list[i].device.ID] = x
		} else if x.value.At > list[i].value.At {
			continue // a late one
		}
		*x = list[i]
	}
}

func (p *past) dropBatch() {
	old := p.batches.pop()
	p.exact -= len(old)
	p.oneByOne = old[len(old)-1].seq
}

// markEvery is how exactly the replay window ends.
const markEvery = 5 * rimewatch.Second

// forget drops the events before a moment. It is called every second, with
// growing moments.
func (p *past) forget(before rimewatch.Time) {
	now := before + replayWindow
	if n := p.marks.len(); n == 0 || now-p.marks.at(n-1).at >= markEvery {
		p.marks.push(mark{now, p.last})
		for id, x := range p.newest {
			if x.at < before {
				delete(p.newest, id)
			}
		}
	}
	for p.marks.len() > 0 && p.marks.at(0).at < before {
		m := p.marks.pop()
		for c := range m.last {
			p.floor[c] = max(p.floor[c], m.last[c])
		}
	}
	for p.events.len() > 0 && p.events.at(0).at < before {
		old := p.events.pop()
		p.floor[old.channel] = max(p.floor[old.channel], old.seq)
	}
	for p.batches.len() > 0 && p.batches.at(0)[0].at < before {
		p.dropBatch()
	}
}

// covers reports whether everything of a channel after a position is still known:
// for readings, at least the newest of each device.
func (p *past) covers(at position, c channel) bool {
	return at.epoch == p.epoch && at.seq <= p.seq && at.seq >= p.floor[c]
}

// since returns the events that a subscription missed after a number, in order, and may see by
// where the devices stand today.
func (p *past) since(after uint64, sub *subscription, today func(deviceID int64) *store.Identity) []item {
	if sub.channel != readings {
		from, _ := slices.BinarySearchFunc(p.events.list(), after+1, func(e *event, seq uint64) int { return cmp.Compare(e.seq, seq) })
		var out []item
		for _, e := range p.events.list()[from:] {
			// That a device has moved out of sight is for those who may not see it now.
			if sub.channel == e.channel && sub.matchesEvent(e) && (e.movedTo != nil || sub.mayStill(e.device, today)) {
				out = append(out, item{event: e, seq: e.seq})
			}
		}
		if sub.channel == summary && len(out) > 1 {
			out = out[len(out)-1:] // each one says it all
		}
		return out
	}
	return p.readingsSince(after, sub, today)
}

func (p *past) readingsSince(after uint64, sub *subscription, today func(deviceID int64) *store.Identity) []item {
	var out []item
	add := func(x *reading) {
		if x.seq > after && sub.matches(x.device) && sub.mayStill(x.device, today) {
			out = append(out, item{reading: x, seq: x.seq})
		}
	}
	if after >= p.oneByOne {
		for _, list := range p.batches.list() {
			if list[len(list)-1].seq <= after {
				continue
			}
			for i := range list {
				add(&list[i])
			}
		}
		return out
	}
	for _, x := range p.newest {
		copied := *x // it is overwritten by the next
		add(&copied)
	}
	slices.SortFunc(out, func(x, y item) int { return cmp.Compare(x.seq, y.seq) })
	return out
}

// fifo is a queue in a slice.
type fifo[T any] struct {
	all  []T
	head int
}

func (f *fifo[T]) len() int   { return len(f.all) - f.head }
func (f *fifo[T]) at(i int) T { return f.all[f.head+i] }
func (f *fifo[T]) list() []T  { return f.all[f.head:] }
func (f *fifo[T]) push(x T)   { f.all = append(f.all, x) }

func (f *fifo[T]) pop() T {
	var zero T
	x := f.all[f.head]
	f.all[f.head] = zero
	f.head++
	if f.head > 64 && f.head*2 > len(f.all) {
		n := copy(f.all, f.all[f.head:])
		clear(f.all[n:])
		f.all, f.head = f.all[:n], 0
	}
	return x
}
