package notify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/deadline"
	"github.com/rimewatch/rimewatch/internal/notify/message"
)

// retries are the pauses after each attempt that failed; the last one recurs.
var retries = []time.Duration{
	5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
	10 * time.Minute, 20 * time.Minute, 30 * time.Minute, time.Hour,
}

const (
	giveUpAfter  = rimewatch.Day
	sendTimeout  = 15 * time.Second // above those of the senders
	probeAfter   = 3                // failures in a row from which on one message at a time is tried
	probeLongest = time.Minute      // the longest pause between two such messages
)

// pause is how long to wait after a number of failed attempts: by the schedule
// and ±20 %, so that many do not come back at once, and not before the receiver
// wants it.
func pause(attempts int, wanted time.Duration) time.Duration {
	d := retries[min(attempts, len(retries))-1]
	d += time.Duration((rand.Float64()*0.4 - 0.2) * float64(d))
	return max(d, wanted)
}

// item is a delivery in a lane.
type item struct {
	deadline.Entry // its next attempt; none while one is under way
	*rimewatch.Delivery
	since rimewatch.Time // from when on it is tried for a day
	again bool           // its alert is to be planned again after the attempt
	held  bool           // its alert is over: it waits to be dropped
	doubt bool           // it was in doubt before the attempt under way
	early rimewatch.Time // the receiver does not want it before this
	alone bool           // in one message with others it was refused
	file  *message.File  // attached, once it is made
}

// queue are the waiting deliveries of a lane, of one class. It has a bounded number of them;
// beyond that they wait in the store (see overflow).
type queue struct {
	waiting deadline.Queue[*item]
	items   map[int64]*item // waiting and under way, by id; those of the overflow are not
	overflow
}

// lane sends to one channel, urgent deliveries first. Its goroutine lives while something
// waits.
type lane struct {
	s                      *Service
	channelID, workspaceID int64
	wake                   chan struct{}

	mu       sync.Mutex
	queues   [2]queue // by class
	underWay int
	running  bool
	probed   rimewatch.Time     // when a failing channel was last tried
	single   bool               // the channel takes one alert in a message, as far as is known
	subjects map[string][]*item // of a webhook: the events of one are sent in order
	full     bool               // of a webhook: events wait until there is room

	report sync.Mutex // held while an attempt is noted, so that the notes come in order
	outage outage     // guarded by report; health also by mu
}

// laneOf finds the lane of a channel.
func (s *Service) laneOf(workspaceID, channelID int64) *lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lanes[channelID]
	if l == nil {
		l = &lane{s: s, channelID: channelID, workspaceID: workspaceID, wake: make(chan struct{}, 1)}
		for i := range l.queues {
			l.queues[i].items = make(map[int64]*item)
		}
		s.lanes[channelID] = l
	}
	return l
}

// hand puts stored deliveries into their lanes, those of a channel at once.
func (s *Service) hand(list ...*rimewatch.Delivery) {
	lanes, now := make(map[*lane][]*item), s.now()
	for _, d := range list {
		l := s.laneOf(d.WorkspaceID, d.ChannelID)
		lanes[l] = append(lanes[l], newItem(d, now))
	}
	for l, items := range lanes {
		l.push(items...)
	}
}

func (l *lane) push(list ...*item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, it := range list {
		if q := l.queueOf(it.Delivery); q.items[it.ID] == nil {
			q.items[it.ID] = it
			if l.channelID < 0 {
				l.line(q, it)
			} else {
				q.wait(it)
			}
		}
	}
	for i := range l.queues {
		l.queues[i].bound(l.s.cfg.PerLane)
	}
	l.signal()
}

func (l *lane) queueOf(d *rimewatch.Delivery) *queue { return &l.queues[classOf(d.Urgent)] }

// size is how many deliveries wait or are under way. l.mu is held.
func (l *lane) size() (n int) {
	for i := range l.queues {
		n += len(l.queues[i].items) + l.queues[i].n
	}
	return n
}

// wait queues an item for its next attempt. l.mu is held.
func (q *queue) wait(it *item) { q.waiting.Set(it, max(it.NextAttemptAt, 1)) }

