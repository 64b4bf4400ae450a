package submit

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// Server serves the API on a listener. Devices that post one plain reading
// after the other, the bulk of all requests, are served by a short loop of our
// own: parse, store, answer, one read and one write each. The loop only ever
// answers a reading that was stored. Whatever else a connection brings (another
// route, an unusual header, a request that is refused, one that is larger than
// the buffer) is not consumed but handed to net/http with the connection, which
// keeps it from then on. So there is one implementation of every rule, and the
// loop is only a shorter way to the commonest answer.
type Server struct {
	api  *httpapi.API
	in   *Readings
	http *http.Server
	idle time.Duration // how long a connection may take for its next request

	mu      sync.Mutex
	conns   map[*laneConn]struct{}
	closing atomic.Bool
	wg      sync.WaitGroup
	handed  chan net.Conn // connections for net/http
	done    chan struct{}
	addr    net.Addr
}

// laneBuffer holds a whole request: headers of a few hundred bytes and a
// reading of as many.
const laneBuffer = 4096

// deadlineSlack is how stale a connection's deadline may get before it is
// moved: moving it for every request costs more than parsing one.
const deadlineSlack = 5 * time.Second

// NewServer serves the API through hs, whose handler it sets. idle bounds how long
// a connection may be silent or slow.
func (g *Readings) NewServer(hs *http.Server, idle time.Duration) *Server {
	hs.Handler = g.api
	hs.ConnContext = markTLS
	return &Server{api: g.api, in: g, http: hs, idle: idle, conns: make(map[*laneConn]struct{}), handed: make(chan net.Conn), done: make(chan struct{})}
}

// markTLS tells requests about TLS, which net/http cannot see below a
// handedConn.
func markTLS(ctx context.Context, c net.Conn) context.Context {
	if h, ok := c.(*handedConn); ok {
		if _, ok := h.Conn.(*tls.Conn); ok {
			return httpapi.OverTLS(ctx)
		}
	}
	return ctx
}

// Serve accepts until Shutdown or Close; then it returns http.ErrServerClosed.
func (s *Server) Serve(l net.Listener) error {
	s.addr = l.Addr()
	inner := make(chan error, 1)
	go func() { inner <- s.http.Serve((*handedListener)(s)) }()
	err := s.accept(l)
	if s.closing.Load() {
		err = http.ErrServerClosed
	} else {
		s.stopAccepting()
	}
	return errors.Join(err, ignoreClosed(<-inner))
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (s *Server) accept(l net.Listener) error {
	stop := context.AfterFunc(doneContext{s.done}, func() { _ = l.Close() })
	defer stop()
	wait := 5 * time.Millisecond
	for {
		c, err := l.Accept()
		if err != nil {
			// Out of descriptors and the like pass; a closed listener does not.
			var ne net.Error
			if errors.As(err, &ne) && ne.Timeout() || isTemporary(err) {
				select {
				case <-time.After(wait):
				case <-s.done:
				}
				wait = min(2*wait, time.Second)
				continue
			}
			return err
		}
		wait = 5 * time.Millisecond
		lc := &laneConn{s: s, c: c}
		s.mu.Lock()
		if s.closing.Load() {
			s.mu.Unlock()
			_ = c.Close()
			continue
		}
		s.conns[lc] = struct{}{}
		s.wg.Add(1)
		s.mu.Unlock()
		go lc.serve()
	}
}

// doneContext is a channel as a context.
type doneContext struct{ done <-chan struct{} }

func (doneContext) Deadline() (time.Time, bool) { return time.Time{}, false }
func (d doneContext) Done() <-chan struct{}     { return d.done }
func (doneContext) Value(any) any               { return nil }
func (d doneContext) Err() error {
	select {
	case <-d.done:
		return context.Canceled
	default:
		return nil
	}
}

func isTemporary(err error) bool {
	t, ok := errors.AsType[interface {
		error
		Temporary() bool
	}](err)
	return ok && t.Temporary()
}

func (s *Server) stopAccepting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing.Swap(true) {
		close(s.done)
	}
}

// Shutdown accepts nothing more, lets running requests end and closes idle
// connections.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopAccepting()
	s.mu.Lock()
	for lc := range s.conns {
		// A loop that waits for a request wakes up; one that serves goes on and
		// finds the server closing.
		_ = lc.c.SetReadDeadline(time.Unix(1, 0))
	}
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	return s.http.Shutdown(ctx)
}

