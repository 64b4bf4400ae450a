package chunk

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"sync"

	"github.com/rimewatch/rimewatch"
)

// MaxReadings bounds the readings of one chunk, and so what decoding allocates.
const MaxReadings = 1 << 16

const version = 2

// The columns of a chunk by their numbers, which are written into it: bit i of
// its set of columns is column i. A column whose values are all 0 is left out,
// and so is a measurement that no reading has.
const (
	columnAt       = 0
	columnReceived = 1 // s after At, see delayOf
	columnPresent  = 2 // the fields, as difference from the core ones
	columnFaults   = 3
	columnFlags    = 4
	columnArrival  = 5 // s since the epoch, instead of columnReceived where all came late
	columnField    = 8 // of the measurement with the number 0; the others follow it
	numColumns     = columnField + int(rimewatch.MaxFields)

	knownColumns = 1<<numColumns - 1<<columnField | 1<<(columnArrival+1) - 1
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
	x := scratches.Get().(*columns)
	defer scratches.Put(x)
	var (
		body    = slices.Grow(x.body[:0], 8*len(rs)+2*riceMost*min(len(rs), blockLen)+64) // and room for two tries of a block
		ints    = slices.Grow(x.ints[:0], len(rs))
		set     uint64
		lengths [numColumns]int
	)
	end := func(column, from int) {
		if n := len(body) - from; n > 0 {
			set |= 1 << column
			lengths[column] = n
		}
	}
	without := columnArrival
	if isBacklog(rs) {
		without = columnReceived
	}
	for column := range columnArrival + 1 {
		if column == without {
			continue
		}
		from := len(body)
		ints = gather(ints[:0], rs, column)
		if !(allEqual(ints) && ints[0] == 0) {
			body = appendInts(body, ints, column == columnAt || column == columnArrival)
		}
		end(column, from)
	}
	var any rimewatch.Fields
	for i := range rs {
		any |= rs[i].Present
	}
	floats := slices.Grow(x.floats[:0], len(rs))
	for f := range any.All() {
		from := len(body)
		floats = floats[:0]
		for i := range rs {
			if v, ok := rs[i].Value(f); ok {
				floats = append(floats, v)
			}
		}
		body = appendFloats(body, floats, f.Info().Kind == rimewatch.Counter)
		end(columnField+int(f), from)
	}
	dst = binary.AppendUvarint(dst, set)
	for column, n := range lengths {
		if set&(1<<column) != 0 {
			dst = binary.AppendUvarint(dst, uint64(n))
		}
	}
	x.body, x.ints, x.floats = body, ints, floats
	return append(dst, body...)
}

// columns are the memory of appendColumns, kept for the next chunk.
type columns struct {
	body   []byte
	ints   []int64
	floats []float64
}

var scratches = sync.Pool{New: func() any { return new(columns) }}

// isBacklog reports whether every reading came late.
func isBacklog(rs []rimewatch.Reading) bool {
	for i := range rs {
		if !isLate(rs[i].At, rs[i].Received()) {
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
			ints = append(ints, delayOf(r.At, r.Received()))
		case columnArrival:
			ints = append(ints, int64(r.Received()/rimewatch.Second))
		case columnPresent:
			ints = append(ints, int64(r.Present^rimewatch.CoreFields))
		case columnFaults:
			ints = append(ints, int64(r.Faults))
		case columnFlags:
			ints = append(ints, int64(r.Flags))
		}
	}
	return ints
}

// Chunk is an opened chunk. It refers to the bytes that it was opened from,
// does not change and may be used by several goroutines.
type Chunk struct {
	n       int
	columns [numColumns][]byte
	present []rimewatch.Fields // nil when every reading has the core fields and no others
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
	return c, c.readPresent()
}

