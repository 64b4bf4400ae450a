package chunk

import (
	"cmp"
	"errors"
	"slices"

	"github.com/rimewatch/rimewatch"
)

// MaxBuckets bounds the steps of one Buckets: two years of minutes.
const MaxBuckets = 1 << 20

// Buckets aggregates the readings of one device in [from, to) into steps
// aligned to UTC: step i begins at a multiple of the step since the epoch.
// Readings outside [from, to) are left out, so the first and the last step may
// be partial. It is filled from columns (AddTimes, AddColumn), from readings
// (AddReadings) and from summaries (AddSummary), in any order; each reading must
// come once.
type Buckets struct {
	from, to rimewatch.Time
	step     rimewatch.Time
	start    rimewatch.Time // of step 0
	fields   rimewatch.Fields
	counts   []int64
	values   [rimewatch.MaxFields][]Aggregate // nil for fields not asked for or not there yet
	pieces   [rimewatch.MaxFields][]piece     // of counters
	defrosts []bool                           // nil for steps of an hour and more
}

// piece is what a counter did over readings that lie in one step and follow one
// another. Pieces come in any order; none begins within another.
type piece struct {
	at rimewatch.Time // of its first reading
	rimewatch.Count
}

// NewBuckets prepares the steps of [from, to) for the given fields. It fails
// when step is not positive or more than MaxBuckets would be needed; an empty
// range has none.
func NewBuckets(from, to, step rimewatch.Time, fields rimewatch.Fields) (*Buckets, error) {
	if step <= 0 {
		return nil, errors.New("chunk: step must be positive")
	}
	b := &Buckets{from: from, to: to, step: step, start: floorTo(from, step)}
	if to <= from {
		b.to = from
		return b, nil
	}
	b.fields = fields
	n := uint64(to-1-b.start)/uint64(step) + 1
	if n > MaxBuckets {
		return nil, errors.New("chunk: too many buckets")
	}
	b.counts = make([]int64, n)
	if step < rimewatch.Hour {
		b.defrosts = make([]bool, n)
	}
	return b, nil
}

// column returns the aggregates of a field that was asked for, by step.
func (b *Buckets) column(f rimewatch.Field) []Aggregate {
	if b.values[f] == nil {
		b.values[f] = make([]Aggregate, len(b.counts))
	}
	return b.values[f]
}

// floorTo is the latest multiple of step that is not after t.
func floorTo(t, step rimewatch.Time) rimewatch.Time {
	m := t % step
	if m < 0 {
		m += step
	}
	return t - m
}

// Len is the number of steps, empty ones included.
func (b *Buckets) Len() int { return len(b.counts) }

// At is the beginning of step i.
func (b *Buckets) At(i int) rimewatch.Time { return b.start + rimewatch.Time(i)*b.step }

// Count is the number of readings in step i, whatever fields they have.
func (b *Buckets) Count(i int) int64 { return b.counts[i] }

// Aggregate is that of one field in step i; its Count is 0 where the step has
// no value of it or it was not asked for.
func (b *Buckets) Aggregate(i int, f rimewatch.Field) Aggregate {
	if b.values[f] == nil {
		return Aggregate{}
	}
	return b.values[f][i]
}

// Counts returns what a counter did in each step, nil when there is no value of it.
func (b *Buckets) Counts(f rimewatch.Field) []rimewatch.Count {
	if len(b.pieces[f]) == 0 {
		return nil
	}
	slices.SortStableFunc(b.pieces[f], func(x, y piece) int { return cmp.Compare(x.at, y.at) })
	out := make([]rimewatch.Count, len(b.counts))
	for _, p := range b.pieces[f] {
		i := b.index(p.at)
		out[i] = out[i].Then(p.Count)
	}
	return out
}

// Defrost reports whether a reading of step i says that its unit was defrosting.
// Steps of an hour and more do not know: summaries answer for them.
func (b *Buckets) Defrost(i int) bool { return b.defrosts != nil && b.defrosts[i] }

func (b *Buckets) index(t rimewatch.Time) int { return int((t - b.start) / b.step) }

// AddReadings takes in readings in order of time.
func (b *Buckets) AddReadings(rs []rimewatch.Reading) {
	var begun [rimewatch.MaxFields]int // the first piece of these readings
	for f := range (b.fields & rimewatch.Counters).All() {
		begun[f] = len(b.pieces[f])
	}
	for i := range rs {
		if r := &rs[i]; r.At >= b.from && r.At < b.to {
			b.addReading(r, &begun)
		}
	}
}

