package ingest

import (
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// arrive sets readings without a time to the time at which another server took them in,
// so that it may send them again. Those of a request that was sent before are looked
// for: what the request stored of a device, it stored as a whole, in its order, each
// reading in the first free millisecond from that time on. Nobody who took them then can be
// storing them still. Inputs that were taken in one by one have their own time in
// Reading.ReceivedAt.
func (s *Service) arrive(ctx context.Context, a store.Arrival, inputs []store.Input) error {
	var next map[int64]rimewatch.Time // by device: where its next reading is
	if a.Again {
		next = make(map[int64]rimewatch.Time)
	}
	for i := range inputs {
		in := &inputs[i]
		if !in.AtArrival {
			continue
		}
		if in.Reading.ReceivedAt == 0 {
			in.Reading.ReceivedAt = a.At
		}
		if !a.Again {
			continue
		}
		at, there, err := s.find(ctx, in, max(next[in.DeviceID], in.Reading.ReceivedAt))
		if err != nil {
			return err
		}
		if there { // a duplicate of itself
			in.Reading.At, in.AtArrival = at, false
		}
		next[in.DeviceID] = at + 1
	}
	return nil
}

// find looks for what in measured among the readings of its device that follow each
// other without a gap from a moment on.
func (s *Service) find(ctx context.Context, in *store.Input, from rimewatch.Time) (at rimewatch.Time, there bool, err error) {
	for at = from; ; at++ {
		r, err := s.cfg.Store.ReadingAt(ctx, in.DeviceID, at)
		if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
			return from - 1, false, nil
		}
		if err != nil || same(&r, &in.Reading) {
			return at, err == nil, err
		}
	}
}

// same reports whether two readings say the same, whenever they were measured.
func same(a, b *rimewatch.Reading) bool {
	return a.Present == b.Present && a.Faults == b.Faults && a.Flags == b.Flags && a.Values == b.Values && slices.Equal(a.Optional, b.Optional)
}
