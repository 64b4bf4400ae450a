package core

import (
	"context"
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
	for i := range list {
		w := &list[i]
		raw := now - rimewatch.Time(w.RawDays)*rimewatch.Day
		for {
			n, err := s.expireRaw(ctx, w.ID, raw)
			if err != nil {
				return fmt.Errorf("retention of workspace %d: %w", w.ID, err)
			}
			if n < retainSlice {
				break
			}
		}
		rollups := now - rimewatch.Time(max(w.RollupDays, w.RawDays))*rimewatch.Day
		if err := s.disk.DropRollups(ctx, w.ID, rollups); err != nil {
			return fmt.Errorf("retention of workspace %d: %w", w.ID, err)
		}
		if err := s.Expire(ctx, w.ID, rollups); err != nil {
			return fmt.Errorf("retention of workspace %d: %w", w.ID, err)
		}
	}
	return s.NoteRetained(ctx, now)
}

// expireRaw turns one slice of expired chunks into rollups. Only whole chunks
// expire, so that at most a day is kept longer than asked for.
func (s *Core) expireRaw(ctx context.Context, workspaceID int64, before rimewatch.Time) (int, error) {
	list, err := s.disk.Expired(ctx, workspaceID, before, retainSlice)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	rollups := make([]Rollup, len(list))
	err = s.disk.View(ctx, func(v Chunks) error {
		for i := range list {
			rs, err := decodeCluster(v, []Span{list[i].Span})
			if err != nil {
				return err
			}
			r := &rollups[i]
			if r.DeviceSpan = list[i]; len(rs) > 0 {
				r.From, r.To = rs[0].At/rimewatch.Hour*rimewatch.Hour, rs[len(rs)-1].At
				r.Data = withSum(appendRollup(nil, rs))
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return len(list), s.disk.RollUp(ctx, rollups)
}
