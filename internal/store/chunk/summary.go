package chunk

import (
	"encoding/binary"
	"math"

	"github.com/rimewatch/rimewatch"
)

// Aggregate of one measurement over some readings, in its own unit. Count is
// the number of readings that have it; the rest is 0 when Count is.
type Aggregate struct {
	Count    int64
	Min, Max float64
	Sum      float64
}

// Add takes one value in.
func (a *Aggregate) Add(v float64) {
	if a.Count == 0 {
		*a = Aggregate{Count: 1, Min: v, Max: v, Sum: v}
		return
	}
	a.Count++
	if v < a.Min {
		a.Min = v
	}
	if v > a.Max {
		a.Max = v
	}
	a.Sum += v
}

// Merge takes in what o has aggregated.
func (a *Aggregate) Merge(o Aggregate) {
	switch {
	case o.Count == 0:
	case a.Count == 0:
		*a = o
	default:
		a.Count += o.Count
		a.Min = math.Min(a.Min, o.Min)
		a.Max = math.Max(a.Max, o.Max)
		a.Sum += o.Sum
	}
}

// Mean is the average, NaN when Count is 0.
func (a *Aggregate) Mean() float64 { return a.Sum / float64(a.Count) }

// Summary tells of the readings of a chunk what most questions need.
type Summary struct {
	Count       int64
	First, Last rimewatch.Time // the earliest and latest At
	Fields      [rimewatch.NumFields]Aggregate
}

// Add takes one reading in.
func (s *Summary) Add(r *rimewatch.Reading) {
	if s.Count == 0 {
		s.First, s.Last = r.At, r.At
	}
	s.First, s.Last = min(s.First, r.At), max(s.Last, r.At)
	s.Count++
	for f := range rimewatch.NumFields {
		if r.Present.Has(f) {
			s.Fields[f].Add(r.Values[f])
		}
	}
}

// Merge takes in what o has summed up.
func (s *Summary) Merge(o *Summary) {
	switch {
	case o.Count == 0:
		return
	case s.Count == 0:
		*s = *o
		return
	}
	s.First, s.Last = min(s.First, o.First), max(s.Last, o.Last)
	s.Count += o.Count
	for f := range s.Fields {
		s.Fields[f].Merge(o.Fields[f])
	}
}

// Summarize sums readings up.
func Summarize(rs []rimewatch.Reading) Summary {
	var s Summary
	for i := range rs {
		s.Add(&rs[i])
	}
	return s
}

// Append encodes the summary in typically 60–80 bytes. Sums below 10^9 are
// rounded to 10^-6, which is far below what sensors resolve and far above the
// error of adding them up.
func (s *Summary) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(s.Count))
	b = binary.AppendUvarint(b, zigzag(int64(s.First)))
	b = binary.AppendUvarint(b, uint64(s.Last-s.First))
	var have rimewatch.Fields
	for f := range rimewatch.NumFields {
		if s.Fields[f].Count > 0 {
			have = have.With(f)
		}
	}
	b = append(b, byte(have))
	for f := range rimewatch.NumFields {
		if a := &s.Fields[f]; a.Count > 0 {
			b = binary.AppendUvarint(b, uint64(s.Count-a.Count))
			b = appendValue(b, a.Min)
			b = appendValue(b, a.Max)
			b = appendValue(b, roundSum(a.Sum))
		}
	}
	return b
}

func roundSum(v float64) float64 {
	if math.Abs(v) >= 1e9 {
		return v
	}
	return math.Round(v*1e6) / 1e6
}

// DecodeSummary reads what Append wrote and gives the number of bytes it took.
func DecodeSummary(b []byte) (s Summary, n int, err error) {
	r := byteReader{b: b}
	s.Count = int64(r.uvarint())
	s.First = rimewatch.Time(r.zigzag())
	s.Last = s.First + rimewatch.Time(r.uvarint())
	have := rimewatch.Fields(r.byte())
	for f := range rimewatch.NumFields {
		if have.Has(f) {
			a := &s.Fields[f]
			a.Count = s.Count - int64(r.uvarint())
			a.Min, a.Max, a.Sum = r.value(), r.value(), r.value()
			if a.Count <= 0 || a.Count > s.Count {
				r.fail(errCorrupt)
			}
		}
	}
	if r.err == nil && (s.Count < 0 || s.Last < s.First) {
		r.err = errCorrupt
	}
	if r.err != nil {
		return Summary{}, 0, r.err
	}
	return s, r.pos, nil
}
