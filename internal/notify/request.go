package notify

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Check reports whether a channel can be used: CodeValidationFailed. It connects to
// nobody.
func (s *Service) Check(c *rimewatch.Channel) error {
	sender := s.cfg.Senders[c.Kind]
	switch {
	case sender != nil:
		return sender.Check(c)
	case c.Enabled && c.Kind == rimewatch.ChannelEmail:
		return rimewatch.Invalid("kind", "cannot be email: this server has no mail server (--smtp-host)")
	case c.Enabled:
		return rimewatch.Invalid("kind", "cannot be %s: this server is not set up for it", c.Kind)
	default:
		return nil
	}
}

// testWait bounds how long a person waits for the result of a test.
const testWait = 10 * time.Second

// Test sends a message to a channel now, switched on or not, and returns what came
// of it: sent or failed. CodeNotFound when there is no such channel.
func (s *Service) Test(ctx context.Context, workspaceID, channelID int64) (rimewatch.Delivery, error) {
	c, err := s.store.Channel(ctx, workspaceID, channelID)
	if err != nil {
		return rimewatch.Delivery{}, err
	}
	w, err := s.store.Workspace(ctx, workspaceID)
	if err != nil {
		return rimewatch.Delivery{}, err
	}
	zone, err := time.LoadLocation(w.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	now := s.now()
	key := fmt.Sprintf("test/%d/%s", channelID, rand.Text())
	body, err := s.context(&w, c.Locale, key, zone, now).Test(c.Name).Encode()
	if err != nil {
		return rimewatch.Delivery{}, err
	}
	d := &rimewatch.Delivery{
		WorkspaceID: workspaceID, Key: key, ChannelID: channelID, Kind: rimewatch.DeliveryTest,
		Status: rimewatch.DeliveryPending, NextAttemptAt: now, CreatedAt: now, Body: body,
	}
	// What is begun is brought to an end, whether or not the caller waits for it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), testWait)
	defer cancel()
	if err := s.store.PutDeliveries(ctx, []*rimewatch.Delivery{d}, 0); err != nil {
		return rimewatch.Delivery{}, err
	}
	s.laneOf(workspaceID, channelID).attempt(ctx, []*item{{Delivery: d, since: now}}, true)
	return s.store.Delivery(ctx, workspaceID, d.ID)
}

// Resend sends a delivery again. One that was not sent is taken up where it was
// left, with its key: who has it all the same may drop the double. One that was
// sent becomes a new delivery. CodeNotFound when there is none.
func (s *Service) Resend(ctx context.Context, workspaceID, id int64) (rimewatch.Delivery, error) {
	d, err := s.store.Delivery(ctx, workspaceID, id)
	if err != nil {
		return d, err
	}
	now := s.now()
	switch d.Status {
	case rimewatch.DeliveryPending:
		s.laneOf(workspaceID, d.ChannelID).retryNow(d.ID, now)
		return d, nil
	case rimewatch.DeliverySent:
		first, _, _ := strings.Cut(d.Key, "/again/")
		d.Key = fmt.Sprintf("%s/again/%d", first, now)
		d.ID, d.Attempts, d.SentAt, d.CreatedAt, d.LastError = 0, 0, 0, now, ""
		d.Status, d.NextAttemptAt = rimewatch.DeliveryPending, now
		err = s.store.PutDeliveries(ctx, []*rimewatch.Delivery{&d}, 0)
	default:
		d.Attempts, d.LastError, d.Status, d.NextAttemptAt = 0, "", rimewatch.DeliveryPending, now
		err = s.store.UpdateDeliveries(ctx, []*rimewatch.Delivery{&d}, nil)
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
func (l *lane) retryNow(id int64, now rimewatch.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if it := l.items[id]; it != nil && it.Due() != 0 {
		it.NextAttemptAt = now
		l.wait(it)
		l.signal()
	}
}