// Close ends everything at once.
func (s *Server) Close() error {
	s.stopAccepting()
	s.mu.Lock()
	for lc := range s.conns {
		_ = lc.c.Close()
	}
	s.mu.Unlock()
	return s.http.Close()
}

// handedListener gives net/http the connections that the loop gives up.
type handedListener Server

func (l *handedListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.handed:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *handedListener) Close() error   { return nil }
func (l *handedListener) Addr() net.Addr { return l.addr }

// handedConn is a connection whose first bytes were read already.
type handedConn struct {
	net.Conn
	r *bufio.Reader
}

func (c *handedConn) Read(b []byte) (int, error) {
	if c.r != nil {
		if c.r.Buffered() > 0 {
			return c.r.Read(b[:min(len(b), c.r.Buffered())])
		}
		c.r = nil
	}
	return c.Conn.Read(b)
}

// laneConn is one connection in the loop.
type laneConn struct {
	s        *Server
	c        net.Conn
	deadline time.Time
	token    string // of the last request: devices send the same one each time
	out      []byte
	req      laneRequest
}

func (lc *laneConn) serve() {
	handed := false
	r := bufio.NewReaderSize(lc.c, laneBuffer)
	defer func() {
		if v := recover(); v != nil {
			lc.s.api.Log().Error("panic", "value", v)
		}
		lc.s.mu.Lock()
		delete(lc.s.conns, lc)
		lc.s.mu.Unlock()
		if !handed {
			_ = lc.c.Close()
		}
		lc.s.wg.Done()
	}()
	for {
		size, err := lc.next(r)
		if err != nil {
			return
		}
		if size > 0 && lc.store() {
			if _, err := r.Discard(size); err != nil {
				return
			}
			if _, err := lc.c.Write(lc.out); err != nil || lc.s.closing.Load() {
				return
			}
			continue
		}
		_ = lc.c.SetDeadline(time.Time{})
		select {
		case lc.s.handed <- &handedConn{Conn: lc.c, r: r}:
			handed = true
		case <-lc.s.done:
		}
		return
	}
}

// next waits for a request. It gives the size of one that the loop can serve
// and that lies in the buffer, or 0 for any other.
func (lc *laneConn) next(r *bufio.Reader) (int, error) {
	if now := time.Now(); lc.deadline.Sub(now) < lc.s.idle-deadlineSlack {
		lc.deadline = now.Add(lc.s.idle)
		// It bounds writing, too: a client that never reads is cut off.
		if err := lc.c.SetDeadline(lc.deadline); err != nil {
			return 0, err
		}
		if lc.s.closing.Load() { // its deadline may have been the one before ours
			return 0, http.ErrServerClosed
		}
	}
	need, hurried := 1, false
	for {
		if _, err := r.Peek(need); err != nil {
			return 0, err
		}
		buf, err := r.Peek(r.Buffered())
		if err != nil {
			return 0, err
		}
		head := bytes.Index(buf, endOfHeaders)
		switch {
		case head < 0 && !bytes.HasPrefix(laneLine, buf[:min(len(buf), len(laneLine))]):
			return 0, nil
		case head < 0:
			need = len(buf) + 1
		case !lc.req.parse(buf[:head+2]):
			return 0, nil
		default:
			size := head + len(endOfHeaders) + lc.req.length
			if len(buf) >= size {
				lc.req.body = buf[size-lc.req.length : size]
				return size, nil
			}
			need = size
		}
		if need > laneBuffer {
			return 0, nil
		}
		if !hurried {
			// A request has begun and did not come in one piece.
			hurried, lc.deadline = true, time.Time{}
			if err := lc.c.SetReadDeadline(time.Now().Add(pieceTimeout)); err != nil {
				return 0, err
			}
		}
	}
}

// pieceTimeout is how long a request may take from its first byte to its last.
const pieceTimeout = 10 * time.Second

var (
	endOfHeaders = []byte("\r\n\r\n")
	laneLine     = []byte("POST " + httpapi.Prefix + singlePath + " HTTP/1.1\r\n")
)

// laneRequest is what the loop needs of a request. The slices point into the
// connection's buffer.
type laneRequest struct {
	token  []byte
	id     []byte // what the client calls the request, nil = nothing
	body   []byte
	length int
}

