package core

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rimewatch/rimewatch/internal/store"
)

// follower is the part of a Core by which one process follows another on the same
// disk, until it takes its place.
type follower struct {
	core  *Core
	moved *atomic.Int64
}

// Moved counts the changes after which a process that follows this one has to read again: all
// changes of devices, and everything that takes rows out of the log. New rows of the log, alerts, sites
// and what people set it looks for by itself when it joins.
func (f follower) Moved() int64 { return f.moved.Load() }

// Quiesce has background work (sealing, trimming the log) wait for a while, so
// that less Moved: it returns when nothing of that is under way.
func (f follower) Quiesce(d time.Duration) {
	q := &f.core.seal
	q.still.Add(1)
	time.AfterFunc(d, func() {
		q.still.Add(-1)
		q.wake()
	})
	q.slice.Lock() // what has begun is to end
	defer q.slice.Unlock()
}

// moveSlice seals what is due, a slice of it, and trims the log; not while somebody wants
// nothing to move, unless memory is short.
func (f follower) moveSlice(ctx context.Context) (int, error) {
	s := f.core
	s.seal.slice.Lock()
	defer s.seal.slice.Unlock()
	if s.seal.still.Load() > 0 && s.heads.bytes.Load() <= s.heads.budget.Load() {
		return 0, nil
	}
	n, err := s.sealSlice(ctx, s.due())
	if err == nil {
		err = s.tidyLog(ctx)
	}
	return n, err
}

// AddDowntime implements store.Log.
func (f follower) AddDowntime(ctx context.Context, d store.Downtime) error {
	defer f.moved.Add(1)
	return f.core.Tables.AddDowntime(ctx, d)
}

// Join implements store.Log. Nothing was sealed since Recover: then the disk would
// not have been joined.
func (f follower) Join(ctx context.Context, workers int, ahead func() error, entry func(int, *store.Entry) error) error {
	s := f.core
	if s.cfg.Join == nil {
		return nil
	}
	if err := ahead(); err != nil {
		return err
	}
	if err := s.cfg.Join(ctx); err != nil {
		return err
	}
	last, err := s.disk.Last(ctx)
	if err == nil {
		err = s.loadRest(ctx, last)
	}
	if err == nil {
		err = s.replayLog(ctx, nil, workers, entry)
	}
	if err == nil {
		s.startSealer()
	}
	return err
}
