package notify

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/event"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Poster hands an event to a webhook once; id is the event's, the same for every attempt.
// Any error is worth another attempt, but one with CodeNotFound: the receiver is gone.
type Poster interface {
	Post(ctx context.Context, w *rimewatch.Webhook, id string, body []byte) error
}

const (
	hookMost  = 500 // events that wait for a webhook as deliveries; the rest waits as events
	hookSlice = 50  // commits whose events are read at once
)

// programs is what the goroutine that sends events to webhooks knows. Each webhook has its
// position among the events of its workspace. From there on they become deliveries in its
// lane, as many as it holds; so a webhook that is dead costs its own lane, and no memory.
type programs struct {
	wake chan struct{}
	// due are the workspaces that have events which were not looked at; guarded by Service.mu.
	due map[int64]bool
	all bool // every workspace may have some; guarded by Service.mu
}

func (p *programs) init() { p.wake, p.due, p.all = make(chan struct{}, 1), make(map[int64]bool), true }

// Happened hears of commits with events. It returns at once.
func (s *Service) Happened(rows []store.EventRow) {
	s.mu.Lock()
	for i := range rows {
		s.programs.due[rows[i].WorkspaceID] = true
	}
	s.mu.Unlock()
	s.programs.rouse()
}

// WebhooksChanged is called when a workspace's webhooks have changed.
func (s *Service) WebhooksChanged(workspaceID int64) {
	s.Happened([]store.EventRow{{WorkspaceID: workspaceID}})
}

func (p *programs) rouse() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// runPrograms plans what goes to webhooks, until the service stops. It waits for no receiver.
func (s *Service) runPrograms() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.programs.wake:
		case <-timer.C: // what other processes have changed
			s.mu.Lock()
			s.programs.all = true
			s.mu.Unlock()
		}
		wait := idleRound
		if err := s.planPrograms(s.ctx); err != nil && s.ctx.Err() == nil {
			s.log.Error("events for webhooks", "err", err)
			wait = troubleFor
		}
		timer.Reset(wait)
	}
}

// planPrograms plans for every webhook whose workspace has news.
func (s *Service) planPrograms(ctx context.Context) error {
	s.mu.Lock()
	due, all := s.programs.due, s.programs.all
	s.programs.due, s.programs.all = make(map[int64]bool), false
	s.mu.Unlock()
	if len(due) == 0 && !all {
		return nil
	}
	hooks, err := s.store.Everywhere().AllWebhooks(ctx)
	for i := range hooks {
		if w := &hooks[i]; err == nil && (all || due[w.WorkspaceID]) {
			err = s.planHook(ctx, w)
		}
	}
	return err
}

func (s *Service) hookHolds() int { return min(hookMost, s.cfg.PerLane) }

// planHook turns the next events into deliveries, as many as the webhook's lane has room for.
// Where it has none, the lane asks again once it has.
func (s *Service) planHook(ctx context.Context, w *rimewatch.Webhook) error {
	l := s.laneOf(w.WorkspaceID, -w.ID)
	for {
		room := l.room(s.hookHolds())
		if room == 0 {
			return nil
		}
		list, err := s.store.Outbox().Events(ctx, w.WorkspaceID, w.Through, hookSlice)
		if err != nil || len(list) == 0 {
			return err
		}
		var deliveries []*rimewatch.Delivery
		through, now := w.Through, s.now()
		for i := range list {
			e := &list[i]
			if w.Wants(e) {
				if len(deliveries) == room {
					break
				}
				d, err := s.eventDelivery(ctx, w, e, now)
				if err != nil {
					return err
				}
				deliveries = append(deliveries, d)
			}
			through = e.Number
		}
		err = s.putEvents(ctx, w, deliveries, through)
		if rimewatch.CodeOf(err) == rimewatch.CodeConflict { // it was changed: whoever did asks again
			return nil
		}
		if err != nil {
			return err
		}
		w.Through = through
	}
}

func (s *Service) eventDelivery(ctx context.Context, w *rimewatch.Webhook, e *rimewatch.Event, now rimewatch.Time) (*rimewatch.Delivery, error) {
	body, err := s.eventBody(ctx, e)
	return &rimewatch.Delivery{
		WorkspaceID: w.WorkspaceID, Key: rimewatch.EventKey(w, e.Number), ChannelID: -w.ID, Subject: e.Subject, Kind: rimewatch.DeliveryEvent,
		Status: rimewatch.DeliveryPending, NextAttemptAt: now, CreatedAt: now, Body: body,
	}, err
}

