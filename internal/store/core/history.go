package core

import (
	"context"
	"fmt"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
)

// headRows copies a device's unsealed readings within [from, to), sorted.
// It is taken before the chunks are read: what is sealed in between is seen
// twice and merged, never missed.
func (s *Core) headRows(deviceID int64, from, to rimewatch.Time) []rimewatch.Reading {
	s.mu.RLock()
	var buf []byte
	var base rimewatch.Time
	if d := s.fleet.byID.Get(deviceID); d != nil {
		buf, base = d.head.rows.read(&s.heads.blocks, make([]byte, 0, d.head.size), d.head.size), d.head.base
	}
	s.mu.RUnlock()
	return snapshot(nil, buf, base, from, to)
}

// sliceChunks is about how many chunks are decoded at a time.
const sliceChunks = 16

// nextSpans lists the chunks of the next days that hold any, in the query's
// direction, whole days at a time: chunks of different days never overlap. rest
// is what of the query is left afterwards.
func nextSpans(v Chunks, q store.HistoryQuery) (list []Span, rest store.HistoryQuery, err error) {
	query := func(from, to rimewatch.Time, limit int) (err error) {
		list, err = v.Spans(q.DeviceID, from, to, q.Descending, limit)
		return err
	}
	rest = q
	if err := query(q.From, q.To, sliceChunks); err != nil {
		return nil, q, err
	}
	if len(list) < sliceChunks {
		rest.From, rest.To = 0, 0
		return list, rest, nil
	}
	day := func(i int) int64 { return list[i].To.UTCDay() }
	last := day(len(list) - 1)
	if day(0) == last { // one crowded day: all of it
		if err := query(max(q.From, rimewatch.StartOfUTCDay(last)), min(q.To, rimewatch.StartOfUTCDay(last+1)), -1); err != nil {
			return nil, q, err
		}
	} else {
		list = slices.DeleteFunc(list, func(sp Span) bool { return sp.To.UTCDay() == last })
		last = day(len(list) - 1)
	}
	if q.Descending {
		rest.To = rimewatch.StartOfUTCDay(last)
	} else {
		rest.From = rimewatch.StartOfUTCDay(last + 1)
	}
	return list, rest, nil
}

