package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/deadline"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/notify/plan"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

const (
	readSlice   = 500              // transitions read at once
	lookSlice   = 100              // alerts planned between two readings of new transitions
	writeSlice  = 100              // deliveries in one write: commits wait behind it
	unplanned   = 20_000           // alerts whose new transitions are held; the rest waits in the store
	idleRound   = 15 * time.Second // the planner goes round at least this often
	troubleFor  = time.Second      // pause after the store has failed
	triedAgain  = rimewatch.Minute // the longest pause after an alert could not be planned
	triedForAll = rimewatch.Day    // how long such an alert keeps what came after it from counting as planned
	endedKept   = 7 * rimewatch.Day
)

// planner is the state of the planner goroutine.
type planner struct {
	read     int64                        // id of the last transition that was read
	mark     int64                        // id of the last transition that is stored as planned, with all before it
	queues   [2]deadline.Queue[*look]     // by class
	looks    map[int64]*look              // alerts that are to be planned, by id
	open     map[int64]*look              // those of them of which transitions are not planned
	active   map[int64]map[int64]bool     // active alerts by workspace
	digested map[int64]rimewatch.Time     // by route: the last digest that is dealt with
	handed   map[int64]rimewatch.Time     // by rota: until when hand-overs are dealt with
	checked  map[checkNews]rimewatch.Time // when what became of a check was told
	digestAt rimewatch.Time               // when digests and reports are looked at next
	zones    map[string]*time.Location    // by name
}

func (p *planner) init() {
	p.looks = make(map[int64]*look)
	p.open = make(map[int64]*look)
	p.active = make(map[int64]map[int64]bool)
	p.digested = make(map[int64]rimewatch.Time)
	p.handed = make(map[int64]rimewatch.Time)
	p.checked = make(map[checkNews]rimewatch.Time)
	p.zones = make(map[string]*time.Location)
}

// class orders urgent deliveries, those of critical alerts, before all others.
type class int

const (
	urgent class = iota
	ordinary
)

func classOf(isUrgent bool) class {
	if isUrgent {
		return urgent
	}
	return ordinary
}

// look is an alert that is to be planned at a moment.
type look struct {
	deadline.Entry
	workspace, alert int64
	class            class
	first            int64                       // the first of its transitions that are not planned, 0 = all are
	whole            []rimewatch.AlertTransition // all that it has had, with no deliveries made; nil = the store has more
	since            rimewatch.Time              // when it could not be planned at first, 0 = the last time it could
	pause            rimewatch.Time              // before it is tried again
}

// lookOf returns the look of an alert, and makes one that is due at no moment.
func (p *planner) lookOf(workspace, alert int64) *look {
	l := p.looks[alert]
	if l == nil {
		l = &look{workspace: workspace, alert: alert, class: ordinary}
		p.looks[alert] = l
	}
	return l
}

// setLook notes when an alert is to be planned next, 0 = not by itself.
func (p *planner) setLook(l *look, at rimewatch.Time) {
	p.queues[l.class].Set(l, at)
	if at == 0 && l.first == 0 {
		delete(p.looks, l.alert)
	}
}

// classify moves an alert to those of another class. An alert that is no longer critical
// stays with those that are until it is planned.
func (p *planner) classify(l *look, c class) {
	if l.class != c {
		at := l.Due()
		p.queues[l.class].Set(l, 0)
		l.class = c
		p.queues[l.class].Set(l, at)
	}
}

// due takes the alerts whose moment has come, at most n, those of critical ones first.
func (p *planner) due(now rimewatch.Time, n int) (list []*look) {
	for i := range p.queues {
		for len(list) < n {
			l, ok := p.queues[i].Pop(now)
			if !ok {
				break
			}
			list = append(list, l)
		}
	}
	return list
}

// next is when an alert is to be planned next, 0 = none is.
func (p *planner) next() rimewatch.Time {
	x, y := p.queues[urgent].Next(), p.queues[ordinary].Next()
	if x == 0 || y == 0 {
		return max(x, y)
	}
	return min(x, y)
}