func (c *Chunk) findColumns(r *byteReader) error {
	set := r.uvarint()
	if set&^knownColumns != 0 {
		return errNewer
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

func (c *Chunk) readPresent() error {
	if c.columns[columnPresent] == nil {
		return nil
	}
	c.present = make([]rimewatch.Fields, c.n)
	newer := false
	err := c.each(columnPresent, c.n, func(at int, x []int64) {
		for i, v := range x {
			newer = newer || uint64(v) > math.MaxUint32
			c.present[at+i] = rimewatch.Fields(v) ^ rimewatch.CoreFields
		}
	})
	if err == nil && newer {
		err = errNewer
	}
	return err
}

// each yields the n integers of a column, none when it was left out.
func (c *Chunk) each(column, n int, yield func(at int, x []int64)) error {
	if c.columns[column] == nil {
		return nil
	}
	return readInts(c.columns[column], n, yield)
}

// Times appends the times of measurement, ascending.
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

// grow appends n zero elements and returns them also by themselves.
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
	have, err := c.values(f, out)
	if err != nil || have == c.n {
		return dst, err
	}
	for i := c.n - 1; i >= 0; i-- { // spread from the end, so that nothing is overwritten unread
		if have > 0 && c.present[i].Has(f) {
			have--
			out[i] = out[have]
		} else {
			out[i] = math.NaN()
		}
	}
	return dst, nil
}

// values writes those of one measurement to out[0], out[1], … and returns how
// many there are.
func (c *Chunk) values(f rimewatch.Field, out []float64) (int, error) {
	have := c.count(f)
	column := c.columns[columnField+int(f)]
	if (column == nil) != (have == 0) {
		return 0, errCorrupt
	}
	if have == 0 {
		return 0, nil
	}
	return have, readFloats(column, out[:have])
}

// count returns the number of readings that have a field.
func (c *Chunk) count(f rimewatch.Field) int {
	if c.present == nil {
		if f.Core() {
			return c.n
		}
		return 0
	}
	n := 0
	for _, s := range c.present {
		if s.Has(f) {
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
		r.At, r.ReceivedAt, r.Present = at, at, rimewatch.CoreFields
	}
	if c.present != nil {
		c.makeRoom(rs)
	}
	if err := c.extras(rs); err != nil {
		return dst, err
	}
	values := make([]float64, c.n)
	for f := range rimewatch.MaxFields {
		if err := c.fill(f, values, rs); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// makeRoom gives the readings the measurements that they have, all optional
// values in one piece of memory.
func (c *Chunk) makeRoom(rs []rimewatch.Reading) {
	n := 0
	for i, s := range c.present {
		rs[i].Present = s
		n += (s &^ rimewatch.CoreFields).Len()
	}
	if n == 0 {
		return
	}
	room := make([]float64, n)
	for i, s := range c.present {
		if n := (s &^ rimewatch.CoreFields).Len(); n > 0 {
			rs[i].Optional, room = room[:0:n], room[n:]
		}
	}
}

// fill writes one measurement into the readings; values is room for them. The
// fields come by their numbers.
func (c *Chunk) fill(f rimewatch.Field, values []float64, rs []rimewatch.Reading) error {
	have, err := c.values(f, values)
	if err != nil || have == 0 {
		return err
	}
	if have == c.n && f.Core() {
		for i := range rs {
			rs[i].Values[f] = values[i]
		}
		return nil
	}
	next := 0
	for i := range rs {
		r := &rs[i]
		if !r.Present.Has(f) {
			continue
		}
		if f.Core() {
			r.Values[f] = values[next]
		} else {
			r.Optional = append(r.Optional, values[next])
		}
		next++
	}
	return nil
}

// extras writes everything but times and measurements into the readings.
func (c *Chunk) extras(rs []rimewatch.Reading) error {
	newer := false
	for _, column := range []struct {
		id  int
		set func(r *rimewatch.Reading, v int64)
	}{
		{columnReceived, func(r *rimewatch.Reading, v int64) { r.ReceivedAt = receivedAfter(r.At, v) }},
		{columnArrival, func(r *rimewatch.Reading, v int64) { r.ReceivedAt = rimewatch.Time(v) * rimewatch.Second }},
		{columnFaults, func(r *rimewatch.Reading, v int64) {
			r.Faults = rimewatch.Fields(v)
			newer = newer || uint64(v) > math.MaxUint32
		}},
		{columnFlags, func(r *rimewatch.Reading, v int64) {
			r.Flags = rimewatch.Flags(v)
			newer = newer || uint64(v) > math.MaxUint32
		}},
	} {
		err := c.each(column.id, c.n, func(at int, x []int64) {
			for i, v := range x {
				column.set(&rs[at+i], v)
			}
		})
		if err != nil {
			return err
		}
	}
	if newer {
		return errNewer
	}
	return nil
}
