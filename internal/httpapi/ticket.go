package httpapi

import (
	"crypto/rand"
	"encoding/base64"
	"net/netip"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
)

// ticketLife is how long a ticket may be used.
const ticketLife = 30 * rimewatch.Second

// How many tickets may wait for use: a wall of screens that come back at once
// needs a few hundred. What one workspace or one address uses up is never
// another's.
const (
	ticketsOfWorkspace = 1000
	ticketsOfAddress   = 1000
)

// ticketBox holds the tickets that were given out and not used yet. They live
// in memory only: thirty seconds are not worth a row.
type ticketBox struct {
	mu      sync.Mutex
	byText  map[string]ticket
	counts  map[any]int // by workspace and by address
	expires []string    // in order, used ones included
}

type ticket struct {
	principal account.Principal
	address   netip.Prefix
	expires   rimewatch.Time
}

// holders are what a ticket counts against.
func (t *ticket) holders() [2]any { return [2]any{t.principal.WorkspaceID, t.address} }

// put gives out a ticket: CodeRateLimited when too many of the workspace or of
// the address are unused.
func (b *ticketBox) put(p account.Principal, prefix string, addr netip.Addr, now rimewatch.Time) (StreamTicket, error) {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // it never fails
	text := prefix + base64.RawURLEncoding.EncodeToString(secret[:])
	t := ticket{p, account.Household(addr), now + ticketLife}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byText == nil {
		b.byText, b.counts = make(map[string]ticket), make(map[any]int)
	}
	b.drop(now)
	by := t.holders()
	if b.counts[by[0]] >= ticketsOfWorkspace || b.counts[by[1]] >= ticketsOfAddress {
		e := rimewatch.Errorf(rimewatch.CodeRateLimited, "Too many unused tickets.")
		e.RetryAfter = ticketLife.Sub(0)
		return StreamTicket{}, e
	}
	b.byText[text] = t
	b.expires = append(b.expires, text)
	b.counts[by[0]]++
	b.counts[by[1]]++
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

// drop forgets what has expired. Tickets expire in the order in which they were
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
	for _, by := range t.holders() {
		if b.counts[by]--; b.counts[by] == 0 {
			delete(b.counts, by)
		}
	}
}
