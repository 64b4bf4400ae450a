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

// Summary of the readings of a chunk: what most questions need.
type Summary struct {
	Count       int64
	First, Last rimewatch.Time // the earliest and latest At
	Fields      []Aggregate    // by the numbers of the fields; as long as the readings need
}

// Aggregate returns that of one field.
func (s *Summary) Aggregate(f rimewatch.Field) Aggregate {
	if int(f) >= len(s.Fields) {
		return Aggregate{}
	}
	return s.Fields[f]
}

// at returns the aggregate of one field to be added to.
func (s *Summary) at(f rimewatch.Field) *Aggregate {
	if n := int(f) + 1; n > len(s.Fields) {
		s.Fields = append(s.Fields, make([]Aggregate, max(n, int(rimewatch.NumCore))-len(s.Fields))...)
	}
	return &s.Fields[f]
}

// Add takes one reading in.
func (s *Summary) Add(r *rimewatch.Reading) {
	if s.Count == 0 {
		s.First, s.Last = r.At, r.At
	}
	s.First, s.Last = min(s.First, r.At), max(s.Last, r.At)
	s.Count++
	for f, v := range r.All() {
		s.at(f).Add(v)
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

// summaryVersion starts every encoded summary.
const summaryVersion = 1

// Append encodes the summary in typically 60–80 bytes. Sums below 10^9 are
// rounded to 10^-6, which is far below what sensors resolve and far above the
// error of adding them up.
func (s *Summary) Append(b []byte) []byte {
	b = append(b, summaryVersion)
	b = binary.AppendUvarint(b, uint64(s.Count))
	b = binary.AppendUvarint(b, zigzag(int64(s.First)))
	b = binary.AppendUvarint(b, uint64(s.Last-s.First))
	var have rimewatch.Fields
	for f := range s.Fields {
		if s.Fields[f].Count > 0 {
			have = have.With(rimewatch.Field(f))
		}
	}
	b = binary.AppendUvarint(b, uint64(have^rimewatch.CoreFields))
	for f := range have.All() {
		a := &s.Fields[f]
		b = binary.AppendUvarint(b, uint64(s.Count-a.Count))
		b = appendValue(b, a.Min)
		b = appendValue(b, a.Max)
		b = appendValue(b, roundSum(a.Sum))
	}
	return b
}

func roundSum(v float64) float64 {
	if math.Abs(v) >= 1e9 {
		return v
	}
	return math.Round(v*1e6) / 1e6
}

// DecodeSummary reads what Append wrote and returns the number of bytes it took.
func DecodeSummary(b []byte) (s Summary, n int, err error) {
	r := byteReader{b: b}
	if v := r.byte(); r.err == nil && v != summaryVersion {
		return Summary{}, 0, errVersion
	}
	s.Count = int64(r.uvarint())
	s.First = rimewatch.Time(r.zigzag())
	s.Last = s.First + rimewatch.Time(r.uvarint())
	have := r.fields() ^ rimewatch.CoreFields
	for f := range have.All() {
		a := s.at(f)
		a.Count = s.Count - int64(r.uvarint())
		a.Min, a.Max, a.Sum = r.value(), r.value(), r.value()
		if a.Count <= 0 || a.Count > s.Count {
			r.fail(errCorrupt)
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
