package health

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/rimewatch/rimewatch"
)

const stateVersion = 2

var errDamaged = errors.New("health: damaged state")

// AppendBinary appends the state for a checkpoint, 70–130 bytes for a device
// that reports all the time.
func (s *State) AppendBinary(b []byte) []byte {
	flags := byte(s.side+1) | 1<<2 | byte(s.excursion+1)<<4 // bits 2, 3 and 6 are of programs before this one
	if s.judged {
		flags |= 1 << 7
	}
	b = append(b, stateVersion, flags, byte(s.hints))
	for _, t := range []rimewatch.Time{s.at, s.start, s.lateTo, s.lateFrom} {
		b = binary.AppendVarint(b, int64(t))
	}
	for _, v := range []uint32{
		s.slot, s.now.covered, s.now.out, s.now.bad, uint32(s.gap), s.back, s.first,
		s.lateN, 0, math.Float32bits(s.degrees),
	} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	b = binary.AppendVarint(b, int64(s.peak))
	b = binary.AppendUvarint(b, uint64(s.excess))
	for _, p := range s.past { // nearly all are full or empty: one byte
		v := uint64(p)
		if uint32(p) == full {
			v = 1
		} else if v != 0 {
			v++
		}
		b = binary.AppendUvarint(b, v)
	}
	noted := byte(0)
	for k, v := range s.severity {
		if v != 0 {
			noted |= 1 << k
		}
	}
	b = append(b, noted)
	for k, v := range s.severity {
		if v != 0 {
			b = binary.AppendUvarint(b, uint64(v))
			b = binary.AppendUvarint(b, uint64(s.severityAt[k]))
		}
	}
	return b
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

// DecodeBinary reads what AppendBinary wrote and returns the rest of b. After an
// error s is unspecified.
func (s *State) DecodeBinary(b []byte) (rest []byte, err error) {
	d := decoder{b: b}
	if d.byte() != stateVersion {
		return nil, errDamaged
	}
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
	if d.bad || !s.sound() {
		return nil, errDamaged
	}
	return d.b, nil
}

// sound reports whether a decoded state could have been written.
func (s *State) sound() bool {
	if s.side > 1 || s.excursion > 1 || s.at < 0 || s.slot != slotOf(s.at) {
		return false
	}
	for _, p := range s.past {
		if p.covered() > full || p.out() > p.covered() || p.bad() > p.out() {
			return false
		}
	}
	return s.now.covered <= uint32(span+unit) && s.start <= s.at && s.lateFrom <= s.lateTo
}
