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

	// Counts is what counters did, by the numbers of the fields; as long as the readings
	// need. Of a summary that was written before it was known, a counter that restarted
	// among the readings counts from its least value to its greatest.
	Counts []rimewatch.Count
}

// Aggregate returns that of one field.
func (s *Summary) Aggregate(f rimewatch.Field) Aggregate {
	if int(f) >= len(s.Fields) {
		return Aggregate{}
	}
	return s.Fields[f]
}

// Counted returns what a counter did.
func (s *Summary) Counted(f rimewatch.Field) rimewatch.Count {
	if int(f) >= len(s.Counts) {
		return rimewatch.Count{}
	}
	return s.Counts[f]
}

// count returns what a counter did to be added to.
func (s *Summary) count(f rimewatch.Field) *rimewatch.Count {
	if n := int(f) + 1; n > len(s.Counts) {
		s.Counts = append(s.Counts, make([]rimewatch.Count, n-len(s.Counts))...)
	}
	return &s.Counts[f]
}

// Cut takes fields out of the summary and returns those of them that it had.
func (s *Summary) Cut(fields rimewatch.Fields) (had rimewatch.Fields) {
	for f := range fields.All() {
		if s.Aggregate(f).Count > 0 {
			had, s.Fields[f] = had.With(f), Aggregate{}
		}
	}
	return had
}

// at returns the aggregate of one field to be added to.
func (s *Summary) at(f rimewatch.Field) *Aggregate {
	if n := int(f) + 1; n > len(s.Fields) {
		s.Fields = append(s.Fields, make([]Aggregate, max(n, int(rimewatch.NumCore))-len(s.Fields))...)
	}
	return &s.Fields[f]
}

// Add takes in one reading; those with counters come in order of time.
func (s *Summary) Add(r *rimewatch.Reading) {
	if s.Count == 0 {
		s.First, s.Last = r.At, r.At
	}
	s.First, s.Last = min(s.First, r.At), max(s.Last, r.At)
	s.Count++
	for f, v := range r.All() {
		s.at(f).Add(v)
		if f.IsCounter() {
			c := s.count(f)
			*c = c.Then(rimewatch.CountOf(v))
		}
	}
}

// Summarize sums up readings in order of time.
func Summarize(rs []rimewatch.Reading) Summary {
	var s Summary
	for i := range rs {
		s.Add(&rs[i])
	}
	return s
}

// What starts an encoded summary.
const (
	summaryVersion  = 1
	summaryRestarts = 2 // as 1, and then what the counters did that restarted
)

// Append encodes the summary in typically 60–80 bytes. Sums below 10^9 are
// rounded to 10^-6, which is far below what sensors resolve and far above the
// error of adding them up.
func (s *Summary) Append(b []byte) []byte {
	var restarted rimewatch.Fields
	for f := range s.Counts {
		if s.Counts[f].Restarted {
			restarted = restarted.With(rimewatch.Field(f))
		}
	}
	form := byte(summaryVersion)
	if restarted != 0 {
		form = summaryRestarts
	}
	b = append(b, form)
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
	if restarted == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(restarted))
	for f := range restarted.All() {
		c := &s.Counts[f]
		b = appendValue(appendValue(appendValue(b, c.First), c.Last), roundSum(c.Increase))
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
	form := r.byte()
	if r.err == nil && form != summaryVersion && form != summaryRestarts {
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
		if f.IsCounter() {
			*s.count(f) = rimewatch.Count{First: a.Min, Last: a.Max, Increase: a.Max - a.Min, Known: true}
		}
	}
	if form == summaryRestarts {
		s.readRestarts(&r)
	}
	if r.err == nil && (s.Count < 0 || s.Last < s.First) {
		r.err = errCorrupt
	}
	if r.err != nil {
		return Summary{}, 0, r.err
	}
	return s, r.pos, nil
}

func (s *Summary) readRestarts(r *byteReader) {
	restarted := r.fields()
	for f := range restarted.All() {
		c := rimewatch.Count{First: r.value(), Last: r.value(), Increase: r.value(), Known: true, Restarted: true}
		if s.Aggregate(f).Count == 0 {
			r.fail(errCorrupt)
		}
		*s.count(f) = c
	}
	if restarted == 0 {
		r.fail(errCorrupt)
	}
}
