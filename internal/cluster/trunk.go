package cluster

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rimewatch/rimewatch"
)

// A trunk is a connection by which plain POSTs of readings go to another node and their
// answers come back, many at a time: passing each on as a request of HTTP takes five times
// the processor time of the reading itself.
//
// It begins as a request to pathTrunk, which is upgraded. Then each side sends frames: how
// many bytes follow (4), the number of the question (8), of a question when it was taken in
// (8), of an answer whether the workspace is there (1), and the question or the answer.
const (
	pathTrunk     = "/trunk"
	trunkProtocol = "rimewatch-trunk"
	frameHead     = 4 + 8
	questionHead  = frameHead + 8
	answerHead    = frameHead + 1
	// mostFrame is more than a plain POST, or the answer to one, has.
	mostFrame = 64 << 10
	// mostQuestions bounds what a node answers at a time on one trunk; the next wait unread.
	mostQuestions = 1024
	trunkBuffer   = 64 << 10
)

var errTrunkBroken = errors.New("the connection to another node is broken")

// Post has the node that serves a workspace answer a plain POST of a reading, and returns
// the answer, as its Service.Post makes it, and the node's host. timed reports whether the
// reading is stored once although it is sent twice.
func (n *Node) Post(workspace int64, request []byte, timed func() bool) (answer []byte, host string, err error) {
	shard, came, again := n.ShardOf(workspace), n.Now(), false
	waiting := wait{n: n, over: time.Now().Add(n.cfg.Hold)}
	defer waiting.end()
	for {
		p := n.owner(shard)
		if s, done, here := n.Local(shard, http.MethodPost); here {
			defer done()
			return s.Post(came, request, nil), n.Host(), nil
		}
		if err := n.inQuarantine(shard); err != nil {
			return nil, "", err
		}
		if p.base != "" {
			answer, err = n.ask(&p, came, request)
			switch {
			case err == nil:
				n.Counts.Forwarded.Add(1)
				return answer, hostOf(p.base), nil
			case errors.Is(err, errUndone):
			case timed():
				if !again {
					again = true
					continue
				}
			default:
				return nil, "", lostReadings("a reading")
			}
		}
		if !waiting.next(context.Background(), p.changed, int64(len(request))) {
			n.Counts.NotServed.Add(1)
			return nil, "", p.unserved()
		}
	}
}

func hostOf(base string) string {
	_, host, _ := strings.Cut(base, "://")
	return host
}

// ask sends a request to another node. An error means that there is no answer, and errUndone that
// nothing was done either.
func (n *Node) ask(p *remote, came rimewatch.Time, request []byte) ([]byte, error) {
	l, err := n.trunkTo(p)
	if err != nil {
		return nil, errors.Join(errUndone, err)
	}
	a := n.askings.Get().(*asking)
	number, ok := l.begin(a)
	if !ok {
		return nil, errUndone
	}
	var head [questionHead]byte
	binary.BigEndian.PutUint32(head[:], uint32(len(request)+questionHead-4)) //nolint:gosec // far less
	binary.BigEndian.PutUint64(head[4:], number)
	binary.BigEndian.PutUint64(head[frameHead:], uint64(came)) //nolint:gosec // and back
	if l.out.write(head[:], request) != nil {
		l.end()
	}
	err = <-a.done
	answer := a.answer
	a.answer = nil
	n.askings.Put(a)
	return answer, err
}

// asking is a POST that waits for its answer.
type asking struct {
	done   chan error
	answer []byte
}

// frames writes frames to a connection; those that come at the same time go together.
type frames struct {
	conn  io.Writer
	limit func() // before each write to conn; nil = none
	wait  atomic.Int64
	mu    sync.Mutex
	b     []byte
}

func (f *frames) write(head, data []byte) (err error) {
	f.wait.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.b = append(append(f.b, head...), data...)
	if f.wait.Add(-1) > 0 && len(f.b) < trunkBuffer {
		return nil // who comes next sends it
	}
	if f.limit != nil {
		f.limit()
	}
	_, err = f.conn.Write(f.b)
	f.b = f.b[:0]
	return err
}

// trunk is this side of a connection to a node that is asked.
type trunk struct {
	conn  io.ReadWriteCloser
	there context.Context //nolint:containedctx // of the node: it can be reached
	out   frames

	mu     sync.Mutex
	asked  map[uint64]*asking
	number uint64
	broken bool
}