func (s *Service) eventBody(ctx context.Context, e *rimewatch.Event) ([]byte, error) {
	x, err := event.Write(ctx, s.store, e, rimewatch.Locale{})
	if err != nil {
		return nil, err
	}
	return wire.AppendJSON(nil, x)
}

// putEvents stores deliveries without their bodies, which the store has as events, and hands
// them to their lane.
func (s *Service) putEvents(ctx context.Context, w *rimewatch.Webhook, list []*rimewatch.Delivery, through int64) error {
	bodies := make([][]byte, len(list))
	for i, d := range list {
		bodies[i], d.Body = d.Body, nil
	}
	if err := s.store.Outbox().PutEventDeliveries(ctx, w, list, through); err != nil {
		return err
	}
	for i, d := range list {
		d.Body = bodies[i]
	}
	s.hand(list...)
	return nil
}

// room is how many more the lane takes up to a bound; where it is none, the planner is woken
// once there is some.
func (l *lane) room(most int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := max(most-l.size(), 0)
	l.full = n == 0
	return n
}

// line keeps the deliveries of one subject in order: only the first of them waits for its
// attempt. l.mu is held.
func (l *lane) line(q *queue, it *item) {
	list := l.subjects[it.Subject]
	i, _ := slices.BinarySearchFunc(list, it.ID, func(x *item, id int64) int { return int(x.ID - id) })
	list = slices.Insert(list, i, it)
	if l.subjects == nil {
		l.subjects = make(map[string][]*item)
	}
	l.subjects[it.Subject] = list
	if i > 0 {
		return
	}
	if len(list) > 1 && list[1].Due() != 0 { // it is earlier than the first so far, which is not under way
		q.waiting.Remove(list[1])
	}
	q.wait(it)
}

// leave takes a delivery that has ended out of its line. After the first the next one waits for
// its attempt; behind one that is under way nothing begins. l.mu is held.
func (l *lane) leave(q *queue, it *item) {
	list := l.subjects[it.Subject]
	first := len(list) > 0 && list[0] == it
	list = slices.DeleteFunc(list, func(x *item) bool { return x == it })
	if len(list) == 0 {
		delete(l.subjects, it.Subject)
	} else {
		l.subjects[it.Subject] = list
		if first && list[0].Due() == 0 {
			q.wait(list[0])
		}
	}
	if l.full && l.size() <= l.s.hookHolds()/2 {
		l.full = false
		l.s.WebhooksChanged(l.workspaceID)
	}
}

// post makes one attempt of an event, or of a ping (once).
func (l *lane) post(ctx context.Context, it *item, once bool) {
	s := l.s
	w, err := s.store.Outbox().Webhooks().Get(ctx, l.workspaceID, -l.channelID)
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound || err == nil && !once && (!w.Enabled || !it.of(&w)) {
		it.Status = rimewatch.DeliveryDropped // as the store has it
		return
	}
	if err == nil && it.Body == nil {
		err = l.readEvent(ctx, it)
	}
	if err != nil {
		it.NextAttemptAt = s.now() + rimewatch.Second
		return
	}
	if it.Status != rimewatch.DeliveryPending {
		return
	}
	it.Attempts++
	err = s.postOnce(ctx, &w, it)
	if ctx.Err() != nil && s.ctx.Err() != nil { // stopping: it is sent again after the next start
		return
	}
	l.notePost(ctx, it, &w, err, once)
}

// of reports whether a delivery was planned in the present run of its webhook.
func (it *item) of(w *rimewatch.Webhook) bool {
	n, ok := rimewatch.EventOfKey(it.Key)
	return ok && it.Key == rimewatch.EventKey(w, n)
}

// readEvent reads what is to be sent. An event that is kept no longer is given up.
func (l *lane) readEvent(ctx context.Context, it *item) error {
	n, _ := rimewatch.EventOfKey(it.Key)
	list, err := l.s.store.Outbox().Events(ctx, l.workspaceID, n-1, 1)
	if err != nil {
		return err
	}
	if len(list) == 0 || list[0].Number != n {
		l.end(ctx, rimewatch.DeliveryFailed, "The event is no longer kept.", it)
		return nil
	}
	it.Body, err = l.s.eventBody(ctx, &list[0])
	return err
}

