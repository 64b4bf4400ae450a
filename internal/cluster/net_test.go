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
	listeners map[string]*listener // by address
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
	select {
	case l.incoming <- there:
		return here, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: syscall.ECONNREFUSED}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
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
