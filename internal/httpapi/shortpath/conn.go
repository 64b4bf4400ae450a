package shortpath

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"
)

// bufferSize holds a whole plain request: a head of a few hundred bytes and a
// body of as many.
const bufferSize = 4096

const (
	firstTimeout = 10 * time.Second // from a connection to its first request
	pieceTimeout = 10 * time.Second // from the first byte of a request to its last
	writeTimeout = 30 * time.Second // for an answer that took long to make

	// deadlineSlack is how stale a connection's deadline may get before it is
	// moved: moving it for every request costs more than parsing one.
	deadlineSlack = 5 * time.Second
)

// conn is a connection in the loop.
type conn struct {
	s        *Server
	raw      net.Conn
	in       *bufio.Reader
	fresh    bool      // no request has come yet
	deadline time.Time // of raw, zero = not known
	req      Request
	remote   remote
	answer   Answer
	out      []byte
	date     []byte // the header's value at dateAt
	dateAt   int64  // s
}

// remote is a client's address, written out when it is first asked for.
type remote struct {
	net.Addr
	text string
}

// String implements net.Addr.
func (r *remote) String() string {
	if r.text == "" {
		r.text = r.Addr.String()
	}
	return r.text
}

func (c *conn) serve() {
	lent := false
	defer func() {
		if v := recover(); v != nil {
			if log := c.s.http.ErrorLog; log != nil {
				log.Printf("panic: %v\n%s", v, debug.Stack())
			}
		}
		if !lent {
			c.s.leave(c)
			_ = c.raw.Close()
		}
	}()
	for {
		what, size, err := c.next()
		if err != nil {
			c.refuse(err)
			return
		}
		if what != plain {
			lent = c.lend(what, int64(size))
			return
		}
		c.answer.Reset()
		c.s.handler.ServePost(&c.req, &c.answer)
		if _, err := c.in.Discard(size); err != nil {
			return
		}
		if err := c.deliver(time.Now()); err != nil || c.answer.Close || c.s.closing.Load() {
			return
		}
	}
}

// notTLS answers a client that speaks HTTP without TLS where TLS is spoken: a device
// that was set up with http:// has no other hint.
const notTLS = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" +
	"This port speaks HTTPS: the address has to begin with https://.\n"

// mostUnread bounds what is read of a request that was refused, so that its client
// sees the answer and not a connection that was reset.
const mostUnread = 64 << 10

// refuse answers a connection that did not come to a request, where it can be.
func (c *conn) refuse(err error) {
	e, ok := errors.AsType[tls.RecordHeaderError](err)
	if !ok || e.Conn == nil || !letters(e.RecordHeader[:]) {
		return
	}
	if log := c.s.http.ErrorLog; log != nil {
		log.Printf("HTTP without TLS from %s", e.Conn.RemoteAddr())
	}
	if _, err := io.WriteString(e.Conn, notTLS); err != nil {
		return
	}
	if w, ok := e.Conn.(interface{ CloseWrite() error }); ok && w.CloseWrite() == nil {
		_, _ = io.CopyN(io.Discard, e.Conn, mostUnread) // until its deadline
	}
}

// letters reports whether what should begin a TLS record begins a request: a method,
// or all of a short one.
func letters(b []byte) bool {
	for i, x := range b {
		if (x < 'A' || x > 'Z') && (i < 3 || x != ' ' && x != '/' && x != '*') {
			return false
		}
	}
	return true
}

// kind is who serves a request.
type kind int

const (
	incomplete kind = iota // more of it has to come
	plain                  // the loop
	odd                    // net/http, which hands the connection back
	final                  // net/http, which keeps the connection
	twofold                // nobody: it has a Content-Length and a Transfer-Encoding
)

// next waits for a request and returns whose it is and its size. A plain one lies
// in the buffer as a whole and in c.req; of an odd one at least the head does.
func (c *conn) next() (kind, int, error) {
	if err := c.allow(); err != nil {
		return 0, 0, err
	}
	need, hurried := 1, c.fresh
	for {
		if _, err := c.in.Peek(need); err != nil {
			return 0, 0, err
		}
		buf, err := c.in.Peek(c.in.Buffered())
		if err != nil {
			return 0, 0, err
		}
		// RFC 9112, 2.2: empty lines before a request line are skipped.
		if blank := emptyLines(buf); blank > 0 {
			if _, err := c.in.Discard(blank); err != nil {
				return 0, 0, err
			}
			need = 1
			continue
		}
		what, size := c.look(buf)
		if what != incomplete {
			c.fresh = false
			return what, size, nil
		}
		need = size
		if !hurried {
			// A request has begun and did not come in one piece.
			hurried, c.deadline = true, time.Time{}
			if err := c.raw.SetReadDeadline(time.Now().Add(pieceTimeout)); err != nil {
				return 0, 0, err
			}
		}
	}
}