func (b *Buckets) addReading(r *rimewatch.Reading, begun *[rimewatch.MaxFields]int) {
	i := b.index(r.At)
	b.counts[i]++
	if b.defrosts != nil && defrosting(r.Flags) {
		b.defrosts[i] = true
	}
	for f := range (r.Present & b.fields).All() {
		v, _ := r.Value(f)
		b.column(f)[i].Add(v)
		if !f.IsCounter() {
			continue
		}
		pieces := b.pieces[f]
		if last := len(pieces) - 1; last >= begun[f] && b.index(pieces[last].at) == i {
			pieces[last].Count = pieces[last].Then(rimewatch.CountOf(v))
		} else {
			b.pieces[f] = append(pieces, piece{r.At, rimewatch.CountOf(v)})
		}
	}
}

// AddSummary takes in all readings of a chunk at once, if they all lie in one
// step and in the range, and the step needs no more than a summary knows. It also
// settles chunks that lie outside the range altogether. False means that the chunk has to be decoded and added itself.
func (b *Buckets) AddSummary(s *Summary) bool {
	if s.Count == 0 || s.Last < b.from || s.First >= b.to {
		return true
	}
	if s.First < b.from || s.Last >= b.to || b.defrosts != nil {
		return false
	}
	i := b.index(s.First)
	if i != b.index(s.Last) {
		return false
	}
	b.counts[i] += s.Count
	for f := range b.fields.All() {
		if a := s.Aggregate(f); a.Count > 0 {
			b.column(f)[i].Merge(a)
			if f.IsCounter() {
				b.pieces[f] = append(b.pieces[f], piece{s.First, s.Counted(f)})
			}
		}
	}
	return true
}

// AddChunk decodes the times and the fields asked for and takes them in.
// Scratch may be nil; it saves allocations from chunk to chunk.
func (b *Buckets) AddChunk(c *Chunk, scratch *Scratch) error {
	if scratch == nil {
		scratch = new(Scratch)
	}
	if err := b.AddFields(c, b.fields, scratch); err != nil {
		return err
	}
	b.AddTimes(scratch.times)
	if b.defrosts == nil {
		return nil
	}
	lo, hi := b.within(scratch.times)
	return c.each(columnFlags, c.n, func(at int, x []int64) {
		for k, v := range x {
			if i := at + k; defrosting(rimewatch.Flags(v)) && i >= lo && i < hi {
				b.defrosts[b.index(scratch.times[i])] = true
			}
		}
	})
}

// AddFields decodes the times and some of the fields asked for and takes the
// fields in. It does not count the readings.
func (b *Buckets) AddFields(c *Chunk, fields rimewatch.Fields, scratch *Scratch) error {
	var err error
	if scratch.times, err = c.Times(scratch.times[:0]); err != nil {
		return err
	}
	for f := range (fields & b.fields).All() {
		if c.columns[columnField+int(f)] == nil && c.count(f) == 0 {
			continue
		}
		if scratch.values, err = c.Field(f, scratch.values[:0]); err != nil {
			return err
		}
		b.AddColumn(f, scratch.times, scratch.values)
	}
	return nil
}

func defrosting(f rimewatch.Flags) bool {
	on, _ := f.Bool(rimewatch.DefrostActive)
	return on
}

// Scratch is room for decoded columns.
type Scratch struct {
	times  []rimewatch.Time
	values []float64
}

// within cuts ascending times to the range.
func (b *Buckets) within(times []rimewatch.Time) (lo, hi int) {
	hi = len(times)
	for lo < hi && times[lo] < b.from {
		lo++
	}
	for hi > lo && times[hi-1] >= b.to {
		hi--
	}
	return lo, hi
}

// AddTimes counts readings of the given ascending times.
func (b *Buckets) AddTimes(times []rimewatch.Time) {
	b.runs(times, func(i, from, to int) { b.counts[i] += int64(to - from) })
}

// AddColumn takes in the values of one field at ascending times, NaN where a
// reading does not have it. It does not count the readings: AddTimes does.
func (b *Buckets) AddColumn(f rimewatch.Field, times []rimewatch.Time, values []float64) {
	if !b.fields.Has(f) {
		return
	}
	column := b.column(f)
	b.runs(times, func(i, from, to int) {
		a := column[i]
		for _, v := range values[from:to] {
			if v == v {
				a.Add(v)
			}
		}
		column[i] = a
	})
	if f.IsCounter() {
		b.addPieces(f, times, values)
	}
}

func (b *Buckets) addPieces(f rimewatch.Field, times []rimewatch.Time, values []float64) {
	b.runs(times, func(_, from, to int) {
		p := piece{at: times[from]}
		for _, v := range values[from:to] {
			if v == v {
				p.Count = p.Then(rimewatch.CountOf(v))
			}
		}
		if p.Known {
			b.pieces[f] = append(b.pieces[f], p)
		}
	})
}

// runs yields each step that has readings, with the indices of them.
func (b *Buckets) runs(times []rimewatch.Time, yield func(step, from, to int)) {
	lo, hi := b.within(times)
	for lo < hi {
		i := b.index(times[lo])
		end := b.At(i + 1)
		n := lo + 1
		for n < hi && times[n] < end {
			n++
		}
		yield(i, lo, n)
		lo = n
	}
}