// take adds a transition to those to be planned.
func (p *planner) take(t *rimewatch.AlertTransition, now, started rimewatch.Time) {
	p.read = t.ID
	switch t.Kind {
	case rimewatch.TransitionNoted, rimewatch.TransitionFeedback, rimewatch.TransitionCorrective, rimewatch.TransitionUpdated:
		return
	default: // may change who is notified
	}
	l := p.lookOf(t.WorkspaceID, t.AlertID)
	switch {
	case l.first == 0:
		l.first = t.ID
		if t.Kind == rimewatch.TransitionOpened && t.At >= started {
			l.whole = []rimewatch.AlertTransition{*t}
		}
	case l.whole != nil:
		l.whole = append(l.whole, *t)
	}
	p.open[l.alert] = l
	if t.Severity == rimewatch.Critical && t.Kind != rimewatch.TransitionResolved {
		p.classify(l, urgent)
	}
	p.setLook(l, now)
}

// through is the id of the last transition that is planned, with all before it, once
// those of settled are stored.
func (p *planner) through(settled map[*look]bool) int64 {
	id := p.read
	for _, l := range p.open {
		if !settled[l] {
			id = min(id, l.first-1)
		}
	}
	return id
}

// settle notes that all of an alert's transitions are planned, and when it is to be
// planned next, 0 = not by itself.
func (p *planner) settle(l *look, at rimewatch.Time) {
	delete(p.open, l.alert)
	l.first, l.whole, l.since, l.pause = 0, nil, 0, 0
	p.setLook(l, at)
}

// putOff has an alert that could not be planned tried again, first after a second. Its
// transitions are not planned: neither a restart nor another node forgets them.
func (p *planner) putOff(l *look, now rimewatch.Time) {
	if l.since == 0 {
		l.since = now
	}
	if now-l.since > triedForAll { // its row cannot be read: the alerts after it go on
		delete(p.open, l.alert)
		l.first = 0
	}
	l.whole = nil
	l.pause = min(max(2*l.pause, rimewatch.Second), triedAgain)
	p.setLook(l, now+l.pause)
}

func (p *planner) setActive(v *rimewatch.Alert) {
	of := p.active[v.WorkspaceID]
	if v.Status != rimewatch.AlertActive {
		delete(of, v.ID)
		return
	}
	if of == nil {
		of = make(map[int64]bool)
		p.active[v.WorkspaceID] = of
	}
	of[v.ID] = true
}

// restore takes up the state from the store: how far it was planned, what waits
// to be sent, and which alerts are active and may have moments of their own.
func (s *Service) restore(ctx context.Context) (err error) {
	p := &s.planner
	if p.mark, err = s.store.Outbox().PlannedThrough(ctx); err != nil {
		return err
	}
	p.read = p.mark
	err = s.store.Everywhere().AllActiveAlerts(ctx, func(a *rimewatch.Alert) error {
		p.setActive(a)
		l := p.lookOf(a.WorkspaceID, a.ID)
		p.classify(l, classOf(a.Severity == rimewatch.Critical))
		p.setLook(l, s.started)
		return nil
	})
	if err != nil {
		return err
	}
	var tests []*rimewatch.Delivery
	s.handing.RLock()
	defer s.handing.RUnlock()
	err = s.store.Everywhere().AllPendingDeliveries(ctx, func(d *rimewatch.Delivery) error {
		if d.Kind == rimewatch.DeliveryTest { // whoever asked has gone
			d.Status = rimewatch.DeliveryDropped
			tests = append(tests, d)
			return nil
		}
		if d.AlertID != 0 && !p.active[d.WorkspaceID][d.AlertID] {
			p.setLook(p.lookOf(d.WorkspaceID, d.AlertID), s.started)
			if d.Kind != rimewatch.DeliveryRecovery {
				return nil // the alert has ended: it is dropped
			}
		}
		d.Body = nil // it is read when it is sent
		s.hand(d)
		return nil
	})
	if err != nil {
		return err
	}
	for _, d := range tests {
		if err := s.store.Outbox().UpdateDeliveries(ctx, []*rimewatch.Delivery{d}, nil); err != nil {
			return err
		}
	}
	return nil
}

