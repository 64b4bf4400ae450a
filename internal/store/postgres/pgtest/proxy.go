package pgtest

import (
	"bytes"
	"net"
	"sync"
	"testing"
)

// Cut is where a proxy cuts a connection.
type Cut int

// The cuts, of the next request that carries a mark.
const (
	BeforeRequest Cut = iota + 1 // the server never hears of it
	MidRequest                   // the server gets half of it
	BeforeAnswer                 // the server does it, nobody hears of that
	HoldRequest                  // the client is cut off, and the server gets the request at Release
	StallRequest                 // the server never hears of it, and nothing passes any more until Resume
)

// Proxy stands between a store and its server.
type Proxy struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	cut   Cut
	mark  []byte
	cuts  int
	held  func()
	stall chan struct{} // nil unless nothing passes until it is closed
	conns map[net.Conn]bool
	work  sync.WaitGroup
}

// NewProxy starts a proxy before a server, until the test ends.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // answers at once
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, target: target, conns: make(map[net.Conn]bool)}
	p.work.Go(p.accept)
	t.Cleanup(p.Close)
	return p
}

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Arm cuts the next request that carries the mark.
func (p *Proxy) Arm(cut Cut, mark string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut, p.mark = cut, []byte(mark)
}

// Cuts is how many connections were cut at a mark.
func (p *Proxy) Cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

// Release gives the server what HoldRequest kept and waits for its answer.
func (p *Proxy) Release() {
	p.mu.Lock()
	held := p.held
	p.held = nil
	p.mu.Unlock()
	if held != nil {
		held()
	}
}

// CutAll cuts every connection that there is.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

// Stall has nothing pass, in either direction, until Resume: nobody is told.
func (p *Proxy) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stall == nil {
		p.stall = make(chan struct{})
	}
}

// Resume ends a Stall.
func (p *Proxy) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stall != nil {
		close(p.stall)
		p.stall = nil
	}
}

// pass waits until something may pass.
func (p *Proxy) pass() {
	p.mu.Lock()
	stall := p.stall
	p.mu.Unlock()
	if stall != nil {
		<-stall
	}
}

// Close ends the proxy.
func (p *Proxy) Close() {
	p.Resume()
	_ = p.listener.Close()
	p.CutAll()
	p.work.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.pass()
		server, err := net.Dial("tcp", p.target) //nolint:noctx // on loopback
		if err != nil {
			_ = client.Close()
			continue
		}
		p.track(true, client, server)
		l := &link{p: p, client: client, server: server}
		p.work.Go(l.requests)
		p.work.Go(l.answers)
	}
}

func (p *Proxy) track(on bool, conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if on {
			p.conns[c] = true
		} else {
			delete(p.conns, c)
			_ = c.Close()
		}
	}
}

// link is one connection through the proxy.
type link struct {
	p              *Proxy
	client, server net.Conn
	mu             sync.Mutex
	mute           bool          // answers are kept from the client
	orphan         chan struct{} // the server lives on without the client until this is closed
}

// match takes the armed cut when a request carries its mark.
func (p *Proxy) match(request []byte) Cut {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut == 0 || !bytes.Contains(request, p.mark) {
		return 0
	}
	cut := p.cut
	p.cut = 0
	p.cuts++
	return cut
}

func (l *link) requests() {
	buf := make([]byte, 256<<10)
	for {
		n, err := l.client.Read(buf)
		if err != nil {
			break
		}
		switch l.p.match(buf[:n]) {
		case BeforeRequest:
			l.close()
			return
		case StallRequest:
			l.p.Stall()
			l.close()
			return
		case MidRequest:
			_, _ = l.server.Write(buf[:n-n/3])
			l.close()
			return
		case BeforeAnswer:
			l.mu.Lock()
			l.mute = true
			l.mu.Unlock()
		case HoldRequest:
			l.hold(bytes.Clone(buf[:n]))
			return
		}
		l.p.pass()
		if _, err := l.server.Write(buf[:n]); err != nil {
			break
		}
	}
	l.mu.Lock()
	mute := l.mute
	l.mu.Unlock()
	if !mute {
		l.close()
	}
}

// hold cuts the client off and keeps the request for Release.
func (l *link) hold(request []byte) {
	l.mu.Lock()
	l.orphan = make(chan struct{})
	done := l.orphan
	l.mu.Unlock()
	l.p.mu.Lock()
	l.p.held = func() {
		_, _ = l.server.Write(request)
		<-done
	}
	l.p.mu.Unlock()
	_ = l.client.Close()
}

// answered reports whether the server says that it is ready again.
func answered(answer []byte) bool {
	n := len(answer)
	return n >= 6 && answer[n-6] == 'Z' && answer[n-2] == 5
}

func (l *link) answers() {
	buf := make([]byte, 256<<10)
	for {
		n, err := l.server.Read(buf)
		l.mu.Lock()
		mute, orphan := l.mute, l.orphan
		l.mu.Unlock()
		ended := err != nil || answered(buf[:n])
		if orphan == nil && !mute && err == nil {
			l.p.pass()
			_, err = l.client.Write(buf[:n])
			ended = err != nil
		}
		if !ended {
			continue
		}
		l.close()
		if orphan != nil {
			close(orphan)
		}
		return
	}
}

func (l *link) close() { l.p.track(false, l.client, l.server) }
