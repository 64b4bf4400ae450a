package shortpath

import (
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// loan is a connection as net/http sees it: the bytes of one request, then
// silence until that is answered, then the next request that is not plain.
type loan struct {
	net.Conn
	c     *conn
	left  int64  // bytes of the request that net/http has not read
	final bool   // the connection is net/http's for good
	idle  bool   // the request is answered
	bad   []byte // what net/http reads first, and refuses

	mu     sync.Mutex
	expire chan struct{} // closed while the read deadline lies in the past
	past   bool          // it does
	back   bool          // a plain request waits: Close returns the connection
	closed bool
}

func newLoan(c *conn, what kind, size int64) *loan {
	l := &loan{Conn: c.raw, c: c, left: size, final: what == final || what == twofold, expire: make(chan struct{})}
	if what == twofold {
		l.bad = twoLengths
	}
	return l
}

// twoLengths stands for a request with a Content-Length and a Transfer-Encoding,
// which two servers may end at two places (RFC 9112, 6.1). net/http would take it as
// chunked; this it refuses with 400, and ends the connection.
var twoLengths = []byte("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n")

// noteIdle hears from net/http, on the goroutine that reads, that a request is
// answered.
func noteIdle(nc net.Conn, state http.ConnState) {
	if l, ok := nc.(*loan); ok && state == http.StateIdle {
		l.idle = true
	}
}

// Read implements net.Conn.
func (l *loan) Read(b []byte) (int, error) {
	if l.left == 0 && !l.final {
		if !l.idle {
			return 0, l.watch()
		}
		if err := l.next(); err != nil {
			return 0, err
		}
	}
	if n := copy(b, l.bad); n > 0 {
		l.bad = l.bad[n:]
		return n, nil
	}
	if l.final {
		return l.drain(b)
	}
	n, err := l.c.in.Read(b[:min(int64(len(b)), l.left)])
	l.left -= int64(n)
	return n, err
}

// watch is what net/http reads while it serves: it wants to know whether the
// client goes away. The next request is not its business yet.
func (l *loan) watch() error {
	if _, err := l.c.in.Peek(1); err != nil {
		return err
	}
	l.mu.Lock()
	expire := l.expire
	l.mu.Unlock()
	<-expire
	return os.ErrDeadlineExceeded
}

// next waits for the next request. It returns io.EOF before one that is for the loop:
// it may begin a loan of its own.
func (l *loan) next() error {
	what, size, err := l.c.next()
	l.c.deadline = time.Time{} // from now on net/http moves it
	if err != nil {
		return err
	}
	if what == plain || what == twofold {
		l.mu.Lock()
		l.back = true
		l.mu.Unlock()
		return io.EOF
	}
	l.idle, l.left, l.final = false, int64(size), what == final
	return l.Conn.SetDeadline(time.Time{})
}

// drain reads what is in the buffer and then the connection itself.
func (l *loan) drain(b []byte) (int, error) {
	if l.c != nil {
		if n := l.c.in.Buffered(); n > 0 {
			return l.c.in.Read(b[:min(len(b), n)])
		}
		l.c = nil
	}
	return l.Conn.Read(b)
}

// SetDeadline implements net.Conn.
func (l *loan) SetDeadline(t time.Time) error {
	if err := l.SetReadDeadline(t); err != nil {
		return err
	}
	return l.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (l *loan) SetReadDeadline(t time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return net.ErrClosed
	}
	l.expired(!t.IsZero() && !t.After(time.Now()))
	return l.Conn.SetReadDeadline(t)
}

// expired notes whether the read deadline has passed. The caller holds mu.
func (l *loan) expired(past bool) {
	switch {
	case past && !l.past:
		close(l.expire)
	case !past && l.past:
		l.expire = make(chan struct{})
	}
	l.past = past
}

// SetWriteDeadline implements net.Conn.
func (l *loan) SetWriteDeadline(t time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return net.ErrClosed
	}
	return l.Conn.SetWriteDeadline(t)
}

// CloseWrite lets net/http end its side first, so that a client that still sends
// sees the answer.
func (l *loan) CloseWrite() error {
	if c, ok := l.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

// Close returns the connection to the loop when a plain request waits on it.
func (l *loan) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	l.expired(true)
	if l.back && l.c.s.enter(l.c) {
		return nil
	}
	return l.Conn.Close()
}
