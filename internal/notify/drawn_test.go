package notify_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
)

var (
	draws     = flag.Int("draws", 15, "how many courses TestDrawn plays")
	firstDraw = flag.Uint64("draw", 1, "the seed of the first of them")
)

// TestDrawn plays drawn courses of ten minutes: alerts that open, rise, are acknowledged and
// end, silences, maintenance windows, moves, changes of types, sites that are deleted,
// routes with quiet hours and digests, routes and channels switched off and on, storms, a store
// that fails, kills. Every second
// an oracle that knows docs/notifications.md, and nothing of the code, says who ought to
// have been notified by now: nobody is forgotten, is told more than 5 s late, or twice.
func TestDrawn(t *testing.T) {
	var all drawnCounts
	for seed := *firstDraw; seed < *firstDraw+uint64(*draws); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, func(r *rig) {
				w := newDrawn(r, seed)
				w.play()
				all.add(w)
			})
		})
	}
	t.Logf("%+v", all)
	if all.Alerts == 0 || all.Told == 0 || all.Ends == 0 || all.Due == 0 || all.Digests == 0 || all.Quiet == 0 {
		t.Errorf("nothing was drawn: %+v", all)
	}
}

type drawnCounts struct{ Alerts, Told, Ends, Due, Unrouted, Moves, Kills, Faults, Digests, Quiet int }

func (c *drawnCounts) add(w *drawn) {
	c.Alerts += len(w.alerts)
	c.Told += w.counts.Told
	c.Ends += w.counts.Ends
	c.Due += w.counts.Due
	c.Unrouted += w.counts.Unrouted
	c.Moves += w.counts.Moves
	c.Kills += w.counts.Kills
	c.Faults += w.counts.Faults
	c.Digests += w.counts.Digests
	c.Quiet += w.counts.Quiet
}

const (
	courseLasts = 600 // s
	lateAfter   = 5   // s
)

// receipt is a message as somebody received it.
type receipt struct {
	at               rimewatch.Time
	channel, alert   int64
	kind, key        string
	level            int
	severe, resolved bool
	lists            []int64 // of a digest: alerts
}

// drawn is a course and its oracle.
type drawn struct {
	*rig
	rnd      *rand.Rand
	sites    []int64
	channels []*rimewatch.Channel
	tested   map[int64]bool
	routes   []*rimewatch.Route
	alerts   []*drawnAlert
	storm    bool
	silences []rimewatch.Silence
	windows  []rimewatch.MaintenanceWindow
	troubled rimewatch.Time            // when the last trouble ended
	killed   rimewatch.Time            // when the service was restarted last
	switched map[int64]rimewatch.Time  // by channel, and by route as a negative number: when it was switched last
	digests  map[string]rimewatch.Time // by key: when it was received first
	checked  map[int64]bool            // routes of whose digest it is known whether it came

	mu       sync.Mutex
	receipts []receipt
	seen     int // of receipts, those that were checked

	counts drawnCounts
}

// drawnAlert is an alert as people know it.
type drawnAlert struct {
	row      rimewatch.Alert
	serial   string
	device   int64
	site     int64
	kind     string // equipment type
	risenAt  rimewatch.Time
	heldAt   rimewatch.Time           // the last moment at which it was held back
	muted    bool                     // now
	mutedFor int                      // s
	releases int                      // how often it was held back no more
	matched  map[int64]rimewatch.Time // by route: since when it matches, 0 = it does not
	first    map[int64]receipt        // by channel
	last     map[int64]rimewatch.Time
	over     map[int64]bool    // who has heard of the end, or could not when it came
	lists    map[int64]listing // by route: whether its digest lists the alert
	quietFor map[int64]int     // by route: s for which its quiet hours have lasted
	tells    map[string]string // what must be told once → its key
	repeats  map[int64]int
	owed     map[string]int // for how many seconds a message has been due
}

// listing is whether something is listed, and since when that has been so.
type listing struct {
	is    bool
	since rimewatch.Time
}

