package engine

import (
	"encoding/binary"
	"math"

	"github.com/rimewatch/rimewatch"
)

// The versions whose bytes after the parts were written by hand.
const (
	oldestFormer   = 6 // knew one sender of a device
	severalSenders = 7
)

// decodeFormer reads the bytes after the verdicts in one of these versions.
func (o *own) decodeFormer(b []byte, version byte) (rest []byte, err error) {
	x := &o.behind
	*x, o.battery = behind{}, battery{}
	list := []*rimewatch.Time{&x.by, &x.lag, &x.since, &o.Maintained}
	if version >= severalSenders {
		list = append(list, &x.heard, &x.other.by, &x.other.lag, &x.other.since, &x.other.heard, &x.floor, &x.least, &x.before, &x.from, &o.battery.opened, &o.battery.lowest)
	}
	for _, t := range list {
		at, n := binary.Varint(b)
		if n <= 0 {
			return nil, errDamaged
		}
		*t, b = rimewatch.Time(at), b[n:]
	}
	if version < severalSenders {
		x.heard = x.since
	} else {
		if len(b) == 0 || b[0] >= 8 {
			return nil, errDamaged
		}
		x.steps, x.other.steps, x.several = b[0]&1 != 0, b[0]&2 != 0, b[0]&4 != 0
		b = b[1:]
	}
	if !o.sound() {
		return nil, errDamaged
	}
	return b, nil
}

// decodeFormer reads verdicts in one of these versions.
func (f *Verdicts) decodeFormer(b []byte) (rest []byte, err error) {
	for i := range f {
		if f[i] = 0; i > 2 && len(b) == 0 {
			break // written before there was this verdict
		}
		v, n := binary.Uvarint(b)
		if n <= 0 || v > math.MaxUint16 {
			return nil, errDamaged
		}
		f[i], b = uint16(v), b[n:]
	}
	return b, nil
}