// wait queues an item for its next attempt. l.mu is held.
func (l *lane) wait(it *item) { l.queueOf(it.Delivery).wait(it) }

// setBack moves the waiting deliveries when the clock is set back to now.
func (l *lane) setBack(by, now rimewatch.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.probed = 0
	for i := range l.queues {
		q := &l.queues[i]
		q.due = 0
		for _, it := range q.items {
			if it.Due() != 0 { // else it is under way
				it.since += by
				it.NextAttemptAt, it.early = min(it.NextAttemptAt, now), min(it.early, now)
				q.wait(it)
			}
		}
	}
	if l.size() > 0 {
		l.signal()
	}
}

// signal makes the lane's goroutine look at the queue. l.mu is held.
func (l *lane) signal() {
	if l.running {
		select {
		case l.wake <- struct{}{}:
		default:
		}
		return
	}
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if l.s.stopped {
		return
	}
	l.running = true
	l.s.workers.Go(l.run)
}

// state is for figures.
func (l *lane) state() (pending int, oldest rimewatch.Time, failing bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	older := func(t rimewatch.Time) {
		if oldest == 0 || t < oldest {
			oldest = t
		}
	}
	for i := range l.queues {
		q := &l.queues[i]
		if q.n > 0 {
			older(q.oldest)
		}
		for _, it := range q.items {
			older(it.CreatedAt)
		}
	}
	return l.size(), oldest, l.outage.health.Failures > 0
}

// run sends due deliveries until none waits.
func (l *lane) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		work, wait, more := l.next()
		if !more {
			return
		}
		if work != nil {
			l.s.workers.Go(work)
			continue
		}
		timer.Reset(wait)
		select {
		case <-l.s.ctx.Done():
			l.mu.Lock()
			l.running = false
			l.mu.Unlock()
			return
		case <-l.wake:
		case <-timer.C:
		}
	}
}

// next returns the work of the moment, which may be to send the items of one message,
// or else nil and how long to wait; more is false when nothing is left and the lane's goroutine
// ends.
func (l *lane) next() (work func(), wait time.Duration, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.s.ctx.Err() != nil || l.size() == 0 {
		l.running = false
		return nil, 0, false
	}
	now := l.s.now()
	wait = time.Hour // the end of one under way wakes
	for i := range l.queues {
		q := &l.queues[i]
		at := q.waiting.Next()
		switch {
		case q.asks(at, now, l.s.cfg.PerLane):
			return func() { l.refill(q, class(i) == urgent) }, 0, true
		case at == 0 && q.n > 0:
			wait = min(wait, max(q.after.Sub(now), time.Second))
			continue
		case at == 0:
			continue
		}
		room := l.s.cfg.PerChannel
		if class(i) != urgent && room > 1 {
			room-- // urgent ones find a place
		}
		if n := l.outage.health.Failures; n >= probeAfter {
			room = 1
			at = max(at, l.probed.Add(min(retries[0]<<min(n-probeAfter, 8), probeLongest)))
		}
		if l.underWay >= room {
			continue
		}
		if at <= now {
			return l.work(q, now), 0, true
		}
		wait = min(wait, at.Sub(now))
	}
	return nil, wait, true
}

// work takes the first item out of a queue and returns the work on it. l.mu
// is held.
func (l *lane) work(q *queue, now rimewatch.Time) func() {
	first, _ := q.waiting.Pop(now)
	if first.unmade() {
		return func() { l.prepare(first) }
	}
	l.underWay++
	l.probed = now
	list := l.gather(first, now)
	return func() { l.send(list) }
}

