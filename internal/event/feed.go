package event

import (
	"context"
	"log/slog"
	"time"

	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

const (
	lookEvery = time.Second // for what other processes have written
	readSlice = 1000        // rows read at once
)

// Store is what a feed asks of a store.
type Store interface {
	Everywhere() store.Everywhere
}

// Feed follows events as they are written.
type Feed struct {
	store Store
	log   *slog.Logger
	last  int64 // id of the last row that was told
	tell  []func([]store.EventRow)
	wake  chan struct{}
}

// NewFeed makes a feed; Begin and Run bring it to life. Whoever is told must return soon and
// keep nothing.
func NewFeed(s Store, log *slog.Logger, tell ...func([]store.EventRow)) *Feed {
	return &Feed{store: s, log: log, tell: tell, wake: make(chan struct{}, 1)}
}

// Begin notes where the rows end: what is written from now on is told.
func (f *Feed) Begin(ctx context.Context) (err error) {
	f.last, err = f.store.Everywhere().LastEventRow(ctx)
	return err
}

// Wake is called after a commit with events. It returns at once.
func (f *Feed) Wake() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Run hands events on until ctx ends.
func (f *Feed) Run(ctx context.Context) {
	for range ticker.Every(ctx.Done(), lookEvery, f.wake) {
		if err := f.read(ctx); err != nil && ctx.Err() == nil {
			f.log.Error("events", "err", err)
		}
	}
}

// read hands on what was written since the last time.
func (f *Feed) read(ctx context.Context) error {
	for {
		list, err := f.store.Everywhere().AllEventsAfter(ctx, f.last, readSlice)
		if err != nil || len(list) == 0 {
			return err
		}
		f.last = list[len(list)-1].ID
		for _, tell := range f.tell {
			tell(list)
		}
	}
}