// parse reads request line and headers. False means that net/http has to.
func (q *laneRequest) parse(head []byte) bool {
	*q = laneRequest{length: -1}
	rest, ok := bytes.CutPrefix(head, laneLine)
	if !ok {
		return false
	}
	host, json := false, false
	for len(rest) > 0 {
		i := bytes.IndexByte(rest, '\n')
		if i < 1 || rest[i-1] != '\r' {
			return false
		}
		line := rest[:i-1]
		rest = rest[i+1:]
		colon := bytes.IndexByte(line, ':')
		if colon < 1 {
			return false
		}
		value := bytes.Trim(line[colon+1:], " ")
		if !plainText(value) {
			return false
		}
		switch name := line[:colon]; {
		case is(name, "host"):
			if host || len(value) == 0 {
				return false
			}
			host = true
		case is(name, "authorization"):
			if q.token != nil || len(value) < 8 || !is(value[:7], "bearer ") {
				return false
			}
			q.token = bytes.Trim(value[7:], " ")
		case is(name, "content-type"):
			if json || !is(value, httpapi.TypeJSON) {
				return false
			}
			json = true
		case is(name, "content-length"):
			n, ok := smallNumber(value)
			if q.length >= 0 || !ok {
				return false
			}
			q.length = n
		case is(name, "x-request-id"):
			if q.id != nil || !httpapi.SaneID(string(value)) {
				return false
			}
			q.id = value
		case is(name, "connection"):
			if !is(value, "keep-alive") {
				return false
			}
		case is(name, "user-agent"), is(name, "accept"), is(name, "accept-encoding"), is(name, "accept-language"),
			is(name, "x-forwarded-for"), is(name, "x-forwarded-proto"), is(name, "x-forwarded-host"), is(name, "x-real-ip"):
			// They change nothing about a reading that is stored.
		default:
			return false
		}
	}
	return host && json && q.token != nil && q.length > 0
}

// is compares without case; want is in lower case.
func is(b []byte, want string) bool {
	if len(b) != len(want) {
		return false
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != want[i] {
			return false
		}
	}
	return true
}

// plainText tells whether a header value is visible ASCII and spaces.
func plainText(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

func smallNumber(b []byte) (int, bool) {
	if len(b) == 0 || len(b) > 4 {
		return 0, false
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// store stores the reading of the request and leaves the whole answer in out.
// False means that nothing was answered: net/http goes through the request
// again and says why.
func (lc *laneConn) store() bool {
	start := time.Now()
	a := lc.s.api
	g := lc.s.in
	now := a.Now()
	if string(lc.req.token) != lc.token {
		lc.token = string(lc.req.token)
	}
	ctx := context.Background()
	p, err := a.Auth().Authenticate(ctx, lc.token, now)
	if err != nil || !p.Scopes.Has(rimewatch.ScopeReadingsWrite) {
		return false
	}
	s := g.single.Get().(*singleScratch)
	status, e := g.Single(ctx, &p, now, lc.req.body, &s.Scratch)
	if e != nil {
		return false // s is not used again
	}
	lc.answer(status, s)
	if cap(s.Out) <= maxKept {
		g.single.Put(s)
	}
	g.singleMeter.Observe(status, time.Since(start))
	return true
}

func (lc *laneConn) answer(status int, s *singleScratch) {
	b := lc.out[:0]
	if status == http.StatusCreated {
		b = append(b, "HTTP/1.1 201 Created\r\n"...)
	} else {
		b = append(b, "HTTP/1.1 200 OK\r\n"...)
	}
	b = append(b, "Content-Type: "+httpapi.TypeJSON+"\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nX-Request-Id: "...)
	if lc.req.id != nil {
		b = append(b, lc.req.id...)
	} else {
		b = append(b, lc.s.api.RequestID(nil)...)
	}
	if l := lc.s.api.DeviceLimit; l.Every != 0 && s.Left >= 0 {
		b = append(b, "\r\nRatelimit-Policy: "...)
		b = append(b, l.Policy[0]...)
		b = append(b, "\r\nRatelimit: "...)
		b = append(b, l.Left[s.Left][0]...)
	}
	b = append(b, "\r\nDate: "...)
	b = time.Now().UTC().AppendFormat(b, http.TimeFormat)
	b = append(b, "\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(s.Out)), 10)
	b = append(b, "\r\n\r\n"...)
	lc.out = append(b, s.Out...)
}
