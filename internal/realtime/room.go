package realtime

import (
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// replayWindow is how long events are kept for clients that come back.
const replayWindow = 10 * rimewatch.Minute

// room is one workspace with subscribers.
type room struct {
	id  int64
	hub *Hub

	mu       sync.Mutex
	sockets  []*socket
	watchers [numChannels]int            // subscriptions
	watched  [numChannels]rimewatch.Time // when the last subscription ended
	emptied  rimewatch.Time              // when the last socket left
	past     past

	gathered  []reading // not numbered yet
	flushedAt time.Time
	pause     time.Duration // before the next flush

	lastSummary wire.HealthSummary // as last sent, without its time
}

func newRoom(id int64, h *Hub) *room {
	// The numbers of another process, or of a room that was given up, mean
	// nothing here.
	return &room{id: id, hub: h, past: newPast(strings.ToLower(rand.Text()[:10]))}
}

func (r *room) join(s *socket) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sockets = append(r.sockets, s)
}

// part takes a socket out whose connection has ended.
func (r *room) part(s *socket, now rimewatch.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.sockets, s); i >= 0 {
		last := len(r.sockets) - 1
		r.sockets[i] = r.sockets[last]
		r.sockets[last] = nil
		r.sockets = r.sockets[:last]
	}
	for _, sub := range s.subs {
		r.unwatch(sub.channel, now)
	}
	s.subs = nil
	if len(r.sockets) == 0 {
		r.emptied = now
	}
}

func (r *room) unwatch(c channel, now rimewatch.Time) {
	r.watchers[c]--
	r.watched[c] = now
}

// wanted reports whether somebody subscribes to a channel or may come back to it.
func (r *room) wanted(c channel, now rimewatch.Time) bool {
	return r.watchers[c] > 0 || r.watched[c] != 0 && now-r.watched[c] < replayWindow
}

// watches is wanted for who does not hold the lock.
func (r *room) watches(c channel, now rimewatch.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wanted(c, now)
}

// skip notes that an event of a channel was not sent.
func (r *room) skip(c channel) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.past.skip(c)
}

// subscribe adds a subscription to a socket and sends the events that it missed.
func (r *room) subscribe(s *socket, sub *subscription, since string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.closing() {
		return // or part may already have counted its subscriptions
	}
	s.subs = append(s.subs, sub)
	r.watchers[sub.channel]++
	at := r.past.seq
	recovered := false
	if p, ok := parseID(since); ok && r.past.covers(p, sub.channel) && s.mayReplay() {
		// Missed events come after this message, so that the position in it
		// is the one before.
		at, recovered = p.seq, true
	}
	s.send(item{frame: r.subscribed(sub, at, recovered), seq: at})
	if recovered {
		s.replay(r.past.since(at, sub, r.hub.cfg.Store.Identity))
	}
}

func (r *room) subscribed(sub *subscription, at uint64, recovered bool) []byte {
	b := beginFrame(make([]byte, 0, 128))
	b = append(b, `{"op":"subscribed","id":`...)
	b = sub.appendID(b)
	b = append(b, `,"channel":"`...)
	b = append(b, channelNames[sub.channel]...)
	b = append(b, `","last_event_id":"`...)
	b = appendID(b, r.past.epoch, at)
	b = append(b, `","recovered":`...)
	if recovered {
		b = append(b, "true}"...)
	} else {
		b = append(b, "false}"...)
	}
	return endFrame(b, 0)
}

// unsubscribe ends a socket's subscription; false when it has none of that id.
func (r *room) unsubscribe(s *socket, id int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(s.subs, func(x *subscription) bool { return x.id == id })
	if i < 0 {
		return false
	}
	r.unwatch(s.subs[i].channel, r.hub.cfg.Now())
	s.subs = slices.Delete(s.subs, i, i+1)
	return true
}

// has reports whether a socket's id is in use, and how many it has.
func (r *room) has(s *socket, id int64) (used bool, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(s.subs, func(x *subscription) bool { return x.id == id }), len(s.subs)
}

