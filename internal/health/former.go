package health

import (
	"encoding/binary"
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// The versions that are read as they were written by hand. What the second did not have is
// empty then.
const (
	version2 = 2
	version3 = 3
)

// decodeFormer reads a State of one of these versions, after its version.
func (s *State) decodeFormer(b []byte, version byte) (rest []byte, err error) {
	d := decoder{b: b}
	flags := d.byte()
	hints := Hints(d.byte())
	*s = State{
		hints: hints,
		side:  int8(flags&3) - 1, excursion: int8(flags>>4&3) - 1,
		judged: flags&(1<<7) != 0,
	}
	for _, t := range []*rimewatch.Time{&s.at, &s.start, &s.lateTo, &s.lateFrom} {
		*t = rimewatch.Time(d.varint())
	}
	if s.lateFrom == 0 { // earlier programs knew the last late reading, and since when they were out of limits
		s.lateFrom = s.lateTo
	}
	s.slot = d.uint32()
	s.now = tally{covered: d.uint32(), out: d.uint32(), bad: d.uint32()}
	s.gap, s.back, s.first = Gap(d.uint32()), d.uint32(), d.uint32()
	s.lateN = d.uint32()
	d.uint32()
	s.degrees = math.Float32frombits(d.uint32())
	s.peak, s.excess = int32(d.varint()), uint16(d.uvarint(math.MaxUint16))
	for i := range s.past {
		switch v := d.uvarint(1 << 30); v {
		case 0:
		case 1:
			s.past[i] = slot(full)
		default:
			s.past[i] = slot(v - 1)
		}
	}
	noted := d.byte()
	for k := range s.severity {
		if noted&(1<<k) != 0 {
			s.severity[k] = uint16(d.uvarint(wholeNote))
			s.severityAt[k] = d.uint32()
		}
	}
	if version == version2 {
		s.sided = s.slot + 1
	} else {
		s.readCold(&d)
		s.day.read(&d)
	}
	if d.bad {
		return nil, state.ErrDamaged
	}
	return d.b, nil
}

func (s *State) readCold(d *decoder) {
	s.ran, s.sided, s.now.cold = d.uint32(), d.uint32(), d.uint32()
	slots := d.uvarint(1<<numSlots - 1)
	for i := range s.cold {
		if slots&(1<<i) != 0 {
			s.cold[i] = uint8(d.uvarint(math.MaxUint8))
		}
	}
}

func (x *day) read(d *decoder) {
	*x = day{runs: uint16(d.uvarint(math.MaxUint16))}
	if x.runs == 0 {
		return
	}
	x.out, x.hints = d.byte() == 1, Hints(d.byte())
	x.from, x.to, x.end, x.first = rimewatch.Time(d.varint()), d.uint32(), d.uint32(), d.uint32()
	x.degrees = math.Float32frombits(d.uint32())
	for _, v := range []*uint32{&x.above.all, &x.above.own, &x.below.all, &x.below.own} {
		*v = d.uint32()
	}
	x.above.peak, x.below.peak = int32(d.varint()), int32(d.varint())
}

// decoder takes varints off; the first failure sticks.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uvarint(most uint64) uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || v > most {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) uint32() uint32 { return uint32(d.uvarint(math.MaxUint32)) }

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.bad = true
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}