// run is the planner goroutine.
func (s *Service) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.ctx.Done():
			s.finish()
			return
		case <-s.wake:
		case <-timer.C:
		}
		wait, err := s.round(s.ctx)
		if err != nil && s.ctx.Err() == nil {
			s.log.Error("notifications", "err", err)
			wait = troubleFor
		} else {
			s.turned.Store(int64(s.now()))
		}
		timer.Reset(wait)
	}
}

// round plans what there is to plan and returns how long nothing is to be done.
func (s *Service) round(ctx context.Context) (time.Duration, error) {
	p := &s.planner
	if err := s.planDue(ctx); err != nil {
		return 0, err
	}
	if now := s.now(); now >= p.digestAt {
		if err := s.digests(ctx, now); err != nil {
			return 0, err
		}
		if err := s.reports(ctx, now); err != nil {
			return 0, err
		}
		p.digestAt = now + digestEvery
	}
	wait := idleRound
	if at := p.next(); at != 0 {
		wait = min(wait, max(at.Sub(s.now()), 0))
	}
	return wait, nil
}

// planDue plans what the timelines have gained and the alerts whose moment has come,
// slice by slice: what is critical by then goes first in each.
func (s *Service) planDue(ctx context.Context) error {
	p := &s.planner
	for {
		if err := s.readTransitions(ctx); err != nil {
			return err
		}
		s.takeAsked()
		list := p.due(s.now(), lookSlice)
		if len(list) == 0 {
			break
		}
		if err := s.planSlice(ctx, list); err != nil {
			return err
		}
		s.turned.Store(int64(s.now()))
	}
	if through := p.through(nil); through > p.mark {
		if err := s.store.Outbox().PutDeliveries(ctx, nil, through); err != nil {
			return err
		}
		p.mark = through
	}
	return nil
}

func (s *Service) planSlice(ctx context.Context, list []*look) error {
	b := s.newBatch(ctx)
	for _, l := range list {
		b.try(l)
	}
	err := b.store()
	if err != nil {
		for _, l := range list { // a part may be stored
			s.planner.putOff(l, s.now())
		}
	}
	return err
}

// takeAsked turns wishes of other goroutines into looks.
func (s *Service) takeAsked() {
	p, now := &s.planner, s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for alert, workspace := range s.asked {
		p.setLook(p.lookOf(workspace, alert), now)
	}
	if s.back {
		s.back, p.digestAt = false, 0
		for workspace := range p.active {
			s.changed[workspace] = true
		}
	}
	for workspace := range s.changed {
		for alert := range p.active[workspace] {
			p.setLook(p.lookOf(workspace, alert), now)
		}
	}
	clear(s.asked)
	clear(s.changed)
}

// readTransitions reads what the timelines have gained.
func (s *Service) readTransitions(ctx context.Context) error {
	p := &s.planner
	for len(p.open) < unplanned {
		list, err := s.store.Everywhere().AllTransitionsAfter(ctx, p.read, readSlice)
		if err != nil || len(list) == 0 {
			return err
		}
		now := s.now()
		for i := range list {
			p.take(&list[i], now, s.started)
		}
	}
	return nil
}

// batch is what is planned and stored together. The rules of a workspace are
// read once for it.
type batch struct {
	s          *Service
	ctx        context.Context
	workspaces map[int64]*workspace
	deliveries []*rimewatch.Delivery
	planned    []planned
}

// planned is what was decided about an alert.
type planned struct {
	*look
	failed bool
	plan.Result
	drops []rimewatch.Delivery // Result.Drop, as they were read
	over  bool                 // the alert is resolved
}

type workspace struct {
	rimewatch.Workspace
	rules plan.Rules
}

func (s *Service) newBatch(ctx context.Context) *batch {
	return &batch{s: s, ctx: ctx, workspaces: make(map[int64]*workspace)}
}

func (b *batch) workspace(id int64) (*workspace, error) {
	if w := b.workspaces[id]; w != nil {
		return w, nil
	}
	w := &workspace{}
	var err error
	if w.Workspace, err = b.s.store.Workspace(b.ctx, id); err != nil {
		return nil, err
	}
	if w.rules, err = readRules(b.ctx, b.s.store, id, b.s.now()-endedKept); err != nil {
		return nil, err
	}
	b.workspaces[id] = w
	return w, nil
}

