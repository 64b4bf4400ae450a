package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Loss makes what becomes of the next commit that carries the mark unknown to the
// store for a while, or for ever.
type Loss struct {
	Name string
	// Arm is called before the commit, and what it returns after it.
	Arm func(t *testing.T, s store.Store, mark string) (after func())
	// Refused says that the commit has to fail; otherwise it has to succeed.
	Refused bool
}

// Owner checks what a store owes to the one who writes to it: a commit is either
// stored and acknowledged or neither, whatever happens to the answer; one whose
// place was taken writes nothing any more; ids grow in the order of commits.
// lose takes a store's place away.
func Owner(t *testing.T, e Engine, lose func(t *testing.T, s store.Store), losses []Loss) {
	start := func(t *testing.T) *fixture {
		f := &fixture{T: t, ctx: t.Context(), e: e, s: e.Open(t), now: t0}
		f.workspace = f.newWorkspace("Shop")
		return f
	}
	for _, l := range losses {
		t.Run("lost answer/"+l.Name, func(t *testing.T) { start(t).lostAnswer(l) })
	}
	t.Run("lost place", func(t *testing.T) { start(t).lostPlace(lose) })
	t.Run("ids grow in the order of commits", func(t *testing.T) { start(t).growingIDs() })
}

// meaningful is a group with a marked input and an alert that it raises.
func (f *fixture) meaningful(id int64, n int, mark string) (*store.Group, *store.Effects) {
	at := t0 + rimewatch.Time(n)*rimewatch.Minute
	g := &store.Group{Now: at, Parts: [][]store.Input{{
		{Kind: store.InputReading, DeviceID: id, Reading: reading(at)},
		{Kind: store.InputHeartbeat, DeviceID: id, Payload: []byte(mark)},
	}}}
	a := &rimewatch.Alert{
		ID: f.s.NewAlertID(), WorkspaceID: f.workspace, DeviceID: id, Type: rimewatch.AlertType(fmt.Sprint("type", n)),
		Status: rimewatch.AlertActive, Severity: rimewatch.Warning, TriggeredAt: at,
	}
	opened := rimewatch.AlertTransition{WorkspaceID: f.workspace, AlertID: a.ID, Kind: rimewatch.TransitionOpened, At: at, Severity: a.Severity, Facts: a}
	return g, &store.Effects{Alerts: []*rimewatch.Alert{a}, Transitions: []rimewatch.AlertTransition{opened}}
}

// stands checks that the first n groups of meaningful are stored, each once, and
// nothing else.
func (f *fixture) stands(where string, id int64, n int) {
	f.Helper()
	f.equal(where+": readings", len(f.history(all(id))), n)
	list, total, err := f.s.Alerts(f.ctx, f.workspace, store.AlertFilter{}, store.AlertPage{Limit: 100})
	f.must(err)
	f.equal(where+": alerts", []int{len(list), total}, []int{n, n})
	lines, err := f.s.Everywhere().AllTransitionsAfter(f.ctx, 0, 100)
	f.must(err)
	f.equal(where+": lines of the timelines", len(lines), n)
	st, err := f.s.Stats(f.ctx)
	f.must(err)
	f.equal(where+": readings in heads and chunks", st.StoredReadings, int64(n))
}

func (f *fixture) lostAnswer(l Loss) {
	id := f.addDevice("L-1")
	n := 0
	commit := func() error {
		g, e := f.meaningful(id, n+1, "nothing happens")
		return Commit(f.ctx, f.s, g, e)
	}
	f.must(commit())
	n++
	mark := "mark of " + l.Name
	g, e := f.meaningful(id, n+1, mark)
	after := l.Arm(f.T, f.s, mark)
	err := Commit(f.ctx, f.s, g, e)
	after()
	switch {
	case l.Refused:
		f.code(err, rimewatch.CodeUnavailable)
		f.stands("refused", id, n)
		g.Parts[0][0].Reading = reading(g.Now) // sent once more
		f.must(Commit(f.ctx, f.s, g, e))
		f.equal("outcome of the second try", g.Parts[0][0].Outcome, store.Accepted)
	default:
		f.must(err)
	}
	n++
	f.stands("after the loss", id, n)
	f.equal("sent again", f.commit(id, reading(g.Now)), []store.Outcome{store.Duplicate})
	f.must(commit())
	n++
	f.everywhere(func(where string) { f.stands(where, id, n) })
}

