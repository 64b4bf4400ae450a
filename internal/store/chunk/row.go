package chunk

import (
	"encoding/binary"
	"math"

	"github.com/rimewatch/rimewatch"
)

// A row starts with a byte of these flags; then follow the uvarints that they
// announce, At and ReceivedAt as zigzag differences, and the values by the numbers
// of their fields.
const (
	rowPresent = 1 << iota // the fields, as difference from the core ones
	rowFaults
	rowFlags
)

// A value is a varint whose low two bits are a decimal exponent 0–2 and whose
// rest is the zigzag mantissa; with valueLong the rest is four bits of exponent
// less 2 below the mantissa, or nothing when 8 raw bytes follow.
const (
	valueLong    = 3
	maxRowScale  = 17
	longExpShift = 2
	longShift    = 6
)

// AppendReading appends one reading, exact in every bit, with At relative to
// base. Any base gives the reading back; a near one saves bytes. Values of
// absent measurements are not kept.
func AppendReading(b []byte, r *rimewatch.Reading, base rimewatch.Time) []byte {
	h := len(b)
	b = append(b, 0)
	if r.Present != rimewatch.CoreFields {
		b[h] |= rowPresent
		b = binary.AppendUvarint(b, uint64(r.Present^rimewatch.CoreFields))
	}
	if r.Faults != 0 {
		b[h] |= rowFaults
		b = binary.AppendUvarint(b, uint64(r.Faults))
	}
	if r.Flags != 0 {
		b[h] |= rowFlags
		b = binary.AppendUvarint(b, uint64(r.Flags))
	}
	b = binary.AppendUvarint(b, zigzag(int64(r.At-base)))
	b = binary.AppendUvarint(b, zigzag(int64(r.ReceivedAt-r.At)))
	for f, v := range r.Values {
		if r.Present.Has(rimewatch.Field(f)) {
			b = appendValue(b, v)
		}
	}
	for _, v := range r.Optional {
		b = appendValue(b, v)
	}
	return b
}

// AppendRebased appends a row as AppendReading wrote it, but with At, which is given,
// relative to another base.
func AppendRebased(b, row []byte, at, base rimewatch.Time) []byte {
	i := 1
	for head := row[0]; head != 0; head &= head - 1 { // one for each flag
		i = afterUvarint(row, i)
	}
	b = append(b, row[:i]...)
	b = binary.AppendUvarint(b, zigzag(int64(at-base)))
	return append(b, row[afterUvarint(row, i):]...)
}

// afterUvarint returns where the uvarint that begins at i ends.
func afterUvarint(b []byte, i int) int {
	for b[i] >= 0x80 {
		i++
	}
	return i + 1
}

func appendValue(b []byte, v float64) []byte {
	for e := range 3 {
		if m, ok := scaled(v, e); ok {
			return binary.AppendUvarint(b, zigzag(m)<<2|uint64(e))
		}
	}
	if m, e, ok := decimal(v, 3, maxRowScale+1); ok {
		return binary.AppendUvarint(b, zigzag(m)<<longShift|uint64(e-2)<<longExpShift|valueLong)
	}
	b = append(b, valueLong)
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}

// DecodeReading reads one reading into r, all of which it sets, and returns the
// number of bytes it took. r is unspecified after an error.
func DecodeReading(b []byte, r *rimewatch.Reading, base rimewatch.Time) (n int, err error) {
	d := byteReader{b: b}
	*r = rimewatch.Reading{Present: rimewatch.CoreFields}
	head := d.byte()
	if head >= rowFlags<<1 {
		return 0, errCorrupt
	}
	if head&rowPresent != 0 {
		r.Present ^= d.fields()
	}
	if head&rowFaults != 0 {
		r.Faults = d.fields()
	}
	if head&rowFlags != 0 {
		r.Flags = d.flags()
	}
	r.At = base + rimewatch.Time(d.zigzag())
	r.ReceivedAt = r.At + rimewatch.Time(d.zigzag())
	for f := range r.Values {
		if r.Present.Has(rimewatch.Field(f)) {
			r.Values[f] = d.value()
		}
	}
	if optional := r.Present &^ rimewatch.CoreFields; optional != 0 {
		r.Optional = make([]float64, optional.Len())
		for i := range r.Optional {
			r.Optional[i] = d.value()
		}
	}
	return d.pos, d.err
}

// SkipReading returns the number of bytes that DecodeReading would take. It does
// not look at the values.
func SkipReading(b []byte) (n int, err error) {
	d := byteReader{b: b}
	head := d.byte()
	if head >= rowFlags<<1 {
		return 0, errCorrupt
	}
	present := rimewatch.CoreFields
	if head&rowPresent != 0 {
		present ^= d.fields()
	}
	if head&rowFaults != 0 {
		d.fields()
	}
	if head&rowFlags != 0 {
		d.flags()
	}
	d.uvarint() // At
	d.uvarint() // ReceivedAt
	for range present.Len() {
		if d.uvarint() == valueLong {
			d.bytes(8)
		}
	}
	return d.pos, d.err
}

// fields reads a set of measurements.
func (r *byteReader) fields() rimewatch.Fields {
	u := r.uvarint()
	if u > math.MaxUint32 {
		r.fail(errNewer)
	}
	return rimewatch.Fields(u)
}

// flags reads the yes/no observations.
func (r *byteReader) flags() rimewatch.Flags {
	u := r.uvarint()
	if u > math.MaxUint32 {
		r.fail(errNewer)
	}
	return rimewatch.Flags(u)
}

func (r *byteReader) value() float64 {
	u := r.uvarint()
	if e := u & 3; e != valueLong {
		return float64(unzigzag(u>>2)) / pow10[e]
	}
	if u == valueLong {
		raw := r.bytes(8)
		if raw == nil {
			return 0
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(raw))
	}
	e := u>>longExpShift&15 + 2
	return float64(unzigzag(u>>longShift)) / pow10[e]
}
