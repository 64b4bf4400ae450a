package notify

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/deadline"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/notify/plan"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/wire"
)

const (
	readSlice  = 500              // transitions read at once
	lookSlice  = 100              // alerts looked at between two readings of new transitions
	writeSlice = 100              // deliveries in one write: commits wait behind it
	idleRound  = 15 * time.Second // the planner goes round at least this often
	troubleFor = time.Second      // pause after the store has failed
	endedKept  = 7 * rimewatch.Day
)

// planner is what the planner goroutine knows.
type planner struct {
	mark     int64 // id of the last transition that is planned
	distrust int64 // transitions up to this id may have been planned in part
	queue    deadline.Queue[*look]
	looks    map[int64]*look           // those in the queue, by alert
	active   map[int64]map[int64]bool  // active alerts by workspace
	digested map[int64]rimewatch.Time  // by route: the last digest that is dealt with
	digestAt rimewatch.Time            // when digests and reports are looked at next
	zones    map[string]*time.Location // by name
}

func (p *planner) init() {
	p.looks = make(map[int64]*look)
	p.active = make(map[int64]map[int64]bool)
	p.digested = make(map[int64]rimewatch.Time)
	p.zones = make(map[string]*time.Location)
}

// look is an alert that is planned again at a moment.
type look struct {
	deadline.Entry
	workspace, alert int64
}

// wish is when an alert is to be looked at next, 0 = not by itself.
type wish struct {
	workspace, alert int64
	at               rimewatch.Time
}

// setLook notes when an alert is to be looked at next, 0 = not by itself.
func (p *planner) setLook(workspace, alert int64, at rimewatch.Time) {
	l := p.looks[alert]
	switch {
	case l != nil && at == 0:
		p.queue.Remove(l)
		delete(p.looks, alert)
	case at != 0:
		if l == nil {
			l = &look{workspace: workspace, alert: alert}
			p.looks[alert] = l
		}
		p.queue.Set(l, at)
	}
}

// due takes the alerts whose moment has come, at most n.
func (p *planner) due(now rimewatch.Time, n int) (list []*look) {
	for len(list) < n {
		l, ok := p.queue.Pop(now)
		if !ok {
			break
		}
		delete(p.looks, l.alert)
		list = append(list, l)
	}
	return list
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
	if p.mark, err = s.store.PlannedThrough(ctx); err != nil {
		return err
	}
	var tests []*rimewatch.Delivery
	s.handing.RLock()
	err = s.store.AllPendingDeliveries(ctx, func(d *rimewatch.Delivery) error {
		if d.Kind == rimewatch.DeliveryTest { // whoever asked has gone
			d.Status = rimewatch.DeliveryDropped
			tests = append(tests, d)
			return nil
		}
		if d.AlertID != 0 {
			p.setLook(d.WorkspaceID, d.AlertID, s.started) // it may have ended in between
		}
		d.Body = nil // it is read when it is sent
		s.hand(d)
		return nil
	})
	s.handing.RUnlock()
	if err != nil {
		return err
	}
	for _, d := range tests {
		if err := s.store.UpdateDeliveries(ctx, []*rimewatch.Delivery{d}, nil); err != nil {
			return err
		}
	}
	return s.store.AllActiveAlerts(ctx, func(a *rimewatch.Alert) error {
		p.setActive(a)
		p.setLook(a.WorkspaceID, a.ID, s.started)
		return nil
	})
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
	if err := s.readTransitions(ctx); err != nil {
		return 0, err
	}
	s.takeAsked()
	for {
		list := p.due(s.now(), lookSlice)
		if len(list) == 0 {
			break
		}
		b := s.newBatch(ctx)
		for _, l := range list {
			b.try(l.workspace, l.alert, nil)
		}
		if err := b.store(0); err != nil {
			for _, l := range list {
				p.setLook(l.workspace, l.alert, s.now()+rimewatch.Second)
			}
			return 0, err
		}
		s.turned.Store(int64(s.now()))
		if err := s.readTransitions(ctx); err != nil {
			return 0, err
		}
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
	if at := p.queue.Next(); at != 0 {
		wait = min(wait, max(at.Sub(s.now()), 0))
	}
	return wait, nil
}

// takeAsked turns wishes of other goroutines into looks.
func (s *Service) takeAsked() {
	p, now := &s.planner, s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for alert, workspace := range s.asked {
		p.setLook(workspace, alert, now)
	}
	if s.back {
		s.back, p.digestAt = false, 0
		for workspace := range p.active {
			s.changed[workspace] = true
		}
	}
	for workspace := range s.changed {
		for alert := range p.active[workspace] {
			p.setLook(workspace, alert, now)
		}
	}
	clear(s.asked)
	clear(s.changed)
}

// readTransitions plans what the timelines have gained.
func (s *Service) readTransitions(ctx context.Context) error {
	p := &s.planner
	for {
		list, err := s.store.AllTransitionsAfter(ctx, p.mark, readSlice)
		if err != nil || len(list) == 0 {
			return err
		}
		last := list[len(list)-1].ID
		b := s.newBatch(ctx)
		for _, g := range byAlert(list) {
			b.try(g[0].WorkspaceID, g[0].AlertID, s.wholeTimeline(g))
		}
		if err := b.store(last); err != nil {
			p.distrust = last
			return err
		}
		p.mark = last
		s.turned.Store(int64(s.now()))
	}
}

// byAlert groups the transitions that may change who is to be notified, in the
// order of each alert's first.
func byAlert(list []rimewatch.AlertTransition) (groups [][]rimewatch.AlertTransition) {
	index := make(map[int64]int)
	for _, t := range list {
		switch t.Kind {
		case rimewatch.TransitionNoted, rimewatch.TransitionFeedback, rimewatch.TransitionCorrective, rimewatch.TransitionUpdated:
			continue
		default: // may change who is notified
		}
		i, ok := index[t.AlertID]
		if !ok {
			i = len(groups)
			index[t.AlertID] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], t)
	}
	return groups
}

