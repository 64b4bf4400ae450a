package unit

import (
	"encoding/binary"
	"math"

	"github.com/rimewatch/rimewatch"
)

// Stamp is a rimewatch.Time in 48 bits, enough until the year 10889.
type Stamp [3]uint16

// StampOf packs a time.
func StampOf(t rimewatch.Time) Stamp { return Stamp{uint16(t), uint16(t >> 16), uint16(t >> 32)} }

// Time unpacks the time.
func (s Stamp) Time() rimewatch.Time {
	return rimewatch.Time(s[0]) | rimewatch.Time(s[1])<<16 | rimewatch.Time(s[2])<<32
}

// Set reports whether the stamp holds a time other than 0.
func (s Stamp) Set() bool { return s != Stamp{} }

// Fixed is a measurement in units of 10⁻⁴: exact for every decimal a sensor
// sends, in half the room of a float64.
type Fixed int32

// FixedOf rounds a value, within ±214,748.
func FixedOf(v float64) Fixed {
	switch v *= 1e4; {
	case v >= math.MaxInt32:
		return math.MaxInt32
	case v <= math.MinInt32:
		return math.MinInt32
	default:
		return nearest(v)
	}
}

// plainFixed is FixedOf for a value that is plausible, and so within its range.
func plainFixed(v float64) Fixed { return nearest(float64(v * 1e4)) }

// nearest is without a branch: the zone of a freezer is below 0, its pipes are not.
func nearest(v float64) Fixed { return Fixed(v + math.Copysign(0.5, v)) }

// Float is the value.
func (f Fixed) Float() float64 { return float64(f) / 1e4 }

// Real is a float32 that may lie at any even address: beside a number of 16 bits
// nothing is left empty.
type Real [2]uint16

// RealOf packs a number.
func RealOf(v float32) Real {
	b := math.Float32bits(v)
	return Real{uint16(b), uint16(b >> 16)}
}

// Float is the number.
func (r Real) Float() float32 {
	return math.Float32frombits(uint32(r[0]) | uint32(r[1])<<16)
}

// Codec writes or reads the fields of a state in one fixed order, so that both
// directions share one description. Every eight fields are preceded by a byte
// that says which of them are not zero; only those follow: numbers as varints,
// times as varints of the distance to the first of them, floats little-endian.
// Equal states give equal bytes.
type Codec struct {
	b    []byte
	read bool
	bad  bool
	base int64 // ms, what times are relative to
	by   int64 // ms, how far times that are read are moved
	k    uint8 // fields since the newest mask, modulo 8
	bits uint8 // the newest mask, when reading
	mask int   // where it lies, when writing
}

// Writer appends to b.
func Writer(b []byte) Codec { return Codec{b: b} }

// Reader reads from b.
func Reader(b []byte) Codec { return Codec{b: b, read: true} }

// Mover reads from b and moves every moment by so many milliseconds: for a clock
// that was set back.
func Mover(b []byte, by rimewatch.Time) Codec { return Codec{b: b, read: true, by: int64(by)} }

// Reading reports whether fields are read.
func (c *Codec) Reading() bool { return c.read }

// Done returns what was written, or what is left to be read; ok is false when
// the bytes read were none that a Writer writes.
func (c *Codec) Done() (b []byte, ok bool) { return c.b, !c.bad }

// Check marks what was read as damaged unless ok.
func (c *Codec) Check(ok bool) { c.bad = c.bad || !ok }

// present reports whether the next field follows.
func (c *Codec) present(nonzero bool) bool {
	bit := uint8(1) << c.k
	if c.k == 0 {
		if c.read {
			c.bits = 0
			if b := c.take(1); b != nil {
				c.bits = b[0]
			}
		} else {
			c.mask = len(c.b)
			c.b = append(c.b, 0)
		}
	}
	c.k = (c.k + 1) & 7
	if c.read {
		return c.bits&bit != 0
	}
	if nonzero {
		c.b[c.mask] |= bit
	}
	return nonzero
}