// send makes one attempt of waiting deliveries.
func (l *lane) send(list []*item) {
	if l.channelID < 0 {
		l.post(l.s.ctx, list[0], false)
	} else {
		list = l.attempt(l.s.ctx, list, false)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.underWay--
	for _, it := range list {
		if it.Status == rimewatch.DeliveryPending && l.s.ctx.Err() == nil {
			l.wait(it)
		} else {
			l.forget(it.Delivery)
		}
		if it.AlertID != 0 && (it.again || it.changesPlan()) {
			l.s.again(it.WorkspaceID, it.AlertID)
			it.again = false
		}
	}
	if l.running || l.size() > 0 {
		l.signal()
	}
}

// changesPlan reports whether its end may change who is to be notified of its alert: it
// came late, or not at all.
func (it *item) changesPlan() bool {
	return it.Status != rimewatch.DeliveryPending && (it.Status != rimewatch.DeliverySent || it.Attempts > 1)
}

// hold keeps the deliveries of an alert that is over, but for those that say so, from being
// sent, and returns which are being sent already: who sends one of them has its alert
// planned again. Only then it is certain who is to hear of the end, and after what.
func (s *Service) hold(list []rimewatch.Delivery) (underWay map[int64]bool) {
	underWay = make(map[int64]bool)
	for i := range list {
		d := &list[i]
		if d.Status != rimewatch.DeliveryPending || d.Kind == rimewatch.DeliveryRecovery {
			continue
		}
		l := s.laneOf(d.WorkspaceID, d.ChannelID)
		l.mu.Lock()
		q := l.queueOf(d)
		switch it := q.items[d.ID]; {
		case it == nil, it.held:
		case it.Due() == 0:
			underWay[d.ID], it.again = true, true
		default:
			q.waiting.Remove(it)
			it.held = true
		}
		l.mu.Unlock()
	}
	return underWay
}

// attempt sends deliveries once in one message, or the first alone if the channel
// takes no more, notes the result, and returns the items. once: it
// is given up when it fails.
func (l *lane) attempt(ctx context.Context, list []*item, once bool) []*item {
	s := l.s
	c, err := s.store.Routing().Channels().Get(ctx, l.workspaceID, l.channelID)
	switch {
	case rimewatch.CodeOf(err) == rimewatch.CodeNotFound:
		l.end(ctx, rimewatch.DeliveryDropped, "The channel was removed.", list...)
		return list
	case err != nil:
		for _, it := range list {
			it.NextAttemptAt = s.now() + rimewatch.Second
		}
		return list
	case !c.Enabled && !once:
		l.end(ctx, rimewatch.DeliveryDropped, "The channel is switched off.", list...)
		return list
	}
	list = l.split(&c, list)
	m, whole := l.compose(ctx, list)
	if len(whole) == 0 {
		return list
	}
	if whole = l.begin(ctx, whole); len(whole) == 0 {
		return list
	}
	key := whole[0].Key
	if len(whole) > 1 {
		key = m.Data.DeliveryID
	}
	s.letAcknowledge(ctx, &c, m)
	remark, err := s.call(ctx, &c, key, m)
	if ctx.Err() == nil || s.ctx.Err() == nil { // stopping: it is sent again after the next start
		l.note(ctx, whole, &c, remark, err, once)
	}
	return list
}

// begin stores that deliveries are about to be sent: after that they may have been
// received, whatever becomes of this process. It returns those that can be sent.
func (l *lane) begin(ctx context.Context, list []*item) []*item {
	var doubtful []*rimewatch.Delivery
	for _, it := range list {
		it.doubt = it.InDoubt
		it.Attempts++
		if it.AlertID != 0 {
			it.InDoubt = true
			doubtful = append(doubtful, it.Delivery)
		}
	}
	if len(doubtful) == 0 {
		return list
	}
	if err := l.s.store.Outbox().UpdateDeliveries(ctx, doubtful, nil); err != nil {
		l.s.log.Error("delivery", "key", list[0].Key, "deliveries", len(list), "err", err)
		for _, it := range list {
			it.InDoubt = it.doubt
			it.Attempts--
			it.NextAttemptAt = l.s.now() + rimewatch.Second
		}
		return nil
	}
	return slices.DeleteFunc(slices.Clone(list), func(it *item) bool { return it.Status != rimewatch.DeliveryPending }) // the channel is gone
}

// errUnread means that a message could not be read this time.
var errUnread = errors.New("the store does not answer")

// messageOf returns the message of a delivery: errUnread, or it cannot be read at all.
func (s *Service) messageOf(ctx context.Context, d *rimewatch.Delivery) (*message.Message, error) {
	body := d.Body
	if body == nil {
		stored, err := s.store.Outbox().Delivery(ctx, d.WorkspaceID, d.ID)
		if err != nil {
			return nil, errors.Join(errUnread, err)
		}
		body = stored.Body
	}
	return message.Decode(body)
}

// call lets a channel's sender work within a bounded time.
func (s *Service) call(ctx context.Context, c *rimewatch.Channel, key string, m *message.Message) (remark string, err error) {
	sender := s.cfg.Senders[c.Kind]
	if sender == nil {
		return "", rimewatch.Errorf(rimewatch.CodeForbidden, "This server is not set up to send %s messages.", c.Kind)
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout+m.Patience(len(c.To)))
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = rimewatch.Wrap(rimewatch.CodeUnavailable, fmt.Errorf("panic: %v", p), "The message could not be delivered.")
		}
	}()
	return sender.Send(ctx, c, key, m.Safe(false))
}

