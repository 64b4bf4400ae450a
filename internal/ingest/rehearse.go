package ingest

import (
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/rejudge"
	"github.com/rimewatch/rimewatch/internal/store"
)

// mostRecorded bounds the recorded excursions of a device.
const mostRecorded = 100_000

// Rehearse returns the changes of a device's recorded excursions that its readings would cause if
// they were stored as imported ones. Nothing is stored. CodeDeviceNotFound.
func (s *Service) Rehearse(ctx context.Context, deviceID int64, brought store.Brought) ([]rimewatch.ExcursionChange, error) {
	if brought.Len() == 0 {
		return nil, nil
	}
	var d rejudge.Device
	var live health.State
	err := unavailable("The service is stopping.")
	s.inbox.call(func(w *writer) {
		u := w.fleet.Get(deviceID)
		if u == nil || u.Deleted {
			err = rimewatch.Errorf(rimewatch.CodeDeviceNotFound, "There is no such device.")
			return
		}
		state, failed := w.stateOf(u)
		if err = failed; err != nil {
			return
		}
		d, live = lateDevice(u, state), state.Health
	})
	if err != nil {
		return nil, err
	}
	if d.Late.From == 0 {
		d.Late.From = brought.At(0)
	}
	d.Late.From, d.Late.To = min(d.Late.From, brought.At(0)), max(d.Late.To, brought.At(brought.Len()-1))
	with := completed{s.store, brought}
	now := s.clock()
	found, err := rejudge.Read(ctx, with, &d, now)
	if err != nil {
		return nil, err
	}
	next, m, err := found.Finish(ctx, &live, now)
	if err != nil {
		return nil, err
	}
	was, err := s.store.Records().Excursions(ctx, d.WorkspaceID, d.ID, 0, rimewatch.MaxTime, mostRecorded)
	if err != nil {
		return nil, err
	}
	changes := changesOf(&m, was)
	if e, lasts := next.Excursion(); lasts {
		if before, lasted := live.Excursion(); !lasted || before.Start != e.Start {
			row := e.Record(d.WorkspaceID, d.ID, &d.Limits)
			changes = append(changes, rimewatch.ExcursionChange{Is: &row})
		}
	}
	return changes, nil
}

// changesOf returns the changes of recorded excursions by late readings, with both states of each.
func changesOf(m *rejudge.Mending, recorded []rimewatch.Excursion) (changes []rimewatch.ExcursionChange) {
	find := func(id int64) *rimewatch.Excursion {
		if i := slices.IndexFunc(recorded, func(e rimewatch.Excursion) bool { return e.ID == id }); id != 0 && i >= 0 {
			return &recorded[i]
		}
		return nil
	}
	for _, e := range m.Rows {
		changes = append(changes, rimewatch.ExcursionChange{Was: find(e.ID), Is: e})
	}
	for _, id := range m.Unfounded {
		changes = append(changes, rimewatch.ExcursionChange{Was: find(id)})
	}
	return changes
}

// completed is the store as it would be with the readings of a rehearsal.
type completed struct {
	Store
	brought store.Brought
}

// Readings implements store.History.
func (c completed) Readings(ctx context.Context, q store.HistoryQuery, yield func(*rimewatch.Reading) error) error {
	i, step := 0, 1
	if q.Descending {
		i, step = c.brought.Len()-1, -1
	}
	more := func() (at rimewatch.Time, ok bool) {
		for ; i >= 0 && i < c.brought.Len(); i += step {
			if at = c.brought.At(i); at >= q.From && at < q.To {
				return at, true
			}
		}
		return 0, false
	}
	err := c.Store.Readings(ctx, q, func(r *rimewatch.Reading) error {
		for at, ok := more(); ok && (at < r.At) == !q.Descending && at != r.At; at, ok = more() {
			x := c.brought.Reading(i)
			i += step
			if err := yield(&x); err != nil {
				return err
			}
		}
		both := *r
		for at, ok := more(); ok && at == r.At; at, ok = more() {
			x := c.brought.Reading(i)
			i += step
			for f, v := range x.All() {
				if _, has := both.Value(f); !has {
					both.Set(f, v)
				}
			}
		}
		return yield(&both)
	})
	for _, ok := more(); err == nil && ok; _, ok = more() {
		x := c.brought.Reading(i)
		i += step
		err = yield(&x)
	}
	return err
}
