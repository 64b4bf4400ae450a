package httpapi

import (
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
)

// TestTicketsOfWorkspaces: whoever uses up the tickets of a workspace uses up nobody
// else's, and what was used or has ended is forgotten.
func TestTicketsOfWorkspaces(t *testing.T) {
	var b ticketBox
	now := rimewatch.Time(1_000_000)
	ask := func(workspace int64) (string, error) {
		given, err := b.put(account.Principal{WorkspaceID: workspace}, "", now)
		return given.Ticket, err
	}
	var first string
	for i := range ticketsOfWorkspace {
		text, err := ask(1)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = text
		}
	}
	if _, err := ask(1); rimewatch.CodeOf(err) != rimewatch.CodeRateLimited {
		t.Errorf("one more: %v, want %s", err, rimewatch.CodeRateLimited)
	}
	if _, err := ask(2); err != nil {
		t.Errorf("another workspace: %v", err)
	}
	if p, ok := b.take(first, now); !ok || p.WorkspaceID != 1 {
		t.Error("a ticket is not taken")
	}
	if _, ok := b.take(first, now); ok {
		t.Error("a ticket is taken twice")
	}
	if _, err := ask(1); err != nil {
		t.Errorf("after one was used: %v", err)
	}
	now += ticketLife
	if _, err := ask(1); err != nil {
		t.Error(err)
	}
	if len(b.byText) != 1 || len(b.expires) != 1 || len(b.counts) != 1 {
		t.Errorf("%d tickets, %d in order, %d counts are left of one", len(b.byText), len(b.expires), len(b.counts))
	}
}