// postOnce lets the sender work within a bounded time.
func (s *Service) postOnce(ctx context.Context, w *rimewatch.Webhook, it *item) (err error) {
	if s.cfg.Post == nil {
		return rimewatch.Errorf(rimewatch.CodeUnavailable, "This server is not set up to send %s messages.", "webhook")
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = rimewatch.Wrap(rimewatch.CodeUnavailable, fmt.Errorf("panic: %v", p), "The message could not be delivered.")
		}
	}()
	id := it.Key
	if n, ok := rimewatch.EventOfKey(it.Key); ok {
		id = rimewatch.EventID(w.WorkspaceID, n)
	}
	return s.cfg.Post.Post(ctx, w, id, it.Body)
}

// notePost records an attempt: of the delivery, of the webhook, in the figures.
func (l *lane) notePost(ctx context.Context, it *item, w *rimewatch.Webhook, err error, once bool) {
	s, now := l.s, l.s.now()
	it.posted(now, err, once)
	s.tried(err != nil)
	if err != nil {
		s.log.Warn("webhook failed", "webhook", w.ID, "key", it.Key, "attempt", it.Attempts, "err", err)
	}
	for !l.postNoted(it, w, now, err) {
		select {
		case <-time.After(noteAgain):
		case <-ctx.Done():
			return
		case <-s.ctx.Done():
			return
		}
	}
	s.count(it)
	if !once {
		l.giveUp(ctx, w, now, err)
	}
}

// giveUp switches a webhook off whose receiver is gone, or has failed for days.
func (l *lane) giveUp(ctx context.Context, w *rimewatch.Webhook, now rimewatch.Time, err error) {
	switch since := l.failingSince(); {
	case err == nil:
	case rimewatch.CodeOf(err) == rimewatch.CodeNotFound:
		l.stopHook(ctx, w, rimewatch.Sentencef("The receiver says that it is gone (410)."))
	case since != 0 && now-since >= rimewatch.WebhookOffAfter:
		l.stopHook(ctx, w, rimewatch.Sentencef("Nothing could be delivered for five days."))
	}
}

// posted changes an item by its attempt. Whatever a program answers, it may answer otherwise
// in three days: a proxy may refuse during a deployment.
func (it *item) posted(now rimewatch.Time, err error, once bool) {
	if err == nil {
		it.Status, it.SentAt, it.LastError, it.Body = rimewatch.DeliverySent, now, "", nil
		return
	}
	it.LastError = kept(reasonOf(err))
	wanted := time.Duration(0)
	if e := errorOf(err); e != nil {
		wanted = e.RetryAfter
	}
	it.NextAttemptAt, it.early = now.Add(pause(it.Attempts, wanted)), now.Add(wanted)
	if once || it.NextAttemptAt > it.since+rimewatch.WebhookTriesFor {
		it.Status = rimewatch.DeliveryFailed
	}
}

// postNoted stores the outcome of an attempt; false = the store has failed.
func (l *lane) postNoted(it *item, w *rimewatch.Webhook, at rimewatch.Time, outcome error) bool {
	stored := *it.Delivery
	if it.Kind == rimewatch.DeliveryEvent {
		stored.Body = nil
	}
	return l.noteHook(w, at, outcome, it.Key, it.LastError, func(ctx context.Context, h *rimewatch.ChannelHealth) error {
		return l.s.store.Outbox().UpdateDeliveries(ctx, []*rimewatch.Delivery{&stored}, h)
	})
}

// noteHook stores what an attempt says of how its webhook works; false = the store has failed.
func (l *lane) noteHook(w *rimewatch.Webhook, at rimewatch.Time, outcome error, key, text string, put func(context.Context, *rimewatch.ChannelHealth) error) bool {
	s := l.s
	l.report.Lock()
	defer l.report.Unlock()
	o := &l.outage
	if !o.known {
		l.mu.Lock()
		o.known, o.health, o.since = true, w.ChannelHealth, w.FailingSince
		l.mu.Unlock()
	}
	health := l.healthAfter(at, outcome == nil, text)
	// Also while the service stops: what is known must not be forgotten.
	err := put(context.WithoutCancel(s.ctx), &health)
	if err != nil && rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
		s.log.Error("delivery", "key", key, "err", err)
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch before := o.health.Failures; {
	case outcome != nil && before == 0:
		o.since = at
	case outcome == nil && before > 0:
		o.since = 0
		o.health = health
		l.flush(at)
	}
	o.health = health
	return true
}

