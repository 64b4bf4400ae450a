package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
)

const (
	// groupsAtOnce is how many groups of a shard are under way: while the owner commits
	// one, the next is with it. What comes meanwhile waits here.
	groupsAtOnce = 2
	// gatherFor is how long a group waits at most until half of those who send are in it.
	gatherFor = 500 * time.Microsecond
	// A group is no larger.
	groupParts = 256
	groupBytes = 256 << 10
)

// Part is one of the requests of a group, or the answer to one.
type Part struct {
	At   rimewatch.Time // of a request: when it was taken in
	Data []byte         // of the group's memory
}

// Answer is where the answer to a request of a group is put.
type Answer interface {
	// Decode takes an answer as Service.ServeGroup made it. It keeps nothing of b.
	Decode(b []byte) error
}

// groups are the small requests for the shards of other nodes, by shard.
type groups struct {
	mu sync.Mutex
	of map[int64]*gathering

	free   sync.Pool // *group, to be used again
	nobody sync.Pool // *asking
}

func (g *groups) init() {
	g.of = make(map[int64]*gathering)
	g.free.New = func() any { return &group{ended: make(chan error, 1)} }
	g.nobody.New = func() any { return &asking{done: make(chan struct{}, 1)} }
}

// gathering are requests that go to the owner of a shard together.
type gathering struct {
	waiting  []*group // only the last has room
	count    int      // requests in them
	running  int      // groups under way
	asked    int      // requests in those that are not answered yet
	answered int      // requests that were, and whose senders may be about to send again
	led      bool     // somebody waits until what waits is worth sending
	worth    chan struct{}
}

// isWorth reports whether half of all who send have come. So there are two groups of
// them in turns, and the owner has one to commit while the senders of the other are on
// their way: with smaller ones it commits more often, which costs more than a group.
func (g *gathering) isWorth() bool { return g.count >= g.asked+g.answered }

// group are requests that go together.
type group struct {
	frame  []byte // as it is sent
	begun  time.Time
	asking []*asking // in the order of the requests
	of     *gathering
	ended  chan error
}

// asking is whoever waits for an answer.
type asking struct {
	into   Answer
	done   chan struct{}
	status int // of a refusal, 0 = into has the answer
	header http.Header
	body   []byte
}

// Grouped has whoever serves a shard answer a request with a reading, together with
// those that come while others are under way: by itself each would cost more than what
// it asks for. The answer is put into into; where there is none, status is not 0 and
// says why.
func (n *Node) Grouped(shard int64, request []byte, into Answer) (status int, header http.Header, body []byte) {
	size := int64(len(request) + requestSize/8)
	defer n.waiting.Add(-size)
	if n.waiting.Add(size) > mostWaiting {
		return n.Failure(unserved())
	}
	a := n.groups.nobody.Get().(*asking)
	*a = asking{into: into, done: a.done}
	at := n.Now()
	n.groups.mu.Lock()
	g := n.groups.of[shard]
	if g == nil {
		g = &gathering{worth: make(chan struct{}, 1)}
		n.groups.of[shard] = g
	}
	g.add(&n.groups.free, at, request, a)
	lead := !g.led && g.running < groupsAtOnce
	switch {
	case lead:
		g.led = true
	case g.led && g.isWorth():
		select {
		case g.worth <- struct{}{}:
		default:
		}
	}
	n.groups.mu.Unlock()
	if lead {
		go n.sendGroups(shard, g) // ends before the last of those who wait for it
	}
	<-a.done
	status, header, body = a.status, a.header, a.body
	*a = asking{done: a.done}
	n.groups.nobody.Put(a)
	return status, header, body
}

// add puts a request into the group that has room.
func (g *gathering) add(free *sync.Pool, at rimewatch.Time, request []byte, a *asking) {
	var last *group
	if n := len(g.waiting); n > 0 {
		last = g.waiting[n-1]
	}
	if last == nil || len(last.asking) == groupParts || len(last.frame) > groupBytes {
		last = free.Get().(*group)
		last.frame, last.asking, last.begun = append(last.frame[:0], make([]byte, questionHead)...), last.asking[:0], time.Now()
		g.waiting = append(g.waiting, last)
	}
	last.frame = appendPart(last.frame, Part{at, request})
	last.asking, last.of = append(last.asking, a), g
	g.count++
	g.answered = max(g.answered-1, 0)
}

// sendGroups sends what waits, and what comes while it does, until others do or nothing
// waits.
func (n *Node) sendGroups(shard int64, g *gathering) {
	for more := true; more; {
		next := n.gather(shard, g)
		if err := n.sendGroup(shard, next); err != nil {
			next.refuse(n, err)
		}
		clear(next.asking)
		n.groups.free.Put(next)
		n.groups.mu.Lock()
		g.running--
		more = !g.led && g.count > 0
		g.led = g.led || more
		n.groups.mu.Unlock()
	}
}

