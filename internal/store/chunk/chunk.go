package chunk

import (
	"encoding/binary"
	"hash/crc32"
	"math"

	"github.com/rimewatch/rimewatch"
)

// MaxReadings bounds the readings of one chunk, and so what decoding allocates.
const MaxReadings = 1 << 16

const version = 1

// The columns of a chunk, in order. A column whose values are all 0 is left
// out, and so is a measurement that no reading has.
const (
	columnAt       = iota
	columnReceived // s after At, see delayOf
	columnMissing  // the fields that are not present
	columnFaults
	columnFlags
	columnStarts                                              // of the readings with StartCountSent
	columnRunSeconds                                          // of the readings with RunSecondsSent
	columnField                                               // the first of NumFields
	columnArrival    = columnField + int(rimewatch.NumFields) // s since the epoch, instead of columnReceived where all came late
	numColumns       = columnArrival + 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode appends a chunk of the readings rs, at most MaxReadings of one device
// in strictly ascending order of At. It panics where there are more: chunks
// are cut by the caller.
func Encode(dst []byte, rs []rimewatch.Reading) []byte {
	if len(rs) > MaxReadings {
		panic("chunk: too many readings")
	}
	start := len(dst)
	dst = append(dst, version)
	dst = binary.AppendUvarint(dst, uint64(len(rs)))
	if len(rs) > 0 {
		dst = appendColumns(dst, rs)
	}
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// appendColumns appends the set of columns, their lengths and then their bytes.
func appendColumns(dst []byte, rs []rimewatch.Reading) []byte {
	var (
		body    = make([]byte, 0, 8*len(rs)+64)
		ints    = make([]int64, 0, len(rs))
		set     uint64
		lengths [numColumns]int
	)
	end := func(column, from int) {
		if n := len(body) - from; n > 0 {
			set |= 1 << column
			lengths[column] = n
		}
	}
	backlog := isBacklog(rs)
	for column := range columnField {
		from := len(body)
		if column == columnReceived && backlog {
			continue
		}
		ints = gather(ints[:0], rs, column)
		if len(ints) > 0 && !(allEqual(ints) && ints[0] == 0) {
			body = appendInts(body, ints, column == columnAt || column >= columnStarts)
		}
		end(column, from)
	}
	floats := make([]float64, 0, len(rs))
	for f := range rimewatch.NumFields {
		from := len(body)
		floats = floats[:0]
		for i := range rs {
			if rs[i].Present.Has(f) {
				floats = append(floats, rs[i].Values[f])
			}
		}
		if len(floats) > 0 {
			body = appendFloats(body, floats)
		}
		end(columnField+int(f), from)
	}
	if backlog {
		from := len(body)
		body = appendInts(body, gather(ints[:0], rs, columnArrival), true)
		end(columnArrival, from)
	}
	dst = binary.AppendUvarint(dst, set)
	for column, n := range lengths {
		if set&(1<<column) != 0 {
			dst = binary.AppendUvarint(dst, uint64(n))
		}
	}
	return append(dst, body...)
}

// isBacklog tells whether every reading came late.
func isBacklog(rs []rimewatch.Reading) bool {
	for i := range rs {
		if !isLate(rs[i].At, RoundReceived(rs[i].At, rs[i].ReceivedAt)) {
			return false
		}
	}
	return len(rs) > 0
}

// gather appends the integers of one column.
func gather(ints []int64, rs []rimewatch.Reading, column int) []int64 {
	for i := range rs {
		r := &rs[i]
		switch column {
		case columnAt:
			ints = append(ints, int64(r.At))
		case columnReceived:
			ints = append(ints, delayOf(r.At, RoundReceived(r.At, r.ReceivedAt)))
		case columnArrival:
			ints = append(ints, int64(RoundReceived(r.At, r.ReceivedAt)/rimewatch.Second))
		case columnMissing:
			ints = append(ints, int64(^r.Present))
		case columnFaults:
			ints = append(ints, int64(r.Faults))
		case columnFlags:
			ints = append(ints, int64(r.Flags))
		case columnStarts:
			if r.Flags&rimewatch.StartCountSent != 0 {
				ints = append(ints, r.StartCount)
			}
		case columnRunSeconds:
			if r.Flags&rimewatch.RunSecondsSent != 0 {
				ints = append(ints, r.RunSeconds)
			}
		}
	}
	return ints
}

// Chunk is an opened chunk. It refers to the bytes that it was opened from,
// does not change and may be used by several goroutines.
type Chunk struct {
	n       int
	columns [numColumns][]byte
	missing []rimewatch.Fields // nil when every reading has all fields; never empty else
}

// Open checks version, length and checksum and finds the columns.
func Open(blob []byte) (*Chunk, error) {
	if len(blob) < 6 {
		return nil, errTruncated
	}
	if blob[0] != version {
		return nil, errVersion
	}
	body := blob[:len(blob)-4]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(blob[len(body):]) {
		return nil, errChecksum
	}
	c := &Chunk{}
	r := byteReader{b: body, pos: 1}
	n := r.uvarint()
	if n > MaxReadings {
		return nil, errCorrupt
	}
	c.n = int(n)
	if n > 0 {
		if err := c.findColumns(&r); err != nil {
			return nil, err
		}
	}
	if r.err != nil || r.pos != len(body) {
		return nil, errCorrupt
	}
	return c, c.readMissing()
}

func (c *Chunk) findColumns(r *byteReader) error {
	set := r.uvarint()
	if set >= 1<<numColumns {
		return errCorrupt
	}
	var lengths [numColumns]uint64
	for i := range lengths {
		if set&(1<<i) != 0 {
			if lengths[i] = r.uvarint(); lengths[i] == 0 {
				return errCorrupt
			}
		}
	}
	for i, n := range lengths {
		if n > 0 {
			c.columns[i] = r.bytes(n)
		}
	}
	return r.err
}

func (c *Chunk) readMissing() error {
	if c.columns[columnMissing] == nil {
		return nil
	}
	c.missing = make([]rimewatch.Fields, c.n)
	return c.each(columnMissing, c.n, func(at int, x []int64) {
		for i, v := range x {
			c.missing[at+i] = rimewatch.Fields(v)
		}
	})
}

// each yields the n integers of a column, none when it was left out.
func (c *Chunk) each(column, n int, yield func(at int, x []int64)) error {
	if c.columns[column] == nil {
		return nil
	}
	return readInts(c.columns[column], n, yield)
}

// Len is the number of readings.
func (c *Chunk) Len() int { return c.n }

// Times appends the Len times of measurement, ascending.
func (c *Chunk) Times(dst []rimewatch.Time) ([]rimewatch.Time, error) {
	dst, out := grow(dst, c.n)
	sorted, last := true, rimewatch.Time(math.MinInt64)
	err := c.each(columnAt, c.n, func(at int, x []int64) {
		for i, v := range x {
			t := rimewatch.Time(v)
			sorted = sorted && (t > last || at+i == 0)
			last = t
			out[at+i] = t
		}
	})
	if err == nil && (!sorted || c.columns[columnAt] == nil && c.n > 1) {
		err = errCorrupt
	}
	return dst, err
}

// grow appends n zero elements and gives them also by themselves.
func grow[T any](dst []T, n int) (all, added []T) {
	old := len(dst)
	if cap(dst)-old < n {
		all = make([]T, old+n, max(old+n, 2*cap(dst)))
		copy(all, dst)
		return all, all[old:]
	}
	all = dst[:old+n]
	clear(all[old:])
	return all, all[old:]
}

// Field appends the Len values of one measurement, NaN where a reading does
// not have it.
func (c *Chunk) Field(f rimewatch.Field, dst []float64) ([]float64, error) {
	dst, out := grow(dst, c.n)
	have := c.count(f)
	column := c.columns[columnField+int(f)]
	if (column == nil) != (have == 0) {
		return dst, errCorrupt
	}
	if have == 0 {
		for i := range out {
			out[i] = math.NaN()
		}
		return dst, nil
	}
	if err := readFloats(column, out[:have]); err != nil {
		return dst, err
	}
	if have < c.n { // spread from the end, so that nothing is overwritten unread
		for i := c.n - 1; i >= 0; i-- {
			if c.missing[i].Has(f) {
				out[i] = math.NaN()
			} else {
				have--
				out[i] = out[have]
			}
		}
	}
	return dst, nil
}

// count is the number of readings that have a field.
func (c *Chunk) count(f rimewatch.Field) int {
	if c.missing == nil {
		return c.n
	}
	n := 0
	for _, m := range c.missing {
		if !m.Has(f) {
			n++
		}
	}
	return n
}

// Readings appends all readings in full.
func (c *Chunk) Readings(dst []rimewatch.Reading) ([]rimewatch.Reading, error) {
	times, err := c.Times(make([]rimewatch.Time, 0, c.n))
	if err != nil {
		return dst, err
	}
	dst, rs := grow(dst, c.n)
	for i, at := range times {
		r := &rs[i]
		r.At, r.ReceivedAt, r.Present = at, at, rimewatch.AllFields
		if c.missing != nil {
			r.Present = ^c.missing[i]
		}
	}
	if err := c.extras(rs); err != nil {
		return dst, err
	}
	values := make([]float64, c.n)
	for f := range rimewatch.NumFields {
		if err := c.fill(f, values, rs); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// fill writes one measurement into the readings; values is room for them.
func (c *Chunk) fill(f rimewatch.Field, values []float64, rs []rimewatch.Reading) error {
	have := c.count(f)
	column := c.columns[columnField+int(f)]
	if (column == nil) != (have == 0) {
		return errCorrupt
	}
	if have == 0 {
		return nil
	}
	if err := readFloats(column, values[:have]); err != nil {
		return err
	}
	if have == c.n {
		for i := range rs {
			rs[i].Values[f] = values[i]
		}
		return nil
	}
	next := 0
	for i := range rs {
		if rs[i].Present.Has(f) {
			rs[i].Values[f] = values[next]
			next++
		}
	}
	return nil
}

// extras writes everything but times and measurements into the readings.
func (c *Chunk) extras(rs []rimewatch.Reading) error {
	err := c.each(columnReceived, c.n, func(at int, x []int64) {
		for i, v := range x {
			rs[at+i].ReceivedAt = receivedAfter(rs[at+i].At, v)
		}
	})
	if err == nil {
		err = c.each(columnArrival, c.n, func(at int, x []int64) {
			for i, v := range x {
				rs[at+i].ReceivedAt = rimewatch.Time(v) * rimewatch.Second
			}
		})
	}
	if err != nil {
		return err
	}
	err = c.each(columnFaults, c.n, func(at int, x []int64) {
		for i, v := range x {
			rs[at+i].Faults = rimewatch.Fields(v)
		}
	})
	if err != nil || c.columns[columnFlags] == nil {
		return err
	}
	err = c.each(columnFlags, c.n, func(at int, x []int64) {
		for i, v := range x {
			rs[at+i].Flags = rimewatch.Flags(v)
		}
	})
	if err != nil {
		return err
	}
	err = c.counters(columnStarts, rimewatch.StartCountSent, rs, func(r *rimewatch.Reading, v int64) { r.StartCount = v })
	if err != nil {
		return err
	}
	return c.counters(columnRunSeconds, rimewatch.RunSecondsSent, rs, func(r *rimewatch.Reading, v int64) { r.RunSeconds = v })
}

// counters hands the values of a counter's column to the readings that sent it.
func (c *Chunk) counters(column int, sent rimewatch.Flags, rs []rimewatch.Reading, set func(*rimewatch.Reading, int64)) error {
	n := 0
	for i := range rs {
		if rs[i].Flags&sent != 0 {
			n++
		}
	}
	next := 0
	return c.each(column, n, func(_ int, x []int64) {
		for _, v := range x {
			for rs[next].Flags&sent == 0 {
				next++
			}
			set(&rs[next], v)
			next++
		}
	})
}
