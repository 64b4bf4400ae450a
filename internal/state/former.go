package state

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// Former reads states as they were written until version 0.1.0, when each package named its
// fields by hand: in the same masks of eight, with truths packed to bytes. It goes, with
// the former.go of those packages, when no such store is read any more.
type Former struct {
	reader
}

// ReadFormer has read take such a state from b, after its version, and returns the rest of b.
func ReadFormer(b []byte, read func(c *Former)) (rest []byte, err error) {
	c := Former{reader{b: b}}
	if read(&c); c.bad {
		return nil, ErrDamaged
	}
	return c.b, nil
}

// Check marks what was read as damaged unless ok.
func (c *Former) Check(ok bool) { c.bad = c.bad || !ok }

// uvarint reads a number of at most most.
func (c *Former) uvarint(most uint64) uint64 {
	if !c.there() {
		return 0
	}
	return c.reader.uvarint(most)
}

// varint reads a number within ±most.
func (c *Former) varint(most int64) int64 {
	z := c.uvarint(2*uint64(most) + 1)
	return int64(z>>1) ^ -int64(z&1)
}

// Bytes reads small numbers.
func (c *Former) Bytes(list ...*uint8) {
	for _, v := range list {
		*v = uint8(c.uvarint(math.MaxUint8))
	}
}

// Shorts reads numbers of 16 bits.
func (c *Former) Shorts(list ...*uint16) {
	for _, v := range list {
		*v = uint16(c.uvarint(math.MaxUint16))
	}
}

// Words reads numbers of 32 bits.
func (c *Former) Words(list ...*uint32) {
	for _, v := range list {
		*v = uint32(c.uvarint(math.MaxUint32))
	}
}

// Longs reads numbers of 64 bits.
func (c *Former) Longs(list ...*uint64) {
	for _, v := range list {
		*v = c.uvarint(math.MaxUint64)
	}
}

// Signed reads signed numbers of 16 bits.
func (c *Former) Signed(list ...*int16) {
	for _, v := range list {
		*v = int16(c.varint(math.MaxInt16))
	}
}

// Fixeds reads measurements.
func (c *Former) Fixeds(list ...*Fixed) {
	for _, v := range list {
		*v = Fixed(c.varint(math.MaxInt32))
	}
}

// Times reads moments.
func (c *Former) Times(list ...*rimewatch.Time) {
	for _, t := range list {
		if *t = 0; c.there() {
			*t = c.moment()
		}
	}
}

// Stamps reads moments.
func (c *Former) Stamps(list ...*Stamp) {
	for _, s := range list {
		var t rimewatch.Time
		c.Times(&t)
		*s = StampOf(t)
		c.Check(s.Time() == t)
	}
}

// Grid reads moments that are multiples of step.
func (c *Former) Grid(step rimewatch.Time, list ...*rimewatch.Time) {
	base := rimewatch.Time(c.base) / step
	for _, t := range list {
		if z := c.uvarint(1 << 40); z != 0 {
			*t = (rimewatch.Time((z-1)>>1) ^ -rimewatch.Time((z-1)&1) + base) * step
		}
	}
}

// Floats reads finite or infinite numbers.
func (c *Former) Floats(list ...*float32) {
	for _, f := range list {
		if *f = 0; c.there() {
			*f = math.Float32frombits(c.float())
		}
	}
}

// Reals reads numbers like Floats.
func (c *Former) Reals(list ...*Real) {
	for _, r := range list {
		var v float32
		c.Floats(&v)
		*r = RealOf(v)
	}
}

// Bools reads up to eight truths from a byte.
func (c *Former) Bools(list ...*bool) {
	var v uint8
	c.Bytes(&v)
	c.Check(int(v)>>len(list) == 0)
	for i, f := range list {
		*f = v&(1<<i) != 0
	}
}
