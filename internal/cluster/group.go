package cluster

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

const (
	// groupsAtOnce is how many groups of a shard are under way: while so many are, what
	// comes waits for the next one. Of each, the owner commits one and has others wait:
	// with fewer, what waits here misses the commit that it could have been part of.
	groupsAtOnce = 4
	// gatherFor is how long a group that begins beside others waits for more: those who
	// were answered together send again together.
	gatherFor = 300 * time.Microsecond
	// A group is no larger.
	groupParts = 256
	groupBytes = 256 << 10
	pathGroup  = "/cluster/group"
)

// groups are the small requests for the shards of other nodes, by shard.
type groups struct {
	mu sync.Mutex
	of map[int64]*gathering
}

// gathering are requests that go to the owner of a shard together.
type gathering struct {
	waiting []*groupPart
	running int // groups under way
}

// groupPart is one of them.
type groupPart struct {
	at    rimewatch.Time // when it was taken in
	begun time.Time
	data  []byte
	done  chan struct{}

	status int // of the answer; everything from here on is set when done is closed
	header http.Header
	answer []byte
}

// Grouped has whoever serves a shard answer a request with a reading, together with
// those that come while others are under way: by itself each would cost more than what
// it asks for. Without a header the answer is that of Service.ServeGroup, otherwise one
// that says why there is none.
func (n *Node) Grouped(shard int64, data []byte) (status int, header http.Header, answer []byte) {
	p := &groupPart{at: n.Now(), begun: time.Now(), data: data, done: make(chan struct{})}
	size := int64(len(data) + requestSize/8)
	defer n.waiting.Add(-size)
	if n.waiting.Add(size) > mostWaiting {
		return n.Failure(unserved())
	}
	n.groups.mu.Lock()
	g := n.groups.of[shard]
	if g == nil {
		g = &gathering{}
		n.groups.of[shard] = g
	}
	g.waiting = append(g.waiting, p)
	lead := g.running < groupsAtOnce
	others := g.running > 0
	if lead {
		g.running++
	}
	n.groups.mu.Unlock()
	if lead {
		go func() { // ends before the last of those who wait for it
			if others {
				<-time.After(gatherFor)
			}
			n.sendGroups(shard, g)
		}()
	}
	<-p.done
	return p.status, p.header, p.answer
}

// sendGroups sends what waits until nothing does.
func (n *Node) sendGroups(shard int64, g *gathering) {
	for {
		n.groups.mu.Lock()
		parts := g.next()
		if len(parts) == 0 {
			if g.running--; g.running == 0 {
				delete(n.groups.of, shard)
			}
			n.groups.mu.Unlock()
			return
		}
		n.groups.mu.Unlock()
		n.sendGroup(shard, parts)
	}
}

// next takes the requests of the next group off those that wait.
func (g *gathering) next() []*groupPart {
	size, count := 0, 0
	for count < min(len(g.waiting), groupParts) && size < groupBytes {
		size += len(g.waiting[count].data)
		count++
	}
	parts := g.waiting[:count:count]
	g.waiting = g.waiting[count:]
	return parts
}

type groupKey struct{}

// groupOf returns the requests that a request consists of, nil for an ordinary one.
func groupOf(r *http.Request) []*groupPart {
	parts, _ := r.Context().Value(groupKey{}).([]*groupPart)
	return parts
}

// sendGroup has a group answered.
func (n *Node) sendGroup(shard int64, parts []*groupPart) {
	var b []byte
	for _, p := range parts {
		b = appendPart(b, int64(p.at), p.data)
	}
	r := &http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: pathGroup}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: make(http.Header),
		Host: "localhost", ContentLength: int64(len(b)), Body: io.NopCloser(bytes.NewReader(b)),
	}
	w := newRecorded()
	n.serve(w, r.WithContext(context.WithValue(context.Background(), groupKey{}, parts)), shard)
	var answers [][]byte
	if w.status == http.StatusOK {
		var err error
		if answers, _, err = splitParts(w.body); err != nil || len(answers) != len(parts) {
			w = newRecorded()
			n.failUnknown(w, r)
		}
	}
	for i, p := range parts {
		p.status, p.header, p.answer = w.status, w.header, w.body
		if w.status == http.StatusOK {
			p.header, p.answer = nil, answers[i]
		}
		close(p.done)
	}
}

// serveGroup answers a group of a shard that is served here.
func (n *Node) serveGroup(s Service, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, keptBody))
	var parts [][]byte
	var at []int64
	if err == nil {
		parts, at, err = splitParts(body)
	}
	if err != nil {
		n.fail(w, r, rimewatch.Errorf(rimewatch.CodeValidationFailed, "This is no group of requests."))
		return
	}
	again := store.ArrivalOf(r.Context()).Again
	came := make([]store.Arrival, len(parts))
	for i := range came {
		came[i] = store.Arrival{At: rimewatch.Time(at[i]), Again: again}
	}
	var b []byte
	for _, answer := range s.ServeGroup(parts, came) {
		b = appendPart(b, 0, answer)
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(b)
}

// wholeGroup reads the answer to a group to its end: if that does not come, nobody
// knows what became of any of them.
func wholeGroup(resp *http.Response) error {
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	resp.Body = io.NopCloser(bytes.NewReader(b))
	return nil
}

// appendPart appends a part of a group: a number, a length, and so many bytes.
func appendPart(b []byte, number int64, data []byte) []byte {
	b = binary.AppendVarint(b, number)
	b = binary.AppendUvarint(b, uint64(len(data)))
	return append(b, data...)
}

// splitParts is the opposite of appendPart, for all parts of a group.
func splitParts(b []byte) (parts [][]byte, numbers []int64, err error) {
	for len(b) > 0 {
		number, n := binary.Varint(b)
		if n <= 0 {
			return nil, nil, errBrokenGroup
		}
		b = b[n:]
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return nil, nil, errBrokenGroup
		}
		b = b[n:]
		parts, numbers = append(parts, b[:size:size]), append(numbers, number)
		b = b[size:]
	}
	return parts, numbers, nil
}

var errBrokenGroup = errors.New("a group of requests breaks off")
