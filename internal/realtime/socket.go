package realtime

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/limit"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// conn is a connection as the hub sees it.
type conn interface {
	// Write sends whole frames. It may block, but not for ever. It answers
	// errEnded once a close frame has gone, from either side.
	Write(frames []byte) error
	// Close sends a close frame, waits a little for the peer's and closes. It
	// blocks until then.
	Close(closing)
	// Abort closes at once.
	Abort()
}

// closing is why the service closes a socket.
type closing struct {
	code   int // of WebSocket; 0 = the connection just ends
	reason string
}

// The reasons for closing. Codes from 4000 on are ours.
var (
	closeUnauthenticated = closing{4401, "unauthenticated"}
	closeForbidden       = closing{4403, "forbidden"}
	closeSlow            = closing{4408, "too slow"}
	closeTooMany         = closing{4429, "too many messages"}
	closeRestarting      = closing{1012, "restarting"}
	closeNotText         = closing{1007, "not UTF-8"}
	closeTooBig          = closing{1009, "too large"}
	closeStalled         = closing{0, "takes nothing"}
	closeDead            = closing{0, "no answer"}
	closeByPeer          = closing{0, "by the peer"}
)

// The bounds of a socket's queue.
const (
	// compactFrom is how much may wait before older readings of a device give
	// way to newer ones.
	compactFrom = 4096
	// maxWaitingEvents is more than a replay ever has.
	maxWaitingEvents   = 2 * keptEvents
	maxWaitingReadings = 100_000
	// chunkSize is about the size of one write from a queue of small frames.
	chunkSize = 32 << 10
)

// Pings.
const (
	pingEvery = 25 * time.Second
	maxMissed = 2
)

// pingFrame is a ping without payload.
var pingFrame = []byte{0x89, 0}

// item is one thing that waits to be sent: an event, readings, or a finished
// frame.
type item struct {
	seq     uint64
	event   *event
	reading *reading
	batch   *batch
	picks   []int32 // of the batch; nil = all
	frame   []byte
}

// weight is the number of frames.
func (it *item) weight() int {
	switch {
	case it.batch == nil:
		return 1
	case it.picks == nil:
		return len(it.batch.readings)
	default:
		return len(it.picks)
	}
}

func (it *item) isReading() bool { return it.batch != nil || it.reading != nil }

// socket is one subscriber.
type socket struct {
	room      *room
	conn      conn
	principal account.Principal
	subs      []*subscription // under the room's mu

	mu        sync.Mutex
	queue     []item
	waiting   int // frames in the queue
	compactAt int
	writing   bool
	closed    *closing // set once

	heard  atomic.Bool  // since the last ping
	pinged time.Time    // of the watch
	missed int          // of the watch
	budget limit.Bucket // of messages; of the reader
}

func newSocket(r *room, c conn, p account.Principal, now time.Time) *socket {
	s := &socket{room: r, conn: c, principal: p, pinged: now, compactAt: compactFrom}
	s.heard.Store(true) // it has just opened
	return s
}

func (s *socket) closing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed != nil
}

// over notes that the connection has ended, and why. Nothing is written
// or closed any more.
func (s *socket) over() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed == nil {
		s.closed = &closeByPeer
	}
	return s.closed.reason
}

// wantsEvent reports whether one of the subscriptions is for an event. Under the
// room's mu.
func (s *socket) wantsEvent(e *event) bool {
	for _, sub := range s.subs {
		if sub.channel == e.channel && sub.matchesEvent(e) {
			return true
		}
	}
	return false
}

// wantsReadings returns which of a batch the subscriptions are for: all, or
// picks. Under the room's mu.
func (s *socket) wantsReadings(b *batch) (picks []int32, all bool) {
	var some []*subscription
	for _, sub := range s.subs {
		if sub.channel == readings {
			if sub.open() {
				return nil, true
			}
			some = append(some, sub)
		}
	}
	if len(some) == 0 {
		return nil, false
	}
	for i := range b.readings {
		if slices.ContainsFunc(some, func(sub *subscription) bool { return sub.matches(b.readings[i].device) }) {
			picks = append(picks, int32(i))
		}
	}
	return picks, false
}

// send puts something into the queue. It never blocks.
func (s *socket) send(it item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(it)
	s.begin()
}

// mayReplay reports whether missed events may be queued behind those that wait already. A
// peer that takes nothing and asks again and again is sent to the REST API.
func (s *socket) mayReplay() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting <= maxWaitingReadings
}

// replay queues missed events. They do not count as being slow.
func (s *socket) replay(items []item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil {
		return
	}
	s.queue = append(s.queue, items...)
	s.waiting += len(items)
	s.compactAt = max(s.compactAt, s.waiting+compactFrom)
	s.begin()
}

func (s *socket) put(it item) {
	if s.closed != nil {
		return
	}
	s.queue = append(s.queue, it)
	s.waiting += it.weight()
	if s.waiting <= s.compactAt {
		return
	}
	s.compact()
	events := 0
	for i := range s.queue {
		if !s.queue[i].isReading() {
			events++
		}
	}
	if events > maxWaitingEvents || s.waiting-events > maxWaitingReadings {
		s.end(closeSlow)
	}
	s.compactAt = max(compactFrom, 2*s.waiting)
}

