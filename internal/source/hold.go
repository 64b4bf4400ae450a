package source

import (
	"context"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

const minute = time.Minute

// holder keeps payloads that wait. Callers that come while another one writes
// share the next write: the first caller that finds no write under way writes for all.
type holder struct {
	store Store

	mu      sync.Mutex
	waiting []*holdRequest
	writing bool
}

type holdRequest struct {
	workspaceID int64
	list        []*rimewatch.Held
	done        chan error
}

// hold returns when the payloads are on stable storage; those that had no room
// have the ID 0.
func (h *holder) hold(ctx context.Context, workspaceID int64, list []*rimewatch.Held) error {
	r := &holdRequest{workspaceID, list, make(chan error, 1)}
	h.mu.Lock()
	h.waiting = append(h.waiting, r)
	lead := !h.writing
	h.writing = true
	h.mu.Unlock()
	if lead {
		h.lead(context.WithoutCancel(ctx))
	}
	return <-r.done
}

// lead writes until no caller waits.
func (h *holder) lead(ctx context.Context) {
	for {
		h.mu.Lock()
		taken := h.waiting
		h.waiting = nil
		if len(taken) == 0 {
			h.writing = false
			h.mu.Unlock()
			return
		}
		h.mu.Unlock()
		together := make(map[int64][]*holdRequest)
		for _, r := range taken {
			together[r.workspaceID] = append(together[r.workspaceID], r)
		}
		for id, requests := range together {
			var list []*rimewatch.Held
			for _, r := range requests {
				list = append(list, r.list...)
			}
			err := h.store.Inlets().Hold(ctx, id, list)
			for _, r := range requests {
				r.done <- err
			}
		}
	}
}

// Run deletes payloads that have waited too long, and saves the uses of keys, until ctx
// ends.
func (s *Service) Run(ctx context.Context) {
	for range ticker.Every(ctx.Done(), minute, nil) {
		s.expire(ctx)
		s.saveUses(ctx)
	}
	s.saveUses(context.WithoutCancel(ctx))
}

func (s *Service) expire(ctx context.Context) {
	const slice = 500
	for {
		n, err := s.cfg.Store.Everywhere().AllHeldBefore(ctx, s.cfg.Now()-rimewatch.HeldFor, slice)
		if err != nil {
			s.cfg.Log.Warn("delete what has waited too long", "err", err)
			return
		}
		s.Counts.expired.Add(int64(n))
		if n < slice {
			return
		}
	}
}
