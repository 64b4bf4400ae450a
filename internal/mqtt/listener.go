package mqtt

import (
	"container/list"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/inlet"
	"github.com/rimewatch/rimewatch/internal/source"
)

// Receiver stores what came: source.Service.
type Receiver interface {
	ReceiveAll(ctx context.Context, l *source.Live, list []*inlet.Payload) ([]source.Result, error)
}

// Open finds the source that a secret is of: CodeUnauthenticated or CodeForbidden
// when there is none, CodeRateLimited when addr has tried too often. It is asked
// again before anything is stored, so that a secret that was revoked is worth
// nothing.
type Open func(ctx context.Context, secret string, addr netip.Addr) (*source.Live, error)

// ListenerConfig of a Listener. Receiver, Open and Now are needed.
type ListenerConfig struct {
	Receiver Receiver
	Open     Open
	Now      func() rimewatch.Time
	Log      *slog.Logger
	// Connections bounds those at one time, 0 = 50,000. No workspace has more than
	// three quarters of them. A tenth may be about to sign in, half of these from one
	// address: then the oldest of them gives way to a new one.
	Connections int
}

// Counts are figures of a Listener for metrics.
type Counts struct {
	Connections, Messages, Malformed, Refused atomic.Int64
}

// Listener takes in what devices publish.
type Listener struct {
	cfg    ListenerConfig
	Counts Counts

	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup

	mu        sync.Mutex
	stopping  bool
	listeners []net.Listener
	conns     map[*session]bool
	spaces    map[int64]int           // connections of a workspace
	silent    list.List               // of *session: those that have not signed in, the oldest first
	silentOf  map[netip.Addr]int      // how many of an address, or of an IPv6 network
	byName    map[clientName]*session // the newest of a client
	memories  map[clientName]*memory
}

// clientName is a client's own name. Sources and tokens have names of their own:
// none takes over a client of another.
type clientName struct {
	source, token int64
	id            string
}

// NewListener makes a listener that listens nowhere yet.
func NewListener(cfg ListenerConfig) *Listener {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Connections == 0 {
		cfg.Connections = 50_000
	}
	l := &Listener{cfg: cfg, conns: make(map[*session]bool), spaces: make(map[int64]int), silentOf: make(map[netip.Addr]int), byName: make(map[clientName]*session), memories: make(map[clientName]*memory)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// Serve accepts connections until Stop, and returns nil then.
func (l *Listener) Serve(on net.Listener) error {
	l.mu.Lock()
	if l.stopping {
		l.mu.Unlock()
		return on.Close()
	}
	l.listeners = append(l.listeners, on)
	l.mu.Unlock()
	for {
		c, err := on.Accept()
		switch {
		case err == nil:
			l.start(c)
		case l.stopped():
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		default:
			l.cfg.Log.Warn("MQTT: accept", "err", err) // such as too many open files
			time.Sleep(acceptPause)
		}
	}
}

// acceptPause keeps a listener that cannot accept from using up the processor.
const acceptPause = 20 * time.Millisecond

func (l *Listener) stopped() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stopping
}

// start serves a connection, when there is room for it.
func (l *Listener) start(c net.Conn) {
	s := &session{l: l, wire: newWire(c, version311), addr: addrOf(c.RemoteAddr()), ended: make(chan struct{})}
	l.mu.Lock()
	var aside *session
	if !l.stopping {
		aside = l.makeRoom(household(s.addr))
	}
	if l.stopping || len(l.conns) >= l.cfg.Connections {
		l.mu.Unlock()
		l.Counts.Refused.Add(1)
		_ = c.Close()
		return
	}
	l.conns[s] = true
	s.silent = l.silent.PushBack(s)
	l.silentOf[household(s.addr)]++
	l.wait.Add(1)
	l.mu.Unlock()
	if aside != nil {
		l.Counts.Refused.Add(1)
		_ = aside.Close()
	}
	l.Counts.Connections.Add(1)
	go func() {
		defer l.wait.Done()
		defer l.end(s)
		s.serve(l.ctx)
	}()
}

// makeRoom has the oldest connection that has not signed in give way where there are too
// many, from that address or in all; nil = there is room, or none can be made. A device
// signs in within moments, so what stays silent is what goes. The caller closes it. Under mu.
func (l *Listener) makeRoom(addr netip.Addr) *session {
	most := max(2, l.cfg.Connections/10)
	anywhere := l.silent.Len() >= most || len(l.conns) >= l.cfg.Connections
	if !anywhere && l.silentOf[addr] < most/2 {
		return nil
	}
	for e := l.silent.Front(); e != nil; e = e.Next() {
		if s := e.Value.(*session); l.silentOf[addr] < most/2 || household(s.addr) == addr {
			l.unsilence(s)
			delete(l.conns, s)
			return s
		}
	}
	return nil
}

// unsilence counts a connection no more as one that has not signed in. Under mu.
func (l *Listener) unsilence(s *session) {
	if s.silent == nil {
		return
	}
	l.silent.Remove(s.silent)
	s.silent = nil
	addr := household(s.addr)
	if l.silentOf[addr]--; l.silentOf[addr] == 0 {
		delete(l.silentOf, addr)
	}
}

// household is the address range of one customer: an address, or a network of IPv6.
func household(a netip.Addr) netip.Addr {
	if !a.Is6() {
		return a
	}
	p, _ := a.Prefix(64)
	return p.Addr()
}

// Stop ends all connections: what was read is stored and acknowledged first, as
// far as ctx allows.
func (l *Listener) Stop(ctx context.Context) {
	l.mu.Lock()
	l.stopping = true
	for _, on := range l.listeners {
		_ = on.Close()
	}
	for s := range l.conns {
		_ = s.SetReadDeadline(time.Unix(1, 0))
	}
	l.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.wait.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		l.cancel()
		l.mu.Lock()
		for s := range l.conns {
			_ = s.Close()
		}
		l.mu.Unlock()
		<-done
	}
	l.cancel()
}