// trunkTo returns the trunk to a node, a new one where there is none that holds.
func (n *Node) trunkTo(p *remote) (*trunk, error) {
	m := p.peer
	m.dialing.Lock()
	defer m.dialing.Unlock()
	if m.trunk != nil && m.trunk.there == p.there && !m.trunk.isBroken() {
		return m.trunk, nil
	}
	r, err := http.NewRequestWithContext(p.there, http.MethodPost, p.base+pathTrunk, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set(headerSecret, n.cfg.Secret)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", trunkProtocol)
	n.client.CloseIdleConnections() // where the last one broke, these may be broken, too
	resp, err := n.client.Do(r)
	if err != nil {
		return nil, err
	}
	conn, ok := resp.Body.(io.ReadWriteCloser)
	if resp.StatusCode != http.StatusSwitchingProtocols || !ok {
		_ = resp.Body.Close()
		return nil, errors.New("the node at " + p.base + " answers " + resp.Status)
	}
	l := &trunk{conn: conn, there: p.there, out: frames{conn: conn}, asked: make(map[uint64]*asking)}
	m.trunk = l
	n.work.Go(func() {
		defer context.AfterFunc(p.there, l.end)()
		l.read()
	})
	return l, nil
}

// begin notes that a question is about to be sent; false: the trunk is broken.
func (l *trunk) begin(a *asking) (number uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken {
		return 0, false
	}
	l.number++
	l.asked[l.number] = a
	return l.number, true
}

func (l *trunk) take(number uint64) *asking {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.asked[number]
	delete(l.asked, number)
	return a
}

func (l *trunk) isBroken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}

// end closes the trunk: the outcome of requests under way is unknown.
func (l *trunk) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken {
		return
	}
	l.broken = true
	_ = l.conn.Close()
	for number, a := range l.asked {
		delete(l.asked, number)
		a.done <- errTrunkBroken
	}
}

// read hands answers out until the trunk breaks.
func (l *trunk) read() {
	defer l.end()
	in := bufio.NewReaderSize(l.conn, trunkBuffer)
	for {
		frame, err := readFrame(in, nil, answerHead)
		if err != nil {
			return
		}
		a := l.take(binary.BigEndian.Uint64(frame))
		if a == nil {
			return // the answer to no question
		}
		if frame[8] == 0 {
			a.done <- errUndone
			continue
		}
		a.answer = frame[answerHead-4:]
		a.done <- nil
	}
}

var errFrame = errors.New("this is no frame of a trunk")

// readFrame reads the rest of a frame, after its length, into the memory of the one before.
func readFrame(in *bufio.Reader, frame []byte, head int) ([]byte, error) {
	length, err := in.Peek(4)
	if err != nil {
		return nil, err
	}
	size := int(binary.BigEndian.Uint32(length))
	if size < head-4 || size > mostFrame {
		return nil, errFrame
	}
	_, _ = in.Discard(4) // they are there
	if cap(frame) < size {
		frame = make([]byte, size)
	}
	frame = frame[:size]
	_, err = io.ReadFull(in, frame)
	return frame, err
}

// serveTrunk answers the questions of another node for as long as its connection holds.
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
	out := &frames{conn: conn, limit: func() { _ = conn.SetWriteDeadline(time.Now().Add(lostAfter)) }} // one that is frozen holds no shard up
	in := bufio.NewReaderSize(buffered.Reader, trunkBuffer)
	places := make(chan struct{}, mostQuestions)
	for {
		q := questions.Get().(*question)
		if q.frame, err = readFrame(in, q.frame, questionHead); err != nil {
			return
		}
		places <- struct{}{}
		go func() { // ends with the commit that it waits for
			n.answer(q, conn, out)
			questions.Put(q)
			<-places
		}()
	}
}

// question is a POST that another node has sent.
type question struct{ frame, answer []byte }

var questions = sync.Pool{New: func() any { return new(question) }}

// answer answers a question if its workspace is served here. Whose it is, this node finds
// out for itself.
func (n *Node) answer(q *question, conn net.Conn, out *frames) {
	came := rimewatch.Time(binary.BigEndian.Uint64(q.frame[8:])) //nolint:gosec // and back
	request := q.frame[questionHead-4:]
	q.answer = append(q.answer[:0], make([]byte, answerHead)...)
	workspace, err := n.cfg.OfPost(request)
	if err == nil {
		if s, done, here := n.Local(n.ShardOf(workspace), http.MethodPost); here {
			defer done() // when the answer is sent
			q.answer[answerHead-1] = 1
			q.answer = s.Post(came, request, q.answer)
		}
	}
	binary.BigEndian.PutUint32(q.answer, uint32(len(q.answer)-4)) //nolint:gosec // far less
	copy(q.answer[4:frameHead], q.frame[:8])
	if out.write(q.answer, nil) != nil {
		_ = conn.Close()
	}
}