func (c *Codec) take(n int) []byte {
	if len(c.b) < n {
		c.bad, c.b = true, nil
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

// uvarint codes v, at most most.
func (c *Codec) uvarint(v, most uint64) uint64 {
	if !c.present(v != 0) {
		return 0
	}
	if !c.read {
		c.b = binary.AppendUvarint(c.b, v)
		return v
	}
	v, n := binary.Uvarint(c.b)
	if n <= 0 || v > most || v == 0 {
		c.bad, c.b = true, nil
		return 0
	}
	c.b = c.b[n:]
	return v
}

// varint codes v within ±most.
func (c *Codec) varint(v int64, most int64) int64 {
	z := c.uvarint(uint64(v<<1)^uint64(v>>63), 2*uint64(most)+1)
	return int64(z>>1) ^ -int64(z&1)
}

// Bytes codes small numbers.
func (c *Codec) Bytes(list ...*uint8) {
	for _, v := range list {
		*v = uint8(c.uvarint(uint64(*v), math.MaxUint8))
	}
}

// Shorts codes numbers of 16 bits.
func (c *Codec) Shorts(list ...*uint16) {
	for _, v := range list {
		*v = uint16(c.uvarint(uint64(*v), math.MaxUint16))
	}
}

// Words codes numbers of 32 bits.
func (c *Codec) Words(list ...*uint32) {
	for _, v := range list {
		*v = uint32(c.uvarint(uint64(*v), math.MaxUint32))
	}
}

// Longs codes numbers of 64 bits, and reads those of Words.
func (c *Codec) Longs(list ...*uint64) {
	for _, v := range list {
		*v = c.uvarint(*v, math.MaxUint64)
	}
}

// Signed codes signed numbers of 16 bits.
func (c *Codec) Signed(list ...*int16) {
	for _, v := range list {
		*v = int16(c.varint(int64(*v), math.MaxInt16))
	}
}

// Fixeds codes measurements.
func (c *Codec) Fixeds(list ...*Fixed) {
	for _, v := range list {
		*v = Fixed(c.varint(int64(*v), math.MaxInt32))
	}
}

// Times codes moments; the first that is not 0 is what the others are relative
// to.
func (c *Codec) Times(list ...*rimewatch.Time) {
	for _, t := range list {
		d := int64(*t) - c.base
		z := uint64(d<<1) ^ uint64(d>>63)
		if !c.present(*t != 0) {
			*t = 0
			continue
		}
		if !c.read {
			c.b = binary.AppendUvarint(c.b, z)
		} else {
			var n int
			if z, n = binary.Uvarint(c.b); n <= 0 {
				c.bad, c.b = true, nil
				return
			}
			c.b = c.b[n:]
			*t = rimewatch.Time(int64(z>>1) ^ -int64(z&1) + c.base)
		}
		if c.base == 0 {
			c.base = int64(*t)
		}
		*t += rimewatch.Time(c.by)
	}
}

// Stamps codes moments like Times.
func (c *Codec) Stamps(list ...*Stamp) {
	for _, s := range list {
		t := s.Time()
		c.Times(&t)
		*s = StampOf(t)
		c.Check(s.Time() == t)
	}
}

// Grid codes moments that are multiples of step; one that is moved stays one and
// is not earlier than the move asks for.
func (c *Codec) Grid(step rimewatch.Time, list ...*rimewatch.Time) {
	base := rimewatch.Time(c.base) / step
	for _, t := range list {
		d := *t/step - base
		if z := c.uvarint(uint64(d<<1)^uint64(d>>63)+1, 1<<40); z != 0 && c.read {
			*t = (rimewatch.Time((z-1)>>1)^-rimewatch.Time((z-1)&1)+base)*step + rimewatch.Time(c.by)/step*step
		}
	}
}

// Floats codes finite or infinite numbers, never NaN.
func (c *Codec) Floats(list ...*float32) {
	for _, f := range list {
		v := math.Float32bits(*f)
		switch {
		case !c.present(v != 0):
			*f = 0
		case !c.read:
			c.b = binary.LittleEndian.AppendUint32(c.b, v)
		default:
			if b := c.take(4); b != nil {
				*f = math.Float32frombits(binary.LittleEndian.Uint32(b))
				c.Check(*f == *f)
			}
		}
	}
}

// Reals codes numbers like Floats.
func (c *Codec) Reals(list ...*Real) {
	for _, r := range list {
		v := r.Float()
		c.Floats(&v)
		*r = RealOf(v)
	}
}

// Bools packs up to eight booleans into a byte.
func (c *Codec) Bools(list ...*bool) {
	var v uint8
	for i, f := range list {
		if *f {
			v |= 1 << i
		}
	}
	c.Bytes(&v)
	c.Check(int(v)>>len(list) == 0)
	for i, f := range list {
		*f = v&(1<<i) != 0
	}
}
