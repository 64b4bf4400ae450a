package cluster

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"syscall"
)

// network is where the nodes of a test reach each other: within a bubble of synthetic
// time, so that no machine is too busy for them to be heard of in time.
type network struct {
	mu        sync.Mutex
	listeners map[string]*listener     // by address
	cuts      map[string]chan struct{} // addresses where nothing arrives, until it is closed
	cables    []*cable
	n         int
}

// dial is Config.Dial. It is refused where nobody listens.
func (w *network) dial(ctx context.Context, _, address string) (net.Conn, error) {
	w.mu.Lock()
	l := w.listeners[address]
	w.mu.Unlock()
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: syscall.ECONNREFUSED}
	}
	here, there := net.Pipe()
	c := &cable{Conn: here, w: w, address: address, closed: make(chan struct{})}
	if !c.pass(ctx) {
		return nil, ctx.Err()
	}
	select {
	case l.incoming <- there:
		w.mu.Lock()
		w.cables = append(w.cables, c)
		w.mu.Unlock()
		return c, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: syscall.ECONNREFUSED}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// reset breaks all connections to an address.
func (w *network) reset(address string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.cables {
		if c.address == address {
			_ = c.Close()
		}
	}
}

// cut has nothing arrive at an address until heal is called; nobody is told.
func (w *network) cut(address string) (heal func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	healed := make(chan struct{})
	w.cuts[address] = healed
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.cuts, address)
		close(healed)
	}
}

// cable is one end of a connection.
type cable struct {
	net.Conn
	w       *network
	address string
	once    sync.Once
	closed  chan struct{}
}

// pass waits until something can arrive: false when nobody waits for that any more.
func (c *cable) pass(ctx context.Context) bool {
	c.w.mu.Lock()
	healed := c.w.cuts[c.address]
	c.w.mu.Unlock()
	if healed == nil {
		return true
	}
	select {
	case <-healed:
		return true
	case <-c.closed:
	case <-ctx.Done():
	}
	return false
}

// Write implements net.Conn.
func (c *cable) Write(b []byte) (int, error) {
	if !c.pass(context.Background()) {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(b)
}

// Close implements net.Conn.
func (c *cable) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// server is somebody who listens.
type server struct {
	url    string
	refuse func() // new connections
	end    func() // breaks all connections off, as the end of a process does
}

// serve serves at an address of its own.
func (w *network) serve(h http.Handler) *server {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
	l := &listener{address: fmt.Sprintf("node%d:80", w.n), incoming: make(chan net.Conn), closed: make(chan struct{})}
	w.listeners[l.address] = l
	s := &http.Server{Handler: h} //nolint:gosec // only the tests reach it
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(l) })
	refuse := func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.listeners, l.address)
	}
	return &server{url: "http://" + l.address, refuse: refuse, end: sync.OnceFunc(func() {
		refuse()
		_ = s.Close()
		serving.Wait()
	})}
}

// listener is a net.Listener of pipes.
type listener struct {
	address  string
	incoming chan net.Conn
	once     sync.Once
	closed   chan struct{}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.incoming:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return pipe(l.address) }

// pipe is a net.Addr.
type pipe string

// Network implements net.Addr.
func (pipe) Network() string { return "pipe" }

// String implements net.Addr.
func (p pipe) String() string { return string(p) }