// Readings implements store.History. No connection is held while yield runs:
// a slow reader of a long history delays no other.
func (s *Core) Readings(ctx context.Context, q store.HistoryQuery, yield func(*rimewatch.Reading) error) error {
	w := &walker{q: q, head: s.headRows(q.DeviceID, q.From, q.To), yield: yield}
	for q.From < q.To {
		var decoded [][]rimewatch.Reading
		err := s.disk.View(ctx, func(v Chunks) (err error) {
			var list []Span
			if list, q, err = nextSpans(v, q); err != nil {
				return err
			}
			slices.SortFunc(list, byBeginning)
			groups := clusters(list)
			if q.Descending {
				slices.Reverse(groups)
			}
			for _, g := range groups {
				rs, _, err := s.readCluster(v, q.DeviceID, g)
				if err != nil {
					return err
				}
				decoded = append(decoded, rs)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, rs := range decoded {
			if err := w.cluster(rs); err != nil || w.done() {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return w.rest()
}

// walker merges the head into the clusters as they come, in either direction.
type walker struct {
	q     store.HistoryQuery
	head  []rimewatch.Reading // sorted, not given out yet
	yield func(*rimewatch.Reading) error
	n     int
}

func (w *walker) done() bool { return w.q.Limit > 0 && w.n >= w.q.Limit }

// cluster yields the head's readings up to and within a cluster, and the cluster.
func (w *walker) cluster(rs []rimewatch.Reading) error {
	if len(rs) == 0 {
		return nil
	}
	var near []rimewatch.Reading
	if w.q.Descending {
		i, _ := slices.BinarySearchFunc(w.head, rs[0].At, func(r rimewatch.Reading, at rimewatch.Time) int { return int(r.At - at) })
		near, w.head = w.head[i:], w.head[:i]
	} else {
		i, found := slices.BinarySearchFunc(w.head, rs[len(rs)-1].At, func(r rimewatch.Reading, at rimewatch.Time) int { return int(r.At - at) })
		if found {
			i++
		}
		near, w.head = w.head[:i], w.head[i:]
	}
	if len(near) > 0 {
		rs = chunk.Merge(nil, rs, near)
	}
	return w.give(rs)
}

func (w *walker) rest() error { return w.give(w.head) }

func (w *walker) give(rs []rimewatch.Reading) error {
	for i := range rs {
		r := &rs[i]
		if w.q.Descending {
			r = &rs[len(rs)-1-i]
		}
		if r.At < w.q.From || r.At >= w.q.To {
			continue
		}
		if w.done() {
			return nil
		}
		w.n++
		if err := w.yield(r); err != nil {
			return err
		}
	}
	return nil
}

// ReadingAt implements store.History.
func (s *Core) ReadingAt(ctx context.Context, deviceID int64, at rimewatch.Time) (rimewatch.Reading, error) {
	var out rimewatch.Reading
	found := false
	err := s.Readings(ctx, store.HistoryQuery{DeviceID: deviceID, From: at, To: at + 1, Limit: 1}, func(r *rimewatch.Reading) error {
		out, found = *r, true
		return nil
	})
	if err == nil && !found {
		err = rimewatch.Errorf(rimewatch.CodeNotFound, "There is no reading at that time.")
	}
	return out, err
}

// chunkTimes keeps the timestamps of recently asked chunks: late readings come
// in runs.
type chunkTimes struct {
	bySpan map[Span][]rimewatch.Time
	order  []Span
}

const chunkTimesKept = 64

func (t *chunkTimes) get(sp Span) ([]rimewatch.Time, bool) {
	times, ok := t.bySpan[sp]
	return times, ok
}

func (t *chunkTimes) put(sp Span, times []rimewatch.Time) {
	if t.bySpan == nil {
		t.bySpan = make(map[Span][]rimewatch.Time)
	}
	if len(t.order) >= chunkTimesKept {
		delete(t.bySpan, t.order[0])
		t.order = t.order[1:]
	}
	t.bySpan[sp] = times
	t.order = append(t.order, sp)
}

// sealedAt returns the moments of the chunk that holds a reading of that one, if one
// does. Under mu.
func (s *Core) sealedAt(d *device, at rimewatch.Time) (of []rimewatch.Time, found bool, err error) {
	if d.sealedTo != 0 && at > d.sealedTo {
		return nil, false, nil
	}
	err = s.disk.LookUp(func(v Chunks) error {
		if d.sealedTo == 0 {
			if d.sealedTo, err = v.NewestSealed(d.row.ID); err != nil || at > d.sealedTo {
				return err
			}
		}
		list, err := v.Spans(d.row.ID, at, at+1, false, -1)
		if err != nil {
			return err
		}
		for _, sp := range list {
			times, ok := s.chunks.get(sp)
			if !ok {
				c, err := openChunk(v, d.row.ID, sp)
				if err == nil {
					times, err = c.Times(nil)
				}
				if s.skip(err) {
					continue // it is lost: what comes again is new
				}
				if err != nil {
					return fmt.Errorf("chunk %d: %w", sp.ID, err)
				}
				s.chunks.put(sp, times)
			}
			if _, found = slices.BinarySearch(times, at); found {
				of = times
				return nil
			}
		}
		return nil
	})
	return of, found, err
}

// sealedReadings calls f for the readings of the chunks that may hold one of that moment.
// Under mu.
func (s *Core) sealedReadings(d *device, at rimewatch.Time, f func(*rimewatch.Reading)) error {
	return s.disk.LookUp(func(v Chunks) error {
		list, err := v.Spans(d.row.ID, at, at+1, false, -1)
		if err != nil {
			return err
		}
		for _, sp := range list {
			c, err := openChunk(v, d.row.ID, sp)
			if s.skip(err) {
				continue
			}
			if err != nil {
				return fmt.Errorf("chunk %d: %w", sp.ID, err)
			}
			rs, err := c.Readings(nil)
			if err != nil {
				return fmt.Errorf("chunk %d: %w", sp.ID, err)
			}
			for i := range rs {
				f(&rs[i])
			}
		}
		return nil
	})
}
