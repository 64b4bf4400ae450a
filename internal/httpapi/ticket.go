package httpapi

import (
	"encoding/base64"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
)

// ticketLife is how long a ticket may be used.
const ticketLife = 30 * rimewatch.Second

// ticketsOfWorkspace is how many tickets of a workspace may wait for use: a wall of
// screens that come back at once needs a few hundred. They are not counted by
// address: behind one there may be many workspaces, and what one of them uses up is
// never another's.
const ticketsOfWorkspace = 1000

// ticketBox holds the tickets that were given out and not used yet. They live
// in memory only: thirty seconds are not worth a row.
type ticketBox struct {
	mu      sync.Mutex
	byText  map[string]ticket
	counts  map[int64]int // by workspace
	expires []string      // in order, used ones included
}

type ticket struct {
	principal account.Principal
	expires   rimewatch.Time
}

// put makes a ticket and returns it: CodeRateLimited when too many of the workspace are unused.
func (b *ticketBox) put(p account.Principal, prefix string, now rimewatch.Time) (StreamTicket, error) {
	secret := drawKey()
	text := prefix + base64.RawURLEncoding.EncodeToString(secret[:])
	t := ticket{p, now + ticketLife}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byText == nil {
		b.byText, b.counts = make(map[string]ticket), make(map[int64]int)
	}
	b.drop(now)
	if b.counts[p.WorkspaceID] >= ticketsOfWorkspace {
		e := rimewatch.Errorf(rimewatch.CodeRateLimited, "Too many unused tickets.")
		e.RetryAfter = ticketLife.Sub(0)
		return StreamTicket{}, e
	}
	b.byText[text] = t
	b.expires = append(b.expires, text)
	b.counts[p.WorkspaceID]++
	return StreamTicket{text, t.expires}, nil
}

// take returns whose ticket it is, once.
func (b *ticketBox) take(text string, now rimewatch.Time) (account.Principal, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, ok := b.byText[text]
	if ok {
		b.remove(text, &t)
	}
	return t.principal, ok && now < t.expires
}

// drop forgets expired tickets. Tickets expire in the order in which they were
// given out, so each is looked at once.
func (b *ticketBox) drop(now rimewatch.Time) {
	for len(b.expires) > 0 {
		text := b.expires[0]
		t, ok := b.byText[text]
		if ok && now < t.expires {
			return
		}
		if ok {
			b.remove(text, &t)
		}
		b.expires = b.expires[1:]
	}
}

func (b *ticketBox) remove(text string, t *ticket) {
	delete(b.byText, text)
	by := t.principal.WorkspaceID
	if b.counts[by]--; b.counts[by] == 0 {
		delete(b.counts, by)
	}
}
