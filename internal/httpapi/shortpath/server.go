package shortpath

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Handler answers plain POSTs. It must not keep what q and a hold.
type Handler interface {
	ServePost(q *Request, a *Answer)
}

// Server serves a listener: plain POSTs by the loop, the rest by net/http.
type Server struct {
	http    *http.Server
	handler Handler
	line    []byte        // the request line of a plain POST
	idle    time.Duration // how long a connection may be silent between requests

	mu      sync.Mutex
	conns   map[*conn]struct{} // those in the loop
	closing atomic.Bool
	wg      sync.WaitGroup
	lent    chan net.Conn // connections for net/http
	done    chan struct{}
	addr    net.Addr
}

// New returns a server that answers plain POSTs to path by h and everything else
// by hs, whose ConnState it uses. idle bounds how long a connection may be silent
// between requests.
func New(hs *http.Server, path string, h Handler, idle time.Duration) *Server {
	hs.ConnState = noteIdle
	return &Server{
		http: hs, handler: h, line: []byte("POST " + path + " HTTP/1.1\r\n"), idle: idle,
		conns: make(map[*conn]struct{}), lent: make(chan net.Conn), done: make(chan struct{}),
	}
}

// OverTLS reports whether c, as net/http sees it, is a TLS connection. net/http
// cannot know by itself.
func OverTLS(c net.Conn) bool {
	l, ok := c.(*loan)
	if !ok {
		return false
	}
	_, ok = l.Conn.(*tls.Conn)
	return ok
}

// Serve accepts until Shutdown or Close, closes l, and returns http.ErrServerClosed.
func (s *Server) Serve(l net.Listener) error {
	s.addr = l.Addr()
	inner := make(chan error, 1)
	go func() { inner <- s.http.Serve((*lentListener)(s)) }()
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
	ended := make(chan struct{})
	var closing sync.WaitGroup
	closing.Go(func() {
		select {
		case <-s.done:
		case <-ended:
		}
		_ = l.Close()
	})
	// Accept may return before l is closed: until then the kernel takes connections.
	defer closing.Wait()
	defer close(ended)
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
		if !s.enter(&conn{s: s, raw: c, in: bufio.NewReaderSize(c, bufferSize), remote: remote{Addr: c.RemoteAddr()}, fresh: true}) {
			_ = c.Close()
		}
	}
}

func isTemporary(err error) bool {
	t, ok := errors.AsType[interface {
		error
		Temporary() bool
	}](err)
	return ok && t.Temporary()
}

// enter puts a connection into the loop. It reports false once the server closes.
func (s *Server) enter(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return false
	}
	s.conns[c] = struct{}{}
	s.wg.Go(c.serve)
	return true
}

// leave takes a connection out of the loop.
func (s *Server) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
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
	for c := range s.conns {
		// A loop that waits for a request wakes up; one that serves goes on and
		// finds the server closing.
		_ = c.raw.SetReadDeadline(time.Unix(1, 0))
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
	for c := range s.conns {
		_ = c.raw.Close()
	}
	s.mu.Unlock()
	return s.http.Close()
}

// lentListener hands net/http the connections that are lent.
type lentListener Server

// Accept implements net.Listener.
func (l *lentListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.lent:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *lentListener) Close() error { return nil }

// Addr implements net.Listener.
func (l *lentListener) Addr() net.Addr { return l.addr }
