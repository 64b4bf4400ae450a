package cluster

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// A trunk is a connection by which groups go to another node and their answers come back,
// many at a time: what HTTP does for each request costs more than a group does.
//
// It begins as a request to pathTrunk, which is upgraded. Then each side sends frames: how
// many bytes follow (4), the number of the question (8), of a question the shard (8) and
// whether it was sent before (1), of an answer what became of it (1), and the parts.
const (
	pathTrunk     = "/trunk"
	trunkProtocol = "rimewatch-trunk"
	questionHead  = 4 + 8 + 8 + 1
	answerHead    = 4 + 8 + 1
	mostFrame     = 16 << 20
	trunkBuffer   = 64 << 10
)

// What becomes of a question.
const (
	trunkAnswered = iota
	trunkMoved    // the shard is not there: nothing was done
)

// trunk is this side of a connection to a node that is asked.
type trunk struct {
	conn    io.ReadWriteCloser
	writing sync.Mutex

	mu     sync.Mutex
	asked  map[uint64]*group
	number uint64
	broken bool
}

var errTrunkBroken = errors.New("the connection to another node is broken")

// askGroup has another node answer a group. An error means that nobody was answered, and
// errUndone that nothing was done either.
func (n *Node) askGroup(p *remote, shard int64, g *group, again bool) error {
	l, err := n.trunkTo(p)
	if err != nil {
		return errors.Join(errUndone, err)
	}
	number, ok := l.begin(g)
	if !ok {
		return errUndone
	}
	f := g.frame
	binary.BigEndian.PutUint32(f, uint32(len(f)-4)) //nolint:gosec // far less
	binary.BigEndian.PutUint64(f[4:], number)
	binary.BigEndian.PutUint64(f[12:], uint64(shard)) //nolint:gosec // not negative
	f[20] = 0
	if again {
		f[20] = 1
	}
	l.writing.Lock()
	_, err = l.conn.Write(f)
	l.writing.Unlock()
	if err != nil && l.forget(number) { // not all of it was sent: nobody acts upon less
		l.end()
		return errors.Join(errUndone, err)
	}
	return <-g.ended
}

// trunkTo returns the trunk to a node.
func (n *Node) trunkTo(p *remote) (*trunk, error) {
	m := p.peer
	m.dialing.Lock()
	defer m.dialing.Unlock()
	if m.trunk != nil && m.trunk.there == p.there && !m.trunk.isBroken() {
		return m.trunk.trunk, nil
	}
	r, err := http.NewRequestWithContext(p.there, http.MethodPost, p.base+pathTrunk, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set(headerSecret, n.cfg.Secret)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", trunkProtocol)
	resp, err := n.client.Do(r)
	if err != nil {
		return nil, err
	}
	conn, ok := resp.Body.(io.ReadWriteCloser)
	if resp.StatusCode != http.StatusSwitchingProtocols || !ok {
		_ = resp.Body.Close()
		return nil, errors.New("the node at " + p.base + " answers " + resp.Status)
	}
	l := &trunk{conn: conn, asked: make(map[uint64]*group)}
	m.trunk = &trunkThere{l, p.there}
	n.work.Go(func() {
		defer context.AfterFunc(p.there, l.end)()
		l.read(n)
	})
	return l, nil
}

// trunkThere is a trunk to a node for as long as that can be reached.
type trunkThere struct {
	*trunk
	there context.Context //nolint:containedctx // of the trunk's node
}

// begin notes that a group is about to be sent; false: the trunk is broken.
func (l *trunk) begin(g *group) (number uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken {
		return 0, false
	}
	l.number++
	l.asked[l.number] = g
	return l.number, true
}

// forget takes a group back, where it is not answered yet.
func (l *trunk) forget(number uint64) bool { return l.take(number) != nil }

func (l *trunk) take(number uint64) *group {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.asked[number]
	delete(l.asked, number)
	return g
}

func (l *trunk) isBroken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}