// gather waits until what waits is worth sending, or for long enough, and returns what
// goes.
func (n *Node) gather(shard int64, g *gathering) *group {
	n.groups.mu.Lock()
	defer n.groups.mu.Unlock()
	if !g.isWorth() {
		n.groups.mu.Unlock()
		t := time.NewTimer(gatherFor)
		select {
		case <-g.worth:
		case <-t.C:
		}
		t.Stop()
		n.groups.mu.Lock()
		if !g.isWorth() {
			g.answered = 0 // they do not send again at once
		}
	}
	select { // what comes from now on is for the next
	case <-g.worth:
	default:
	}
	next := g.waiting[0]
	g.waiting = g.waiting[1:]
	g.count -= len(next.asking)
	g.asked += len(next.asking)
	g.running++
	if g.led = g.count > 0 && g.running < groupsAtOnce; g.led {
		go n.sendGroups(shard, g)
	}
	return next
}

// settle notes that a group is about to be answered.
func (n *Node) settle(g *group) {
	n.groups.mu.Lock()
	defer n.groups.mu.Unlock()
	g.of.asked -= len(g.asking)
	g.of.answered += len(g.asking)
}

// sendGroup has a group answered, here or elsewhere, as serve does with a request. An
// error means that nobody was answered.
func (n *Node) sendGroup(shard int64, g *group) error {
	waiting := wait{n: n, over: g.begun.Add(n.cfg.Hold)}
	defer waiting.end()
	before := int64(-1) // the stream of whoever may have carried it out
	for {
		p := n.owner(shard)
		if s, done, here := n.Local(shard, http.MethodPost); here {
			err := n.groupHere(s, g, before >= 0)
			done()
			return err
		}
		if p.base != "" && p.stream > before {
			switch err := n.askGroup(&p, shard, g, before >= 0); {
			case err == nil:
				n.Counts.Forwarded.Add(int64(len(g.asking)))
				return nil
			case !errors.Is(err, errUndone):
				before = p.stream // sent again when somebody else has the shard
			}
		}
		if !waiting.next(context.Background(), p.changed, int64(len(g.frame))) {
			n.Counts.NotServed.Add(1)
			if before >= 0 {
				return unknownOutcome("a group of readings")
			}
			return p.unserved()
		}
	}
}

// groupHere has a group answered that has come to this node's clients.
func (n *Node) groupHere(s Service, g *group, again bool) error {
	parts, err := splitParts(nil, g.frame[questionHead:])
	if err != nil {
		return err
	}
	var b []byte
	s.ServeGroup(parts, again, func(answer []byte) { b = appendPart(b, Part{Data: answer}) })
	if !g.answer(n, b) {
		return unknownOutcome("a group of readings")
	}
	return nil
}

// answer hands out the answers to a group. It reports false, and has done nothing, where
// there is not one for each.
func (g *group) answer(n *Node, b []byte) bool {
	parts, err := splitParts(nil, b)
	if err != nil || len(parts) != len(g.asking) {
		return false
	}
	n.settle(g)
	for i, a := range g.asking {
		if a.into.Decode(parts[i].Data) != nil {
			a.status, a.header, a.body = n.Failure(unknownOutcome("a reading"))
		}
		a.done <- struct{}{}
	}
	return true
}

// refuse answers all of a group in one way.
func (g *group) refuse(n *Node, err error) {
	n.settle(g)
	status, header, body := n.Failure(err)
	for _, a := range g.asking {
		a.status, a.header, a.body = status, header, body
		a.done <- struct{}{}
	}
}

// appendPart appends a part of a group: a moment, a length, and so many bytes.
func appendPart(b []byte, p Part) []byte {
	b = binary.AppendVarint(b, int64(p.At))
	b = binary.AppendUvarint(b, uint64(len(p.Data)))
	return append(b, p.Data...)
}

// splitParts is the opposite of appendPart, for all parts of a group: it appends them.
func splitParts(parts []Part, b []byte) ([]Part, error) {
	for len(b) > 0 {
		at, n := binary.Varint(b)
		if n <= 0 {
			return nil, errBrokenGroup
		}
		b = b[n:]
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return nil, errBrokenGroup
		}
		b = b[n:]
		parts = append(parts, Part{rimewatch.Time(at), b[:size:size]})
		b = b[size:]
	}
	return parts, nil
}

var errBrokenGroup = errors.New("a group of requests breaks off")
