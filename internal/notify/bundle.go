package notify

import (
	"context"
	"errors"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
)

// Alerts that wait for one receiver at the same moment are one message to a
// person: forty mails about one power cut hide the forty-first. Up to
// bundleFrom−1 of them still go one by one, because each says more that way.
const (
	bundleFrom = 4
	bundleMost = 100
)

// bundled reports whether an item may go in one message with others.
func (it *item) bundled() bool {
	switch it.Kind {
	case rimewatch.DeliveryOpened, rimewatch.DeliveryEscalated, rimewatch.DeliveryRepeat, rimewatch.DeliveryRecovery, rimewatch.DeliveryUnrouted:
		return !it.alone
	default:
		return false
	}
}

// gather returns first and the other due items that may go with it, taken from the
// queue; first alone when that is little. l.mu is held.
func (l *lane) gather(first *item, now rimewatch.Time) []*item {
	list := []*item{first}
	if !first.bundled() || l.single {
		return list
	}
	var others []*item
	for i := range l.queues {
		for q := &l.queues[i]; len(list) < bundleMost; {
			it, ok := q.waiting.Pop(now)
			if !ok {
				break
			}
			if it.bundled() {
				list = append(list, it)
			} else {
				others = append(others, it)
			}
		}
	}
	if len(list) < bundleFrom {
		others = append(others, list[1:]...)
		list = list[:1]
	}
	for _, it := range others {
		l.wait(it)
	}
	return list
}

// split puts the items after the first back into the queue unless the
// channel takes several alerts in one message.
func (l *lane) split(c *rimewatch.Channel, list []*item) []*item {
	sender := l.s.cfg.Senders[c.Kind]
	l.mu.Lock()
	defer l.mu.Unlock()
	l.single = sender == nil || !sender.Bundles(c)
	if l.single && len(list) > 1 {
		for _, it := range list[1:] {
			l.wait(it)
		}
		list = list[:1]
		l.signal()
	}
	return list
}

// compose reads the items and returns them as one message with those
// items that are in it. One that cannot be read is given up.
func (l *lane) compose(ctx context.Context, list []*item) (*message.Message, []*item) {
	var messages []*message.Message
	var whole []*item
	for _, it := range list {
		m, err := l.s.messageOf(ctx, it.Delivery)
		if errors.Is(err, errUnread) {
			it.NextAttemptAt = l.s.now() + rimewatch.Second
			l.s.log.Error("delivery", "key", it.Key, "err", err)
			continue
		}
		if err != nil {
			l.end(ctx, rimewatch.DeliveryFailed, "The message cannot be read.", it)
			l.s.log.Error("delivery", "key", it.Key, "err", err)
			continue
		}
		if it.file != nil {
			m.Attach(it.file)
		}
		messages, whole = append(messages, m), append(whole, it)
	}
	switch len(whole) {
	case 0:
		return nil, nil
	case 1:
		return messages[0], whole
	default:
		return message.Bundle(messages), whole
	}
}