func newDrawn(r *rig, seed uint64) *drawn {
	w := &drawn{rig: r, rnd: rand.New(rand.NewPCG(seed, 42)), tested: make(map[int64]bool), switched: make(map[int64]rimewatch.Time), digests: make(map[string]rimewatch.Time), checked: make(map[int64]bool)}
	pause := time.Duration(w.rnd.IntN(60)) * time.Millisecond
	r.posts.answer = func(context.Context, string, int) error {
		time.Sleep(pause)
		return nil
	}
	r.posts.heard = w.hear
	for i := range 2 {
		x := rimewatch.Site{WorkspaceID: r.workspace, Name: fmt.Sprint("Site ", i), TimeZone: "UTC", CreatedAt: r.now(), UpdatedAt: r.now()}
		r.must(r.store.Sites().Create(r.Context(), &x))
		w.sites = append(w.sites, x.ID)
	}
	for i := range 3 + w.rnd.IntN(2) {
		c := r.channel(fmt.Sprint("c", i), func(c *rimewatch.Channel) { c.Enabled = w.rnd.IntN(4) > 0 })
		if w.rnd.IntN(3) > 0 {
			_, err := r.service.Test(r.Context(), r.workspace, c.ID)
			r.must(err)
			w.tested[c.ID] = true
		}
		w.channels = append(w.channels, &c)
	}
	for i := range w.rnd.IntN(4) {
		x := &rimewatch.Route{WorkspaceID: r.workspace, Name: fmt.Sprint("r", i), Enabled: w.rnd.IntN(5) > 0, Recovery: w.rnd.IntN(4) > 0, Match: w.matchers(), Steps: []rimewatch.RouteStep{{ChannelIDs: []int64{w.anyChannel().ID}}}}
		if w.rnd.IntN(3) == 0 {
			x.Steps[0].AfterS = w.rnd.IntN(60)
		}
		if w.rnd.IntN(2) == 0 {
			x.Steps = append(x.Steps, rimewatch.RouteStep{AfterS: x.Steps[0].AfterS + 10 + w.rnd.IntN(120), ChannelIDs: []int64{w.anyChannel().ID}})
		}
		if w.rnd.IntN(3) == 0 { // in the first ten minutes of the day, by one of the two clocks
			from := []int{0, 60}[w.rnd.IntN(2)] + w.rnd.IntN(8)
			x.Quiet = &rimewatch.QuietHours{From: from, To: from + 1 + w.rnd.IntN(4)}
		}
		if w.rnd.IntN(4) == 0 {
			at := 61 + w.rnd.IntN(7)
			x.DigestAt = &at
		}
		r.must(r.store.Routing().Routes().Create(r.Context(), x))
		w.routes = append(w.routes, x)
	}
	r.service.Changed(r.workspace)
	return w
}

func (w *drawn) anyChannel() *rimewatch.Channel { return w.channels[w.rnd.IntN(len(w.channels))] }

var drawnTypes = []string{"walkin_cooler", "walkin_freezer"}

func (w *drawn) matchers() (m rimewatch.Matchers) {
	switch w.rnd.IntN(5) {
	case 0:
		m.SiteIDs = []int64{w.sites[w.rnd.IntN(2)]}
	case 1:
		m.EquipmentTypes = []string{drawnTypes[w.rnd.IntN(2)]}
	case 2:
		m.Severities = []rimewatch.Severity{[]rimewatch.Severity{rimewatch.Warning, rimewatch.Critical}[w.rnd.IntN(2)]}
	}
	return m
}