// wayStore keeps the ways in which people are notified.
type wayStore interface {
	Routing() store.Routing
	People() store.People
}

// readWays reads a workspace's channels and members.
func readWays(ctx context.Context, s wayStore, workspaceID int64) (r plan.Rules, err error) {
	if r.Channels, err = s.Routing().Channels().List(ctx, workspaceID); err != nil {
		return r, err
	}
	members, err := s.People().Members(ctx, workspaceID)
	for i := range members {
		m := &members[i]
		r.Members = append(r.Members, plan.Member{UserID: m.UserID, Name: cmp.Or(m.Name, m.Email), Email: rimewatch.EmailKey(m.Email), Role: m.Role, Sites: m.Sites})
	}
	slices.SortFunc(r.Members, func(x, y plan.Member) int { return strings.Compare(x.Email, y.Email) })
	return r, err
}

// ruleStore keeps what a workspace has decided.
type ruleStore interface {
	wayStore
	Contacts() store.Resource[rimewatch.Contact]
	Sites() store.Resource[rimewatch.Site]
	Workspace(ctx context.Context, id int64) (rimewatch.Workspace, error)
}

// readRules reads what a workspace has decided; of silences and windows those that end
// after a moment.
func readRules(ctx context.Context, s ruleStore, workspaceID int64, ended rimewatch.Time) (r plan.Rules, err error) {
	if r, err = readWays(ctx, s, workspaceID); err != nil {
		return r, err
	}
	if r.Routes, err = s.Routing().Routes().List(ctx, workspaceID); err != nil {
		return r, err
	}
	if err = readDuty(ctx, s, workspaceID, &r); err != nil {
		return r, err
	}
	if r.Silences, _, err = s.Routing().Silences().Select(ctx, workspaceID, store.Selection{EndAfter: ended}); err != nil {
		return r, err
	}
	r.Maintenance, _, err = s.Routing().MaintenanceWindows().Select(ctx, workspaceID, store.Selection{EndAfter: ended})
	return r, err
}

// readDuty reads who is on duty, by which clocks, and whom to call.
func readDuty(ctx context.Context, s ruleStore, workspaceID int64, r *plan.Rules) (err error) {
	// Whoever is limited to sites asks what holds for them, which may follow from what is elsewhere.
	ctx = store.WithSites(ctx, nil)
	if r.Contacts, err = s.Contacts().List(ctx, workspaceID); err != nil {
		return err
	}
	rotas, err := s.Routing().Rotas().List(ctx, workspaceID)
	if err != nil || len(rotas) == 0 {
		return err
	}
	w, err := s.Workspace(ctx, workspaceID)
	if err != nil {
		return err
	}
	sites, err := s.Sites().List(ctx, workspaceID)
	for i := range rotas {
		name := w.TimeZone
		if j := slices.IndexFunc(sites, func(x rimewatch.Site) bool { return x.ID == rotas[i].SiteID }); j >= 0 {
			name = sites[j].TimeZone
		}
		r.Rotas = append(r.Rotas, plan.Rota{Rota: rotas[i], Zone: rimewatch.ZoneOf(name)})
	}
	return err
}

// try plans an alert. One that cannot be planned is tried again and holds nobody else up.
func (b *batch) try(l *look) {
	x := planned{look: l}
	if err := b.plan(&x); err != nil {
		x = planned{look: l, failed: true}
		if b.ctx.Err() == nil {
			b.s.log.Error("notifications of an alert", "alert", l.alert, "err", err)
		}
	}
	b.planned = append(b.planned, x)
}