// lostPlace: nothing that a store tries after it has lost its place is seen by
// the next owner.
func (f *fixture) lostPlace(lose func(t *testing.T, s store.Store)) {
	id := f.addDevice("L-1")
	g, e := f.meaningful(id, 1, "")
	f.must(Commit(f.ctx, f.s, g, e))
	channel := aWebhook(f.workspace, "hook")
	f.must(f.s.Routing().Channels().Create(f.ctx, &channel))
	staged, effects := f.meaningful(id, 2, "")
	under, err := f.s.Stage(f.ctx, staged)
	f.must(err)
	lose(f.T, f.s)
	writes := map[string]func() error{
		"a commit": func() error {
			g, e := f.meaningful(id, 3, "")
			return Commit(f.ctx, f.s, g, e)
		},
		"a checkpoint": func() error {
			return f.s.SaveCheckpoints(f.ctx, []store.Checkpoint{{DeviceID: id, Seq: 99, State: []byte("stolen")}}, 99)
		},
		"a delivery": func() error {
			d := &rimewatch.Delivery{WorkspaceID: f.workspace, Key: "k", ChannelID: channel.ID, Kind: rimewatch.DeliveryTest, Status: rimewatch.DeliveryPending}
			return f.s.Outbox().PutDeliveries(f.ctx, []*rimewatch.Delivery{d}, 99)
		},
		"a sign of life": func() error { return f.s.MarkAlive(f.ctx, t0+rimewatch.Day) },
		"a site": func() error {
			return f.s.Sites().Create(f.ctx, &rimewatch.Site{WorkspaceID: f.workspace, Name: "x", TimeZone: "UTC"})
		},
	}
	f.code(under.Commit(f.ctx, effects), rimewatch.CodeUnavailable)
	for what, write := range writes {
		if err := write(); rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
			f.Errorf("%s without a place: %v", what, err)
		}
	}
	if settle, ok := f.s.(interface{ Rest(context.Context) error }); ok && settle.Rest(f.ctx) == nil {
		f.Error("readings were sealed without a place")
	}
	f.s = f.e.Reopen(f.T, f.s)
	checkpoints, entries := 0, 0
	f.must(f.s.Recover(f.ctx, 1, func(_ int, _ store.Checkpoint) error { checkpoints++; return nil }, func(_ int, _ *store.Entry) error { entries++; return nil }))
	f.equal("checkpoints", checkpoints, 0)
	f.equal("logged inputs", entries, 3) // the device, and the first group's
	f.stands("the next owner", id, 1)
	f.equal("deliveries", len(allPending(f)), 0)
	sites, err := f.s.Sites().List(f.ctx, f.workspace)
	f.must(err)
	f.equal("sites", len(sites), 0)
	through, err := f.s.Outbox().PlannedThrough(f.ctx)
	f.must(err)
	f.equal("planned through", through, int64(0))
	st, err := f.s.Stats(f.ctx)
	f.must(err)
	f.equal("chunks", st.Chunks, int64(0))
}

// growingIDs: who reads the outbox after an id has seen everything up to it, also
// while commits and changes of the tables run at once.
func (f *fixture) growingIDs() {
	id := f.addDevice("L-1")
	const groups, actions = 40, 20
	g, e := f.meaningful(id, 1, "")
	f.must(Commit(f.ctx, f.s, g, e))
	alert := e.Alerts[0].ID
	var work sync.WaitGroup
	work.Go(func() {
		for i := range groups {
			g, e := f.meaningful(id, i+2, "")
			if err := Commit(f.ctx, f.s, g, e); err != nil {
				f.Error(err)
			}
		}
	})
	for range 3 {
		work.Go(func() {
			for range actions {
				a := rimewatch.CorrectiveAction{WorkspaceID: f.workspace, AlertID: alert, At: t0, PerformedAt: t0, PerformedBy: "Ada", Cause: "c", Action: "a"}
				if err := f.s.Records().CreateCorrectiveAction(f.ctx, &a); err != nil {
					f.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { work.Wait(); close(done) }()
	seen, last := 0, int64(0)
	for running := true; running || seen < 1+groups+3*actions; {
		select {
		case <-done:
			running = false
		default:
		}
		lines, err := f.s.Everywhere().AllTransitionsAfter(f.ctx, last, 7)
		f.must(err)
		for i := range lines {
			if lines[i].ID <= last {
				f.Fatalf("line %d after %d", lines[i].ID, last)
			}
			last = lines[i].ID
			seen++
		}
		if !running && len(lines) == 0 {
			break
		}
	}
	f.equal("lines seen while they were written", seen, 1+groups+3*actions)
	broken, err := f.s.Audit().VerifyAudit(f.ctx, f.workspace)
	f.must(err)
	f.equal("first broken entry of the audit trail", broken, int64(0))
}