// hear keeps what somebody receives.
func (w *drawn) hear(c *rimewatch.Channel, key string, m *message.Message) {
	if m.Data.Kind == rimewatch.DeliveryTest {
		return
	}
	var a struct {
		ID       int64  `json:"id"`
		Severity string `json:"severity"`
	}
	if err := json.Unmarshal(m.Data.Alert, &a); err != nil {
		w.Errorf("%s: %v", key, err)
	}
	var lists []int64
	if m.Data.Kind == rimewatch.DeliveryDigest {
		for _, l := range m.Data.Alerts {
			lists = append(lists, l.ID)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.receipts = append(w.receipts, receipt{at: w.now(), channel: c.ID, alert: a.ID, kind: string(m.Data.Kind), key: key, level: m.Data.Level, severe: a.Severity == "critical", resolved: m.Data.Kind == rimewatch.DeliveryRecovery, lists: lists})
}

func (w *drawn) play() {
	begin := w.now()
	for s := range courseLasts {
		if s < courseLasts-60 {
			w.happen(s)
		}
		w.pass(time.Second)
		w.judge()
		if w.Failed() {
			w.Errorf("seed course failed %s after it began", (w.now() - begin))
			return
		}
	}
}

// happen draws what happens in a second.
func (w *drawn) happen(s int) {
	if len(w.alerts) < 6 && w.rnd.IntN(25) == 0 || s == 5 {
		w.openAlert()
	}
	if w.rnd.IntN(20) > 0 {
		return
	}
	switch w.rnd.IntN(14) {
	case 0:
		x := rimewatch.Silence{WorkspaceID: w.workspace, Match: w.matchers(), StartsAt: w.now(), EndsAt: w.now() + rimewatch.Time(5+w.rnd.IntN(400))*rimewatch.Second, CreatedAt: w.now()}
		w.must(w.store.Routing().Silences().Create(w.Context(), &x))
		w.silences = append(w.silences, x)
		w.service.Changed(w.workspace)
	case 1:
		x := rimewatch.MaintenanceWindow{WorkspaceID: w.workspace, SiteIDs: []int64{w.sites[w.rnd.IntN(2)]}, StartsAt: w.now(), EndsAt: w.now() + rimewatch.Time(5+w.rnd.IntN(400))*rimewatch.Second, CreatedAt: w.now()}
		w.must(w.store.Routing().MaintenanceWindows().Create(w.Context(), &x))
		w.windows = append(w.windows, x)
		w.service.Changed(w.workspace)
	case 2, 3, 4:
		w.move()
	case 5:
		c := w.anyChannel()
		c.Enabled = !c.Enabled
		w.switched[c.ID] = w.now()
		_, err := w.store.Routing().Channels().Update(w.Context(), w.workspace, c.ID, func(x *rimewatch.Channel) error { x.Enabled = c.Enabled; return nil })
		w.must(err)
		w.service.Changed(w.workspace)
	case 6:
		if len(w.routes) > 0 {
			x := w.routes[w.rnd.IntN(len(w.routes))]
			x.Enabled = !x.Enabled
			w.switched[-x.ID] = w.now()
			_, err := w.store.Routing().Routes().Update(w.Context(), w.workspace, x.ID, func(y *rimewatch.Route) error { y.Enabled = x.Enabled; return nil })
			w.must(err)
			w.service.Changed(w.workspace)
		}
	case 7:
		if !w.storm {
			w.storm = true
			w.flood(60)
		}
	case 8, 9:
		calls := []string{"Alert", "AlertDeliveries", "AllTransitionsAfter", "PutDeliveries", "UpdateDeliveries", "outcome", "Delivery", "Channel"}
		w.trouble.fails(calls[w.rnd.IntN(len(calls))], 1+w.rnd.IntN(2))
		w.counts.Faults++
	case 10, 11:
		time.Sleep(time.Duration(w.rnd.IntN(80)) * time.Millisecond) // in the middle of something
		w.restart()
		w.counts.Kills++
		w.killed, w.troubled = w.now(), w.now()+rimewatch.Second
	default:
		w.live()
	}
	if w.rnd.IntN(3) == 0 { // and at the same moment
		w.live()
	}
	if w.rnd.IntN(6) == 0 {
		time.Sleep(time.Duration(w.rnd.IntN(40)) * time.Millisecond)
		w.restart()
		w.counts.Kills++
		w.killed, w.troubled = w.now(), w.now()+rimewatch.Second
	}
}

func (w *drawn) openAlert() {
	a := &drawnAlert{
		device: w.store.NewDeviceID(), site: append([]int64{0}, w.sites...)[w.rnd.IntN(3)], kind: drawnTypes[w.rnd.IntN(2)], serial: fmt.Sprint("D-", len(w.alerts)),
		matched: make(map[int64]rimewatch.Time), first: make(map[int64]receipt), last: make(map[int64]rimewatch.Time), over: make(map[int64]bool),
		tells: make(map[string]string), repeats: make(map[int64]int), owed: make(map[string]int), lists: make(map[int64]listing), quietFor: make(map[int64]int),
	}
	if _, err := w.store.Sites().Get(w.Context(), w.workspace, a.site); err != nil {
		a.site = 0
	}
	op := &store.DeviceOp{WorkspaceID: w.workspace, Serial: a.serial, Create: &rimewatch.Device{ID: a.device, WorkspaceID: w.workspace, Serial: a.serial, SiteID: a.site, EquipmentType: a.kind, CreatedAt: w.now(), UpdatedAt: w.now()}}
	w.must(storetest.Commit(w.Context(), w.store, &store.Group{Now: w.now(), Devices: []*store.DeviceOp{op}}, &store.Effects{}))
	w.must(op.Err)
	value := 8.2
	a.row = rimewatch.Alert{WorkspaceID: w.workspace, DeviceID: a.device, Status: rimewatch.AlertActive, Severity: rimewatch.Warning, Type: rimewatch.HighTemperature,
		Metric: "product_zone_temp", Value: &value, Unit: "°C", ConditionStartedAt: w.now(), TriggeredAt: w.now(), LastEvaluatedAt: w.now(), Occurrences: 1}
	if w.rnd.IntN(2) == 0 {
		a.row.Severity = rimewatch.Critical
	}
	w.alerts = append(w.alerts, a)
	w.change(&a.row, rimewatch.TransitionOpened)
}

// live draws what happens to an active alert.
func (w *drawn) live() {
	var active []*drawnAlert
	for _, a := range w.alerts {
		if a.row.Status == rimewatch.AlertActive {
			active = append(active, a)
		}
	}
	if len(active) == 0 {
		return
	}
	a := active[w.rnd.IntN(len(active))]
	row := a.row
	switch w.rnd.IntN(6) {
	case 0, 1, 2:
		row.Status, row.ResolvedAt, row.Resolution = rimewatch.AlertResolved, w.now(), rimewatch.ResolvedAuto
		a.row = row
		w.change(&row, rimewatch.TransitionResolved)
	case 3, 4:
		if row.Severity == rimewatch.Warning {
			row.Severity = rimewatch.Critical
			a.risenAt, a.row = w.now(), row
			w.change(&row, rimewatch.TransitionEscalated)
		}
	case 5:
		if row.AcknowledgedAt == 0 {
			row.AcknowledgedAt, row.AcknowledgedBy, row.AckExpiresAt = w.now(), "Eva", w.now()+4*rimewatch.Hour
			a.row = row
			w.change(&row, rimewatch.TransitionAcknowledged)
		}
	}
}

// move takes a device to another site, makes it another type or deletes its site.
func (w *drawn) move() {
	if len(w.alerts) == 0 {
		return
	}
	w.counts.Moves++
	a := w.alerts[w.rnd.IntN(len(w.alerts))]
	if a.row.Status != rimewatch.AlertActive {
		return // where it stood when it ended counts
	}
	from := rimewatch.Place{SiteID: a.site, EquipmentType: a.kind}
	if a.site != 0 && w.rnd.IntN(8) == 0 {
		gone := a.site
		w.must(w.store.Sites().Delete(w.Context(), w.workspace, gone))
		for _, b := range w.alerts {
			if b.site == gone && b.row.Status == rimewatch.AlertActive {
				b.site = 0
				w.moved(b, rimewatch.Place{SiteID: gone}, nil)
			}
		}
		return
	}
	v, err := w.store.Device(w.Context(), w.workspace, a.serial)
	w.must(err)
	v.WorkspaceLimits = nil
	next := v.Device
	if w.rnd.IntN(3) == 0 {
		next.EquipmentType = drawnTypes[w.rnd.IntN(2)]
	} else if next.SiteID = append([]int64{0}, w.sites...)[w.rnd.IntN(3)]; next.SiteID != 0 {
		if _, err := w.store.Sites().Get(w.Context(), w.workspace, next.SiteID); err != nil {
			next.SiteID = 0
		}
	}
	if next.SiteID == a.site && next.EquipmentType == a.kind {
		return
	}
	a.site, a.kind = next.SiteID, next.EquipmentType
	w.moved(a, from, &store.DeviceOp{WorkspaceID: w.workspace, Serial: a.serial, Was: &v.Device, Change: &next})
}

// moved commits a move as the write path does.
func (w *drawn) moved(a *drawnAlert, from rimewatch.Place, op *store.DeviceOp) {
	g, e := store.Group{Now: w.now()}, store.Effects{}
	if op != nil {
		g.Devices = append(g.Devices, op)
	}
	if a.row.Status == rimewatch.AlertActive {
		row := a.row
		e.Alerts = append(e.Alerts, &row)
		e.Transitions = append(e.Transitions, rimewatch.AlertTransition{WorkspaceID: w.workspace, AlertID: row.ID, Kind: rimewatch.TransitionMoved, At: w.now(), Severity: row.Severity, Facts: &row, From: &from})
	}
	w.must(storetest.Commit(w.Context(), w.store, &g, &e))
	if op != nil {
		w.must(op.Err)
	}
	w.service.Wake()
}

// matches is what docs/notifications.md says of match.
func (a *drawnAlert) matches(m *rimewatch.Matchers) bool {
	return (len(m.Severities) == 0 || slices.Contains(m.Severities, a.row.Severity)) &&
		(len(m.SiteIDs) == 0 || slices.Contains(m.SiteIDs, a.site)) &&
		(len(m.EquipmentTypes) == 0 || slices.Contains(m.EquipmentTypes, a.kind))
}

func (w *drawn) isMuted(a *drawnAlert, at rimewatch.Time) bool {
	for i := range w.silences {
		if x := &w.silences[i]; x.StartsAt <= at && at < x.EndsAt && a.matches(&x.Match) {
			return true
		}
	}
	for i := range w.windows {
		if x := &w.windows[i]; x.StartsAt <= at && at < x.EndsAt && slices.Contains(x.SiteIDs, a.site) {
			return true
		}
	}
	return false
}

// judge is the oracle of a second that is over.
func (w *drawn) judge() {
	w.mu.Lock()
	news := w.receipts[w.seen:]
	w.seen = len(w.receipts)
	w.mu.Unlock()
	if at := w.trouble.failed(); !at.IsZero() {
		w.troubled = max(w.troubled, rimewatch.TimeOf(at)+3*rimewatch.Second)
	}
	for _, x := range news {
		for _, a := range w.alerts {
			if a.row.ID == x.alert {
				w.heard(a, x)
			}
		}
	}
	for _, a := range w.alerts {
		w.owes(a)
	}
	for _, x := range news {
		if x.lists != nil {
			w.digested(x)
		}
	}
	for _, r := range w.routes {
		w.owesDigest(r)
	}
}

// quiet reports whether it is quiet for an alert by the clock of its site, or else of the
// workspace, which is an hour ahead.
func (w *drawn) quiet(r *rimewatch.Route, a *drawnAlert, at rimewatch.Time) bool {
	if r == nil || r.Quiet == nil {
		return false
	}
	minute := int(at % rimewatch.Day / rimewatch.Minute)
	if a.site == 0 {
		minute += 60
	}
	return r.Quiet.From <= minute && minute < r.Quiet.To
}

// digestAt is when a route's digest is due, by the clock of the workspace.
func (w *drawn) digestAt(r *rimewatch.Route) rimewatch.Time {
	return w.now() - w.now()%rimewatch.Day + rimewatch.Time(*r.DigestAt-60)*rimewatch.Minute
}

// digested checks a digest that somebody has received.
func (w *drawn) digested(x receipt) {
	w.counts.Digests++
	var r *rimewatch.Route
	for _, of := range w.routes {
		if strings.HasPrefix(x.key, fmt.Sprintf("digest/%d/", of.ID)) {
			r = of
		}
	}
	if r == nil || r.DigestAt == nil || x.at < w.digestAt(r) {
		w.Errorf("%s: nobody asked for it", x.key)
		return
	}
	calm := w.now() > w.troubled+2*rimewatch.Second
	if at := w.digests[x.key]; at != 0 {
		if calm {
			w.Errorf("%s: told twice", x.key)
		}
		return
	}
	w.digests[x.key] = x.at
	for _, a := range w.alerts {
		if a.row.TriggeredAt > w.digestAt(r) && slices.Contains(x.lists, a.row.ID) {
			w.Errorf("%s: lists alert %d, which came later", x.key, a.row.ID)
		}
		if l, known := a.lists[r.ID]; known && calm && l.since <= w.digestAt(r) && l.is != slices.Contains(x.lists, a.row.ID) {
			w.Errorf("%s: lists alert %d (%s at %d): %v", x.key, a.row.ID, a.row.Severity, a.site, !l.is)
		}
	}
}

// owesDigest finds out whether the digest of a route has come soon after its moment, if there was
// all the time what it lists and nothing else happened to it. It is looked at every half a minute,
// and tried again where the store failed.
func (w *drawn) owesDigest(r *rimewatch.Route) {
	if r.DigestAt == nil || w.checked[r.ID] {
		return
	}
	at, now := w.digestAt(r), w.now()
	if now < max(at, w.killed, w.troubled)+100*rimewatch.Second {
		return
	}
	w.checked[r.ID] = true
	c := w.channelOf(r.Steps[0].ChannelIDs[0])
	if !r.Enabled || !c.Enabled || w.switched[-r.ID] >= at || w.switched[c.ID] >= at {
		return
	}
	for _, a := range w.alerts {
		if l := a.lists[r.ID]; !l.is || l.since > at {
			continue
		}
		w.counts.Due++
		for key := range w.digests {
			if strings.HasPrefix(key, fmt.Sprintf("digest/%d/", r.ID)) {
				return
			}
		}
		w.Errorf("the digest of route %d has not come though it lists alert %d", r.ID, a.row.ID)
		return
	}
}

// heard checks what somebody has received.
func (w *drawn) heard(a *drawnAlert, x receipt) {
	w.counts.Told++
	first, told := a.first[x.channel]
	once := ""
	switch {
	case x.resolved:
		w.counts.Ends++
		once = fmt.Sprint("end ", x.channel)
		if !told {
			w.Errorf("%s: channel %d hears of an end without a beginning", x.key, x.channel)
		}
		a.over[x.channel] = true
	case x.kind == "unrouted":
		w.counts.Unrouted++
		once = fmt.Sprint("first ", x.channel)
		if told && first.key != x.key {
			w.Errorf("%s: channel %d knew it by %s", x.key, x.channel, first.key)
		}
	case x.kind == "opened" && x.level == 0:
		once = fmt.Sprint("first ", x.channel)
	case x.kind == "opened":
		once = fmt.Sprint("level ", strings.Join(strings.Split(x.key, "/")[4:], "/"))
	case x.kind == "escalated":
		once = fmt.Sprint("risen ", x.channel)
	case x.kind == "repeat":
		once = x.key
		if a.tells[once] == "" {
			a.repeats[x.channel]++
		}
		if a.repeats[x.channel] > a.releases+1 {
			w.Errorf("%s: %d reminders after %d silences", x.key, a.repeats[x.channel], a.releases)
		}
	}
	if key := a.tells[once]; key != "" && (key != x.key || w.now() > w.troubled+2*rimewatch.Second) {
		w.Errorf("%s after %s: told twice", x.key, key)
	}
	a.tells[once] = x.key
	if !x.resolved && a.over[x.channel] {
		w.Errorf("%s: told after the end", x.key)
	}
	if !x.resolved && a.mutedFor > 2 && w.isMuted(a, x.at) && w.now() > w.troubled+2*rimewatch.Second {
		w.Errorf("%s: told while it was silenced", x.key)
	}
	if r := w.routeOf(x); r != nil && a.row.Severity == rimewatch.Warning {
		switch {
		case r.DigestAt != nil:
			w.Errorf("%s: told beside the digest", x.key)
		case w.quiet(r, a, x.at) && a.quietFor[r.ID] > lateAfter && w.now() > w.troubled+2*rimewatch.Second:
			w.Errorf("%s: told in quiet hours", x.key)
		}
	}
	if !told {
		a.first[x.channel] = x
	}
	a.last[x.channel] = x.at
}

// owes finds out what is due by now and has not come.
func (w *drawn) owes(a *drawnAlert) {
	now, active := w.now(), a.row.Status == rimewatch.AlertActive
	muted := w.isMuted(a, now)
	if a.muted && !muted {
		a.releases++
	}
	if a.muted = muted; muted {
		a.heldAt = now
		a.mutedFor++
	} else {
		a.mutedFor = 0
	}
	free := active && !muted && a.row.AcknowledgedAt == 0
	routed := len(w.routes) == 0
	due := make(map[int64]bool) // channels that ought to know
	for _, r := range w.routes {
		on := a.matches(&r.Match)
		switch since, was := a.matched[r.ID]; {
		case on && !was:
			a.matched[r.ID] = a.row.TriggeredAt
			if now > a.row.TriggeredAt+1500 {
				a.matched[r.ID] = now
			}
		case on && since == 0:
			a.matched[r.ID] = now
		case !on:
			a.matched[r.ID] = 0
		}
		if !w.quiet(r, a, now) {
			a.quietFor[r.ID] = 0
		} else if a.quietFor[r.ID]++; a.row.Severity == rimewatch.Warning && active {
			w.counts.Quiet++
		}
		if r.DigestAt != nil {
			is := on && a.row.Severity == rimewatch.Warning && !muted && a.row.TriggeredAt <= w.digestAt(r)
			if l, known := a.lists[r.ID]; !known || l.is != is {
				a.lists[r.ID] = listing{is, now}
			}
		}
		if !on || !r.Enabled {
			continue
		}
		for level := range r.Steps {
			c := w.channelOf(r.Steps[level].ChannelIDs[0])
			routed = routed || c.Enabled
			from := a.matched[r.ID] + rimewatch.Time(r.Steps[0].AfterS)*rimewatch.Second
			if level > 0 { // the level before has its time, anew after a silence
				if x, told := a.last[r.Steps[0].ChannelIDs[0]]; told {
					from = max(from, x)
				}
				from = max(from, a.heldAt) + rimewatch.Time(r.Steps[1].AfterS-r.Steps[0].AfterS)*rimewatch.Second
			}
			held := a.row.Severity == rimewatch.Warning && (r.DigestAt != nil || w.quiet(r, a, now))
			if now >= from && c.Enabled && !held {
				due[c.ID] = true
			}
		}
	}
	for _, c := range w.channels {
		_, told := a.first[c.ID]
		if !active && !c.Enabled {
			a.over[c.ID] = true
		}
		if len(w.routes) == 0 && c.Enabled {
			due[c.ID] = true
		}
		w.due(a, fmt.Sprint("channel ", c.ID, " is to hear of it"), free && due[c.ID] && !told)
		lost := free && a.row.Severity == rimewatch.Critical && !routed && len(a.first) == 0
		w.due(a, fmt.Sprint("channel ", c.ID, " is to hear of what no route matches"), lost && c.Enabled && w.tested[c.ID])
		risen := free && a.risenAt != 0 && told && a.first[c.ID].at < a.risenAt && !a.first[c.ID].severe && a.last[c.ID] < a.risenAt
		w.due(a, fmt.Sprint("channel ", c.ID, " is to hear that it rose"), risen && c.Enabled && w.routeOn(a, c))
		w.due(a, fmt.Sprint("channel ", c.ID, " is to hear of the end"), !active && !muted && told && c.Enabled && w.recovers(a.first[c.ID]) && !a.over[c.ID] &&
			(a.row.Severity == rimewatch.Critical || !w.quiet(w.routeOf(a.first[c.ID]), a, now)))
		if w.tested[c.ID] = w.tested[c.ID] || told; told {
			continue
		}
	}
}

func (w *drawn) channelOf(id int64) *rimewatch.Channel {
	return w.channels[slices.IndexFunc(w.channels, func(c *rimewatch.Channel) bool { return c.ID == id })]
}

// routeOf returns the route by which a message came, nil = none did.
func (w *drawn) routeOf(x receipt) *rimewatch.Route {
	for _, r := range w.routes {
		if strings.Contains(x.key, fmt.Sprintf("/%s/%d/", x.kind, r.ID)) {
			return r
		}
	}
	return nil
}

func (w *drawn) routeOn(a *drawnAlert, c *rimewatch.Channel) bool {
	r := w.routeOf(a.first[c.ID])
	return len(w.routes) == 0 || r != nil && r.Enabled && a.matches(&r.Match)
}

func (w *drawn) recovers(x receipt) bool {
	r := w.routeOf(x)
	return r == nil || r.Recovery
}

// due counts for how many seconds something has been due.
func (w *drawn) due(a *drawnAlert, what string, is bool) {
	if !is {
		delete(a.owed, what)
		return
	}
	a.owed[what]++
	w.counts.Due++
	if a.owed[what] > lateAfter+1 && w.now() > w.troubled+rimewatch.Time(lateAfter)*rimewatch.Second {
		w.Errorf("alert %d (%s at %d): %s for %d s", a.row.ID, a.row.Severity, a.site, what, a.owed[what])
	}
}
