package notify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/store"
)

// When a failing channel is reported through another one: after this many attempts
// in a row, or after this time, or when a message is given up.
const (
	outageAttempts = 5
	outageTime     = 15 * rimewatch.Minute
)

const (
	linesTold = 10  // waiting deliveries that a report lists
	logSearch = 200 // deliveries that are searched for an earlier report
)

// outage is the state of a channel's failures.
type outage struct {
	known      bool // taken up from the store
	health     rimewatch.ChannelHealth
	since      rimewatch.Time // first failure in a row
	reportedTo int64          // the channel that was notified of it, 0 = none
}

// takeUp takes the channel's health from the store at the first attempt.
// l.report is held.
func (l *lane) takeUp(c *rimewatch.Channel) {
	o := &l.outage
	if o.known {
		return
	}
	l.mu.Lock()
	o.known, o.health = true, c.ChannelHealth
	l.mu.Unlock()
	if o.health.Failures == 0 {
		return
	}
	o.since = o.health.LastFailureAt
	list, _, err := l.s.store.Outbox().Deliveries(l.s.ctx, l.workspaceID, 0, store.Page{Limit: logSearch})
	if err != nil {
		return // at worst it is reported once more: the key keeps that from happening
	}
	for i := range list {
		if list[i].Key == l.outageKey(o.health.LastSuccessAt, "failing") {
			o.reportedTo = list[i].ChannelID
		}
	}
}

// outageKey is the same for every report of an outage: what its beginning is
// counted from is the success before it.
func (l *lane) outageKey(before rimewatch.Time, what string) string {
	return fmt.Sprintf("fallback/%d/%d/%s", l.channelID, before, what)
}

// healthAfter is the channel's health after an attempt. l.report is held.
func (l *lane) healthAfter(now rimewatch.Time, ok bool, text string) rimewatch.ChannelHealth {
	h := l.outage.health
	if ok {
		h.LastSuccessAt, h.Failures, h.LastError = now, 0, ""
	} else {
		h.LastFailureAt, h.Failures, h.LastError = now, h.Failures+1, text
	}
	return h
}

// conclude takes over the channel's new health and draws its conclusions: a
// failing channel is reported through another one, one that works again sends what
// waits. l.report is held.
func (l *lane) conclude(c *rimewatch.Channel, it *item, health rimewatch.ChannelHealth) {
	o, now, before := &l.outage, l.s.now(), l.outage.health
	ok := health.Failures == 0
	l.mu.Lock()
	o.health = health
	if ok && before.Failures > 0 {
		l.flush(now)
	}
	for i := range l.queues {
		if q := &l.queues[i]; !ok && q.eager {
			q.eager, q.due = false, 0
		}
	}
	l.mu.Unlock()
	if !ok && before.Failures == 0 {
		o.since = now
	}
	if ok && (before.Failures > 0 || before.LastSuccessAt == 0) {
		l.s.Changed(l.workspaceID) // critical alerts that nobody was notified of have a channel now
	}
	switch {
	case ok && o.reportedTo != 0:
		l.tell(c, o.reportedTo, l.outageKey(before.LastSuccessAt, "recovered"), (*message.Context).Recovered)
		o.reportedTo = 0
	case ok, o.reportedTo != 0, it.Kind == rimewatch.DeliveryTest:
	case health.Failures >= outageAttempts, now-o.since >= outageTime, it.Status == rimewatch.DeliveryFailed:
		if to := l.other(c); to != 0 {
			l.tell(c, to, l.outageKey(before.LastSuccessAt, "failing"), (*message.Context).Failing)
			o.reportedTo = to
		} else {
			l.s.log.Error("a channel fails and there is no other one", "workspace", l.workspaceID, "channel", c.Name)
		}
	}
}

// flush lets everything that waits go at once, unless its receiver has asked for
// patience. l.mu is held.
func (l *lane) flush(now rimewatch.Time) {
	for i := range l.queues {
		q := &l.queues[i]
		for _, id := range slices.Sorted(maps.Keys(q.items)) {
			if it := q.items[id]; it.Due() != 0 && it.Attempts > 0 { // one under way is its attempt's
				it.NextAttemptAt = max(now, it.early)
				q.wait(it)
			}
		}
		q.eager = q.n > 0
	}
}