var errStopping = errors.New("the server stops")

// deadline sets when a read fails, unless the session has to end.
func (l *Listener) deadline(s *session, at time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopping || s.taken.Load() {
		return errStopping
	}
	return s.SetReadDeadline(at)
}

// memory is the state of a client between its connections: the messages at
// QoS 2 were stored and may come again.
type memory struct {
	got  map[uint16]bool
	left rimewatch.Time
}

// Bounds of what is remembered of clients that are not connected.
const (
	maxMemories = 20_000
	remember    = rimewatch.Hour
)

// enter makes s the connection of its client, after the one before has ended. It
// reports whether the client was known. It is refused when its workspace has too
// many connections.
func (l *Listener) enter(s *session, clean bool) (known bool, refused packets.Code) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for old := l.byName[s.name]; old != nil && !l.stopping; old = l.byName[s.name] {
		old.taken.Store(true)
		_ = old.SetReadDeadline(time.Unix(1, 0))
		l.mu.Unlock()
		<-old.ended
		l.mu.Lock()
	}
	space := s.source.Workspace()
	switch {
	case l.stopping:
		return false, packets.ErrServerUnavailable
	case s.silent == nil: // it had to give way
		return false, packets.ErrServerUnavailable
	case l.spaces[space] >= l.cfg.Connections*3/4:
		return false, packets.ErrQuotaExceeded
	}
	l.spaces[space]++
	l.unsilence(s)
	s.entered = true
	l.byName[s.name] = s
	m := l.memories[s.name]
	delete(l.memories, s.name)
	known = m != nil && !clean && l.cfg.Now()-m.left <= remember
	if !known {
		m = &memory{got: make(map[uint16]bool)}
	}
	s.memory = m
	return known, packets.CodeSuccess
}

// end forgets a connection.
func (l *Listener) end(s *session) {
	_ = s.Close()
	l.Counts.Connections.Add(-1)
	l.mu.Lock()
	defer l.mu.Unlock()
	defer close(s.ended)
	delete(l.conns, s)
	l.unsilence(s)
	if !s.entered {
		return
	}
	space := s.source.Workspace()
	if l.spaces[space]--; l.spaces[space] == 0 {
		delete(l.spaces, space)
	}
	delete(l.byName, s.name)
	if s.persistent {
		l.retain(s)
	}
}

// retain remembers a client, when there is room for it.
func (l *Listener) retain(s *session) {
	now := l.cfg.Now()
	if len(l.memories) >= maxMemories {
		for name, m := range l.memories {
			if now-m.left > remember {
				delete(l.memories, name)
			}
		}
	}
	if len(l.memories) < maxMemories {
		s.memory.left = now
		l.memories[s.name] = s.memory
	}
}
