package state

import (
	"encoding/binary"
	"errors"
	"math"
	"unsafe"

	"github.com/rimewatch/rimewatch"
)

// ErrDamaged is the error of bytes that are no state of a version that is read.
var ErrDamaged = errors.New("state: not one of a version that is read")

// Version is that of an encoded state, 0 for none at all.
func Version(b []byte) byte {
	if len(b) == 0 {
		return 0
	}
	return b[0]
}

// Append appends a value to b.
func (f *Format[T]) Append(b []byte, v *T) []byte {
	w := writer{b: append(b, f.version)}
	for i := range f.runs {
		w.run(&f.runs[i], unsafe.Pointer(v))
	}
	return w.b
}

// Decode reads what Append wrote, whole or in a version since the oldest, and returns the
// rest of b. After an error v is unspecified.
func (f *Format[T]) Decode(b []byte, v *T) (rest []byte, err error) {
	version := Version(b)
	if version < f.oldest || version > f.version || version == 0 {
		return nil, ErrDamaged
	}
	*v = *new(T)
	r := reader{b: b[1:]}
	for i := range f.runs {
		if f.runs[i].since <= version {
			r.run(&f.runs[i], unsafe.Pointer(v))
		}
	}
	if r.bad {
		return nil, ErrDamaged
	}
	return r.b, nil
}

// marks are which of eight numbers are not zero.
type marks struct {
	n    uint8 // numbers so far, modulo 8
	bits uint8 // read
	at   int   // where they lie, when writing
}

type writer struct {
	b    []byte
	base int64 // ms, the first moment
	marks
}

// mark notes whether the next number is there, and returns that.
func (w *writer) mark(there bool) bool {
	if w.n == 0 {
		w.at = len(w.b)
		w.b = append(w.b, 0)
	}
	if there {
		w.b[w.at] |= 1 << w.n
	}
	w.n = (w.n + 1) & 7
	return there
}

func (w *writer) uvarint(v uint64) {
	if w.mark(v != 0) {
		w.b = binary.AppendUvarint(w.b, v)
	}
}

func (w *writer) varint(v int64) { w.uvarint(uint64(v<<1) ^ uint64(v>>63)) }

func (w *writer) byte(v uint8) {
	if w.mark(v != 0) {
		w.b = append(w.b, v)
	}
}

func (w *writer) float(bits uint32) {
	if w.mark(bits != 0) {
		w.b = binary.LittleEndian.AppendUint32(w.b, bits)
	}
}

func (w *writer) moment(t rimewatch.Time) {
	if !w.mark(t != 0) {
		return
	}
	w.b = binary.AppendVarint(w.b, int64(t)-w.base)
	if w.base == 0 {
		w.base = int64(t)
	}
}

func (w *writer) run(r *run, base unsafe.Pointer) {
	p, size := unsafe.Add(base, r.at), sizes[r.kind]
	last := uint32(0)
	for range r.n {
		switch r.kind {
		case truth:
			w.mark(*(*bool)(p))
		case unsigned8, signed8:
			w.byte(*(*uint8)(p))
		case unsigned16:
			w.uvarint(uint64(*(*uint16)(p)))
		case unsigned32:
			w.uvarint(uint64(*(*uint32)(p)))
		case unsigned64:
			w.uvarint(*(*uint64)(p))
		case signed16:
			w.varint(int64(*(*int16)(p)))
		case signed32:
			w.varint(int64(*(*int32)(p)))
		case real32:
			w.float(math.Float32bits((*Real)(p).Float()))
		case float:
			w.float(*(*uint32)(p))
		case moment:
			w.moment(*(*rimewatch.Time)(p))
		case stamp:
			w.moment((*Stamp)(p).Time())
		case span:
			w.varint(*(*int64)(p))
		case series:
			v := *(*uint32)(p)
			w.varint(int64(int32(v - last)))
			last = v
		}
		p = unsafe.Add(p, size)
	}
}

type reader struct {
	b    []byte
	base int64
	bad  bool
	marks
}

func (r *reader) damaged() { r.bad, r.b = true, nil }

// there reports whether the next number is.
func (r *reader) there() bool {
	if r.n == 0 {
		r.bits = r.byte()
	}
	there := r.bits&(1<<r.n) != 0
	r.n = (r.n + 1) & 7
	return there
}

func (r *reader) byte() uint8 {
	if len(r.b) == 0 {
		r.damaged()
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

// uvarint reads a number that is there: not 0, and at most most.
func (r *reader) uvarint(most uint64) uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v == 0 || v > most {
		r.damaged()
		return 0
	}
	r.b = r.b[n:]
	return v
}

// varint reads a number of so many bits that is there.
func (r *reader) varint(bits int) int64 {
	z := r.uvarint(math.MaxUint64 >> (64 - bits))
	return int64(z>>1) ^ -int64(z&1)
}

// float reads a number that is there: not 0, and not NaN.
func (r *reader) float() uint32 {
	if len(r.b) < 4 {
		r.damaged()
		return 0
	}
	v := binary.LittleEndian.Uint32(r.b)
	r.b = r.b[4:]
	if f := math.Float32frombits(v); v == 0 || f != f {
		r.damaged()
	}
	return v
}

func (r *reader) moment() rimewatch.Time {
	d, n := binary.Varint(r.b)
	if n <= 0 || d+r.base == 0 {
		r.damaged()
		return 0
	}
	r.b = r.b[n:]
	t := d + r.base
	if r.base == 0 {
		r.base = t
	}
	return rimewatch.Time(t)
}

func (r *reader) run(of *run, base unsafe.Pointer) {
	p, size := unsafe.Add(base, of.at), sizes[of.kind]
	last := uint32(0)
	for range of.n {
		if !r.there() {
			if of.kind == series {
				*(*uint32)(p) = last
			}
			p = unsafe.Add(p, size)
			continue
		}
		switch of.kind {
		case truth:
			*(*bool)(p) = true
		case unsigned8, signed8:
			if *(*uint8)(p) = r.byte(); *(*uint8)(p) == 0 {
				r.damaged()
			}
		case unsigned16:
			*(*uint16)(p) = uint16(r.uvarint(math.MaxUint16))
		case unsigned32:
			*(*uint32)(p) = uint32(r.uvarint(math.MaxUint32))
		case unsigned64:
			*(*uint64)(p) = r.uvarint(math.MaxUint64)
		case signed16:
			*(*int16)(p) = int16(r.varint(16))
		case signed32:
			*(*int32)(p) = int32(r.varint(32))
		case real32:
			*(*Real)(p) = RealOf(math.Float32frombits(r.float()))
		case float:
			*(*uint32)(p) = r.float()
		case moment:
			*(*rimewatch.Time)(p) = r.moment()
		case stamp:
			t := r.moment()
			if *(*Stamp)(p) = StampOf(t); (*Stamp)(p).Time() != t {
				r.damaged()
			}
		case span:
			*(*int64)(p) = r.varint(64)
		case series:
			last += uint32(r.varint(32))
			*(*uint32)(p) = last
		}
		p = unsafe.Add(p, size)
	}
}