// allow gives the connection its time to wait for a request. It bounds writing,
// too: a client that never reads is cut off.
func (c *conn) allow() error {
	most := c.s.idle
	if c.fresh {
		most = min(most, firstTimeout)
	}
	now := time.Now()
	if left := c.deadline.Sub(now); left >= most-deadlineSlack && left <= most {
		return nil
	}
	c.deadline = now.Add(most)
	if err := c.raw.SetDeadline(c.deadline); err != nil {
		return err
	}
	if c.s.closing.Load() { // its deadline may have been the one before ours
		return http.ErrServerClosed
	}
	return nil
}

func emptyLines(buf []byte) (n int) {
	for bytes.HasPrefix(buf[n:], crlf) {
		n += len(crlf)
	}
	return n
}

// look recognizes a request by what has come of it. When that is not enough, size is
// how much is needed to look again.
func (c *conn) look(buf []byte) (what kind, size int) {
	end := bytes.Index(buf, endOfHead)
	if end < 0 {
		line := bytes.IndexByte(buf, '\n')
		switch {
		case len(buf) >= bufferSize, line >= 0 && !requestLine(buf[:line+1]):
			return final, 0
		default:
			return incomplete, len(buf) + 1
		}
	}
	head := buf[:end+len(crlf)]
	if rest, ok := bytes.CutPrefix(head, c.s.line); ok && c.req.parse(rest) {
		if size = end + len(endOfHead) + c.req.length; size <= bufferSize {
			if len(buf) < size {
				return incomplete, size
			}
			c.req.Body = buf[size-c.req.length : size]
			c.req.Remote = &c.remote
			return plain, size
		}
	}
	what, length := framed(head)
	if what != odd {
		return what, 0
	}
	return odd, end + len(endOfHead) + length
}

// lend hands net/http the connection for a request of so many bytes, or for good.
// It reports false when the server closes.
func (c *conn) lend(what kind, size int64) bool {
	_ = c.raw.SetDeadline(time.Time{})
	c.deadline = time.Time{}
	c.s.leave(c) // now: it may be back before the select has ended
	select {
	case c.s.lent <- newLoan(c, what, size):
		return true
	case <-c.s.done:
		return false
	}
}

// deliver writes the answer. Whoever waited long for it is not to blame: what is
// left of the connection's deadline is not all that it has.
func (c *conn) deliver(now time.Time) error {
	if c.deadline.Sub(now) < deadlineSlack {
		if err := c.raw.SetWriteDeadline(now.Add(writeTimeout)); err != nil {
			return err
		}
	}
	_, err := c.raw.Write(c.render(now))
	return err
}

// render returns the bytes of the answer.
func (c *conn) render(now time.Time) []byte {
	a := &c.answer
	b := append(c.out[:0], "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(a.Status), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(a.Status)...)
	b = append(b, "\r\n"...)
	b = append(b, a.head...)
	if a.Close {
		b = append(b, "Connection: close\r\n"...)
	}
	b = append(b, "Date: "...)
	if now.Unix() != c.dateAt {
		c.date, c.dateAt = now.UTC().AppendFormat(c.date[:0], http.TimeFormat), now.Unix()
	}
	b = append(b, c.date...)
	b = append(b, "\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(a.Body)), 10)
	b = append(b, "\r\n\r\n"...)
	c.out = append(b, a.Body...)
	return c.out
}

// Answer is the answer to a plain POST.
type Answer struct {
	Status int
	Body   []byte // memory of the last answer, for reuse
	Close  bool   // it is the connection's last
	head   []byte
}

// Header adds a header line. The name is in canonical form; Date and
// Content-Length are the loop's.
func (a *Answer) Header(name, value string) {
	a.head = append(a.head, name...)
	a.head = append(a.head, ": "...)
	a.head = append(a.head, value...)
	a.head = append(a.head, "\r\n"...)
}

// Reset forgets an answer but not its memory.
func (a *Answer) Reset() { *a = Answer{Body: a.Body[:0], head: a.head[:0]} }
