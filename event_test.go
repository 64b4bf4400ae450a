package rimewatch_test

import (
	"slices"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestEventID: an id leads back to its event, and nothing else does.
func TestEventID(t *testing.T) {
	e := rimewatch.Event{WorkspaceID: 3, Number: 42}
	w, n, ok := rimewatch.ParseEventID(e.ID())
	if e.ID() != "evt_3_42" || w != 3 || n != 42 || !ok {
		t.Errorf("%s is event %d of workspace %d, %v", e.ID(), n, w, ok)
	}
	for _, bad := range []string{"", "evt_", "evt_3", "evt_3_", "3_42", "evt_03_42", "evt_3_+42", "evt_3_42 ", "evt_3_42_1", "evt_x_1"} {
		if _, _, ok := rimewatch.ParseEventID(bad); ok {
			t.Errorf("%q is taken for an id", bad)
		}
	}
}

// TestEventKinds: each type is listed once with a scope and a sentence, and what scopes
// allow to read follows from the table.
func TestEventKinds(t *testing.T) {
	seen := make(map[rimewatch.EventType]bool)
	for _, k := range rimewatch.EventKinds() {
		if seen[k.Type] || k.Needs == 0 || k.Text == "" {
			t.Errorf("%+v is listed twice or not described", k)
		}
		seen[k.Type] = true
	}
	for _, k := range []rimewatch.TransitionKind{
		rimewatch.TransitionOpened, rimewatch.TransitionEscalated, rimewatch.TransitionDeescalated, rimewatch.TransitionAcknowledged, rimewatch.TransitionAckExpired,
		rimewatch.TransitionNoted, rimewatch.TransitionSuppressed, rimewatch.TransitionReleased, rimewatch.TransitionFeedback, rimewatch.TransitionResolved,
	} {
		if !seen[k.Event()] {
			t.Errorf("the transition %s is %q, which is no event", k, k.Event())
		}
	}
	if got := rimewatch.EventTypesFor(rimewatch.ScopeSources); !slices.Equal(got, []rimewatch.EventType{rimewatch.EventSenderWaiting}) {
		t.Errorf("the scope of sources reads %v", got)
	}
}