// compact keeps the newest reading of each device and every event. What is kept
// does not hold on to the frames of what is not.
func (s *socket) compact() {
	newest := make(map[int64]*reading)
	note := func(x *reading) {
		if old := newest[x.device.ID]; old == nil || old.value.At <= x.value.At {
			newest[x.device.ID] = x
		}
	}
	kept := make([]item, 0, len(s.queue))
	for i := range s.queue {
		switch it := &s.queue[i]; {
		case it.reading != nil:
			note(it.reading)
		case it.batch == nil:
			kept = append(kept, *it)
		case it.picks == nil:
			for k := range it.batch.readings {
				note(&it.batch.readings[k])
			}
		default:
			for _, k := range it.picks {
				note(&it.batch.readings[k])
			}
		}
	}
	for _, x := range newest {
		kept = append(kept, item{reading: x, seq: x.seq})
	}
	slices.SortStableFunc(kept, func(x, y item) int { return cmp.Compare(x.seq, y.seq) })
	s.room.hub.meter.coalesced(s.waiting - len(kept))
	s.queue, s.waiting = kept, len(kept)
}

// begin starts the writer when it is due. Under mu.
func (s *socket) begin() {
	if !s.writing && len(s.queue) > 0 && s.closed == nil {
		s.writing = true
		s.room.hub.open.Go(s.write)
	}
}

// write sends the queue until it is empty. It is the socket's only writer of
// events, and lives only while there are some.
func (s *socket) write() {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for {
		frames, n, shared := s.take((*buf)[:0])
		if frames == nil {
			return
		}
		err := s.conn.Write(frames)
		if !shared && cap(frames) <= 2*chunkSize {
			*buf = frames // it may have grown
		}
		if errors.Is(err, errEnded) {
			return // whoever closes waits for the peer's close frame. Nobody writes any more
		}
		if err != nil {
			// A part of a frame may be out, so nothing can follow, not even a close
			// frame. Nobody writes any more: writing stays set.
			if errors.Is(err, os.ErrDeadlineExceeded) {
				s.shut(closeStalled)
			}
			s.conn.Abort()
			return
		}
		s.room.hub.meter.sent(n)
	}
}

var buffers = sync.Pool{New: func() any {
	b := make([]byte, 0, 4096)
	return &b
}}

// take returns the next frames to be written, gathered in buf or as they are
// shared with others, and their number; nil when nothing waits or the socket is
// closed.
func (s *socket) take(buf []byte) (frames []byte, n int, shared bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 || s.closed != nil {
		s.writing = false
		s.queue, s.waiting = nil, 0
		return nil, 0, false
	}
	taken := 0
	for taken < len(s.queue) && len(buf) < chunkSize {
		it := &s.queue[taken]
		if it.batch != nil && it.picks == nil && len(it.batch.frames) > chunkSize/4 {
			if taken > 0 {
				break
			}
			frames, n, shared, taken = it.batch.frames, it.weight(), true, 1
			break
		}
		buf = s.room.append(buf, it, s.principal.Locale)
		n += it.weight()
		taken++
	}
	if frames == nil {
		frames = buf
	}
	clear(s.queue[:taken])
	s.queue = s.queue[taken:]
	s.waiting -= n
	if len(s.queue) == 0 {
		s.queue, s.compactAt = nil, compactFrom
	}
	return frames, n, shared
}

// append writes an item's frames for a reader.
func (r *room) append(b []byte, it *item, l rimewatch.Locale) []byte {
	switch {
	case it.event != nil:
		return append(b, it.event.in(l)...)
	case it.reading != nil:
		return appendReading(b, r.past.epoch, it.reading)
	case it.batch == nil:
		return append(b, it.frame...)
	case it.picks == nil:
		return append(b, it.batch.frames...)
	}
	for _, i := range it.picks {
		b = append(b, it.batch.frame(i)...)
	}
	return b
}

// shut closes the socket. It returns at once.
func (s *socket) shut(why closing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end(why)
}

// end closes the socket once; under mu. The queue is not sent any more: the
// client comes back with since.
func (s *socket) end(why closing) {
	if s.closed != nil {
		return
	}
	s.closed = &why
	s.queue, s.waiting = nil, 0
	if why.code == 0 {
		s.room.hub.open.Go(s.conn.Abort)
		return
	}
	s.room.hub.open.Go(func() { s.conn.Close(why) })
}

// refuse ends the socket on behalf of its reader, which waits: once it returns,
// no peer is left to send a close frame.
func (s *socket) refuse(why closing) {
	s.mu.Lock()
	first := s.closed == nil
	if first {
		s.closed, s.queue, s.waiting = &why, nil, 0
	}
	s.mu.Unlock()
	if first {
		s.conn.Close(why)
	}
}

// ping sends a ping when it is due and closes a socket that has left two
// unanswered. Of the watch alone.
func (s *socket) ping(now time.Time) {
	if now.Sub(s.pinged) < pingEvery {
		return
	}
	s.pinged = now
	if s.heard.Swap(false) {
		s.missed = 0
	} else if s.missed++; s.missed >= maxMissed {
		s.shut(closeDead)
		return
	}
	s.send(item{frame: pingFrame})
}

// messages is how many a client may send.
func messages() limit.Rate { return limit.PerMinute(60*messagesPerSecond, messagesBurst) }

const (
	messagesPerSecond = 10
	messagesBurst     = 100
)

// failure is the message that something a client asked for was not done, in the
// language of the subscriber. id is nil when it is not known.
func (s *socket) failure(id *int64, e *rimewatch.Error) {
	e = e.In(phrase.In(s.principal.Locale).Say)
	b := beginFrame(make([]byte, 0, 192))
	b = append(b, `{"op":"error","id":`...)
	b = appendIDOrNull(b, id)
	b = append(b, `,"error":{"code":"`...)
	b = append(b, e.Code...)
	b = append(b, `","message":`...)
	b = wire.AppendString(b, e.Message)
	b = append(b, `,"fields":`...)
	b = wire.AppendFields(b, e.Fields)
	s.send(item{frame: endFrame(append(b, "}}"...), 0), seq: s.room.newestSeq()})
}
