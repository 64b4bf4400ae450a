package notify

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Newest yields the devices of a workspace that have reported, with their newest readings.
type Newest func(ctx context.Context, workspaceID int64, yield func(*rimewatch.DeviceView) error) error

const (
	batchEvery = 10 * time.Second // at most, for each webhook
	batchMost  = 1000             // readings of a message
)

// readingsHook is the state of a webhook that is sent readings.
type readingsHook struct {
	busy    bool           // a batch is under way
	through rimewatch.Time // readings that arrived before were sent; 0 = none, so that the first batch has all
	run     int64          // of the webhook that this is of
}

// runBatches sends the newest readings to the webhooks that ask for them, until the service stops.
// They are no events: none is stored, and what a webhook was not sent it is sent the next time, the
// newest of each device. Nothing is kept but a moment for each webhook.
func (s *Service) runBatches() {
	ticks := time.NewTicker(batchEvery)
	defer ticks.Stop()
	known := make(map[int64]*readingsHook)
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-ticks.C:
			if err := s.beginBatches(known); err != nil && s.ctx.Err() == nil {
				s.log.Error("readings for webhooks", "err", err)
			}
		}
	}
}

// beginBatches begins a batch for each webhook that wants one and has none under way.
func (s *Service) beginBatches(known map[int64]*readingsHook) error {
	hooks, err := s.store.Everywhere().AllWebhooks(s.ctx)
	if err != nil {
		return err
	}
	wanted := make(map[int64]bool)
	for i := range hooks {
		w := hooks[i]
		if !w.Enabled || !w.WantsReadings() {
			continue
		}
		wanted[w.ID] = true
		b := known[w.ID]
		if b == nil || b.run != w.Run {
			b = &readingsHook{run: w.Run}
			known[w.ID] = b
		}
		s.mu.Lock()
		began := !b.busy && !s.stopped
		b.busy = b.busy || began
		s.mu.Unlock()
		if began {
			s.workers.Go(func() { s.sendBatches(&w, b) })
		}
	}
	for id := range known {
		if !wanted[id] {
			delete(known, id)
		}
	}
	return nil
}

// sendBatches sends a webhook what has arrived since it was sent the last time. A message that
// fails leaves all of them to the next time.
func (s *Service) sendBatches(w *rimewatch.Webhook, b *readingsHook) {
	defer func() {
		s.mu.Lock()
		b.busy = false
		s.mu.Unlock()
	}()
	began, list, n := s.now(), []byte(nil), 0
	post := func() error {
		if n == 0 {
			return nil
		}
		err := s.postBatch(w, list)
		list, n = list[:0], 0
		return err
	}
	err := s.cfg.Newest(s.ctx, w.WorkspaceID, func(v *rimewatch.DeviceView) error {
		if v.Latest.ReceivedAt < b.through || v.Latest.ReceivedAt == 0 || !w.SiteIDs.Has(v.SiteID) {
			return nil
		}
		if n++; n > 1 {
			list = append(list, ',')
		}
		if list = wire.AppendReading(list, v.ID, v.Serial, &v.Latest); n < batchMost {
			return nil
		}
		return post()
	})
	if err == nil {
		err = post()
	}
	if err == nil {
		b.through = began // readings of this very millisecond may come twice
	}
}

// postBatch makes one attempt of a message with readings.
func (s *Service) postBatch(w *rimewatch.Webhook, list []byte) error {
	key := "batch_" + rand.Text()
	x := wire.Event{ID: key, At: s.now(), Type: string(rimewatch.EventReadingBatch), Subject: rimewatch.EventSubject("webhook", w.ID), Data: wire.EventData(`{"readings":[` + string(list) + `]}`)}
	body, err := wire.AppendJSON(nil, x)
	if err != nil {
		return err
	}
	l := s.laneOf(w.WorkspaceID, -w.ID)
	err = s.postOnce(s.ctx, w, &item{Delivery: &rimewatch.Delivery{Key: key, Body: body}})
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	now, text := s.now(), ""
	if s.tried(err != nil); err != nil {
		text = kept(reasonOf(err))
		s.log.Warn("webhook failed", "webhook", w.ID, "key", key, "err", err)
	}
	l.noteHook(w, now, err, key, text, func(ctx context.Context, h *rimewatch.ChannelHealth) error {
		return s.store.Outbox().NoteWebhook(ctx, w.WorkspaceID, w.ID, h)
	})
	l.giveUp(s.ctx, w, now, err)
	return err
}
