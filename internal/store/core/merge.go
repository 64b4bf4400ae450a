package core

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/rimewatch/rimewatch"
)

// mergeBytes is about the size of one transaction of merges.
const mergeBytes = 512 << 10

// compactDue merges the young chunks of the devices that have many.
func (s *Core) compactDue(ctx context.Context) error {
	s.mu.Lock()
	var due []int64
	for id, n := range s.seal.young {
		if n >= compactAt {
			due = append(due, id)
		}
	}
	s.mu.Unlock()
	slices.Sort(due)
	return s.compact(ctx, due, rimewatch.TimeOf(s.cfg.Now()).UTCDay())
}

// compact merges, day by day, the devices' young and overlapping chunks. Those
// of a day before today become grown ones. Readers see either the old chunks or
// the new.
func (s *Core) compact(ctx context.Context, ids []int64, today int64) error {
	var (
		pending []Merge
		bytes   int
		left    = make(map[int64]int, len(ids))
	)
	flush := func() error {
		if len(pending) == 0 {
			return nil
		}
		err := s.disk.Merge(ctx, pending)
		if errors.Is(err, ErrDamaged) && len(pending) > 1 {
			err = nil
			for i := range pending { // which of them it is
				err = errors.Join(err, s.disk.Merge(ctx, pending[i:i+1]))
			}
		}
		pending, bytes = nil, 0
		if err != nil {
			return fmt.Errorf("compact: %w", err)
		}
		return s.disk.Tidy(ctx)
	}
	var failed error
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		merges, young, err := s.planMerges(ctx, id, today)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("compact device %d: %w", id, err))
			if !errors.Is(err, ErrDamaged) {
				return failed
			}
			continue
		}
		left[id] = young
		pending = append(pending, merges...)
		for i := range merges {
			for k := range merges[i].Chunks {
				bytes += len(merges[i].Chunks[k].Data)
			}
		}
		if bytes >= mergeBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return errors.Join(failed, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, n := range left {
		s.seal.young[id] = n
	}
	return failed
}

// planMerges decodes and encodes the chunks of one device that are to be merged, and returns
// the number of young chunks that will be left.
func (s *Core) planMerges(ctx context.Context, deviceID int64, today int64) (merges []Merge, left int, err error) {
	err = s.disk.View(ctx, func(v Chunks) error {
		all, err := v.Spans(deviceID, 0, rimewatch.MaxTime+1, false, -1)
		if err != nil {
			return err
		}
		days := make(map[int64][]Span)
		for _, sp := range all {
			days[sp.From.UTCDay()] = append(days[sp.From.UTCDay()], sp)
		}
		for day, list := range days {
			young := 0
			for i := range list {
				if list[i].Young {
					young++
				}
			}
			over := day < today // the chunks are grown, however few their readings
			if young == 0 || (!over && young < compactAt) {
				left += young
				continue
			}
			if !over {
				left++
			}
			rs, list, err := s.readCluster(v, deviceID, list)
			if err != nil {
				return err
			}
			merges = append(merges, Merge{DeviceID: deviceID, Old: list, Chunks: encodeChunks(deviceID, rs, over)})
		}
		return nil
	})
	return merges, left, err
}

// Rest seals, trims and merges everything that can be. Commits go on meanwhile.
func (s *Core) Rest(ctx context.Context) error {
	s.maintMu.Lock()
	defer s.maintMu.Unlock()
	for {
		s.mu.Lock()
		devices := s.seal.some()
		s.mu.Unlock()
		if len(devices) == 0 {
			break
		}
		if _, err := s.sealSlice(ctx, devices); err != nil {
			return err
		}
		if err := s.tidyLog(ctx); err != nil {
			return err
		}
	}
	if err := s.tidyLog(ctx); err != nil { // also of commits without readings
		return err
	}
	ids, err := s.disk.YoungChunks(ctx)
	if err != nil {
		return err
	}
	return s.compact(ctx, ids, math.MaxInt64)
}