// other returns the channel through which a failing one is reported, 0 = there is none.
func (l *lane) other(c *rimewatch.Channel) int64 {
	r, err := readWays(l.s.ctx, l.s.store, l.workspaceID)
	if err != nil {
		return 0
	}
	return r.Fallback(c)
}

// tell notifies another channel. The key sees to it that it is done once.
func (l *lane) tell(c *rimewatch.Channel, to int64, key string, text func(*message.Context, *message.Outage) *message.Message) {
	s := l.s
	if err := s.put(l.outageDelivery(c, to, key, text)); err != nil {
		s.log.Error("report of a failing channel", "channel", c.Name, "err", err)
	}
}

func (l *lane) outageDelivery(c *rimewatch.Channel, to int64, key string, text func(*message.Context, *message.Outage) *message.Message) (*rimewatch.Delivery, error) {
	s, now := l.s, l.s.now()
	w, err := s.store.Workspace(s.ctx, l.workspaceID)
	if err != nil {
		return nil, err
	}
	other, err := s.store.Routing().Channels().Get(s.ctx, l.workspaceID, to)
	if err != nil {
		return nil, err
	}
	words := s.context(&w, other.Locale, key, rimewatch.ZoneOf(w.TimeZone), now)
	o := &message.Outage{Channel: c.Name, Since: l.outage.since, Error: rimewatch.SentenceOf(l.outage.health.LastError)}
	o.Waiting, o.More = l.lines(words)
	body, err := text(words, o).Encode()
	return &rimewatch.Delivery{
		WorkspaceID: l.workspaceID, Key: key, ChannelID: to, Kind: rimewatch.DeliveryFallback,
		Status: rimewatch.DeliveryPending, NextAttemptAt: now, CreatedAt: now, Body: body, Urgent: l.holdsUrgent(),
	}, err
}

// holdsUrgent reports whether something urgent waits for the channel.
func (l *lane) holdsUrgent() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := &l.queues[urgent]
	return len(q.items)+q.n > 0
}

// lines list what waits for the channel, one line an alert, what is urgent and then what is
// older first, in the words of those who hear of it.
func (l *lane) lines(words *message.Context) (lines []message.Line, more int) {
	l.mu.Lock()
	var alerts []int64
	for i := range l.queues {
		q := &l.queues[i]
		more += q.n
		of := make(map[int64]bool)
		for _, it := range q.items {
			if it.AlertID != 0 && it.Kind != rimewatch.DeliveryRecovery && !slices.Contains(alerts, it.AlertID) {
				of[it.AlertID] = true
			}
		}
		alerts = slices.AppendSeq(alerts, slices.Values(slices.Sorted(maps.Keys(of))))
	}
	l.mu.Unlock()
	for _, id := range alerts {
		if len(lines) == linesTold {
			more++
			continue
		}
		v, err := l.s.store.Alert(l.s.ctx, l.workspaceID, id)
		if err != nil || v.Status != rimewatch.AlertActive {
			continue
		}
		lines = append(lines, words.Line(&v))
	}
	return lines, more
}

// put stores a delivery of one of the once-only keys and hands it over, unless
// the key exists already.
func (s *Service) put(d *rimewatch.Delivery, err error) error {
	if err != nil {
		return err
	}
	ctx := context.WithoutCancel(s.ctx)
	s.handing.RLock()
	defer s.handing.RUnlock()
	if err := s.store.Outbox().PutDeliveries(ctx, []*rimewatch.Delivery{d}, 0); err != nil {
		return err
	}
	stored, err := s.store.Outbox().Delivery(ctx, d.WorkspaceID, d.ID)
	if err != nil {
		return err
	}
	if stored.Status == rimewatch.DeliveryPending {
		s.hand(&stored)
	}
	return nil
}

func errorOf(err error) *rimewatch.Error {
	var e *rimewatch.Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}
