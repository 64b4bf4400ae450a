package notify

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
)

// Check reports whether a channel can be used: CodeValidationFailed. It connects to
// nobody.
func (s *Service) Check(c *rimewatch.Channel) error {
	if sender := s.cfg.Senders[c.Kind]; sender != nil {
		return sender.Check(c)
	}
	if c.Enabled {
		return rimewatch.Invalid("kind", "cannot be %s: %s", c.Kind, rimewatch.Sentencef(s.Missing(c.Kind)))
	}
	return nil
}

// Missing says why a kind of channel cannot be used here, "" = it can.
func (s *Service) Missing(k rimewatch.ChannelKind) string {
	switch {
	case s.cfg.Senders[k] != nil:
		return ""
	case k == rimewatch.ChannelEmail:
		return "this server has no mail server (--smtp-host)"
	case k == rimewatch.ChannelCall:
		return "this server does not know the address that Twilio reaches it at (--public-url)"
	default:
		return "this server is not set up for it"
	}
}

// testWait bounds how long a person waits for the result of a test.
const testWait = 10 * time.Second

// Test sends a message to a channel now, switched on or not, and returns what came
// of it: sent or failed. CodeNotFound when there is no such channel.
func (s *Service) Test(ctx context.Context, workspaceID, channelID int64) (rimewatch.Delivery, error) {
	c, err := s.store.Routing().Channels().Get(ctx, workspaceID, channelID)
	if err != nil {
		return rimewatch.Delivery{}, err
	}
	now := s.now()
	key := fmt.Sprintf("test/%d/%s", channelID, rand.Text())
	m, err := s.testMessage(ctx, &c, key, now)
	if err != nil {
		return rimewatch.Delivery{}, err
	}
	body, err := m.Encode()
	if err != nil {
		return rimewatch.Delivery{}, err
	}
	d := &rimewatch.Delivery{
		WorkspaceID: workspaceID, Key: key, ChannelID: channelID, Kind: rimewatch.DeliveryTest,
		Status: rimewatch.DeliveryPending, NextAttemptAt: now, CreatedAt: now, Body: body,
	}
	// An attempt that is begun is brought to an end, whether or not the caller waits for it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), testWait)
	defer cancel()
	if err := s.store.Outbox().PutDeliveries(ctx, []*rimewatch.Delivery{d}, 0); err != nil {
		return rimewatch.Delivery{}, err
	}
	s.laneOf(workspaceID, channelID).attempt(ctx, []*item{{Delivery: d, since: now}}, true)
	return s.store.Outbox().Delivery(ctx, workspaceID, d.ID)
}

// Try sends a test message by a channel that is not stored, and stores nothing.
// The error is that of the attempt; the remark is what did not work although the
// message was taken, as Sentence.Stored returns it.
func (s *Service) Try(ctx context.Context, c *rimewatch.Channel) (remark string, err error) {
	key := "try/" + rand.Text()
	m, err := s.testMessage(ctx, c, key, s.now())
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, testWait)
	defer cancel()
	remark, err = s.call(ctx, c, key, m)
	if err != nil {
		return "", rimewatch.Wrap(rimewatch.CodeConflict, err, "%s", rimewatch.SentenceOf(kept(reasonOf(err))))
	}
	return kept(rimewatch.SentenceOf(remark)), nil
}

// Tested notes that a channel took a test before it was stored with the settings that
// it has: a delivery, and that it works. CodeNotFound when there is no such channel.
func (s *Service) Tested(ctx context.Context, workspaceID, channelID int64, at rimewatch.Time) error {
	c, err := s.store.Routing().Channels().Get(ctx, workspaceID, channelID)
	if err != nil {
		return err
	}
	d := &rimewatch.Delivery{
		WorkspaceID: workspaceID, Key: fmt.Sprintf("tested/%d/%d", channelID, at), ChannelID: channelID, Kind: rimewatch.DeliveryTest,
		Status: rimewatch.DeliverySent, Attempts: 1, CreatedAt: at, SentAt: at,
	}
	l := s.laneOf(workspaceID, channelID)
	l.report.Lock()
	defer l.report.Unlock()
	l.takeUp(&c)
	health := l.healthAfter(at, true, "")
	if err := s.store.Outbox().PutDeliveries(ctx, []*rimewatch.Delivery{d}, 0); err != nil {
		return err
	}
	if err := s.store.Outbox().UpdateDeliveries(ctx, []*rimewatch.Delivery{d}, &health); err != nil {
		return err
	}
	l.conclude(&c, &item{Delivery: d, since: at}, health)
	return nil
}

// testMessage returns the message that says that a channel works.
func (s *Service) testMessage(ctx context.Context, c *rimewatch.Channel, key string, now rimewatch.Time) (*message.Message, error) {
	w, err := s.store.Workspace(ctx, c.WorkspaceID)
	if err != nil {
		return nil, err
	}
	return s.context(&w, c.Locale, key, rimewatch.ZoneOf(w.TimeZone), now).Test(c.Name), nil
}

// Resend sends a delivery again. One that was not sent is taken up where it was
// left, with its key: who has it all the same may drop the double. One that was
// sent becomes a new delivery. CodeNotFound when there is none.
func (s *Service) Resend(ctx context.Context, workspaceID, id int64) (rimewatch.Delivery, error) {
	d, err := s.store.Outbox().Delivery(ctx, workspaceID, id)
	if err != nil {
		return d, err
	}
	now := s.now()
	s.handing.RLock()
	defer s.handing.RUnlock()
	switch d.Status {
	case rimewatch.DeliveryPending:
		waits := d
		s.laneOf(workspaceID, d.ChannelID).retryNow(&waits, now)
		return d, nil
	case rimewatch.DeliverySent:
		first, _, _ := strings.Cut(d.Key, "/again/")
		d.Key = fmt.Sprintf("%s/again/%d", first, now)
		d.ID, d.Attempts, d.SentAt, d.CreatedAt, d.LastError = 0, 0, 0, now, ""
		d.Status, d.NextAttemptAt = rimewatch.DeliveryPending, now
		err = s.store.Outbox().PutDeliveries(ctx, []*rimewatch.Delivery{&d}, 0)
	default:
		d.Attempts, d.LastError, d.Status, d.NextAttemptAt = 0, "", rimewatch.DeliveryPending, now
		err = s.store.Outbox().UpdateDeliveries(ctx, []*rimewatch.Delivery{&d}, nil)
	}
	if err != nil {
		return d, err
	}
	if d.Status == rimewatch.DeliveryDropped {
		return d, rimewatch.Errorf(rimewatch.CodeConflict, "The channel of this delivery was removed.")
	}
	answer := d
	s.laneOf(workspaceID, d.ChannelID).push(&item{Delivery: &d, since: now})
	return answer, nil
}

// retryNow makes a waiting delivery's next attempt now.
func (l *lane) retryNow(d *rimewatch.Delivery, now rimewatch.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.queueOf(d)
	it := q.items[d.ID]
	switch {
	case it == nil && q.n > 0:
		it = newItem(d, now)
		q.items[d.ID] = it
		q.left()
	case it == nil, it.Due() == 0:
		return
	}
	it.NextAttemptAt = now
	q.wait(it)
	l.signal()
}