// end breaks the trunk off: nobody knows what became of what is under way.
func (l *trunk) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken {
		return
	}
	l.broken = true
	_ = l.conn.Close()
	for number, g := range l.asked {
		delete(l.asked, number)
		g.ended <- errTrunkBroken
	}
}

// read hands answers out until the trunk breaks.
func (l *trunk) read(n *Node) {
	defer l.end()
	in := bufio.NewReaderSize(l.conn, trunkBuffer)
	var frame []byte
	var err error
	for {
		if frame, err = readFrame(in, frame, answerHead); err != nil {
			return
		}
		g := l.take(binary.BigEndian.Uint64(frame))
		if g == nil {
			return // nobody asked that
		}
		switch {
		case frame[8] == trunkMoved:
			g.ended <- errUndone
		case frame[8] != trunkAnswered || !g.answer(n, frame[9:]):
			g.ended <- errBrokenGroup
		default:
			g.ended <- nil
		}
	}
}

// readFrame reads what follows the length of a frame into the memory of one before.
func readFrame(in *bufio.Reader, frame []byte, head int) ([]byte, error) {
	length, err := in.Peek(4)
	if err != nil {
		return nil, err
	}
	size := int(binary.BigEndian.Uint32(length))
	if size < head-4 || size > mostFrame {
		return nil, errBrokenGroup
	}
	_, _ = in.Discard(4) // they are there
	if cap(frame) < size {
		frame = make([]byte, size, size+size/2)
	}
	frame = frame[:size]
	_, err = io.ReadFull(in, frame)
	return frame, err
}

// serveTrunk answers the groups of another node for as long as its connection holds.
func (n *Node) serveTrunk(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != trunkProtocol {
		http.Error(w, "this address is for trunks", http.StatusUpgradeRequired)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer context.AfterFunc(n.ctx, func() { _ = conn.Close() })()
	defer conn.Close()
	_ = conn.SetDeadline(time.Time{})
	if _, err := io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+trunkProtocol+"\r\n\r\n"); err != nil {
		return
	}
	s := &trunkServer{n: n, conn: conn}
	in := bufio.NewReaderSize(buffered.Reader, trunkBuffer)
	for {
		q := questionPool.Get().(*question)
		if q.frame, err = readFrame(in, q.frame, questionHead); err != nil {
			return
		}
		go func() { // ends with the commit that it waits for
			s.answer(q)
			questionPool.Put(q)
		}()
	}
}

// trunkServer is the side of a trunk that answers.
type trunkServer struct {
	n       *Node
	conn    net.Conn
	writing sync.Mutex
}

// question is a group that another node has sent.
type question struct {
	frame  []byte
	parts  []Part
	answer []byte
}

var questionPool = sync.Pool{New: func() any { return new(question) }}

// answer answers a group, if its shard is served here.
func (s *trunkServer) answer(q *question) {
	number := binary.BigEndian.Uint64(q.frame)
	shard := int64(binary.BigEndian.Uint64(q.frame[8:])) //nolint:gosec // any number; nobody's is served nowhere
	again := q.frame[16] != 0
	b := append(q.answer[:0], make([]byte, answerHead)...)
	service, done, here := s.n.Local(shard, http.MethodPost)
	if here {
		defer done() // when the answer is sent
		var err error
		if q.parts, err = splitParts(q.parts[:0], q.frame[17:]); err != nil {
			_ = s.conn.Close()
			return
		}
		service.ServeGroup(q.parts, again, func(answer []byte) { b = appendPart(b, Part{Data: answer}) })
	} else {
		b[12] = trunkMoved
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4)) //nolint:gosec // far less
	binary.BigEndian.PutUint64(b[4:], number)
	q.answer = b
	s.writing.Lock()
	defer s.writing.Unlock()
	_ = s.conn.SetWriteDeadline(time.Now().Add(lostAfter)) // whoever is frozen holds no shard up
	if _, err := s.conn.Write(b); err != nil {
		_ = s.conn.Close()
	}
}
