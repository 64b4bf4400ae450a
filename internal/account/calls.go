package account

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rimewatch/rimewatch"
)

// Bounds of the requests of tokens that wait to be written: about 2 MB.
const (
	waitingCalls   = 5000 // of all tokens
	waitingRefused = 100  // of a token
	waitingGood    = 20   // of a token
)

// goodSlots is how many counters there are for the requests that are not refused. Tokens that share one have each
// hundredth of both.
const goodSlots = 1 << 10

// calls gathers the requests of tokens until Flush writes them.
type calls struct {
	good [goodSlots]atomic.Uint32

	mu      sync.Mutex
	waiting map[int64]*tokenCalls
	n       int
}

type tokenCalls struct{ refused, good []rimewatch.TokenCall }

// Counts counts a request of a token that was not refused, and reports whether it is one that is kept. It costs the
// way of a reading one addition.
func (c *calls) Counts(p *Principal) bool {
	return p.TokenID != 0 && c.good[p.TokenID%goodSlots].Add(1)%rimewatch.TokenCallOf == 0
}

// Called keeps a request of a token. Where there is no room for another one, one like it counts for both.
func (c *calls) Called(x rimewatch.TokenCall) {
	x.Times = 1
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.waiting[x.TokenID]
	if t == nil {
		if c.n >= waitingCalls {
			return
		}
		if c.waiting == nil {
			c.waiting = make(map[int64]*tokenCalls)
		}
		t = new(tokenCalls)
		c.waiting[x.TokenID] = t
	}
	list, most := &t.good, waitingGood
	if x.Refused() {
		list, most = &t.refused, waitingRefused
	}
	if len(*list) < most && c.n < waitingCalls {
		*list = append(*list, x)
		c.n++
		return
	}
	for i := len(*list) - 1; i >= 0; i-- {
		if like := &(*list)[i]; like.Like(&x) {
			like.Times++
			return
		}
	}
}

// take returns the waiting ones, in the order of time, and forgets them.
func (c *calls) take() (list []rimewatch.TokenCall) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.waiting {
		list = append(append(list, t.refused...), t.good...)
	}
	c.waiting, c.n = nil, 0
	slices.SortStableFunc(list, func(x, y rimewatch.TokenCall) int {
		return cmp.Or(cmp.Compare(x.At, y.At), cmp.Compare(x.TokenID, y.TokenID))
	})
	return list
}

// flushCalls writes the requests of tokens that wait. Those that cannot be written are lost.
func (s *Service) flushCalls(ctx context.Context) error {
	list := s.calls.take()
	if len(list) == 0 {
		return nil
	}
	return s.store.People().AddTokenCalls(ctx, list)
}

// TokenCalls lists the kept requests of a token of the principal's workspace, the newest first: CodeNotFound.
func (s *Service) TokenCalls(ctx context.Context, p Principal, tokenID int64, now rimewatch.Time) ([]rimewatch.TokenCall, error) {
	if _, err := s.token(ctx, p.WorkspaceID, tokenID); err != nil {
		return nil, err
	}
	if err := s.flushCalls(ctx); err != nil {
		return nil, err
	}
	return s.store.People().TokenCalls(ctx, p.WorkspaceID, tokenID, now-rimewatch.TokenCallLife)
}
