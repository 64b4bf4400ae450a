package health

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/rimewatch/rimewatch"
)

// The versions of an encoded State. What the second did not have is empty then.
const (
	oldStateVersion = 2
	stateVersion    = 3
)

var errDamaged = errors.New("health: damaged state")

// AppendBinary appends the state for a checkpoint, 70–130 bytes for a device
// that reports all the time, some 40 more while short runs out of limits add up.
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
	return s.day.append(s.appendCold(b))
}

// appendCold appends which time was below the lower limit.
func (s *State) appendCold(b []byte) []byte {
	slots := uint64(0)
	for i, n := range s.cold {
		if n != 0 {
			slots |= 1 << i
		}
	}
	for _, v := range []uint64{uint64(s.ran), uint64(s.sided), uint64(s.now.cold), slots} {
		b = binary.AppendUvarint(b, v)
	}
	for _, n := range s.cold {
		if n != 0 {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	return b
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

// append appends the short runs of a day, one byte when there are none.
func (x *day) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(x.runs))
	if x.runs == 0 {
		return b
	}
	out := byte(0)
	if x.out {
		out = 1
	}
	b = append(b, out, byte(x.hints))
	b = binary.AppendVarint(b, int64(x.from))
	for _, v := range []uint32{x.to, x.end, x.first, math.Float32bits(x.degrees), x.above.all, x.above.own, x.below.all, x.below.own} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return binary.AppendVarint(binary.AppendVarint(b, int64(x.above.peak)), int64(x.below.peak))
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

// DecodeBinary reads what AppendBinary wrote and returns the rest of b. After an
// error s is unspecified.
func (s *State) DecodeBinary(b []byte) (rest []byte, err error) {
	d := decoder{b: b}
	version := d.byte()
	if version != stateVersion && version != oldStateVersion {
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
	if version == oldStateVersion {
		s.sided = s.slot + 1
	} else {
		s.readCold(&d)
		s.day.read(&d)
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
	for i, p := range s.past {
		if p.covered() > full || p.out() > p.covered() || p.bad() > p.out() || uint32(s.cold[i]) > p.out()/coldUnits+1 {
			return false
		}
	}
	if x := &s.day; x.runs > 0 && (x.from < 0 || x.from+rimewatch.Time(x.to) > s.at) {
		return false
	}
	return s.now.covered <= uint32(span+unit) && s.start <= s.at && s.lateFrom <= s.lateTo
}
