package realtime

import (
	"sync"

	"github.com/rimewatch/rimewatch"
	programs "github.com/rimewatch/rimewatch/internal/event"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// happened is which events for programs are not dispatched yet, by workspace. They are in
// the store: a hub that is behind forgets none.
type happened struct {
	mu    sync.Mutex
	spans map[int64]span
}

// span is (after, through].
type span struct{ after, through int64 }

// Happened hears of commits with events, in order. It returns at once.
func (h *Hub) Happened(rows []store.EventRow) {
	if h.live.Load() == 0 {
		return
	}
	h.happened.mu.Lock()
	for _, row := range rows {
		s, waits := h.happened.spans[row.WorkspaceID]
		if !waits {
			s.after = row.First - 1
		}
		s.through = row.Last
		if h.happened.spans == nil {
			h.happened.spans = make(map[int64]span)
		}
		h.happened.spans[row.WorkspaceID] = s
	}
	h.happened.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default: // it is awake
	}
}

// eventRows is how many commits' events are read at once.
const eventRows = 100

// tellEvents brings events for programs into the rooms.
func (h *Hub) tellEvents() {
	h.happened.mu.Lock()
	spans := h.happened.spans
	h.happened.spans = nil
	h.happened.mu.Unlock()
	for workspaceID, s := range spans {
		r := h.find(workspaceID)
		if r == nil {
			continue
		}
		if !r.watches(events, h.cfg.Now()) {
			r.skip(events)
			continue
		}
		for s.after < s.through && h.ctx.Err() == nil {
			list, err := h.cfg.Store.Outbox().Events(h.ctx, workspaceID, s.after, eventRows)
			if err != nil || len(list) == 0 {
				r.skip(events) // clients that come back learn that something may be missing
				if err != nil {
					h.log.Error("events for the stream", "workspace", workspaceID, "err", err)
				}
				break
			}
			for i := range list {
				h.tellEvent(r, &list[i])
			}
			s.after = list[len(list)-1].Number
		}
	}
}

func (h *Hub) tellEvent(r *room, e *rimewatch.Event) {
	write := func(l rimewatch.Locale) []byte {
		x, err := programs.Write(h.ctx, h.cfg.Store, e, l)
		if err == nil {
			var body []byte
			if body, err = wire.AppendJSON([]byte(`{"event":`), x); err == nil {
				return append(body, '}')
			}
		}
		h.log.Error("encode an event", "event", e.ID(), "err", err)
		return nil
	}
	body := write(rimewatch.Locale{})
	if body == nil {
		r.skip(events)
		return
	}
	if e.Alert == nil { // it has no sentences
		write = nil
	}
	r.emit(event{at: e.At, channel: events, what: e.Type, device: &store.Identity{WorkspaceID: e.WorkspaceID, SiteID: e.SiteID}}, string(e.Type), body, write)
}