// plan decides about one alert.
func (b *batch) plan(x *planned) error {
	s, l := b.s, x.look
	w, err := b.workspace(l.workspace)
	if err != nil {
		return err
	}
	if len(w.rules.Channels) == 0 && l.whole != nil && l.class != urgent {
		// Nobody can be notified. The first channel makes all active alerts be looked at.
		s.planner.setActive(&rimewatch.Alert{ID: l.alert, WorkspaceID: l.workspace, Status: statusAfter(l.whole)})
		return nil
	}
	v, err := s.store.Alert(b.ctx, l.workspace, l.alert)
	if rimewatch.CodeOf(err) == rimewatch.CodeAlertNotFound {
		s.note(l.alert, missed{})
		return nil
	}
	if err != nil {
		return err
	}
	in := plan.Input{Alert: &v, Timeline: l.whole, Rules: &w.rules, Zone: s.zoneOf(&v, &w.Workspace), Now: s.now()}
	x.over = v.Status == rimewatch.AlertResolved
	if l.whole == nil {
		if in.Timeline, err = s.store.Outbox().AlertTransitions(b.ctx, l.workspace, l.alert); err != nil {
			return err
		}
		if in.Made, err = s.store.Outbox().AlertDeliveries(b.ctx, l.workspace, l.alert); err != nil {
			return err
		}
		if x.over {
			in.UnderWay = s.hold(in.Made)
			if slices.ContainsFunc(in.Made, func(d rimewatch.Delivery) bool { return d.InDoubt && !in.UnderWay[d.ID] }) {
				// One that was being sent when it was read may have ended before it was held: held, it stands.
				if in.Made, err = s.store.Outbox().AlertDeliveries(b.ctx, l.workspace, l.alert); err != nil {
					return err
				}
			}
		}
	}
	x.Result = plan.Alert(&in)
	s.note(l.alert, missed{l.workspace, x.Unrouted, x.Untold})
	s.planner.setActive(&v.Alert)
	s.planner.classify(l, classOf(!x.over && v.Severity == rimewatch.Critical))
	for i := range in.Made {
		if slices.Contains(x.Drop, in.Made[i].ID) {
			x.drops = append(x.drops, in.Made[i])
		}
	}
	return b.write(&v, w, &in, x.Wanted)
}

// statusAfter is an alert's status at the end of its timeline.
func statusAfter(timeline []rimewatch.AlertTransition) rimewatch.AlertStatus {
	for _, t := range timeline {
		if t.Kind == rimewatch.TransitionResolved {
			return rimewatch.AlertResolved
		}
	}
	return rimewatch.AlertActive
}

// write makes the deliveries that are wanted, with their contents.
func (b *batch) write(v *rimewatch.AlertView, w *workspace, in *plan.Input, wanted []plan.Wanted) error {
	if len(wanted) == 0 {
		return nil
	}
	for i := range wanted {
		d := wanted[i].Delivery
		c := b.s.context(&w.Workspace, localeOf(w.rules.Channels, d.ChannelID), d.Key, in.Zone, in.Now)
		c.Contacts = contactsOf(&w.rules, *v)
		var err error
		if c.Alert, err = wire.AppendJSON(nil, wire.NewAlert(v, phrase.In(c.Locale).For(v))); err != nil {
			return err
		}
		m := c.Of(v, message.Reason{Kind: d.Kind, Level: d.Level, After: wanted[i].After})
		if d.Body, err = m.Encode(); err == nil && len(d.Body) > rimewatch.MaxDeliveryBodyLen {
			m.Data.Alert = json.RawMessage("null") // people's part is short; the link has the rest
			d.Body, err = m.Encode()
		}
		if err != nil {
			return err
		}
		b.deliveries = append(b.deliveries, &d)
	}
	return nil
}

// contactsOf are whom to call about those alerts that are active.
func contactsOf(r *plan.Rules, alerts ...rimewatch.AlertView) (list []rimewatch.Contact) {
	for i := range r.Contacts {
		x := &r.Contacts[i]
		if slices.ContainsFunc(alerts, func(v rimewatch.AlertView) bool {
			return v.Status == rimewatch.AlertActive && v.Site != nil && x.SiteID == v.Site.ID
		}) {
			list = append(list, *x)
		}
	}
	return list
}

