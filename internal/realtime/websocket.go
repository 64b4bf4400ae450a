package realtime

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
)

// Subprotocol is the name in a client's handshake.
const Subprotocol = "rimewatch.v1"

// writeTimeout is how long one write may take: a peer that takes nothing for so
// long is given up.
const writeTimeout = 20 * time.Second

// Serve makes a request a WebSocket of the principal and returns at once, so
// that nothing of the HTTP server is held on to. The request was checked to be
// an upgrade. An error means that nothing was written: CodeRateLimited,
// CodeUnavailable.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, p account.Principal, addr netip.Addr) error {
	if err := h.admit(&p, addr); err != nil {
		return err
	}
	tap := &tap{ResponseWriter: w}
	c := &connection{}
	var s *socket
	ready := make(chan struct{})
	ws, err := websocket.Accept(tap, r, &websocket.AcceptOptions{
		Subprotocols:       []string{Subprotocol},
		InsecureSkipVerify: true, // the API has checked where it comes from
		OnPongReceived: func(context.Context, []byte) {
			<-ready
			if s != nil {
				s.heard.Store(true)
			}
		},
	})
	if err != nil {
		h.leave(&p, addr)
		return nil //nolint:nilerr // Accept has answered
	}
	ws.SetReadLimit(maxMessage)
	c.ws, c.framed = ws, tap.framed
	go func() { // Stop waits for it from attach on; what attach refuses has closed within 5 s
		defer h.leave(&p, addr)
		var ok bool
		s, ok = h.attach(c, p)
		close(ready)
		if !ok {
			c.Close(closeRestarting)
			return
		}
		h.read(s, ws)
	}()
	return nil
}

// read takes the client's messages until the connection ends.
func (h *Hub) read(s *socket, ws *websocket.Conn) {
	defer h.detach(s)
	defer s.conn.Abort()
	if s.principal.Scopes&rimewatch.ScopesRead == 0 {
		s.shut(closeForbidden) // there is nothing that it may hear of
	}
	for {
		kind, text, err := ws.Read(context.Background())
		if errors.Is(err, errTooBig) {
			s.refuse(closeTooBig)
			return
		}
		if err != nil {
			return
		}
		if kind == websocket.MessageText && !utf8.Valid(text) {
			s.refuse(closeNotText)
			return
		}
		if kind != websocket.MessageText {
			s.failure(nil, rimewatch.Errorf(rimewatch.CodeInvalidJSON, "A message is JSON in a text frame."))
			continue
		}
		s.receive(text, time.Now())
	}
}

// connection is a WebSocket. The library reads it and speaks the protocol; the
// hub writes finished frames beside it.
type connection struct {
	ws     *websocket.Conn
	framed *framedConn
}

// Write implements conn.
func (c *connection) Write(frames []byte) error { return c.framed.send(frames) }

// Close implements conn. The library waits 5 s for the peer's close frame.
func (c *connection) Close(why closing) {
	_ = c.ws.Close(websocket.StatusCode(why.code), why.reason)
}

// Abort implements conn.
func (c *connection) Abort() { _ = c.ws.CloseNow() }

// framedConn is a connection on which whole frames take turns.
type framedConn struct {
	net.Conn
	mu     sync.Mutex
	ended  bool       // a close frame went out; under mu
	in     io.Reader  // the bytes that came with the handshake, then the connection
	frames frameWatch // of the reader
}

// errEnded means that the close frame has gone, after which nothing may follow
// (RFC 6455, 5.5.1): browsers take a frame after it for a broken connection, and
// lose the reason with it.
var errEnded = errors.New("the close frame has been sent")

// opClose is the first byte of a close frame (RFC 6455, 5.2).
const opClose = 0x88

// Read is the library's. It fails at the head of a frame that is too large.
func (l *framedConn) Read(b []byte) (int, error) {
	if err := l.frames.see(nil); err != nil { // after such a head nothing is read
		return 0, err
	}
	n, err := l.in.Read(b)
	if e := l.frames.see(b[:n]); e != nil {
		return 0, e
	}
	return n, err
}

// Write is the library's: it writes control frames only, each with one call.
func (l *framedConn) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = l.ended || len(b) > 0 && b[0] == opClose
	return l.Conn.Write(b)
}

// send is the hub's. Its frames may have been taken before the socket was closed:
// after the close frame it answers errEnded and sends nothing.
func (l *framedConn) send(b []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return errEnded
	}
	if err := l.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	_, err := l.Conn.Write(b)
	return err
}

// tap gets hold of the connection under a WebSocket, and gives it smaller
// buffers than an HTTP connection has: clients send little.
type tap struct {
	http.ResponseWriter
	framed *framedConn
}

// The sizes of a connection's buffers. A control frame has 131 bytes at most.
const (
	readBuffer  = 512
	writeBuffer = 256
)

// Hijack implements http.Hijacker.
func (t *tap) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(t.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	early, err := rw.Reader.Peek(rw.Reader.Buffered())
	if err != nil {
		return nil, nil, err
	}
	t.framed = &framedConn{Conn: c, in: io.MultiReader(bytes.NewReader(bytes.Clone(early)), c)}
	r := bufio.NewReaderSize(t.framed, max(readBuffer, len(early)))
	if _, err := r.Peek(len(early)); err != nil && !errors.Is(err, errTooBig) { // the reader meets that one again
		return nil, nil, err
	}
	return t.framed, bufio.NewReadWriter(r, bufio.NewWriterSize(t.framed, writeBuffer)), nil
}
