package ingest

import (
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/store"
)

// numbered numbers alerts from 1 on.
type numbered struct {
	store.Store
	last int64
}

func (n *numbered) NewAlertID() int64 { n.last++; return n.last }

// TestReplacedBy: a prediction that another fault fits better than names the one that has taken its place.
func TestReplacedBy(t *testing.T) {
	e := newEvaluator(&base{store: &numbered{}}, nil, nil)
	e.group = newGroup()
	st := &staged{Staged: fleet.Staged[about]{Device: &unit{ID: 7, WorkspaceID: 1}}}
	opens := func(typ rimewatch.AlertType) alert.Transition {
		return alert.Transition{Kind: rimewatch.TransitionOpened, Type: typ, Severity: rimewatch.Warning, Prediction: &rimewatch.Prediction{}}
	}
	leak := opens(rimewatch.RefrigerantLeakSuspected)
	e.transitions(st, []alert.Transition{leak}, 1000)
	over := leak
	over.Kind, over.Resolution, over.Ending = rimewatch.TransitionResolved, rimewatch.ResolvedSuperseded, rimewatch.EndedOtherFault
	e.transitions(st, []alert.Transition{over, opens(rimewatch.EvaporatorIcingSuspected)}, 2000)
	if len(st.Alerts) != 1 || len(e.group.result.Alerts) != 2 {
		t.Fatalf("%d active, %d rows", len(st.Alerts), len(e.group.result.Alerts))
	}
	was, now := e.group.result.Alerts[0], st.Alerts[0]
	if was.Type != rimewatch.RefrigerantLeakSuspected || was.Resolution != rimewatch.ResolvedSuperseded || was.ReplacedBy != now.ID || now.ID == 0 || now.ID == was.ID || now.ReplacedBy != 0 {
		t.Errorf("%+v was replaced by %+v", was, now)
	}
}
