package core

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rimewatch/rimewatch"
)

const (
	retainEvery = 15 * time.Minute
	retainSlice = 64 // chunks in one transaction
)

// retainDue looks for expired data now and then, as long as the clock can be
// believed.
func (s *Core) retainDue(ctx context.Context) error {
	now := rimewatch.TimeOf(s.cfg.Now())
	if s.retained != 0 && now >= s.retained && now.Sub(s.retained) < retainEvery {
		return nil
	}
	if s.cfg.Sure != nil && !s.cfg.Sure() {
		return nil
	}
	if err := s.Retain(ctx, now); err != nil {
		return err
	}
	s.retained = now
	return nil
}

// Retain replaces raw chunks that are older than their workspace keeps by
// hourly rollups, and deletes rollups that are too old. A pass reckons from a day
// after the one before at most, so that a clock which is years ahead and believed
// deletes a day's data at a time, and not everything.
func (s *Core) Retain(ctx context.Context, now rimewatch.Time) error {
	s.retaining.Lock()
	defer s.retaining.Unlock()
	last, err := s.RetainedAt(ctx)
	if err != nil {
		return err
	}
	if last != 0 {
		now = min(now, last+rimewatch.Day)
	}
	list, err := s.Workspaces(ctx)
	if err != nil {
		return err
	}
	var failed error
	for i := range list {
		if err := retain(ctx, s, &list[i], now); err != nil {
			failed = errors.Join(failed, fmt.Errorf("retention of workspace %d: %w", list[i].ID, err))
		}
	}
	return errors.Join(failed, s.NoteRetained(ctx, now))
}

// retain is Retain of one workspace.
func retain(ctx context.Context, s *Core, w *rimewatch.Workspace, now rimewatch.Time) error {
	raw := now - rimewatch.Time(w.RawDays)*rimewatch.Day
	for n := retainSlice; n == retainSlice; {
		var err error
		if n, err = s.expireRaw(ctx, w.ID, raw); err != nil {
			return err
		}
	}
	rollups := now - rimewatch.Time(max(w.RollupDays, w.RawDays))*rimewatch.Day
	return errors.Join(s.disk.DropAside(ctx, w.ID, raw), s.disk.DropRollups(ctx, w.ID, rollups), s.Expire(ctx, w.ID, rollups),
		s.ExpireEvents(ctx, w.ID, now-rimewatch.EventsKept, rimewatch.MaxEvents), s.ExpireWebhookLog(ctx, w.ID, now-rimewatch.EventsKept))
}

// expireRaw turns one slice of expired chunks into rollups. Only whole chunks
// expire, so that at most a day is kept longer than asked for.
func (s *Core) expireRaw(ctx context.Context, workspaceID int64, before rimewatch.Time) (int, error) {
	list, err := s.disk.Expired(ctx, workspaceID, before, retainSlice)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	rollups := make([]Rollup, 0, len(list))
	err = s.disk.View(ctx, func(v Chunks) error {
		for _, sp := range list {
			rs, from, err := s.readCluster(v, sp.DeviceID, []Span{sp.Span})
			if err != nil {
				return err
			}
			if len(from) == 0 {
				continue // damaged: it is set aside
			}
			r := Rollup{DeviceSpan: sp}
			if len(rs) > 0 {
				r.From, r.To = rs[0].At/rimewatch.Hour*rimewatch.Hour, rs[len(rs)-1].At
				r.Data = withSum(appendRollup(nil, rs), sp.DeviceID, int64(r.From), int64(r.To))
			}
			rollups = append(rollups, r)
		}
		return nil
	})
	if err == nil && len(rollups) > 0 {
		err = s.disk.RollUp(ctx, rollups)
	}
	return len(list), errors.Join(err, s.setAside(ctx))
}
