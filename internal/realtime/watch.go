package realtime

import (
	"context"
	"errors"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

// How often the watch looks at the rooms and pings, and at who still may listen.
const (
	tickEvery  = time.Second
	checkEvery = 500 * time.Millisecond
)

// watch is the goroutine that looks after sockets and rooms.
func (h *Hub) watch() {
	var ticked time.Time
	for range ticker.Every(h.ctx.Done(), checkEvery, nil) {
		h.revalidate(h.ctx)
		now := time.Now()
		if now.Sub(ticked) < tickEvery {
			continue
		}
		ticked = now
		h.tick(now)
	}
}

// tick pings, and looks after the rooms.
func (h *Hub) tick(now time.Time) {
	h.mu.Lock()
	all := h.all(nil)
	h.mu.Unlock()
	for _, s := range all {
		s.ping(now)
	}
	at := h.cfg.Now()
	h.eachRoom(func(r *room) {
		if !r.tick(at) {
			h.drop(r, at)
		}
	})
}

// drop removes a room that is not needed any more.
func (h *Hub) drop(r *room, now rimewatch.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.sockets) == 0 && now-r.emptied >= replayWindow {
		delete(h.rooms, r.id)
		h.live.Store(int32(len(h.rooms)))
	}
}

// revalidate closes the sockets of principals that do not stand any more. Each
// principal is asked about once, however many sockets it has.
func (h *Hub) revalidate(ctx context.Context) {
	h.mu.Lock()
	by := make(map[account.Principal][]*socket)
	for s := range h.sockets {
		by[s.principal] = append(by[s.principal], s)
	}
	h.mu.Unlock()
	now := h.cfg.Now()
	for p, list := range by {
		err := h.cfg.Valid(ctx, p, now)
		if err == nil {
			continue
		}
		why := closeUnauthenticated
		var e *rimewatch.Error
		switch errors.As(err, &e); {
		case e != nil && e.Code == rimewatch.CodeForbidden:
			why = closeForbidden
		case e == nil || e.Code != rimewatch.CodeUnauthenticated:
			// The store could not be asked: that is no reason to hang up.
			h.log.Warn("ask whether a stream may go on", "err", err)
			continue
		}
		for _, s := range list {
			s.shut(why)
		}
	}
}
