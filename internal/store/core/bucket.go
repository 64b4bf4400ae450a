package core

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
)

// Buckets implements store.History.
func (s *Core) Buckets(ctx context.Context, q store.BucketQuery) ([]store.Bucket, error) {
	b, err := chunk.NewBuckets(q.From, q.To, q.Step, q.Fields)
	if err != nil {
		return nil, rimewatch.Invalid("step", "%s", err)
	}
	head := s.headRows(q.DeviceID, q.From, q.To)
	err = s.disk.View(ctx, func(v Chunks) error {
		if q.Step%rimewatch.Hour == 0 {
			if err := s.addRollups(v, b, q); err != nil {
				return err
			}
		}
		list, err := v.Spans(q.DeviceID, q.From, q.To, false, -1)
		if err != nil {
			return err
		}
		slices.SortFunc(list, byBeginning)
		var scratch chunk.Scratch
		for _, g := range clusters(list) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if head, err = s.addCluster(v, b, q, g, head, &scratch); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	b.AddReadings(head)
	return bucketList(b, q.Fields), nil
}

// addCluster takes in overlapping chunks. What of the head lies among them may
// be in them already: it is merged, and the rest of the head given back.
func (g *damage) addCluster(v Chunks, b *chunk.Buckets, q store.BucketQuery, cluster []Span, head []rimewatch.Reading, scratch *chunk.Scratch) ([]rimewatch.Reading, error) {
	from, to := cluster[0].From, cluster[0].To
	for _, sp := range cluster {
		to = max(to, sp.To)
	}
	var near, rest []rimewatch.Reading
	for i := range head {
		if head[i].At >= from && head[i].At <= to {
			near = append(near, head[i])
		} else {
			rest = append(rest, head[i])
		}
	}
	if len(near) == 0 {
		rest = head
	}
	if len(cluster) == 1 && len(near) == 0 {
		err := addChunk(v, b, q, cluster[0], scratch)
		if g.skip(err) {
			err = nil
		}
		return rest, err
	}
	rs, _, err := g.readCluster(v, q.DeviceID, cluster)
	if err != nil {
		return nil, err
	}
	b.AddReadings(chunk.Merge(nil, rs, near))
	return rest, nil
}

// addChunk takes in one chunk, by its summary where that is enough. It never is for
// counters: older summaries do not know whether one restarted.
func addChunk(v Chunks, b *chunk.Buckets, q store.BucketQuery, sp Span, scratch *chunk.Scratch) error {
	data, err := v.Summary(q.DeviceID, sp)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	// A damaged summary costs time: it is all in the chunk.
	if data, ok := cutSum(data, sp.place(q.DeviceID)...); ok {
		if summary, _, err := chunk.DecodeSummary(data); err == nil {
			counters := summary.Cut(q.Fields & rimewatch.Counters)
			if b.AddSummary(&summary) {
				return addCounters(v, b, q, sp, counters, scratch)
			}
		}
	}
	c, err := openChunk(v, q.DeviceID, sp)
	if err != nil {
		return err
	}
	return b.AddChunk(c, scratch)
}

// addCounters takes in the counters of a chunk.
func addCounters(v Chunks, b *chunk.Buckets, q store.BucketQuery, sp Span, counters rimewatch.Fields, scratch *chunk.Scratch) error {
	if counters == 0 || sp.To < q.From || sp.From >= q.To {
		return nil
	}
	c, err := openChunk(v, q.DeviceID, sp)
	if err != nil {
		return err
	}
	return b.AddFields(c, counters, scratch)
}

func bucketList(b *chunk.Buckets, fields rimewatch.Fields) []store.Bucket {
	counts := countsOf(b, fields)
	out := make([]store.Bucket, 0, b.Len())
	for i := range b.Len() {
		if b.Count(i) == 0 {
			continue
		}
		bucket := store.Bucket{At: b.At(i), Count: b.Count(i), Defrost: b.Defrost(i)}
		for f := range fields.All() {
			if a := b.Aggregate(i, f); a.Count > 0 {
				n := int(f) + 1
				bucket.Fields = append(bucket.Fields, make([]store.Aggregate, n-len(bucket.Fields))...)
				bucket.Fields[f] = store.Aggregate{Count: a.Count, Min: a.Min, Max: a.Max, Sum: a.Sum}
				if counts[f] != nil {
					bucket.Fields[f].Counted = counts[f][i]
				}
			}
		}
		out = append(out, bucket)
	}
	return out
}

// countsOf returns the courses of the counters, by step.
func countsOf(b *chunk.Buckets, fields rimewatch.Fields) (out [rimewatch.MaxFields][]rimewatch.Count) {
	for f := range (fields & rimewatch.Counters).All() {
		out[f] = b.Counts(f)
	}
	return out
}

// A rollup row holds a summary of each hour of one expired chunk.

func appendRollup(dst []byte, rs []rimewatch.Reading) []byte {
	for len(rs) > 0 {
		hour := rs[0].At / rimewatch.Hour
		n := 1
		for n < len(rs) && rs[n].At/rimewatch.Hour == hour {
			n++
		}
		summary := chunk.Summarize(rs[:n])
		dst = summary.Append(dst)
		rs = rs[n:]
	}
	return dst
}

// addRollups takes in the hours whose raw readings have expired.
func (g *damage) addRollups(v Chunks, b *chunk.Buckets, q store.BucketQuery) error {
	return v.Rollups(q.DeviceID, q.From, q.To, func(id int64, from, to rimewatch.Time, data []byte) error {
		data, ok := cutSum(data, q.DeviceID, int64(from), int64(to))
		if !ok {
			g.log.Error("a rollup is damaged; its hours are left out", "device", q.DeviceID, "rollup", id, "from", from, "to", to)
			return nil
		}
		for len(data) > 0 {
			hour, n, err := chunk.DecodeSummary(data)
			if err != nil {
				return fmt.Errorf("rollup %d: %w", id, err)
			}
			data = data[n:]
			// An hour counts where it begins: it cannot be cut any more.
			hour.First = hour.First / rimewatch.Hour * rimewatch.Hour
			hour.Last = hour.First
			b.AddSummary(&hour)
		}
		return nil
	})
}