// end closes deliveries without an attempt. Where that cannot be stored they are looked at
// again in a second.
func (l *lane) end(ctx context.Context, status rimewatch.DeliveryStatus, why string, list ...*item) {
	for _, it := range list {
		it.Status, it.LastError = status, why
	}
	err := l.s.store.Outbox().UpdateDeliveries(ctx, stored(list), nil)
	if err != nil && rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
		l.s.log.Error("delivery", "key", list[0].Key, "deliveries", len(list), "err", err)
		for _, it := range list {
			it.Status, it.LastError, it.NextAttemptAt = rimewatch.DeliveryPending, "", l.s.now()+rimewatch.Second
		}
		return
	}
	l.s.count(list...)
}

// stored are the deliveries of items.
func stored(list []*item) []*rimewatch.Delivery {
	d := make([]*rimewatch.Delivery, len(list))
	for i, it := range list {
		d[i] = it.Delivery
	}
	return d
}

// note records an attempt: of the deliveries, of the channel, in the figures.
func (l *lane) note(ctx context.Context, list []*item, c *rimewatch.Channel, remark string, err error, once bool) {
	s := l.s
	now := s.now()
	for _, it := range list {
		it.attempted(now, remark, l.forCritical(it, err), once, len(list) > 1)
	}
	s.tried(err != nil)
	if err != nil {
		s.log.Warn("notification failed", "channel", c.Name, "key", list[0].Key, "deliveries", len(list), "attempt", list[0].Attempts, "err", err)
	}
	for !l.noted(list, c, now, err == nil) {
		select {
		case <-time.After(noteAgain):
		case <-ctx.Done():
			return
		case <-s.ctx.Done():
			return
		}
	}
	s.count(list...)
}

// noteAgain is the pause after the outcome of an attempt could not be stored. Until it is,
// the deliveries are under way: none of them is sent again, or taken for unsent.
const noteAgain = time.Second

// noted stores the outcome of an attempt that ended at a moment, and draws its conclusions;
// false = the store has failed.
func (l *lane) noted(list []*item, c *rimewatch.Channel, at rimewatch.Time, ok bool) bool {
	s := l.s
	l.report.Lock()
	defer l.report.Unlock()
	l.takeUp(c)
	health := l.healthAfter(at, ok, list[0].LastError)
	// Also while the service stops: the result must not be forgotten.
	err := s.store.Outbox().UpdateDeliveries(context.WithoutCancel(s.ctx), stored(list), &health)
	if err != nil {
		s.log.Error("delivery", "key", list[0].Key, "err", err)
	}
	if err != nil && rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
		return false
	}
	l.conclude(c, list[0], health)
	return true
}

// forCritical makes a refusal worth a retry where the message is of a critical
// alert: a 404 may come from a proxy during a deployment.
func (l *lane) forCritical(it *item, err error) error {
	if err == nil || it.AlertID == 0 || rimewatch.CodeOf(err) != rimewatch.CodeConflict {
		return err
	}
	a, failed := l.s.store.Alert(l.s.ctx, it.WorkspaceID, it.AlertID)
	if failed != nil || a.Severity != rimewatch.Critical {
		return err
	}
	return rimewatch.Wrap(rimewatch.CodeUnavailable, err, "%s", reasonOf(err))
}