// store makes a batch durable and hands its deliveries to their lanes, urgent ones first.
// How far the timelines are planned is stored with the last of them; an alert counts as
// planned once what it no longer needs is dropped.
func (b *batch) store() error {
	p := &b.s.planner
	settled := make(map[*look]bool, len(b.planned))
	for i := range b.planned {
		x := &b.planned[i]
		settled[x.look] = !x.failed && !x.Waits && len(x.drops) == 0
	}
	through := p.through(settled)
	slices.SortStableFunc(b.deliveries, func(x, y *rimewatch.Delivery) int { return cmp.Compare(classOf(x.Urgent), classOf(y.Urgent)) })
	for list := b.deliveries; ; {
		n := min(len(list), writeSlice)
		mark := int64(0)
		if n == len(list) && through > p.mark {
			mark = through
		}
		if err := b.putAndHand(list[:n], mark); err != nil {
			return err
		}
		if list = list[n:]; len(list) == 0 {
			break
		}
	}
	p.mark = max(p.mark, through)
	for i := range b.planned {
		b.finish(&b.planned[i])
	}
	return nil
}

// finish carries out what is left of a decision once it is stored, and notes when the
// alert is to be planned next.
func (b *batch) finish(x *planned) {
	s, p, now := b.s, &b.s.planner, b.s.now()
	if x.failed {
		p.putOff(x.look, now)
		return
	}
	for i := range x.drops {
		if !s.drop(b.ctx, &x.drops[i], x.over) && x.over {
			x.Waits = true
		}
	}
	if x.Waits { // who sends it asks for it again
		x.whole = nil
		p.setLook(x.look, now+triedAgain)
		return
	}
	p.settle(x.look, x.Next)
}

// pendingOf returns those of a list that wait to be sent.
func pendingOf(list []*rimewatch.Delivery) []*rimewatch.Delivery {
	return slices.DeleteFunc(slices.Clone(list), func(d *rimewatch.Delivery) bool { return d.Status != rimewatch.DeliveryPending })
}

// put stores deliveries. One that the store will never take must not keep it
// from taking the others.
func (b *batch) put(list []*rimewatch.Delivery, through int64) error {
	err := b.s.store.Outbox().PutDeliveries(b.ctx, list, through)
	if rimewatch.CodeOf(err) != rimewatch.CodeValidationFailed {
		return err
	}
	for _, d := range list {
		if err := b.s.store.Outbox().PutDeliveries(b.ctx, []*rimewatch.Delivery{d}, 0); err != nil {
			if rimewatch.CodeOf(err) != rimewatch.CodeValidationFailed {
				return err
			}
			d.Status = rimewatch.DeliveryFailed
			b.s.log.Error("delivery cannot be stored", "key", d.Key, "err", err)
		}
	}
	return b.s.store.Outbox().PutDeliveries(b.ctx, nil, through)
}

func (s *Service) context(w *rimewatch.Workspace, l rimewatch.Locale, key string, zone *time.Location, now rimewatch.Time) *message.Context {
	c := &message.Context{Key: key, Locale: l, Workspace: message.Ref{ID: w.ID, Name: w.Name, Slug: w.Slug}, Zone: zone, Now: now}
	if s.cfg.Address != nil {
		c.PublicURL = s.cfg.Address(s.ctx)
	}
	return c
}

// localeOf is how those read who are notified through a channel.
func localeOf(list []rimewatch.Channel, id int64) rimewatch.Locale {
	if i := slices.IndexFunc(list, func(c rimewatch.Channel) bool { return c.ID == id }); i >= 0 {
		return list[i].Locale
	}
	return rimewatch.Locale{}
}

// zoneOf is the time zone of an alert's site, or of its workspace.
func (s *Service) zoneOf(v *rimewatch.AlertView, w *rimewatch.Workspace) *time.Location {
	return s.zone(zoneName(v, w))
}

func zoneName(v *rimewatch.AlertView, w *rimewatch.Workspace) string {
	if v.Site != nil && v.Site.TimeZone != "" {
		return v.Site.TimeZone
	}
	return w.TimeZone
}

// zone finds a time zone; what is not known is UTC. Of the planner goroutine.
func (s *Service) zone(name string) *time.Location {
	if z := s.planner.zones[name]; z != nil {
		return z
	}
	z := rimewatch.ZoneOf(name)
	s.planner.zones[name] = z
	return z
}
