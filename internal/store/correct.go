package store

import (
	"context"
	"math"

	"github.com/rimewatch/rimewatch"
)

// Corrected is history corrected by a device's offsets, with the increases of its counters, for
// people and reports. Stored readings stay as they were sent.
type Corrected struct {
	History
	Offsets []rimewatch.Offset // by From
}

// Readings implements History.
func (h Corrected) Readings(ctx context.Context, q HistoryQuery, yield func(*rimewatch.Reading) error) error {
	if len(h.Offsets) == 0 {
		return h.History.Readings(ctx, q, yield)
	}
	return h.History.Readings(ctx, q, func(r *rimewatch.Reading) error {
		corrected := *r
		corrected.Correct(h.Offsets)
		return yield(&corrected)
	})
}

// ReadingAt implements History.
func (h Corrected) ReadingAt(ctx context.Context, deviceID int64, at rimewatch.Time) (rimewatch.Reading, error) {
	r, err := h.History.ReadingAt(ctx, deviceID, at)
	r.Correct(h.Offsets)
	return r, err
}

// Buckets implements History. Between two offsets a bucket shifts as a whole; one
// in which an offset begins is put together from its two sides.
func (h Corrected) Buckets(ctx context.Context, q BucketQuery) ([]Bucket, error) {
	var out []Bucket
	for from := q.From; ; {
		to := q.To
		for _, o := range h.Offsets {
			if o.From > from && o.From < to && q.Fields.Has(o.Field) {
				to = o.From
			}
		}
		part := q
		part.From, part.To = from, to
		list, err := h.History.Buckets(ctx, part)
		if err != nil {
			return nil, err
		}
		for i := range list {
			list[i].shift(h.Offsets, from)
			if n := len(out); n > 0 && out[n-1].At == list[i].At {
				out[n-1].add(&list[i])
			} else {
				out = append(out, list[i])
			}
		}
		if to >= q.To {
			countUp(out)
			return out, nil
		}
		from = to
	}
}

// countUp works out the increase of the counters in each bucket: up from the last
// value of the bucket before, or from its own first one.
func countUp(list []Bucket) {
	var before [rimewatch.MaxFields]rimewatch.Count
	for i := range list {
		for f := range list[i].Fields {
			g := &list[i].Fields[f]
			if !g.Counted.Known {
				continue
			}
			g.Increase = tidy(before[f].Then(g.Counted).Increase)
			before[f] = rimewatch.CountOf(g.Counted.Last)
		}
	}
}

// tidy rounds away the error of adding up: 10^-6 is less than meters resolve.
func tidy(v float64) float64 {
	if v >= 1e9 { // so many millionths would not be exact
		return v
	}
	return math.Round(v*1e6) / 1e6
}

// shift adds the offsets of a moment.
func (b *Bucket) shift(offsets []rimewatch.Offset, at rimewatch.Time) {
	for f := range b.Fields {
		add := rimewatch.OffsetAt(offsets, rimewatch.Field(f), at)
		if g := &b.Fields[f]; g.Count > 0 && add != 0 {
			g.Min, g.Max = rimewatch.Corrected(g.Min, add), rimewatch.Corrected(g.Max, add)
			g.Sum += add * float64(g.Count)
		}
	}
}

// add takes in another part of the same bucket.
func (b *Bucket) add(o *Bucket) {
	b.Count += o.Count
	b.Defrost = b.Defrost || o.Defrost
	if n := len(o.Fields) - len(b.Fields); n > 0 {
		b.Fields = append(b.Fields, make([]Aggregate, n)...)
	}
	for f := range o.Fields {
		g, x := &b.Fields[f], &o.Fields[f]
		switch {
		case x.Count == 0:
		case g.Count == 0:
			*g = *x
		default:
			*g = Aggregate{Count: g.Count + x.Count, Min: min(g.Min, x.Min), Max: max(g.Max, x.Max), Sum: g.Sum + x.Sum, Counted: g.Counted.Then(x.Counted)}
		}
	}
}