// wholeTimeline returns transitions that are all an alert has had, nil when there
// may be others, and deliveries, in the store. That spares a new alert, the one
// that is in a hurry, two questions.
func (s *Service) wholeTimeline(g []rimewatch.AlertTransition) []rimewatch.AlertTransition {
	if g[0].Kind == rimewatch.TransitionOpened && g[0].At >= s.started && g[0].ID > s.planner.distrust {
		return g
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
	wishes     []wish
	drops      []rimewatch.Delivery
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
	if w.rules.Channels, err = b.s.store.Channels(b.ctx, id); err != nil {
		return nil, err
	}
	if w.rules.Routes, err = b.s.store.Routes(b.ctx, id); err != nil {
		return nil, err
	}
	ended := b.s.now() - endedKept
	if w.rules.Silences, err = b.s.store.Silences(b.ctx, id, ended); err != nil {
		return nil, err
	}
	if w.rules.Maintenance, err = b.s.store.MaintenanceWindows(b.ctx, id, ended); err != nil {
		return nil, err
	}
	b.workspaces[id] = w
	return w, nil
}

// try plans an alert. One that cannot be planned is tried again in a minute and
// holds nobody else up.
func (b *batch) try(workspaceID, alertID int64, timeline []rimewatch.AlertTransition) {
	if err := b.plan(workspaceID, alertID, timeline); err != nil {
		b.wishes = append(b.wishes, wish{workspaceID, alertID, b.s.now() + rimewatch.Minute})
		if b.ctx.Err() != nil { // the stop: nothing of the batch will be stored
			return
		}
		b.s.log.Error("notifications of an alert", "alert", alertID, "err", err)
	}
}

// plan decides about one alert. timeline is all that has happened to it, with
// no deliveries made, or nil.
func (b *batch) plan(workspaceID, alertID int64, timeline []rimewatch.AlertTransition) error {
	s := b.s
	w, err := b.workspace(workspaceID)
	if err != nil {
		return err
	}
	if len(w.rules.Channels) == 0 && timeline != nil {
		// Nobody can be notified. The first channel makes all active alerts be looked at.
		s.planner.setActive(&rimewatch.Alert{ID: alertID, WorkspaceID: workspaceID, Status: statusAfter(timeline)})
		return nil
	}
	v, err := s.store.Alert(b.ctx, workspaceID, alertID)
	if rimewatch.CodeOf(err) == rimewatch.CodeAlertNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	in := plan.Input{Alert: &v, Timeline: timeline, Rules: &w.rules, Zone: s.zoneOf(&v, &w.Workspace), Now: s.now()}
	if timeline == nil {
		if in.Timeline, err = s.store.AlertTransitions(b.ctx, workspaceID, alertID); err != nil {
			return err
		}
		if in.Made, err = s.store.AlertDeliveries(b.ctx, workspaceID, alertID); err != nil {
			return err
		}
	}
	r := plan.Alert(&in)
	s.planner.setActive(&v.Alert)
	b.wishes = append(b.wishes, wish{workspaceID, alertID, r.Next})
	for i := range in.Made {
		for _, id := range r.Drop {
			if in.Made[i].ID == id {
				b.drops = append(b.drops, in.Made[i])
			}
		}
	}
	return b.write(&v, w, &in, r.Wanted)
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

// store makes a batch durable and hands its deliveries to their lanes.
func (b *batch) store(through int64) error {
	s := b.s
	for list := b.deliveries; ; {
		n := min(len(list), writeSlice)
		mark := int64(0)
		if n == len(list) {
			mark = through
		}
		if err := b.putAndHand(list[:n], mark); err != nil {
			return err
		}
		if list = list[n:]; len(list) == 0 {
			break
		}
	}
	for i := range b.drops {
		s.drop(b.ctx, &b.drops[i])
	}
	for _, w := range b.wishes {
		s.planner.setLook(w.workspace, w.alert, w.at)
	}
	return nil
}

// pendingOf returns those of a list that wait to be sent.
func pendingOf(list []*rimewatch.Delivery) []*rimewatch.Delivery {
	return slices.DeleteFunc(slices.Clone(list), func(d *rimewatch.Delivery) bool { return d.Status != rimewatch.DeliveryPending })
}

// put stores deliveries. One that the store will never take must not keep it
// from taking the others.
func (b *batch) put(list []*rimewatch.Delivery, through int64) error {
	err := b.s.store.PutDeliveries(b.ctx, list, through)
	if rimewatch.CodeOf(err) != rimewatch.CodeValidationFailed {
		return err
	}
	for _, d := range list {
		if err := b.s.store.PutDeliveries(b.ctx, []*rimewatch.Delivery{d}, 0); err != nil {
			if rimewatch.CodeOf(err) != rimewatch.CodeValidationFailed {
				return err
			}
			d.Status = rimewatch.DeliveryFailed
			b.s.log.Error("delivery cannot be stored", "key", d.Key, "err", err)
		}
	}
	return b.s.store.PutDeliveries(b.ctx, nil, through)
}

func (s *Service) context(w *rimewatch.Workspace, l rimewatch.Locale, key string, zone *time.Location, now rimewatch.Time) *message.Context {
	return &message.Context{
		Key: key, Locale: l, Workspace: message.Ref{ID: w.ID, Name: w.Name}, Zone: zone, PublicURL: s.cfg.PublicURL, Now: now,
	}
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
	if v.Site != nil && v.Site.TimeZone != "" {
		return s.zone(v.Site.TimeZone)
	}
	return s.zone(w.TimeZone)
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
