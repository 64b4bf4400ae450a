package realtime

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Store has the methods of a store that the hub calls.
type Store interface {
	DeviceByID(id int64) (rimewatch.DeviceView, bool)
	Identity(deviceID int64) *store.Identity
	ViewAlert(ctx context.Context, a *rimewatch.Alert) (rimewatch.AlertView, error)
	Outbox() store.Outbox
}

// Config of a Hub. Store, Summary and Valid are needed.
type Config struct {
	Store   Store
	Summary func(workspaceID int64) wire.HealthSummary
	// Valid reports whether a principal still stands: CodeUnauthenticated when its
	// token or session has ended, CodeForbidden when it may something else now.
	Valid func(ctx context.Context, p account.Principal, now rimewatch.Time) error
	Now   func() rimewatch.Time // default: the clock of the machine
	Log   *slog.Logger
	// Sockets bounds the sockets of one token or person, and ten times that of
	// one address. 0 = no bound.
	Sockets    int
	Registerer prometheus.Registerer // nil = no metrics
}

// Hub is the middle between the write path and the subscribers. It implements
// ingest.Publisher. Start it before use; Stop it before the server is shut down.
type Hub struct {
	cfg   Config
	log   *slog.Logger
	meter *meter

	live atomic.Int32 // rooms: while there are none, Publish does nothing

	happened happened // events for programs that are not dispatched yet
	queue    queue    // between the writer and the dispatcher
	scratch  queue    // of the dispatcher

	mu        sync.Mutex
	rooms     map[int64]*room
	sockets   map[*socket]struct{}
	perSource map[any]int // sockets by principal and by address
	stopping  bool

	wake    chan struct{}
	ctx     context.Context // of the goroutines
	cancel  context.CancelFunc
	workers sync.WaitGroup
	open    sync.WaitGroup // sockets, and the goroutines that write to or close them
}

// New makes a hub; Start brings it to life.
func New(cfg Config) *Hub {
	if cfg.Now == nil {
		cfg.Now = func() rimewatch.Time { return rimewatch.TimeOf(time.Now()) }
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hub{
		cfg: cfg, log: cfg.Log,
		rooms:   make(map[int64]*room),
		sockets: make(map[*socket]struct{}), perSource: make(map[any]int),
		wake: make(chan struct{}, 1),
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.meter = newMeter(cfg.Registerer, h)
	return h
}

// Start runs the dispatcher and the watch over sockets.
func (h *Hub) Start() {
	h.workers.Go(h.dispatch)
	h.workers.Go(h.watch)
}

// Stop closes all sockets with 1012 and returns when they are closed, which
// takes 5 s at most for peers that do not answer, or when ctx ends. New ones
// are refused.
func (h *Hub) Stop(ctx context.Context) {
	h.mu.Lock()
	if h.stopping {
		h.mu.Unlock()
		return
	}
	h.stopping = true
	all := h.all(nil)
	h.mu.Unlock()
	for _, s := range all {
		s.shut(closeRestarting)
	}
	h.cancel()
	h.workers.Wait()
	closed := make(chan struct{})
	go func() {
		h.open.Wait()
		close(closed)
	}()
	select {
	case <-closed:
	case <-ctx.Done():
		for _, s := range all {
			s.conn.Abort()
		}
		<-closed
	}
}

// all returns the sockets that which accepts, nil = all. Under mu.
func (h *Hub) all(which func(*socket) bool) []*socket {
	list := make([]*socket, 0, len(h.sockets))
	for s := range h.sockets {
		if which == nil || which(s) {
			list = append(list, s)
		}
	}
	return list
}

// Revoke closes the sockets of a token at once. It does not block.
func (h *Hub) Revoke(tokenID int64) {
	h.mu.Lock()
	list := h.all(func(s *socket) bool { return s.principal.TokenID == tokenID })
	h.mu.Unlock()
	for _, s := range list {
		s.shut(closeUnauthenticated)
	}
}

// sourcesOf returns the bounds that a socket counts against.
func sourcesOf(p *account.Principal, addr netip.Addr) (who, where any) {
	type token int64
	type person int64
	type operator struct{}
	switch {
	case p.TokenID != 0:
		who = token(p.TokenID)
	case p.UserID != 0:
		who = person(p.UserID)
	default:
		who = operator{}
	}
	return who, addr
}

// addressFactor is how many tokens' or people's sockets one address may have.
const addressFactor = 10

// admit reserves a place for a socket: CodeRateLimited, CodeUnavailable. Every
// place is given back by leave.
func (h *Hub) admit(p *account.Principal, addr netip.Addr) error {
	who, where := sourcesOf(p, addr)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopping {
		return &rimewatch.Error{Code: rimewatch.CodeUnavailable, Message: "The service is stopping.", RetryAfter: time.Second}
	}
	if n := h.cfg.Sockets; n > 0 && (h.perSource[who] >= n || h.perSource[where] >= n*addressFactor) {
		return &rimewatch.Error{Code: rimewatch.CodeRateLimited, Message: "Too many streams are open.", RetryAfter: 10 * time.Second}
	}
	h.perSource[who]++
	h.perSource[where]++
	return nil
}

// leave returns the places that admit reserved.
func (h *Hub) leave(p *account.Principal, addr netip.Addr) {
	who, where := sourcesOf(p, addr)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, source := range []any{who, where} {
		if h.perSource[source]--; h.perSource[source] <= 0 {
			delete(h.perSource, source)
		}
	}
}

// attach makes a connection a socket of its workspace's room; false when the
// hub is stopping. The caller of attach calls detach once.
func (h *Hub) attach(c conn, p account.Principal) (*socket, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopping {
		return nil, false
	}
	r := h.rooms[p.WorkspaceID]
	if r == nil {
		r = newRoom(p.WorkspaceID, h)
		h.rooms[p.WorkspaceID] = r
		h.live.Store(int32(len(h.rooms)))
	}
	s := newSocket(r, c, p, time.Now())
	h.sockets[s] = struct{}{}
	h.open.Add(1)
	r.join(s)
	return s, true
}

// detach ends a socket whose connection is closed.
func (h *Hub) detach(s *socket) {
	reason := s.over()
	h.mu.Lock()
	delete(h.sockets, s)
	h.mu.Unlock()
	s.room.part(s, h.cfg.Now())
	h.meter.closed(reason)
	h.open.Done()
}

// find returns a workspace's room, nil without subscribers.
func (h *Hub) find(workspaceID int64) *room {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rooms[workspaceID]
}

// eachRoom calls f for every room.
func (h *Hub) eachRoom(f func(*room)) {
	h.mu.Lock()
	list := make([]*room, 0, len(h.rooms))
	for _, r := range h.rooms {
		list = append(list, r)
	}
	h.mu.Unlock()
	for _, r := range list {
		f(r)
	}
}