// attempted changes an item by its attempt. bundled: it went in one message with
// others; when that is refused for good, each of them is tried alone.
func (it *item) attempted(now rimewatch.Time, remark string, err error, once, bundled bool) {
	it.Body, it.file = nil, nil // a second attempt reads or makes them again
	if err == nil {
		it.InDoubt = false
		it.Status, it.SentAt, it.LastError = rimewatch.DeliverySent, now, kept(rimewatch.SentenceOf(remark))
		return
	}
	it.LastError = kept(reasonOf(err))
	unknown := rimewatch.CodeOf(err) == rimewatch.CodeOutcomeUnknown
	it.InDoubt = it.AlertID != 0 && (it.doubt || unknown)
	final := !unknown && rimewatch.CodeOf(err) != rimewatch.CodeUnavailable
	if final && bundled {
		it.alone, it.NextAttemptAt, it.early = true, now, now
		return
	}
	wanted := time.Duration(0)
	if e := errorOf(err); e != nil {
		wanted = e.RetryAfter
	}
	it.NextAttemptAt = now.Add(pause(it.Attempts, wanted))
	it.early = now.Add(wanted)
	if once || final || it.NextAttemptAt > it.since+giveUpAfter {
		it.Status = rimewatch.DeliveryFailed
	}
}

// drop ends a delivery that has become pointless, because its alert is over or has become
// critical. False: it is under way or has been sent since it was read, and then its alert
// is planned again, or the store has failed.
func (s *Service) drop(ctx context.Context, d *rimewatch.Delivery, over bool) bool {
	why := rimewatch.Sentencef("The alert became critical before this could be sent.").String()
	if over {
		why = rimewatch.Sentencef("The alert was resolved before this could be sent.").String()
	}
	l := s.laneOf(d.WorkspaceID, d.ChannelID)
	l.mu.Lock()
	q := l.queueOf(d)
	it := q.items[d.ID]
	switch {
	case it == nil:
		l.mu.Unlock()
		return s.dropUnknown(ctx, l, d, why)
	case it.Due() == 0 && !it.held:
		it.again = true
		l.mu.Unlock()
		return false
	}
	q.waiting.Remove(it)
	it.held = true
	l.mu.Unlock()
	l.end(ctx, rimewatch.DeliveryDropped, why, it)
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.signal()
	if it.Status == rimewatch.DeliveryPending {
		if it.held = over; !over {
			q.wait(it)
		}
		return false
	}
	l.forget(d)
	return true
}

// dropUnknown drops a delivery that no lane has and that was not noted as sent.
func (s *Service) dropUnknown(ctx context.Context, l *lane, d *rimewatch.Delivery, why string) bool {
	stored, err := s.store.Outbox().Delivery(ctx, d.WorkspaceID, d.ID)
	if err != nil {
		s.log.Error("delivery", "key", d.Key, "err", err)
		return false
	}
	if stored.Status != rimewatch.DeliveryPending {
		s.again(d.WorkspaceID, d.AlertID)
		return false
	}
	x := &item{Delivery: &stored}
	l.end(ctx, rimewatch.DeliveryDropped, why, x)
	if x.Status == rimewatch.DeliveryPending {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.queueOf(d)
	if it := q.items[d.ID]; it == nil {
		q.left()
	} else if it.Due() != 0 { // it has come from the store meanwhile
		q.waiting.Remove(it)
	}
	l.forget(d)
	return true
}

// reasonOf returns the part of an error that people may see.
func reasonOf(err error) rimewatch.Sentence {
	if e := errorOf(err); e != nil && e.Message != "" {
		return e.Sentence()
	}
	return rimewatch.Sentencef("The message could not be delivered.")
}

// kept returns a sentence as it can be stored. One that is too long, or has a receiver's control
// characters in it, stays in English.
func kept(s rimewatch.Sentence) string {
	text := s.String()
	stored, line := s.Stored(), clip(text)
	if line != text || len(stored) > rimewatch.MaxDeliveryErrorLen {
		return line
	}
	return stored
}

// clip makes a receiver's words a line that can be stored.
func clip(s string) string {
	s = strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s), "�")
	if len(s) <= rimewatch.MaxDeliveryErrorLen {
		return s
	}
	return rimewatch.Shorten(s, rimewatch.MaxDeliveryErrorLen-len("…"))
}