func (l *lane) failingSince() rimewatch.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.outage.since
}

// stopHook switches a webhook off, and tells people through a channel that works.
func (l *lane) stopHook(ctx context.Context, w *rimewatch.Webhook, why rimewatch.Sentence) {
	s := l.s
	if err := s.store.Outbox().StopWebhook(ctx, l.workspaceID, w.ID, why.Stored()); err != nil {
		s.log.Error("switch a webhook off", "webhook", w.ID, "err", err)
		return
	}
	l.report.Lock()
	l.mu.Lock()
	l.outage = outage{} // whoever switches it on again begins anew
	l.mu.Unlock()
	l.report.Unlock()
	s.log.Warn("a webhook is switched off", "workspace", l.workspaceID, "webhook", w.ID, "why", why.String())
	if err := s.tellOff(ctx, w, why); err != nil {
		s.log.Error("report of a webhook that is switched off", "webhook", w.ID, "err", err)
	}
}

func (s *Service) tellOff(ctx context.Context, hook *rimewatch.Webhook, why rimewatch.Sentence) error {
	ways, err := readWays(ctx, s.store, hook.WorkspaceID)
	if err != nil {
		return err
	}
	to := ways.Fallback(&rimewatch.Channel{})
	if to == 0 {
		return nil // the page says it
	}
	w, err := s.store.Workspace(ctx, hook.WorkspaceID)
	if err != nil {
		return err
	}
	now, key := s.now(), fmt.Sprintf("webhook/%d/%d/off", hook.ID, hook.Run)
	words := s.context(&w, localeOf(ways.Channels, to), key, rimewatch.ZoneOf(w.TimeZone), now)
	body, err := words.WebhookOff(&message.Outage{Channel: hook.Description, Since: hook.FailingSince, Error: why}).Encode()
	return s.put(&rimewatch.Delivery{
		WorkspaceID: hook.WorkspaceID, Key: key, ChannelID: to, Kind: rimewatch.DeliveryFallback, Status: rimewatch.DeliveryPending, NextAttemptAt: now, CreatedAt: now, Body: body,
	}, err)
}

// Ping sends a webhook an event of the type ping now, switched on or not, and returns what
// came of it: sent or failed. CodeNotFound when there is no such webhook.
func (s *Service) Ping(ctx context.Context, workspaceID, id int64) (rimewatch.Delivery, error) {
	if _, err := s.store.Outbox().Webhooks().Get(ctx, workspaceID, id); err != nil {
		return rimewatch.Delivery{}, err
	}
	now, key := s.now(), "ping_"+rand.Text()
	x := wire.Event{ID: key, At: now, Type: "ping", Subject: rimewatch.EventSubject("webhook", id), Data: wire.EventData(`{}`)}
	body, err := wire.AppendJSON(nil, x)
	if err != nil {
		return rimewatch.Delivery{}, err
	}
	d := &rimewatch.Delivery{
		WorkspaceID: workspaceID, Key: key, ChannelID: -id, Kind: rimewatch.DeliveryTest, Status: rimewatch.DeliveryPending, NextAttemptAt: now, CreatedAt: now, Body: body,
	}
	// An attempt that is begun is brought to an end, whether or not the caller waits for it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), testWait)
	defer cancel()
	if err := s.store.Outbox().PutDeliveries(ctx, []*rimewatch.Delivery{d}, 0); err != nil {
		return rimewatch.Delivery{}, err
	}
	s.laneOf(workspaceID, -id).post(ctx, &item{Delivery: d, since: now}, true)
	return s.store.Outbox().Delivery(ctx, workspaceID, d.ID)
}

// Replay sends the events after a number again, in order: CodeNotFound when there is no such
// webhook, CodeConflict while it is switched off.
func (s *Service) Replay(ctx context.Context, workspaceID, id, after int64) (rimewatch.Webhook, error) {
	w, err := s.store.Outbox().Webhooks().Get(ctx, workspaceID, id)
	if err == nil && !w.Enabled {
		err = rimewatch.Errorf(rimewatch.CodeConflict, "The webhook is switched off.")
	}
	if err == nil {
		w, err = s.store.Outbox().RewindWebhook(ctx, workspaceID, id, after)
	}
	if err == nil {
		s.WebhooksChanged(workspaceID)
	}
	return w, err
}
