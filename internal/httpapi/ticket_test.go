package httpapi

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
)

// TestTicketsAreShared: whoever uses up the tickets of a workspace or of an
// address uses up nobody else's.
func TestTicketsAreShared(t *testing.T) {
	var b ticketBox
	now := rimewatch.Time(1_000_000)
	ask := func(workspace int64, addr string) (string, error) {
		given, err := b.put(account.Principal{WorkspaceID: workspace}, "", netip.MustParseAddr(addr), now)
		return given.Ticket, err
	}
	var first string
	for i := range ticketsOfWorkspace {
		text, err := ask(1, fmt.Sprintf("2001:db8:%x::1", i))
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = text
		}
	}
	refused := func(workspace int64, addr string) {
		t.Helper()
		if _, err := ask(workspace, addr); rimewatch.CodeOf(err) != rimewatch.CodeRateLimited {
			t.Errorf("workspace %d from %s: %v, want %s", workspace, addr, err, rimewatch.CodeRateLimited)
		}
	}
	refused(1, "192.0.2.1")
	if _, err := ask(2, "192.0.2.1"); err != nil {
		t.Errorf("another workspace: %v", err)
	}
	if p, ok := b.take(first, now); !ok || p.WorkspaceID != 1 {
		t.Error("a ticket is not taken")
	}
	if _, ok := b.take(first, now); ok {
		t.Error("a ticket is taken twice")
	}
	if _, err := ask(1, "192.0.2.1"); err != nil {
		t.Errorf("after one was used: %v", err)
	}
	now += ticketLife
	for i := range ticketsOfAddress {
		if _, err := ask(int64(10+i), "192.0.2.9"); err != nil {
			t.Fatal(err)
		}
	}
	refused(5000, "192.0.2.9")
	if _, err := ask(5000, "192.0.2.10"); err != nil {
		t.Errorf("another address: %v", err)
	}
	now += ticketLife
	if _, err := ask(1, "192.0.2.9"); err != nil {
		t.Error(err)
	}
	if len(b.byText) != 1 || len(b.expires) != 1 || len(b.counts) != 2 {
		t.Errorf("%d tickets, %d in order, %d counts are left of one", len(b.byText), len(b.expires), len(b.counts))
	}
}
