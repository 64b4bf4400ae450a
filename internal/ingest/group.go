package ingest

import (
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
)

// group is one commit on its way. Its slices are kept for another one.
type group struct {
	store    store.Group
	commit   store.Staged
	requests []*request
	staged   []staged
	sites    []stagedSite
	events   publish.Commit
	scratch  []alert.Transition
	result   store.Effects
	counts   []countChange
	opened   []*staged // whose excursion has begun to count
	readings int
	verdicts [len(rimewatch.Verdicts)]int // added or, below 0, taken away by the group
	began    time.Time
	err      error // of its failure
	// alone: it holds more than readings and heartbeats. All groups before it have
	// ended, and it ends before the next is staged.
	alone bool
}

// stagedKept bounds the staged units whose memory is kept for the next group.
const stagedKept = 32_768

func newGroup() *group {
	g := &group{}
	g.store.Parts = make([][]store.Input, 0, 256)
	return g
}

func (g *group) reset() {
	clear(g.requests)
	clear(g.staged)
	if cap(g.staged) > stagedKept {
		g.staged = nil
	}
	clear(g.sites)
	clear(g.opened)
	clear(g.store.Parts)
	clear(g.store.Devices)
	g.events.Reset()
	clear(g.result.Alerts)
	clear(g.result.Transitions)
	clear(g.result.Audit)
	clear(g.result.Excursions)
	clear(g.result.Former)
	clear(g.result.Answers)
	clear(g.result.Events)
	*g = group{
		requests: g.requests[:0], staged: g.staged[:0], sites: g.sites[:0], events: g.events, scratch: g.scratch, counts: g.counts[:0], opened: g.opened[:0],
		store: store.Group{Parts: g.store.Parts[:0], Devices: g.store.Devices[:0]},
		result: store.Effects{
			Alerts: g.result.Alerts[:0], Touched: g.result.Touched[:0], Live: g.result.Live[:0],
			Transitions: g.result.Transitions[:0], Audit: g.result.Audit[:0], Excursions: g.result.Excursions[:0],
			Unfounded: g.result.Unfounded[:0], Former: g.result.Former[:0],
			Answers: g.result.Answers[:0], Events: g.result.Events[:0],
		},
	}
}

// answer returns the outcome to the callers.
func (g *group) answer(err error) {
	for _, r := range g.requests {
		r.alerts = len(g.result.Alerts)
		r.done <- err
	}
}

// keepAnswers adds the answers of the requests that the group carries out to its commit.
func (g *group) keepAnswers() {
	for _, r := range g.requests {
		if r.answer == nil {
			continue
		}
		done := len(r.inputs) == 0 && len(r.devices) == 1 && r.devices[0].Err == nil || r.alert != nil && r.alert.err == nil
		for i := range r.inputs {
			done = done || r.inputs[i].Outcome == store.Accepted
		}
		if !done {
			continue
		}
		if len(r.inputs) == 1 && r.inputs[0].Kind == store.InputReading {
			r.answer.DeviceID, r.answer.ReadingAt = r.inputs[0].DeviceID, r.inputs[0].Reading.At
		}
		g.result.Answers = append(g.result.Answers, r.answer)
	}
}

// staged is a unit on its way through a group.
type staged struct {
	fleet.Staged[about]
	siteID     int64
	before     shown
	after      summary
	share      health.Share // its contribution to its fleet now; valid when shared
	outcome    *outcome     // of the input after the quiet ones, nil = it was not stepped ahead
	quiet      int32        // inputs of the part that were stepped ahead without an outcome
	chain      int32        // its chain while one is made, counted from 1
	begun      bool         // before is right
	summarized bool         // after, shared and share are right
	shared     bool
	gone       bool // the device was deleted
	outside    bool // an excursion lasted before the group
}

// begin notes the visible part of a state before the group.
func (st *staged) begin() {
	if !st.begun {
		st.begun, st.before, st.outside = true, shownOf(st.State, st.Config), st.Device.Outside
	}
}

// summarize takes the values from a state that finishUnit and readers will ask for.
func (st *staged) summarize(down []presence.Downtime, now rimewatch.Time) {
	u := st.Device
	st.after = summary{shown: shownOf(st.State, st.Config), deadline: st.State.Deadline(st.Config, down), late: st.State.Health.HasLate()}
	u.See(st.State)
	if st.shared = !st.gone && now-u.Own.sharedAt >= shareEvery; st.shared {
		st.share = shareOf(u, st.State, st.Config, now)
	}
	st.summarized = true
}

// summary are the values of a state that finishUnit needs, taken while it is still in the
// processor's caches.
type summary struct {
	shown
	deadline rimewatch.Time // by the state, 0 = none
	late     bool           // readings came late and are not judged yet
}

// countChange is the new tally of one of a group's units.
type countChange struct {
	unit *unit
	tally
}

// count notes the change of the counts by one of the group's units. The unit's own alerts are still
// those from before the group.
func (g *group) count(st *staged) {
	u := st.Device
	if u.Online == st.before.online && !u.Added && !st.gone && slices.Equal(u.Alerts, st.Alerts) {
		return
	}
	c := countChange{unit: u}
	if !st.gone {
		c.tally = tallyOf(u.Online, st.Alerts)
	}
	g.counts = append(g.counts, c)
}

// addRejudged adds the changes of the record by the request's rejudged inputs to the group.
func (r *request) addRejudged(g *group) {
	for i := range r.rejudged {
		if r.inputs[i].Outcome == store.Accepted {
			g.result.Excursions = append(g.result.Excursions, r.rejudged[i].Rows...)
			g.result.Unfounded = append(g.result.Unfounded, r.rejudged[i].Unfounded...)
		}
	}
}

// formerLimits records the limits that a unit was judged by until now, if it is judged by others.
func (g *group) formerLimits(st *staged, was *engine.Config, now rimewatch.Time) {
	if st.Device.Added || st.State.Health.Newest() == 0 || was.Health.Limits.Same(&st.Config.Health.Limits) {
		return
	}
	g.result.Former = append(g.result.Former, &rimewatch.FormerLimits{
		WorkspaceID: st.Device.WorkspaceID, DeviceID: st.Device.ID, Until: now, Limits: was.Health.Limits,
	})
}

// noteVerdict counts a verdict on a prediction once the group is durable.
func (g *group) noteVerdict(op *alertOp, was *rimewatch.Feedback) {
	if op.found.Prediction == nil {
		return
	}
	v := &g.verdicts
	v[slices.Index(rimewatch.Verdicts[:], op.verdict)]++
	if was != nil {
		v[slices.Index(rimewatch.Verdicts[:], was.Verdict)]--
	}
}

// stagedSite is a site's next alerts on their way through a commit.
type stagedSite struct {
	site   *site
	alerts []*rimewatch.Alert
}

func (g *group) stageSite(x *site) *stagedSite {
	for i := range g.sites {
		if g.sites[i].site == x {
			return &g.sites[i]
		}
	}
	g.sites = append(g.sites, stagedSite{x, x.alerts})
	return &g.sites[len(g.sites)-1]
}

// excursions adds those that ended to the group's effects. A replay adds none: they were committed
// with their readings.
func (g *group) excursions(st *staged, over []health.Excursion) {
	for i := range over {
		row := excursionOf(&over[i], st.Device, st.Config)
		g.result.Excursions = append(g.result.Excursions, &row)
	}
}

func excursionOf(e *health.Excursion, u *unit, cfg *engine.Config) rimewatch.Excursion {
	return e.Record(u.WorkspaceID, u.ID, &cfg.Health.Limits)
}