// emit numbers an event that is not a reading, and sends it. write, where it is
// not nil, is data in the words of another reader, nil when there is none.
func (r *room) emit(e event, name string, data []byte, write func(rimewatch.Locale) []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.wanted(e.channel, e.at) {
		r.past.skip(e.channel)
		return
	}
	// Readings that were gathered before are older.
	r.send(time.Now())
	e.seq = r.past.next(e.channel)
	epoch := r.past.epoch
	frame := func(data []byte) []byte {
		b := beginFrame(make([]byte, 0, len(data)+192))
		b = appendHead(b, epoch, e.seq, e.channel, name, e.at)
		b = append(b, data...)
		return endFrame(append(b, '}'), 0)
	}
	e.frame = frame(data)
	if write != nil {
		e.own = &inWords{write: func(l rimewatch.Locale) []byte {
			if own := write(l); own != nil {
				return frame(own)
			}
			return nil
		}}
	}
	kept := &e
	r.past.keep(kept)
	for _, s := range r.sockets {
		if s.wantsEvent(kept) {
			s.send(item{event: kept, seq: kept.seq})
		}
	}
}

// gather takes a reading to be sent with the next flush.
func (r *room) gather(x reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.wanted(readings, x.at) {
		r.past.skip(readings)
		return
	}
	r.gathered = append(r.gathered, x)
}

// The cost of sending to a socket, roughly, by which a room paces itself.
const (
	costOfWrite  = 6 * time.Microsecond
	costOfFrame  = 250 * time.Nanosecond
	restPerWork  = 4
	longestPause = 250 * time.Millisecond
	// coalesceAbove is how many readings at one time go out one by one.
	coalesceAbove = 256
)

// flush sends the gathered events when their time has come. It returns how long that
// takes, 0 when nothing waits.
func (r *room) flush(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.gathered) == 0 {
		return 0
	}
	if wait := r.pause - now.Sub(r.flushedAt); wait > 0 {
		return wait
	}
	r.send(now)
	return 0
}

// send numbers, encodes and sends the gathered events.
func (r *room) send(now time.Time) {
	if len(r.gathered) == 0 {
		return
	}
	if len(r.gathered) > coalesceAbove || r.pause >= longestPause/4 {
		r.coalesce()
	}
	n := len(r.gathered)
	list := slices.Clone(r.gathered)
	clear(r.gathered)
	r.gathered = r.gathered[:0]
	for i := range list {
		list[i].seq = r.past.next(readings)
	}
	r.past.keepReadings(list)
	sockets := r.deliver(list)
	r.flushedAt = now
	r.pause = min(longestPause, restPerWork*time.Duration(sockets)*(costOfWrite+time.Duration(n)*costOfFrame))
}

// coalesce keeps the newest reading of each device.
func (r *room) coalesce() {
	before := len(r.gathered)
	r.gathered = newestOf(r.gathered, func(x *reading) (int64, rimewatch.Time) { return x.device.ID, x.value.At })
	r.hub.meter.coalesced(before - len(r.gathered))
}

// deliver hands readings to the sockets that want them and returns how many did.
func (r *room) deliver(list []reading) (n int) {
	if r.watchers[readings] == 0 {
		return 0
	}
	b := &batch{readings: list, ends: make([]int32, len(list))}
	for i := range list {
		b.frames = appendReading(b.frames, r.past.epoch, &list[i])
		if i == 0 {
			b.frames = slices.Grow(b.frames, len(b.frames)*(len(list)-1)*9/8)
		}
		b.ends[i] = int32(len(b.frames))
	}
	last := list[len(list)-1].seq
	for _, s := range r.sockets {
		switch picks, all := s.wantsReadings(b); {
		case all:
			s.send(item{batch: b, seq: last})
			n++
		case len(picks) > 0:
			s.send(item{batch: b, picks: picks, seq: last})
			n++
		}
	}
	return n
}

// tick sends the summary where it has changed and forgets events that are too old. It
// reports whether the room is still needed.
func (r *room) tick(now rimewatch.Time) bool {
	r.mu.Lock()
	watched := r.watchers[summary] > 0
	r.past.forget(now - replayWindow)
	needed := len(r.sockets) > 0 || now-r.emptied < replayWindow
	r.mu.Unlock()
	if watched {
		r.summarize(now)
	}
	return needed
}

func (r *room) summarize(now rimewatch.Time) {
	s := r.hub.cfg.Summary(r.id)
	if s.ComputedAt == 0 {
		s.ComputedAt = now
	}
	plain := s
	plain.ComputedAt = 0
	r.mu.Lock()
	same := plain == r.lastSummary
	r.lastSummary = plain
	r.mu.Unlock()
	if same {
		return
	}
	body, err := wire.AppendJSON([]byte(`{"summary":`), &s)
	if err != nil {
		r.hub.log.Error("encode the summary", "workspace", r.id, "err", err)
		return
	}
	r.emit(event{at: now, channel: summary}, "summary.updated", append(body, '}'), nil)
}

// newestSeq is the number of the newest event.
func (r *room) newestSeq() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.past.seq
}
